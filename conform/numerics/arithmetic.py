"""Correctly rounded arithmetic: each function gives (the value in fmt.storage, the exact result as a Real).

Operands are float64 arrays (broadcast like numpy's) that hold exact values, of `fmt` or wider; the exact real result is
rounded once to `fmt`. Special operands follow IEEE 754-2019, clauses 6 and 7. A finite result beyond float64's range
is held as R2 and R4 of real.py say; in narrower formats an inexact one below 2^-1022 has lo = 0 and a radius of
2^-1074.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
from gmpy2 import mpq

from conform.numerics.chunks import Result, chunked
from conform.numerics.digits import products
from conform.numerics.eft import SAFE_PRODUCT, odd_sum, two_prod, two_sum
from conform.numerics.formats import FORMATS, Format
from conform.numerics.parts import parts_of, write
from conform.numerics.real import SMALLEST_SAFE, Real, where
from conform.numerics.rounding import nearest_of, round_to
from conform.numerics.scaled import Scaled

FLOAT64 = FORMATS["float64"]
LARGEST_EXACT_POWER_OF_TEN = 22  # 5^22 < 2^53
DIGITS_AT_ONCE = 1024  # sums of digits that may span the whole range of float64 twice
FINEST, COARSEST = 1074, -310  # decimals: 2^-1074 has 1074 of them, and 2^1024 is less than half of 10^310


@chunked
def add(fmt: Format, a: np.ndarray, b: np.ndarray) -> Result:
    """a + b"""
    with np.errstate(all="ignore"):
        total, error = two_sum(a, b)
        result = _result(fmt, total, error, overflowed=np.isinf(total) & np.isfinite(a) & np.isfinite(b))
        spoilt = np.isfinite(total) & ~np.isfinite(error)  # beside the largest number two_sum's inner steps overflow
        hard = spoilt | _may_be_held(total, a / 2 + b / 2)  # both are large there, and have exact halves
        return _at_range_ends(fmt, result, hard, _scaled_sum, operator.add, a, b)


def sub(fmt: Format, a: np.ndarray, b: np.ndarray) -> Result:
    """a - b"""
    return add(fmt, a, np.negative(b))


@chunked
def mul(fmt: Format, a: np.ndarray, b: np.ndarray) -> Result:
    """a * b"""
    with np.errstate(all="ignore"):
        product, error = two_prod(a, b)
        finite = np.isfinite(a) & np.isfinite(b)
        unsafe = (~(np.abs(product) >= SAFE_PRODUCT) | ~np.isfinite(error)) & finite & (a != 0) & (b != 0)
        error, radius = _rescued(product, error, 0.0, unsafe, lambda: Real.exact(a) * Real.exact(b))
        result = _result(fmt, product, error, radius, np.isinf(product) & finite)
        hard = _underflows(fmt, product, a, b) | _may_be_held(product, (a / 2) * b)  # a factor of an overflow exceeds 1
        return _at_range_ends(fmt, result, hard, _scaled_product, operator.mul, a, b)


@chunked
def div(fmt: Format, a: np.ndarray, b: np.ndarray) -> Result:
    """a / b"""
    with np.errstate(all="ignore"):
        quotient, error, radius = _quotient(a, b)
        result = _result(fmt, quotient, error, radius, np.isinf(quotient) & np.isfinite(a) & (b != 0))
        hard = _underflows(fmt, quotient, a, b) | _may_be_held(quotient, (a / 2) / b)
        return _at_range_ends(fmt, result, hard, _scaled_quotient, operator.truediv, a, b)


@chunked
def sqrt(fmt: Format, a: np.ndarray) -> Result:
    """The square root of a; that of -0 is -0."""
    with np.errstate(all="ignore"):
        root = np.sqrt(a)
        square, square_error = two_prod(root, root)
        error = ((a - square) - square_error) / (2 * root)  # a - root^2 is a float64
        unsafe = (a > 0) & ((a < SMALLEST_SAFE) | ~np.isfinite(error)) & np.isfinite(a)
        error, radius = _rescued(root, error, 2.0**-50 * np.abs(error), unsafe, lambda: Real.exact(a).sqrt())
        return _result(fmt, root, error, radius)


@chunked
def axpy(fmt: Format, alpha: np.ndarray, x: np.ndarray, y: np.ndarray) -> Result:
    """x + alpha * y, rounded once (Boldo and Melquiond, IEEE Trans. Comput. 57, 2008: emulation of fma)."""
    with np.errstate(all="ignore"):
        product, product_error = two_prod(alpha, y)
        partial, low = two_sum(x, product_error)
        high, high_error = two_sum(product, partial)
        rest = odd_sum(low, high_error)
        hi, lo = two_sum(high, rest)
        ieee = np.where(np.isinf(x) & np.isfinite(alpha) & np.isfinite(y), x, x + product)  # the product may overflow
        hi = np.where((hi == 0) | ~np.isfinite(hi), ieee, hi)  # signs of zeros, and special operands
        radius = 2.0**-52 * np.abs(rest) * (two_sum(low, high_error)[1] != 0)
        finite = np.isfinite(alpha) & np.isfinite(x) & np.isfinite(y)
        unsafe = ~(np.abs(product) >= SAFE_PRODUCT) & (alpha != 0) & (y != 0) | ~np.isfinite(lo)
        return _by_digits(fmt, _result(fmt, hi, lo, radius), unsafe & finite, x, alpha, y)


@chunked
def fmod(fmt: Format, a: np.ndarray, b: np.ndarray) -> Result:
    """a - b * trunc(a / b), with the sign of a; NaN for infinite a or zero b, a for infinite b."""
    with np.errstate(all="ignore"):
        return _result(fmt, np.fmod(a, b), 0.0)  # C's fmod is exact


@chunked
def remainder(fmt: Format, a: np.ndarray, b: np.ndarray) -> Result:
    """a - b * floor(a / b), with the sign of b, zeros included; NaN for infinite a or zero b.

    An infinite b gives a where the signs agree or a is zero, else b.
    """
    with np.errstate(all="ignore"):
        modulus = np.fmod(a, b)
        other_sign = (modulus != 0) & (np.signbit(modulus) != np.signbit(b))
        hi, lo = two_sum(modulus, np.where(other_sign, b, 0.0))
        return _result(fmt, np.where(modulus == 0, np.copysign(0.0, b), hi), lo)


@chunked
def floor_div(fmt: Format, a: np.ndarray, b: np.ndarray) -> Result:
    """floor of the exact quotient a / b, rounded once; where a / b is not finite, or a zero, a / b."""
    return _integer_quotient(fmt, a, b, np.floor, math.floor)


@chunked
def trunc_div(fmt: Format, a: np.ndarray, b: np.ndarray) -> Result:
    """The exact quotient a / b toward zero, rounded once; a zero has the sign of the quotient."""
    return _integer_quotient(fmt, a, b, np.trunc, math.trunc)


def round_decimals(fmt: Format, x: np.ndarray, decimals: int) -> Result:
    """The multiple of 10^-decimals nearest to x, ties to the even multiple, rounded once; a zero has the sign of x.

    From FINEST on every float64 is such a multiple itself, and below COARSEST nearest to 0.
    """
    decimals = min(max(decimals, COARSEST), FINEST)
    power = 10.0 ** min(abs(decimals), LARGEST_EXACT_POWER_OF_TEN)
    scale = mpq(10) ** decimals
    with np.errstate(all="ignore"):
        scaled, error = two_prod(x, power) if decimals >= 0 else _quotient(x, power)[:2]
        multiple = _rint_of_sum(scaled, error)
        result = div(fmt, multiple, power) if decimals >= 0 else mul(fmt, multiple, power)
        hard = ~(np.abs(scaled) < 2.0**51) | (abs(decimals) > LARGEST_EXACT_POWER_OF_TEN)
        hard &= np.isfinite(x)
        own = hard & (decimals >= 0) & _is_multiple(x, -decimals)  # of a power of two, which 10^-decimals divides
        if own.any():
            value, real = result
            hard &= ~own
            result = np.where(own, round_to(fmt, x), value), where(own, x, real)
        return _exactly(fmt, result, hard, lambda x: round(x * scale) / scale, x, zero_sign=x)


def _is_multiple(x: np.ndarray, exponent: int) -> np.ndarray:
    """Whether x is a multiple of 2^exponent, an exponent of 0 or less."""
    whole = np.ldexp(x, -exponent)
    return np.isinf(whole) | (whole == np.rint(whole))


# -- parts -----------------------------------------------------------------------------------------------------------


def _quotient(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q = RN(a / b), a / b - q, bound on the error of that difference).

    The sign of the difference is exact, and it is zero only where q is exact, unless |q| or |a| is below SMALLEST_SAFE.
    """
    quotient = np.divide(a, b)
    product, product_error = two_prod(quotient, b)
    error = ((a - product) - product_error) / b  # a - quotient * b is a float64
    unsafe = ~(np.minimum(np.abs(quotient), np.abs(a)) >= SMALLEST_SAFE) | ~np.isfinite(error)
    unsafe &= np.isfinite(a) & np.isfinite(b) & (b != 0) & (a != 0)
    error, radius = _rescued(quotient, error, 2.0**-52 * np.abs(error), unsafe, lambda: Real.exact(a) / Real.exact(b))
    return quotient, error, radius


