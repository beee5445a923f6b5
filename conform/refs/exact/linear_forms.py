"""Exact sums of rationals and rational multiples of transcendental numbers: what losses add up before they are rounded.

A transcendental number is a function of an argument, (function, argument), with the same pair for the same number: so
that equal ones cancel exactly, which balls cannot see. Infinities and NaN are floats, and UNSPECIFIED stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import copysign, inf, isfinite, isnan, nan

from flint import arb

from conform.refs.exact.exponentials import LEAST_EXPONENT
from conform.refs.exact.reals import fraction_ball, log_ball, round_real
from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, Unspecified

Transcendental = tuple[Callable[[Hashable], arb], Hashable]


@dataclass(frozen=True)
class Form:
    """rational + the sum of coefficient * transcendental number."""

    rational: Fraction = Fraction(0)
    terms: dict[Transcendental, Fraction] = field(default_factory=dict)

    def is_zero(self) -> bool:
        return self.rational == 0 and not self.terms


Value = Form | float | Unspecified  # a float is an infinity or NaN
Factor = Fraction | float


def value_of(x: float) -> Value:
    """A float: a form where it is finite."""
    return Form(Fraction(x)) if isfinite(x) else x


def total(values: Iterable[Value]) -> Value:
    """The sum: open if a summand is, else with the infinities and NaNs added up."""
    values = list(values)
    if any(isinstance(value, Unspecified) for value in values):
        return UNSPECIFIED
    special = [value for value in values if isinstance(value, float)]
    if special:
        return sum(special)
    rational, terms = Fraction(0), {}
    for form in values:
        rational += form.rational
        for number, coefficient in form.terms.items():
            terms[number] = terms.get(number, Fraction(0)) + coefficient
    return Form(rational, {number: coefficient for number, coefficient in terms.items() if coefficient != 0})


def times(value: Value, factor: Factor) -> Value:
    """value * factor; zero times infinity is NaN."""
    if isinstance(value, Unspecified):
        return value
    if isinstance(factor, float) and not isfinite(factor):
        return _sign(value) * factor
    factor = Fraction(factor)
    if isinstance(value, float):
        return value * ((factor > 0) - (factor < 0))
    if factor == 0:
        return Form()
    return Form(value.rational * factor, {number: c * factor for number, c in value.terms.items()})


def over(value: Value, divisor: Value) -> Value:
    """value / divisor, of a divisor without transcendental terms; 0 / 0 is NaN, and another number over 0 infinite."""
    if isinstance(value, Unspecified) or isinstance(divisor, Unspecified):
        return UNSPECIFIED
    if isinstance(divisor, float):
        return nan if isinstance(value, float) or isnan(divisor) else Form()
    if divisor.is_zero():
        return _sign(value) * inf
    return times(value, 1 / divisor.rational)


def _sign(value: Form | float) -> float:
    """-1, 0 or 1, or NaN."""
    if isinstance(value, float):
        return value if isnan(value) else copysign(1.0, value)
    return 0.0 if value.is_zero() else copysign(1.0, round_form("float64", value))


def round_form(dtype: str, value: Value) -> float | Unspecified:
    """Rounded once. A form with terms is taken to be irrational: where it were a midpoint, no ball would decide."""
    if not isinstance(value, Form):
        return value
    if not value.terms:
        return round_ratio(dtype, value.rational.numerator, value.rational.denominator)
    return round_real(dtype, lambda: _ball(value))


def _ball(form: Form) -> arb:
    parts = (
        fraction_ball(coefficient) * function(argument) for (function, argument), coefficient in form.terms.items()
    )
    return sum(parts, fraction_ball(form.rational))


# ---- transcendental numbers --------------------------------------------------------------------------------------


def log_form(x: Fraction) -> Form:
    """log x of positive x: a multiple of log 2, and the logarithm of the ratio of odd numbers that is left."""
    twos = _trailing_zeros(x.numerator) - _trailing_zeros(x.denominator)
    odd = x / Fraction(2) ** twos
    numbers = {Fraction(2): Fraction(twos), odd: Fraction(1)}
    return Form(terms={(log_ball, y): c for y, c in numbers.items() if y != 1 and c != 0})


def _trailing_zeros(n: int) -> int:
    return (n & -n).bit_length() - 1


def exp_form(x: Fraction) -> Form:
    """e^x."""
    return Form(Fraction(1)) if x == 0 else Form(terms={(_exp, x): Fraction(1)})


def _exp(x: Fraction) -> arb:
    return fraction_ball(x).exp()


def log_sum_exp_form(values: Sequence[float]) -> Form:
    """log(sum e^x) of finite numbers: the greatest, and log(1 + the sum of e^(x - greatest) over the others)."""
    greatest, *others = sorted(map(Fraction, values), reverse=True)
    differences = tuple(x - greatest for x in others)
    return Form(greatest, {(_log1p_sum_exp, differences): Fraction(1)} if differences else {})


def _log1p_sum_exp(exponents: tuple[Fraction, ...]) -> arb:
    powers = (fraction_ball(x).max(arb(LEAST_EXPONENT)).exp() for x in exponents)
    return sum(powers, arb(0)).log1p()
