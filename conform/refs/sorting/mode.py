"""The most frequent element of each line, by counting."""

from __future__ import annotations

from math import isnan

from conform.refs.exact.promotion import COMPLEX, category
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, lines, reduced_shape, wrap_dim
from conform.refs.references import reference


@reference("aten::mode")
def mode(self: RefTensor, dim: int = -1, keepdim: bool = False) -> tuple[RefTensor, RefTensor]:
    """A value that occurs most often along `dim`, and an index of it.

    Of several such values each is as right, so the value is open, and the index may be any of theirs. Whether one NaN
    is another is open, too, so no answer is known where there are as many NaNs as there are of the most frequent
    number (P150).
    """
    if category(self.dtype) == COMPLEX:
        raise ValueError("mode is not defined for complex numbers")
    dim = wrap_dim(dim, len(self.shape))
    if (self.shape or (1,))[dim] == 0:
        raise ValueError(f"mode over no element: shape {self.shape}, dim {dim}")
    found = [_of_line([self.data[position] for position in line]) for line in lines(self.shape, dim)]
    shape = reduced_shape(self.shape, [dim], keepdim)
    return (
        RefTensor(self.dtype, shape, [value for value, _ in found]),
        RefTensor("int64", shape, [index for _, index in found]),
    )


def _of_line(line: list) -> tuple[object, object]:
    numbers = [x for x in line if not isnan(x)]
    if not numbers:
        return line[0], 0
    count = {x: numbers.count(x) for x in numbers}
    most = max(count.values())
    if len(line) - len(numbers) >= most:
        return UNSPECIFIED, UNSPECIFIED
    frequent = [x for x, times in count.items() if times == most]
    return frequent[0] if len(frequent) == 1 else UNSPECIFIED, line.index(frequent[0])
