"""Gradients of softmax and of the norms: the derivative's formula on exact reals, rounded once.

The saved results of the forward op (output, mean, rstd) are operands like the others, exact numbers as they are. A
result that depends on a NaN is NaN, and one that depends on an infinity but no NaN is open: none is documented.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isinf, isnan, nan, prod

from flint import arb

from conform.refs.exact.exponentials import LEAST_EXPONENT
from conform.refs.exact.reals import fraction_ball, round_exact, round_real, sum_exact
from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio, round_sqrt
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, groups, lines, wrap_dim
from conform.refs.references import reference

Element = float | Unspecified
Gradients = tuple[RefTensor | None, RefTensor | None, RefTensor | None]


def special_of(*numbers: float) -> Element | None:
    """What a result is that depends on these: NaN, open, or (None) a finite number."""
    if any(map(isnan, numbers)):
        return nan
    return UNSPECIFIED if any(map(isinf, numbers)) else None


def round_fraction(dtype: str, x: Fraction) -> float:
    return round_ratio(dtype, x.numerator, x.denominator)


def _check_floats(op: str, *tensors: RefTensor | None) -> None:
    for tensor in tensors:
        if tensor is not None and tensor.dtype not in FLOAT_FORMATS:
            raise ValueError(f"{op} is not defined for {tensor.dtype}")


def _check_shapes(**shapes: tuple[RefTensor | None, tuple[int, ...]]) -> None:
    for name, (tensor, shape) in shapes.items():
        if tensor is not None and tensor.shape != shape:
            raise ValueError(f"{name} is of shape {shape}, found {tensor.shape}")


# ---- softmax -----------------------------------------------------------------------------------------------------


def _along(
    op: str, grad_output: RefTensor, output: RefTensor, dim: int, input_dtype: str, line: Callable
) -> RefTensor:
    """`line(dtype, grads, outputs)` along the dim, in input_dtype: grad_output's, or half if that is float32."""
    _check_floats(op, grad_output, output)
    _check_shapes(output=(output, grad_output.shape))
    if grad_output.dtype != output.dtype:
        raise ValueError(f"{op} needs one dtype, found {grad_output.dtype} and {output.dtype}")
    halves = ("float16", "bfloat16") if output.dtype == "float32" else ()
    if input_dtype not in (output.dtype, *halves):
        raise ValueError(f"{op} of {output.dtype} has no input of {input_dtype}")
    data: list = [None] * len(output.data)
    for places in lines(output.shape, wrap_dim(dim, len(output.shape))):
        results = line(input_dtype, [grad_output.data[i] for i in places], [output.data[i] for i in places])
        for place, result in zip(places, results, strict=True):
            data[place] = result
    return RefTensor(input_dtype, output.shape, data)


@reference("aten::_softmax_backward_data")
def softmax_backward(grad_output: RefTensor, output: RefTensor, dim: int, input_dtype: str) -> RefTensor:
    """output_i * (grad_i - sum_j grad_j output_j), the product of grad_output and the Jacobian of softmax."""
    return _along("_softmax_backward_data", grad_output, output, dim, input_dtype, line=_softmax_line)


def _softmax_line(dtype: str, grads: list[float], outputs: list[float]) -> list[Element]:
    special = special_of(*grads, *outputs)
    if special is not None:
        return [special] * len(grads)
    pairs = [(Fraction(g), Fraction(y)) for g, y in zip(grads, outputs, strict=True)]
    total = sum((g * y for g, y in pairs), Fraction(0))
    return [round_fraction(dtype, y * (g - total)) for g, y in pairs]


@reference("aten::_log_softmax_backward_data")
def log_softmax_backward(grad_output: RefTensor, output: RefTensor, dim: int, input_dtype: str) -> RefTensor:
    """grad_i - e^output_i * sum_j grad_j; an output of -inf is the logarithm of 0."""
    return _along("_log_softmax_backward_data", grad_output, output, dim, input_dtype, line=_log_softmax_line)


