"""What ops that sum products are written in: each result is an exact sum, rounded once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from operator import mul

from conform.refs.exact.promotion import COMPLEX, INTEGER, Scalar, category, read_factor
from conform.refs.exact.reals import Exact, add_exact, exact, multiply_exact, round_exact, scale_to_integers
from conform.refs.exact.rounding import wrap_integer
from conform.refs.exact.tensor import RefTensor, Shape, expand


def one_dtype(op: str, *tensors: RefTensor) -> str:
    """The one dtype of the tensors; ValueError if they differ or it is bool."""
    dtypes = {tensor.dtype for tensor in tensors}
    if len(dtypes) != 1 or "bool" in dtypes:
        raise ValueError(f"{op} needs tensors of one dtype other than bool, found {sorted(dtypes)}")
    dtype = dtypes.pop()
    if category(dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {dtype}")
    return dtype


def round_total(dtype: str, total: Exact) -> int | float:
    """An exact sum as an element: integers (their exponent is 0) wrap, floats round."""
    if category(dtype) != INTEGER:
        return round_exact(dtype, total)
    m, e = total
    return wrap_integer(dtype, m << e)


@dataclass
class Vector:
    """Elements to be multiplied by those of another: None where there is none, and the finite ones as integers.

    values[i] = integers[i] * 2^exponent where values[i] is finite, else integers[i] is 0; `special` lists the indices
    of infinities and NaNs.
    """

    values: list[int | float | None]
    integers: list[int]
    exponent: int
    special: list[int]


class Elements:
    """The elements of a tensor, scaled to integers of one exponent once, however often they are multiplied."""

    def __init__(self, tensor: RefTensor) -> None:
        self.values = tensor.data
        self.integers, self.exponent = scale_to_integers([x if isfinite(x) else 0 for x in tensor.data])

    def at(self, positions: Iterable[int | None]) -> Vector:
        """The elements at the positions; None stays None."""
        listed = list(positions)
        values = [None if i is None else self.values[i] for i in listed]
        integers = [0 if i is None else self.integers[i] for i in listed]
        special = [index for index, x in enumerate(values) if x is not None and not isfinite(x)]
        return Vector(values, integers, self.exponent, special)


def dot(lhs: Vector, rhs: Vector) -> Exact:
    """The sum of the products: exact, or what those of infinities and NaNs add up to. Only lhs may lack elements."""
    special = [lhs.values[i] * rhs.values[i] for i in lhs.special + rhs.special if lhs.values[i] is not None]
    if special:
        return sum(special)
    return sum(map(mul, lhs.integers, rhs.integers)), lhs.exponent + rhs.exponent


def added_to(dtype: str, self: RefTensor, shape: Shape, totals: list[Exact], beta: Scalar, alpha: Scalar) -> RefTensor:
    """beta * self + alpha * totals, self expanded to `shape`, rounded once; beta 0 ignores self, NaN or not."""
    beta, alpha = read_factor("beta", beta, dtype), read_factor("alpha", alpha, dtype)
    data = []
    for total, value in zip(totals, expand(self.data, self.shape, shape), strict=True):
        result = multiply_exact(exact(alpha), total)
        if beta != 0:
            result = add_exact(result, multiply_exact(exact(beta), exact(value)))
        data.append(round_total(dtype, result))
    return RefTensor(dtype, shape, data)
