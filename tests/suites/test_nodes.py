"""Specification: "Nodes", a section for each node type."""

from __future__ import annotations

import functools
import math

import ml_dtypes
import numpy as np
import pytest

from conform.numerics.draws import Stream
from conform.suites import sample, variants
from conform.suites.nodes import Const, Draw, Mapping, Optional, Repeated, Scalar, Sequence, Tensor


@pytest.fixture
def node(loaded):
    """The node of the only input of a test."""
    return lambda text, head="dims: {N: 3}": loaded(f"{head}\ntests:\n- {{op: aten::relu, in: [{text}]}}")[0].inputs[0]


@pytest.fixture
def value(loaded):
    """The drawn value of the only input of a test; `number` is the sample."""

    def draw(text: str, number: int = 0):
        (test,) = loaded(f"dims: {{N: 3}}\ntests:\n- {{op: aten::relu, in: [{text}]}}")
        return sample(test, variants(test, None)[0], functools.partial(Stream, 0), number).args[0]

    return draw


@pytest.fixture
def problem(errors):
    """The messages for a test with this input, without place and test: "in[0].shape: ..."."""

    def find(text: str, head: str = "dims: {N: 3}") -> list[str]:
        lines = errors(f"{head}\ntests:\n- {{id: t, op: aten::relu, in: [{text}]}}")
        return [line.partition(" test 't' (aten::relu), ")[2] for line in lines]

    return find


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


# --- Tensor -----------------------------------------------------------------------------------------------------------


def test_a_tensor_node(node) -> None:
    text = "{type: tensor, shape: [2, N], dtype: float16, init: uniform, low: -1, high: 1, requires_grad: true}"
    assert node(text) == Tensor((2, 3), "float", "float16", Draw("uniform", -1, 1), requires_grad=True)


def test_the_defaults_of_a_tensor_node(node) -> None:
    assert node("{type: tensor, shape: [2], kind: float}") == Tensor((2,), "float", None, Draw("normal"))
    assert node("{type: tensor, shape: [2], kind: int}") == Tensor((2,), "int", None, Draw("randint"))
    assert node("{type: tensor, shape: [2], kind: bool}") == Tensor((2,), "bool", None, Draw("bernoulli"))
    assert Draw("normal") == Draw("normal", None, None, mean=0.0, std=1.0, p=0.5)


@pytest.mark.parametrize(
    ("keys", "init"),
    [
        ("kind: float, low: 0, high: 1", "uniform"),
        ("kind: int, low: 0, high: 1", "randint"),
        ("kind: float, std: 2", "normal"),
        ("kind: float, p: 0.2", "bernoulli"),
        ("kind: int, p: 0.2", "bernoulli"),
    ],
)
def test_without_init_the_other_keys_tell_the_method(node, keys: str, init: str) -> None:
    assert node(f"{{type: tensor, shape: [2], {keys}}}").draw.init == init


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("[]", "in[0].shape: expected at least one item, found none"),
        ("[-1]", "in[0].shape[0]: expected a non-negative integer, found -1"),
        ("[2.0]", "in[0].shape[0]: expected an integer or the symbol of a dimension, found 2.0"),
        ("[true]", "in[0].shape[0]: expected a number or the symbol of a dimension, found true"),
        ("4", "in[0].shape: expected a list, found 4"),
        ("[M]", "in[0].shape[0]: unknown dimension 'M'; known: N"),
        (
            "[{var: v}]",
            "in[0].shape[0]: a template variable cannot stand here; expected an integer or the symbol of a dimension",
        ),
    ],
)  # fmt: skip
def test_a_shape_is_a_non_empty_list_of_sizes(problem, shape: str, message: str) -> None:
    assert problem(f"{{type: tensor, shape: {shape}, kind: float}}") == [message]


