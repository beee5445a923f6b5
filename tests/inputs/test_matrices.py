"""Matrices: well conditioned as they are drawn, hard as the value classes have them."""

from __future__ import annotations

import numpy as np
import pytest

from conform.call.arguments import Arguments
from conform.domains.specs import spec_of
from conform.inputs.matrices import KINDS, drawn, of_class
from conform.inputs.values import value_classes, with_values
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS


def matrices(kind: str, dtype: str, *shape: int) -> np.ndarray:
    return drawn(kind, FORMATS[dtype], shape, Stream(0, f"{kind} {dtype}", 0, "matrices"))


@pytest.mark.parametrize("rows", [1, 2, 5, 33, 65])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_drawn_is_well_conditioned(kind: str, dtype: str, rows: int) -> None:
    stack = matrices(kind, dtype, 8, rows, rows)
    assert stack.dtype == dtype
    assert np.linalg.cond(stack).max() < 30
    if kind in ("dominant", "factor"):
        assert np.linalg.cond(np.tril(stack)).max() < 30
        assert np.linalg.cond(np.tril(stack, -1) + np.eye(rows)).max() < 200
    if kind == "factor":
        assert (np.diagonal(stack, axis1=1, axis2=2) > 0).all()
    if kind == "definite":
        assert (stack == np.conj(np.swapaxes(stack, 1, 2))).all()
        assert np.linalg.eigvalsh(stack).min() > 0


def test_what_is_no_square_matrix_is_drawn_all_the_same() -> None:
    for shape in ((), (3,), (2, 3), (0, 0), (2, 0, 3)):
        assert matrices("definite", "float32", *shape).shape == shape


def hard(name: str, kind: str, dtype: str = "float64") -> np.ndarray:
    return of_class(name, kind, np.zeros((4, 5, 5), dtype), Stream(0, f"{name} {kind}", 0, "values"))


def test_graded_matrices_have_rows_of_all_sizes() -> None:
    rows = np.abs(hard("graded", "dominant")).max(axis=-1)
    assert rows.max() / rows.min() > 2.0**8
    definite = hard("graded", "definite", "complex64")
    assert (definite == np.conj(np.swapaxes(definite, 1, 2))).all()


def test_singular_matrices() -> None:
    assert (np.diagonal(hard("singular", "dominant"), axis1=1, axis2=2) == 0).sum() == 2
    assert (np.linalg.eigvalsh(hard("singular", "definite")).min(axis=1) < 0).tolist() == [True, False] * 2
    assert (np.abs(np.linalg.det(hard("singular", "invertible"))) < 1e-12).tolist() == [True, False] * 2


def test_permuted_matrices_have_one_number_a_row_and_column() -> None:
    stack = np.abs(hard("permuted", "invertible"))
    assert (stack.sum(axis=1) == 1).all()
    assert (stack.sum(axis=2) == 1).all()
    assert set(stack.ravel()) == {0.0, 1.0}


def test_the_classes_of_an_op_on_matrices() -> None:
    op = spec_of("aten::cholesky_solve")
    call = Arguments([np.zeros((3, 2), np.float32), np.zeros((3, 3), np.float32)])
    assert value_classes(call, op) == ["typical", "special", "special.0", "special.1", "graded", "singular", "hilbert"]
    sides, factor = with_values(call, "hilbert", Stream(0, "hilbert", 0, "values"), op).args
    assert not sides.any()
    assert factor[1].tolist() == [0.5, np.float32(1 / 3), 0.25]
    assert value_classes(Arguments([np.zeros((0, 2)), np.zeros((0, 0))]), op) == ["typical"]
