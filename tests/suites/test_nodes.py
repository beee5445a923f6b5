"""Specification: "Nodes", a section for each node type."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from conform.suites.nodes import Const, Mapping, Optional, Repeated, Scalar, Sequence

# --- Node types -------------------------------------------------------------------------------------------------------


def test_the_type_chooses_the_variant(problem) -> None:
    assert problem("{type: tensr}") == ["in[0]: unknown node type 'tensr'; did you mean 'tensor'?"]
    assert problem("{shape: [2]}")[0].startswith("in[0]: this mapping has no type, so it is no node; expected one")
    assert problem("{tpye: tensor, shape: [2]}") == [
        "in[0]: this mapping has no type, so it is no node; key 'tpye'; did you mean 'type'?"
    ]
    assert problem("3") == [
        "in[0]: expected a node (a mapping with a type), found 3; a literal is {type: const, value: 3}"
    ]
    assert problem("[3]") == ["in[0]: expected a node (a mapping with a type), found a list"]
    assert problem("{type: 3}")[0].startswith("in[0]: unknown node type 3; expected one of")
    assert problem("{type: module, path: torch.nn.Linear}")[0].startswith("in[0]: unknown node type 'module'")


VALID = {
    "ref": "{type: ref, ref: x}",
    "tensor": "{type: tensor, shape: [2], kind: float}",
    "scalar": "{type: scalar, kind: int, value: 2}",
    "scalar_tensor": "{type: scalar_tensor, kind: float}",
    "int_list": "{type: int_list, elems: [1]}",
    "list": "{type: list, len: 2, elem: {ref: x}}",
    "tuple": "{type: tuple, elems: [{ref: x}]}",
    "optional": "{type: optional, elem: {ref: x}}",
    "const": "{type: const, value: 1}",
    "const_tensor": "{type: const_tensor, shape: [1], kind: int, value: [1]}",
    "construct": "{type: construct, path: torch.Size, args: [[2, 3]]}",
}


@pytest.mark.parametrize("text", VALID.values(), ids=VALID)
def test_fields_that_are_not_listed_are_forbidden(node, problem, text: str) -> None:
    head = "presets: {x: {type: const, value: 1}}"
    node(text, head)
    misspelt = text.replace("}", ", sahpe: 3}", 1) if "{" not in text[1:] else f"{text[:-1]}, sahpe: 3}}"
    (message,) = problem(misspelt, head)
    assert message.startswith("in[0].sahpe: unknown key 'sahpe'; ")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{type: ref}", "ref"),
        ("{type: tensor, kind: float}", "shape"),
        ("{type: int_list}", "elems"),
        ("{type: list, elem: {type: const, value: 1}}", "len"),
        ("{type: list, len: 2}", "elem"),
        ("{type: tuple}", "elems"),
        ("{type: optional}", "elem"),
        ("{type: const}", "value"),
        ("{type: const_tensor, kind: int}", "shape"),
        ("{type: construct, path: torch.Size}", "args"),
        ("{type: var}", "name"),
    ],
)
def test_required_fields(problem, text: str, key: str) -> None:
    assert problem(text) == [f"in[0].{key}: the key {key!r} is missing"]


# --- Reference --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["{type: ref, ref: x}", "{ref: x}"])
def test_a_reference_is_the_preset(node, text: str) -> None:
    assert node(text, "presets: {x: {type: const, value: 7}}") == Const(7)


@pytest.mark.parametrize("text", ["{ref: {var: v}}", "{ref: {type: var, name: v}}"])
def test_a_reference_by_a_variable_needs_a_template(problem, text: str) -> None:
    assert problem(text) == ["in[0].ref: template variable 'v' outside of a template"]


def test_a_reference_is_a_name_or_a_variable(problem) -> None:
    assert problem("{ref: 3}") == ["in[0].ref: expected a name, or {var: NAME}"]
    assert problem("{ref: ''}") == ["in[0].ref: expected a name, found ''"]


# --- Scalar -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("kind: float, value: 2", 2),
        ("kind: float, value: 0.1", 0.1),
        ("kind: float, value: -.inf", -math.inf),
        ("dtype: float16, value: 0.1", 0.1),
        ("kind: int, value: -3", -3),
        ("kind: bool, value: true", True),
    ],
)
def test_a_scalar_with_a_value_is_that_value(value, keys: str, expected: object) -> None:
    found = value(f"{{type: scalar, {keys}}}")
    assert found == expected
    assert type(found) is type(expected)


def test_a_sampled_scalar_is_a_python_scalar_within_its_bounds(value) -> None:
    floats = [value("{type: scalar, kind: float, low: -1, high: N}", number) for number in range(50)]
    assert all(type(one) is float and -1 <= one <= 3 for one in floats)
    assert len(set(floats)) == 50
    ints = [value("{type: scalar, kind: int, low: 1, high: N}", number) for number in range(50)]
    assert all(type(one) is int for one in ints)
    assert set(ints) == {1, 2, 3}
    bools = [value("{type: scalar, kind: bool, p: 0.5}", number) for number in range(50)]
    assert set(bools) == {True, False}
    assert {value("{type: scalar, kind: bool, p: 1}", number) for number in range(9)} == {True}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("kind: float", "in[0]: a scalar without a value needs 'low' and 'high'"),
        ("kind: int, low: 1, high: 1", "in[0].low: low is 1, not less than high, 1"),
        ("kind: bool, low: 0, high: 1", "in[0].low: a bool scalar does not read 'low'; it reads 'p'"),
        ("kind: int, low: 0, high: 1, p: 0.5", "in[0].p: 'p' is for bool scalars; this is int"),
        ("kind: bool, p: -0.1", "in[0].p: expected a probability between 0 and 1, found -0.1"),
        ("kind: int, value: 2.5", "in[0].value: expected an integer, found 2.5"),
        ("kind: int, value: true", "in[0].value: expected an integer, found true"),
        ("kind: bool, value: 1", "in[0].value: expected true or false, found 1"),
        ("kind: float, value: x", "in[0].value: expected a number, true or false, found 'x'"),
        ("dtype: int8, value: 128", "in[0].value: 128 does not fit int8"),
        ("kind: int, value: 1, low: 0, high: 2", "in[0].low: 'low' is not read where 'value' is given"),
        ("kind: float, init: normal", "in[0].init: unknown key 'init'; "),
    ],
)
def test_what_a_scalar_node_refuses(problem, keys: str, message: str) -> None:
    assert any(line.startswith(message) for line in problem(f"{{type: scalar, {keys}}}"))


# --- Scalar tensor ----------------------------------------------------------------------------------------------------


def test_a_scalar_tensor_is_a_rank_0_array(value) -> None:
    drawn = value("{type: scalar_tensor, kind: float, init: uniform, low: 2, high: 3}")
    assert isinstance(drawn, np.ndarray)
    assert drawn.shape == ()
    assert drawn.dtype == np.float32
    assert 2 <= drawn <= 3
    literal = value("{type: scalar_tensor, dtype: bfloat16, value: 1.5}")
    assert isinstance(literal, np.ndarray)
    assert literal.shape == ()
    assert literal.dtype == ml_dtypes.bfloat16
    assert literal == 1.5
    assert value("{type: scalar_tensor, dtype: complex64, value: 2}") == 2 + 0j


def test_a_scalar_tensor_has_no_gradient_key(problem) -> None:
    (message,) = problem("{type: scalar_tensor, kind: float, requires_grad: true}")
    assert message.startswith("in[0].requires_grad: unknown key")


# --- Int list, list, tuple --------------------------------------------------------------------------------------------


def test_an_int_list(node, problem) -> None:
    assert node("{type: int_list, elems: [1, -2, N]}") == Const([1, -2, 3])
    assert problem("{type: int_list, elems: []}") == ["in[0].elems: expected at least one item, found none"]
    assert problem("{type: int_list, elems: [1.5]}") == [
        "in[0].elems[0]: expected an integer or the symbol of a dimension, found 1.5"
    ]


def test_a_list_draws_each_element(node, value, problem) -> None:
    assert node("{type: list, len: N, elem: {type: const, value: 1}}") == Repeated(Const(1), 3)
    first, second, third = value("{type: list, len: N, elem: {type: tensor, shape: [4], kind: float}}")
    assert (first != second).all()
    assert (second != third).all()
    assert value("{type: list, len: 0, elem: {type: const, value: 1}}") == []
    assert problem("{type: list, len: -1, elem: {type: const, value: 1}}") == [
        "in[0].len: expected a non-negative integer, found -1"
    ]


def test_a_tuple_has_different_elements(node, value) -> None:
    text = "{type: tuple, elems: [{type: const, value: 1}, {type: scalar, kind: bool, value: true}]}"
    assert node(text) == Sequence((Const(1), Scalar("bool", None, None, True)), is_tuple=True)
    assert value(text) == (1, True)


# --- Optional ---------------------------------------------------------------------------------------------------------


def test_an_optional_is_none_with_its_probability(node, value, problem) -> None:
    def text(p: str) -> str:
        return f"{{type: optional, {p}elem: {{type: const, value: 1}}}}"

    assert node(text("")) == Optional(0.0, Const(1))
    assert {value(text("p_none: 1, "), number) for number in range(20)} == {None}
    assert {value(text(""), number) for number in range(20)} == {1}
    absent = [value(text("p_none: 0.25, "), number) is None for number in range(200)]
    assert 30 < sum(absent) < 70
    assert problem(text("p_none: 2, ")) == ["in[0].p_none: expected a probability between 0 and 1, found 2"]


# --- Constant ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("null", None),
        ("1", 1),
        ("1.5", 1.5),
        ("true", True),
        ("N", "N"),  # a literal is not resolved
        ("'1'", "1"),
        ("[1, [x, null]]", [1, ["x", None]]),
        ("{a: {b: [1]}}", {"a": {"b": [1]}}),
        ("{type: tensor}", {"type": "tensor"}),
    ],
)
def test_a_constant_is_passed_unchanged(value, text: str, expected: object) -> None:
    found = value(f"{{type: const, value: {text}}}")
    assert found == expected
    assert type(found) is type(expected)


# --- Variable, union of nodes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["{var: v}", "{type: var, name: v}"])
def test_a_variable_outside_of_a_template_is_an_error(problem, text: str) -> None:
    assert problem(text) == ["in[0]: template variable 'v' outside of a template"]


def test_nodes_nest_arbitrarily(value) -> None:
    tensors = "{type: list, len: 1, elem: {type: tensor, shape: [1], kind: bool}}"
    pair = f"{{type: tuple, elems: [{{type: optional, elem: {tensors}}}, {{type: int_list, elems: [4]}}]}}"
    found = value(f"{{type: list, len: 2, elem: {pair}}}")
    assert [(len(maybe), maybe[0].dtype, ints) for maybe, ints in found] == [(1, np.bool_, [4])] * 2


def test_literal_arguments_may_hold_nodes(node) -> None:
    args = "[[1, {type: const, value: 2}], {k: {type: scalar_tensor, kind: int}}]"
    built = node(f"{{type: construct, path: torch.Size, args: {args}}}")
    assert built.args[0] == Const([1, 2])
    assert isinstance(built.args[1], Mapping)
