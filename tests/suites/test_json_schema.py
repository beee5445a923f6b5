"""`conform schema`: the JSON Schema and the loader agree."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from conform.suites import json_schema
from conform.suites.written import Document

OPERATORS = ["aten::add", "aten::add.Tensor"]


def with_few_operators(schema: Any) -> Any:
    """The schema with the long list of operators cut: comparing with 4,000 names takes most of the time."""
    if isinstance(schema, dict):
        return {
            key: OPERATORS if key == "enum" and len(value) > 1000 else with_few_operators(value)
            for key, value in schema.items()
        }
    return [with_few_operators(item) for item in schema] if isinstance(schema, list) else schema


SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(with_few_operators(SCHEMA))

EVERYTHING: dict[str, Any] = {
    "include": ["a.yaml"],
    "dims": {"N": 4},
    "presets": {
        "x": {"type": "tensor", "shape": ["N", 2], "kind": "float", "init": "uniform", "low": 0, "high": "N"},
        "y": {"type": "const_tensor", "shape": [1], "dtype": "float16", "value": [1.5]},
        "z": {"type": "optional", "p_none": 0.5, "elem": {"ref": "x"}},
    },
    "tests": [
        {
            "id": "t",
            "impl": "i",
            "op": "aten::add.Tensor",
            "device": "gpu",
            "out": [1],
            "cast_input0_to_complex": False,
            "lenience": "why",
            "in": [
                {"type": "ref", "ref": "x"},
                {"type": "list", "len": 2, "elem": {"type": "scalar", "kind": "int", "value": 1}},
            ],
            "kwargs": {"alpha": {"type": "scalar_tensor", "dtype": "int8", "p": 0.5}, "other": {"var": "v"}},
        },
        {
            "op": {
                "type": "template_module",
                "path": {"var": "p"},
                "vars": {"p": ["a.B", 1, None, {"k": [True]}]},
                "cases": [{"p": 1}],
                "args": [{"type": "construct", "path": "a.B", "args": [1, {"ref": {"var": "p"}}]}],
                "kwargs": {},
            },
            "in": [{"type": "tuple", "elems": [{"type": "int_list", "elems": [1, "N"]}]}, {"type": "var", "name": "p"}],
        },
        {
            "op": {
                "type": "template_compare_pair",
                "vars": {},
                "common": {"args": []},
                "a": {"impl": "1", "type": "module", "path": "a.B"},
                "b": {"impl": "2", "type": "module", "path": "a.B"},
            },
            "in": [],
        },
        {
            "op": {"type": "module", "path": "a.B", "args": [[1, "x", {"a": None}]]},
            "in": [{"type": "const", "value": {"a": 1}}],
        },
    ],
}


def loader_accepts(document: Any) -> bool:
    try:
        Document.model_validate(document)
    except ValidationError:
        return False
    return True


def test_both_accept_every_form() -> None:
    assert [error.message[:200] for error in VALIDATOR.iter_errors(EVERYTHING)] == []
    assert loader_accepts(EVERYTHING)


def places(value: Any, path: tuple = ()):
    """The path of every value of a document."""
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


REPLACEMENTS = [None, -1, "", [3], {"ref": "x"}]


def mutations():
    """Every value replaced by others (half of them at every second place: jsonschema takes 20 ms for one document),
    every key removed, a key added to every mapping; a test at a time."""
    for document in ({**EVERYTHING, "tests": []}, *({"tests": [test]} for test in EVERYTHING["tests"])):
        for number, path in enumerate(places(document)):
            for replacement in REPLACEMENTS[number % 2 :: 2] if path else ():
                yield path, replacement, changed(document, path, replacement)
            if isinstance(descend(document, path), dict):
                yield path, "added key", changed(document, (*path, "added"), 1)
            if path and isinstance(descend(document, path[:-1]), dict):
                yield path, "removed key", changed(document, path, REMOVED)


REMOVED = object()


def changed(document: Any, path: tuple, value: Any) -> Any:
    """A copy of the document with the value at `path` replaced, or removed."""
    document = copy.deepcopy(document)
    descend(document, path[:-1])[path[-1]] = value
    if value is REMOVED:
        del descend(document, path[:-1])[path[-1]]
    return document


def descend(value: Any, path: tuple) -> Any:
    for part in path:
        value = value[part]
    return value


@pytest.mark.one_in(4)
def test_both_judge_every_mutation_alike() -> None:
    verdicts = [(path, what, VALIDATOR.is_valid(one), loader_accepts(one)) for path, what, one in mutations()]
    assert [verdict for verdict in verdicts if verdict[2] != verdict[3]] == []
    accepted = sum(by_loader for *_, by_loader in verdicts)
    assert 0.05 * len(verdicts) < accepted < 0.95 * len(verdicts)  # the comparison is about something


def test_the_schema_knows_every_operator() -> None:
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid({"tests": [{"op": "aten::cumsum", "in": []}]})
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid({"tests": [{"op": "aten::cumsm", "in": []}]})
