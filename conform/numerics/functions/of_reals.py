"""Functions of reals with a radius: the kernel's own error plus what the operand's radius becomes in the image.

The image of hi + lo +- radius lies within `spread` of that of hi + lo: the mean value theorem with the largest slope
on the interval. Radii are raised by 2^-40 for their own roundings. An infinite or NaN operand, an exact pole and an
exact domain error give the class, exactly; where the kernel does not reach, or the class is open, the radius is
infinite.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.numerics.functions import activations, dd, error, exponential, hyperbolic, logarithm, trigonometric
from conform.numerics.functions.dd import DD, SAFE_MIN, Array
from conform.numerics.real import Real, where
from conform.numerics.scaled import Scaled

Kernel = Callable[[DD], tuple[DD, Array | float]]

_RAISE = 1.0 + 2.0**-40
_FARTHEST = 2800.0  # times any double, e^2800 and e^-2800 are beyond every format
_EXP_LOWEST, _EXP_LOWEST_VALUE = -700.0, 2.0**-1009  # e^-700 < 2^-1009


def image(
    x: Real, kernel: Kernel, spread: Callable[[Array], Array], special: Array, settled: Array | bool = False
) -> Real:
    """kernel(x), whose value and relative error are good where the value exceeds SAFE_MIN. `spread` bounds, from the
    value's hi, what x.radius > 0 adds; `special` is the class where x is not finite, `settled`, or an exact zero with
    f(0) = 0."""
    known = ~np.isfinite(x.hi) | settled | ((x.hi == 0) & (x.radius == 0) & (special == 0))
    (hi, lo), relative_error = kernel((np.where(known, 0.5, x.hi), np.where(known, 0.0, x.lo)))
    size = np.abs(hi)
    radius = np.where(
        (size < SAFE_MIN) & np.isfinite(relative_error), 4 * SAFE_MIN, np.maximum(size, SAFE_MIN) * relative_error
    )
    radius = (radius + np.where(x.radius > 0, spread(hi), 0.0)) * _RAISE
    radius = np.where(np.isfinite(radius + lo), radius, np.inf)
    unknown = np.isinf(radius) & ~known
    hi, lo = np.where(known, special, np.where(unknown, 0.0, hi)), np.where(known | unknown, 0.0, lo)
    return Real(hi, lo, np.where(known, np.where(np.isfinite(x.radius), 0.0, np.inf), radius))


def exp(x: Real) -> Real:
    """e^x, relative error EXP_ERROR; below e^-700 the number is known to lie in [0, e^-700]."""
    with np.errstate(all="ignore"):
        special = np.exp(x.hi)
        result = image(x, bounded(exponential.exp, exponential.EXP_ERROR), lambda y: y * np.expm1(x.radius), special)
        low = (x.hi < _EXP_LOWEST) & np.isfinite(x.hi) & (x.radius < 1.0)
        if low.any():
            result.hi[low] = result.lo[low] = 0.0
            result.radius[low] = 4 * _EXP_LOWEST_VALUE
        return result


def exp_scaled(x: Real) -> Scaled:
    """e^x with the exponent held apart, relative error 2 EXP_ERROR; e^2800 and e^-2800 stand for what is beyond."""
    with np.errstate(all="ignore"):
        far = np.abs(x.hi) - x.radius > _FARTHEST
        half = dd.scale(dd.where(far, dd.of(np.copysign(_FARTHEST, x.hi)), (x.hi, x.lo)), 0.5)
        root, n = exponential.exp_scaled(half)
        spread = np.where(far, 0.0, np.expm1(x.radius)) * _RAISE
        return Scaled.of(*dd.square(root), 2.5 * exponential.EXP_ERROR + spread, 2 * n).known_where(np.isfinite(x.hi))


def log_ratio(x: Array, y: Array) -> Real:
    """log(x / y) of positive doubles of any size, within 2^-96 of the larger of 1 and its size; exactly 0 where they
    are equal, -inf of x = 0."""
    with np.errstate(all="ignore"):
        (a, a_exponent), (b, b_exponent) = np.frexp(x), np.frexp(y)
        ln2 = logarithm.constant("ln2")
        whole = Real(np.asarray(ln2[0]), np.asarray(ln2[1]), np.asarray(2.0**-106)) * (a_exponent - b_exponent)
        return where(x == y, 0.0, log(Real.exact(a) / Real.exact(b)) + whole)


def expm1(x: Real) -> Real:
    """e^x - 1, relative error EXPM1_ERROR."""
    with np.errstate(all="ignore"):
        kernel = bounded(exponential.expm1, exponential.EXPM1_ERROR)
        return image(x, kernel, lambda y: (y + 1.0 + 2.0**-50) * np.expm1(x.radius), np.expm1(x.hi))


def log(x: Real) -> Real:
    """Natural logarithm, relative error LOG_ERROR; unknown where x may be zero or negative but is not exactly known."""
    return _logarithm(x, bounded(logarithm.log, logarithm.LOG_ERROR), np.log, 0.0)


def log1p(x: Real) -> Real:
    """log(1 + x), relative error LOG1P_ERROR; unknown where 1 + x may be zero or negative but is not exactly known."""
    return _logarithm(x, bounded(logarithm.log1p, logarithm.LOG1P_ERROR), np.log1p, -1.0)


def _logarithm(x: Real, kernel: Kernel, numpy_function: Callable[[Array], Array], pole: float) -> Real:
    with np.errstate(all="ignore"):
        above_pole = np.nextafter(x.hi - pole, -np.inf)  # at most one ulp below; lo is less than one
        outside = (x.hi < pole) | ((x.hi == pole) & (x.lo <= 0))
        ratio = x.radius * (1.0 + 2.0**-50) / np.maximum(above_pole, 0.0)
        spread = np.where(outside | ~(ratio < 1.0), np.inf, -np.log1p(-ratio))  # log(a / (a - r)), the longer side
        special = np.where((x.hi == pole) & (x.lo < 0), np.nan, numpy_function(x.hi))
        one = (x.hi == pole + 1.0) & (x.lo == 0)  # log 1 = 0
        return image(x, kernel, lambda _: spread, special, settled=(outside | one) & (x.radius == 0))


def sin(x: Real) -> Real:
    """sin x, slope at most 1."""
    with np.errstate(all="ignore"):
        return image(x, trigonometric.sin, lambda _: x.radius, np.sin(x.hi))


def cos(x: Real) -> Real:
    """cos x, slope at most 1."""
    with np.errstate(all="ignore"):
        return image(x, trigonometric.cos, lambda _: x.radius, np.cos(x.hi))


def tanh(x: Real) -> Real:
    """tanh x, slope at most 1 / cosh^2 at the point nearest to 0."""
    with np.errstate(all="ignore"):
        kernel = bounded(hyperbolic.tanh, hyperbolic.HYPERBOLIC_ERROR)
        return image(x, kernel, lambda _: x.radius / np.cosh(_nearest_to_zero(x)) ** 2 * (1 + 2.0**-44), np.tanh(x.hi))


def sigmoid(x: Real) -> Real:
    """1 / (1 + e^-x), slope at most y (1 + ...) and at most 1/4."""
    with np.errstate(all="ignore"):
        kernel = bounded(activations.sigmoid, activations.LOGISTIC_ERROR)
        return image(
            x, kernel, lambda y: np.minimum(y * np.expm1(x.radius), 0.25 * x.radius), 1.0 / (1.0 + np.exp(-x.hi))
        )


def erf(x: Real) -> Real:
    """erf x, slope at most 2/sqrt(pi) e^(-t^2) at the point t nearest to 0."""
    with np.errstate(all="ignore"):
        return image(x, bounded(error.erf, error.ERF_ERROR), lambda _: _erf_spread(x), error.erf_float64(x.hi))


def erfc(x: Real) -> Real:
    """erfc x, with the slope of erf."""
    with np.errstate(all="ignore"):
        special = np.where(np.isnan(x.hi), np.nan, np.where(x.hi > 0, 0.0, 2.0))
        return image(x, error.erfc, lambda _: _erf_spread(x), special)


def _erf_spread(x: Real) -> Array:
    nearest = _nearest_to_zero(x)
    return 1.1283791670955128 * x.radius * np.exp(-nearest * nearest) * (1 + 2.0**-40)  # t^2 < 750 is within 2^-43


def _nearest_to_zero(x: Real) -> Array:
    return np.maximum(np.abs(x.hi) * (1 - 2.0**-51) - x.radius, 0.0)


def bounded(kernel: Callable[[DD], DD], relative_error: float) -> Kernel:
    """The kernel, with a relative error that is always the same."""
    return lambda x: (kernel(x), relative_error)
