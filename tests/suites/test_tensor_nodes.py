"""Specification: "Nodes", the sections of tensors and constant tensors."""

from __future__ import annotations

import numpy as np
import pytest

from conform.suites.nodes import Draw, Tensor

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
