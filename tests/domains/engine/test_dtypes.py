"""Type promotion of the specs against torch's."""

from __future__ import annotations

import itertools

import pytest
import torch

from conform.domains.engine.arguments import SCALAR, TENSOR
from conform.domains.engine.dtypes import ALL, common_dtype, promote
from conform.domains.engine.meta_argument import MetaArgument

NUMBERS = {"bool": True, "int": 2, "float": 2.5, "complex": 2.5j}
Operand = tuple[MetaArgument, object]


def tensor(dtype: str, rank: int) -> Operand:
    meta = MetaArgument(TENSOR)
    meta.dtype, meta.structure = dtype, (1,) * rank
    return meta, torch.ones(meta.shape, dtype=getattr(torch, dtype))


def number(kind: str) -> Operand:
    meta = MetaArgument(SCALAR)
    meta.dtype, meta.value = kind, NUMBERS[kind]
    return meta, meta.value


@pytest.mark.parametrize(("a", "b"), list(itertools.product(ALL, repeat=2)))
def test_two_dtypes(a: str, b: str) -> None:
    assert f"torch.{promote(a, b)}" == str(torch.promote_types(getattr(torch, a), getattr(torch, b)))


def test_operands() -> None:
    tensors = [tensor(dtype, rank) for dtype in ALL for rank in (0, 1)]
    for (mine, its), (other, its_other) in itertools.product(tensors, [*tensors, *map(number, NUMBERS)]):
        expected = str(torch.result_type(its, its_other))
        assert f"torch.{common_dtype(mine, other)}" == expected, (mine, other)
