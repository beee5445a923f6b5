"""Probes: which ops have which, what stands in them, and that their sums are exact."""

from __future__ import annotations

import numpy as np
import pytest

from conform.call.arguments import Arguments, tensors
from conform.domains.specs import spec_of
from conform.inputs import probes
from conform.inputs.values import value_classes, with_values
from conform.interp.evaluate import evaluate
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS
from conform.numerics.grid import is_exact

X = np.ones((3, 8), np.float32)
DTYPES = ("float16", "bfloat16", "float32", "float64")


def probed(op: str, arguments: Arguments, values: str) -> list[np.ndarray]:
    return tensors(with_values(arguments, values, Stream(0, op, 0, values), spec_of(op)))


@pytest.mark.parametrize(
    ("op", "arguments", "classes"),
    [
        ("aten::sum", Arguments([X]), ["exact"]),
        ("aten::mm", Arguments([X, X.T]), ["exact", "one_hot"]),
        ("aten::rms_norm", Arguments([X, [8]]), ["exact", "structured"]),
        ("aten::var.correction", Arguments([X, [1]]), ["structured", "shifted"]),
        ("aten::native_layer_norm", Arguments([X, [8], None, None, 1e-5]), ["structured", "shifted"]),
        ("aten::_softmax", Arguments([X, 1, False]), ["structured"]),
        ("aten::scaled_dot_product_attention", Arguments([X, X, X]), ["structured"]),
        ("aten::amax", Arguments([X]), []),
        ("aten::sum", Arguments([X.astype(np.int32)]), []),
        ("aten::sum", Arguments([X], literal=frozenset({0})), []),
        ("aten::scaled_dot_product_attention", Arguments([X, X, X], literal=frozenset({1})), []),
    ],
)
def test_which_ops_have_which(op: str, arguments: Arguments, classes: list[str]) -> None:
    found = value_classes(arguments, spec_of(op))
    assert [one for one in found if one in probes.KINDS] == classes


def test_integers_of_both_signs_and_none_of_them_0() -> None:
    for dtype, largest in ((np.float16, 12), (np.float64, 3)):
        args = [np.ones((5, 90), dtype), np.ones((90, 5), dtype)]
        for tensor in probed("aten::mm", Arguments(args), "exact"):
            assert set(np.unique(tensor).tolist()) == {*range(-largest, 0), *range(1, largest + 1)}
            assert tensor.dtype == dtype


def test_a_1_in_every_line_beside_numbers_that_fill_their_significands() -> None:
    hot, filled = probed("aten::mm", Arguments([np.ones((4, 6), np.float32), np.ones((6, 2), np.float32)]), "one_hot")
    assert hot.tolist() == [
        [1, 0, 0, 0, 0, 0],
        [0, 0, -1, 0, 0, 1],
        [0, 0, 0, 0, 1, 0],
        [-1, 0, 0, 1, 0, 0],
    ]
    assert ((filled > 1) & (filled < 2) & (filled.view(np.int32) % 2 == 1)).all()


@pytest.mark.parametrize(
    ("op", "shapes", "hot"),
    [
        ("aten::bmm", [(2, 3, 4), (2, 4, 1)], [[[1, 0, 0, 0], [0, -1, 0, 1], [0, 0, 1, 0]],
                                               [[0, -1, 0, 1], [0, 0, 1, 0], [0, 1, 0, -1]]]),
        ("aten::linear", [(1, 2, 3), (2, 3)], [[[1, 0, 0], [0, -1, 1]]]),
        ("aten::dot", [(3,), (3,)], [1, 0, 0]),
        ("aten::conv1d", [(2, 2, 2), (1, 2, 1)], [[[1, -1], [0, 1]], [[-1, 1], [1, 0]]]),
        ("aten::conv1d", [(2, 2), (1, 2, 1)], [[1, -1], [0, 1]]),
        ("aten::addr", [(2, 2), (2,), (2,)], [1, 1]),
    ],
)  # fmt: skip
def test_a_1_stands_in_every_line_along_the_terms(op: str, shapes: list[tuple], hot: list) -> None:
    tensors = [np.ones(shape, np.float32) for shape in shapes]
    found = probed(op, Arguments(tensors), "one_hot")
    assert found[-2].tolist() == hot


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values", ["exact", "one_hot"])
@pytest.mark.parametrize("terms", [33, 65537])
def test_products_of_probes_are_exact_in_any_order(dtype: str, values: str, terms: int) -> None:
    storage = FORMATS[dtype].storage
    args = probed("aten::mm", Arguments([np.ones((2, terms), storage), np.ones((terms, 2), storage)]), values)
    golden = evaluate("aten::mm", args, {}).goldens[0]
    compute = FORMATS["float64" if dtype == "float64" else "float32"]
    assert is_exact(compute, golden.grid, golden.real.hi, golden.magnitude, compute.min_subnormal).all()


@pytest.mark.parametrize(("eps", "size"), [(1e-5, 2.0**-8), (0.25, 0.5), (0.0, 1.0), (2.5, 2.0), (1e-300, 1.0)])
def test_deviations_are_next_to_the_root_of_eps(eps: float, size: float) -> None:
    (x,) = probed("aten::native_layer_norm", Arguments([X, [8], None, None, eps]), "structured")
    assert set(np.abs(x).ravel().tolist()) == {size}
    assert len(np.unique(x)) == 2


@pytest.mark.parametrize(("dtype", "mean"), list(zip(DTYPES, (2.0**9, 2.0**6, 2.0**12, 2.0**26), strict=True)))
def test_shifted_numbers(dtype: str, mean: float) -> None:
    (x,) = probed("aten::var.correction", Arguments([np.ones((40, 50), FORMATS[dtype].storage), [1]]), "shifted")
    wide = x.astype(np.float64)
    assert abs(wide.mean() - mean) < 0.2
    assert 0.9 < wide.std() < 1.1


def test_three_keys_count_for_a_query_and_one_for_the_next() -> None:
    args = [np.ones((2, 8), np.float32), np.ones((50, 8), np.float32), np.ones((50, 4), np.float32)]
    args = probed("aten::scaled_dot_product_attention", Arguments(args), "structured")
    query, key, _ = (one.astype(np.float64) for one in args)
    e = np.exp(query @ key.T / np.sqrt(8))
    assert np.count_nonzero(e > 1e-100, axis=1).tolist() == [3, 3]
    weights = e / e.sum(1, keepdims=True)
    assert (weights[0, [0, 25, 49]] > 0.2).all()
    assert weights[1, 0] > 1 - 1e-6