def _log_softmax_line(dtype: str, grads: list[float], outputs: list[float]) -> list[Element]:
    """Each result depends on its own output and on all the gradients."""
    results = []
    for grad, output in zip(grads, outputs, strict=True):
        special = special_of(*grads, *([] if output == -inf else [output]))
        total = None if special is not None else sum(map(Fraction, grads), Fraction(0))
        results.append(special if total is None else _log_softmax_element(dtype, Fraction(grad), output, total))
    return results


def _log_softmax_element(dtype: str, grad: Fraction, output: float, total: Fraction) -> float:
    if total == 0 or output in (0, -inf):  # e^output is irrational of every other number (Lindemann)
        return round_fraction(dtype, grad - total if output == 0 else grad)
    exponent = arb(max(output, LEAST_EXPONENT))
    return round_real(dtype, lambda: fraction_ball(grad) - exponent.exp() * fraction_ball(total))


# ---- the norms ---------------------------------------------------------------------------------------------------


@dataclass
class _Standardized:
    """Positions of the elements that one mean and rstd standardized, and of each position its weight's number."""

    groups: list[list[int]]
    weight_of: Callable[[int], int]
    means: list[float]
    rstds: list[float]

    def of_weight(self, number: int) -> list[tuple[int, float, float]]:
        """Position, mean and rstd of every element that the weight was multiplied with."""
        rows = zip(self.groups, self.means, self.rstds, strict=True)
        return [(i, mean, rstd) for group, mean, rstd in rows for i in group if self.weight_of(i) == number]


def _grad_input(grad: RefTensor, input: RefTensor, weights: Sequence[float], parts: _Standardized) -> RefTensor:
    data: list = [None] * len(input.data)
    for places, mean, rstd in zip(parts.groups, parts.means, parts.rstds, strict=True):
        own = [(grad.data[i], weights[parts.weight_of(i)], input.data[i]) for i in places]
        for place, result in zip(places, _grad_inputs_of_group(input.dtype, own, mean, rstd), strict=True):
            data[place] = result
    return RefTensor(input.dtype, input.shape, data)


def _grad_inputs_of_group(
    dtype: str, elements: list[tuple[float, float, float]], mean: float, rstd: float
) -> list[Element]:
    """rstd * (g - mean(g) - z * mean(g z)) of g = grad * weight and z = (x - mean) * rstd."""
    special = special_of(mean, rstd, *(number for element in elements for number in element))
    if special is not None or not elements:
        return [special] * len(elements)
    scale, count = Fraction(rstd), len(elements)
    gs = [Fraction(grad) * Fraction(weight) for grad, weight, _ in elements]
    zs = [(Fraction(x) - Fraction(mean)) * scale for *_, x in elements]
    mean_g, mean_gz = sum(gs) / count, sum(g * z for g, z in zip(gs, zs, strict=True)) / count
    return [round_fraction(dtype, scale * (g - mean_g - z * mean_gz)) for g, z in zip(gs, zs, strict=True)]


def _grad_weight(grad: RefTensor, input: RefTensor, shape: tuple[int, ...], parts: _Standardized) -> RefTensor:
    """sum grad * (x - mean) * rstd over the elements of each weight."""
    data: list[Element] = []
    for number in range(prod(shape)):
        own = [(grad.data[i], input.data[i], mean, rstd) for i, mean, rstd in parts.of_weight(number)]
        special = special_of(*(number for element in own for number in element))
        if special is None:
            terms = (Fraction(g) * (Fraction(x) - Fraction(mean)) * Fraction(rstd) for g, x, mean, rstd in own)
            special = round_fraction(input.dtype, sum(terms, Fraction(0)))
        data.append(special)
    return RefTensor(input.dtype, shape, data)


def _grad_bias(grad: RefTensor, shape: tuple[int, ...], parts: _Standardized) -> RefTensor:
    """sum grad over the elements of each weight."""
    sums = [sum_exact([grad.data[i] for i, *_ in parts.of_weight(number)]) for number in range(prod(shape))]
    return RefTensor(grad.dtype, shape, [round_exact(grad.dtype, total) for total in sums])


