"""Arithmetic of complex numbers, part by part, and what joins and takes apart.

A product is (ac - bd) + (ad + bc) i, in whatever order an engine rounds. A quotient may be that of the product with the
conjugate by c^2 + d^2, or Smith's, whose error is bounded beside the size of the whole quotient: |error| <= sqrt(2)
gamma_7 |x / y| (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.6 and problem 3.12).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.complexes import Complex
from conform.interp.program.number import Number
from conform.interp.program.rules import unbounded_where
from conform.interp.stablehlo.reals.complex_functions import of_complex, rule_of
from conform.interp.stablehlo.reals.movement import moved
from conform.interp.stablehlo.reals.rules import torch
from conform.interp.stablehlo.registry import Call, Meaning
from conform.numerics.rounding_errors import gamma

# Ops whose rules take complex numbers, too.
OF_ALL_KINDS = frozenset(f"stablehlo.{name}" for name in ("fft", "reduce", "reduce_window", "dot_general",
                                                          "convolution"))  # fmt: skip
QUOTIENT = 12  # roundings: 7 of Smith's, and what three quotients of 2.5 ulp have more (numerics/ball.py)


def is_complex(call: Call) -> bool:
    """Whether an operand is complex, of which something is computed, or parts are joined."""
    return any(one.dtype.startswith("complex") for one in call.operands) or call.op.name == "stablehlo.complex"


def as_complex(one: Any) -> Complex:
    """A computed number itself, a known one in its parts."""
    return one if isinstance(one, Complex) else Complex.exact(one.array)


def _add(x: Complex, y: Complex) -> Complex:
    return Complex(torch("add.Tensor", x.re, y.re), torch("add.Tensor", x.im, y.im))


def _subtract(x: Complex, y: Complex) -> Complex:
    return Complex(torch("sub.Tensor", x.re, y.re), torch("sub.Tensor", x.im, y.im))


def _negate(x: Complex) -> Complex:
    return Complex(torch("neg", x.re), torch("neg", x.im))


def _conjugate(x: Complex) -> Complex:
    return Complex(x.re, torch("neg", x.im))


def _product(x: Complex, y: Complex) -> Complex:
    return but_at(~(is_finite(x) & is_finite(y)), multiply(x, y))


def is_finite(x: Complex) -> np.ndarray:
    return np.isfinite(x.re.real.hi) & np.isfinite(x.im.real.hi)


def but_at(places: np.ndarray, result: Complex) -> Complex:
    """The result, with nothing said of these places, and where a part may overflow: formulas differ in which parts are
    infinite, and which are NaN, where a part of an operand is, or of a result on the way (P8, P70)."""
    parts, most = (result.re, result.im), result.re.format.max_finite
    places = places | np.logical_or.reduce([~(np.abs(one.real.hi) + one.rad <= most) for one in parts])
    return Complex(*(unbounded_where(places, one) for one in parts)) if places.any() else result


def multiply(x: Complex, y: Complex) -> Complex:
    re = torch("sub.Tensor", torch("mul.Tensor", x.re, y.re), torch("mul.Tensor", x.im, y.im))
    im = torch("add.Tensor", torch("mul.Tensor", x.re, y.im), torch("mul.Tensor", x.im, y.re))
    return Complex(re, im)


def _square(x: Complex) -> Number:
    return torch("add.Tensor", torch("mul.Tensor", x.re, x.re), torch("mul.Tensor", x.im, x.im))


def _divide(x: Complex, y: Complex) -> Complex:
    product, square = multiply(x, _conjugate(y)), _square(y)
    re, im = (torch("div.Tensor", one, square) for one in (product.re, product.im))
    with np.errstate(all="ignore"):
        size = np.hypot(np.abs(re.real.hi) + re.rad, np.abs(im.real.hi) + im.rad)
        normwise = np.sqrt(2.0) * gamma(QUOTIENT, re.format.unit_roundoff) * size
    normwise = np.where(np.isfinite(size), normwise, np.inf)
    quotient = Complex(*(replace(one, rad=one.rad + normwise, array=None) for one in (re, im)))
    is_zero = (y.re.real.hi == 0) & (y.im.real.hi == 0)
    return but_at(~(is_finite(x) & is_finite(y)) | is_zero, quotient)


def _absolute(x: Complex) -> Number:
    return unbounded_where(~is_finite(x), torch("sqrt", _square(x)))


def _sign(x: Complex) -> Complex:
    """x / |x|; an exact zero is its own."""
    size = _absolute(x)
    is_zero = np.logical_and.reduce([(part.real.hi == 0) & (part.real.radius == 0) & (part.rad == 0)
                                     for part in (x.re, x.im)])  # fmt: skip
    one = Number.exact(np.ones(size.shape, size.format.storage))
    size = torch("where.self", Number.exact(is_zero), one, size)
    return but_at(~is_finite(x), Complex(*(torch("div.Tensor", part, size) for part in (x.re, x.im))))


def _atan2(y: Complex, x: Complex) -> Complex:
    """-i log((x + iy) / sqrt(x^2 + y^2)), as the specification has it"""
    root = of_complex("sqrt", _add(multiply(x, x), multiply(y, y)))
    log = of_complex("log", _divide(_add(x, Complex(torch("neg", y.im), y.re)), root))
    return Complex(log.im, torch("neg", log.re))


def _joined(re: Number, im: Number) -> Complex:
    return Complex(re, im)


def _real(x: Complex) -> Number:
    return x.re


def _imag(x: Complex) -> Number:
    return x.im


RULES: dict[str, Callable[..., Any]] = {
    "stablehlo.add": _add, "stablehlo.subtract": _subtract, "stablehlo.multiply": _product,
    "stablehlo.divide": _divide, "stablehlo.negate": _negate, "stablehlo.abs": _absolute, "stablehlo.real": _real,
    "stablehlo.imag": _imag, "chlo.conj": _conjugate, "stablehlo.sign": _sign, "stablehlo.atan2": _atan2,
}  # fmt: skip


def _is_known(call: Call) -> bool:
    return not any(isinstance(one, Complex) for one in call.operands)


def on_complex(call: Call, meaning: Meaning) -> Sequence[Any] | None:
    """The results of an op on complex numbers, some of which were computed; None where it is another rule's to say."""
    if call.op.name == "stablehlo.complex":
        return (_joined(*call.operands),)
    rule = RULES.get(call.op.name) or rule_of(call.op.name)
    if rule is not None:
        return (rule(*map(as_complex, call.operands)),)
    if call.op.name in OF_ALL_KINDS or call.op.name == "stablehlo.convert" and _is_known(call):
        return None
    if call.op.name == "stablehlo.select":
        pred, x, y = call.operands
        pairs = zip(*((one.re, one.im) for one in (as_complex(x), as_complex(y))), strict=True)
        return (Complex(*(torch("where.self", pred, *pair) for pair in pairs)),)
    if meaning.moves:
        return _moved(call, min(meaning.moves, len(call.operands)))
    raise NoGolden(f"{call.op.name}: no rule tells what becomes of the errors of complex numbers")


def _moved(call: Call, count: int) -> Sequence[Complex]:
    wholes = [as_complex(one) for one in call.operands[:count]]
    by_part = [moved(replace(call, operands=(*parts, *call.operands[count:])), count)
               for parts in ([one.re for one in wholes], [one.im for one in wholes])]  # fmt: skip
    return tuple(Complex(re, im) for re, im in zip(*by_part, strict=True))
