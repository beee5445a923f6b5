"""A real number per element: the unevaluated sum hi + lo of two float64, and a proven bound on its error.

Guarantees (tests/numerics/test_real.py holds each against Fraction):
 (R1) |true - (hi + lo)| <= radius, element by element, after any sequence of operations.
 (R2) hi is hi + lo rounded to float64, so |lo| <= ulp(hi) / 2; the sign of an exact zero is IEEE 754's. Only a number
      below 2^1024 that rounds to infinity has the largest float64 as hi, and |lo| >= ulp(hi) / 2.
 (R3) radius is 0 where the operation was exact: a sum whose error terms vanish, a product of two float64, a quotient or
      root without remainder. Radius 0 means that hi + lo is the number.
 (R4) Where an operand is infinite or NaN, a divisor an exact zero or a radicand negative, hi is what IEEE 754 gives
      and lo = radius = 0. Where finite operands leave float64's range, or the class of the result depends on a number
      that is not known well enough, hi = lo = 0 and radius is infinite: nothing is known. Of what is rounded from its
      exact value (parts.py, arithmetic.py) an infinite hi with infinite radius is a finite number of 2^1024 or more.
 (R5) Of what is rounded from its exact value to float64, `rest` is what underflow took from lo, true - (hi + lo), in
      units of 2^-1074 and to within 2^-20 of them. Errors in ulps of subnormals need it; the operators drop it.

The bounds: u = 2^-53; every float64 operation is exact up to a factor 1 + d, |d| <= u. Products, quotients and roots
are computed where no term underflows; other operands are scaled there by powers of two first. Each bound counts the
roundings named beside it, to first order, and is raised to a power of two at least a third larger, which covers all
higher orders.
The algorithms are Joldes, Muller and Popescu's (ACM TOMS 44, 2017: AccurateDWPlusDW, DWTimesDW1, DWDivDW2) and that of
Lefevre et al. for the root (ACM TOMS 49, 2023), where sharper bounds are proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce

import numpy as np

from conform.numerics.eft import SAFE_PRODUCT, fast_two_sum, two_prod, two_sum

PRODUCT_ERROR = 2.0**-102  # 16 u^2; lo*lo dropped 1, cross products 1 + 1, their sum 2, adding it to the error term 3
QUOTIENT_ERROR = 2.0**-102  # 16 u^2; th*yl 1, two subtractions 2 + 3, division by yh 3, yh for y 3
ROOT_ERROR = 2.0**-103  # 8 u^2; the remainder's sum 1.5, the division 1.5, 2 sqrt(xh) for sqrt(xh) + sqrt(x) 1.2

RAISE = 1.0 + 2.0**-48  # lifts a float64 expression of fewer than 16 roundings above its exact value
TINY = 2.0**-1070  # more than the at most 8 half units of 2^-1074 that underflow can take from one such expression
SMALLEST_SAFE = 2.0**-900  # error terms of larger numbers do not underflow (two_prod needs 2^-960)
UNKNOWN = np.inf
BELOW_FLOAT64 = Fraction(2) ** -1074  # the unit of `rest`
LARGEST_FACTOR = 1022  # 2^1022 and its inverse are normal numbers


class Real:
    """Real numbers hi + lo +- radius; float64 arrays of one shape. `rest` (R5) is None where it is 0 everywhere."""

    __array_ufunc__ = None  # numpy arrays on the left leave operators to this class
    __slots__ = ("hi", "lo", "radius", "rest")

    def __init__(self, hi: np.ndarray, lo: np.ndarray, radius: np.ndarray, rest: np.ndarray | None = None) -> None:
        self.hi, self.lo, self.radius = np.asarray(hi), np.asarray(lo), np.asarray(radius)
        self.rest = None if rest is None else np.asarray(rest)

    @staticmethod
    def exact(numbers: np.ndarray | float) -> Real:
        """The numbers themselves (anything that float64 holds exactly; infinities and NaN are their class)."""
        hi = np.asarray(numbers, np.float64)
        return Real(hi, np.zeros_like(hi), np.zeros_like(hi))

    @staticmethod
    def of_integers(integers: np.ndarray | int) -> Real:
        """The exact values of integers of up to 64 bits, or of bools."""
        integers = np.asarray(integers)
        if integers.dtype.itemsize < 8:
            return Real.exact(integers)
        high = (integers >> 32).astype(np.float64) * 2.0**32
        low = (integers & 0xFFFF_FFFF).astype(np.float64)
        hi, lo = two_sum(high, low)
        return Real(hi, lo, np.zeros_like(hi))

    # -- shape ---------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.hi.shape

    @property
    def ndim(self) -> int:
        return self.hi.ndim

    @property
    def size(self) -> int:
        return self.hi.size

    def map_parts(self, rearrange: Callable[[np.ndarray], np.ndarray]) -> Real:
        """`rearrange`, which only moves or repeats elements, applied to each of the arrays."""
        rest = None if self.rest is None else rearrange(self.rest)
        return Real(rearrange(self.hi), rearrange(self.lo), rearrange(self.radius), rest)

    def reshape(self, shape: int | Sequence[int]) -> Real:
        return self.map_parts(lambda part: part.reshape(shape))

    def transpose(self, axes: Sequence[int] | None = None) -> Real:
        return self.map_parts(lambda part: part.transpose(axes))

    def broadcast_to(self, shape: Sequence[int]) -> Real:
        return self.map_parts(lambda part: np.broadcast_to(part, shape))

    def __getitem__(self, index: object) -> Real:
        return self.map_parts(lambda part: part[index])

    def __repr__(self) -> str:
        return f"Real(hi={self.hi!r}, lo={self.lo!r}, radius={self.radius!r})"

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def __neg__(self) -> Real:
        return Real(-self.hi, -self.lo, self.radius, None if self.rest is None else -self.rest)

    def __abs__(self) -> Real:
        return where(np.signbit(self.hi), -self, self)

    def __add__(self, other: Real | np.ndarray | float) -> Real:
        other = as_real(other)
        with np.errstate(all="ignore"):
            sh, sl = two_sum(self.hi, other.hi)
            if not (self.lo.any() or other.lo.any()):  # two doubles are exactly a pair
                return _settled(Real(sh, sl, (self.radius + other.radius) * RAISE), sh, self, other)
            th, tl = two_sum(self.lo, other.lo)
            c, dropped = two_sum(sl, th)
            vh, vl = two_sum(sh, c)
            w, dropped_too = two_sum(tl, vl)
            hi, lo = two_sum(vh, w)
            # Every step but the two drops is exact, so they are the error.
            radius = (np.abs(dropped) + np.abs(dropped_too) + self.radius + other.radius) * RAISE
            hi = np.where(sh == hi, sh, hi)  # keeps the sign of an exact zero: -0 + -0
            return _settled(Real(hi, lo, radius), self.hi + other.hi, self, other)

    def __sub__(self, other: Real | np.ndarray | float) -> Real:
        return self + -as_real(other)

    def __mul__(self, other: Real | np.ndarray | float) -> Real:
        other = as_real(other)
        with np.errstate(all="ignore"):
            product = _product(self, other)
            unsafe = ~(np.abs(product.hi) >= SMALLEST_SAFE) | ~np.isfinite(product.lo)
            if unsafe.any():
                unsafe &= (self.hi != 0) & (other.hi != 0) & np.isfinite(self.hi) & np.isfinite(other.hi)
            if unsafe.any():
                x, x_exponent = significand(self)
                y, y_exponent = significand(other)
                product = where(unsafe, _product(x, y).times_power_of_two(x_exponent + y_exponent), product)
            return _settled(product, self.hi * other.hi, self, other, sign_matters=True)

    def __truediv__(self, other: Real | np.ndarray | float) -> Real:
        other = as_real(other)
        with np.errstate(all="ignore"):
            quotient = _quotient(self, other)
            unsafe = ~(np.minimum(np.abs(quotient.hi), np.abs(self.hi)) >= SMALLEST_SAFE) | ~np.isfinite(quotient.lo)
            if unsafe.any():
                unsafe &= (self.hi != 0) & (other.hi != 0) & np.isfinite(self.hi) & np.isfinite(other.hi)
            if unsafe.any():
                x, x_exponent = significand(self)
                y, y_exponent = significand(other)
                quotient = where(unsafe, _quotient(x, y).times_power_of_two(x_exponent - y_exponent), quotient)
            return _settled(quotient, self.hi / other.hi, self, other, pole=other.hi == 0, sign_matters=True)

    def __radd__(self, other: np.ndarray | float) -> Real:
        return as_real(other) + self

    def __rsub__(self, other: np.ndarray | float) -> Real:
        return as_real(other) - self

    def __rmul__(self, other: np.ndarray | float) -> Real:
        return as_real(other) * self

    def __rtruediv__(self, other: np.ndarray | float) -> Real:
        return as_real(other) / self

    def times_power_of_two(self, exponent: np.ndarray | int) -> Real:
        """self * 2^exponent: exact but where a part underflows; nothing is known where it overflows."""
        exponent = np.asarray(exponent)
        with np.errstate(all="ignore"):
            hi, lo, radius = _scaled((self.hi, self.lo, self.radius), exponent)
            before = _scaled((hi, lo, radius), -exponent)
            exact = (before[0] == self.hi) & (before[1] == self.lo) & (before[2] == self.radius)
            hi_sum, lo = fast_two_sum(hi, lo)  # underflow may have spoilt (R2)
            scaled = Real(np.where(hi == 0, hi, hi_sum), lo, np.where(exact, radius, radius * RAISE + TINY))
            return _settled(scaled, self.hi, self)

    def sqrt(self) -> Real:
        """The square root. Nothing is known where the number may or may not be negative."""
        with np.errstate(all="ignore"):
            root = _root(self)
            unsafe = (self.hi > 0) & ((self.hi < SMALLEST_SAFE) | ~np.isfinite(root.lo)) & np.isfinite(self.hi)
            if unsafe.any():
                x, exponent = significand(self)
                odd = exponent & 1
                scaled_root = _root(x.times_power_of_two(odd))
                root = where(unsafe, scaled_root.times_power_of_two((exponent - odd) // 2), root)
            root.radius = np.where(_straddles_zero(self), UNKNOWN, root.radius)
            return _settled(root, np.sqrt(self.hi), self, pole=self.hi < 0)

    # -- reductions ----------------------------------------------------------------------------------------------------

    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Real:
        """The sum along `axis` (all axes by default), by a tree of additions; an empty sum is +0."""
        axes = range(self.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        axes = sorted(a % self.ndim for a in axes)
        kept = [a for a in range(self.ndim) if a not in axes]
        count = math.prod(self.shape[a] for a in axes)
        rows = self.transpose([*axes, *kept]).reshape((count, *(self.shape[a] for a in kept)))
        total = _tree_sum(rows)
        return total.reshape([1 if a in axes else n for a, n in enumerate(self.shape)]) if keepdims else total

    @staticmethod
    def total(pieces: Iterable[Real]) -> Real:
        """The sums over the last axis, which is kept with length 1, of what comes in pieces of it."""
        return reduce(Real.__add__, (piece.sum(-1, keepdims=True) for piece in pieces))

    def cumsum(self, axis: int) -> Real:
        """The running sums along `axis`: after step k every element is the sum of the 2^k elements up to it."""
        running = self.map_parts(lambda part: np.moveaxis(part, axis, 0))
        step = 1
        while step < len(running.hi):
            running = concatenate([running[:step], running[step:] + running[:-step]])
            step *= 2
        return running.map_parts(lambda part: np.moveaxis(part, 0, axis))

    # -- order ---------------------------------------------------------------------------------------------------------

    def ends(self) -> Real:
        """[lower, upper]: exact reals (a new first axis of 2) at or just outside hi + lo - radius and hi + lo + radius.

        Beyond float64's range an end is infinite.
        """
        with np.errstate(all="ignore"):
            outward = self.radius * RAISE + np.abs(self.lo) * 2.0**-52  # the second term: rounding lo + radius
            direction = np.array([-1.0, 1.0]).reshape((2, *[1] * self.ndim))
            hi, lo = two_sum(self.hi, self.lo + direction * outward)
            lo = np.where(np.isfinite(hi), lo, 0.0)
            inexact = self.radius > 0  # elsewhere -0, infinities and NaN must survive
            return Real(np.where(inexact, hi, self.hi), np.where(inexact, lo, self.lo), np.zeros_like(hi))

    def less(self, other: Real | np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """(self < other by the midpoints, where the radii leave that open). NaN is less than nothing, decidedly."""
        order, undecided = _compare(self, as_real(other))
        return order < 0, undecided

    def equal(self, other: Real | np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """(self == other by the midpoints, where the radii leave that open). NaN equals nothing, decidedly."""
        order, undecided = _compare(self, as_real(other))
        return order == 0, undecided


def as_real(numbers: Real | np.ndarray | float) -> Real:
    """Operands of Real's operators: a Real, or exact integers or floats as arrays, numpy scalars or Python numbers."""
    if isinstance(numbers, Real):
        return numbers
    numbers = np.asarray(numbers)
    return Real.of_integers(numbers) if numbers.dtype.kind in "iub" else Real.exact(numbers)