def _rescued(
    hi: np.ndarray, lo: np.ndarray, radius: np.ndarray | float, unsafe: np.ndarray, again: Callable[[], Real]
) -> tuple[np.ndarray, np.ndarray | float]:
    """(lo, radius), where `unsafe` taken from a computation with scaled operands; `hi` is the IEEE result."""
    if not unsafe.any():
        return lo, radius
    real = again()
    subnormal = np.abs(hi) < FLOAT64.min_normal
    rescued_lo = np.where(subnormal, 0.0, (real.hi - hi) + real.lo)
    rescued_radius = np.where(subnormal, FLOAT64.min_subnormal, real.radius)
    return np.where(unsafe, rescued_lo, lo), np.where(unsafe, rescued_radius, radius)


def _result(
    fmt: Format,
    hi: np.ndarray,
    lo: np.ndarray | float,
    radius: np.ndarray | float = 0.0,
    overflowed: np.ndarray | bool = False,
) -> Result:
    """hi + lo rounded once; hi alone where it is special or lo is not finite. For float64, hi is the rounded result."""
    hi = np.asarray(hi, np.float64)
    known = np.isfinite(hi) & np.isfinite(lo)
    lo = np.where(known, lo, 0.0)
    radius = np.where(known, radius, np.where(overflowed, np.inf, 0.0))
    value = hi.copy() if fmt == FLOAT64 else round_to(fmt, hi, lo)
    return value, Real(hi, lo, radius)


