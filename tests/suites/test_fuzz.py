"""Whatever the bytes, the loader loads them or gives a located error, in bounded time."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conform.errors import UsageError
from conform.suites import kinds, load

LOCATED = re.compile(
    r".*suite\.yaml:\d+:\d+: .+|\(the first \d+ errors; there may be more\)|.*suite\.yaml: cannot be read: .+"
)
FUZZ = settings(max_examples=150, deadline=2000, suppress_health_check=[HealthCheck.too_slow])

WORDS = st.sampled_from([
    "type", "tensor", "shape", "kind", "float", "dtype", "int8", "init", "low", "high", "value", "ref", "var",
    "const", "list", "len", "elem", "tuple", "elems", "optional", "p_none", "op", "in", "kwargs", "id", "module",
    "path", "args", "template_module", "vars", "cases", "template_compare_pair", "a", "b", "impl", "common",
    "construct", "N", "x", "aten::add", "torch.nn.Linear", "scalar", "scalar_tensor", "const_tensor", "int_list",
    "name", "bernoulli", "device", "cpu",
])  # fmt: skip
SCALARS = st.one_of(WORDS, st.integers(-3, 10), st.floats(), st.booleans(), st.none(), st.text(max_size=5))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5), max_leaves=20
)
NODES = st.dictionaries(WORDS, VALUES, max_size=6)
DOCUMENTS = st.fixed_dictionaries(
    {
        "tests": st.lists(
            st.fixed_dictionaries({"op": WORDS | NODES, "in": st.lists(NODES, max_size=3)}) | NODES, max_size=3
        )
    },
    optional={"dims": VALUES, "presets": st.dictionaries(WORDS, NODES, max_size=3), "include": VALUES},
)


def check(data: bytes) -> None:
    """Loads the bytes; every line of an error says where."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "suite.yaml"
        path.write_bytes(data)
        try:
            tests = load([path]).tests
        except UsageError as error:
            unlocated = [line for line in str(error).split("\n") if not LOCATED.fullmatch(line)]
            assert unlocated == []
        else:
            assert all(isinstance(kinds(test), tuple) for test in tests)


@FUZZ
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    check(data)


@FUZZ
@given(st.text(alphabet=st.sampled_from("[]{}:,-&*!|>'\"%@`#? \n\tab1~<.="), max_size=200))
def test_any_yaml_punctuation(text: str) -> None:
    check(text.encode())


@settings(FUZZ, max_examples=60)
@given(DOCUMENTS)
def test_any_document_of_the_languages_words(document: dict) -> None:
    check(_yaml(document).encode("utf-8", "surrogatepass"))


def _yaml(value: object) -> str:
    """Flow YAML of a value; words bare, other strings quoted."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_yaml(key)}: {_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, str):
        return (
            value
            if re.fullmatch(r"[A-Za-z0-9_.:]+", value) and not value.endswith(":")
            else "'" + value.replace("'", "''") + "'"
        )
    if isinstance(value, float):
        return (
            ".nan"
            if value != value
            else f"{'-' if value < 0 else ''}.inf"
            if value in (float("inf"), -float("inf"))
            else repr(value)
        )
    return (
        {None: "null", True: "true", False: "false"}.get(value, str(value))
        if not isinstance(value, int) or isinstance(value, bool)
        else str(value)
    )
