"""Complex functions by literal numbers: what mathematics and C99 Annex G say, what is open, and the errors allowed."""

from __future__ import annotations

import math
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from conform.interp.golden import Golden
from tests.interp.ops.literal import boolean, c64, c128, check, check_open, f16, f32, f64, goldens, i32, shown

PI, LOG_2 = 3.14159265358979323846, 0.69314718055994530942
LARGE = 2.0**128 - 2.0**104  # the largest float32


def value(op: str, *args: object) -> list[complex]:
    """Both parts of every element of the one output; a zero of either sign is +0 (P9)."""
    (golden,) = goldens(op, *args)
    assert golden.open is None
    assert golden.zero_sign_free is True
    return (golden.value + 0).tolist()


# ---- known numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "z", "expected"),
    [
        ("aten::exp", 1 + 1j, 1.46869393991588515714 + 2.28735528717884239120j),
        ("aten::exp2", 1j, 0.76923890136397212658 + 0.63896127631363480115j),  # cos, sin of log 2
        ("aten::expm1", 1j * PI, -2 + 1.22464679914735317723e-16j),  # the double next to pi
        ("aten::log", -1 + 0j, PI * 1j),
        ("aten::log", 3 + 4j, 1.60943791243410037460 + 0.92729521800161223243j),  # log 5, atan 4/3
        ("aten::log2", 1 + 1j, 0.5 + 1.13309003545679845240j),  # pi/4 over log 2
        ("aten::log10", 3 + 1j, 0.5 + 0.13973449032377376583j),
        ("aten::log1p", 1j, LOG_2 / 2 + PI / 4 * 1j),
        ("aten::sqrt", 3 + 4j, 2 + 1j),
        ("aten::sqrt", -4 + 0j, 2j),
        ("aten::rsqrt", 3 + 4j, 0.4 - 0.2j),
        ("aten::reciprocal", 1 + 2j, 0.2 - 0.4j),
        ("aten::sin", 1 + 1j, 1.29845758141597729483 + 0.63496391478473610826j),
        ("aten::cos", 1 + 1j, 0.83373002513114904888 - 0.98889770576286509638j),
        ("aten::tan", 1j, 0.76159415595576488812j),
        ("aten::sinh", 1j, 0.84147098480789650665j),
        ("aten::cosh", 1 + 1j, 0.83373002513114904888 + 0.98889770576286509638j),
        ("aten::tanh", 1 + 1j, 1.08392332733869454348 + 0.27175258531951171653j),
        ("aten::asin", 2 + 0j, PI / 2 + 1.31695789692481670863j),
        ("aten::acos", 2 + 0j, -1.31695789692481670863j),
        ("aten::atan", 2j, PI / 2 + 0.54930614433405484570j),
        ("aten::asinh", 2j, 1.31695789692481670863 + PI / 2 * 1j),
        ("aten::acosh", 0j, PI / 2 * 1j),
        ("aten::atanh", 2 + 0j, 0.54930614433405484570 + PI / 2 * 1j),
        ("aten::sigmoid", 1j, 0.5 + 0.27315124492189525663j),  # tan(1/2) / 2
    ],
)
def test_one_known_number_of_each_function(op: str, z: complex, expected: complex) -> None:
    assert value(op, c128([z])) == [expected]


def test_pow() -> None:
    assert value("aten::pow", c128([1j, 1j, 1 + 1j]), c128([1j, 2, 4])) == [0.20787957635076190855, -1, -4]  # e^(-pi/2)
    assert value("aten::pow", c64([1 + 2j, -4]), 0.5) == value("aten::sqrt", c64([1 + 2j, -4]))
    assert value("aten::pow", 2, c64([2 + 0j, -1])) == [4, 0.5]
    assert value("aten::pow", c64([0, 0, 0, 5j]), c64([2, 0.5 + 3j, 0, 0])) == [0, 0, 1, 1]
    check_open("aten::pow", c64([0, 0, 1j]), c64([-1, 1j, 1]), gives=c64([0, 0, 1j]), where_open=[True, True, False],
               rule="P70")  # fmt: skip


