"""Differences of neighbours, by their definition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from conform.refs.elementwise.arithmetic import sub
from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, category
from conform.refs.exact.reals import Exact, add_exact, exact, multiply_exact, round_exact
from conform.refs.exact.rounding import wrap_integer
from conform.refs.exact.tensor import RefTensor, lines, wrap_dim
from conform.refs.references import reference
from conform.refs.shape.joining import cat


@reference("aten::diff")
def diff(
    self: RefTensor, n: int = 1, dim: int = -1, prepend: RefTensor | None = None, append: RefTensor | None = None
) -> RefTensor:
    """n times over, each element less the one before it along `dim`; finite ones are rounded once, at the end."""
    if not self.shape or n < 0:
        raise ValueError(f"diff needs a dim and n >= 0, found shape {self.shape} and n {n}")
    dim = wrap_dim(dim, len(self.shape))
    ends = [end for end in (prepend, append) if end is not None]
    if any(len(end.shape) != len(self.shape) for end in ends):
        raise ValueError("prepend and append have other ranks than self")
    joined = cat([part for part in (prepend, self, append) if part is not None], dim)
    if n == 0:
        return self
    if category(self.dtype) == BOOL or any(end.dtype != self.dtype for end in ends):
        raise NotImplementedError("the reference of diff takes no bools, and no ends of another dtype")
    if n == 1:
        return sub(_parts(joined, dim, 1), _parts(joined, dim, 0))
    if category(self.dtype) == COMPLEX:
        raise NotImplementedError("the reference of diff repeats no differences of complex numbers")
    return _repeated(joined, n, dim)


def _parts(joined: RefTensor, dim: int, start: int) -> RefTensor:
    """All but the first (start 1) or the last element of each line."""
    size = max(joined.shape[dim] - 1, 0)
    kept = sorted(place for line in lines(joined.shape, dim) for place in line[start : start + size])
    return RefTensor(joined.dtype, _with_size(joined, dim, size), [joined.data[place] for place in kept])


def _with_size(joined: RefTensor, dim: int, size: int) -> tuple[int, ...]:
    return (*joined.shape[:dim], size, *joined.shape[dim + 1 :])


def _repeated(joined: RefTensor, n: int, dim: int) -> RefTensor:
    shape = _with_size(joined, dim, max(joined.shape[dim] - n, 0))
    data = [0] * len([place for line in lines(shape, dim) for place in line])
    for source, target in zip(lines(joined.shape, dim), lines(shape, dim), strict=True):
        for place, number in zip(target, _line(joined.dtype, [joined.data[one] for one in source], n), strict=True):
            data[place] = number
    return RefTensor(joined.dtype, shape, data)


def _line(dtype: str, numbers: Sequence, n: int) -> list:
    if category(dtype) != FLOAT:
        for _ in range(n):
            numbers = [y - x for x, y in pairwise(numbers)]
        return [wrap_integer(dtype, number) for number in numbers]
    parts: list[Exact] = [exact(number) for number in numbers]
    for _ in range(n):
        parts = [add_exact(y, multiply_exact(exact(-1), x)) for x, y in pairwise(parts)]
    return [round_exact(dtype, part) for part in parts]
