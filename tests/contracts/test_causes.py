"""What the errors of failed sums look like: each cause named on sums that have it, none on sums that have another."""

from __future__ import annotations

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.contracts.causes import Products, cut, explained, halves, needed, together
from conform.contracts.comparison import Comparison
from conform.contracts.judge import judge, judged
from conform.contracts.tables import contract_table
from conform.interp.blocks.converted import unchanged
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Golden
from conform.judging.products import products_of
from conform.numerics.formats import FORMATS
from tests.contracts.test_accumulation import sequential, truncating

OPENCL = contract_table("opencl")
F32 = np.float32
TF32, BF16X3, TRUNCATED = (
    "as if the inputs were rounded to TF32 (10 bits)",
    "as if the inputs were split into bfloat16 halves (bf16x3)",
    "as if the sums were truncated (rounded toward zero)",
)


# --- Cutting factors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "rounded", "truncated"),
    [
        (1 + 2.0**-10, 1 + 2.0**-10, 1 + 2.0**-10),
        (1 + 2.0**-11, 1.0, 1.0),  # a tie goes to the even neighbour
        (1 + 3 * 2.0**-11, 1 + 2.0**-9, 1 + 2.0**-10),
        (-1 - 2.0**-11 - 2.0**-23, -1 - 2.0**-10, -1.0),
        (2 - 2.0**-23, 2.0, 2 - 2.0**-10),
        (3.4028234663852886e38, np.inf, 2.0**127 * (2 - 2.0**-10)),
        (2.0**-149, 0.0, 0.0),
        (3 * 2.0**-137, 2.0**-135, 2.0**-136),
        (-0.0, -0.0, -0.0),
        (-np.inf, -np.inf, -np.inf),
        (np.nan, np.nan, np.nan),
    ],
)
def test_tf32_has_eleven_significant_bits_and_the_exponents_of_float32(x: float, rounded: float, truncated: float):
    for nearest, expected in ((True, rounded), (False, truncated)):
        got = cut(F32([x]), 11, nearest)
        np.testing.assert_array_equal(got, F32([expected]))
        np.testing.assert_array_equal(np.signbit(got), np.signbit(F32([expected])))