def test_div() -> None:
    assert value("aten::div", c64([1 + 2j]), c64([3 - 4j])) == [complex(*np.float32([-0.2, 0.4]))]
    assert value("aten::div", c64([2 + 1j]), f64(2.0)) == [1 + 0.5j]
    assert value("aten::div", f32([2.0]), c128([1j])) == [-2j]
    big = 2.0**127
    assert value("aten::div", c64([complex(big, big)]), c64([complex(big, big)])) == [1]


def test_neg_is_exact_on_both_parts() -> None:
    (golden,) = goldens("aten::neg", c64([1 - 2j, complex(inf, nan)]))
    assert shown(golden.value) == shown(c64([-1 + 2j, complex(-inf, nan)]))


# ---- real results ----------------------------------------------------------------------------------------------------


def test_abs_is_a_real_number_and_does_not_overflow_on_the_way() -> None:
    check("aten::abs", c64([3 + 4j, -5, 0, 2.0**100 * (3 + 4j)]), gives=f32([5.0, 5.0, 0.0, 5 * 2.0**100]))
    check("aten::abs", c128([1 + 1j]), gives=f64([math.sqrt(2)]))
    (golden,) = goldens("aten::abs", c64([1j]))
    assert golden.bounded_as == "aten::hypot"


def test_angle() -> None:
    check("aten::angle", c128([1j, -1, 0]), gives=f64([PI / 2, PI, 0.0]))
    check("aten::angle", c128([complex(-1, -0.0), complex(1, -0.0)]), gives=f64([-PI, -0.0]))
    check("aten::angle", f32([-0.0, 0.0, 2.0, inf]), gives=f32([0.0, 0.0, 0.0, 0.0]))
    check("aten::angle", f64([-1e-300, -inf, nan]), gives=f64([PI, PI, nan]))
    check("aten::angle", f16([-1.0]), gives=f16([3.140625]))
    check("aten::angle", i32([-3, 3]), gives=f32([3.1415927410125732, 0.0]))
    check("aten::angle", boolean([True]), gives=f32([0.0]))


# ---- branch cuts: the sign of a zero part names the side (P71, C99 Annex G) ------------------------------------------

ABOVE, BELOW = -2 + 0j, complex(-2, -0.0)
RIGHT, LEFT = 2j, complex(-0.0, 2)


CUT_ON_THE_REAL_AXIS = ("sqrt", "rsqrt", "log", "log2", "log10", "log1p", "asin", "acos", "acosh", "atanh")


@pytest.mark.parametrize("name", CUT_ON_THE_REAL_AXIS)
def test_the_sign_of_the_imaginary_zero_names_the_side_of_the_cut(name: str) -> None:
    (golden,) = goldens(f"aten::{name}", c128([ABOVE, BELOW]))
    above, below = golden.value.tolist()
    assert above.imag != 0
    assert above == below.conjugate()
    assert below != above


def test_cuts_on_the_imaginary_axis() -> None:
    right, left = value("aten::asinh", c128([RIGHT, LEFT]))
    assert right == 1.31695789692481670863 + PI / 2 * 1j == -left.conjugate()
    right, left = value("aten::atan", c128([RIGHT, LEFT]))
    assert right == PI / 2 + 0.54930614433405484570j == -left.conjugate()
    assert value("aten::pow", c128([ABOVE, BELOW]), 0.5) == value("aten::sqrt", c128([ABOVE, BELOW]))


def test_real_operands_lie_on_the_upper_side() -> None:
    assert value("aten::pow", f64([-1.0]), c128([1j])) == [0.04321391826377224977]  # e^-pi


# ---- what is open ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("z", [complex(inf, 0), complex(0, -inf), complex(nan, 1), complex(1, nan)])
@pytest.mark.parametrize("op", ["aten::sqrt", "aten::log", "aten::exp", "aten::abs", "aten::angle", "aten::reciprocal"])
def test_operands_that_are_not_finite(op: str, z: complex) -> None:
    (golden,) = goldens(op, c64([z]))
    assert (golden.open.tolist(), golden.open_rule) == ([True], "P70")


