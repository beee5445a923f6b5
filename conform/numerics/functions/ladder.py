"""The ladder of a correctly rounded function (Ziv's strategy).

 1. float64 with a stated relative error, for results narrower than float64. Each function's error is checked once a
    process on its sentinels; where a platform misses it, this rung is skipped.
 2. double-double with a proven radius.
 3. At the ends of float64's range, double-double with the exponent held apart (range_ends.py).
 4. One element at a time: exact results by case analysis on integers, then mpmath at rising precision.

Each rung rounds both ends of its enclosure; what they agree on is decided, the rest climbs. What the last precision
leaves open raises Unjudged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeVar

import mpmath
import numpy as np

from conform.errors import Unjudged
from conform.numerics.chunks import in_chunks
from conform.numerics.formats import Format
from conform.numerics.functions.dd import DD, SAFE_MAX, SAFE_MIN, Array
from conform.numerics.functions.exact import Exact
from conform.numerics.parts import Parts, parts_of, write
from conform.numerics.real import Real
from conform.numerics.rounding import Ratio, decide, nearest_of, round_fraction, round_to
from conform.numerics.scaled import Scaled

T = TypeVar("T")

UNDERFLOW = 2.0**-1000
"""Below this float64 is not relied on; the number is then known as (0, UNDERFLOW] with its sign, enough for
narrower formats."""
BEYOND = 1100
"""Magnitudes above 2^1100 are infinite, and below 2^-1100 zero, in every format of at most 64 bits."""
SMALLEST = 2.0**-1074
PRECISIONS = (100, 200, 400, 800, 1600, 3200)
GUARD_BITS = 20
"""mpmath promises no error bound: y at precision p is taken with radius 2^(20 - p) |y| and has to be confirmed at
2p."""


@dataclass(frozen=True)
class Function:
    """One real function and its rungs; operands are float64 arrays of one shape.

    float64         rung 1; also gives the class (NaN, infinity) of every result with a non-finite operand
    float64_error   its relative error; inf: not relied on beyond the class
    double_double   rung 2 on pairs of finite operands: the value and its relative error, inf where it does not reach
    mp              the formula in mpmath, at the context's precision
    scaled          rung 3 on finite operands, for the ends of float64's range; None: there it is not needed
    poles           where finite operands are poles; None: `exact` says so, one by one
    unsure          where rung 1 misses float64_error; None: nowhere
    exact           the result where it is a dyadic rational, a pole or a zero (see exact.py)
    sentinels       operands on which float64_error is checked
    """

    name: str
    float64: Callable[..., Array]
    float64_error: float
    double_double: Callable[..., tuple[DD, Array | float]]
    mp: Callable[..., mpmath.mpf]
    exact: Callable[..., Exact]
    sentinels: tuple[tuple[float, ...], ...] = ()
    scaled: Callable[..., Scaled] | None = None
    poles: Callable[..., Array] | None = None
    unsure: Callable[..., Array] | None = None


def evaluate(function: Function, fmt: Format, operands: tuple[Array, ...]) -> tuple[Array, Real]:
    """The function's values, rounded to nearest even in `fmt`, and as reals. Raises Unjudged."""
    with np.errstate(all="ignore"):
        return in_chunks(fmt, lambda *chunk: _evaluate_chunk(function, fmt, list(chunk)), operands)


def _evaluate_chunk(function: Function, fmt: Format, operands: list[Array]) -> tuple[Array, Real]:
    estimate = function.float64(*operands)
    if fmt.name == "float64":
        real = _double_double(function, estimate, operands)
        value, undecided = _decide_float64(real)
    elif not float64_holds(function):
        real = _double_double(function, estimate, operands)
        value, undecided = decide(fmt, real)
    else:
        real, value, undecided = _float64(function, fmt, estimate, operands)
        if undecided.any():
            where = np.flatnonzero(undecided)
            fine = _double_double(function, estimate[where], [x[where] for x in operands])
            real.hi[where], real.lo[where], real.radius[where] = fine.hi, fine.lo, fine.radius
            value[where], undecided[where] = decide(fmt, fine)
    if function.scaled is not None and undecided.any():
        _at_range_ends(function, fmt, estimate, operands, value, real, undecided)
    places = np.flatnonzero(undecided)
    one = lambda *some: _one(function, fmt, list(some))  # noqa: E731
    for i, (number, parts) in _of_each(one, [x[places] for x in operands], places):
        value[i] = number
        write(real, i, parts)
    return value, real


def _of_each(function: Callable[..., T], operands: list[Array], places: Array) -> Iterator[tuple[int, T]]:
    """(place, function of the operands there): once of operands that stand there again and again, as zeros,
    infinities and whole numbers do; -0 is not 0."""
    results: dict[bytes, T] = {}
    columns = np.stack(operands, axis=-1)
    for place, numbers in zip(places.tolist(), columns, strict=True):
        if (key := numbers.tobytes()) not in results:
            results[key] = function(*numbers.tolist())
        yield place, results[key]


