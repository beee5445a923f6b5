"""Gradients of parts of a tensor, element by element."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod

from conform.refs.creation.constants import fill_number
from conform.refs.exact.promotion import FLOAT, category
from conform.refs.exact.reals import round_exact, sum_exact
from conform.refs.exact.tensor import RefTensor, Shape, strides_of, wrap_dim
from conform.refs.references import reference

Index = tuple[int, ...]


def _targets(
    op: str, grad: RefTensor, expected: Shape, sizes: list[int], target: Callable[[Index], Index]
) -> list[int]:
    """Of each element of grad the position of its target in a tensor of `sizes`."""
    if grad.shape != expected or min(sizes) < 0:
        raise ValueError(f"{op}: a gradient of shape {grad.shape} for a tensor of {sizes}, expected {expected}")
    strides = strides_of(tuple(sizes))
    indices = map(target, product(*map(range, grad.shape)))
    return [sum(i * stride for i, stride in zip(index, strides, strict=True)) for index in indices]


def _placed(grad: RefTensor, sizes: list[int], targets: list[int]) -> RefTensor:
    """Zeros with each element of grad at its target."""
    data = [fill_number("zero", 0, grad.dtype)] * prod(sizes)
    for place, element in zip(targets, grad.data, strict=True):
        data[place] = element
    return RefTensor(grad.dtype, tuple(sizes), data)


@reference("aten::select_backward")
def select_backward(grad_output: RefTensor, input_sizes: list[int], dim: int, index: int) -> RefTensor:
    """Zeros but for the part at `index` of `dim`."""
    if not input_sizes:
        raise ValueError("a tensor without dims has no parts")
    axis = wrap_dim(dim, len(input_sizes))
    size = input_sizes[axis]
    if not -size <= index < size:
        raise ValueError(f"index {index} is outside dim {dim} of {input_sizes}")
    expected = (*input_sizes[:axis], *input_sizes[axis + 1 :])
    target = lambda own: (*own[:axis], index % size, *own[axis:])  # noqa: E731
    return _placed(grad_output, input_sizes, _targets("select_backward", grad_output, expected, input_sizes, target))


@reference("aten::slice_backward")
def slice_backward(
    grad_output: RefTensor, input_sizes: list[int], dim: int, start: int, end: int, step: int
) -> RefTensor:
    """Zeros but for every step-th index of `dim` from start to before end, which count from the end if negative."""
    if not input_sizes or step < 1:
        raise ValueError(f"slices of a tensor of {input_sizes} with step {step}")
    axis = wrap_dim(dim, len(input_sizes))
    size = input_sizes[axis]
    first, last = (min(max(bound + size if bound < 0 else bound, 0), size) for bound in (start, end))
    expected = (*input_sizes[:axis], len(range(first, last, step)), *input_sizes[axis + 1 :])
    target = lambda own: (*own[:axis], first + own[axis] * step, *own[axis + 1 :])  # noqa: E731
    return _placed(grad_output, input_sizes, _targets("slice_backward", grad_output, expected, input_sizes, target))


@reference("aten::diagonal_backward")
def diagonal_backward(grad_output: RefTensor, input_sizes: list[int], offset: int, dim1: int, dim2: int) -> RefTensor:
    """Zeros but where the index of dim2 is that of dim1 plus offset, which the last dim of grad_output counts."""
    if len(input_sizes) < 2:
        raise ValueError(f"a tensor of {input_sizes} has no diagonal")
    row, column = wrap_dim(dim1, len(input_sizes)), wrap_dim(dim2, len(input_sizes))
    if row == column:
        raise ValueError(f"dims {dim1} and {dim2} are one")
    first, second = max(-offset, 0), max(offset, 0)
    length = max(min(input_sizes[row] - first, input_sizes[column] - second), 0)
    others = [dim for dim in range(len(input_sizes)) if dim not in (row, column)]

    def target(own: Index) -> Index:
        placed = dict(zip(others, own[:-1], strict=True)) | {row: own[-1] + first, column: own[-1] + second}
        return tuple(placed[dim] for dim in range(len(input_sizes)))

    expected = (*(input_sizes[dim] for dim in others), length)
    return _placed(grad_output, input_sizes, _targets("diagonal_backward", grad_output, expected, input_sizes, target))


@reference("aten::unfold_backward")
def unfold_backward(grad_in: RefTensor, input_sizes: list[int], dim: int, size: int, step: int) -> RefTensor:
    """Zeros, to which each element of grad_in is added where it stands in its window; exact sums, rounded once."""
    if category(grad_in.dtype) != FLOAT:
        raise NotImplementedError("the reference of unfold_backward covers floats only")
    if not input_sizes or min(input_sizes) < 1 or step < 1:
        raise ValueError(f"windows {step} apart of a tensor of {input_sizes}")
    axis = wrap_dim(dim, len(input_sizes))
    if not 1 <= size <= input_sizes[axis]:
        raise ValueError(f"windows of {size} along dim {dim} of {input_sizes}")
    count = (input_sizes[axis] - size) // step + 1
    expected = (*input_sizes[:axis], count, *input_sizes[axis + 1 :], size)
    target = lambda own: (*own[:axis], own[axis] * step + own[-1], *own[axis + 1 : -1])  # noqa: E731
    terms: list[list[float]] = [[] for _ in range(prod(input_sizes))]
    targets = _targets("unfold_backward", grad_in, expected, input_sizes, target)
    for place, element in zip(targets, grad_in.data, strict=True):
        terms[place].append(element)
    data = [round_exact(grad_in.dtype, sum_exact(own)) for own in terms]
    return RefTensor(grad_in.dtype, tuple(input_sizes), data)
