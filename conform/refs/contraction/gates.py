"""Real numbers as recurrent cells need them: rational ones plus rational multiples of transcendental ones, or special.

A transcendental number is what a sigmoid, a tanh or a product made of others. Equal ones are one, so that they cancel
exactly, which balls cannot see. A sigmoid of x is its limit, 0 or 1, where |x| >= 2048, and a tanh where |x| >= 1024
(P236).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import copysign, inf, isfinite, isnan, nan

from flint import arb, ctx

from conform.refs.exact.reals import MOST_BITS, START_BITS, fraction_ball, round_real
from conform.refs.exact.rounding import round_ratio

LIMIT = 2048


@dataclass(eq=False)
class Atom:
    """A transcendental number, enclosed once at each precision."""

    enclose: Callable[[], arb]
    found: dict[int, arb] = field(default_factory=dict)

    def ball(self) -> arb:
        if ctx.prec not in self.found:
            self.found[ctx.prec] = self.enclose()
        return self.found[ctx.prec]


@dataclass(frozen=True)
class Form:
    """rational + the sum of coefficient * atom, of coefficients that are not 0."""

    rational: Fraction = Fraction(0)
    terms: frozenset[tuple[Atom, Fraction]] = frozenset()

    def ball(self) -> arb:
        """An enclosure at the current precision."""
        return sum((fraction_ball(c) * atom.ball() for atom, c in self.terms), fraction_ball(self.rational))


Value = Form | float  # a float is an infinity or NaN

ONE, ZERO = Form(Fraction(1)), Form()


def value_of(x: float) -> Value:
    """A float: a form where it is finite."""
    return Form(Fraction(x)) if isfinite(x) else x


def added(values: Iterable[Value]) -> Value:
    """The sum; of infinities and NaN what IEEE 754 makes of them."""
    values = list(values)
    special = [x for x in values if isinstance(x, float)]
    if special:
        return sum(special)
    coefficients: dict[Atom, Fraction] = {}
    for form in values:
        for atom, coefficient in form.terms:
            coefficients[atom] = coefficients.get(atom, Fraction(0)) + coefficient
    rational = sum((form.rational for form in values), Fraction(0))
    return Form(rational, frozenset((atom, c) for atom, c in coefficients.items() if c))


def times(factor: Value, x: Value) -> Value:
    """The product with a rational number; NaN of 0 and an infinity."""
    if isinstance(factor, float) or isinstance(x, float):
        return sign(factor) * sign(x) * inf
    by = factor.rational
    return Form(by * x.rational, frozenset((atom, by * c) for atom, c in x.terms)) if by else ZERO


def negative(x: Value) -> Value:
    return times(Form(Fraction(-1)), x)


def rounded(dtype: str, x: Value) -> float:
    """Rounded once."""
    if isinstance(x, float):
        return x
    return round_real(dtype, x.ball) if x.terms else round_ratio(dtype, x.rational.numerator, x.rational.denominator)


def sign(x: Value) -> float:
    """-1, 0 or 1, or NaN."""
    if isinstance(x, float):
        return nan if isnan(x) else copysign(1.0, x)
    return float(_compared(x, 0))


def positive_part(x: Value) -> Value:
    """max(x, 0), NaN of NaN."""
    if isinstance(x, float):
        return x if x != -inf else ZERO
    return x if sign(x) > 0 else ZERO


class Gates:
    """The functions of gates, by which equal numbers are the same atoms."""

    def __init__(self) -> None:
        self._atoms: dict[Hashable, Form] = {}

    def sigmoid(self, x: Value) -> Value:
        """1 / (1 + e^-x); irrational of what is rational, but at 0 (Lindemann)."""
        known = _known(x, LIMIT, ZERO, Form(Fraction(1, 2)))
        return self._atom(("sigmoid", x), lambda: 1 / (1 + (-x.ball()).exp())) if known is None else known

    def tanh(self, x: Value) -> Value:
        """(e^x - e^-x) / (e^x + e^-x); irrational of what is rational, but at 0."""
        known = _known(x, LIMIT // 2, negative(ONE), ZERO)
        return self._atom(("tanh", x), lambda: x.ball().tanh()) if known is None else known

    def product(self, x: Value, y: Value) -> Value:
        """x y; NaN of 0 and an infinity."""
        if isinstance(x, float) or isinstance(y, float) or not x.terms:
            return times(x, y)
        if not y.terms:
            return times(y, x)
        return self._atom(("product", frozenset((x, y))), lambda: x.ball() * y.ball())

    def _atom(self, key: Hashable, enclose: Callable[[], arb]) -> Form:
        if key not in self._atoms:
            self._atoms[key] = Form(terms=frozenset([(Atom(enclose), Fraction(1))]))
        return self._atoms[key]


def _known(x: Value, limit: int, low: Form, at_zero: Form) -> Value | None:
    """What a function that rises from `low` to 1 has of NaN, of 0, and from the limit on."""
    if isinstance(x, float):
        return x if isnan(x) else ONE if x > 0 else low
    if x == ZERO:
        return at_zero
    if _compared(x, limit) >= 0:
        return ONE
    return low if _compared(x, -limit) <= 0 else None


def _compared(x: Form, bound: int) -> int:
    """-1, 0 or 1 where x is below, at or above the bound."""
    if not x.terms:
        return (x.rational > bound) - (x.rational < bound)
    bits_before = ctx.prec
    try:
        ctx.prec = START_BITS
        while ctx.prec <= MOST_BITS:
            found = x.ball()
            if found > bound or found < bound:
                return 1 if found > bound else -1
            ctx.prec *= 2
    finally:
        ctx.prec = bits_before
    raise ArithmeticError(f"a number that is not told from {bound} at {MOST_BITS} bits")