@pytest.mark.parametrize(("keys", "found"), [("", "neither"), (", kind: int, dtype: int8", "both")])
def test_either_kind_or_dtype(problem, keys: str, found: str) -> None:
    (message,) = problem(f"{{type: tensor, shape: [2]{keys}}}")
    assert message == f"in[0]: expected either 'kind' or 'dtype', found {found}"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("kind: flaot", "in[0].kind: expected 'float', 'int' or 'bool', found 'flaot'; did you mean 'float'?"),
        ("kind: null", "in[0].kind: expected 'float', 'int' or 'bool', found null"),
        ("dtype: flaot32", "in[0].dtype: unknown dtype 'flaot32'; did you mean 'float32'?"),
        ("dtype: torch.long", "in[0].dtype: unknown dtype 'torch.long'; did you mean 'int64'?"),
        ("dtype: int", "in[0].dtype: unknown dtype 'int'; did you mean 'int32'?"),
        ("dtype: 3", "in[0].dtype: unknown dtype 3; expected a name such as 'float32'"),
        (
            "kind: float, init: unifrom",
            (
                "in[0].init: expected 'normal', 'uniform', 'randint', 'zeros', 'ones' or 'bernoulli', found 'unifrom'; "
                "did you mean 'uniform'?"
            ),
        ),
        ("kind: float, low: 0", "in[0]: 'low' is given without 'high'"),
        ("kind: float, high: 0", "in[0]: 'high' is given without 'low'"),
        ("kind: float, low: 2, high: 1", "in[0].low: low is 2, greater than high, 1"),
        ("kind: float, low: .nan, high: 1", "in[0].low: expected a finite number, found NaN"),
        ("kind: float, low: -1.0e+39, high: 1", "in[0].low: -1e+39 does not fit float32"),
        ("kind: int, low: 0.5, high: 1", "in[0].low: expected an integer, found 0.5"),
        ("dtype: uint8, low: -1, high: 1", "in[0].low: -1 does not fit uint8"),
        ("dtype: uint64, low: 0, high: 9223372036854775808",
         "in[0].high: 9223372036854775808 does not fit int64, in which integers are drawn"),
        ("kind: float, std: -1", "in[0].std: expected a non-negative standard deviation, found -1.0"),
        ("kind: bool, p: 1.5", "in[0].p: expected a probability between 0 and 1, found 1.5"),
        (
            "kind: float, init: normal, low: 0, high: 1",
            "in[0].low: init normal does not read 'low'; it reads 'mean', 'std'",
        ),
        ("kind: float, init: zeros, p: 0.5", "in[0].p: init zeros does not read 'p'"),
        (
            "kind: int, init: normal",
            "in[0].init: normal does not draw int; expected one of randint, uniform, zeros, ones, bernoulli",
        ),
        (
            "kind: int, requires_grad: true",
            "in[0].requires_grad: only float and complex tensors have gradients, this is int",
        ),
        ("kind: float, requires_grad: 1", "in[0].requires_grad: expected true or false, found 1"),
        (
            "dtype: float8_e8m0fnu",
            "in[0].dtype: float8_e8m0fnu has positive numbers only; expected 'low' and 'high' above 0",
        ),
        (
            "dtype: float8_e8m0fnu, init: zeros",
            "in[0].dtype: float8_e8m0fnu has positive numbers only; expected 'low' and 'high' above 0",
        ),
        ("dtype: float8_e8m0fnu, low: 0, high: 1", "in[0].low: 0 does not fit float8_e8m0fnu"),
    ],
)  # fmt: skip
def test_what_a_tensor_node_refuses(problem, keys: str, message: str) -> None:
    assert message in problem(f"{{type: tensor, shape: [2], {keys}}}")


def test_every_init_draws_what_it_says(value) -> None:
    def draw(keys: str) -> np.ndarray:
        return value(f"{{type: tensor, shape: [100, 100], {keys}}}")

    assert draw("kind: float").dtype == np.float32
    normal = draw("kind: float, init: normal, mean: 5, std: 2")
    assert abs(normal.mean() - 5) < 0.1
    assert abs(normal.std() - 2) < 0.1
    uniform = draw("dtype: float64, init: uniform, low: -3, high: 1")
    assert -3 <= uniform.min() < -2.99
    assert 0.99 < uniform.max() <= 1
    assert set(np.unique(draw("kind: int, low: -1, high: 1"))) == {-1, 0, 1}
    assert set(np.unique(draw("kind: float, init: randint, low: -1, high: 1"))) == {-1.0, 0.0, 1.0}
    assert not draw("dtype: int8, init: zeros").any()
    assert (draw("dtype: bfloat16, init: ones") == 1).all()
    assert 0.15 < draw("kind: bool, p: 0.2").mean() < 0.25
    assert set(np.unique(draw("kind: int, init: bernoulli"))) == {0, 1}


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [("int64", -10, 10), ("uint8", 0, 20), ("int4", -8, 7), ("uint4", 0, 15)]
)
def test_default_bounds_of_integers(value, dtype: str, low: int, high: int) -> None:
    drawn = value(f"{{type: tensor, shape: [1000], dtype: {dtype}}}").astype(np.int64)
    assert (drawn.min(), drawn.max()) == (low, high)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float8_e4m3fn"])
