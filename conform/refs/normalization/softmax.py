"""softmax, log_softmax and layer norm: the documented formula on exact reals, rounded once."""

from __future__ import annotations

from math import inf, isfinite, isinf, nan, prod

from flint import arb

from conform.refs.exact.exponentials import log_sum_exp_above
from conform.refs.exact.reals import round_balls
from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, lines, wrap_dim
from conform.refs.normalization.standardized import normalize, round_rstd, statistics_of
from conform.refs.reduction.statistics import round_mean
from conform.refs.references import reference


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


@reference("aten::_log_softmax")
def log_softmax(self: RefTensor, dim: int, half_to_float: bool) -> RefTensor:
    """x_i - max - log(sum_j exp(x_j - max)) along `dim`; half_to_float gives a half input a float32 result."""
    if self.dtype not in FLOAT_FORMATS or (half_to_float and self.dtype not in ("float16", "bfloat16")):
        raise ValueError(f"_log_softmax of {self.dtype} with half_to_float={half_to_float}")
    dtype = "float32" if half_to_float else self.dtype
    data = list(self.data)
    for line in lines(self.shape, wrap_dim(dim, len(self.shape))):
        for position, value in zip(line, _log_softmax_line(dtype, [self.data[i] for i in line]), strict=True):
            data[position] = value
    return RefTensor(dtype, self.shape, data)


def _log_softmax_line(dtype: str, values: list[float]) -> list[float]:
    """A row with NaN, inf, or -inf alone is NaN (P53). Rational only where one element is finite: log 1 = 0."""
    finite = [x for x in values if isfinite(x)]
    if not finite or any(x != x or x == inf for x in values):
        return [nan] * len(values)
    if len(finite) == 1:
        return [0.0 if isfinite(x) else -inf for x in values]
    distinct = sorted(set(finite))

    def logarithms() -> list[arb]:
        above = log_sum_exp_above(finite)
        return [arb(x) - arb(distinct[-1]) - above for x in distinct]

    rounded = dict(zip(distinct, round_balls(dtype, logarithms), strict=True))
    return [rounded.get(x, -inf) for x in values]


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
    infinity, or of no elements, are UNSPECIFIED (P40).
    """
    inner = tuple(normalized_shape)
    leading = len(input.shape) - len(inner)
    if input.dtype not in FLOAT_FORMATS or not isfinite(eps):
        raise ValueError(f"native_layer_norm of {input.dtype} with eps={eps}")
    if not inner or leading < 0 or input.shape[leading:] != inner:
        raise ValueError(f"normalized_shape {normalized_shape} is not the end of the input's shape {input.shape}")
    for name, operand in (("weight", weight), ("bias", bias)):
        if operand is not None and (operand.dtype not in FLOAT_FORMATS or operand.shape != inner):
            found = f"{operand.dtype} {operand.shape}"
            raise ValueError(f"{name} is of floats and of normalized_shape {normalized_shape}, found {found}")
    count = prod(inner)
    weights = weight.data if weight else [1.0] * count
    biases = bias.data if bias else [0.0] * count
    statistics_dtype = input.dtype if input.dtype in ("float32", "float64") else "float32"
    outs, means, rstds = [], [], []
    for row in range(prod(input.shape[:leading])):
        values = input.data[row * count : (row + 1) * count]
        statistics = statistics_of(values, eps)
        is_open = not values or any(map(isinf, values))  # P40
        means.append(UNSPECIFIED if is_open else round_mean(statistics_dtype, values))
        rstds.append(UNSPECIFIED if is_open else round_rstd(statistics_dtype, statistics))
        outs += normalize(input.dtype, values, statistics, weights, biases)
    shape = input.shape[:leading] + (1,) * len(inner)
    return (
        RefTensor(input.dtype, input.shape, outs),
        RefTensor(statistics_dtype, shape, means),
        RefTensor(statistics_dtype, shape, rstds),
    )
