"""The norms and softmax by the names that people call: the native ops, of which they give the first result."""

from __future__ import annotations

from math import inf, prod

from conform.refs.exact.promotion import converted
from conform.refs.exact.tensor import RefTensor, lines, wrap_dim
from conform.refs.normalization.softmax import log_softmax, native_layer_norm, softmax
from conform.refs.normalization.standardization import native_group_norm
from conform.refs.references import reference


@reference("aten::softmax.int", "aten::special_softmax")
def softmax_int(self: RefTensor, dim: int, dtype: str | None = None) -> RefTensor:
    """_softmax of self, first converted to the dtype."""
    return softmax(_converted(self, dtype), dim, half_to_float=False)


@reference("aten::_safe_softmax")
def safe_softmax(self: RefTensor, dim: int, dtype: str | None = None) -> RefTensor:
    """_softmax of self, first converted to the dtype; of a line of self that is nothing but -inf all zeros (P216)."""
    result = softmax(_converted(self, dtype), dim, half_to_float=False)
    for line in lines(self.shape, wrap_dim(dim, len(self.shape))):
        if all(self.data[place] == -inf for place in line):
            for place in line:
                result.data[place] = 0.0
    return result


@reference("aten::log_softmax.int", "aten::special_log_softmax")
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
