"""The dtypes that specs state are those that torch takes on the CPU, no more and no fewer.

torch is asked what it accepts, never what a result is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch

from conform.inputs.specs.registry import COMPLEX, REAL, OpSpec, specs

aten = torch.ops.aten
UNARY = (
    "exp2 special_exp2 expm1 special_expm1 log log2 log10 log1p special_log1p rsqrt reciprocal cos tan asin acos atan "
    "sinc special_sinc sinh cosh tanh asinh acosh atanh sigmoid silu mish erf special_erf erfc special_erfc erfinv "
    "special_erfinv special_ndtr special_ndtri lgamma digamma special_digamma i0 special_i0 special_i1"
)
Tensor = torch.Tensor
Call = Callable[[Tensor], object]


def convolve(
    x: Tensor, rank: int, bias: Tensor | None = None, dilation: int = 1, transposed: bool = False, groups: int = 1
) -> None:
    shape, weight_shape = (1, groups, *[2] * rank), (groups, 1, *[2] * rank)
    ones = x.flatten()[:1]
    aten.convolution(ones.expand(shape), ones.expand(weight_shape), bias, [1] * rank, [1] * rank, [dilation] * rank,
                     transposed, [0] * rank, groups)  # fmt: skip


# For each spec: calls on a tensor of ones, 2 x 2, that differ in the kernels they need.
CALLS: dict[str, list[Call]] = {
    "aten::add": [lambda x: aten.add.Tensor(x, x), lambda x: aten.add.Scalar(x, 1)],
    "aten::mul": [lambda x: aten.mul.Tensor(x, x), lambda x: aten.mul.Scalar(x, 1)],
    "aten::div": [lambda x: aten.div.Tensor(x, x), lambda x: aten.div.Scalar(x, 1)],
    "aten::div.Tensor_mode": [
        lambda x: aten.div.Tensor_mode(x, x, rounding_mode="floor"),
        lambda x: aten.div.Tensor_mode(x, x, rounding_mode="trunc"),
    ],
    "aten::div.Scalar_mode": [
        lambda x: aten.div.Scalar_mode(x, 1, rounding_mode="floor"),
        lambda x: aten.div.Scalar_mode(x, 1, rounding_mode="trunc"),
    ],
    "aten::maximum": [lambda x: aten.maximum(x, x)],
    "aten::remainder": [lambda x: aten.remainder.Tensor(x, x)],
    "aten::remainder.Scalar": [lambda x: aten.remainder.Scalar(x, 1)],
    "aten::remainder.Scalar_Tensor": [lambda x: aten.remainder.Scalar_Tensor(1, x)],
    "aten::eq": [lambda x: aten.eq.Tensor(x, x), lambda x: aten.eq.Scalar(x, 1)],
    "aten::where": [lambda x: aten.where.self(x == x, x, x)],
    "aten::bitwise_and": [lambda x: aten.bitwise_and.Tensor(x, x)],
    "aten::neg": [aten.neg.default],
    "aten::abs": [aten.abs.default],
    "aten::round": [aten.round.default],
    "aten::round.decimals": [lambda x, d=decimals: aten.round.decimals(x, decimals=d) for decimals in (-1, 0, 1)],
    "aten::exp": [aten.exp.default],
    "aten::sqrt": [aten.sqrt.default],
    "aten::sin": [aten.sin.default],
    "aten::gelu": [aten.gelu.default, lambda x: aten.gelu(x, approximate="tanh")],
    "aten::_to_copy": [lambda x, to=to: aten._to_copy(x, dtype=getattr(torch, to)) for to in REAL],
    "aten::cat": [lambda x: aten.cat([x, x])],
    "aten::permute": [lambda x: aten.permute(x, [1, 0])],
    "aten::slice": [lambda x: aten.slice.Tensor(x, 0, 0, 1)],
    "aten::gather": [lambda x: aten.gather(x, 0, torch.zeros(1, 2, dtype=torch.int64))],
    "aten::index_put": [
        lambda x: aten.index_put(x, [torch.tensor([0])], x[0]),
        lambda x: aten.index_put(x, [torch.tensor([0, 0])], x[0], True),
    ],
    "aten::sum": [aten.sum.default, lambda x: aten.sum.dim_IntList(x, [0])],
    "aten::amax": [lambda x: aten.amax(x, [0]), aten.amax.default],
    "aten::argmax": [lambda x: aten.argmax(x, 0), aten.argmax.default],
    "aten::cumsum": [lambda x: aten.cumsum(x, 0)],
    "aten::mm": [lambda x: aten.mm(x, x)],
    "aten::addmm": [lambda x: aten.addmm(x, x, x), lambda x: aten.addmm(x[0], x, x, beta=2, alpha=3)],
    "aten::convolution": [
        *[lambda x, rank=rank: convolve(x, rank, x.flatten()[:1]) for rank in (1, 2, 3)],
        *[lambda x, rank=rank: convolve(x, rank, dilation=2) for rank in (1, 2, 3)],
        *[lambda x, rank=rank: convolve(x, rank, transposed=True) for rank in (1, 2, 3)],
        *[lambda x, rank=rank: convolve(x, rank, groups=2) for rank in (1, 2, 3)],
    ],
    "aten::avg_pool2d": [
        lambda x: aten.avg_pool2d(x[None], [2, 2]),
        lambda x: aten.avg_pool2d(x[None, None], [2, 2], divisor_override=3),
    ],
    "aten::_softmax": [lambda x: aten._softmax(x, 0, False), lambda x: aten._softmax(x, 1, False)],
    "aten::native_layer_norm": [
        lambda x: aten.native_layer_norm(x, [2], x[0], x[1], 1e-5),
        lambda x: aten.native_layer_norm(x, [2], None, None, 1e-5),
    ],
    "aten::sort": [aten.sort.default, lambda x: aten.sort.stable(x, stable=True, descending=True)],
    "aten::arange": [
        lambda x: aten.arange.default(4, dtype=x.dtype),
        lambda x: aten.arange.start(1, 4, dtype=x.dtype),
        lambda x: aten.arange.start_step(0, 4, 2, dtype=x.dtype),
    ],
    **{f"aten::{name}": [getattr(aten, name).default] for name in UNARY.split()},
    "aten::softplus": [aten.softplus.default, lambda x: aten.softplus(x, 2, 3)],
    "aten::pow": [
        lambda x: aten.pow.Tensor_Tensor(x, x),
        lambda x: aten.pow.Tensor_Scalar(x, 2),
        lambda x: aten.pow.Scalar(2, x),
    ],
    "aten::hypot": [lambda x: aten.hypot(x, x)],
    "aten::atan2": [lambda x: aten.atan2(x, x)],
    "aten::logaddexp": [lambda x: aten.logaddexp(x, x)],
    "aten::xlogy": [
        lambda x: aten.xlogy.Tensor(x, x),
        lambda x: aten.xlogy.Scalar_Self(2, x),
        lambda x: aten.xlogy.Scalar_Other(x, 2),
    ],
    "aten::special_xlogy": [
        lambda x: aten.special_xlogy(x, x),
        lambda x: aten.special_xlogy.self_scalar(2, x),
        lambda x: aten.special_xlogy.other_scalar(x, 2),
    ],
}


def is_accepted(call: Call, dtype: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(torch.ones(2, 2, dtype=getattr(torch, dtype)))
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize("spec", specs(), ids=lambda one: one.name)
def test_torch_takes_exactly_the_stated_dtypes(spec: OpSpec) -> None:
    """Every call of an op with a stated dtype is taken, and for any other dtype at least one is not."""
    asked = REAL + (COMPLEX if set(spec.dtypes) & set(COMPLEX) else ())
    taken = [dtype for dtype in asked if all(is_accepted(call, dtype) for call in CALLS[spec.name])]
    assert taken == list(spec.dtypes)


def test_no_call_is_left_over() -> None:
    assert set(CALLS) == {spec.name for spec in specs()}
