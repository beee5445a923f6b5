"""softmax and layer norm: the documented formula on exact reals, rounded once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isinf, isqrt, nan, prod

from flint import arb

from conform.refs.reals import (
    Exact,
    add_exact,
    exact,
    multiply_exact,
    round_balls,
    round_exact,
    scale_to_integers,
    sum_exact,
)
from conform.refs.registry import reference
from conform.refs.rounding import FLOAT_FORMATS, round_number, round_ratio, round_sqrt
from conform.refs.tensor import UNSPECIFIED, RefTensor, lines, wrap_dim


@reference("aten::_softmax")
def softmax(self: RefTensor, dim: int, half_to_float: bool) -> RefTensor:
    """exp(x_i - max) / sum_j exp(x_j - max) along `dim`; half_to_float gives a half input a float32 result."""
    if self.dtype not in FLOAT_FORMATS or (half_to_float and self.dtype not in ("float16", "bfloat16")):
        raise ValueError(f"_softmax of {self.dtype} with half_to_float={half_to_float}")
    dtype = "float32" if half_to_float else self.dtype
    data = list(self.data)
    for line in lines(self.shape, wrap_dim(dim, len(self.shape))):
        for position, value in zip(line, _softmax_line(dtype, [self.data[i] for i in line]), strict=True):
            data[position] = value
    return RefTensor(dtype, self.shape, data)


def _softmax_line(dtype: str, values: list[float]) -> list[float]:
    if not values:
        return []
    greatest = max(values)
    if any(x != x or x == inf for x in values) or greatest == -inf:
        return [nan] * len(values)
    finite = [x for x in values if x != -inf]
    if set(finite) == {greatest}:  # the one case of rational quotients (Lindemann-Weierstrass)
        share = round_ratio(dtype, 1, len(finite))
        return [0.0 if x == -inf else share for x in values]
    # Below max - 2048 a power is less than e^-2048 < 2^-2900: its share rounds to 0 in every format.
    near = [x for x in finite if x >= greatest - 2048]
    far_count = len(finite) - len(near)

    def shares() -> list[arb]:
        powers = {x: (arb(x) - arb(greatest)).exp() for x in set(near)}
        total = sum((powers[x] for x in near), arb(0, far_count * arb(2) ** -2900))
        return [powers[x] / total for x in near]

    rounded = dict(zip(near, round_balls(dtype, shares), strict=True))
    return [rounded.get(x, 0.0) for x in values]


@reference("aten::native_layer_norm")
def native_layer_norm(
    input: RefTensor,
    normalized_shape: list[int],
    weight: RefTensor | None,
    bias: RefTensor | None,
    eps: float,
) -> tuple[RefTensor, RefTensor, RefTensor]:
    """(x - mean) * rstd * weight + bias over the last dims, mean, and rstd = 1 / sqrt(biased variance + eps).

    mean and rstd have the leading dims and then ones; for half inputs they are float32 (P36). Those of a row with an
    infinity are UNSPECIFIED (P40).
    """
    inner = tuple(normalized_shape)
    leading = len(input.shape) - len(inner)
    if input.dtype not in FLOAT_FORMATS or not isfinite(eps):
        raise ValueError(f"native_layer_norm of {input.dtype} with eps={eps}")
    if not inner or leading < 0 or input.shape[leading:] != inner:
        raise ValueError(f"normalized_shape {normalized_shape} is not the end of the input's shape {input.shape}")
    for name, operand in (("weight", weight), ("bias", bias)):
        if operand is not None and operand.shape != inner:
            raise ValueError(f"{name} of shape {operand.shape} does not have normalized_shape {normalized_shape}")
    count = prod(inner)
    weights = weight.data if weight else [1.0] * count
    biases = bias.data if bias else [0.0] * count
    statistics_dtype = input.dtype if input.dtype in ("float32", "float64") else "float32"
    outs, means, rstds = [], [], []
    for row in range(prod(input.shape[:leading])):
        values = input.data[row * count : (row + 1) * count]
        statistics = _statistics(values, eps)
        has_infinity = any(map(isinf, values))  # P40
        means.append(UNSPECIFIED if has_infinity else _round_mean(statistics_dtype, values))
        rstds.append(UNSPECIFIED if has_infinity else _round_rstd(statistics_dtype, statistics))
        outs += _normalize(input.dtype, values, statistics, weights, biases)
    shape = input.shape[:leading] + (1,) * len(inner)
    return (
        RefTensor(input.dtype, input.shape, outs),
        RefTensor(statistics_dtype, shape, means),
        RefTensor(statistics_dtype, shape, rstds),
    )


@dataclass
class _Statistics:
    """A row of finite values, exactly.

    x_i - mean = deviations[i] * 2^exponent / count, and variance + eps = numerator / denominator.
    """

    count: int
    deviations: list[int]
    exponent: int
    numerator: int
    denominator: int


def _statistics(values: list[float], eps: float) -> _Statistics | None:
    """None where the variance is NaN: an empty row, or one with an infinity (inf - inf) or NaN."""
    if not values or not all(map(isfinite, values)):
        return None
    count = len(values)
    integers, exponent = scale_to_integers(values)
    total = sum(integers)
    deviations = [count * x - total for x in integers]  # of x - mean, scaled by count
    eps_numerator, eps_denominator = float(eps).as_integer_ratio()
    squares = sum(d * d for d in deviations)  # the biased variance is squares * 2^(2 exponent) / count^3
    up, down = 1 << max(2 * exponent, 0), 1 << max(-2 * exponent, 0)
    numerator = squares * up * eps_denominator + eps_numerator * count**3 * down
    return _Statistics(count, deviations, exponent, numerator, count**3 * down * eps_denominator)


def _round_mean(dtype: str, values: list[float]) -> float:
    """The mean of finite values and NaNs."""
    total = sum_exact(values)
    if isinstance(total, float) or not values:
        return nan
    m, e = total
    return round_ratio(dtype, m << max(e, 0), len(values) << max(-e, 0)) if m else 0.0


def _round_rstd(dtype: str, statistics: _Statistics | None) -> float:
    if statistics is None or statistics.numerator < 0:
        return nan
    if statistics.numerator == 0:
        return inf
    return round_sqrt(dtype, statistics.denominator, statistics.numerator)


def _normalize(
    dtype: str, values: list[float], statistics: _Statistics | None, weights: list[float], biases: list[float]
) -> list[float]:
    """The outputs of one row: NaN and infinities, then the rational ones, and by balls those that are irrational.

    The product is irrational unless it is 0 or variance + eps is the square of a rational.
    """
    if statistics is None or statistics.numerator < 0:
        return [nan] * len(values)
    rational_rstd = _rational_rstd(statistics)
    outputs: list[float | None] = []
    for deviation, weight, bias in zip(statistics.deviations, weights, biases, strict=True):
        if statistics.numerator == 0 or not isfinite(weight) or not isfinite(bias):
            outputs.append(_special_output(dtype, statistics, deviation, weight, bias))
        elif deviation == 0 or weight == 0:
            outputs.append(round_number(dtype, bias))
        elif rational_rstd is not None:
            output = Fraction(weight) * deviation * rational_rstd + Fraction(bias)
            outputs.append(round_ratio(dtype, output.numerator, output.denominator))
        else:
            outputs.append(None)
    open_indices = [i for i, output in enumerate(outputs) if output is None]
    rounded = round_balls(dtype, lambda: _irrational_outputs(statistics, weights, biases, open_indices))
    for i, output in zip(open_indices, rounded, strict=True):
        outputs[i] = output
    return outputs


def _rational_rstd(statistics: _Statistics) -> Fraction | None:
    """2^exponent / count / sqrt(variance + eps), what a deviation is multiplied by, if it is a rational number."""
    numerator, denominator = statistics.numerator, statistics.denominator
    root = isqrt(numerator * denominator)
    if root == 0 or root * root != numerator * denominator:
        return None
    return Fraction(denominator, root * statistics.count) * Fraction(2) ** statistics.exponent


def _special_output(dtype: str, statistics: _Statistics, deviation: int, weight: float, bias: float) -> float:
    """Where rstd is infinite, or the weight or bias is not finite: NaN or an infinity, so only signs matter."""
    normalized: Exact = (deviation, 0)
    if statistics.numerator == 0:
        normalized = multiply_exact(normalized, inf)
    total = add_exact(multiply_exact(normalized, exact(weight)), exact(bias))
    return round_exact(dtype, total)


def _irrational_outputs(
    statistics: _Statistics, weights: list[float], biases: list[float], indices: list[int]
) -> list[arb]:
    """deviation * 2^exponent / count / sqrt(variance + eps) * weight + bias."""
    up, down = 2 * max(statistics.exponent, 0), 2 * max(-statistics.exponent, 0)
    ratio = arb(statistics.denominator << up) / arb(statistics.numerator * statistics.count**2 << down)
    rstd = ratio.sqrt()
    return [arb(statistics.deviations[i]) * rstd * arb(weights[i]) + arb(biases[i]) for i in indices]
