"""Products of several matrices: exact, and rounded once."""

from __future__ import annotations

import itertools
from math import isfinite, isnan

from flint import fmpz_mat

from conform.refs.contraction.products import one_dtype
from conform.refs.exact.promotion import INTEGER, category
from conform.refs.exact.reals import round_exact, scale_to_integers
from conform.refs.exact.rounding import wrap_integer
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import reference


@reference("aten::linalg_multi_dot")
def multi_dot(tensors: list[RefTensor]) -> RefTensor:
    """The product of two matrices or more; the first may be a row vector, and the last a column vector."""
    if len(tensors) < 2:
        raise ValueError(f"a product of {len(tensors)} matrices")
    first, *between, last = tensors
    if any(len(one.shape) not in (1, 2) for one in (first, last)):
        raise ValueError(f"multi_dot of {[one.shape for one in tensors]}")
    row = RefTensor(first.dtype, (1, *first.shape), first.data) if len(first.shape) == 1 else first
    column = RefTensor(last.dtype, (*last.shape, 1), last.data) if len(last.shape) == 1 else last
    whole = _product([row, *between, column])
    return RefTensor(whole.dtype, (*first.shape[:-1], *last.shape[1:]), whole.data)


@reference("aten::chain_matmul")
def chain_matmul(matrices: list[RefTensor]) -> RefTensor:
    """The product of matrices, one or more."""
    if not matrices:
        raise ValueError("a product of no matrices")
    if len(matrices) == 1 and len(matrices[0].shape) == 2:
        return matrices[0]
    return _product(matrices)


def _product(matrices: list[RefTensor]) -> RefTensor:
    dtype = one_dtype("a product of matrices", *matrices)
    if any(len(one.shape) != 2 for one in matrices):
        raise ValueError(f"matrices of shapes {[one.shape for one in matrices]}")
    if any(one.shape[1] != other.shape[0] for one, other in itertools.pairwise(matrices)):
        raise ValueError(f"matrices of shapes {[one.shape for one in matrices]} have no product")
    shape = (matrices[0].shape[0], matrices[-1].shape[1])
    total, exponent = None, 0
    for one in matrices:
        integers, own = scale_to_integers([x if isfinite(x) else 0 for x in one.data])
        factor, exponent = fmpz_mat(*one.shape, integers), exponent + own
        total = factor if total is None else total * factor
    places = itertools.product(*map(range, shape))
    data = [_element(dtype, matrices, place, (int(total[place]), exponent)) for place in places]
    return RefTensor(dtype, shape, data)


def _element(dtype: str, matrices: list[RefTensor], place: tuple[int, int], number: tuple[int, int]) -> object:
    """The number rounded; what two matrices have of infinities, and of more where some order meets one, is open."""
    if category(dtype) == INTEGER:
        return wrap_integer(dtype, number[0] << number[1])
    lines = [_of_element(matrices, which, place) for which in range(len(matrices))]
    if all(isfinite(x) for line in lines for x in line):
        return round_exact(dtype, number)
    if len(matrices) == 2:
        return sum(x * y for x, y in zip(*lines, strict=True) if not (isfinite(x) and isfinite(y)))
    has_terms = all(one.shape[0] for one in matrices[1:])
    return float("nan") if has_terms and any(isnan(x) for line in lines for x in line) else UNSPECIFIED


def _of_element(matrices: list[RefTensor], which: int, place: tuple[int, int]) -> list[float]:
    """The elements of a factor on which that of the product at `place` depends in some order."""
    one, (row, column) = matrices[which], place
    width = one.shape[1]
    if which == 0:
        return one.data[row * width : (row + 1) * width]
    return one.data[column::width] if which == len(matrices) - 1 else one.data
