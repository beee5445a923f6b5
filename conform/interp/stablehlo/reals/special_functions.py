"""lgamma, digamma and the inverse of erf: what they make of numbers that are known, and of computed ones where a bound
of their slope is known.

With x > 0: log x - 1/x < digamma(x) < log x, and trigamma(x) < 1/x + 1/x^2 (DLMF 5.7.6, 5.15.1 and Alzer, Math. Comp.
66, 1997); erfinv'(x) = sqrt(pi)/2 e^(erfinv(x)^2), which grows with |x| (DLMF 7.17.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conform.interp.ops.functions import real_formulas
from conform.interp.program.functions.elementary import LEAST_SHARE, OTHER_ULPS
from conform.interp.program.number import Number
from conform.interp.program.storage import stored
from conform.interp.stablehlo.reals.rules import rule
from conform.interp.stablehlo.registry import Call
from conform.numerics import functions
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS, compute_format
from conform.numerics.real import Real

_RAISE = 1.0 + 2.0**-20  # for the roundings of a bound itself

Array = np.ndarray


@dataclass(frozen=True)
class _Function:
    """`name` in the kit's table; `error` of an implementation on numbers that it has exactly, which on positive numbers
    that lie beside each other is largest at an end; `slope(x, r)`: the largest within r of x, infinite where none is
    known."""

    name: str
    error: Callable[[Ball], Array]
    slope: Callable[[Array, Array], Array]


def _lowest(x: Array, r: Array) -> Array:
    """Of the numbers within r of x, if they are positive and r no more than half of x; else 0."""
    return np.where((x > 0) & (r <= LEAST_SHARE * x), x - r, 0.0)


def _of_lgamma(x: Array, r: Array) -> Array:
    low = _lowest(x, r)
    return np.where(low > 0, np.maximum(np.abs(np.log(low)), np.abs(np.log(x + r))) + 1 / low, np.inf)


def _of_digamma(x: Array, r: Array) -> Array:
    low = _lowest(x, r)
    return np.where(low > 0, 1 / low + 1 / low**2, np.inf)


def _of_erfinv(x: Array, r: Array) -> Array:
    far = np.abs(x) + r
    value, _ = functions.apply("erfinv", FORMATS["float64"], np.where(far < 1, far, 0.0))
    return np.where(far < 1, np.sqrt(np.pi) / 2 * np.exp(value**2), np.inf)


def _error_of_erfinv(x: Ball) -> Array:
    value, _ = functions.apply("erfinv", FORMATS["float64"], x.mid)
    return x.rounded(value, 0.0, OTHER_ULPS["erfinv"]).but_exact(~(np.abs(x.mid) < 1) | (x.mid == 0)).rad


_FUNCTIONS = {
    "chlo.lgamma": _Function("lgamma", lambda x: real_formulas.lgamma(x).rad, _of_lgamma),
    "chlo.digamma": _Function("digamma", lambda x: real_formulas.digamma(x).rad, _of_digamma),
    "chlo.erf_inv": _Function("erfinv", _error_of_erfinv, _of_erfinv),
}  # fmt: skip


def _rule(function: _Function) -> Callable[[Call], Number]:
    def of_number(call: Call) -> Number:
        x = stored(call.operands[0])
        shape, flat = x.shape, x.moved(lambda part: part.reshape(-1))
        return _image(function, flat).moved(lambda part: part.reshape(shape))

    return of_number


def _image(function: _Function, x: Number) -> Number:
    """The function of a row of numbers."""
    at, compute = x.real.hi, compute_format(x.format)
    _, image = functions.apply(function.name, FORMATS["float64"], at)
    untold = np.abs(x.real.lo) + x.real.radius
    within = untold + x.rad
    moved = [np.where(r > 0, function.slope(at, r) * r * _RAISE, 0.0) for r in (untold, within)]
    own = [function.error(Ball.exact(one, compute)) for one in (at, at - within, at + within)]
    rad = np.where(np.isfinite(moved[1]), np.maximum.reduce(own) + moved[1], np.inf)
    rad = np.where((function.name == "digamma") & (np.abs(at) < x.format.min_normal), np.inf, rad)  # the pole at 0
    return Number(x.format, Real(image.hi, image.lo, image.radius + moved[0]), rad, may_round=True)


for _name, _function in _FUNCTIONS.items():
    rule(_name)(_rule(_function))
