"""One element of each row of docs/torch-cpu.md that is about writes: what is right, whatever torch returns.

The proofs use exact arithmetic (fractions, integers) alone.
"""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import conform

# 256 + 1 is a tie of bfloat16, and is rounded to 256: added one by one the ones are lost, together they are not.
TERMS = [256.0, 1.0, 1.0, 1.0]
SUM = 260.0  # 259 lies between 258 and 260: a tie, to the even significand 65 * 2^2
WRITES = np.zeros(4, np.int64)


def bf16(values: list) -> np.ndarray:
    return np.array(values).astype(ml_dtypes.bfloat16)


def test_the_sum_of_the_terms_rounds_to_a_number_that_is_not_the_first():
    assert Fraction(260) - sum(map(Fraction, TERMS)) == sum(map(Fraction, TERMS)) - Fraction(258)
    assert float(bf16([259.0])[0]) == SUM


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("aten::embedding_dense_backward", (bf16([[x] for x in TERMS]), WRITES, 1, -1, False)),
        ("aten::index_add", (bf16([0.0]), 0, WRITES, bf16(TERMS))),
    ],
)
def test_accumulated_halves_are_one_sum_rounded_once(op: str, args: tuple):
    golden = conform.golden(op, *args)
    assert golden.value.ravel().tolist() == [SUM]
    assert golden.error_ulp(bf16([256.0]).reshape(golden.value.shape)).tolist() in ([1.5], [[1.5]])


def test_a_mean_of_halves_is_one_quotient_rounded_once():
    terms = [256.0, 1.0, 2.0**-6]
    mean = sum(map(Fraction, terms)) / 3  # 85.67; of their sum rounded to the half type, 258, it would be 86
    assert abs(mean - Fraction(171, 2)) < abs(mean - 86)
    golden = conform.golden("aten::scatter_reduce.two", bf16([0.0]), 0, WRITES[:3], bf16(terms), "mean",
                            include_self=False)  # fmt: skip
    assert golden.value.tolist() == [85.5]
    assert golden.error_ulp(bf16([86.0])).tolist() == [float((86 - mean) * 2)]


def test_the_mean_of_a_bag_of_halves_is_one_quotient_rounded_once():
    """The numbers of the mean above, as rows of a table."""
    table = bf16([[256.0], [1.0], [2.0**-6]])
    mean = Fraction(256 + 1 + 2**-6) / 3
    result, *_ = conform.golden("aten::_embedding_bag", table, np.arange(3), WRITES[:1], mode=1).outcome.goldens
    assert result.value.tolist() == [[85.5]]
    assert abs(mean - Fraction(171, 2)) < abs(mean - 86)


def test_the_largest_of_a_bag_with_nan_is_nan_in_either_order():
    """As torch.max has it, which torch.nn.EmbeddingBag names for mode "max"."""
    table = np.array([[1.0], [np.nan]], np.float32)
    for order in ([0, 1], [1, 0]):
        result, *_ = conform.golden("aten::_embedding_bag", table, np.array(order), WRITES[:1], mode=2).outcome.goldens
        assert np.isnan(result.value).tolist() == [[True]]


def test_a_bag_and_a_distance_read_the_elements_of_tensors_that_are_not_contiguous():
    table, indices = np.array([[1.0], [2.0], [4.0]], np.float32), np.array([0, 9, 2, 9])[::2]
    result, *_ = conform.golden("aten::_embedding_bag", table, indices, np.array([0, 9, 1, 9])[::2]).outcome.goldens
    assert result.value.tolist() == [[1.0], [4.0]]
    points = np.array([[1.0, 4.0], [2.0, 6.0]], np.float32).T  # (1, 2) and (4, 6): 3^2 + 4^2 = 5^2
    assert conform.golden("aten::_pdist_forward", points, 2.0).value.tolist() == [5.0]