def where(condition: np.ndarray, x: Real | np.ndarray | float, y: Real | np.ndarray | float) -> Real:
    """x where the condition holds, else y."""
    return joined(lambda parts: np.where(condition, *parts), (as_real(x), as_real(y)))


def concatenate(pieces: Sequence[Real], axis: int = 0) -> Real:
    """The pieces one after the other along `axis`."""
    return joined(lambda parts: np.concatenate(parts, axis), pieces)


def joined(join: Callable[[list[np.ndarray]], np.ndarray], pieces: Sequence[Real]) -> Real:
    """`join`, which only chooses or arranges elements, applied to each of the pieces' arrays."""
    parts = [join([getattr(x, part) for x in pieces]) for part in ("hi", "lo", "radius")]
    if all(x.rest is None for x in pieces):
        return Real(*parts)
    return Real(*parts, join([np.zeros_like(x.hi) if x.rest is None else x.rest for x in pieces]))


def maximum(x: Real | np.ndarray | float, y: Real | np.ndarray | float) -> Real:
    """The larger number of each pair; NaN if one is NaN. Of equal numbers (zeros of both signs included) the first."""
    x, y = as_real(x), as_real(y)
    with np.errstate(all="ignore"):
        second = (y.hi > x.hi) | ((y.hi == x.hi) & (y.lo > x.lo)) | (np.isnan(y.hi) & ~np.isnan(x.hi))
        larger, other = where(second, y, x), where(second, x, y)
        # The maximum lies between `larger - its radius` and the higher of the two upper ends.
        gap = (larger.hi - other.hi) + (larger.lo - other.lo)
        slack = 2.0**-50 * np.abs(gap) + PRODUCT_ERROR * (np.abs(larger.hi) + np.abs(other.hi))
        overhang = (other.radius - gap) + slack + 2.0**-50 * (other.radius + np.abs(gap)) + TINY
        radius = np.where(other.radius > 0, np.maximum(larger.radius, overhang), larger.radius)
        of_infinity = np.where(np.isinf(other.radius), np.inf, larger.radius)
        radius = np.where(np.isnan(larger.hi), 0.0, np.where(np.isinf(larger.hi), of_infinity, radius))
        unknown = np.isinf(radius)
        return Real(np.where(unknown, 0.0, larger.hi), np.where(unknown, 0.0, larger.lo), radius)


