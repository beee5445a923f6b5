"""Rows of a table: embedding, its gradient, and bags of rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from conform.refs.elementwise.comparison import greater
from conform.refs.exact.promotion import FLOAT, category
from conform.refs.exact.reals import add_exact, exact, multiply_exact, round_exact
from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.indexing.selecting import INDEX_DTYPES
from conform.refs.reduction.statistics import round_mean
from conform.refs.references import reference

SUM, MEAN, MAX = range(3)


def _rows_of(weight: RefTensor, indices: RefTensor) -> list[list]:
    """weight[i] for every index; ValueError for a table that is no matrix and an index outside (P26)."""
    if len(weight.shape) != 2 or indices.dtype not in INDEX_DTYPES:
        raise ValueError(f"weight of shape {weight.shape}, indices of {indices.dtype}")
    count, width = weight.shape
    for i in indices.data:
        if not 0 <= i < count:
            raise ValueError(f"index {i} is outside a table of {count} rows")
    return [weight.data[i * width : (i + 1) * width] for i in indices.data]


@reference("aten::embedding")
def embedding(
    weight: RefTensor,
    indices: RefTensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> RefTensor:
    """The rows weight[indices]; the other arguments are of the gradient alone."""
    data = [x for row in _rows_of(weight, indices) for x in row]
    return RefTensor(weight.dtype, (*indices.shape, weight.shape[1]), data)


@reference("aten::embedding_dense_backward")
def embedding_dense_backward(
    grad_output: RefTensor, indices: RefTensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> RefTensor:
    """Row i is the sum of the rows of grad_output whose index is i, over their number if scale_grad_by_freq.

    The row padding_idx is zero.
    """
    width = grad_output.shape[-1] if grad_output.shape else 0
    if category(grad_output.dtype) != FLOAT or indices.dtype not in INDEX_DTYPES or num_weights < 0:
        raise ValueError(f"grad_output of {grad_output.dtype}, indices of {indices.dtype}, {num_weights} weights")
    if grad_output.shape != (*indices.shape, width):
        raise ValueError(f"grad_output of shape {grad_output.shape} for indices of shape {indices.shape}")
    if any(not 0 <= i < num_weights for i in indices.data):
        raise ValueError(f"an index of {indices.data} is outside 0 .. {num_weights - 1}")
    data = []
    for row in range(num_weights):
        places = [p for p, i in enumerate(indices.data) if i == row and i != padding_idx]
        divisor = len(places) if scale_grad_by_freq and places else 1
        for column in range(width):
            terms = [grad_output.data[p * width + column] for p in places]
            data.append(_round_quotient(grad_output.dtype, terms, divisor))
    return RefTensor(grad_output.dtype, (num_weights, width), data)


def _round_quotient(dtype: str, terms: list[float], divisor: int) -> float:
    """The sum of the terms over an integer, rounded once; 0 of no terms."""
    total: object = (0, 0)
    for term in terms:
        total = add_exact(total, exact(term))
    if isinstance(total, float):
        return total
    quotient = Fraction(total[0]) * Fraction(2) ** total[1] / divisor
    return round_ratio(dtype, quotient.numerator, quotient.denominator)


@reference("aten::_embedding_bag", "aten::_embedding_bag_forward_only")
def embedding_bag(
    weight: RefTensor,
    indices: RefTensor,
    offsets: RefTensor,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: RefTensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[RefTensor | Unspecified, ...]:
    """Each bag's sum, mean or greatest elements of its rows weight[indices[offsets[b] : offsets[b + 1]]].

    The index padding_idx counts nowhere; an empty bag is zero. The last bag ends with the indices, or at the last
    offset if include_last_offset. Only a sum has per_sample_weights, factors of its rows. Nothing is documented of the
    other three results (offset2bag, bag_size, max_indices).
    """
    _check(weight, indices, offsets, mode, per_sample_weights)
    starts = offsets.data if include_last_offset else [*offsets.data, len(indices.data)]
    if len(starts) > 1 and (starts[0] != 0 or starts[-1] > len(indices.data) or starts != sorted(starts)):
        raise ValueError(f"offsets {offsets.data} of {len(indices.data)} indices")
    if include_last_offset and not starts:
        raise ValueError("include_last_offset needs an offset")
    rows, width, data = _rows_of(weight, indices), weight.shape[1], []
    factors = per_sample_weights.data if per_sample_weights else [1.0] * len(rows)
    for start, end in pairwise(starts):
        bag = [p for p in range(start, end) if indices.data[p] != padding_idx]
        for column in range(width):
            data.append(_of_bag(weight.dtype, mode, [rows[p][column] for p in bag], [factors[p] for p in bag]))
    bags = len(starts) - 1
    return RefTensor(weight.dtype, (bags, width), data), UNSPECIFIED, UNSPECIFIED, UNSPECIFIED


@reference("aten::embedding_bag")
def embedding_bag_without_padding(
    weight: RefTensor,
    indices: RefTensor,
    offsets: RefTensor,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: RefTensor | None = None,
    include_last_offset: bool = False,
) -> tuple[RefTensor | Unspecified, ...]:
    """_embedding_bag in which every index counts."""
    return embedding_bag(
        weight, indices, offsets, mode=mode, per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
    )  # fmt: skip


@reference("aten::embedding_bag.padding_idx")
def embedding_bag_with_padding(
    weight: RefTensor,
    indices: RefTensor,
    offsets: RefTensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: RefTensor | None,
    include_last_offset: bool,
    padding_idx: int | None,
) -> tuple[RefTensor | Unspecified, ...]:
    """_embedding_bag with a row that does not count, or none; a negative number counts from the end."""
    rows = weight.shape[0] if len(weight.shape) == 2 else 0
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise ValueError(f"padding_idx {padding_idx} is none of {rows} rows")
    padding = -1 if padding_idx is None else padding_idx + rows * (padding_idx < 0)
    return embedding_bag(
        weight, indices, offsets, mode=mode, per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset, padding_idx=padding,
    )  # fmt: skip


def _check(weight: RefTensor, indices: RefTensor, offsets: RefTensor, mode: int, factors: RefTensor | None) -> None:
    if category(weight.dtype) != FLOAT or mode not in (SUM, MEAN, MAX):
        raise ValueError(f"weight of {weight.dtype}, mode {mode}")
    if len(indices.shape) != 1 or len(offsets.shape) != 1 or offsets.dtype != indices.dtype:
        raise ValueError(f"indices {indices.shape} and offsets {offsets.shape} of {offsets.dtype} are vectors")
    if any(not 0 <= offset <= len(indices.data) for offset in offsets.data):
        raise ValueError(f"offsets {offsets.data} of {len(indices.data)} indices")
    if factors and (mode != SUM or (factors.dtype, factors.shape) != (weight.dtype, indices.shape)):
        raise ValueError(f"per_sample_weights of {factors.dtype}, shape {factors.shape}, in mode {mode}")


def _of_bag(dtype: str, mode: int, values: list[float], factors: list[float]) -> float:
    if not values:
        return 0.0
    if mode == MAX:
        best = values[0]
        for value in values[1:]:
            best = greater(best, value)
        return best
    if mode == MEAN:
        return round_mean(dtype, values)
    total: object = (0, 0)
    for x, factor in zip(values, factors, strict=True):
        total = add_exact(total, multiply_exact(exact(x), exact(factor)))
    return round_exact(dtype, total)
