"""Sums with what is above zero in them alone, and convolutions of sequences in the order of their times."""

from __future__ import annotations

from conform.refs.contraction.convolution import convolution
from conform.refs.contraction.matrices import addmm
from conform.refs.elementwise.arithmetic import add
from conform.refs.exact.promotion import FLOAT, Scalar, category
from conform.refs.exact.tensor import RefTensor, Unspecified, rearranged
from conform.refs.references import reference


@reference("aten::_addmm_activation")
def addmm_activation(
    self: RefTensor, mat1: RefTensor, mat2: RefTensor, beta: Scalar = 1, alpha: Scalar = 1, use_gelu: bool = False
) -> RefTensor:
    """max(0, beta self + alpha mat1 mat2)"""
    if use_gelu:
        raise NotImplementedError("a gelu that is documented nowhere")
    return _rectified(addmm(self, mat1, mat2, beta, alpha))


@reference("aten::_add_relu.Tensor", "aten::_add_relu.Scalar")
def add_relu(self: RefTensor, other: RefTensor | Scalar, alpha: Scalar = 1) -> RefTensor:
    """max(0, self + alpha other)"""
    if isinstance(other, RefTensor) and other.dtype != self.dtype:
        raise ValueError(f"_add_relu of {self.dtype} and {other.dtype}")
    total = add(self, other, alpha)
    if total.dtype != self.dtype:
        raise ValueError(f"_add_relu of {self.dtype} with a result of {total.dtype}")
    return _rectified(total)


def _rectified(tensor: RefTensor) -> RefTensor:
    zero = 0.0 if category(tensor.dtype) == FLOAT else 0
    return RefTensor(tensor.dtype, tensor.shape, [_larger(x, zero) for x in tensor.data])


def _larger(x: float | Unspecified, zero: float) -> float | Unspecified:
    return x if isinstance(x, Unspecified) or not x <= 0 else zero


@reference("aten::conv_tbc")
def conv_tbc(self: RefTensor, weight: RefTensor, bias: RefTensor, pad: int = 0) -> RefTensor:
    """conv1d of (times, batch, channels) and a weight of (times, channels, channels of the result)."""
    if len(self.shape) != 3 or len(weight.shape) != 3 or len(bias.shape) != 1:
        raise ValueError(f"conv_tbc of shapes {self.shape}, {weight.shape}, {bias.shape}")
    times, batch, channels = self.shape
    width, _, outputs = weight.shape
    images = rearranged(self, (batch, channels, times), lambda index: (index[2], index[0], index[1]))
    kernels = rearranged(weight, (outputs, weight.shape[1], width), lambda index: index[::-1])
    found = convolution(images, kernels, bias, [1], [pad], [1], False, [0], 1)
    return rearranged(found, (found.shape[2], batch, outputs), lambda index: (index[1], index[2], index[0]))
