"""Products of matrices and convolutions by other names, with operands arranged otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.tiles import Contraction
from conform.interp.dims import wrap_dim, wrap_dims
from conform.interp.formulas.winograd import or_by_winograd
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.contraction.convolution import channels_by_places, convolution
from conform.interp.ops.contraction.matrices import products
from conform.interp.semantics import semantics
from conform.interp.size import broadcast_elements
from conform.interp.traits import Products
from conform.numerics.formats import format_of


@semantics("aten::linalg_vecdot", accumulates="x", along="dim", elements=broadcast_elements)
def linalg_vecdot(x: np.ndarray, y: np.ndarray, dim: int = -1) -> Golden:
    """The sum of x * y over dim, the other dims broadcast (P3, P35)"""
    fmt = format_of(x)
    refuse_complex(fmt, "sums of products")
    lhs, rhs = (np.moveaxis(one, dim, -1) for one in np.broadcast_arrays(x, y))
    return products(fmt, lhs[..., None, :], rhs[..., None], shape=lhs.shape[:-1]).golden()


def _free(arguments: Mapping[str, Any]) -> int:
    """The elements of self that are not added up, times those of other."""
    counts = []
    for name in ("self", "other"):
        shape = np.shape(arguments[name])
        summed = {wrap_dim(dim, len(shape)) for dim in arguments[f"dims_{name}"]}
        counts.append(prod(size for d, size in enumerate(shape) if d not in summed))
    return prod(counts)


@semantics("aten::tensordot", accumulates="self", elements=_free)
def tensordot(self: np.ndarray, other: np.ndarray, dims_self: Sequence[int], dims_other: Sequence[int]) -> Golden:
    """The sums of the products of self and other over dims_self of self, each of which goes with one of dims_other of
    other; the dims that are left are those of self, then those of other (P3, P10, P35)"""
    of_self, of_other = wrap_dims(dims_self, self.ndim), wrap_dims(dims_other, other.ndim)
    rows = [d for d in range(self.ndim) if d not in of_self]
    columns = [d for d in range(other.ndim) if d not in of_other]
    shape = (*(self.shape[d] for d in rows), *(other.shape[d] for d in columns))
    terms = prod(self.shape[d] for d in of_self)
    lhs = self.transpose(*rows, *of_self).reshape(prod(shape[: len(rows)]), terms)
    rhs = other.transpose(*of_other, *columns).reshape(terms, prod(shape[len(rows) :]))
    return products(format_of(self), lhs, rhs).golden().rearranged(lambda part: part.reshape(shape))


CHOICES = ("benchmark", "deterministic", "allow_tf32")


def _sums(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    benchmark: bool = False,
    deterministic: bool = False,
    cudnn_enabled: bool = False,
    allow_tf32: bool = False,
) -> Contraction:
    return convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


@semantics("aten::_convolution", "aten::_convolution.deprecated", accumulates="input", elements=channels_by_places,
           products=Products(("input", "weight"), "bias", None, _sums, terms=1), ignores=CHOICES)  # fmt: skip
def convolution_of_library(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Golden:
    """convolution; the other arguments say how a library is to choose among its algorithms (P85)"""
    arguments = {
        "input": input, "weight": weight, "bias": bias, "stride": stride, "padding": padding, "dilation": dilation,
        "transposed": transposed, "output_padding": output_padding, "groups": groups,
    }  # fmt: skip
    return or_by_winograd(convolution(**arguments).golden(), **arguments)