def _at_range_ends(
    fmt: Format,
    result: Result,
    hard: np.ndarray,
    again: Callable[..., Scaled],
    exact: Callable[..., mpq],
    *operands: np.ndarray,
) -> Result:
    """`result`, with the elements in `hard` computed again with the exponent held apart, and on fractions where that
    does not decide."""
    if not hard.any():
        return result
    value, real, hard = np.asarray(result[0]), result[1], np.asarray(hard)  # of 0-d operands numpy makes scalars
    numbers = again(*(operand[hard] for operand in np.broadcast_arrays(*operands)))
    value[hard], undecided = numbers.decided(fmt)
    write(real, hard, numbers.real())
    hard[hard] = undecided
    return _exactly(fmt, (value, real), hard, exact, *operands)


def _by_digits(
    fmt: Format, result: Result, hard: np.ndarray, x: np.ndarray, alpha: np.ndarray, y: np.ndarray
) -> Result:
    """`result` of x + alpha * y, with the elements in `hard` computed again in exact digits."""
    if not hard.any():
        return result
    value, real = result
    if not hard.ndim:
        operands = (np.reshape(operand, 1) for operand in (x, alpha, y))
        value, real = _by_digits(fmt, (value.reshape(1), real.reshape(1)), hard.reshape(1), *operands)
        return value.reshape(()), real.reshape(())
    places = np.nonzero(hard)
    for start in range(0, len(places[0]), DIGITS_AT_ONCE):
        some = tuple(each[start : start + DIGITS_AT_ONCE] for each in places)
        a, b, c = (operand[some] for operand in np.broadcast_arrays(x, alpha, y))
        numbers = products(np.stack([a, b]), np.stack([np.ones_like(a), c]))
        value[some] = numbers.rounded(fmt)
        write(real, some, numbers.real())
    return value, real