def test_eight_bits_are_bfloat16() -> None:
    x = np.random.default_rng(0).integers(0, 2**32, 100_000, np.uint32).view(F32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(cut(x, 8), x.astype(FORMATS["bfloat16"].storage).astype(F32))


def test_two_halves_hold_sixteen_bits() -> None:
    x = np.random.default_rng(0).standard_normal(10_000).astype(F32)
    head, tail = halves(x, 8)
    rest = np.abs(x.astype(np.float64) - head - tail)
    assert (rest <= 2.0**-16 * np.abs(x)).all()
    assert rest.max() > 0


# --- Naming -----------------------------------------------------------------------------------------------------------


def factors(dtype: str, terms: int, positive: bool = False) -> tuple[np.ndarray, np.ndarray]:
    generator, storage = np.random.default_rng(terms), FORMATS[dtype].storage
    draw = generator.random if positive else generator.standard_normal
    return draw((13, terms)).astype(storage), draw((terms, 11)).astype(storage)


def golden_of(lhs: np.ndarray, rhs: np.ndarray) -> tuple[Golden, Products]:
    products = products_of(bound_call("aten::mm", [lhs, rhs], {}))
    return products(unchanged, unchanged).golden(), products


def cause(golden: Golden, actual: np.ndarray, products: Products | None) -> str | None:
    """What explains nearly all wrong elements, or, where none is wrong alone, all errors together."""

    row = OPENCL.row("aten::mm", golden.format.name)

    def are_wrong(block: Golden, got: np.ndarray) -> np.ndarray:
        return ~judge(block, got, row).ok

    wrong = sum(np.count_nonzero(~elements.ok) for _, elements in judged(Comparison(golden, actual), row))
    if not wrong:
        return together(golden, actual, products)
    counts = explained(golden, actual, are_wrong, products)
    words = max(counts, key=counts.__getitem__, default=None)
    return words if words and counts[words] >= max(0.95 * wrong, needed(words).elements) else None


def named(lhs: np.ndarray, rhs: np.ndarray, actual: np.ndarray) -> str | None:
    golden, products = golden_of(lhs, rhs)
    return cause(golden, actual.astype(golden.format.storage), products)


def split_product(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    (a1, a2), (b1, b2) = halves(lhs, 8), halves(rhs, 8)
    return sequential(a1, b1, F32) + (sequential(a1, b2, F32) + sequential(a2, b1, F32))


@pytest.mark.parametrize("terms", [1, 2, 3, 16, 300])
@pytest.mark.parametrize("positive", [False, True])
def test_cut_factors_are_told_apart(terms: int, positive: bool) -> None:
    lhs, rhs = factors("float32", terms, positive)
    for bits, words in ((11, "TF32 (10 bits)"), (8, "bfloat16 (7 bits)")):
        for nearest, how in ((True, "rounded"), (False, "truncated")):
            actual = sequential(cut(lhs, bits, nearest), cut(rhs, bits, nearest), F32)
            assert named(lhs, rhs, actual) == f"as if the inputs were {how} to {words}"
    if terms <= 16:  # the error of halves is lost in that of long sums
        assert named(lhs, rhs, split_product(lhs, rhs)) == BF16X3


def test_tensor_cores_cut_and_truncate() -> None:
    lhs, rhs = factors("float32", 64)
    assert named(lhs, rhs, truncating(cut(lhs, 11), cut(rhs, 11), F32)) == TF32


@pytest.mark.parametrize("terms", [1, 16, 64, 300])
def test_truncated_sums(terms: int) -> None:
    lhs, rhs = factors("float32", terms, positive=True)
    assert named(lhs, rhs, truncating(lhs, rhs, F32)) == TRUNCATED


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("terms", [3, 7, 16, 64])
def test_a_narrow_accumulator(dtype: str, terms: int) -> None:
    lhs, rhs = factors(dtype, terms)
    actual = sequential(lhs, rhs, FORMATS[dtype].storage)
    assert named(lhs, rhs, actual) == f"as if the sums were accumulated in {dtype}"


def test_float64_through_float32() -> None:
    lhs, rhs = factors("float64", 16)
    assert named(lhs, rhs, sequential(lhs, rhs, F32)) == "as if the sums were accumulated in float32"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_other_defects_have_no_name(dtype: str) -> None:
    lhs, rhs = factors(dtype, 7)
    golden, _ = golden_of(lhs, rhs)
    wrong = {
        "zeros": np.zeros_like(golden.value), "negated": -golden.value, "reversed": golden.value[::-1],
        "a term is missing": sequential(lhs[:, 1:], rhs[1:], np.float64),
        "one element": np.where(np.arange(11) == 5, 1.0, golden.value.astype(np.float64)),
        "NaN": np.full_like(golden.value, np.nan), "infinity": np.full_like(golden.value, np.inf),
    }  # fmt: skip
    assert {defect: named(lhs, rhs, actual) for defect, actual in wrong.items()} == dict.fromkeys(wrong)


def test_sums_that_are_no_products_have_additions_only() -> None:
    lhs, rhs = factors("float32", 64, positive=True)
    golden, _ = golden_of(lhs, rhs)
    assert cause(golden, truncating(lhs, rhs, F32), None) == TRUNCATED
    assert cause(golden, sequential(cut(lhs, 11), cut(rhs, 11), F32), None) is None


# --- A partial result that was rounded --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_sum_that_was_rounded_before_the_bias_is_added_is_told_from_a_narrow_accumulator(dtype: str) -> None:
    storage = FORMATS[dtype].storage
    lhs, rhs = factors(dtype, 16)
    addend = np.random.default_rng(1).standard_normal((13, 11)).astype(storage)
    call = bound_call("aten::addmm", [addend, lhs, rhs], {})
    golden, products = evaluate_call(call).goldens[0], products_of(call)

    def told(actual: np.ndarray) -> str | None:
        return cause(golden, actual.astype(storage), products)

    rounded = sequential(lhs.astype(F32), rhs.astype(F32), F32).astype(storage)
    assert told(rounded.astype(F32) + addend.astype(F32)) == f"as if a partial result was rounded to {dtype}"
    narrow = sequential(lhs, rhs, storage)
    assert told(narrow.astype(F32) + addend.astype(F32)) == f"as if the sums were accumulated in {dtype}"
    twice = (2 * rounded.astype(F32)).astype(storage)
    assert told(twice.astype(F32) + addend.astype(F32)) is None
