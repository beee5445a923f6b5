"""Sums: the bound per element, the rules for many of them, and what declared modes add."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from conform.contracts.accumulation import ErrorsOfSums, Statistics, allowance, blocks, errors_in_units
from conform.contracts.arithmetic import COMPUTE_MODES, IEEE, Arithmetic, arithmetic_of
from conform.errors import UsageError
from conform.interp.blocks.blocks import flat, spans
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to

U = 2.0**-24  # unit roundoff of float32
F16, BF16, F32 = FORMATS["float16"], FORMATS["bfloat16"], FORMATS["float32"]
TF32, BF16X3, F16ACC = (Arithmetic(mode) for mode in ("tf32", "bf16x3", "f16acc"))
FLUSHING = Arithmetic(flushes_subnormals=True)


def sums(dtype: str, real: list[float], terms: int, magnitude: float | list[float]) -> Golden:
    """A golden of these sums of `terms` numbers."""
    fmt, numbers = FORMATS[dtype], np.array(real)
    magnitudes = np.broadcast_to(np.float64(magnitude), numbers.shape)
    return Golden(fmt, round_to(fmt, numbers), Real.exact(numbers), terms, magnitudes)


def allowed(golden: Golden, arithmetic: Arithmetic = IEEE) -> float:
    return float(allowance(golden, golden.real, arithmetic).item())


# --- The bound of one sum ---------------------------------------------------------------------------------------------


def test_any_order_in_the_compute_type_loses_at_most_gamma_of_the_magnitudes() -> None:
    assert allowed(sums("float32", [1.0], 4, 8.0)) == pytest.approx(4 * U / (1 - 4 * U) * 8, rel=1e-12)
    # float16 is added up in float32, and rounded into float16 at the end: half of 2^-10, the ulp of 1.
    assert allowed(sums("float16", [1.0], 4, 8.0)) == pytest.approx(4 * U * 8 + 2.0**-11, rel=1e-6)
    assert allowed(sums("float16", [1.0], 4, 8.0), F16ACC) == pytest.approx(
        4 * 2.0**-11 / (1 - 2.0**-9) * 8 + 4 * 2.0**-25  # and half the smallest subnormal an addition
    )


def test_converted_factors_add_their_errors_to_every_product() -> None:
    tf32 = (2 * 2.0**-10 + 2.0**-20) * 8  # 2u + u^2: both factors lose up to 2^-10
    assert allowed(sums("float32", [1.0], 4, 8.0), TF32) == pytest.approx(tf32, rel=1e-3)
    bf16x3 = (3 * 2.0**-16 + 2 * 2.0**-24 + 2 * 2.0**-32) * 8  # 3u^2 + 2u^3 + 2u^4, u = 2^-8
    assert allowed(sums("float32", [1.0], 4, 8.0), BF16X3) == pytest.approx(bf16x3 + 12 * U * 8, rel=1e-3)


@pytest.mark.parametrize("mode", COMPUTE_MODES)
@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_modes_leave_other_element_types_alone(mode: str, dtype: str) -> None:
    golden = sums(dtype, [1.0], 4, 8.0)
    assert allowed(golden, Arithmetic(mode)) == allowed(golden)


@pytest.mark.parametrize(
    ("dtype", "terms", "arithmetic", "vacuous"),
    [
        ("float16", 2047, F16ACC, False), ("float16", 2048, F16ACC, True), ("float32", 2**24, IEEE, True),
        ("float32", 2**24 - 1, IEEE, False), ("float32", 2**24 // 3 + 1, BF16X3, True), ("float16", 2048, IEEE, False),
    ],
)  # fmt: skip
def test_nothing_bounds_a_sum_of_so_many_terms_that_n_u_reaches_one(
    dtype: str, terms: int, arithmetic: Arithmetic, vacuous: bool
) -> None:
    assert np.isinf(allowed(sums(dtype, [1.0], terms, 1.0), arithmetic)) == vacuous


def test_flushing_loses_a_smallest_normal_number_a_term() -> None:
    tiny = sums("float32", [0.0], 4, 0.0)
    assert (allowed(tiny), allowed(tiny, FLUSHING)) == (4 * 2.0**-150, 4 * 2.0**-126)


def on_grid(dtype: str, real: float, magnitude: float, grid: float, **more: object) -> Golden:
    return replace(sums(dtype, [real], 65537, magnitude), **more).on_grid(np.float64(grid))


@pytest.mark.parametrize(
    ("golden", "arithmetic", "allowance"),
    [
        (on_grid("float32", 3.0, 2.0**24, 1.0), IEEE, 0.0),
        (on_grid("float32", 3.0, 2.0**24, 1.0), FLUSHING, 0.0),
        (on_grid("float16", 3.0, 2.0**24, 1.0), IEEE, 2.0**-10),  # rounded into float16: half of 2^-9, the ulp of 3
        (on_grid("float16", 3.0, 2.0**10, 1.0), F16ACC, 0.0),
        (on_grid("float32", 3.0, 3.0, 0.5, divided=True), IEEE, 5 * U * 3 + 2.0**-150),  # 2.5 ulps of a division
        (on_grid("float64", 3.0, 3.0, 0.5, divided=True), IEEE, 2 * 2.0**-53 * 3 + 2.0**-1074),
    ],
)
def test_a_sum_that_is_exact_in_any_order_loses_what_follows_it_alone(
    golden: Golden, arithmetic: Arithmetic, allowance: float
) -> None:
    assert allowed(golden, arithmetic) == allowance


@pytest.mark.parametrize(
    ("golden", "arithmetic"),
    [
        (on_grid("float32", 3.0, 2.0**26, 1.0), IEEE),
        (on_grid("float32", 3.0, 2.0**24, 1.0), TF32),  # factors of more digits are cut
        (on_grid("float32", 3.0, 2.0**24, 1.0), BF16X3),
        (on_grid("float16", 3.0, 2.0**13, 1.0), F16ACC),
        (on_grid("float32", 2.0**-148, 2.0**-148, 2.0**-149), FLUSHING),
    ],
)
def test_other_sums_have_the_bound_of_all_their_terms(golden: Golden, arithmetic: Arithmetic) -> None:
    without = replace(golden, grid=None)
    assert allowed(golden, arithmetic) == allowed(without, arithmetic) != 0


# --- What a backend declares ------------------------------------------------------------------------------------------


def test_what_is_not_declared_is_ieee_arithmetic() -> None:
    assert arithmetic_of({"name": "mine"}) == IEEE
    assert arithmetic_of({"compute": "tf32", "flushes_subnormals": True}) == Arithmetic("tf32", True)


def test_a_mode_that_is_none_is_an_error() -> None:
    with pytest.raises(UsageError) as caught:
        arithmetic_of({"name": "mine", "compute": "tf23"})
    assert str(caught.value) == (
        "backend 'mine' declares compute = 'tf23'; expected one of ieee, tf32, bf16x3, f16acc; did you mean 'tf32'?"
    )
    with pytest.raises(UsageError) as caught:
        arithmetic_of({"name": "mine", "flushes_subnormals": "yes"})
    assert str(caught.value) == "backend 'mine' declares flushes_subnormals = 'yes'; expected True or False"


# --- Many sums --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terms", "accumulator", "result", "ksb"),
    [(16, F32, F32, 16), (16, F32, F16, 1), (1024, F32, F16, 12), (1024, F32, BF16, 4), (1024, F16, F16, 1024)],
)
def test_tosas_ksb(terms: int, accumulator: object, result: object, ksb: int) -> None:
    assert blocks(terms, accumulator, result) == ksb


ONES = np.linspace(1.0, 2.0, 1000)


def statistics(golden: Golden, actual: np.ndarray, compared: np.ndarray, arithmetic: Arithmetic) -> Statistics | None:
    errors = ErrorsOfSums(golden, actual)
    for place in spans(actual.size):
        errors.add(place, flat(compared, place))
    return errors.statistics(arithmetic)


def found(errors: np.ndarray | float, terms: int = 10, arithmetic: Arithmetic = IEEE) -> Statistics | None:
    """The statistics of 1000 sums of magnitude 4 whose errors are these, in units of u S."""
    golden = sums("float32", (ONES - errors * 4 * U).tolist(), terms, 4.0)
    return statistics(golden, ONES, np.ones(1000, bool), arithmetic)


def test_the_errors_of_a_thousand_sums() -> None:
    alternating = np.where(np.arange(1000) % 2, 4.0, -2.0)
    assert found(alternating) == Statistics(1000, pytest.approx(10**0.5), 4.0, pytest.approx(1.0), pytest.approx(1.4))
    assert found(alternating).violation() is None
    assert found(2 * alternating).violation() == "root mean square of the errors 6.3 u S, above 4.0 (1000 sums)"
    assert found(2.0).violation() == "biased: mean of the errors +2.00 u S, beyond 1.40 (1000 sums)"
    assert found(-1.3).violation() is None


def test_too_few_sums_tell_nothing() -> None:
    golden = sums("float32", ONES.tolist(), 10, 4.0)
    assert statistics(golden, ONES, np.arange(1000) > 0, IEEE) is None
    alike = sums("float32", np.repeat(ONES[:500], 2).tolist(), 10, 4.0)
    assert statistics(alike, ONES, np.ones(1000, bool), IEEE) is None


def test_a_declared_product_error_may_be_the_same_in_all_sums() -> None:
    truncated = (2 * 2.0**-10 + 2.0**-20) / U
    assert found(-truncated, arithmetic=TF32).violation() is None
    assert "root mean square" in found(-truncated).violation()
    assert "root mean square" in found(-2 * truncated, arithmetic=TF32).violation()


# --- Honest orders of summation pass, others do not -------------------------------------------------------------------


def sequential(lhs: np.ndarray, rhs: np.ndarray, accumulator: type) -> np.ndarray:
    total = np.zeros((lhs.shape[0], rhs.shape[1]), accumulator)
    for column, row in zip(lhs.T, rhs, strict=True):
        total = total + column[:, None].astype(accumulator) * row.astype(accumulator)
    return total


def reverse(lhs: np.ndarray, rhs: np.ndarray, accumulator: type) -> np.ndarray:
    return sequential(lhs[:, ::-1], rhs[::-1], accumulator)


def fused(lhs: np.ndarray, rhs: np.ndarray, accumulator: type) -> np.ndarray:
    """One rounding a term: products of float32 numbers are exact in float64."""
    total = np.zeros((lhs.shape[0], rhs.shape[1]), accumulator)
    for column, row in zip(lhs.T.astype(np.float64), rhs.astype(np.float64), strict=True):
        total = (total + column[:, None] * row).astype(accumulator)
    return total


def pairwise(lhs: np.ndarray, rhs: np.ndarray, accumulator: type) -> np.ndarray:
    if lhs.shape[1] == 1:
        return lhs.astype(accumulator) * rhs.astype(accumulator)
    half = lhs.shape[1] // 2
    return pairwise(lhs[:, :half], rhs[:half], accumulator) + pairwise(lhs[:, half:], rhs[half:], accumulator)


def blocked(lhs: np.ndarray, rhs: np.ndarray, accumulator: type) -> np.ndarray:
    starts = range(0, lhs.shape[1], 32)
    parts = [sequential(lhs[:, i : i + 32], rhs[i : i + 32], accumulator) for i in starts]
    return sum(parts[1:], parts[0])


def truncating(lhs: np.ndarray, rhs: np.ndarray, accumulator: type) -> np.ndarray:
    """Sequential in float32, each addition rounded toward zero."""
    total = np.zeros((lhs.shape[0], rhs.shape[1]), np.float32)
    for column, row in zip(lhs.T.astype(np.float64), rhs.astype(np.float64), strict=True):
        wide = total + column[:, None] * row
        near = wide.astype(np.float32)
        total = np.where(np.abs(near) > np.abs(wide), np.nextafter(near, np.float32(0)), near)
    return total


DRAWS = {"normal": np.random.Generator.standard_normal, "positive": np.random.Generator.random}
Order = Callable[[np.ndarray, np.ndarray, type], np.ndarray]


@lru_cache(1)
def product(dtype: str, draw: str, terms: int, seed: int) -> tuple[np.ndarray, np.ndarray, Golden]:
    """Matrices, and the golden of 1156 sums of products."""
    generator, storage = np.random.default_rng(seed), FORMATS[dtype].storage
    lhs, rhs = (DRAWS[draw](generator, shape).astype(storage) for shape in ((34, terms), (terms, 34)))
    return lhs, rhs, evaluate("aten::mm", [lhs, rhs], {}).goldens[0]


def multiplied(order: Order, dtype: str, draw: str, terms: int, seed: int) -> tuple[Golden, np.ndarray]:
    """The sums in this order, beside their golden."""
    lhs, rhs, golden = product(dtype, draw, terms, seed)
    accumulator = np.float64 if dtype == "float64" else np.float32
    return golden, order(lhs, rhs, accumulator).astype(lhs.dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("draw", DRAWS)
def test_honest_orders_are_within_every_rule(dtype: str, draw: str) -> None:
    orders = [sequential, reverse, pairwise, blocked, *([fused] if dtype != "float64" else [])]
    for seed, terms in enumerate((1, 2, 3, 16, 64, 256, 1024)):
        for order in orders:
            golden, actual = multiplied(order, dtype, draw, terms, seed)
            within = np.abs(errors_in_units(golden, actual)) * golden.magnitude * golden.format.unit_roundoff
            assert (within <= allowance(golden, golden.real, IEEE)).all(), (order, terms)
            assert (statistics(golden, actual, np.ones(actual.shape, bool), IEEE)).violation() is None, (order, terms)


@pytest.mark.long
@pytest.mark.parametrize("terms", [16, 64, 256, 1024, 4096])
def test_honest_orders_leave_room_under_the_limits(terms: int) -> None:
    for seed in range(40):
        for draw in DRAWS:
            for order in (sequential, reverse, blocked, fused):
                golden, actual = multiplied(order, "float32", draw, terms, seed)
                found = statistics(golden, actual, np.ones(actual.shape, bool), IEEE)
                assert found.rms <= found.rms_limit / 2
                assert abs(found.mean) <= found.mean_limit / 2


@pytest.mark.parametrize("terms", [16, 64, 256, 1024])
def test_truncating_additions_pass_every_bound_and_fail_the_mean_square(terms: int) -> None:
    golden, actual = multiplied(truncating, "float32", "positive", terms, 0)
    error = np.abs(errors_in_units(golden, actual)) * golden.magnitude * U
    assert (error <= allowance(golden, golden.real, IEEE)).all()
    assert "root mean square" in statistics(golden, actual, np.ones(actual.shape, bool), IEEE).violation()
