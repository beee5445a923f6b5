"""What einsum is composed of: products of matrices, or sums."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from conform.call.subscripts import equation
from conform.errors import NoGolden
from conform.interp.ops.contraction.einsum import groups_of, sizes_of, view_of
from conform.interp.program.number import Number
from conform.interp.program.reduction.sums import sum_over
from conform.interp.program.rules import composition

_equation = equation  # which an argument of `einsum` hides


@composition("aten::einsum")
def einsum(equation: str, tensors: Sequence[Number]) -> Number:
    """Of two operands a product of matrices for each index that both have and the result has, of one its sums."""
    labels, result = _equation(equation).labels([one.ndim for one in tensors])
    sizes = sizes_of(labels, [one.shape for one in tensors])

    def arranged(number: int, *groups: Sequence[str]) -> Number:
        """An operand with a dim for each group of labels."""
        order = [label for group in groups for label in group]
        shape = tuple(sizes[label] for label in order)
        own = [prod(sizes[label] for label in group) for group in groups]
        return tensors[number].moved(lambda part: view_of(part, labels[number], order, shape).reshape(own))

    if len(tensors) == 1:
        summed = [label for label in sizes if label not in result]
        return sum_over(arranged(0, *[[label] for label in result], summed), [-1])
    if len(tensors) > 2:
        raise NoGolden(f"a program cannot use aten::einsum of {len(tensors)} computed operands: expected one or two")
    batch, rows, summed, columns = groups_of(labels, result, sizes)
    product = arranged(0, batch, rows, summed).bmm(arranged(1, batch, summed, columns))
    order = [*batch, *rows, *columns]
    return product.reshape([sizes[label] for label in order]).permute([order.index(label) for label in result])
