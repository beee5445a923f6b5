"""Sums with what is above zero in them alone, and convolutions of sequences in the order of their times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.interp.golden import Golden
from conform.interp.ops.contraction.convolution import convolution
from conform.interp.ops.contraction.matrices import addmm
from conform.interp.ops.elementwise.arithmetic import add
from conform.interp.semantics import pointwise, semantics
from conform.numerics.real import where


def above_zero(golden: Golden) -> Golden:
    """The larger of a golden's numbers and 0, which are no further off than they are; NaN of NaN (P95)."""
    golden, below = replace(golden, alternatives=tuple(map(above_zero, golden.alternatives))), golden.value < 0
    value = np.where(below, golden.value.dtype.type(0), golden.value)
    if golden.real is None:
        return replace(golden, value=value, zero_sign_free=golden.format.is_float)
    return replace(golden, value=value, real=where(golden.real.hi < 0, 0.0, golden.real), zero_sign_free=True)


def _count(arguments: Mapping[str, Any]) -> int:
    return prod(np.shape(arguments["mat1"])[:1]) * prod(np.shape(arguments["mat2"])[1:])


@semantics("aten::_addmm_activation", accumulates="mat1", elements=_count, ignores=("use_gelu",))
def addmm_activation(
    self: np.ndarray, mat1: np.ndarray, mat2: np.ndarray, beta: int | float = 1, alpha: int | float = 1
) -> Golden:
    """relu of addmm (P3, P35, P95); of its gelu no documentation says which one it is"""
    sums = addmm(self, mat1, mat2, beta, alpha)
    return replace(sums, tile=lambda rows, columns: above_zero(sums.tile(rows, columns))).golden()


@pointwise("aten::_add_relu.Tensor", "aten::_add_relu.Scalar")
def add_relu(self: np.ndarray, other: np.ndarray | int | float, alpha: int | float = 1) -> Golden:
    """relu of self + alpha * other, as near as add is (P95)"""
    return above_zero(add(self, other, alpha).but_bounded_as("aten::add.Tensor"))


def _places(arguments: Mapping[str, Any]) -> int:
    (times, batch, _), (width, _, channels) = (
        (*np.shape(arguments[name]), 1, 1, 1)[:3] for name in ("self", "weight")
    )  # fmt: skip
    return max(times + 2 * arguments["pad"] - width + 1, 1) * batch * channels


@semantics("aten::conv_tbc", accumulates="self", elements=_places)
def conv_tbc(self: np.ndarray, weight: np.ndarray, bias: np.ndarray, pad: int = 0) -> Golden:
    """result[t, b, o] = bias[o] + the sum over k and c of self[t + k - pad, b, c] * weight[k, c, o], of times beyond
    both ends 0 (P3, P35, P39)"""
    sums = convolution(
        self.transpose(1, 2, 0), weight.transpose(2, 1, 0), bias, stride=[1], padding=[pad], dilation=[1],
        transposed=False, output_padding=[0], groups=1,
    )  # fmt: skip
    return sums.golden().rearranged(lambda part: part.transpose(2, 0, 1))