@reference("aten::native_layer_norm_backward")
def native_layer_norm_backward(
    grad_out: RefTensor,
    input: RefTensor,
    normalized_shape: list[int],
    mean: RefTensor,
    rstd: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    output_mask: list[bool],
) -> Gradients:
    """Gradients of input, weight and bias that output_mask wants; None of the others, and where there is no operand."""
    inner = tuple(normalized_shape)
    leading = len(input.shape) - len(inner)
    _check_mask(output_mask)
    _check_one_dtype("native_layer_norm_backward", input, grad_out, weight, bias, mean=mean, rstd=rstd)
    if not inner or leading < 0 or input.shape[leading:] != inner:
        raise ValueError(f"normalized_shape {normalized_shape} is not the end of the input's shape {input.shape}")
    of_rows = input.shape[:leading] + (1,) * len(inner)
    _check_shapes(grad_out=(grad_out, input.shape), mean=(mean, of_rows), rstd=(rstd, of_rows))
    _check_shapes(weight=(weight, inner), bias=(bias, inner))
    size, rows = prod(inner), prod(of_rows)
    places = [list(range(row * size, (row + 1) * size)) for row in range(rows)]
    parts = _Standardized(places, lambda i: i % size, mean.data, rstd.data)
    weights = weight.data if weight else [1.0] * size
    return (
        _grad_input(grad_out, input, weights, parts) if output_mask[0] else None,
        _grad_weight(grad_out, input, inner, parts) if output_mask[1] and weight else None,
        _grad_bias(grad_out, inner, parts) if output_mask[2] and bias else None,
    )