@pytest.mark.parametrize(
    ("op", "z"),
    [
        ("aten::log", 0), ("aten::log1p", -1), ("aten::atanh", 1), ("aten::atan", -1j), ("aten::reciprocal", 0),
        ("aten::rsqrt", 0), ("aten::exp", 89), ("aten::exp", 88.9 + 1j), ("aten::cos", 90j), ("aten::sinh", -90 + 1j),
    ],
)  # fmt: skip
def test_poles_and_results_whose_magnitude_overflows(op: str, z: complex) -> None:
    (golden,) = goldens(op, np.complex64([z, 0.5 + 0.5j]))
    assert (golden.open.tolist(), golden.open_rule) == ([True, False], "P70")


def test_a_power_whose_angle_overflows_on_the_way_has_no_bound() -> None:
    """2^128 arg(0.5 + 1.5i) = 4.2e38, and 2^128 log 5 = 5.5e38, beyond float32: the sine of that is NaN."""
    (golden,) = goldens("aten::pow.Tensor_Tensor", c64([0.5 + 1.5j, 5, 5]), c64([-LARGE, LARGE * 1j, LARGE / 2 * 1j]))
    assert np.isinf(golden.budget).tolist() == [[True, True], [True, True], [False, False]]


def test_the_magnitude_overflows_at_the_same_place_as_a_real_result() -> None:
    # A number of equal parts is as large as 2^128 - 2^103, halfway from the largest float32 to 2^128, from here on.
    leg = np.float32(math.sqrt(0.5) * (2.0**128 - 2.0**103))
    below, above = np.nextafter(leg, np.float32(0)), np.nextafter(leg, np.float32(inf))
    assert 2 * Fraction(float(below)) ** 2 < Fraction(2**128 - 2**103) ** 2 < 2 * Fraction(float(above)) ** 2
    (golden,) = goldens("aten::div", np.complex64([complex(below, below), complex(above, above)]), 1.0)
    assert golden.open.tolist() == [False, True]
    largest = float(np.finfo(np.float64).max)
    (golden,) = goldens("aten::div", c128([complex(largest, 1e300), complex(largest, 2e300)]), 1.0)
    assert golden.open.tolist() == [False, True]


def test_the_sigmoid_is_open_where_its_exponential_overflows() -> None:
    (golden,) = goldens("aten::sigmoid", c64([-89 + 1j, 89 + 1j]))
    assert (golden.open.tolist(), golden.open_rule) == ([True, False], "P73")


# ---- errors allowed --------------------------------------------------------------------------------------------------


def part_errors(golden: Golden, computed: np.ndarray) -> np.ndarray:
    """How far the parts of `computed` lie from the real numbers."""
    parts = np.stack([computed.real, computed.imag], axis=-1).astype(np.float64)
    return np.abs((parts - golden.real.hi) - golden.real.lo)


def within(golden: Golden, computed: np.ndarray) -> np.ndarray:
    """Part by part, or in norm, as the golden says."""
    error, budget = part_errors(golden, computed), golden.budget
    if golden.normwise:
        return np.hypot(error[..., 0], error[..., 1]) <= np.hypot(budget[..., 0], budget[..., 1])
    return (error <= budget).all(axis=-1)


def samples() -> np.ndarray:
    """complex64 of many sizes, on both sides of the axes and near the unit circle."""
    rng = np.random.default_rng(3)
    size = 10.0 ** rng.uniform(-4, 1, 600)
    z = size * np.exp(1j * rng.uniform(-np.pi, np.pi, 600))
    circle = np.exp(1j * rng.uniform(-np.pi, np.pi, 200))
    return np.concatenate([z, circle]).astype(np.complex64)


