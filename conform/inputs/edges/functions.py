"""Domain edges of the real functions."""

from __future__ import annotations

import math
from decimal import Decimal

from conform.inputs.edges.levels import (
    BESSEL_OVERFLOW,
    GELU_TAIL,
    GELU_TANH_TAIL,
    INVERSE_ERFC,
    LGAMMA_OVERFLOW,
    PI,
    SILU_TAIL,
    above_one,
    below_one,
    ln,
    overflow,
    power_of_two,
    range_ends,
    spacing,
    underflow,
)
from conform.inputs.edges.rows import Number, Row, pairs, points
from conform.numerics.formats import Format

_LN_2 = ln(2)
_ROOT_2 = Decimal(2).sqrt()


def _both_signs(numbers: list[Number]) -> list[Number]:
    return [signed for number in numbers for signed in (number, -number)]


# --- Exponentials and logarithms --------------------------------------------------------------------------------------


@points("aten::exp")
def _exp(fmt: Format) -> list[Number]:
    """e^x overflows, becomes subnormal, becomes zero, becomes 1."""
    return [*map(ln, range_ends(fmt)), above_one(fmt), -below_one(fmt)]


@points("aten::exp2", "aten::special_exp2")
def _exp2(fmt: Format) -> list[Number]:
    """2^x overflows, becomes subnormal, becomes zero (a tie), becomes 1; exact powers."""
    ends = [ln(end) / _LN_2 for end in range_ends(fmt)]
    return [*ends, fmt.emax + 1, fmt.emin, fmt.emin - fmt.precision, above_one(fmt) / _LN_2, -below_one(fmt) / _LN_2,
            -1, 10]  # fmt: skip


@points("aten::expm1", "aten::special_expm1")
def _expm1(fmt: Format) -> list[Number]:
    """e^x - 1 overflows, becomes -1; x + x^2/2 becomes x; e^x - 1 computed as such has no digit left."""
    return [ln(overflow(fmt)), ln(below_one(fmt)), *_both_signs([above_one(fmt), 2 * above_one(fmt)]), -_LN_2, 1.0]


@points("aten::log")
def _log(fmt: Format) -> list[Number]:
    """The root 1 with no error to spare; log of the ends of the range; e."""
    return [1.0, Decimal(1).exp(), 0.5, 2.0, fmt.min_subnormal, fmt.min_normal, fmt.max_finite, -fmt.min_subnormal]


@points("aten::log2")
def _log2(fmt: Format) -> list[Number]:
    """Exact at powers of two, subnormal ones included, and only there."""
    exact = [power_of_two(n) for n in (-3, -1, 0, 1, 3, 10, fmt.emin, fmt.emin - 1, fmt.emax)]
    return [*exact, fmt.max_finite, -fmt.min_subnormal]


@points("aten::log10")
def _log10(fmt: Format) -> list[Number]:
    """Exact at powers of ten, and only there."""
    return [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e10, 1e15, 1e22, 0.1, 0.01, -fmt.min_subnormal]


@points("aten::log1p", "aten::special_log1p")
def _log1p(fmt: Format) -> list[Number]:
    """The pole -1; x - x^2/2 becomes x; 1 + x becomes x."""
    return [-1.0, -0.5, *_both_signs([above_one(fmt), 2 * above_one(fmt)]), power_of_two(fmt.precision), fmt.max_finite]


@points("aten::sigmoid")
def _sigmoid(fmt: Format) -> list[Number]:
    """1 / (1 + e^-x) becomes 1, becomes subnormal, becomes zero; e^-x alone overflows."""
    return [-ln(below_one(fmt)), -ln(overflow(fmt)), *map(ln, range_ends(fmt)[1:]), above_one(fmt) * 4]


