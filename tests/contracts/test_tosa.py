"""TOSA's budgets against their formulas worked by hand, and its rule for "within"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conform.contracts import tosa
from conform.contracts.judge import judge
from conform.contracts.tables import Row
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to

INF, NAN = np.inf, np.nan
SMALLEST_NORMAL, U = 2.0**-126, 2.0**-23


def golden(dtype: str, real: list[float], **rest: Any) -> Golden:
    numbers = np.array(real, np.float64)
    return Golden(FORMATS[dtype], round_to(FORMATS[dtype], numbers), Real.exact(numbers), **rest)


def budget(name: str, dtype: str, real: float, **operands: float) -> float:
    arrays = {key: np.array([value]) for key, value in operands.items()}
    return float(tosa.bounds(name, tosa.Call(golden(dtype, [real]), arrays, results=1))[1][0])


@pytest.mark.parametrize(
    ("name", "dtype", "real", "operands", "expected"),
    [
        ("ADD", "float32", 3.0, {}, 2.0**-23),  # half of ulp 2^-22
        ("RSQRT", "float16", 0.5, {}, 2.0**-10),  # 2 ulp of 2^-11
        ("ERF", "bfloat16", 0.0, {}, 0.0),
        ("ERF", "float32", 2.0**-140, {}, 5 * 2.0**-149),  # ulps of subnormals are the smallest normal number's
        ("EXP", "float32", 4.0, {"self": 2.0}, 7 * 4 * 2.0**-23),
        ("EXP", "bfloat16", 4.0, {"self": 2.0}, 5 * 4 * 2.0**-7),
        ("LOG", "float32", 0.01, {"self": 1.01}, 0.5 * 2.0**-23),
        ("LOG", "float32", 2.0, {"self": 8.0}, 10 * 2.0**-23),
        ("SIGMOID", "float16", 0.5, {"self": -3.0}, 4 * 2.0**-10),
        ("TANH", "float32", 0.5, {"self": 0.5}, 8 * 2.0**-23),
        ("TANH", "float32", 0.001, {"self": 0.001}, 0.5 * 2.0**-23),
        ("SIN", "float32", 0.5, {"self": 8.0}, 8 * 2.0**-10),
        ("SIN", "bfloat16", 0.5, {"self": 8.0}, 2.0),
        ("SIN", "float32", 0.0, {"self": 0.0}, np.pi * SMALLEST_NORMAL),
        ("COS", "float16", 0.5, {"self": 7.0}, 8 / 32),
        # 2^-23 * 0.55 * 2 of the product, and 3 + twice that of the exponential
        ("POW", "float32", 1.0, {"self": 1.0, "exponent": 2.0}, np.expm1(1.1 * U) + U * (3 + 2.2 * U)),
        ("POW", "float32", 0.0, {"self": 0.0, "exponent": 2.0}, 0.0),
        ("CAST", "float16", 1.5, {"self": 1.5}, 2.0**-11),
    ],
)  # fmt: skip
def test_a_budget(name: str, dtype: str, real: float, operands: dict[str, float], expected: float) -> None:
    assert budget(name, dtype, real, **operands) == pytest.approx(expected, rel=1e-14)


def test_a_product_may_lose_half_an_ulp_a_factor() -> None:
    call = tosa.Call(golden("float32", [8.0]), {"self": np.full(3, 2.0)}, results=1)
    assert tosa.bounds("REDUCE_PRODUCT", call)[1] == pytest.approx(8 * 3 * 2.0**-24, rel=1e-6)


@pytest.mark.parametrize(
    ("dtype", "expected"), [("float32", 2 * 100 * 2.0**-24 * 6), ("float16", 2 * 2 * 2.0**-11 * 6)]
)
def test_a_dot_product_of_a_hundred_terms(dtype: str, expected: float) -> None:
    sums = golden(dtype, [1.0, 0.0], terms=100, magnitude=np.array([6.0, 0.0]))  # float16: 100 / 2^6.5 = 1.1, so 2
    assert tosa.bounds("DOT_PRODUCT", tosa.Call(sums, {}, results=2))[1].tolist() == [expected, 0.0]


@pytest.mark.parametrize(
    ("reference", "bound", "actual", "accepted"),
    [
        (1.0, 0.5, 1.5, True), (1.0, 0.5, 1.5001, False), (1.0, 0.5, 0.5, True), (-1.0, 0.5, -0.5, True),
        (-1.0, 0.5, -1.6, False), (1.0, INF, -7.0, True),
        (3.4e38, 1e37, INF, True), (3.4e38, 1e35, INF, False), (1e39, 1e37, 3.4e38, False), (1e39, 9e38, 3e38, True),
        (2.0**-127, 0.0, 0.0, True), (SMALLEST_NORMAL, 0.0, 0.0, False), (2.0**-127, 0.0, -0.0, True),
        (0.0, 0.0, -0.0, True), (1.0, 0.5, NAN, False),
    ],
)  # fmt: skip
def test_within(reference: float, bound: float, actual: float, accepted: bool) -> None:
    arrays = [np.array([number]) for number in (reference, bound, bound)]
    assert tosa.within(FORMATS["float32"], np.float32([actual]), *arrays).tolist() == [accepted]


def judged(op: str, name: str, args: list, actual: list[float], **operands: Any) -> Any:
    result = evaluate(op, args, {}).goldens[0]
    return judge(result, np.array(actual).astype(result.format.storage), Row("tosa", None, name, "test"), operands)


def test_what_tosa_leaves_undefined_is_not_judged() -> None:
    x, y = np.float32([-2, 2, 0, 0, NAN]), np.float32([2, 2, 2, -1, 1])
    elements = judged("aten::pow", "POW", [x, y], [7, 4, 0, 3, 3], self=x, exponent=y)
    assert elements.compared.tolist() == [False, True, True, False, False]
    assert elements.ok.all()


def test_a_determined_infinity_is_judged_though_the_budget_is_infinite() -> None:
    x = np.float32([INF, 1.0])
    assert judged("aten::sin", "SIN", [x], [NAN, 0.8412], self=x).ok.tolist() == [True, True]
    assert judged("aten::sin", "SIN", [x], [0.5, 0.8512], self=x).ok.tolist() == [False, False]


def test_casts_round_to_nearest_or_toward_zero() -> None:
    x = np.float32([1 + 2.0**-11 + 2.0**-20] * 4)  # between 1 and the next float16, above the middle
    step = 2.0**-10
    half = golden("float16", [float(x[0])] * 4)
    row = Row("tosa", None, "CAST", "test")
    actual = np.float16([1 + step, 1.0, 1 + 2 * step, 1 - step])
    assert judge(half, actual, row, {"self": x}).ok.tolist() == [True, True, False, False]