@reference("aten::native_group_norm_backward")
def native_group_norm_backward(
    grad_out: RefTensor,
    input: RefTensor,
    mean: RefTensor,
    rstd: RefTensor,
    weight: RefTensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: list[bool],
) -> Gradients:
    """Gradients of input, weight and bias that output_mask wants, those of weight and bias (C,); None of the others."""
    _check_mask(output_mask)
    _check_one_dtype("native_group_norm_backward", input, grad_out, weight, mean=mean, rstd=rstd)
    if prod(input.shape) != N * C * HxW or group <= 0 or C % group:
        raise ValueError(f"{input.shape} is not N, C, HxW = {N}, {C}, {HxW} in {group} groups")
    of_groups = (N, group)
    _check_shapes(mean=(mean, of_groups), rstd=(rstd, of_groups))
    _check_shapes(grad_out=(grad_out, input.shape), weight=(weight, (C,)))
    size = C // group * HxW
    places = [list(range(row * size, (row + 1) * size)) for row in range(N * group)]
    parts = _Standardized(places, lambda i: i // HxW % C, mean.data, rstd.data)
    return _gradients(grad_out, input, weight, C, parts, output_mask)


def _gradients(
    grad: RefTensor, input: RefTensor, weight: RefTensor | None, channels: int, parts: _Standardized, mask: list[bool]
) -> Gradients:
    """With gradients of weight and bias (channels,) whether there is a weight or not."""
    weights = weight.data if weight else [1.0] * channels
    return (
        _grad_input(grad, input, weights, parts) if mask[0] else None,
        _grad_weight(grad, input, (channels,), parts) if mask[1] else None,
        _grad_bias(grad, (channels,), parts) if mask[2] else None,
    )


def _check_mask(output_mask: list[bool]) -> None:
    if len(output_mask) != 3:
        raise ValueError(f"output_mask speaks of three gradients, found {output_mask}")


def _check_one_dtype(op: str, input: RefTensor, *others: RefTensor | None, **statistics: RefTensor | None) -> None:
    """ValueError unless all are floats; NotImplementedError where operands other than statistics differ in dtype."""
    _check_floats(op, input, *others, *statistics.values())
    for other in others:
        if other is not None and other.dtype != input.dtype:
            raise NotImplementedError(f"the reference of {op} is of one dtype, found {input.dtype}, {other.dtype}")


# ---- batch norm --------------------------------------------------------------------------------------------------


@reference("aten::native_batch_norm_backward")
def native_batch_norm_backward(
    grad_out: RefTensor,
    input: RefTensor,
    weight: RefTensor | None,
    running_mean: RefTensor | None,
    running_var: RefTensor | None,
    save_mean: RefTensor | None,
    save_invstd: RefTensor | None,
    train: bool,
    eps: float,
    output_mask: list[bool],
) -> Gradients:
    """By train with the batch's save_mean and save_invstd, else with 1 / sqrt(running_var + eps), constants then."""
    op = "native_batch_norm_backward"
    _check_mask(output_mask)
    statistics = (save_mean, save_invstd) if train else (running_mean, running_var)
    if None in statistics or len(input.shape) < 2:
        raise ValueError(f"{op} needs an input of rank 2, found {input.shape}, and statistics for train={train}")
    _check_one_dtype(op, input, grad_out, weight, mean=statistics[0], scale=statistics[1])
    channels = input.shape[1]
    of = {f"{name}": (tensor, (channels,)) for name, tensor in zip(("mean", "scale"), statistics, strict=True)}
    _check_shapes(grad_out=(grad_out, input.shape), weight=(weight, (channels,)), **of)
    size = prod(input.shape[2:])
    places = groups(input.shape, [dim for dim in range(len(input.shape)) if dim != 1])
    parts = _Standardized(places, lambda i: i // size % channels, statistics[0].data, statistics[1].data)
    if train:
        return _gradients(grad_out, input, weight, channels, parts, output_mask)
    weights = weight.data if weight else [1.0] * channels
    return (
        _grad_input_by_constants(grad_out, input, weights, parts, eps) if output_mask[0] else None,
        _grad_weight_by_constants(grad_out, input, parts, eps) if output_mask[1] else None,
        _grad_bias(grad_out, (channels,), parts) if output_mask[2] else None,
    )


def _grad_input_by_constants(
    grad: RefTensor, input: RefTensor, weights: list[float], parts: _Standardized, eps: float
) -> RefTensor:
    """grad * weight / sqrt(variance + eps) of each element."""
    data: list = [None] * len(input.data)
    for places, weight, variance in zip(parts.groups, weights, parts.rstds, strict=True):
        for i in places:
            special = special_of(grad.data[i], weight, variance)
            data[i] = special
            if special is None:
                factor = Fraction(grad.data[i]) * Fraction(weight)
                data[i] = _over_root(input.dtype, factor, Fraction(variance) + Fraction(eps))
    return RefTensor(input.dtype, input.shape, data)


def _grad_weight_by_constants(grad: RefTensor, input: RefTensor, parts: _Standardized, eps: float) -> RefTensor:
    """sum grad * (x - mean) / sqrt(variance + eps) over each channel."""
    data: list[Element] = []
    for places, mean, variance in zip(parts.groups, parts.means, parts.rstds, strict=True):
        result = special_of(mean, variance, *(tensor.data[i] for tensor in (grad, input) for i in places))
        if result is None:
            terms = (Fraction(grad.data[i]) * (Fraction(input.data[i]) - Fraction(mean)) for i in places)
            result = _over_root(input.dtype, sum(terms, Fraction(0)), Fraction(variance) + Fraction(eps))
        data.append(result)
    return RefTensor(input.dtype, (len(data),), data)


def _over_root(dtype: str, x: Fraction, square: Fraction) -> Element:
    """x / sqrt(square): open of a zero (P63), NaN of a negative one."""
    if square <= 0:
        return nan if square < 0 else UNSPECIFIED
    quotient = x * x / square
    magnitude = round_sqrt(dtype, quotient.numerator, quotient.denominator)
    return -magnitude if x < 0 else magnitude