def _tree_sum(rows: Real) -> Real:
    """The sum over the first axis."""
    if len(rows.hi) == 0:
        return Real.exact(np.zeros(rows.shape[1:]))
    while (count := len(rows.hi)) > 1:
        half = count // 2
        pairs = rows[:half] + rows[half : 2 * half]
        rows = concatenate([pairs, rows[2 * half :]]) if count % 2 else pairs
    return rows[0]


def _product(x: Real, y: Real) -> Real:
    p, e = two_prod(x.hi, y.hi)
    hi, lo = fast_two_sum(p, e + (x.hi * y.lo + x.lo * y.hi))
    if not p.all():
        hi = np.where(p == 0, p, hi)  # -0 + 0 would be +0
        lo = np.where((x.hi == 0) | (y.hi == 0), 0.0, lo)  # two_prod overflows beside a number near the largest
    rounding = np.where((x.lo == 0) & (y.lo == 0), 0.0, PRODUCT_ERROR * np.abs(hi))
    if not (x.radius.any() or y.radius.any()):
        return Real(hi, lo, rounding * RAISE)
    carried = (np.abs(x.hi) + x.radius) * y.radius + np.abs(y.hi) * x.radius
    return Real(hi, lo, (rounding + carried) * RAISE + TINY * _may_underflow(x, y))


