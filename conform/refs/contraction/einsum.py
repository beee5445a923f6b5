"""einsum: the sum of products over the subscripts that the result lacks."""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import isnan

from conform.refs.contraction.products import one_dtype, round_total
from conform.refs.exact.reals import Exact, add_exact, exact, multiply_exact
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, positions, strides_of
from conform.refs.references import reference

Labels = list[str]  # one a dim: a letter, or "...0" for the last dim of an ellipsis, "...1" for the one before, ...


@reference("aten::einsum")
def einsum(equation: str, tensors: list[RefTensor], path: list[int] | None = None) -> RefTensor:
    """The equation's letters name dims: products over equal letters, summed over letters that the output lacks.

    Without "->" the output has the ellipsis' dims, then the letters that occur once, in alphabetical order (upper case
    first). A letter twice in an operand is its diagonal. Dims of one letter broadcast. `path` is an order of work, by
    which infinities of three operands may meet, or not: where they add up to no number it is UNSPECIFIED (P162).
    """
    if not tensors:
        raise ValueError("einsum needs an operand")
    dtype = one_dtype("einsum", *tensors)
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(tensors):
        raise ValueError(f"equation {equation!r} has {len(terms)} operands, found {len(tensors)}")
    labels = [_labels(term, len(tensor.shape)) for term, tensor in zip(terms, tensors, strict=True)]
    dots = max((sum(label[0] == "." for label in each) for each in labels), default=0)
    result = _labels(output, 0, dots) if arrow else _implied(labels, dots)
    sizes = _sizes(labels, tensors)
    if len(set(result)) != len(result) or not set(result) <= set(sizes):
        raise ValueError(f"the output of {equation!r} repeats a letter, or has one that no operand has")
    shape = tuple(sizes[label] for label in result)
    summed = [label for label in sizes if label not in result]
    repeated = [label for label in summed if sizes[label] > 1 and not all(label in own for own in labels)]
    has_partial_sums = len(tensors) > 2 and len(repeated) > 0
    data: list[float | int | Unspecified] = []
    for index in product(*map(range, shape)):
        products = _factors(labels, tensors, result, index, summed, sizes)
        total = reduce(add_exact, (reduce(multiply_exact, factors) for factors in products), (0, 0))
        has_nan = any(_is_nan(factor) for factors in products for factor in factors)
        is_open = has_partial_sums and _is_nan(total) and not has_nan
        data.append(UNSPECIFIED if is_open else round_total(dtype, total))
    return RefTensor(dtype, shape, data)


def _factors(
    labels: list[Labels], tensors: list[RefTensor], result: Labels, index: tuple[int, ...], summed: Labels,
    sizes: dict[str, int],
) -> list[tuple[Exact, ...]]:  # fmt: skip
    """The factors of the terms that add up to the element of `index`: one of each tensor for each index of the summed
    letters."""
    columns = []
    for own, tensor in zip(labels, tensors, strict=True):
        strides = [
            0 if size == 1 else stride for size, stride in zip(tensor.shape, strides_of(tensor.shape), strict=True)
        ]
        stride_of = {label: sum(s for name, s in zip(own, strides, strict=True) if name == label) for label in own}
        start = sum(i * stride_of.get(label, 0) for label, i in zip(result, index, strict=True))
        at = positions([sizes[label] for label in summed], [stride_of.get(label, 0) for label in summed], start)
        columns.append([exact(tensor.data[i]) for i in at])
    return list(zip(*columns, strict=True))


def _is_nan(number: Exact) -> bool:
    return isinstance(number, float) and isnan(number)


def _labels(term: str, rank: int, dots: int | None = None) -> Labels:
    before, ellipsis, after = term.partition("...")
    letters = [*before, *after]
    if not all(letter.isascii() and letter.isalpha() for letter in letters):
        raise ValueError(f"subscripts are letters, found {term!r}")
    hidden = (rank - len(letters) if dots is None else dots) if ellipsis else 0
    if hidden < 0 or (dots is None and hidden + len(letters) != rank):
        raise ValueError(f"subscripts {term!r} do not fit {rank} dims")
    return [*before, *(f"...{i}" for i in reversed(range(hidden))), *after]


def _implied(labels: list[Labels], dots: int) -> Labels:
    letters = [label for each in labels for label in each if label[0] != "."]
    return [f"...{i}" for i in reversed(range(dots))] + sorted({x for x in letters if letters.count(x) == 1})


def _sizes(labels: list[Labels], tensors: list[RefTensor]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for own, tensor in zip(labels, tensors, strict=True):
        diagonal: dict[str, int] = {}
        for label, size in zip(own, tensor.shape, strict=True):
            if diagonal.setdefault(label, size) != size:
                raise ValueError(f"subscript {label} repeats in an operand with sizes {diagonal[label]} and {size}")
            known = sizes.setdefault(label, size)
            if 1 not in (known, size) and known != size:
                raise ValueError(f"subscript {label} has sizes {known} and {size}")
            sizes[label] = size if known == 1 else known
    return sizes
