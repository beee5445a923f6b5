"""Running extremes, products and logarithms of sums."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import mpmath
import numpy as np
import pytest

from conform.contracts.indices import equal_rank
from conform.errors import InvalidArguments
from tests.interp.ops.literal import bf16, boolean, check, check_open, f16, f32, f64, goldens, i8, i64, u8

Prefixes = pytest.mark.parametrize("blocks", [None, 4], ids=["one block", "pieces of 4"])


@pytest.fixture(autouse=True)
def in_pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows longer than a block come in pieces, where the test says so."""
    if size := request.node.callspec.params.get("blocks") if hasattr(request.node, "callspec") else None:
        monkeypatch.setattr("conform.interp.blocks.blocks.BLOCK", size)


@Prefixes
def test_cummax(blocks: int | None) -> None:
    row = f32([-0.5, -1.0, 0.25, 0.0, 0.125, 2.0, -3.0, 1.5])
    check("aten::cummax", row, 0, gives=(f32([-0.5, -0.5, 0.25, 0.25, 0.25, 2.0, 2.0, 2.0]),
                                         i64([0, 0, 2, 2, 2, 5, 5, 5])))  # fmt: skip
    check("aten::cummin", row, -1, gives=(f32([-0.5, -1.0, -1.0, -1.0, -1.0, -1.0, -3.0, -3.0]),
                                          i64([0, 1, 1, 1, 1, 1, 6, 6])))  # fmt: skip


def test_running_extremes_along_a_dim_and_of_other_dtypes() -> None:
    check("aten::cummax", i8([[1, -128], [127, 3]]), 0, gives=(i8([[1, -128], [127, 3]]), i64([[0, 0], [1, 1]])))
    check("aten::cummin", u8([0, 255, 1]), 0, gives=(u8([0, 0, 0]), i64([0, 0, 0])))
    check("aten::cummin", i8([-127, -128, 0]), 0, gives=(i8([-127, -128, -128]), i64([0, 1, 1])))
    check("aten::cummax", boolean([[False, True]]), 1, gives=(boolean([[False, True]]), i64([[0, 1]])))
    check("aten::cummin", boolean([True, False]), 0, gives=(boolean([True, False]), i64([0, 1])))
    check("aten::cummax", f16(2.0), -1, gives=(f16(2.0), i64(0)))
    check("aten::cummax", np.empty((2, 0), np.float32), 1, gives=(np.empty((2, 0), np.float32), np.empty((2, 0), int)))
    with pytest.raises(InvalidArguments):
        goldens("aten::cummax", f32([1.0, 2.0]), 1)


@Prefixes
def test_nan_is_the_extreme_from_its_place_on(blocks: int | None) -> None:
    for op in ("aten::cummax", "aten::cummin"):
        values, indices = goldens(op, f32([1.0, 1.0, nan, 5.0, -5.0, nan, 0.0]), 0)
        assert np.isnan(values.value).tolist() == [False, False, True, True, True, True, True]
        assert indices.value.tolist() == [0, 1, 2, 2, 2, 5, 5]


@pytest.mark.parametrize(
    ("given", "are_right"),
    [
        ([0, 0, 2, 0, 3, 2], [True, True, True, True, True, True]),
        ([0, 2, 2, 3, 4, 4], [True, False, True, True, False, False]),  # 2 lies beyond place 1; a 2 stands at 4
        ([0, 1, 3, 0, 5, 9], [True, False, False, True, False, False]),  # 9 lies outside
        ([-1, 0, 0, -3, 0, 5], [False, True, True, False, True, True]),
    ],
)
def test_which_indices_of_equal_extremes_are_right(given: list, are_right: list) -> None:
    """P140, of 3, 1, 3, 3, 2, 3: those of a 3 at or before the place."""
    _, golden = goldens("aten::cummax", f32([3.0, 1.0, 3.0, 3.0, 2.0, 3.0]), 0)
    assert equal_rank(golden.value, np.array(given), golden.ties).tolist() == are_right


def test_zeros_of_both_signs_are_equal_extremes() -> None:
    values, indices = goldens("aten::cummax", f32([[-0.0, 0.0], [0.0, -0.0]]), 1)
    assert values.zero_sign_free
    assert equal_rank(indices.value, np.array([[0, 0], [0, 1]]), indices.ties).all()