def test_rounding_to_the_dtype_keeps_the_bounds(value, dtype: str) -> None:
    drawn = value(f"{{type: tensor, shape: [4000], dtype: {dtype}, low: 0.1, high: 0.2}}").astype(np.float64)
    assert drawn.min() >= 0.1
    assert drawn.max() <= 0.2


def test_complex_tensors_draw_both_parts(value) -> None:
    drawn = value("{type: tensor, shape: [1000], dtype: complex64, init: uniform, low: 1, high: 2}")
    assert drawn.dtype == np.complex64
    assert drawn.real.min() >= 1
    assert drawn.imag.max() <= 2
    assert (drawn.real != drawn.imag).all()


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


# --- Constant tensor --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("shape: [2, 2], dtype: int8, value: [[1, -2], [3, 4]]", np.array([[1, -2], [3, 4]], np.int8)),
        ("shape: [3], dtype: float16, value: [.nan, -.inf, 0.1]", np.array([np.nan, -np.inf, 0.1], np.float16)),
        ("shape: [2], kind: bool, value: [true, false]", np.array([True, False])),
        ("shape: [1], dtype: uint64, value: [18446744073709551615]", np.array([2**64 - 1], np.uint64)),
        ("shape: [1], dtype: int64, value: [-9007199254740993]", np.array([-(2**53) - 1])),
        ("shape: [2], dtype: complex64, value: [[1, -0.0], [.inf, 2]]", np.array([complex(1, -0.0), complex(np.inf, 2)],
                                                                                 np.complex64)),
        ("shape: [0, 3], kind: float, value: []", np.zeros((0, 3), np.float32)),
        ("shape: [2], dtype: float32, value: [-0.0, 1.0e-45]", np.array([-0.0, 1e-45], np.float32)),
    ],
)  # fmt: skip
def test_the_value_of_a_constant_tensor(value, keys: str, expected: np.ndarray) -> None:
    found = value(f"{{type: const_tensor, {keys}}}")
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("shape: [2], kind: int, value: [1]", "the value does not match the shape; expected nested lists of shape [2]"),
        ("shape: [1], kind: int, value: 1", "the value does not match the shape; expected nested lists of shape [1]"),
        (
            "shape: [1], dtype: complex64, value: [1]",
            "the value does not match the shape; expected nested lists of shape [1, 2] (real and imaginary part last)",
        ),
        ("shape: [1], kind: int, value: [1.5]", "expected an integer, found 1.5"),
        ("shape: [1], kind: float, value: [x]", "expected a number, found 'x'"),
        ("shape: [1], kind: bool, value: [1]", "expected true or false, found 1"),
        ("shape: [1], dtype: uint8, value: [-1]", "-1 does not fit uint8"),
        ("shape: [1], dtype: float16, value: [65520]", "65520 does not fit float16"),
        ("shape: [1], dtype: float8_e4m3fn, value: [.inf]", "Infinity does not fit float8_e4m3fn"),
    ],
)  # fmt: skip
def test_a_value_must_match_shape_and_dtype(problem, keys: str, message: str) -> None:
    assert problem(f"{{type: const_tensor, {keys}}}") == [f"in[0].value: {message}"]


def test_without_a_value_a_constant_tensor_is_sampled(node) -> None:
    assert node("{type: const_tensor, shape: [N], kind: int, low: 0, high: 1}") == Tensor(
        (3,), "int", None, Draw("randint", 0, 1)
    )


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