# 1: float64


def _float64(function: Function, fmt: Format, estimate: Array, operands: list[Array]) -> tuple[Real, Array, Array]:
    """The reals, the values in `fmt`, and where they are undecided."""
    hi = np.array(estimate)
    size = np.abs(hi)
    radius = size * function.float64_error
    beyond = np.isinf(hi) & ~_any_non_finite(operands) & ~_at_pole(function, estimate, operands)
    radius[~np.isfinite(hi) | _class_of_operands(estimate, operands)] = 0.0
    radius[beyond] = np.inf
    tiny = size < UNDERFLOW
    if tiny.any():
        tiny &= ~(_any_non_finite(operands) | ((hi == 0) & (operands[0] == 0)))
        hi[tiny] = np.copysign(UNDERFLOW / 2, hi[tiny])
        radius[tiny] = UNDERFLOW / 2
    value = round_to(fmt, hi)
    undecided = _may_cross(fmt, hi, function.float64_error)
    candidates = np.flatnonzero(undecided)
    if candidates.size:
        undecided[candidates] = _ends_differ(fmt, hi[candidates], radius[candidates])
    if function.unsure is not None:
        undecided |= function.unsure(*operands)
    return Real(hi, np.zeros_like(hi), radius), value, undecided


def _may_cross(fmt: Format, hi: Array, relative_error: float) -> Array:
    """Where hi (1 +- relative_error) may cross a rounding boundary of `fmt`: the bits that `fmt` drops lie near their
    middle, counted in ulp of float64, or the number is subnormal there."""
    dropped = 52 - fmt.mantissa_bits
    reach = int(relative_error * 2.0**53) + 1
    offset = (hi.view(np.int64) + ((1 << (dropped - 1)) + reach)) & ((1 << dropped) - 1)
    return (offset <= 2 * reach) | (np.abs(hi) < 2 * fmt.min_normal)


def _ends_differ(fmt: Format, hi: Array, radius: Array) -> Array:
    """Where hi - radius and hi + radius round differently; all of (0, UNDERFLOW] rounds to the zero of its sign."""
    margin = np.where(np.abs(hi) < UNDERFLOW, 0.0, radius * 1.125)  # the sums are off by 2^-53 |hi| <= radius / 16
    low, high = round_to(fmt, hi - margin), round_to(fmt, hi + margin)
    return (low.view(fmt.code_storage) != high.view(fmt.code_storage)) & (margin > 0)


def _decide_float64(real: Real) -> tuple[Array, Array]:
    """`decide` for what `_double_double` returns, |lo| <= ulp(hi)/2: any radius, be it far below the last bit of lo.

    lo - margin and lo + margin are off by 2^-107 |hi| at most: an eighth of a radius that sets the margin, and a
    sixteenth of the least margin.
    """
    inexact = real.radius > 0
    margin = np.where(inexact, np.maximum(real.radius * 1.125, 2.0**-103 * np.abs(real.hi)), 0.0)
    low, high = real.hi + (real.lo - margin), real.hi + (real.lo + margin)
    return np.where(inexact, low, real.hi), (low != high) & inexact  # -0 + 0 would be +0


def _any_non_finite(operands: list[Array]) -> Array:
    finite = np.isfinite(operands[0])
    for operand in operands[1:]:
        finite = finite & np.isfinite(operand)
    return ~finite


def _class_of_operands(estimate: Array, operands: list[Array]) -> Array:
    """Where the float64 result is the exact one: NaN, or an infinity, 0, 1 or another integer at a non-finite
    operand."""
    return np.isnan(estimate) | (_any_non_finite(operands) & (estimate == np.rint(estimate)))


def _at_pole(function: Function, estimate: Array, operands: list[Array]) -> Array:
    """Where the float64 result is infinite and so is the function, at finite operands: no number beyond float64."""
    poles = np.isinf(estimate) & ~_any_non_finite(operands)
    if function.poles is not None:
        return poles & function.poles(*operands)
    for i in np.flatnonzero(poles).tolist():
        poles[i] = isinstance(function.exact(*(float(x[i]) for x in operands)), float)
    return poles


@cache
def _measured_error(function: Function) -> float:
    """The largest relative error of the float64 rung on the function's sentinels."""
    columns = [np.array(column) for column in zip(*function.sentinels, strict=True)]
    with np.errstate(all="ignore"):
        values = function.float64(*columns).tolist()
    with mpmath.workprec(200):
        expected = [function.mp(*map(mpmath.mpf, operands)) for operands in function.sentinels]
        return max(
            float(abs(y - e) / abs(e)) if math.isfinite(y) else math.inf for y, e in zip(values, expected, strict=True)
        )


