"""The norms and softmax by the names that people call: the native ops, of which they give the first result."""

from __future__ import annotations

from math import prod

from conform.refs.exact.promotion import converted
from conform.refs.exact.rounding import FLOAT_FORMATS
from conform.refs.exact.tensor import RefTensor
from conform.refs.normalization.softmax import log_softmax, native_layer_norm, softmax
from conform.refs.normalization.standardization import (
    batch_norm_by_running_statistics,
    batch_norm_of_the_batch,
    native_group_norm,
)
from conform.refs.references import reference

BatchNorm = tuple[RefTensor, RefTensor, RefTensor]


@reference("aten::softmax.int")
def softmax_int(self: RefTensor, dim: int, dtype: str | None = None) -> RefTensor:
    """_softmax of self, first converted to the dtype."""
    return softmax(_converted(self, dtype), dim, half_to_float=False)


@reference("aten::log_softmax.int")
def log_softmax_int(self: RefTensor, dim: int, dtype: str | None = None) -> RefTensor:
    """_log_softmax of self, first converted to the dtype."""
    return log_softmax(_converted(self, dtype), dim, half_to_float=False)


def _converted(self: RefTensor, dtype: str | None) -> RefTensor:
    return self if dtype is None else RefTensor(dtype, self.shape, converted(self, dtype))


@reference("aten::layer_norm")
def layer_norm(
    input: RefTensor,
    normalized_shape: list[int],
    weight: RefTensor | None = None,
    bias: RefTensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> RefTensor:
    """The first result of native_layer_norm."""
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


@reference("aten::group_norm")
def group_norm(
    input: RefTensor,
    num_groups: int,
    weight: RefTensor | None = None,
    bias: RefTensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> RefTensor:
    """The first result of native_group_norm of an input (N, C, *)."""
    if len(input.shape) < 2:
        raise ValueError(f"group_norm needs an input of rank 2 or more, found shape {input.shape}")
    (batch, channels), size = input.shape[:2], prod(input.shape[2:])
    return native_group_norm(input, weight, bias, N=batch, C=channels, HxW=size, group=num_groups, eps=eps)[0]


# ---- batch norm --------------------------------------------------------------------------------------------------


@reference("aten::native_batch_norm", "aten::_native_batch_norm_legit")
def native_batch_norm(
    input: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    running_mean: RefTensor | None,
    running_var: RefTensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> BatchNorm:
    """By the batch's own statistics if training, else by the running ones, with empty further outputs (P63).

    The running statistics that training changes are not among the results: `functional_batch_norm` has them.
    """
    if training:
        _check_running(input, running_mean, running_var)
        return batch_norm_of_the_batch(input, weight, bias, training=True, momentum=momentum, eps=eps)
    if running_mean is None or running_var is None:
        raise ValueError("batch norm without training needs running statistics")
    return batch_norm_by_running_statistics(input, weight, bias, running_mean, running_var, momentum, eps)


def _check_running(input: RefTensor, *statistics: RefTensor | None) -> None:
    for statistic in statistics:
        if statistic is not None and (statistic.shape != input.shape[1:2] or statistic.dtype not in FLOAT_FORMATS):
            raise ValueError(f"a running statistic of {input.shape} is of {statistic.dtype} {statistic.shape}")


@reference("aten::batch_norm")
def batch_norm(
    input: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    running_mean: RefTensor | None,
    running_var: RefTensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> RefTensor:
    """The first result of native_batch_norm."""
    return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@reference("aten::instance_norm")
def instance_norm(
    input: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    running_mean: RefTensor | None,
    running_var: RefTensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> RefTensor:
    """Batch norm of each sample by itself; without use_input_stats by the running statistics, as batch norm."""
    if len(input.shape) < 2:
        raise ValueError(f"instance_norm needs an input of rank 2 or more, found shape {input.shape}")
    if not use_input_stats:
        return batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, cudnn_enabled)
    _check_running(input, running_mean, running_var)
    channels = input.shape[1]
    return group_norm(input, channels, weight, bias, eps)
