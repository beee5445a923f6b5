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
HUGE = st.sampled_from([2**63, -(2**64), 10**400])
SCALARS = st.one_of(WORDS, st.integers(-3, 10), HUGE, st.floats(), st.booleans(), st.none(), st.text(max_size=5))
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


VALID = """
dims: {N: 2}
presets: {x: {type: tensor, shape: [N, 3], kind: float, low: -1, high: N}, y: {type: optional, p_none: 0.5, elem: {ref: x}}}
tests:
- {id: a, op: aten::add, in: [{ref: x}, {type: scalar, kind: int, low: 0, high: 3}], kwargs: {alpha: {type: const, value: 2}}}
- op: {type: template_module, path: "a.{c}", vars: {c: [A, B], n: [N, [1, {k: N}]]}, cases: [{n: 1}], args: [{var: n}]}
  in: [{type: list, len: 2, elem: {type: int_list, elems: [1, N]}}, {type: tuple, elems: [{var: n}]}]
- id: p
  op:
    type: template_compare_pair
    vars: {v: [x, y]}
    common: {args: [{type: construct, path: a.B, args: [[1, {ref: x}]]}], kwargs: {k: {var: v}}}
    a: {impl: "1", type: module, path: a.B, args: []}
    b: {impl: "2", type: module, path: a.C}
  in: [{ref: {var: v}}, {type: const_tensor, shape: [2], dtype: complex64, value: [[.nan, 1], [-.inf, 0]]}]
  device: gpu
  cast_input0_to_complex: false
"""  # fmt: skip  # noqa: E501
PIECES = [piece for piece in re.findall(r"\w+|\s+|.", VALID) if piece.strip()]
EDITS = st.lists(
    st.tuples(st.integers(0, len(PIECES)), st.integers(0, 3), st.lists(st.sampled_from(PIECES), max_size=2)),
    min_size=1,
    max_size=3,
)


def test_the_file_to_be_edited_is_valid(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(VALID)
    assert len(load([tmp_path / "suite.yaml"]).tests) == 7


@FUZZ
@given(EDITS)
def test_any_edit_of_a_valid_file(edits: list[tuple[int, int, list[str]]]) -> None:
    pieces = re.findall(r"\w+|\s+|.", VALID)
    for at, removed, inserted in edits:
        pieces[at : at + removed] = inserted
    check("".join(pieces).encode())


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
