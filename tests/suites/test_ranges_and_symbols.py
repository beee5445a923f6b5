"""Specification: "Range and symbol resolution"; numbers as YAML 1.2 reads them."""

from __future__ import annotations

import math

import pytest

from conform.documents.limits import Limits
from conform.documents.source import parse_yaml
from conform.suites.nodes import Const, Draw, Optional, Repeated


@pytest.fixture
def node(loaded):
    return lambda text: loaded(f"dims: {{N: 4}}\ntests:\n- {{op: aten::relu, in: [{text}]}}")[0].inputs[0]


@pytest.fixture
def problem(errors):
    return lambda text: errors(f"dims: {{N: 4, Width: 5}}\ntests:\n- {{id: t, op: aten::relu, in: [{text}]}}")[0]


def test_symbols_resolve_in_shapes_and_numeric_fields(node) -> None:
    assert node("{type: tensor, shape: [N, 2], kind: float, low: 0, high: N}").draw == Draw("uniform", 0, 4)
    assert node("{type: tensor, shape: [N, 2], kind: float, mean: N, std: N}").draw == Draw("normal", mean=4.0, std=4.0)
    assert node("{type: list, len: N, elem: {type: const, value: 1}}") == Repeated(Const(1), 4)
    assert node("{type: int_list, elems: [N, 1]}") == Const([4, 1])


def test_numeric_strings_are_numbers(node) -> None:
    assert node('{type: tensor, shape: ["10", 2], kind: float, low: "-1.5", high: "1e1"}').shape == (10, 2)
    assert node('{type: tensor, shape: [2], kind: float, low: "-1.5", high: "1e1"}').draw == Draw("uniform", -1.5, 10.0)
    assert node('{type: optional, p_none: "0.25", elem: {type: const, value: 1}}') == Optional(0.25, Const(1))
    assert node('{type: list, len: "3", elem: {type: const, value: 1}}') == Repeated(Const(1), 3)


def test_values_can_be_negative_and_bounds_are_inclusive(node) -> None:
    assert node("{type: tensor, shape: [2], kind: int, low: -7, high: -7}").draw == Draw("randint", -7, -7)


def test_unknown_symbols_are_errors(problem) -> None:
    assert problem("{type: tensor, shape: [M], kind: float}").endswith(
        "in[0].shape[0]: unknown dimension 'M'; known: N, Width"
    )
    assert problem("{type: list, len: Widht, elem: {type: const, value: 1}}").endswith(
        "in[0].len: unknown dimension 'Widht'; did you mean 'Width'?"
    )
    assert problem("{type: tensor, shape: [2], kind: float, mean: n-1}").endswith(
        "in[0].mean: expected a number or the symbol of a dimension, found 'n-1'"
    )


def test_a_quoted_symbol_is_an_error_that_says_so(problem) -> None:
    assert problem('{type: tensor, shape: ["N"], kind: float}').endswith(
        "in[0].shape[0]: 'N' is quoted; the symbol of a dimension is written bare"
    )


def test_literal_strings_in_constructor_arguments_are_not_resolved(loaded) -> None:
    (test,) = loaded("dims: {N: 4}\ntests: [{op: {type: module, path: a.B, args: [N], kwargs: {n: N}}, in: []}]")
    assert test.op.args == (Const("N"),)
    assert test.op.kwargs == {"n": Const("N")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e-5", 1e-5),
        ("1e3", 1000.0),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("+3", 3),
        (".5", 0.5),
        ("5.", 5.0),
        ("-.5e-1", -0.05),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("Null", None),
        ("", None),
        ("NO", "NO"),
        ("yes", "yes"),
        ("on", "on"),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("0o8", "0o8"),
        ("-0x1F", "-0x1F"),
        ("tRUE", "tRUE"),
        (".", "."),
        ("-", "-"),
        ("1e", "1e"),
        ("2001-01-01", "2001-01-01"),
        ("=", "="),
        ("'1'", "1"),
        ('"true"', "true"),
    ],
)
def test_plain_scalars_follow_yaml_1_2(text: str, expected: object) -> None:
    found = parse_yaml(f"[{text} ]" if text != "-" else "- '-'", Limits())
    if text == "":
        found = list(parse_yaml("a:", Limits()).values())
    assert found == [expected]
    assert isinstance(found[0], type(expected))


def test_nan_is_a_number() -> None:
    assert math.isnan(parse_yaml("[.nan]", Limits())[0])
