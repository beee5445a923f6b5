"""Domain edges of arithmetic, comparisons, rounding and casts."""

from __future__ import annotations

import math
from decimal import Decimal

from conform.inputs.edges.levels import above_one, overflow, spacing, underflow
from conform.inputs.edges.rows import Number, Row, comparisons, pairs, points
from conform.inputs.specials import rounded, with_neighbours
from conform.numerics.formats import FORMATS, Format

# --- Arithmetic -------------------------------------------------------------------------------------------------------


@pairs("aten::add")
def _add(fmt: Format) -> list[Row]:
    """Ties to even, both ways, and just off them; the last sum before infinity; cancellation; subnormal results."""
    if fmt.is_integer:
        return _wrapping(fmt)
    ulp, largest, tiny = spacing(fmt), fmt.max_finite, fmt.min_subnormal
    half, end = ulp / 2.0, 2.0 ** (fmt.emax - fmt.precision)
    return [(1.0, half), (1.0 + ulp, half), (1.0, half * (1.0 + ulp)), (1.0, half * (1.0 - half)), (1.0, -half / 2.0),
            (-1.0, -half), (2.0**fmt.precision, 1.0), (2.0**fmt.precision + 2.0, 1.0), (1.0, tiny), (1.0, -tiny),
            (largest, end), (largest, end * (1.0 - half)), (-largest, -end), (largest, largest), (largest, -largest),
            (1.0, -(1.0 - half)), (1.0 + ulp, -1.0), (fmt.min_normal, -tiny), (tiny, -tiny), (tiny, tiny)]  # fmt: skip


def _wrapping(fmt: Format) -> list[Row]:
    low, high = fmt.min_value, fmt.max_value
    return [(high, 1), (high, high), (low, -1), (low, low), (low, high), (high - 1, 1), (2**24, 1), (2**53, 1)]


