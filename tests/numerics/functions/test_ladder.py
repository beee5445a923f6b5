"""The rungs themselves: each alone gives the same values, the sentinels guard the first, and the last never guesses."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import mpmath
import numpy as np
import pytest

from conform.errors import Unjudged, UsageError
from conform.numerics import functions
from conform.numerics.chunks import CHUNK
from conform.numerics.formats import FORMATS
from conform.numerics.functions import exact, ladder
from conform.numerics.functions.table import FUNCTIONS
from tests.numerics.functions.draws import BINARY

EXP = FUNCTIONS["exp"]


def unreachable(*operands: tuple) -> tuple:
    """A second rung that decides nothing."""
    return (np.array(operands[0][0]), operands[0][1]), inf


@pytest.mark.parametrize("name", [name for name in functions.names() if name not in BINARY])
@pytest.mark.parametrize("format_name", ["float16", "bfloat16"])
def test_the_first_rung_agrees_with_the_second_on_16_bits(name: str, format_name: str) -> None:
    fmt = FORMATS[format_name]
    with np.errstate(invalid="ignore"):
        x = np.arange(0, 65536, 37, dtype=np.uint16).view(fmt.storage).astype(np.float64)
    value, _ = functions.apply(name, fmt, x)
    again, _ = ladder.evaluate(replace(FUNCTIONS[name], float64_error=inf), fmt, (x,))
    same = (value.view(np.uint16) == again.view(np.uint16)) | (np.isnan(value) & np.isnan(again))
    assert same.all(), f"{name} of {x[~same][:3]}: {value[~same][:3]} and {again[~same][:3]}"


@pytest.mark.parametrize("name", functions.names())
def test_mpmath_alone_agrees(name: str) -> None:
    pair = (0.3, 1.7) if name in BINARY else (1.7 if name == "acosh" else 0.3,)
    operands = tuple(np.array([x]) for x in pair)
    for fmt in (FORMATS["float32"], FORMATS["float64"]):
        value, real = functions.apply(name, fmt, *operands)
        alone, fine = ladder.evaluate(
            replace(FUNCTIONS[name], float64_error=inf, double_double=unreachable, scaled=None), fmt, operands
        )
        assert value == alone
        assert abs((real.hi - fine.hi) + (real.lo - fine.lo)) <= real.radius + fine.radius


def test_a_platform_that_misses_its_sentinels_loses_the_first_rung() -> None:
    wrong = replace(EXP, float64=lambda x: np.exp(x) * (1 + 2.0**-48))
    assert ladder.float64_holds(EXP)
    assert not ladder.float64_holds(wrong)
    x = np.linspace(-5, 5, 1000)
    assert (
        ladder.evaluate(wrong, FORMATS["float32"], (x,))[0] == functions.apply("exp", FORMATS["float32"], x)[0]
    ).all()


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if np.isfinite(f.float64_error)])
def test_this_platform_keeps_the_first_rung(name: str) -> None:
    assert ladder.float64_holds(FUNCTIONS[name])


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if np.isfinite(f.float64_error)])
def test_the_first_rung_is_within_its_error(name: str) -> None:
    """Of float32 numbers of every exponent, and of those beside powers of two, between which the formulas change."""
    function = FUNCTIONS[name]
    codes = np.random.default_rng(1).integers(0, 2**32, 2**14, dtype=np.uint32)
    beside = (np.arange(512, dtype=np.uint32)[:, None] << np.uint32(23)) + np.arange(-2, 3).astype(np.uint32)
    with np.errstate(all="ignore"):
        x = np.concatenate([codes, beside.ravel()]).view(np.float32).astype(np.float64)
        operands = [x, np.roll(x, 1)][: len(function.sentinels[0])]
        estimate = function.float64(*operands)
        (hi, lo), error = function.double_double(*((each, np.zeros_like(each)) for each in operands))
        held = np.isfinite(estimate) & np.isfinite(hi * error) & (np.abs(hi) > 2.0**-960) & (np.abs(hi) < 2.0**990)
        held &= np.all(np.isfinite(operands), axis=0)
        held &= ~function.unsure(*operands) if function.unsure else True
        off = np.abs((estimate - hi) - lo) / np.abs(hi) - error
    assert held.sum() > 4000
    assert off[held].max() <= function.float64_error, [each[held][off[held].argmax()] for each in operands]


def test_what_no_precision_decides_is_unjudged() -> None:
    """2^-150 is a midpoint of float32; without its exact case no enclosure decides it."""
    blind = replace(FUNCTIONS["exp2"], exact=exact.nowhere)
    with pytest.raises(Unjudged, match=r"exp2\(-150\.0,\) lies within 2\^-3180 of a rounding boundary of float32"):
        ladder.evaluate(blind, FORMATS["float32"], (np.array([-150.0]),))


def test_a_value_that_mpmath_does_not_confirm_is_unjudged() -> None:
    noisy = replace(
        EXP,
        double_double=unreachable,
        scaled=None,
        mp=lambda x: mpmath.exp(x) * (1 + mpmath.mpf(1) / mpmath.mp.prec),
    )
    with pytest.raises(Unjudged):
        ladder.evaluate(noisy, FORMATS["float64"], (np.array([0.3]),))


def test_an_infinity_of_mpmath_is_unjudged() -> None:
    pole = replace(FUNCTIONS["log"], exact=exact.nowhere, poles=lambda x: np.zeros(x.shape, bool))
    with pytest.raises(Unjudged, match="state it in the function's `exact`"):
        ladder.evaluate(pole, FORMATS["float64"], (np.array([0.0]),))


def test_a_number_beyond_float64_is_no_pole() -> None:
    """e^1000 is a finite number of which nothing more is known; log 0 is infinite."""
    _, real = functions.apply("exp", FORMATS["float32"], np.array([1000.0, inf]))
    assert (real.hi.tolist(), real.radius.tolist()) == ([inf, inf], [inf, 0.0])
    _, real = functions.apply("log", FORMATS["float32"], np.array([0.0, -0.0]))
    assert (real.hi.tolist(), real.radius.tolist()) == ([-inf, -inf], [0.0, 0.0])


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in BINARY])
def test_poles_are_where_the_exact_cases_are_infinite(name: str) -> None:
    """On every finite float16, and on numbers so large that all are integers."""
    with np.errstate(all="ignore"):  # signalling NaNs, and poles
        codes = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64)
        x = np.append(codes[np.isfinite(codes)], [2.0**60, -(2.0**60), -(2.0**52) - 1, -(2.0**-200), 1e300])
        x = x[~np.isnan(FUNCTIONS[name].float64(x))]
    answers = [FUNCTIONS[name].exact(each) for each in x.tolist()]
    expected = [isinstance(answer, float) and np.isinf(answer) for answer in answers]
    np.testing.assert_array_equal(FUNCTIONS[name].poles(x), expected)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (3, 5), (CHUNK + 1,), (2, CHUNK)])
def test_shapes(shape: tuple[int, ...]) -> None:
    x = np.linspace(-1, 1, int(np.prod(shape))).reshape(shape)
    for fmt in (FORMATS["bfloat16"], FORMATS["float64"]):
        value, real = functions.apply("tanh", fmt, x)
        assert value.shape == real.hi.shape == real.lo.shape == real.radius.shape == shape
        assert value.dtype == fmt.storage
    np.testing.assert_allclose(value, np.tanh(x), rtol=2.0**-50)


def test_operands_may_be_strided_and_are_not_written() -> None:
    x = np.linspace(-1, 1, 24).reshape(4, 6)[::2, ::-2].T
    before = x.copy()
    value, _ = functions.apply("sin", FORMATS["float32"], x)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(value, functions.apply("sin", FORMATS["float32"], before)[0])


def test_an_unknown_name_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no real function is named 'tanhh'; did you mean 'tanh'"):
        functions.apply("tanhh", FORMATS["float32"], np.zeros(1))


def test_mp_gives_the_formula() -> None:
    with mpmath.workprec(120):
        assert functions.mp("log2")(mpmath.mpf(8)) == 3


@pytest.mark.parametrize("last_bit", [0, 1])
@pytest.mark.parametrize(("name", "dropped"), [("float32", 29), ("bfloat16", 45), ("float16", 42)])
def test_what_may_cross_a_boundary_lies_near_the_middle_of_two_neighbours(
    name: str, dropped: int, last_bit: int
) -> None:
    """An error of 2^-50 is 4 units of 2^-52 for numbers from 1 to 2, taken as 9 since none is wanted too few."""
    units = np.array([-(2.0 ** (dropped - 1)) + 1, -10, -9, 0, 9, 10, 2.0 ** (dropped - 1) - 1])
    middle = 1.0 + 2.0 ** (dropped - 53) + last_bit * 2.0 ** (dropped - 52)
    found = ladder._may_cross(FORMATS[name], middle + units * 2.0**-52, 2.0**-50)
    assert found.tolist() == [False, False, True, True, True, False, False]


def test_what_a_format_may_have_as_subnormal_is_asked() -> None:
    smallest = FORMATS["float32"].min_normal
    numbers = np.array([smallest, -smallest, 2 * smallest, -3 * smallest])
    found = ladder._may_cross(FORMATS["float32"], numbers, 2.0**-50)
    assert found.tolist() == [True, True, False, False]
