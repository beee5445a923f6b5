"""Goldens of softmax and layer norm: literal rows, and random rows against the formulas in mpmath at 200 bits."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mpmath
import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS, Format, format_of

NAN, INF = math.nan, math.inf
DTYPES = ["float16", "bfloat16", "float32", "float64"]


def tensor(dtype: str, values: object) -> np.ndarray:
    return np.array(values, np.float64).astype(FORMATS[dtype].storage)


def softmax(x: np.ndarray, half_to_float: bool = False) -> Golden:
    return evaluate("aten::_softmax", [x, -1, half_to_float], {}).goldens[0]


def layer_norm(
    x: np.ndarray, eps: float, weight: np.ndarray | None = None, bias: np.ndarray | None = None
) -> tuple[Golden, ...]:
    return evaluate("aten::native_layer_norm", [x, [x.shape[-1]], weight, bias, eps], {}).goldens


def numbers(golden: Golden) -> list:
    return golden.value.astype(np.float64).tolist()


# --- Literal rows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "third"),
    [("float16", 0x3555), ("bfloat16", 0x3EAB), ("float32", 0x3EAAAAAB), ("float64", 0x3FD5555555555555)],
)
def test_softmax_of_equal_logits_is_one_over_their_number(dtype: str, third: int) -> None:
    golden = softmax(tensor(dtype, [[7.0, 7.0, 7.0]]))
    assert golden.value.view(FORMATS[dtype].code_storage).tolist() == [[third] * 3]
    assert numbers(softmax(tensor(dtype, [-3.0] * 8))) == [0.125] * 8
    assert numbers(softmax(tensor(dtype, [[1e3], [-1e3]]))) == [[1.0], [1.0]]


def test_softmax_of_infinities() -> None:
    assert numbers(softmax(tensor("float32", [-INF, 0.0, 0.0]))) == [0.0, 0.5, 0.5]
    assert np.isnan(softmax(tensor("float32", [[INF, 0.0], [-INF, -INF], [NAN, 0.0]])).value).all()


def test_softmax_underflows_to_plus_zero() -> None:
    golden = softmax(tensor("float64", [0.0, -744.0, -1e308]))
    assert numbers(golden) == [1.0, 2.0**-1073, 0.0]  # e^-744 = 2^-1073.36
    assert not np.signbit(golden.value).any()


def test_layer_norm_of_a_rational_row_decides_exact_midpoints() -> None:
    # Mean 0, variance 1: the output is x + bias exactly, midway between two float32 numbers; the even one is right.
    x = tensor("float32", [[1.0, -1.0]])
    bias = tensor("float32", [2.0**-24, -(2.0**-24)])
    output, mean, rstd = layer_norm(x, 0.0, bias=bias)
    assert (numbers(output), numbers(mean), numbers(rstd)) == ([[1.0, -1.0]], [[0.0]], [[1.0]])
    output, _, _ = layer_norm(x, 0.0, bias=3 * bias)
    assert numbers(output) == [[1 + 2.0**-22, -1 - 2.0**-22]]


def test_layer_norm_of_a_rational_row_with_eps() -> None:
    # Variance 9 and eps 16: rstd is 1/5.
    output, mean, rstd = layer_norm(tensor("float64", [[4.0, -2.0]]), 16.0, weight=tensor("float64", [1.0, 10.0]))
    assert (numbers(output), numbers(mean), numbers(rstd)) == ([[0.6, -6.0]], [[1.0]], [[0.2]])


def test_layer_norm_of_a_constant_row() -> None:
    x = tensor("float32", [[0.1, 0.1, 0.1]])
    output, mean, rstd = layer_norm(x, 0.0)
    assert np.isnan(output.value).all()  # 0 * inf
    assert numbers(rstd) == [[INF]]
    assert mean.value.tolist() == [[x[0, 0]]]
    output, _, rstd = layer_norm(x, 0.25, bias=tensor("float32", [1.0, 2.0, 3.0]))
    assert (numbers(output), numbers(rstd)) == ([[1.0, 2.0, 3.0]], [[2.0]])


@pytest.mark.parametrize("scale", [2.0**1023, 2.0**-1060])
def test_layer_norm_beyond_the_range_of_double_double(scale: float) -> None:
    # Without eps the scale drops out: (1, -1, 1) has mean 1/3 and variance 8/9.
    output, mean, rstd = layer_norm(tensor("float64", [[scale, -scale, scale]]), 0.0)
    assert numbers(output) == [[math.sqrt(0.5), -math.sqrt(2), math.sqrt(0.5)]]
    assert numbers(mean) == [[scale / 3]]
    with mpmath.workprec(200):
        assert is_nearest(rstd.value[0, 0], 1 / (mpmath.mpf(scale) * mpmath.sqrt(mpmath.mpf(8) / 9)))


# --- Against mpmath ---------------------------------------------------------------------------------------------------


def is_nearest(value: np.generic, exact: mpmath.mpf) -> bool:
    """Whether no neighbour of `value` in its format is nearer to `exact`, nor, if the code of `value` is odd, as near.

    Infinity counts as the number after the largest.
    """
    fmt = format_of(value)
    is_even = int(value.view(fmt.code_storage)) % 2 == 0
    error = abs(_number(fmt, value) - exact)
    others = [abs(_number(fmt, neighbour) - exact) for neighbour in _neighbours(fmt, value)]
    return all(error < other or (error == other and is_even) for other in others)


def _number(fmt: Format, value: np.generic) -> mpmath.mpf:
    number = mpmath.mpf(float(value))
    return number if mpmath.isfinite(number) else mpmath.sign(number) * mpmath.ldexp(1, fmt.emax + 1)


def _neighbours(fmt: Format, value: np.generic) -> Iterator[np.generic]:
    if value == 0:
        yield from (fmt.storage.type(sign * fmt.min_subnormal) for sign in (-1, 1))
        return
    code = int(value.view(fmt.code_storage))
    steps = (-1,) if np.isinf(value) else (-1, 1)
    yield from (fmt.code_storage.type(code + step).view(fmt.storage) for step in steps)


def assert_nearest(golden: Golden, exact: list[mpmath.mpf]) -> None:
    values = golden.value.reshape(-1)
    assert len(values) == len(exact)
    wrong = [(float(v), mpmath.nstr(y, 25)) for v, y in zip(values, exact, strict=True) if not is_nearest(v, y)]
    assert wrong == []


def rows_of(x: np.ndarray) -> list[list[mpmath.mpf]]:
    return [[mpmath.mpf(v) for v in row] for row in x.astype(np.float64).tolist()]


SCALES = [1e-3, 1.0, 30.0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", SCALES)
def test_softmax_is_the_nearest_number(dtype: str, scale: float) -> None:
    x = tensor(dtype, np.random.default_rng(10).normal(0, scale, (12, 9)))
    with mpmath.workprec(200):
        exact = []
        for row in rows_of(x):
            e = [mpmath.exp(v) for v in row]
            exact += [v / mpmath.fsum(e) for v in e]
        assert_nearest(softmax(x), exact)
        if dtype in ("float16", "bfloat16"):
            in_float32 = softmax(x, half_to_float=True)
            assert in_float32.format.name == "float32"
            assert_nearest(in_float32, exact)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("scale", SCALES)
def test_layer_norm_is_the_nearest_number(dtype: str, offset: float, scale: float) -> None:
    rng = np.random.default_rng(11)
    x = tensor(dtype, offset + rng.normal(0, scale, (8, 7)))
    weight, bias = (tensor(dtype, rng.normal(0, 1, 7)) for _ in range(2))
    outputs = layer_norm(x, 1e-5, weight, bias)
    with mpmath.workprec(200):
        exact: tuple[list, list, list] = ([], [], [])
        for row in rows_of(x):
            mean = mpmath.fsum(row) / len(row)
            rstd = 1 / mpmath.sqrt(mpmath.fsum((v - mean) ** 2 for v in row) / len(row) + mpmath.mpf(1e-5))
            affine = zip(row, *rows_of(np.stack([weight, bias])), strict=True)
            exact[0].extend((v - mean) * rstd * w + b for v, w, b in affine)
            exact[1].append(mean)
            exact[2].append(rstd)
        for golden, numbers_ in zip(outputs, exact, strict=True):
            assert_nearest(golden, numbers_)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_whose_sums_leave_the_range_of_its_format(dtype: str) -> None:
    largest = FORMATS[dtype].max_finite
    x = tensor(dtype, largest * np.random.default_rng(12).uniform(-1, 1, (6, 5)))
    with mpmath.workprec(200):
        exact = []
        for row in rows_of(x):
            mean = mpmath.fsum(row) / len(row)
            deviation = mpmath.sqrt(mpmath.fsum((v - mean) ** 2 for v in row) / len(row) + mpmath.mpf(1e-5))
            exact += [(v - mean) / deviation for v in row]
        assert_nearest(layer_norm(x, 1e-5)[0], exact)