def _quotient(x: Real, y: Real) -> Real:
    th = x.hi / y.hi
    p, e = two_prod(th, y.hi)
    remainder, remainder_error = two_sum((x.hi - p) - e, x.lo - th * y.lo)  # x.hi - th * y.hi is a float64
    tl = remainder / y.hi
    hi, lo = fast_two_sum(th, tl)
    hi = np.where(th == 0, th, hi)
    p, e = two_prod(tl, y.hi)
    representable = ((remainder - p) - e == 0) & ((remainder == 0) | (np.abs(remainder) >= SAFE_PRODUCT))
    exact = (y.lo == 0) & (remainder_error == 0) & representable
    rounding = np.where(exact, 0.0, QUOTIENT_ERROR * np.abs(hi))
    if not (x.radius.any() or y.radius.any()):
        return Real(hi, lo, rounding * RAISE)
    # |x/y - (x + dx)/(y + dy)| <= (|dx| + |x/y| |dy|) / (|y| - |dy|)
    room = np.maximum(np.abs(y.hi) * (1 - 2.0**-50) - y.radius, 0.0)
    inexact_operand = (x.radius > 0) | (y.radius > 0)
    carried = np.where(inexact_operand, (x.radius + np.abs(hi) * y.radius * RAISE) / room, 0.0)
    return Real(hi, lo, (rounding + carried) * RAISE + TINY * _may_underflow(x, y))


