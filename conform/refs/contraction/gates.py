"""Real numbers as recurrent cells need them: rational, or enclosed by balls (Arb) at any precision, or special.

A sigmoid of x is its limit, 0 or 1, where |x| >= 2048, and a tanh where |x| >= 1024 (P236).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import copysign, inf, isnan, nan

from flint import arb, ctx

from conform.refs.exact.reals import MOST_BITS, START_BITS, fraction_ball, round_real
from conform.refs.exact.rounding import round_ratio

Enclosure = Callable[[], arb]  # a number that is not rational, at the current precision
Value = Fraction | float | Enclosure  # a float is an infinity or NaN

LIMIT = 2048


def ball(x: Fraction | Enclosure) -> arb:
    """A finite number at the current precision."""
    return fraction_ball(x) if isinstance(x, Fraction) else x()


def added(values: Iterable[Value]) -> Value:
    """The sum; of infinities and NaN what IEEE 754 makes of them."""
    values = list(values)
    special = [x for x in values if isinstance(x, float)]
    if special:
        return sum(special)
    rational = sum((x for x in values if isinstance(x, Fraction)), Fraction(0))
    others = [x for x in values if not isinstance(x, Fraction)]
    return _enclosed(lambda: sum((x() for x in others), fraction_ball(rational))) if others else rational


def multiplied(x: Value, y: Value) -> Value:
    """The product; NaN of 0 and an infinity."""
    if isinstance(x, float) or isinstance(y, float):
        return sign(x) * sign(y) * inf
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x * y
    return Fraction(0) if 0 in (x, y) else _enclosed(lambda: ball(x) * ball(y))


def complement(x: Value) -> Value:
    """1 - x."""
    return added([Fraction(1), multiplied(Fraction(-1), x)])


def sigmoid(x: Value) -> Value:
    """1 / (1 + e^-x); irrational of what is rational, but at 0 (Lindemann)."""
    known = _known(x, LIMIT, Fraction(0), Fraction(1, 2))
    return _enclosed(lambda: 1 / (1 + (-ball(x)).exp())) if known is None else known


def tanh(x: Value) -> Value:
    """(e^x - e^-x) / (e^x + e^-x); irrational of what is rational, but at 0."""
    known = _known(x, LIMIT // 2, Fraction(-1), Fraction(0))
    return _enclosed(lambda: ball(x).tanh()) if known is None else known


def positive_part(x: Value) -> Value:
    """max(x, 0), NaN of NaN."""
    if isinstance(x, float):
        return x if x != -inf else Fraction(0)
    return x if sign(x) > 0 else Fraction(0)


def rounded(dtype: str, x: Value) -> float:
    """Rounded once."""
    if isinstance(x, float):
        return x
    return round_ratio(dtype, x.numerator, x.denominator) if isinstance(x, Fraction) else round_real(dtype, x)


def sign(x: Value) -> float:
    """-1, 0 or 1, or NaN."""
    if isinstance(x, float):
        return nan if isnan(x) else copysign(1.0, x)
    return float((x > 0) - (x < 0)) if isinstance(x, Fraction) else float(_compared(x, 0))


def _known(x: Value, limit: int, low: Fraction, at_zero: Fraction) -> Value | None:
    """What a function that rises from `low` to 1 has of NaN, of 0, and from the limit on."""
    if isinstance(x, float) and isnan(x):
        return x
    if isinstance(x, Fraction) and x == 0:
        return at_zero
    for far, end in ((limit, Fraction(1)), (-limit, low)):
        side = 1 if far > 0 else -1
        if x == side * inf or not isinstance(x, float) and _compared(x, far) in (0, side):
            return end
    return None


def _compared(x: Fraction | Enclosure, bound: int) -> int:
    """-1, 0 or 1 where x is below, at or above the bound."""
    if isinstance(x, Fraction):
        return (x > bound) - (x < bound)
    bits_before = ctx.prec
    try:
        ctx.prec = START_BITS
        while ctx.prec <= MOST_BITS:
            found = x()
            if found > bound or found < bound:
                return 1 if found > bound else -1
            ctx.prec *= 2
    finally:
        ctx.prec = bits_before
    raise ArithmeticError(f"a number that is not told from {bound} at {MOST_BITS} bits")


def _enclosed(evaluated: Enclosure) -> Enclosure:
    """The enclosure, evaluated once at each precision."""
    found: dict[int, arb] = {}

    def enclosure() -> arb:
        if ctx.prec not in found:
            found[ctx.prec] = evaluated()
        return found[ctx.prec]

    return enclosure
