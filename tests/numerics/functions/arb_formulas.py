"""Every function of the table as an Arb formula: the second opinion, with a proven enclosure."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from conform.numerics.formats import Format
from conform.numerics.rounding import round_fraction

PRECISIONS = (150, 400, 1200, 5000)
LIMIT_BITS = 2300  # numbers beyond 2^+-2300 round alike in every format


def _ndtr(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def _gelu_tanh(x: arb) -> arb:
    return x / (1 + (-2 * (2 / arb.pi()).sqrt() * (x + x**3 * 44715 / 10**6)).exp())


def _ndtri(p: arb) -> arb:
    return arb(2).sqrt() * ((2 * p - 1).erfinv() if p > arb("0.25") else -(2 * p).erfcinv())


def _erfcx(x: arb) -> arb:
    x = x.max(arb(-60))  # e^3600 is beyond every format
    return (x * x).hypgeom_u(arb("0.5"), arb("0.5")) / arb.pi().sqrt() if x > 1 else (x * x).exp() * x.erfc()


def _log_ndtr(x: arb) -> arb:
    x = x.min(arb(60))  # Phi(-60) < 2^-2600
    z = x / arb(2).sqrt()
    return (_erfcx(-z) / 2).log() - x * x / 2 if x < -2 else (-z.erfc() / 2).log1p()


def _scaled_i(order: int) -> Callable[[arb], arb]:
    return lambda x: abs(x).bessel_i(order, scaled=True) * (-1 if order == 1 and x < 0 else 1)


def _second(order: int, is_scaled: bool) -> Callable[[arb], arb]:
    return lambda x: x.bessel_k(order, scaled=is_scaled) if x > 0 else arb("nan")


FORMULAS: dict[str, Callable[..., arb]] = {
    "acos": arb.acos,
    "acosh": arb.acosh,
    "asin": arb.asin,
    "asinh": arb.asinh,
    "atan": arb.atan,
    "atan2": arb.atan2,
    "atanh": arb.atanh,
    "cbrt": lambda x: abs(x).root(3) * (1 if x > 0 else -1),
    "cos": arb.cos,
    "cosh": arb.cosh,
    "digamma": arb.digamma,
    "erf": arb.erf,
    "erfc": arb.erfc,
    "erfcx": _erfcx,
    "erfinv": arb.erfinv,
    "exp": arb.exp,
    "exp2": lambda x: arb(2) ** x,
    "expm1": arb.expm1,
    "gelu": lambda x: x * _ndtr(x),
    "gelu_tanh": _gelu_tanh,
    "hypot": lambda x, y: (x * x + y * y).sqrt(),
    "i0": lambda x: x.bessel_i(0),
    "i1": lambda x: x.bessel_i(1),
    "i0e": _scaled_i(0),
    "i1e": _scaled_i(1),
    "j0": lambda x: x.bessel_j(0),
    "j1": lambda x: x.bessel_j(1),
    "k0": _second(0, False),
    "k0e": _second(0, True),
    "k1": _second(1, False),
    "k1e": _second(1, True),
    "lgamma": lambda x: x.lgamma() if x > 0 else abs(x.gamma()).log(),
    "log": arb.log,
    "log10": lambda x: x.log() / arb(10).log(),
    "log1p": arb.log1p,
    "log2": lambda x: x.log() / arb(2).log(),
    "log_ndtr": _log_ndtr,
    "logaddexp": lambda x, y: (x.exp() + y.exp()).log(),
    "logaddexp2": lambda x, y: (arb(2) ** x + arb(2) ** y).log() / arb(2).log(),
    "logit": lambda x: (x / (1 - x)).log(),
    "mish": lambda x: x * x.exp().log1p().tanh(),
    "ndtr": _ndtr,
    "ndtri": _ndtri,
    "pow": lambda x, y: x**y,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": arb.rsqrt,
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "silu": lambda x: x / (1 + (-x).exp()),
    "sin": arb.sin,
    "sinc": arb.sinc_pi,
    "sinh": arb.sinh,
    "softplus": lambda x: x.exp().log1p(),
    "spherical_j0": lambda x: x.sin() / x,
    "tan": arb.tan,
    "tanh": arb.tanh,
    "xlog1py": lambda x, y: x * y.log1p(),
    "xlogy": lambda x, y: x * y.log(),
}


def enclosure(name: str, operands: tuple[float, ...], precision: int) -> tuple[Fraction, Fraction]:
    """Rational ends of an interval that contains the function's value; the precision is in bits."""
    ctx.prec = precision
    value = FORMULAS[name](*map(arb, operands))
    if not value.is_finite():
        raise ArithmeticError(f"{name}{operands} is not finite at {precision} bits")
    return _fraction(value.lower()), _fraction(value.upper())


def _fraction(end: arb) -> Fraction:
    mantissa, exponent = map(int, end.man_exp())
    if mantissa and abs(exponent + mantissa.bit_length()) > LIMIT_BITS:
        mantissa, exponent = (1 if mantissa > 0 else -1), LIMIT_BITS if exponent > 0 else -LIMIT_BITS
    return Fraction(mantissa) * Fraction(2) ** exponent


def rounded(name: str, fmt: Format, operands: tuple[float, ...]) -> tuple[np.generic, Fraction, Fraction]:
    """The value rounded to nearest even in `fmt`, from the first enclosure that decides it, and its ends."""
    for precision in PRECISIONS:
        low, high = enclosure(name, operands, precision)
        values = [round_fraction(fmt, end) for end in (low, high)]
        if values[0].tobytes() == values[1].tobytes() and low * high > 0:
            return values[0], low, high
    raise ArithmeticError(f"{name}{operands}: an exact case, or a zero; test it by a literal")