@Prefixes
def test_cumprod(blocks: int | None) -> None:
    check("aten::cumprod", f32([2.0, -0.5, 3.0, -1.0, 0.25, 8.0]), 0, gives=f32([2.0, -1.0, -3.0, 3.0, 0.75, 6.0]))
    check("aten::cumprod", i8([100, 100, 3, 1, 1, -1]), 0, gives=i64([100, 10000, 30000, 30000, 30000, -30000]))
    check("aten::cumprod", i8([100, 100, 3, 1, 1, -1]), 0, dtype="int8", gives=i8([100, 16, 48, 48, 48, -48]))
    check(
        "aten::cumprod", f64([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), 0, gives=f64([[1.0, 2.0], [3.0, 8.0], [15.0, 48.0]])
    )
    check("aten::cumprod", boolean([True, True, False]), 0, gives=i64([1, 1, 0]))
    check("aten::cumprod", f16(3.0), 0, dtype="float32", gives=f32(3.0))


@Prefixes
def test_classes_of_running_products(blocks: int | None) -> None:
    check("aten::cumprod", f32([-2.0, 0.0, -1.0, 5.0, inf, 1.0]), 0, gives=f32([-2.0, -0.0, 0.0, 0.0, nan, nan]))
    check("aten::cumprod", f32([-inf, -1.0, 2.0, 2.0, nan, 0.0]), 0, gives=f32([-inf, inf, inf, inf, nan, nan]))


@Prefixes
def test_a_running_product_that_some_order_cannot_hold_is_open_from_there_on(blocks: int | None) -> None:
    """P61: of the magnitudes over 1 the product is 2^128 from the fourth on, and 0.5 makes it no smaller."""
    check_open("aten::cumprod", f32([2.0, 2.0**126, 1.0, 2.0, 0.5, 0.0, nan]), 0,
               gives=f32([2.0, 2.0**127, 2.0**127, 0.0, 0.0, 0.0, nan]),
               where_open=[False, False, False, True, True, True, False], rule="P61")  # fmt: skip


@Prefixes
def test_running_products_are_rounded_once(blocks: int | None) -> None:
    factors = 1 + np.float32(np.random.default_rng(0).standard_normal((3, 67))) / 8
    (golden,) = goldens("aten::cumprod", factors, 1)
    for row, values in zip(factors.astype(float), golden.value, strict=True):
        exact = Fraction(1)
        for factor, value in zip(row, values, strict=True):
            exact *= Fraction(factor)
            below, above = (Fraction(float(np.nextafter(value, np.float32(end)))) for end in (-inf, inf))
            assert min(exact - below, above - exact) >= abs(exact - Fraction(float(value)))


def test_running_products_of_subnormal_results_come_from_fractions() -> None:
    """2^-100 three times is below every float32 number, and beside 2^-149 a half one is a tie."""
    halves = f64([2.0**-1000, 3.0, 2.0**-75, 1.0])
    (golden,) = goldens("aten::cumprod", halves, 0)
    assert golden.value.tolist() == [2.0**-1000, 3 * 2.0**-1000, 2.0**-1073, 2.0**-1073]  # 1.5 units, to even


@Prefixes
def test_logcumsumexp(blocks: int | None) -> None:
    row = [0.5, -1.25, 3.0, 3.0, -50.0, 100.0, -2.0]
    (golden,) = goldens("aten::logcumsumexp", f64(row), 0)
    with mpmath.workdps(60):
        sums = np.cumsum([mpmath.exp(x) for x in row])
        assert golden.value.tolist() == [float(mpmath.log(total)) for total in sums]


@Prefixes
def test_logcumsumexp_of_infinities_and_nan(blocks: int | None) -> None:
    check("aten::logcumsumexp", f32([-inf, -inf, 1.0, -inf, inf, 2.0, -inf, nan, 1.0]), 0,
          gives=f32([-inf, -inf, 1.0, 1.0, inf, inf, inf, nan, nan]))  # fmt: skip
    check("aten::logcumsumexp", np.empty((0, 3), np.float32), 1, gives=np.empty((0, 3), np.float32))
    check("aten::logcumsumexp", bf16(-3.0), -1, gives=bf16(-3.0))
    with pytest.raises(InvalidArguments, match=r"dtype\(self\)"):
        goldens("aten::logcumsumexp", i64([1, 2]), 0)


def test_a_faint_logarithm_beside_zero_has_its_own_digits() -> None:
    """log(1 + e^-700) is e^-700, and log(1 + e^-2000) a zero of no sign to float64."""
    (golden,) = goldens("aten::logcumsumexp", f64([[0.0, -700.0], [-2000.0, 0.0]]), 1)
    with mpmath.workdps(60):
        assert golden.value.tolist() == [[0.0, float(mpmath.exp(-700))], [-2000.0, 0.0]]


def serial(row: np.ndarray) -> np.ndarray:
    """As kernels do it, in float32: max + log1p(e^(min - max)) of the result before and the next element."""
    results = [row[0]]
    for x in row[1:]:
        y = results[-1]
        results.append(np.maximum(x, y) + np.log1p(np.exp(np.minimum(x, y) - np.maximum(x, y))))
    return np.array(results)


def in_pairs(row: np.ndarray) -> np.ndarray:
    """Each result joined with the one of as many elements before it."""
    results, reach = row.copy(), 1
    while reach < row.size:
        x, y = results[reach:], results[:-reach]
        joined = np.maximum(x, y) + np.log1p(np.exp(np.minimum(x, y) - np.maximum(x, y)))
        results, reach = np.concatenate([results[:reach], joined]), 2 * reach
    return results


def shifted(row: np.ndarray) -> np.ndarray:
    """The logarithm of the running sum of e^(x - largest)."""
    return row.max() + np.log(np.cumsum(np.exp(row - row.max()), dtype=np.float32))


@pytest.mark.parametrize("algorithm", [serial, in_pairs, shifted])
@pytest.mark.parametrize("seed", range(4))
def test_the_budget_of_logcumsumexp_holds_what_honest_implementations_lose(algorithm, seed: int) -> None:
    random = np.random.default_rng(seed)
    row = np.float32(random.standard_normal(2049) * (0.01, 1.0, 10.0, 1.0)[seed] + (0, 0, 0, -8.0)[seed])
    row[0] = row.max() if algorithm is shifted else row[0]  # of what lies far below the largest, its sum has no digits
    (golden,) = goldens("aten::logcumsumexp", row, 0)
    error = np.abs(algorithm(row).astype(float) - golden.real.hi)
    assert (error <= golden.budget + np.spacing(np.abs(golden.value)) / 2).all()
    typical = np.abs(golden.value) + 1
    assert (golden.budget[:64] < 1e-4 * typical[:64]).all()  # and is no blank cheque