@points("aten::softplus")
def _softplus(fmt: Format, beta: float, threshold: float) -> list[Number]:
    """Linear beyond threshold / beta; log(1 + e^(beta x)) / beta becomes x, becomes zero; e^(beta x) overflows."""
    if not beta or not math.isfinite(beta):
        return []
    slope = Decimal(beta)
    exponents = [-ln(above_one(fmt)), ln(overflow(fmt)), ln(underflow(fmt) * abs(slope)), ln(below_one(fmt))]
    return [Decimal(threshold) / slope, *(exponent / slope for exponent in exponents)]


@points("aten::log_sigmoid", "aten::log_sigmoid_forward")
def _log_sigmoid(fmt: Format) -> list[Number]:
    """-log(1 + e^-x) becomes x, becomes subnormal, becomes zero; e^-x alone overflows."""
    return [ln(above_one(fmt)), *(-ln(end) for end in range_ends(fmt))]


@points("aten::elu")
def _elu(fmt: Format, input_scale: float) -> list[Number]:
    """0, where the pieces meet, and what e^(input_scale x) - 1 turns at."""
    rate = float(input_scale)
    return _unit(fmt, Decimal(rate)) if rate and math.isfinite(rate) else [0.0]


@points("aten::selu")
def _selu(fmt: Format) -> list[Number]:
    """0, where the pieces meet, and what e^x - 1 turns at."""
    return _unit(fmt, Decimal(1))


@points("aten::celu")
def _celu(fmt: Format, alpha: float) -> list[Number]:
    """0, where the pieces meet, and what e^(x / alpha) - 1 turns at."""
    return _unit(fmt, 1 / Decimal(alpha)) if alpha and math.isfinite(alpha) else [0.0]


def _unit(fmt: Format, rate: Decimal) -> list[Number]:
    """e^(rate x) - 1 becomes -1, becomes rate x, overflows."""
    exponents = ln(below_one(fmt)), -above_one(fmt), -2 * above_one(fmt), ln(overflow(fmt))
    return [0.0, *(exponent / rate for exponent in exponents)]


@pairs("aten::logaddexp")
def _logaddexp(fmt: Format) -> list[Row]:
    """Equal operands (x + log 2), a smaller one that just no longer counts, a sum of 1 (whose log cancels)."""
    tiny, largest, half = ln(above_one(fmt)), fmt.max_finite, -_LN_2
    return [(0.0, 0.0), (half, half), (-ln(3), _LN_2 - ln(3)), (1, 1 + tiny), (tiny, 0.0), (0.0, 2 * tiny),
            (largest, largest), (-largest, -largest), (largest, -largest), (-math.inf, 1.0), (math.inf, -math.inf),
            (-math.inf, -math.inf), (1.0, math.nextafter(1.0, 2.0))]  # fmt: skip


@pairs("aten::logaddexp2")
def _logaddexp2(fmt: Format) -> list[Row]:
    """Equal operands (x + 1), a smaller one that just no longer counts, a sum of 1 (whose logarithm cancels)."""
    tiny, largest, inf = above_one(fmt) / _LN_2, fmt.max_finite, math.inf
    return [(0.0, 0.0), (-1.0, -1.0), (-ln(3) / _LN_2, 1 - ln(3) / _LN_2), (1, 1 + tiny), (-fmt.precision, 0.0),
            (-fmt.precision - 1, 1.0), (tiny, 0.0), (largest, largest), (-largest, -largest), (largest, -largest),
            (-inf, 1.0), (inf, -inf), (-inf, -inf), (1.0, math.nextafter(1.0, 2.0))]  # fmt: skip


@points("aten::logit")
def _logit(fmt: Format, eps: float | None) -> list[Number]:
    """The poles 0 and 1 from both sides, the root 1/2 from both sides, where formulas change, and the bounds."""
    bounds = [] if eps is None or not math.isfinite(eps) else [eps, 1 - Decimal(eps)]
    return [0.0, 1.0, 0.5, 0.5 - spacing(fmt) / 4, 0.5 + spacing(fmt) / 2, 0.25, 0.75, fmt.min_normal,
            1.0 - spacing(fmt) / 2, -fmt.min_subnormal, 1.0 + spacing(fmt), *bounds]  # fmt: skip


