"""Exact numbers with infinities and NaN, and real functions by balls (Arb) that shrink until they decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import copysign, inf, isfinite, isnan, nan

from flint import arb, ctx

from conform.refs.exact.rounding import dyadic, round_dyadic
from conform.refs.exact.tensor import UNSPECIFIED, Unspecified

Exact = tuple[int, int] | float  # (m, e) is the number m * 2^e; a float stands only for an infinity or NaN

START_BITS = 128  # 53 of the widest format and a margin; most elements are decided here
MOST_BITS = 1 << 15


def exact(value: float | int) -> Exact:
    """A float or integer as an exact number (the sign of a zero is not kept)."""
    return dyadic(value) if isfinite(value) else float(value)


def add_exact(x: Exact, y: Exact) -> Exact:
    """x + y; the sum of opposite infinities is NaN."""
    if isinstance(x, float) or isinstance(y, float):
        return (x if isinstance(x, float) else 0.0) + (y if isinstance(y, float) else 0.0)
    (mx, ex), (my, ey) = x, y
    e = min(ex, ey)
    return (mx << (ex - e)) + (my << (ey - e)), e


def multiply_exact(x: Exact, y: Exact) -> Exact:
    """x * y; zero times infinity is NaN."""
    if isinstance(x, float) or isinstance(y, float):
        return sign_of(x) * sign_of(y) * inf  # 0 * inf and nan * inf are nan
    return x[0] * y[0], x[1] + y[1]


def sign_of(x: Exact) -> float:
    """-1, 0 or 1, or NaN."""
    if isinstance(x, float):
        return nan if isnan(x) else copysign(1.0, x)
    return float((x[0] > 0) - (x[0] < 0))


def round_exact(dtype: str, x: Exact) -> float:
    """The exact number rounded once to the format; zero is +0."""
    return x if isinstance(x, float) else round_dyadic(dtype, *x)


def scale_to_integers(values: Iterable[float]) -> tuple[list[int], int]:
    """Finite floats as integers of one exponent: values[i] = integers[i] * 2^exponent."""
    ratios = [value.as_integer_ratio() for value in values]
    common = max((denominator for _, denominator in ratios), default=1)  # all are powers of two
    return [numerator * (common // denominator) for numerator, denominator in ratios], 1 - common.bit_length()


def sum_exact(values: Sequence[float]) -> Exact:
    """The sum of floats: exact, or the infinity or NaN that their infinities and NaNs add up to."""
    special = [value for value in values if not isfinite(value)]
    if special:
        return sum(special)
    integers, exponent = scale_to_integers(values)
    return sum(integers), exponent


def round_balls(dtype: str, enclose: Callable[[], list[arb]]) -> list[float]:
    """Round each of the reals that `enclose` gives balls of, calling it at rising precision until all are decided.

    None of the reals may be a midpoint between two values of the format, or zero with no sign of its own: such a ball
    never decides. Raises ArithmeticError where MOST_BITS do not suffice.
    """
    bits_before = ctx.prec
    bits = START_BITS
    try:
        while bits <= MOST_BITS:
            ctx.prec = bits
            rounded = [_round_ball(dtype, ball) for ball in enclose()]
            if None not in rounded:
                return rounded
            bits *= 2
    finally:
        ctx.prec = bits_before
    raise ArithmeticError(f"undecided at {MOST_BITS} bits: an exact case that was not handled before?")


def decided_at(bits: int, dtype: str, enclose: Callable[[], arb]) -> float | None:
    """The value to which the real rounds, where the ball at a precision of `bits` decides that."""
    bits_before = ctx.prec
    try:
        ctx.prec = bits
        return _round_ball(dtype, enclose())
    finally:
        ctx.prec = bits_before


def round_real(dtype: str, enclose: Callable[[], arb]) -> float:
    """`round_balls` of one real."""
    return round_balls(dtype, lambda: [enclose()])[0]


def _round_ball(dtype: str, ball: arb) -> float | None:
    """The value to which both ends of the ball round, None where they differ (zeros of both signs differ)."""
    if not ball.is_finite():
        return None
    middle, middle_exponent = map(int, ball.mid().man_exp())
    radius, radius_exponent = map(int, ball.rad().man_exp())
    low = round_exact(dtype, add_exact((middle, middle_exponent), (-radius, radius_exponent)))
    high = round_exact(dtype, add_exact((middle, middle_exponent), (radius, radius_exponent)))
    return low if low == high and copysign(1.0, low) == copysign(1.0, high) else None


def fraction_ball(x: Fraction) -> arb:
    """A rational number at the current precision."""
    return arb(x.numerator) / arb(x.denominator)


def log_ball(x: Fraction) -> arb:
    """log x of positive x, accurate near 1 too."""
    return fraction_ball(x - 1).log1p() if Fraction(1, 2) < x < 2 else fraction_ball(x).log()


def round_exp(dtype: str, x: float) -> float:
    """e^x. Only e^0 is rational (Lindemann), so nothing else is a midpoint."""
    if isnan(x) or x == 0:
        return nan if isnan(x) else 1.0
    if abs(x) > 1024:  # e^1024 > 2^1024 and e^-1024 < 2^-1477: beyond every format's range
        return inf if x > 0 else 0.0
    return round_real(dtype, lambda: arb(x).exp())


def round_sin(dtype: str, x: float) -> float:
    """sin x. Only sin 0 is algebraic for an algebraic x (Lindemann)."""
    if x == 0 or not isfinite(x):
        return x if x == 0 else nan
    return round_real(dtype, lambda: arb(x).sin())


def round_gelu(dtype: str, x: float) -> float | Unspecified:
    """x * Phi(x), Phi the normal distribution function: x * erfc(-x / sqrt 2) / 2."""
    if x == 0 or abs(x) > 64 or isnan(x):
        return _gelu_limit(x)  # |x| > 64: 1 - Phi(|x|) and |x| (1 - Phi(|x|)) are below e^-2048 < 2^-2900
    return round_real(dtype, lambda: arb(x) * (-arb(x) / arb(2).sqrt()).erfc() / 2)


def round_gelu_tanh(dtype: str, x: float) -> float | Unspecified:
    """x / 2 * (1 + tanh u) = x / (1 + e^-2u), u = sqrt(2 / pi) * (x + 0.044715 x^3) with the decimal constant."""
    if x == 0 or abs(x) > 1024 or isnan(x):
        return _gelu_limit(x)  # |x| > 1024: 2 |u| > 7e7, e^-7e7 times |x| < 2^1024 is below 2^-1075
    return round_real(dtype, lambda: arb(x) / (1 + (-2 * _tanh_argument(arb(x))).exp()))


def _tanh_argument(x: arb) -> arb:
    return (2 / arb.pi()).sqrt() * (x + x**3 * 44715 / 10**6)


def _gelu_limit(x: float) -> float | Unspecified:
    """gelu of a zero, NaN, or an x so large that the distribution function is 0 or 1 after any rounding."""
    if x == -inf:
        return UNSPECIFIED  # P38: the limit is -0, the formula gives -inf * 0
    return -0.0 if x < 0 else x