def in_float32(op: str, z: np.ndarray) -> np.ndarray:
    """A plain implementation of the function in complex64, of numpy's float32 functions."""
    x, y = z.real, z.imag
    e, one = np.exp(x), np.float32(1)
    match op.removeprefix("aten::"):
        case "exp":
            return e * np.cos(y) + 1j * (e * np.sin(y))
        case "sin":
            return np.sin(x) * np.cosh(y) + 1j * (np.cos(x) * np.sinh(y))
        case "cosh":
            return np.cosh(x) * np.cos(y) + 1j * (np.sinh(x) * np.sin(y))
        case "log":
            return np.log(np.hypot(x, y)) + 1j * np.arctan2(y, x)
        case "tanh":
            below = np.sinh(x) ** 2 + np.cos(y) ** 2
            return np.sinh(x) * np.cosh(x) / below + 1j * (np.sin(y) * np.cos(y) / below)
        case "sqrt":
            p = np.sqrt((np.hypot(x, y) + np.abs(x)) / 2)
            q = np.abs(y) / (2 * p)
            return np.where(x >= 0, p, q) + 1j * np.copysign(np.where(x >= 0, q, p), y)
        case _:
            below = x * x + y * y
            return x / below - 1j * (y * (one / below))


def naive(op: str, z: np.ndarray) -> np.ndarray:
    """The usual wrong ones: cancelling, through too narrow a step, or the real function's formula."""
    x, y = z.real, z.imag
    match op.removeprefix("aten::"):
        case "exp":
            return np.exp(x).astype(np.float16) * (np.cos(y) + 1j * np.sin(y))
        case "sin":
            return (np.exp(1j * z) - np.exp(-1j * z)) / np.complex64(2j)
        case "cosh":
            return np.cosh(x) * np.cos(y) - 1j * (np.sinh(x) * np.sin(y))
        case "log":
            return np.log(np.hypot(x, y)) + 1j * np.arctan(y / x)
        case "tanh":
            return (np.exp(2 * z) - 1) / (np.exp(2 * z) + 1)
        case "sqrt":
            r = np.hypot(x, y)
            return np.sqrt((r + x) / 2) + 1j * np.copysign(np.sqrt((r - x) / 2), y)
        case _:
            return np.conj(z) / np.abs(z).astype(np.float16)


@pytest.mark.parametrize("op", [f"aten::{n}" for n in ("exp", "sin", "cosh", "log", "tanh", "sqrt", "reciprocal")])
def test_a_plain_float32_implementation_is_within_the_budget_and_the_naive_one_is_not(op: str) -> None:
    z = samples()
    (golden,) = goldens(op, z)
    with np.errstate(all="ignore"):
        assert within(golden, in_float32(op, z)).all()
        assert not within(golden, naive(op, z)).all()


@pytest.mark.parametrize("name", ["asin", "acos", "asinh", "acosh", "atanh", "atan", "log1p", "expm1", "pow"])
def test_the_textbook_formulas_of_the_inverse_functions_are_outside_the_budget(name: str) -> None:
    """Through complex64 logarithms and roots, they cancel for small z or near the cuts."""
    z = samples()
    i, one = np.complex64(1j), np.complex64(1)
    with np.errstate(all="ignore"):
        textbook = {
            "asin": lambda: -i * np.log(i * z + np.sqrt(one - z * z)),
            "acos": lambda: -i * np.log(z + i * np.sqrt(one - z * z)),
            "asinh": lambda: np.log(z + np.sqrt(one + z * z)),
            "acosh": lambda: np.log(z + np.sqrt(z * z - one)),
            "atanh": lambda: np.log((one + z) / (one - z)) / 2,
            "atan": lambda: np.log((one + i * z) / (one - i * z)) / (2 * i),
            "log1p": lambda: np.log(one + z),
            "expm1": lambda: np.exp(z) - one,
            "pow": lambda: np.conj(np.exp(z * np.log(z))),
        }[name]()
    (golden,) = goldens(f"aten::{name}", z, z) if name == "pow" else goldens(f"aten::{name}", z)
    assert golden.normwise
    assert not within(golden, textbook).all()


def test_sums_of_products_are_bounded_part_by_part_and_inverse_functions_in_norm() -> None:
    for op, in_norm in (("aten::exp", False), ("aten::sqrt", False), ("aten::tan", True), ("aten::log", True)):
        (golden,) = goldens(op, c64([1 + 1j]))
        assert golden.normwise is in_norm