# --- Powers -----------------------------------------------------------------------------------------------------------


@points("aten::sqrt", "aten::rsqrt")
def _sqrt(fmt: Format) -> list[Number]:
    """Exact at squares and nowhere near them; the branch point; subnormal operands of odd and even exponent."""
    return [0.0, 1.0, 4.0, 9.0, 0.25, 2.0, 225.0, fmt.min_subnormal, 2 * fmt.min_subnormal, fmt.min_normal,
            fmt.max_finite, -fmt.min_subnormal]  # fmt: skip


@points("aten::cbrt")
def _cbrt(fmt: Format) -> list[Number]:
    """Exact at cubes; subnormal operands with every remainder of the exponent by three."""
    subnormal = [fmt.min_subnormal * 2.0**n for n in range(3)]
    return _both_signs([1.0, 8.0, 27.0, 0.125, 2.0, 3.0, *subnormal, fmt.min_normal, fmt.max_finite])


@points("aten::reciprocal")
def _reciprocal(fmt: Format) -> list[Number]:
    """1 / x overflows and becomes subnormal; exact at powers of two."""
    return _both_signs([1 / overflow(fmt), power_of_two(-fmt.emin), power_of_two(fmt.emax), 1.0, 3.0, fmt.max_finite])


@pairs("aten::pow", operands=("self", "exponent"))
def _pow(fmt: Format) -> list[Row]:
    """C99's special cases; the ends of the range; ties; even and odd exponents, the largest odd one too; integers."""
    if fmt.is_integer:
        return _integer_powers(fmt)
    odd, near_1, inf, nan = 2.0**fmt.precision - 1.0, 1.0 + spacing(fmt), math.inf, math.nan
    defined_by_c99 = [
        (0.0, -1.0), (-0.0, -1.0), (-0.0, -2.0), (-0.0, 3.0), (-0.0, odd), (-0.0, odd + 1.0), (-inf, 3.0), (-inf, -3.0),
        (-inf, 0.5), (-0.0, 0.5), (1.0, nan), (nan, 0.0), (-1.0, inf), (-1.0, -inf), (0.5, inf), (2.0, -inf),
        (-2.0, 0.5), (-1.0, odd), (-1.0, odd + 1.0),
    ]  # fmt: skip
    ends = [(2.0, float(n)) for n in (fmt.emax, fmt.emax + 1, fmt.emin, fmt.emin - 1, fmt.emin - fmt.precision + 1,
                                      fmt.emin - fmt.precision, fmt.emin - fmt.precision - 1)]  # fmt: skip
    growth = ln(overflow(fmt)) / Decimal(spacing(fmt))  # (1 + spacing)^growth is about the largest number
    rounding = [(10.0, 2.0), (10.0, -1.0), (3.0, 5.0), (3.0, 40.0), (near_1, 2.0), (near_1, growth), (near_1, -growth),
                (fmt.max_finite, 0.5), (fmt.max_finite, 1.0), (fmt.min_subnormal, 0.5), (fmt.min_subnormal, -1.0),
                (-3.0, 3.0), (0.5, -0.5), (1.0 - spacing(fmt) / 2.0, -growth)]  # fmt: skip
    return [*defined_by_c99, *ends, *rounding]


def _integer_powers(fmt: Format) -> list[Row]:
    bits = fmt.bits
    return [(0, 0), (0, 1), (1, fmt.max_value), (-1, fmt.max_value), (-1, fmt.max_value - 1), (2, bits - 2),
            (2, bits - 1), (2, bits), (-2, bits - 1), (-2, bits), (3, bits), (7, 2), (10, 2), (10, 18), (15, 3),
            (fmt.min_value, 1), (fmt.min_value, 2), (fmt.max_value, 2), (fmt.max_value, 3)]  # fmt: skip


