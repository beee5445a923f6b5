"""Products of groups of rows, columns or terms, as a layer of experts multiplies them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.blocks.assembly import Assembly
from conform.interp.blocks.converted import moved
from conform.interp.blocks.tiles import Contraction
from conform.interp.golden import Golden, Outcome
from conform.interp.ops.contraction.matrices import of_stack, products
from conform.interp.ops.contraction.sums import float_product
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.interp.traits import Products
from conform.numerics.formats import Format, format_of

_ALL = slice(None)


def _count(arguments: Mapping[str, Any]) -> int:
    lhs, rhs = np.shape(arguments["self"]), np.shape(arguments["mat2"])
    groups = np.size(arguments["offs"]) if len(lhs) == len(rhs) == 2 else lhs[0] if len(lhs) == len(rhs) else 1
    return groups * prod(lhs[-2:-1]) * prod(rhs[-1:])


def _sums(
    self: np.ndarray, mat2: np.ndarray, offs: np.ndarray | None = None, bias: None = None, out_dtype: str | None = None
) -> Contraction:
    fmt = format_of(self)
    if offs is None:
        return products(fmt, self, mat2)
    ends = offs.tolist()
    if ends != sorted(ends):
        raise Unjudged("groups of which one ends before the one before it ends (P205)")
    if self.ndim == mat2.ndim:
        return _of_terms(fmt, self, mat2, ends)
    if self.ndim == 2:
        return Contraction(self.shape[:1], mat2.shape[-1], _of_rows(fmt, self, mat2, ends))
    columns, stack = (moved(one, lambda part: part.mT) for one in (mat2, self))
    return Contraction(columns.shape[:1], stack.shape[-1], _of_rows(fmt, columns, stack, ends), axis=0)


@semantics("aten::_grouped_mm", accumulates="self", products=Products(("self", "mat2"), None, None, _sums),
           elements=_count, ignores=("bias", "out_dtype"))  # fmt: skip
def grouped_mm(self: np.ndarray, mat2: np.ndarray, offs: np.ndarray | None = None) -> Outcome:
    """Of stacks [g, m, k] and [g, k, n] the products of their matrices. A matrix has groups instead, of which group g
    ends before offs[g], and the next begins there: rows of self [m, k], each group of which is multiplied by its own
    mat2[g], columns of mat2 [k, n], by which its own self[g] is multiplied, or of two matrices the terms of
    result[g] [m, n]. Rows or columns behind the last group are open (P205), and a backend may refuse memory formats and
    sizes"""
    return Outcome((_sums(self, mat2, offs).golden(),), refusal="P205")


def _of_rows(
    fmt: Format, matrix: np.ndarray, stack: np.ndarray, ends: list[int]
) -> Callable[[slice, slice], Golden]:
    """The tiles of a matrix [m, k], of whose rows each group is multiplied by its own matrix [k, n] of the stack."""

    def tile(rows: slice, columns: slice) -> Golden:
        whole = Assembly(rows.stop - rows.start, columns.stop - columns.start)
        for own, group in _groups(rows, ends):
            golden = float_product(fmt, matrix[own], stack[min(group, stack.shape[0] - 1)], _ALL, columns)
            is_behind = np.full(golden.value.shape, group == len(ends))
            whole.fill((slice(own.start - rows.start, own.stop - rows.start), _ALL), golden.opened(is_behind, "P205"))
        return whole.golden()

    if not stack.shape[0]:
        return partial(_of_no_group, fmt)
    return tile


def _of_no_group(fmt: Format, rows: slice, columns: slice) -> Golden:
    golden = exact(np.zeros((rows.stop - rows.start, columns.stop - columns.start), fmt.storage), fmt)
    return golden.opened(np.ones(golden.value.shape, bool), "P205")


def _groups(rows: slice, ends: list[int]) -> list[tuple[slice, int]]:
    """Which of the rows lie in each group, and its number, that of what lies behind the last among them."""
    begins = np.clip([0, *ends, rows.stop], rows.start, rows.stop).tolist()
    found = [(slice(*each), number) for number, each in enumerate(pairwise(begins))]
    return [one for one in found if one[0].stop > one[0].start] or found[:1]


def _of_terms(fmt: Format, self: np.ndarray, mat2: np.ndarray, ends: list[int]) -> Contraction:
    """For each group of terms the product of some columns of self and some rows of mat2."""
    (rows, _), columns = self.shape, mat2.shape[-1]

    def of_matrices(index: tuple[int | np.ndarray, ...]) -> Callable[[slice, slice], Golden]:
        (group,) = index
        own = slice(ends[group - 1] if group else 0, ends[group])

        def tile(some: slice, columns: slice) -> Golden:
            golden = float_product(fmt, self[:, own], mat2[own], some, columns)
            return replace(golden, terms=np.full(golden.value.shape, golden.terms))

        return tile

    if len(ends) * rows == 0:
        nothing = np.zeros((0, 0), self.dtype), np.zeros((0, columns), mat2.dtype)
        return Contraction((len(ends), rows), columns, partial(float_product, fmt, *nothing), axis=-1)
    return Contraction((len(ends), rows), columns, of_stack(of_matrices, (len(ends),), rows, together=1), axis=-1)