def _may_underflow(x: Real, y: Real) -> np.ndarray:
    """Where underflow may take something from the error of a product or quotient: beside an inexact operand, unless
    the other is exactly zero and makes a zero of a sign that is known."""
    inexact = (x.radius > 0) | (y.radius > 0)
    if not ((x.hi == 0) | (y.hi == 0)).any():
        return inexact
    exact_zero = ((x.hi == 0) & (x.radius == 0)) | ((y.hi == 0) & (y.radius == 0))
    return inexact & ~(exact_zero & ~_straddles_zero(x) & ~_straddles_zero(y))


def _root(x: Real) -> Real:
    sh = np.sqrt(x.hi)
    p, e = two_prod(sh, sh)
    remainder, remainder_error = two_sum((x.hi - p) - e, x.lo)  # x.hi - sh * sh is a float64
    hi, lo = fast_two_sum(sh, remainder / (2 * sh))
    zero = x.hi == 0
    exact = zero | ((remainder == 0) & (remainder_error == 0))
    rounding = np.where(exact, 0.0, ROOT_ERROR * hi)
    # |sqrt(a) - sqrt(b)| = |a - b| / (sqrt(a) + sqrt(b)) <= |a - b| / sqrt(b)
    carried = np.where(x.radius > 0, x.radius / (sh * (1 - 2.0**-50)) + TINY, 0.0)
    return Real(np.where(zero, sh, hi), np.where(zero, 0.0, lo), (rounding + carried) * RAISE)


def _scaled(parts: tuple[np.ndarray, ...], exponent: np.ndarray) -> list[np.ndarray]:
    """The parts times 2^exponent: by products, which are faster than ldexp, where the factor is a float64."""
    if (np.abs(exponent) > LARGEST_FACTOR).any():
        return [np.ldexp(part, exponent) for part in parts]
    factor = np.ldexp(1.0, exponent)
    return [part * factor for part in parts]


def significand(x: Real) -> tuple[Real, np.ndarray]:
    """(m, k) with x = m * 2^k and m.hi in [1/2, 1)."""
    exponent = np.frexp(x.hi)[1]
    return x.times_power_of_two(-exponent), exponent


def _straddles_zero(x: Real) -> np.ndarray:
    """Where the sign of the number is open."""
    return (x.radius > 0) & (np.abs(x.hi) <= x.radius * RAISE)


def _settled(
    result: Real, ieee: np.ndarray, *operands: Real, pole: np.ndarray | bool = False, sign_matters: bool = False
) -> Real:
    """`result` with (R4) in force: `ieee` at special operands and poles, nothing known where float64's range was left.

    `ieee` is the operation on the operands' hi. `pole` marks finite operands where the function is not finite;
    `sign_matters`: a special result depends on the sign of the other operand.
    """
    finite = np.isfinite(result.lo + result.radius)
    if finite.all():
        return result
    special, known = np.asarray(pole), True
    for x in operands:
        special = special | ~np.isfinite(x.hi)
        known = known & np.isfinite(x.radius)
        if sign_matters:
            known = known & ~_straddles_zero(x)
    settled = special & known
    hi = np.where(finite, result.hi, np.where(settled, ieee, 0.0))
    lo = np.where(finite, result.lo, 0.0)
    return Real(hi, lo, np.where(finite, result.radius, np.where(settled, 0.0, UNKNOWN)))


def _compare(x: Real, y: Real) -> tuple[np.ndarray, np.ndarray]:
    """(-1, 0 or 1 by the midpoints, NaN if unordered; where the radii leave the order open)."""
    with np.errstate(all="ignore"):
        nan = np.isnan(x.hi) | np.isnan(y.hi)
        coarse = (x.hi > y.hi) * 1.0 - (x.hi < y.hi)  # hi is a monotone function of hi + lo
        order = np.where(coarse != 0, coarse, (x.lo > y.lo) * 1.0 - (x.lo < y.lo))
        difference = x - y
        unknown = ~(np.isfinite(x.radius) & np.isfinite(y.radius))
        return np.where(nan, np.nan, order), (_straddles_zero(difference) | unknown) & ~nan