@pairs("aten::hypot")
def _hypot(fmt: Format) -> list[Row]:
    """Squares that overflow or underflow where the result does not; exact triples; an operand that no longer counts."""
    big, small = 2.0 ** (fmt.emax // 2 + 1), 2.0 ** (fmt.emin // 2 - 2)
    largest, tiny = fmt.max_finite, fmt.min_subnormal
    edge = overflow(fmt) / 2 * _ROOT_2
    return [(3.0, 4.0), (-5.0, 12.0), (big, big), (3 * small, 4 * small), (largest, 1.0), (largest, largest),
            (edge, edge), (tiny, tiny), (3 * tiny, -4 * tiny), (1.0, 2.0 ** -(fmt.precision // 2)), (tiny, 0.0),
            (1.0, 2.0 ** -(fmt.precision // 2 + 1)), (math.inf, math.nan), (math.nan, -math.inf),
            (-0.0, -0.0)]  # fmt: skip


@pairs("aten::xlogy", "aten::special_xlogy")
def _xlogy(fmt: Format) -> list[Row]:
    """Zero times an infinite logarithm; the root 1 of the logarithm; overflow and underflow of the product."""
    return [(0.0, 0.0), (0.0, -1.0), (0.0, math.nan), (-0.0, math.inf), (math.nan, 1.0), (1.0, 0.0), (-1.0, 0.0),
            (math.inf, 1.0), (1.0, 1.0 + spacing(fmt)), (fmt.max_finite, 3.0), (fmt.max_finite, 1.0 + spacing(fmt)),
            (fmt.min_subnormal, 2.0), (fmt.min_subnormal, 0.5), (1.0, fmt.min_subnormal),
            (1.0, fmt.max_finite)]  # fmt: skip


@pairs("aten::special_xlog1py")
def _xlog1py(fmt: Format) -> list[Row]:
    """Zero times an infinite logarithm; its pole -1 and its root 0; overflow and underflow of the product."""
    tiny, largest = fmt.min_subnormal, fmt.max_finite
    return [(0.0, -1.0), (0.0, -2.0), (0.0, math.nan), (-0.0, math.inf), (math.nan, 0.0), (1.0, -1.0), (-1.0, -1.0),
            (math.inf, 0.0), (1.0, -0.0), (-1.0, 0.0), (1.0, above_one(fmt)), (1.0, -below_one(fmt)), (largest, 3.0),
            (largest, tiny), (tiny, 1.0), (tiny, 2.0), (1.0, tiny), (1.0, largest), (2.0, 2 * tiny),
            (1.0, -1.0 + spacing(fmt))]  # fmt: skip


@points("aten::special_entr")
def _entr(fmt: Format) -> list[Number]:
    """Zeros of both signs, the root 1 from both sides, the maximum 1/e; overflow and underflow."""
    return [0.0, -0.0, 1.0, 1.0 + spacing(fmt), 1.0 - spacing(fmt) / 2, Decimal(-1).exp(), -fmt.min_subnormal,
            fmt.min_subnormal, fmt.min_normal, fmt.max_finite, overflow(fmt) / ln(overflow(fmt))]  # fmt: skip


# --- Trigonometry -----------------------------------------------------------------------------------------------------


@points("aten::sin", "aten::cos", "aten::tan")
def _trigonometric(fmt: Format) -> list[Number]:
    """Roots, poles and extremes, where reducing the argument cancels; x - x^3/6 becomes x."""
    small = [2.0 ** -(fmt.precision // 2), 2.0 ** -(fmt.precision // 2 + 1)]
    multiples = [PI * k / 2 for k in (1, 2, 3, 4, 5, 6, 7, 8, 44, 1000, 710 * 2**10)]
    return _both_signs([*small, *multiples, PI / 4, 2.0**fmt.precision, fmt.max_finite])


@points("aten::sinc", "aten::special_sinc")
def _sinc(fmt: Format) -> list[Number]:
    """Roots at the integers but 0; 1 - (pi x)^2/6 becomes 1; far out every number is an integer."""
    small = [2.0 ** -(fmt.precision // 2 + 1), 2.0 ** -(fmt.precision // 2 + 3)]
    return _both_signs([1.0, 2.0, 3.0, 100.0, 0.5, *small, 2.0 ** (fmt.precision - 1), fmt.max_finite])


@points("aten::asin", "aten::acos", "aten::atanh")
def _domain_ends_at_one(fmt: Format) -> list[Number]:
    """The ends -1 and 1 of the domain from both sides; x + c x^3 becomes x."""
    return _both_signs([1.0, 0.5, 2.0 ** -(fmt.precision // 2), 2.0 ** -(fmt.precision // 2 + 1), fmt.min_normal])


@points("aten::atan")
def _atan(fmt: Format) -> list[Number]:
    """Becomes pi/2; x - x^3/3 becomes x."""
    return _both_signs([1.0, 2.0**fmt.precision, 2.0 ** -(fmt.precision // 2), fmt.min_normal, fmt.max_finite])


@pairs("aten::atan2")
def _atan2(fmt: Format) -> list[Row]:
    """Zeros and infinities of all signs (C99 F.9.1.4), quotients that overflow or underflow, the two sides of pi."""
    tiny, largest, inf = fmt.min_subnormal, fmt.max_finite, math.inf
    zeros = [(y, x) for y in (0.0, -0.0) for x in (0.0, -0.0, 1.0, -1.0)]
    ends = [(y, x) for y in (inf, -inf) for x in (inf, -inf, 1.0)]
    return [*zeros, *ends, (1.0, 0.0), (-1.0, -0.0), (1.0, -inf), (-1.0, inf), (tiny, largest), (-tiny, -largest),
            (tiny, -1.0), (-tiny, 2.0), (tiny, 0.5), (largest, tiny), (largest, -largest), (1.0, 1.0),
            (fmt.min_normal, 1.0 + spacing(fmt)), (tiny, tiny), (-3 * tiny, 4 * tiny)]  # fmt: skip


@points("aten::sinh", "aten::cosh")
def _sinh_cosh(fmt: Format) -> list[Number]:
    """The result overflows, e^x overflows before it; 1 + x^2/2 becomes 1 and x + x^3/6 becomes x."""
    small = [2.0 ** -(fmt.precision // 2), 2.0 ** -(fmt.precision // 2 + 1)]
    return _both_signs([ln(2 * overflow(fmt)), ln(overflow(fmt)), *small, 1.0])


@points("aten::tanh")
def _tanh(fmt: Format) -> list[Number]:
    """Becomes 1; x - x^3/3 becomes x; e^x and e^(2x) overflow."""
    saturation = ln((2 - below_one(fmt)) / below_one(fmt)) / 2
    return _both_signs([saturation, 2.0 ** -(fmt.precision // 2), 2.0 ** -(fmt.precision // 2 + 1), ln(overflow(fmt)),
                        ln(overflow(fmt)) / 2])  # fmt: skip


@points("aten::asinh")
def _asinh(fmt: Format) -> list[Number]:
    """x^2 + 1 overflows, becomes x^2; x - x^3/6 becomes x."""
    return _both_signs([2.0 ** (fmt.emax // 2 + 1), 2.0 ** (fmt.precision // 2), 2.0 ** -(fmt.precision // 2),
                        fmt.max_finite, 1.0])  # fmt: skip


@points("aten::acosh")
def _acosh(fmt: Format) -> list[Number]:
    """The branch point 1 from both sides; x^2 - 1 overflows, becomes x^2."""
    return [1.0, 2.0, 0.0, -1.0, 2.0 ** (fmt.emax // 2 + 1), 2.0 ** (fmt.precision // 2 + 1), fmt.max_finite]


# --- Error function and normal distribution ---------------------------------------------------------------------------


@points("aten::erf", "aten::special_erf")
def _erf(fmt: Format) -> list[Number]:
    """Becomes 1; small numbers, where the result is 1.128 x with all digits."""
    small = [2.0 ** -(fmt.precision // 2), fmt.min_normal, fmt.min_subnormal]
    return _both_signs([INVERSE_ERFC[fmt.precision + 1], *small, 0.5, 1.0])


@points("aten::erfc", "aten::special_erfc")
def _erfc(fmt: Format) -> list[Number]:
    """Becomes 2, becomes subnormal, becomes zero."""
    tail = [INVERSE_ERFC[-fmt.emin], INVERSE_ERFC[fmt.precision - fmt.emin]]
    return [-INVERSE_ERFC[fmt.precision], *tail, 0.5, 1.0, below_one(fmt), -above_one(fmt)]


@points("aten::erfinv", "aten::special_erfinv")
def _erfinv(fmt: Format) -> list[Number]:
    """The poles -1 and 1 from both sides; small numbers."""
    return _both_signs([1.0, 0.5, 2.0 ** -(fmt.precision // 2), fmt.min_normal, fmt.min_subnormal])


@points("aten::special_ndtr")
def _ndtr(fmt: Format) -> list[Number]:
    """Becomes 1, becomes subnormal, becomes zero."""
    tail = [-INVERSE_ERFC[-fmt.emin - 1], -INVERSE_ERFC[fmt.precision - fmt.emin - 1], INVERSE_ERFC[fmt.precision]]
    return [*(_ROOT_2 * Decimal(x) for x in tail), -1.0, 1.0, above_one(fmt)]


@points("aten::special_erfcx")
def _erfcx(fmt: Format) -> list[Number]:
    """Overflows, becomes 2 e^(x^2), 1 and 1 / (x sqrt pi), becomes subnormal; 50, where formulas change."""
    rising = [-(ln(overflow(fmt)) - _LN_2).sqrt(), -Decimal(INVERSE_ERFC[fmt.precision])]
    falling = [2.0 ** (fmt.precision // 2), fmt.max_finite]
    return [*rising, *falling, 50.0, *_both_signs([above_one(fmt), 1.0, 0.5])]


@points("aten::special_log_ndtr")
def _log_ndtr(fmt: Format) -> list[Number]:
    """-1, where formulas change; becomes -x^2 / 2, which overflows; becomes subnormal, becomes zero."""
    tail = [INVERSE_ERFC[-fmt.emin - 1], INVERSE_ERFC[fmt.precision - fmt.emin - 1]]
    far = [-(2 * overflow(fmt)).sqrt(), -Decimal(2) ** (fmt.precision // 2 + 2)]
    return [*(_ROOT_2 * Decimal(x) for x in tail), *far, -1.0, 1.0, -1.0 - spacing(fmt), above_one(fmt)]


@points("aten::special_ndtri")
def _ndtri(fmt: Format) -> list[Number]:
    """The poles 0 and 1 from both sides; the root 1/2; e^-2 and 1 - e^-2, where approximations change."""
    turn = Decimal(-2).exp()
    return [0.0, 1.0, 0.5, fmt.min_normal, turn, 1 - turn]


# --- Gamma and Bessel functions ---------------------------------------------------------------------------------------

_LGAMMA_ROOTS = (-2.4570247382208006, -2.7476826467274127, -3.14358088834998, -3.955294284858598)
_DIGAMMA_ROOTS = (1.4616321449683622, -0.5040830082644554, -1.5734984731623904)


@points("aten::lgamma")
def _lgamma(fmt: Format) -> list[Number]:
    """Poles at 0 and the negative integers, roots (1, 2 and between the poles), overflow, huge negative operands."""
    return [0.0, -1.0, -2.0, -3.0, -10.0, -100.0, 1.0, 2.0, *_LGAMMA_ROOTS, LGAMMA_OVERFLOW[fmt.name],
            1.4616321449683622, -(2.0 ** (fmt.precision - 1)), fmt.max_finite]  # fmt: skip


@points("aten::digamma", "aten::special_digamma")
def _digamma(fmt: Format) -> list[Number]:
    """Poles at 0 and the negative integers, roots; -1/x overflows near 0."""
    near_0 = _both_signs([1 / overflow(fmt), fmt.min_normal])
    poles = [0.0, -1.0, -2.0, -3.0, -4.0, -10.0, -100.0, -(2.0 ** (fmt.precision - 1))]
    return [*poles, *_DIGAMMA_ROOTS, *near_0, 1.0, 10.0, fmt.max_finite]


@points("aten::special_i0e", "aten::special_i1e")
def _scaled_bessel(fmt: Format) -> list[Number]:
    """e^x overflows; 8, where approximations change; small and large numbers."""
    return _both_signs([ln(overflow(fmt)), 8.0, 1.0, 2.0 ** -(fmt.precision // 2), fmt.min_normal, fmt.min_subnormal,
                        fmt.max_finite])  # fmt: skip


@points("aten::special_bessel_j0", "aten::special_bessel_j1")
@points("aten::special_spherical_bessel_j0", operand="x")
def _first_bessel(fmt: Format) -> list[Number]:
    """The first zeros of each, where terms cancel; 5 and 8, where approximations change; small and large numbers."""
    zeros = [2.404825557695773, 5.520078110286311, 3.8317059702075125, 7.015586669815619, PI, 2 * PI]
    return _both_signs([*zeros, 1.0, 5.0, 8.0, 25.0, 2.0 ** -(fmt.precision // 2), fmt.min_normal, fmt.min_subnormal,
                        2.0**fmt.precision, fmt.max_finite])  # fmt: skip


@points("aten::special_modified_bessel_k0", "aten::special_modified_bessel_k1")
@points("aten::special_scaled_modified_bessel_k0", "aten::special_scaled_modified_bessel_k1", operand="x")
def _second_bessel(fmt: Format) -> list[Number]:
    """The pole 0 from both sides; 1 and 2, where formulas change; e^-x becomes subnormal, becomes zero; overflow."""
    ends = [-ln(end) for end in range_ends(fmt)[1:]]
    return [0.0, -0.0, -fmt.min_subnormal, fmt.min_subnormal, fmt.min_normal, 1 / overflow(fmt), 1.0, 2.0, *ends,
            ln(overflow(fmt)), fmt.max_finite]  # fmt: skip


@points("aten::i0", "aten::special_i0", "aten::special_i1")
@points("aten::special_modified_bessel_i0", "aten::special_modified_bessel_i1")
def _bessel(fmt: Format) -> list[Number]:
    """I0 and I1 overflow, later than e^x; 8, where approximations change; small numbers."""
    return _both_signs([*BESSEL_OVERFLOW[fmt.name], ln(overflow(fmt)), 8.0, 2.0 ** -(fmt.precision // 2),
                        fmt.min_normal])  # fmt: skip


# --- Activations ------------------------------------------------------------------------------------------------------


@points("aten::gelu")
def _gelu(fmt: Format) -> list[Number]:
    """The minima, by erf and by tanh; the tail becomes subnormal, becomes zero; the result becomes x; x/2 near 0."""
    linear = _ROOT_2 * Decimal(INVERSE_ERFC[fmt.precision])
    return [-0.7517915246935645, -0.7524614220710163, *GELU_TAIL[fmt.name], *GELU_TANH_TAIL[fmt.name], linear,
            *_both_signs([fmt.min_subnormal, fmt.min_normal])]  # fmt: skip


@points("aten::silu", "aten::mish")
def _silu_mish(fmt: Format) -> list[Number]:
    """The minima of both; the tail becomes subnormal, becomes zero; the result becomes x; e^-x overflows."""
    linear = [-ln(below_one(fmt)), -ln(below_one(fmt)) / 2]
    return [-1.2784645427610737, -1.1924312145154952, *SILU_TAIL[fmt.name], *linear, *_both_signs([ln(overflow(fmt))]),
            *_both_signs([fmt.min_subnormal])]  # fmt: skip
