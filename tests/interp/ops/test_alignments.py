"""ctc_loss: probabilities of a few paths, added up by hand."""

from __future__ import annotations

from math import inf, log, nan

import numpy as np
import pytest

from conform.errors import Unjudged
from tests.interp.ops.literal import check, check_open, f32, f64, goldens, i64

NONE, MEAN, SUM = range(3)
CTC = "aten::ctc_loss.IntList"


def steps(*probabilities: list[float]) -> np.ndarray:
    """[t, 1, classes]: the logarithms."""
    with np.errstate(divide="ignore"):
        return f64(np.log(np.array(probabilities))[:, None])


def test_all_paths() -> None:
    """Of blank - and label a: aa, -a and a- give a, 3/4 of all paths; only -a- ... no path of two steps gives aa."""
    half = steps([0.5, 0.5], [0.5, 0.5])
    golden = goldens(CTC, half, i64([[1]]), [2], [1], 0, NONE)[0]
    assert abs(golden.value[0] + log(0.75)) < 1e-15
    check(CTC, half, i64([[1, 1]]), [2], [2], 0, NONE, gives=f64([inf]))
    check(CTC, half, i64([[1, 1]]), [2], [2], 0, NONE, True, gives=f64([0.0]))


def test_one_path_is_the_sum_of_its_logarithms() -> None:
    """A target as long as the sequence, one of no labels, and sequences of other lengths."""
    numbers = f32([[[-1.0, -2.0, -0.25], [-3.0, -0.5, -4.0]], [[-8.0, -16.0, -32.0], [-64.0, -1.0, -2.0]]])
    targets = i64([[1, 2], [0, 0]])
    check(CTC, numbers, targets, [2, 1], [2, 0], 0, NONE, gives=f32([34.0, 3.0]))
    check(CTC, numbers, targets, [2, 1], [2, 0], 0, SUM, gives=f32(37.0))
    check(CTC, numbers, targets, [2, 1], [2, 0], 0, MEAN, gives=f32((34.0 / 2 + 3.0) / 2))
    check(CTC, numbers, i64([1, 2]), [2, 1], [2, 0], 0, NONE, gives=f32([34.0, 3.0]))
    check("aten::ctc_loss.Tensor", numbers, targets, i64([2, 1]), i64([2, 0]), 0, NONE, gives=f32([34.0, 3.0]))
    losses, alphas = goldens("aten::_ctc_loss", numbers, targets, [2, 1], [2, 0])
    assert (losses.value.tolist(), alphas.undocumented) == ([34.0, 3.0], True)


def test_concatenated_targets_beside_tensors_are_not_refused() -> None:
    """The documentation has them, whatever the number of samples is; the kit judges them beside lists of lengths."""
    numbers = f32(np.zeros((5, 2, 4)))
    for targets in ([1, 2, 3], [1, 2]):
        with pytest.raises(Unjudged, match="concatenated ones are judged beside numbers"):
            goldens("aten::ctc_loss.Tensor", numbers, i64(targets), i64([5, 4]), i64([len(targets) - 1, 1]))


def test_a_blank_lies_between_equal_labels() -> None:
    """a-a is the one path of three steps that gives aa; another class may be the blank."""
    sure = steps([0.0, 1.0], [1.0, 0.0], [0.0, 1.0])
    assert goldens(CTC, sure, i64([[1, 1]]), [3], [2], 0, NONE)[0].value.tolist() == [0.0]
    assert goldens(CTC, f64(sure[..., ::-1]), i64([[0, 0]]), [3], [2], 1, NONE)[0].value.tolist() == [0.0]


@pytest.mark.parametrize("number", [nan, inf])
def test_no_probability_leaves_the_loss_open(number: float) -> None:
    numbers = f32([[[-1.0, number, -1.0]]])
    check_open(CTC, numbers, i64([[1]]), [1], [1], 0, NONE, gives=f32([1.0]), where_open=[True], rule="P156")
    check(CTC, numbers, i64([[2]]), [1], [1], 0, NONE, gives=f32([1.0]))


def test_a_label_that_is_the_blank_leaves_the_loss_open() -> None:
    numbers = f32([[[-1.0, -2.0], [-1.0, -2.0]]])
    check_open(CTC, numbers, i64([[0], [1]]), [1, 1], [1, 1], 0, NONE, gives=f32([0.0, 2.0]), where_open=[True, False],
               rule="P156")  # fmt: skip


def test_probabilities_far_below_float64_s_range() -> None:
    """Two paths of e^-5000 each."""
    golden = goldens(CTC, f64([[[-2500.0, -2500.0]], [[-2500.0, -inf]]]), i64([[1]]), [2], [1], 0, NONE)[0]
    assert golden.value.tolist() == [5000.0]
    golden = goldens(CTC, f64([[[-2500.0, -2500.0]], [[-2500.0, -2500.0]]]), i64([[1]]), [2], [1], 0, NONE)[0]
    assert abs(golden.value[0] - (5000.0 - log(3))) < 1e-11
