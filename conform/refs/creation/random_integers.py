"""Random integers: shape and dtype are determined, elements only where chance has no choice."""

from __future__ import annotations

from math import prod

from conform.refs.creation.constants import checked_size
from conform.refs.creation.distributions import checked
from conform.refs.exact.promotion import COMPLEX, FLOAT, category, convert
from conform.refs.exact.rounding import FLOAT_FORMATS, INTEGER_RANGES
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import reference


def _range(dtype: str) -> tuple[int, int]:
    if category(dtype) == FLOAT:
        return -(2 ** FLOAT_FORMATS[dtype].precision), 2 ** FLOAT_FORMATS[dtype].precision
    return (0, 1) if dtype == "bool" else INTEGER_RANGES[dtype]


def _integers(dtype: str, shape: tuple[int, ...], low: int, high: int) -> RefTensor:
    """Integers from low on and below high: one alone is determined."""
    checked(category(dtype) != COMPLEX, f"no integers of {dtype}")
    least, largest = _range(dtype)
    checked(least <= low < high <= largest + 1, f"{dtype} does not hold {low} to {high - 1}")
    return RefTensor(dtype, shape, [convert(low, dtype) if high - low == 1 else UNSPECIFIED] * prod(shape))


@reference("aten::randint")
def randint(
    high: int,
    size: list[int],
    dtype: str | None = "int64",
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """Integers of 0 to high - 1."""
    checked(dtype is not None, "no dtype")
    return _integers(dtype, checked_size(size), 0, high)


@reference("aten::randint.low")
def randint_from(
    low: int,
    high: int,
    size: list[int],
    dtype: str | None = "int64",
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """Integers of low to high - 1."""
    checked(dtype is not None, "no dtype")
    return _integers(dtype, checked_size(size), low, high)


@reference("aten::randint_like")
def randint_like(
    self: RefTensor,
    high: int,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> RefTensor:
    """Integers of 0 to high - 1 in the shape of self; without dtype in that of self."""
    return randint_like_from(self, 0, high, dtype)


@reference("aten::randint_like.low_dtype")
def randint_like_from(
    self: RefTensor,
    low: int,
    high: int,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> RefTensor:
    """Integers of low to high - 1 in the shape of self; without dtype in that of self."""
    checked(category(self.dtype) != COMPLEX, "like complex numbers")
    return _integers(dtype or self.dtype, self.shape, low, high)


@reference("aten::random.from")
def random_between(self: RefTensor, from_: int, to: int | None, generator: object = None) -> RefTensor:
    """Integers of from to to - 1; without an end up to the largest of an integer dtype."""
    checked(to is not None or category(self.dtype) not in (FLOAT, COMPLEX), "no end among floats")
    return _integers(self.dtype, self.shape, from_, _range(self.dtype)[1] + 1 if to is None else to)


@reference("aten::random.to")
def random_below(self: RefTensor, to: int, generator: object = None) -> RefTensor:
    """Integers of 0 to to - 1."""
    return _integers(self.dtype, self.shape, 0, to)


@reference("aten::random")
def random(self: RefTensor, generator: object = None) -> RefTensor:
    """Integers that the dtype holds, any of them."""
    checked(category(self.dtype) != COMPLEX, f"no integers of {self.dtype}")
    return RefTensor(self.dtype, self.shape, [UNSPECIFIED] * len(self.data))