@pairs("aten::mul")
def _mul(fmt: Format) -> list[Row]:
    """Ties to even, both ways; overflow and just not; subnormal products, ties among them; integers that wrap."""
    if fmt.is_integer:
        root = 2 ** (fmt.bits // 2)
        third = fmt.max_value // 3
        return [*_wrapping(fmt), (root, root), (root - 1, root + 1), (third, 3), (third + 1, 3)]
    ulp, largest, tiny, normal = spacing(fmt), fmt.max_finite, fmt.min_subnormal, fmt.min_normal
    big, small = 2.0 ** (fmt.emax // 2 + 1), 2.0 ** ((fmt.emin - fmt.precision) // 2)
    subnormal = normal - tiny  # the largest
    return [(1.5, 1.0 + ulp), (1.5, 1.0 + 3.0 * ulp), (1.0 + ulp, 1.0 + ulp), (1.0 - ulp / 2.0, 1.0 + ulp),
            (largest, 1.0 + ulp), (largest, 1.0 - ulp / 2.0), (big, big), (big, -big / 2.0), (largest, 2.0),
            (normal, 1.0 - ulp / 2.0), (normal, 1.0 - ulp), (normal, 0.5), (tiny, 0.5), (tiny, -0.5), (tiny, 1.5),
            (3.0 * tiny, 0.5), (tiny, 0.5 + ulp), (tiny, tiny), (small, small), (largest, tiny),
            (subnormal, 2.0), (-subnormal, 1.5), (subnormal, subnormal)]  # fmt: skip


@pairs("aten::div", "aten::remainder")
def _div(fmt: Format) -> list[Row]:
    """Exact integer quotients and the numbers next to them, all signs; overflow and subnormal quotients, ties too."""
    if fmt.is_integer:
        low, high = fmt.min_value, fmt.max_value
        return [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (-6, -3), (-1, high), (1, low), (high, high),
                (high, low), (low + 1, high), (high - 1, high), (low, 2), (low, low), (0, 5),
                (2**24 + 1, 1)]  # fmt: skip
    ulp, largest, tiny = spacing(fmt), fmt.max_finite, fmt.min_subnormal
    ends = [(tiny, 2.0), (3.0 * tiny, 2.0), (-tiny, 2.0), (tiny, 1.0 + ulp), (largest, 0.5), (largest, 1.0 - ulp / 2.0),
            (1.0, tiny), (1.0, largest), (fmt.min_normal, 2.0), (largest, largest), (1.0, 3.0), (-tiny, largest),
            (tiny, -largest), (1.0 - ulp / 2.0, 1.0 + ulp), (1.0, 3.0 * tiny), (fmt.min_normal * 1.5, fmt.min_normal),
            (5.0 * tiny, 3.0 * tiny), (-1.0, fmt.min_normal - tiny)]  # fmt: skip
    return [*_near_integer_quotients(fmt), *ends]


def _near_integer_quotients(fmt: Format) -> list[Row]:
    """Dividends at k times a divisor, rounded, and next to it. 1 // 0.1 is 9: the quotient rounds to 10."""
    divisors = [rounded(fmt, divisor) for divisor in (0.1, 3.0, -0.75)]
    products = [(factor * divisor, divisor) for divisor in divisors for factor in (1.0, -3.0, 10.0)]
    return [(dividend, divisor) for product, divisor in products for dividend in with_neighbours(fmt, product)]


# --- Comparisons ------------------------------------------------------------------------------------------------------


@comparisons
def _compared(fmt: Format) -> list[Row]:
    """Ties, and neighbours that a comparison in a narrower type takes for ties."""
    if fmt.is_integer:
        high = fmt.max_value
        return [(high, high), (high, high - 1), (high - 1, high), (fmt.min_value, fmt.min_value), (fmt.min_value, high),
                (2**24, 2**24 + 1), (2**53 + 1, 2**53), (7, 7)]  # fmt: skip
    ulp, tiny, largest = spacing(fmt), fmt.min_subnormal, fmt.max_finite
    return [(1.5, 1.5), (1.0, 1.0 + ulp), (1.0 + ulp, 1.0), (-1.0, -1.0 - ulp), (0.0, -0.0), (-0.0, 0.0), (0.0, tiny),
            (tiny, -tiny), (-tiny, -0.0), (largest, math.inf), (math.inf, math.inf), (-largest, -math.inf),
            (math.nan, math.nan), (math.nan, 1.0), (-math.inf, math.nan),
            (largest, largest * (1.0 - ulp / 2.0))]  # fmt: skip


# --- Rounding ---------------------------------------------------------------------------------------------------------


@points("aten::round")
def _round(fmt: Format) -> list[Number]:
    """Half-way cases to even, both ways and signs; results that are -0; the last numbers with a fraction."""
    last = 2.0 ** (fmt.precision - 2)  # numbers from here to its double are multiples of 1/2
    return [sign * x for x in (0.5, 1.5, 2.5, 3.5, last + 0.5, 2.0 * last - 0.5, 2.0 * last + 1.0) for sign in (1, -1)]


@points("aten::round.decimals")
def _round_decimals(fmt: Format, decimals: int) -> list[Number]:
    """Half-way cases (k + 1/2) / 10^decimals; x * 10^decimals overflows, or is no longer exact."""
    step = Decimal(10) ** -max(-400, min(decimals, 400))  # beyond float64's range nothing changes
    halves = [(k + Decimal("0.5")) * step for k in (0, 1, 2, 7, 28, 100, 267)]
    ends = [overflow(fmt) * step, step * 2 ** (fmt.precision - 1), step]
    return [sign * x for x in (*halves, *ends) for sign in (1, -1)]


# --- Pieces: where the one ends and the other begins -----------------------------------------------------------------


def _finite(*bounds: float | None) -> list[Number]:
    return [bound for bound in bounds if bound is not None and math.isfinite(bound)]


@points("aten::clamp")
def _clamp(fmt: Format, min: float | None, max: float | None) -> list[Number]:
    """The bounds."""
    return _finite(min, max)


@points("aten::clamp_min")
def _clamp_min(fmt: Format, min: float) -> list[Number]:
    """The bound."""
    return _finite(min)


@points("aten::clamp_max")
def _clamp_max(fmt: Format, max: float) -> list[Number]:
    """The bound."""
    return _finite(max)


@pairs("aten::clamp_min.Tensor", operands=("self", "min"))
def _clamp_min_tensor(fmt: Format) -> list[Row]:
    """Ties with the bound, and neighbours of it."""
    return _compared(fmt)


@pairs("aten::clamp_max.Tensor", operands=("self", "max"))
def _clamp_max_tensor(fmt: Format) -> list[Row]:
    """Ties with the bound, and neighbours of it."""
    return _compared(fmt)


@pairs("aten::clamp.Tensor", operands=("self", "min", "max"))
def _clamp_tensors(fmt: Format) -> list[Row]:
    """Ties with a bound, and neighbours of it; bounds that are equal, neighbours, the wrong way round, NaN."""
    rows = _compared(fmt)
    return [(x, *bounds) for x, y in rows for bounds in ((y, x), (x, y), (y, y))]


@points("aten::hardtanh")
def _hardtanh(fmt: Format, min_val: float, max_val: float) -> list[Number]:
    """The bounds."""
    return _finite(min_val, max_val)


@points("aten::relu6")
def _relu6(fmt: Format) -> list[Number]:
    """The bounds."""
    return [0.0, 6.0]


@points("aten::hardswish", "aten::hardsigmoid")
def _hard(fmt: Format) -> list[Number]:
    """The bounds; self / 6 + 1 / 2 becomes 1 / 2, where self * (self + 3) / 6 becomes self / 2."""
    return [-3.0, 3.0, *(sign * 3 * above_one(fmt) for sign in (1, -1))]


@points("aten::threshold")
def _threshold(fmt: Format, threshold: float) -> list[Number]:
    """The threshold."""
    return _finite(threshold)


@points("aten::softshrink", "aten::hardshrink")
def _shrink(fmt: Format, lambd: float) -> list[Number]:
    """The threshold of either sign: next to it softshrink cancels."""
    return _finite(lambd, -lambd)


# --- Casts ------------------------------------------------------------------------------------------------------------


@points("aten::_to_copy")
def _to_copy(fmt: Format, dtype: str | None) -> list[Number]:
    """Half-way cases of rounding to the target, and its range's ends from both sides."""
    target = FORMATS.get(dtype or fmt.name, fmt)
    if target.is_float:
        return _rounding_to(target)
    if target.is_integer:
        low, high = target.min_value, target.max_value
        halves = (0.5, -0.5, 1.5, -0.75, low + 0.5, high - 0.5, low - 0.5, high + 0.5)
        return [*halves, float(low), float(high), high + 1.0, high // 2 + 1.0, -1.0, 2.0**24 + 2.0]
    return [0.0, fmt.min_subnormal]


def _rounding_to(target: Format) -> list[Number]:
    half, end = above_one(target), underflow(target)
    near_1 = [1 + half, 1 + 3 * half, 1 - half / 2, 1 - 3 * half / 2]
    whole = [2**target.precision + odd for odd in (1, 3)]
    ends = [overflow(target), target.max_finite, end, 3 * end, target.min_normal - float(end), target.min_normal]
    return [sign * Decimal(x) for x in (*near_1, *whole, *ends) for sign in (1, -1)]