def _scaled_sum(a: np.ndarray, b: np.ndarray) -> Scaled:
    """a + b, exactly, where both halves are exact."""
    return Scaled.of(*two_sum(a / 2, b / 2), 0.0, 1)


def _scaled_product(a: np.ndarray, b: np.ndarray) -> Scaled:
    """a * b, exactly."""
    (x, x_exponent), (y, y_exponent) = np.frexp(a), np.frexp(b)
    return Scaled.of(*two_prod(x, y), 0.0, x_exponent + y_exponent)


def _scaled_quotient(a: np.ndarray, b: np.ndarray) -> Scaled:
    """a / b: what the rounded quotient lacks, the quotient of an exact remainder, is rounded once; 0 is exact."""
    (x, x_exponent), (y, y_exponent) = np.frexp(a), np.frexp(b)
    quotient = x / y
    product, product_error = two_prod(quotient, y)
    rest = ((x - product) - product_error) / y
    return Scaled.of(quotient, rest, np.abs(rest / quotient) * 2.0**-52, x_exponent - y_exponent)


def _exactly(
    fmt: Format,
    result: Result,
    hard: np.ndarray,
    exact: Callable[..., mpq],
    *operands: np.ndarray,
    zero_sign: np.ndarray | float = 1.0,
) -> Result:
    """`result`, with the elements in `hard` computed again on fractions; their zeros have the sign of `zero_sign`."""
    if not hard.any():
        return result
    value, real = result
    *operands, zero_sign = np.broadcast_arrays(*operands, zero_sign)
    nearest = []
    for index in map(tuple, np.argwhere(hard).tolist()):
        number = mpq(exact(*(mpq(float(operand[index])) for operand in operands)))
        nearest.append(nearest_of(fmt, number, zero_sign[index]))
        write(real, index, parts_of(number, zero_sign=zero_sign[index]))
    value[hard] = round_to(fmt, np.array(nearest))
    return value, real


def _underflows(fmt: Format, rounded: np.ndarray, *operands: np.ndarray) -> np.ndarray:
    """Where a result of float64 is subnormal, or was before it was rounded, of which hi + lo cannot tell how that was
    done."""
    underflows = (np.abs(rounded) <= FLOAT64.min_normal) & (fmt == FLOAT64)
    for x in operands:
        underflows = underflows & np.isfinite(x) & (x != 0)
    return underflows


def _may_be_held(rounded: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Where a number that rounds to infinity, of which `half` is the rounded half, may be less than 2^1024."""
    return np.isinf(rounded) & (np.abs(half) <= 2.0**1023)


def _integer_quotient(
    fmt: Format,
    a: np.ndarray,
    b: np.ndarray,
    to_integer: np.ufunc,
    exact_to_integer: Callable[[mpq], int],
) -> Result:
    with np.errstate(all="ignore"):
        quotient, error, _ = _quotient(a, b)
        integer = to_integer(quotient)
        inward = error < 0 if to_integer is np.floor else error * quotient < 0
        # Rounding the quotient may have taken it outward to an integer, which the exact one does not reach.
        integer = np.where((integer == quotient) & inward, to_integer(quotient + np.copysign(0.5, error)), integer)
        hard = ~((np.abs(quotient) < 2.0**52) & (np.minimum(np.abs(quotient), np.abs(a)) >= SMALLEST_SAFE))
        hard &= np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
        result = _result(fmt, integer, 0.0)
        return _exactly(fmt, result, hard, lambda a, b: exact_to_integer(a / b), a, b, zero_sign=quotient)


def _rint_of_sum(hi: np.ndarray, lo: np.ndarray) -> np.ndarray:
    """The integer nearest to hi + lo, ties to even, for |hi| < 2^51: lo matters only where hi is halfway."""
    nearest = np.rint(hi)
    fraction = hi - nearest
    nearest = np.where((fraction == 0.5) & (lo > 0), nearest + 1, nearest)
    return np.where((fraction == -0.5) & (lo < 0), nearest - 1, nearest)
