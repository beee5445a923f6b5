"""group_norm, batch_norm and rms_norm: the documented formula on exact reals, rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, isinf, isnan, nan, prod

from conform.refs.exact.promotion import COMPLEX, category
from conform.refs.exact.reals import Exact, add_exact, exact, multiply_exact
from conform.refs.exact.rounding import FLOAT_FORMATS
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, groups
from conform.refs.normalization.standardized import (
    mean_square_statistics,
    normalize,
    round_rstd,
    scalar_statistics,
    special_output,
    statistics_of,
)
from conform.refs.reduction.statistics import round_mean
from conform.refs.references import reference


def _check(op: str, input: RefTensor, eps: float, shape: tuple[int, ...], **operands: RefTensor | None) -> None:
    """ValueError for an input that is not of floats, or an operand that is not of floats and of `shape`."""
    if category(input.dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {input.dtype}")
    if input.dtype not in FLOAT_FORMATS or not isfinite(eps):
        raise ValueError(f"{op} of {input.dtype} with eps={eps}")
    for name, operand in operands.items():
        if operand is not None and (operand.dtype not in FLOAT_FORMATS or operand.shape != shape):
            raise ValueError(f"{op} needs a {name} of floats of shape {shape}, found {operand.dtype} {operand.shape}")


def _statistics_dtype(dtype: str) -> str:
    """The dtype of the mean and rstd: float32 for half inputs (P36, P62)."""
    return dtype if dtype in ("float32", "float64") else "float32"


def _mean_and_rstd(dtype: str, values: list[float], eps: float) -> tuple[float | Unspecified, float | Unspecified]:
    """The mean of a row and 1 / sqrt(biased variance + eps), which are open if it holds an infinity (P40, P62)."""
    if any(map(isinf, values)):
        return UNSPECIFIED, UNSPECIFIED
    return round_mean(dtype, values), round_rstd(dtype, statistics_of(values, eps))


# ---- group_norm --------------------------------------------------------------------------------------------------


@reference("aten::native_group_norm")
def native_group_norm(
    input: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[RefTensor, RefTensor, RefTensor]:
    """(x - mean) * rstd * weight + bias over each sample's groups of C / group channels; mean and rstd (N, group)."""
    _check("native_group_norm", input, eps, (C,), weight=weight, bias=bias)
    if prod(input.shape) != N * C * HxW:
        raise ValueError(f"input of shape {input.shape} does not have N * C * HxW = {N} * {C} * {HxW} elements")
    if group <= 0 or C % group:
        raise ValueError(f"{C} channels do not make {group} groups")
    weights = weight.data if weight else [1.0] * C
    biases = bias.data if bias else [0.0] * C
    dtype, size = _statistics_dtype(input.dtype), C // group * HxW
    outs, means, rstds = [], [], []
    for row in range(N * group):
        values = input.data[row * size : (row + 1) * size]
        channels = [row % group * (C // group) + i // HxW for i in range(size)]
        row_weights, row_biases = [weights[c] for c in channels], [biases[c] for c in channels]
        outs += normalize(input.dtype, values, statistics_of(values, eps), row_weights, row_biases)
        mean, rstd = _mean_and_rstd(dtype, values, eps)
        means.append(mean)
        rstds.append(rstd)
    shape = (N, group)
    return RefTensor(input.dtype, input.shape, outs), RefTensor(dtype, shape, means), RefTensor(dtype, shape, rstds)


# ---- batch_norm --------------------------------------------------------------------------------------------------


def check_batch(input: RefTensor, eps: float, **operands: RefTensor | None) -> int:
    """The number of channels, the size of dim 1, which every operand has."""
    if len(input.shape) < 2:
        raise ValueError(f"batch norm needs an input of rank 2 or more, found shape {input.shape}")
    channels = input.shape[1]
    _check("batch norm", input, eps, (channels,), **operands)
    return channels


def channel_groups(input: RefTensor) -> list[list[int]]:
    """Positions of each channel's elements."""
    return groups(input.shape, [dim for dim in range(len(input.shape)) if dim != 1])


@reference("aten::_native_batch_norm_legit.no_stats")
def batch_norm_of_the_batch(
    input: RefTensor, weight: RefTensor | None, bias: RefTensor | None, training: bool, momentum: float, eps: float
) -> tuple[RefTensor, RefTensor, RefTensor]:
    """(x - mean) * rstd * weight + bias over each channel, mean and rstd (C,). momentum is for running statistics."""
    channels = check_batch(input, eps, weight=weight, bias=bias)
    if not training or not input.data:
        raise ValueError(f"no_stats needs training=True and elements (P63), found {training} and {input.shape}")
    dtype = _statistics_dtype(input.dtype)
    outs, means, rstds = list(input.data), [], []
    for channel, places in enumerate(channel_groups(input)):
        values = [input.data[i] for i in places]
        weights = [weight.data[channel] if weight else 1.0] * len(values)
        biases = [bias.data[channel] if bias else 0.0] * len(values)
        normalized = normalize(input.dtype, values, statistics_of(values, eps), weights, biases)
        for i, out in zip(places, normalized, strict=True):
            outs[i] = out
        mean, rstd = _mean_and_rstd(dtype, values, eps)
        means.append(mean)
        rstds.append(rstd)
    shape = (channels,)
    return RefTensor(input.dtype, input.shape, outs), RefTensor(dtype, shape, means), RefTensor(dtype, shape, rstds)


@reference("aten::_native_batch_norm_legit_no_training")
def batch_norm_by_running_statistics(
    input: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    running_mean: RefTensor,
    running_var: RefTensor,
    momentum: float,
    eps: float,
) -> tuple[RefTensor, RefTensor, RefTensor]:
    """(x - running_mean) / sqrt(running_var + eps) * weight + bias by channel; the further outputs are empty (P63)."""
    check_batch(input, eps, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    outs = list(input.data)
    for channel, places in enumerate(channel_groups(input)):
        mean, variance = running_mean.data[channel], running_var.data[channel]
        w, b = weight.data[channel] if weight else 1.0, bias.data[channel] if bias else 0.0
        for i in places:
            outs[i] = _normalize_one(
                input.dtype, input.data[i], mean=mean, variance=variance, eps=eps, weight=w, bias=b
            )
    dtype = _statistics_dtype(input.dtype)
    return RefTensor(input.dtype, input.shape, outs), RefTensor(dtype, (0,), []), RefTensor(dtype, (0,), [])


def _normalize_one(
    dtype: str, x: float, mean: float, variance: float, eps: float, weight: float, bias: float
) -> float | Unspecified:
    deviation = add_exact(exact(x), exact(-mean))
    if isfinite(variance) and Fraction(variance) + Fraction(eps) == 0:
        return UNSPECIFIED  # P63
    if isfinite(variance) and not isinstance(deviation, float):
        statistics = scalar_statistics(deviation, Fraction(variance) + Fraction(eps))
        return normalize(dtype, [x], statistics, [weight], [bias])[0]
    return special_output(dtype, multiply_exact(deviation, _rstd_class(variance, eps)), weight, bias)


def _rstd_class(variance: float, eps: float) -> Exact:
    """1 / sqrt(variance + eps) where only its class matters: NaN, zero, or a positive number."""
    if not isfinite(variance):
        return (0, 0) if variance == inf else nan
    return (1, 0) if Fraction(variance) + Fraction(eps) > 0 else nan


# ---- rms_norm ----------------------------------------------------------------------------------------------------


def _rms_norm(
    input: RefTensor, normalized_shape: list[int], weight: RefTensor | None, eps: float | None
) -> tuple[RefTensor, RefTensor]:
    """x * rstd * weight and rstd = 1 / sqrt(mean(x^2) + eps) over the last dims; eps None is the dtype's (P64)."""
    inner = tuple(normalized_shape)
    leading = len(input.shape) - len(inner)
    _check("rms_norm", input, 0.0 if eps is None else eps, inner, weight=weight)
    if not inner or leading < 0 or input.shape[leading:] != inner:
        raise ValueError(f"normalized_shape {normalized_shape} is not the end of the input's shape {input.shape}")
    if eps is None:
        eps = 2.0 ** (1 - FLOAT_FORMATS[input.dtype].precision)
    size, dtype = prod(inner), _statistics_dtype(input.dtype)
    weights = weight.data if weight else [1.0] * size
    outs, rstds = [], []
    for row in range(prod(input.shape[:leading])):
        values = input.data[row * size : (row + 1) * size]
        if inf in map(abs, values) and not any(map(isnan, values)):  # the mean square is infinite, rstd 0
            vanishing = [multiply_exact(exact(x), (0, 0)) for x in values]
            outs += [special_output(input.dtype, x, w, 0.0) for x, w in zip(vanishing, weights, strict=True)]
            rstds.append(0.0)
        else:
            statistics = mean_square_statistics(values, eps)
            outs += normalize(input.dtype, values, statistics, weights, [0.0] * size)
            rstds.append(round_rstd(dtype, statistics))
    shape = input.shape[:leading] + (1,) * len(inner)
    return RefTensor(input.dtype, input.shape, outs), RefTensor(dtype, shape, rstds)


@reference("aten::rms_norm")
def rms_norm(
    input: RefTensor, normalized_shape: list[int], weight: RefTensor | None = None, eps: float | None = None
) -> RefTensor:
    """x / sqrt(mean(x^2) + eps) * weight over the last dims."""
    return _rms_norm(input, normalized_shape, weight, eps)[0]


@reference("aten::_fused_rms_norm")
def fused_rms_norm(
    input: RefTensor, normalized_shape: list[int], weight: RefTensor | None, eps: float | None
) -> tuple[RefTensor, RefTensor]:
    """rms_norm, and 1 / sqrt(mean(x^2) + eps) of each row with the leading dims and then ones."""
    return _rms_norm(input, normalized_shape, weight, eps)