def float64_holds(function: Function) -> bool:
    """Whether rung 1 may be used here: an error is stated, and the sentinels stay within half of it."""
    return math.isfinite(function.float64_error) and _measured_error(function) <= function.float64_error / 2


# 2: double-double


def _double_double(function: Function, estimate: Array, operands: list[Array]) -> Real:
    """The kernel's numbers; where they may be doubles, exact cases are known exactly."""
    known = _class_of_operands(estimate, operands)
    if function.poles is not None:
        known |= _at_pole(function, estimate, operands)
    if known.any():
        operands = [np.where(known, 0.5, x) for x in operands]
    (hi, lo), error = function.double_double(*((x, np.zeros_like(x)) for x in operands))
    size = np.abs(hi)
    radius = size * error
    held = ((size >= SAFE_MIN) & (size <= SAFE_MAX)) | np.equal(error, 0)  # 0 is said of what the kernel knows exactly
    unknown = ~(held & np.isfinite(radius)) | _any_non_finite(operands)
    if unknown.any():
        hi, lo, radius = np.where(unknown, 0.0, hi), np.where(unknown, 0.0, lo), np.where(unknown, np.inf, radius)
    may_be_hi = np.flatnonzero((np.abs(lo) <= radius) & (radius > 0) & np.isfinite(radius) & ~known)
    for i, exact in _of_each(function.exact, [x[may_be_hi] for x in operands], may_be_hi):
        if isinstance(exact, Fraction):
            hi[i], lo[i], radius[i], _ = parts_of(exact)
    if not known.any():
        return Real(hi, lo, radius)
    return Real(np.where(known, estimate, hi), np.where(known, 0.0, lo), np.where(known, 0.0, radius))


# 3: the ends of float64's range


def _at_range_ends(
    function: Function, fmt: Format, estimate: Array, operands: list[Array], value: Array, real: Real, undecided: Array
) -> None:
    """What the scaled rung decides of the undecided elements, written into `value`, `real` and `undecided`."""
    places = np.flatnonzero(undecided & ~_any_non_finite(operands) & ~np.isnan(estimate))
    numbers = function.scaled(*(x[places] for x in operands))
    found, still = numbers.decided(fmt)
    value[places[~still]], undecided[places] = found[~still], still
    write(real, places[~still], numbers.real()[~still])


# 4: exact cases and mpmath


def _one(function: Function, fmt: Format, operands: list[float]) -> tuple[object, Parts]:
    """One element: its value in `fmt`, and the parts of its real."""
    exact = function.exact(*operands)
    if isinstance(exact, Fraction):
        return round_fraction(fmt, exact), parts_of(exact)
    if isinstance(exact, float):
        return round_to(fmt, np.float64(exact))[()], Parts(exact)
    formula = function.mp if exact is None else lambda *_: exact()
    for precision in PRECISIONS:
        coarse, fine = (_at_precision(formula, operands, p) for p in (precision, 2 * precision))
        if not mpmath.isfinite(fine):
            raise Unjudged(f"{function.name}{tuple(operands)}: mpmath gives {fine}; state it in the function's `exact`")
        with mpmath.workprec(2 * precision):
            radius = mpmath.ldexp(abs(fine), GUARD_BITS - precision)
            if abs(coarse - fine) > radius:
                continue
            if abs(mpmath.mag(fine)) > BEYOND:
                return _beyond_float64(fmt, fine)
            low, high = (nearest_of(fmt, to_ratio(fine + sign * radius)) for sign in (-1, 1))
        if low == high and math.copysign(1.0, low) == math.copysign(1.0, high):
            parts = parts_of(to_ratio(fine), to_ratio(mpmath.ldexp(radius, -precision)))
            return round_to(fmt, np.float64(low))[()], parts
    distance = f"2^-{PRECISIONS[-1] - GUARD_BITS}"
    raise Unjudged(f"{function.name}{tuple(operands)} lies within {distance} of a rounding boundary of {fmt.name}")


def _at_precision(formula: Callable[..., mpmath.mpf], operands: list[float], precision: int) -> mpmath.mpf:
    with mpmath.workprec(precision):
        return +formula(*map(mpmath.mpf, operands))


def _beyond_float64(fmt: Format, number: mpmath.mpf) -> tuple[object, Parts]:
    """A number that no format reaches, or that rounds to zero in all."""
    sign = 1.0 if number > 0 else -1.0
    parts = Parts(sign * math.inf, radius=math.inf) if mpmath.mag(number) > 0 else Parts(sign * 0.0, radius=SMALLEST)
    return round_to(fmt, np.float64(parts.hi))[()], parts


def to_ratio(number: mpmath.mpf) -> Ratio:
    """The exact value."""
    sign, mantissa, exponent, _ = number._mpf_
    integer = int(-mantissa if sign else mantissa)
    return Ratio(integer << exponent, 1) if exponent >= 0 else Ratio(integer, 1 << -exponent)
