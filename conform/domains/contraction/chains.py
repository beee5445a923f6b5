"""Products of several matrices: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from conform.domains.engine.arguments import result, tensors
from conform.domains.engine.constraints import Dtype, Length, Rank, Size
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import NO_COMPLEX_SEMANTICS, NOT_LONG, shaped
from conform.domains.specs import COMPLEX, spec

Tensors = Sequence[MetaArgument]
NO_KERNEL = "torch needs no kernel where there are no elements, or but one matrix"


def _dtype_of_first(previous: Tensors) -> Space | tuple[str, ...]:
    """that of the first"""
    return (previous[0].dtype,) if previous else ANYTHING


def _complex_ones(previous: Tensors) -> tuple[str, ...]:
    """{complex64, complex128} of the first"""
    return () if previous else COMPLEX


def _bools(previous: Tensors) -> tuple[str, ...]:
    """{bool} of the first"""
    return () if previous else ("bool",)


def _rows(previous: Tensors, d: int) -> Space | tuple[int, ...]:
    """size(previous, -1) where d = 0"""
    return previous[-1].shape[-1:] if previous and d == 0 else ANYTHING


def _no_kernel(given: Tensors) -> bool:
    return len(given) < 2 or any(one.numel == 0 for one in given)


def _ranks(i: int, length: int) -> tuple[int, ...]:
    """2, or 1 of the first and the last"""
    return (2, 1) if i in (0, length - 1) else (2,)


spec(
    "aten::linalg_multi_dot",
    tensors(
        "tensors",
        Length.Ge(2),
        NOT_LONG,
        Dtype.NotIn(_complex_ones).lenient(NO_COMPLEX_SEMANTICS),
        Dtype.NotIn(_bools).unjudged(NO_KERNEL, lambda tensors: _no_kernel(tensors)),
        Dtype.In(_dtype_of_first),
        Rank.In(_ranks),
        Size.In(_rows),
    ),
    result(
        Dtype.Eq(lambda tensors: tensors[0].dtype, text="dtype(tensors[0])"),
        shaped(lambda tensors: (*tensors[0].shape[:-1], *tensors[-1].shape[1:])),
    ),
)
spec(
    "aten::chain_matmul",
    tensors(
        "matrices",
        Length.Ge(1),
        NOT_LONG,
        Dtype.NotIn(_complex_ones).lenient(NO_COMPLEX_SEMANTICS),
        Dtype.NotIn(_bools).unjudged(NO_KERNEL, lambda matrices: _no_kernel(matrices)),
        Dtype.In(_dtype_of_first),
        Rank.Eq(2),
        Size.In(_rows),
    ),
    result(
        Dtype.Eq(lambda matrices: matrices[0].dtype, text="dtype(matrices[0])"),
        shaped(lambda matrices: (matrices[0].shape[0], matrices[-1].shape[1])),
    ),
)
