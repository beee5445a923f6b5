"""The dtype axis: kinds left open, the variants of a test, the dtype in a case's id."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conform.suites import dtype_segment, first_dtype, kinds, variants

FLOAT, INT, BOOL = (f"{{type: tensor, shape: [2], kind: {kind}}}" for kind in ("float", "int", "bool"))
INT64 = "{type: tensor, shape: [2], dtype: int64}"


@pytest.fixture
def a_test(loaded):
    """A test with these inputs, of a user's file or built in."""

    def make(*inputs: str, builtin: bool = False, more: str = ""):
        (test,) = loaded(f"tests: [{{id: t, op: aten::add, in: [{', '.join(inputs)}]{more}}}]")
        return replace(test, builtin=builtin)

    return make


def test_kinds_are_those_of_tensors_without_a_dtype_in_order(a_test) -> None:
    assert kinds(a_test(INT, FLOAT, INT)) == ("int", "float")
    assert kinds(a_test(INT64)) == ()
    scalar = "{type: scalar, kind: float, value: 1}"  # a Python float has no dtype
    nested = f"{{type: optional, elem: {{type: list, len: 1, elem: {BOOL}}}}}"
    assert kinds(a_test(scalar, nested)) == ("bool",)
    assert kinds(a_test(f"{{type: list, len: 0, elem: {BOOL}}}")) == ()


def test_a_users_test_has_one_variant(a_test) -> None:
    assert variants(a_test(FLOAT, INT, BOOL), None) == [{"float": "float32", "int": "int64", "bool": "bool"}]
    assert variants(a_test(INT64), None) == [{}]


def test_a_built_in_test_has_every_dtype_that_is_allowed(a_test) -> None:
    test = a_test(FLOAT, builtin=True)
    floats = ["float16", "bfloat16", "float32", "float64"]
    assert [one["float"] for one in variants(test, None)] == floats
    assert [one["float"] for one in variants(test, ["float64", "int8", "bfloat16"])] == ["bfloat16", "float64"]
    assert [one["int"] for one in variants(a_test(INT, builtin=True), None)] == [
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
    ]
    assert variants(test, ["int8"]) == []
    assert [one["float"] for one in variants(test, ["float8_e5m2", "float32"])] == ["float32", "float8_e5m2"]


def test_several_kinds_give_the_product(a_test) -> None:
    found = variants(a_test(FLOAT, INT, builtin=True), ["float16", "float32", "int8", "int64"])
    assert [tuple(one.values()) for one in found] == [
        ("float16", "int8"), ("float16", "int64"), ("float32", "int8"), ("float32", "int64"),
    ]  # fmt: skip


def test_requested_dtypes_are_those_of_the_first_tensor(a_test) -> None:
    both = a_test(FLOAT, INT)
    allowed = ["float16", "float32", "int8", "int64"]
    found = variants(both, allowed, requested=["float16"])
    assert found == [{"float": "float16", "int": "int8"}, {"float": "float16", "int": "int64"}]
    assert variants(both, allowed, requested=["int8"]) == []
    assert variants(a_test(INT64, FLOAT), allowed, requested=["int64"]) == [{"float": "float16"}, {"float": "float32"}]
    assert variants(a_test(INT64), allowed, requested=["int8"]) == []
    assert variants(a_test("{type: const, value: 5}"), allowed, requested=["int8"]) == [
        {}
    ]  # no tensor: not decided here


@pytest.mark.parametrize(
    ("node", "kind", "expected"),
    [
        ("{type: tensor, shape: [2], kind: int, low: -10, high: 10}", "int", ["int8", "int16", "int32", "int64"]),
        ("{type: tensor, shape: [2], kind: int, low: 0, high: 200}", "int", ["uint8", "int16", "int32", "int64"]),
        ("{type: const_tensor, shape: [1], kind: int, value: [65536]}", "int", ["int32", "int64"]),
        ("{type: tensor, shape: [2], kind: float, low: 0, high: 1.0e5}", "float", ["bfloat16", "float32", "float64"]),
        (
            "{type: const_tensor, shape: [2], kind: float, value: [.nan, 1.0e5]}",
            "float",
            ["bfloat16", "float32", "float64"],
        ),
    ],
)
def test_a_dtype_that_cannot_hold_what_is_written_is_no_variant(
    a_test, node: str, kind: str, expected: list[str]
) -> None:
    assert [one[kind] for one in variants(a_test(node, builtin=True), None)] == expected


def test_the_dtype_segment_of_an_id(a_test) -> None:
    test = a_test(INT, FLOAT)
    assert dtype_segment(test, {"int": "int8", "float": "float16"}) == "int8+float16"
    assert first_dtype(test, {"int": "int8", "float": "float16"}) == "int8"
    assert dtype_segment(a_test(INT64), {}) == "int64"
    assert first_dtype(a_test("{type: const, value: 1}"), {}) is None
    assert dtype_segment(a_test("{type: const, value: 1}"), {}) == "none"


def test_an_input_cast_to_complex_is_selected_by_its_complex_dtype(a_test) -> None:
    test = a_test(FLOAT, more=", cast_input0_to_complex: true")
    assert variants(test, None, ["complex128"]) == [{"float": "float64"}]
    assert variants(test, None, ["float64"]) == []
    assert first_dtype(test, {"float": "float32"}) == "complex64"
    assert dtype_segment(test, {"float": "float32"}) == "float32"
