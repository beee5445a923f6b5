"""Tensors joined along a dim, old or new, and grids of coordinates."""

from __future__ import annotations

from math import prod

from conform.refs.exact.promotion import convert, converted, result_type
from conform.refs.exact.tensor import RefTensor, lines, rearranged, wrap_dim
from conform.refs.references import reference


@reference("aten::cat", "aten::concat", "aten::concatenate")
def cat(tensors: list[RefTensor], dim: int = 0) -> RefTensor:
    """The tensors one behind the other along `dim`, in their common dtype; shape (0,) counts for that alone."""
    if not tensors or not all(tensor.shape for tensor in tensors):
        raise ValueError("cat needs at least one tensor, and no 0-d tensor")
    dtype = result_type(tensors)
    joined = [tensor for tensor in tensors if tensor.shape != (0,)]
    if not joined:
        return RefTensor(dtype, (0,), [])
    dim = wrap_dim(dim, len(joined[0].shape))
    rest = [tensor.shape[:dim] + tensor.shape[dim + 1 :] for tensor in joined]
    if any(len(tensor.shape) != len(joined[0].shape) for tensor in joined) or len(set(rest)) != 1:
        raise ValueError(f"shapes {[tensor.shape for tensor in joined]} differ in more than dim {dim}")
    first = joined[0].shape
    shape = (*first[:dim], sum(tensor.shape[dim] for tensor in joined), *first[dim + 1 :])
    data = [None] * (len(lines(shape, dim)) * shape[dim])
    offset = 0
    for tensor in joined:
        values = converted(tensor, dtype)
        for source, target in zip(lines(tensor.shape, dim), lines(shape, dim), strict=True):
            for along, position in enumerate(source):
                data[target[offset + along]] = values[position]
        offset += tensor.shape[dim]
    return RefTensor(dtype, shape, data)


@reference("aten::stack", "aten::_stack")
def stack(tensors: list[RefTensor], dim: int = 0) -> RefTensor:
    """The tensors, of one shape, one behind the other along a new dim `dim`, in their common dtype."""
    if not tensors or any(tensor.shape != tensors[0].shape for tensor in tensors):
        raise ValueError(f"stack needs tensors of one shape, found {[tensor.shape for tensor in tensors]}")
    shape = tensors[0].shape
    dim = wrap_dim(dim, len(shape) + 1)
    dtype = result_type(tensors)
    stacked = [value for tensor in tensors for value in converted(tensor, dtype)]
    behind_each_other = RefTensor(dtype, (len(tensors), *shape), stacked)
    result_shape = (*shape[:dim], len(tensors), *shape[dim:])
    return rearranged(behind_each_other, result_shape, lambda index: (index[dim], *index[:dim], *index[dim + 1 :]))


@reference("aten::block_diag")
def block_diag(tensors: list[RefTensor]) -> RefTensor:
    """A matrix with the tensors along its diagonal, in their common dtype; a 0-d or 1-d tensor is a row of it."""
    if any(len(tensor.shape) > 2 for tensor in tensors):
        raise ValueError("block_diag takes tensors of at most two dims")
    if not tensors:
        return RefTensor("float32", (1, 0), [])
    dtype = result_type(tensors)
    blocks = [([1, 1] + list(tensor.shape))[-2:] for tensor in tensors]
    height, width = (sum(block[side] for block in blocks) for side in range(2))
    table = [[convert(0, dtype)] * width for _ in range(height)]
    top = left = 0
    for tensor, (rows, columns) in zip(tensors, blocks, strict=True):
        values = iter(converted(tensor, dtype))
        for row in range(rows):
            for column in range(columns):
                table[top + row][left + column] = next(values)
        top, left = top + rows, left + columns
    return RefTensor(dtype, (height, width), [value for row in table for value in row])


@reference("aten::_chunk_cat")
def chunk_cat(tensors: list[RefTensor], dim: int, num_chunks: int) -> RefTensor:
    """Along dim, part i of each tensor beside those of the others, flattened from dim on; short parts end in zeros."""
    if not tensors or num_chunks < 1 or not all(tensor.shape and tensor.data for tensor in tensors):
        raise ValueError("_chunk_cat needs chunks, and tensors with elements and dims")
    dim = wrap_dim(dim, len(tensors[0].shape))
    before = tensors[0].shape[:dim]
    if any(t.dtype != tensors[0].dtype or len(t.shape) <= dim or t.shape[:dim] != before for t in tensors):
        raise ValueError("_chunk_cat needs tensors of one dtype and of equal sizes before dim")
    zero = convert(0, tensors[0].dtype)
    data = []
    for outer in range(prod(before)):
        for chunk in range(num_chunks):
            for tensor in tensors:
                inner = prod(tensor.shape[dim:])
                part = -(-tensor.shape[dim] // num_chunks) * prod(tensor.shape[dim + 1 :])
                own = tensor.data[outer * inner : (outer + 1) * inner][chunk * part : (chunk + 1) * part]
                data += own + [zero] * (part - len(own))
    shape = (*before, num_chunks, len(data) // max(prod(before) * num_chunks, 1))
    return RefTensor(tensors[0].dtype, shape, data)


@reference("aten::meshgrid", "aten::meshgrid.indexing")
def meshgrid(tensors: list[RefTensor], indexing: str = "ij") -> tuple[RefTensor, ...]:
    """For each tensor a grid in which it varies along its own dim: its place in the list; "xy" swaps the first two.

    The tensors are of one dtype, and 1-d, or 0-d, which counts as shape (1,).
    """
    if not tensors or any(len(tensor.shape) > 1 or tensor.dtype != tensors[0].dtype for tensor in tensors):
        raise ValueError("meshgrid needs at least one tensor, 0-d or 1-d ones of the same dtype")
    if indexing not in ("ij", "xy"):
        raise ValueError(f"indexing is 'ij' or 'xy'; found {indexing!r}")
    dim_of = list(range(len(tensors)))
    if indexing == "xy" and len(tensors) > 1:
        dim_of[:2] = 1, 0
    shape = [0] * len(tensors)
    for tensor, dim in zip(tensors, dim_of, strict=True):
        shape[dim] = len(tensor.data)
    lined = [RefTensor(tensor.dtype, (len(tensor.data),), tensor.data) for tensor in tensors]
    return tuple(
        rearranged(tensor, shape, lambda index, dim=dim: (index[dim],))
        for tensor, dim in zip(lined, dim_of, strict=True)
    )
