"""Both sides of every limit, and the mirror image of every input: a bound's last place within and the next outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conform.contracts import flushing, tosa
from conform.contracts.accumulation import ErrorsOfSums, Statistics
from conform.contracts.almost_eq import Tolerance
from conform.contracts.arithmetic import COMPUTE_MODES, IEEE, Arithmetic, ComputeMode
from conform.contracts.judge import Elements, bounds_ulp, has_bound, judge
from conform.contracts.tables import Row
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to

F32 = FORMATS["float32"]
INF, NAN = np.inf, np.nan
U = 2.0**-24
ULP_OF_1 = 2 * U
BELOW, ABOVE = np.float64(-INF), np.float64(INF)
MIRRORED = pytest.mark.parametrize("sign", [1, -1])


def float32(real: list[float], **rest: Any) -> Golden:
    numbers = np.array(real, np.float64)
    return Golden(F32, round_to(F32, numbers), Real.exact(numbers), **rest)


def judged(golden: Golden, actual: list[float], row: Row, **operands: np.ndarray) -> Elements:
    return judge(golden, np.array(actual, golden.format.storage), row, operands)


# --- The interval in which a source gives no bound --------------------------------------------------------------------

LOW, HIGH = -10.001, -2.264


@pytest.mark.parametrize(
    ("operand", "is_compared"),
    [
        (LOW, False), (np.nextafter(LOW, BELOW), True), (np.nextafter(LOW, ABOVE), False),
        (HIGH, False), (np.nextafter(HIGH, ABOVE), True), (np.nextafter(HIGH, BELOW), False),
        (-5.0, False), (5.0, True), (-INF, True), (INF, True), (NAN, True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("error_ulp", [0, 900])
def test_the_interval_without_a_bound_is_closed(operand: float, is_compared: bool, error_ulp: int) -> None:
    row = Row("ulp", 6.0, None, "test", excluded=(LOW, HIGH))
    told = judged(float32([1.0]), [1 + error_ulp * ULP_OF_1], row, self=np.array([operand]))
    assert (told.compared.tolist(), told.vacuous.tolist()) == ([is_compared], [not is_compared])
    assert told.ok.tolist() == [not is_compared or error_ulp == 0]


@pytest.mark.parametrize("expected", [NAN, INF, -INF])
def test_what_the_op_determines_is_judged_in_it_all_the_same(expected: float) -> None:
    row = Row("ulp", 6.0, None, "test", excluded=(LOW, HIGH))
    for actual, is_right in ((expected, True), (1.0, False)):
        told = judged(float32([expected]), [actual], row, self=np.array([-5.0]))
        assert (told.compared.tolist(), told.ok.tolist()) == ([True], [is_right])


def test_the_first_operand_decides_and_broadcasts() -> None:
    row = Row("ulp", 6.0, None, "test", excluded=(0.0, 1.0))
    told = judged(float32([1.0] * 3), [9.0] * 3, row, self=np.array(0.5), other=np.array([2.0, 2.0, 2.0]))
    assert told.compared.tolist() == [False] * 3
    told = judged(float32([1.0] * 3), [9.0] * 3, row, self=np.array([-0.0, 2.0, 1.0]), other=np.array(0.5))
    assert told.compared.tolist() == [False, True, False]


# --- Where TOSA leaves a power open -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "exponent", "is_open"),
    [
        (0.0, 0.0, True), (-0.0, 0.0, True), (0.0, -0.0, True), (0.0, -1.0, True), (0.0, 1e-40, False),
        (-0.0, 2.0, False), (0.0, 2.0, False), (1e-40, 0.0, False), (1e-40, -1.0, False),
        (-1e-40, 1.0, True), (-2.0, 2.0, True), (2.0, 0.0, False), (2.0, -1.0, False),
        (INF, 1.0, True), (NAN, 1.0, True), (2.0, INF, True), (2.0, -INF, True), (2.0, NAN, True),
    ],
)  # fmt: skip
def test_the_powers_that_tosa_leaves_open(base: float, exponent: float, is_open: bool) -> None:
    call = tosa.Call(float32([1.0]), {"self": np.array([base]), "exponent": np.array([exponent])}, 1)
    assert np.asarray(tosa.undefined("POW", call)).tolist() == [is_open]
    assert tosa.undefined("EXP", call) is False


# --- The rules for many sums ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rms", "mean", "violation"),
    [
        (4.0, 0.0, None),
        (np.nextafter(4.0, INF), 0.0, "root mean square of the errors 4.0 u S, above 4.0 (1000 sums)"),
        (1.0, 1.5, None),
        (1.0, -1.5, None),
        (1.0, 1.625, "biased: mean of the errors +1.62 u S, beyond 1.50 (1000 sums)"),
        (1.0, -1.625, "biased: mean of the errors -1.62 u S, beyond 1.50 (1000 sums)"),
        (9.0, -9.0, "root mean square of the errors 9.0 u S, above 4.0 (1000 sums)"),
    ],
)
def test_limits_of_the_errors_of_many_sums(rms: float, mean: float, violation: str | None) -> None:
    assert Statistics(1000, rms, 4.0, mean, 1.5).violation() == violation


@MIRRORED
def test_the_mean_is_that_of_the_errors_with_their_sign(sign: int) -> None:
    numbers = np.linspace(1.0, 2.0, 1000)
    golden = float32((numbers - sign * 3 * 4 * U).tolist(), terms=10, magnitude=np.full(1000, 4.0))
    errors = ErrorsOfSums(golden, numbers)
    errors.add(slice(0, 1000), np.ones(1000, bool))
    told = errors.statistics(IEEE)
    assert (told.mean, told.rms) == (pytest.approx(sign * 3), pytest.approx(3))
    assert told.violation() == f"biased: mean of the errors {sign * 3:+.2f} u S, beyond 1.40 (1000 sums)"


@pytest.mark.parametrize(("sums", "is_judged"), [(999, False), (1000, True)])
def test_how_many_sums_the_rules_need(sums: int, is_judged: bool) -> None:
    golden = float32(np.linspace(1.0, 2.0, sums).tolist(), terms=10, magnitude=np.full(sums, 4.0))
    assert ErrorsOfSums.are_judged(golden) == is_judged
    errors = ErrorsOfSums(golden, golden.value)
    errors.add(slice(0, sums), np.ones(sums, bool))
    assert (errors.statistics(IEEE) is not None) == is_judged


# --- Bounds of an element ---------------------------------------------------------------------------------------------


@MIRRORED
@pytest.mark.parametrize(
    ("row", "real", "within", "beyond"),
    [
        (Row("ulp", 3.0, None, "t"), 1.0, 1 + 3 * ULP_OF_1, 1 + 4 * ULP_OF_1),
        (Row("ulp", 3.0, None, "t"), 1.0, 1 - 3 * ULP_OF_1, 1 - 7 * U),
        (Row("ulp", 0.5, None, "t"), 1 + U, 1.0, 1 + ULP_OF_1),
        (Row("exact", None, None, "t"), 1 + 3 * U, 1 + 4 * U, 1 + 2 * U),
        (Row("ulp_of_rounded", 2.0, None, "t"), 1 + U / 2, 1 + 2 * ULP_OF_1, 1 + 3 * ULP_OF_1),
        (Row("almost_eq", None, None, "t", Tolerance(0.0, 2.0**-10)), 1.0, 1 + 2.0**-10, 1 + 2.0**-10 + ULP_OF_1),
        (Row("almost_eq", None, None, "t", Tolerance(2.0**-10, 0.0)), 2.0, 2 - 2.0**-9, 2 - 2.0**-9 - ULP_OF_1),
        (Row("tosa", None, "ERF", "t"), 1.0, 1 + 5 * ULP_OF_1, 1 + 6 * ULP_OF_1),
        (Row("ulp", 3.0, None, "t"), 2.0**-149, 4 * 2.0**-149, 5 * 2.0**-149),
        (Row("ulp", 3.0, None, "t"), 2.0**128 - 2.0**105, INF, 2.0**127),  # infinity counts as 2^128, 2 ulps
        (Row("ulp", 3.0, None, "t"), 0.0, 3 * 2.0**-149, 4 * 2.0**-149),
    ],
)
def test_the_last_number_within_and_the_next(row: Row, real: float, within: float, beyond: float, sign: int) -> None:
    golden = float32([sign * real] * 2)
    assert judged(golden, [sign * within, sign * beyond], row).ok.tolist() == [True, False]


@MIRRORED
def test_a_budget_and_a_sum_at_their_bounds(sign: int) -> None:
    by_budget = float32([sign * 1.0] * 3, budget=np.array([3 * ULP_OF_1, 3 * ULP_OF_1, INF]))
    actual = [sign * (1 + 3 * ULP_OF_1), sign * (1 + 4 * ULP_OF_1), 9.0]
    told = judged(by_budget, actual, Row("derived", None, None, "t"))
    assert (told.ok.tolist(), told.bound_ulp.tolist()) == ([True, False, True], [3.0, 3.0, INF])
    assert (told.compared.tolist(), told.vacuous.tolist()) == ([True, True, False], [False, False, True])
    # gamma_4 * 8 is 16 ulps of 1 and a little: 4 u / (1 - 4 u) * 8
    of_sums = float32([sign * 1.0] * 2, terms=4, magnitude=np.array([8.0, 8.0]))
    actual = [sign * (1 + 16 * ULP_OF_1), sign * (1 + 17 * ULP_OF_1)]
    told = judged(of_sums, actual, Row("accumulation", None, None, "t"))
    assert told.ok.tolist() == [True, False]


@pytest.mark.parametrize(
    ("kind", "is_right"),
    [("exact", False), ("ulp", False), ("ulp_of_rounded", False), ("almost_eq", True), ("tosa", True)],
)
@MIRRORED
def test_the_sign_of_a_zero_counts_in_every_kind_that_counts_ulps(kind: str, is_right: bool, sign: int) -> None:
    row = Row(kind, 3.0 if "ulp" in kind else None, "ERF" if kind == "tosa" else None, "t",
              Tolerance(1e-3, 1e-3) if kind == "almost_eq" else None)  # fmt: skip
    zero = np.copysign(0.0, sign)
    assert judged(float32([zero]), [-zero], row).ok.tolist() == [is_right]
    assert judged(float32([zero]), [zero], row).ok.tolist() == [True]
    assert judged(float32([zero], zero_sign_free=True), [-zero], row).ok.tolist() == [True]


# --- Flushing, and what a compute mode is -----------------------------------------------------------------------------

NORMAL = 2.0**-126


@MIRRORED
@pytest.mark.parametrize(
    ("hi", "lo", "may_be_zero"),
    [
        (NORMAL, 0.0, False), (NORMAL, 2.0**-200, False), (NORMAL, -(2.0**-200), True),
        (NORMAL - 2.0**-149, 2.0**-200, True), (NORMAL + 2.0**-149, -(2.0**-200), False),
    ],
)  # fmt: skip
def test_what_is_below_the_smallest_normal_number_by_a_trace_may_be_flushed(
    hi: float, lo: float, may_be_zero: bool, sign: int
) -> None:
    numbers = np.array([sign * hi])
    golden = Golden(F32, numbers.astype(np.float32), Real(numbers, np.array([sign * lo]), np.zeros(1)))
    zero = np.float32([sign * 0.0])
    told = judge(golden, zero, Row("ulp", 0.5, None, "t"), arithmetic=Arithmetic(flushes_subnormals=True))
    assert told.ok.tolist() == [may_be_zero]


@pytest.mark.parametrize(
    ("actual", "operands", "is_computed"),
    [
        ([2.0**-130], [], True),
        ([2.0**-130], [[2.0**-130, 1.0]], False),  # it may have been moved
        ([2.0**-130], [[-(2.0**-130)]], False),
        ([2.0**-130], [[2.0**-131], [2.0**-132]], True),
        ([2.0**-130], [[2.0**-131], [2.0**-130]], False),
        ([2.0**-130, 2.0**-131], [[2.0**-130]], True),
        ([2.0**-130, 2.0**-131], [[2.0**-130], [2.0**-131]], False),
        ([1.0, 0.0, -0.0], [], False),
        ([-(2.0**-149)], [[1.0]], True),
    ],
)
def test_a_subnormal_result_that_no_operand_has_was_computed(
    actual: list[float], operands: list[list[float]], is_computed: bool
) -> None:
    golden = float32(actual)
    given = [np.float32(operand) for operand in operands]
    assert flushing.kept_some(golden, golden.value, given) is is_computed
    assert flushing.kept_some(golden, golden.value, [given, "mean", None, 3.0]) is is_computed


def test_compute_modes_by_their_formulas() -> None:
    tf32, u = COMPUTE_MODES["tf32"]["float32"], 2.0**-10
    assert (tf32.product_error, tf32.growth, tf32.parts, tf32.factor_bits) == (2 * u + u**2, (1 + u) ** 2, 1, 11)
    bf16x3, u = COMPUTE_MODES["bf16x3"]["float32"], 2.0**-8
    assert bf16x3.product_error == pytest.approx(2 * u**2 + u**4 + u**2 * (1 + u) ** 2, rel=1e-15)
    assert (bf16x3.growth, bf16x3.parts, bf16x3.factor_bits) == ((1 + u) ** 2 * (1 + 2 * u), 3, 8)
    f16acc = COMPUTE_MODES["f16acc"]["float16"]
    assert f16acc == ComputeMode(accumulator="float16", source=f16acc.source)


def test_tosa_s_reference_is_the_exact_number_and_of_exact_results_their_value() -> None:
    fmt = FORMATS["float16"]
    inexact = Golden(fmt, np.float16([1.0]), Real.exact(np.array([1.0001])))
    assert tosa.Call(inexact, {}, 1).reference.tolist() == [1.0001]
    assert tosa.Call(Golden(fmt, np.float16([1.5])), {}, 1).reference.tolist() == [1.5]


@pytest.mark.parametrize(
    ("dtype", "reference", "bound", "accepted"),
    [
        ("float8_e4m3fn", 440.0, 16.0, True), ("float8_e4m3fn", -440.0, 16.0, True),  # 448 is the largest
        ("float8_e4m3fn", 440.0, 8.0, False), ("float8_e4m3fn", 1.0, 0.5, False),
        ("float32", 3.4e38, 1e37, False), ("float8_e5m2", 57344.0, 8192.0, False),  # these have infinities
    ],
)  # fmt: skip
def test_nan_is_the_overflow_of_formats_without_infinities(
    dtype: str, reference: float, bound: float, accepted: bool
) -> None:
    fmt = FORMATS[dtype]
    arrays = [np.array([number]) for number in (reference, bound, bound)]
    assert tosa.within(fmt, np.array([NAN], fmt.storage), *arrays).tolist() == [accepted]


@pytest.mark.parametrize(
    ("golden", "row", "expected"),
    [
        (float32([1.0]), Row("ulp", 3.0, None, "t"), True),
        (float32([1.0]), Row("unbounded", None, None, "t"), False),
        (float32([1.0]), Row("derived", None, None, "t"), False),  # there is neither a budget nor a magnitude
        (float32([1.0], budget=np.ones(1)), Row("derived", None, None, "t"), True),
        (float32([1.0], magnitude=np.ones(1), terms=1), Row("derived", None, None, "t"), True),
        (Golden(F32, np.float32([1.0])), Row("unbounded", None, None, "t"), True),  # exact
        (Golden(FORMATS["int32"], np.int32([1])), Row("exact", None, None, "t"), True),
    ],
)
def test_what_has_a_bound(golden: Golden, row: Row, expected: bool) -> None:
    assert has_bound(golden, row) is expected


@pytest.mark.parametrize(
    ("dtype", "actual", "operands", "found"),
    [
        ("float32", [2.0**-130, 2.0**-131, 1.0, 0.0], [("float32", [2.0**-130])], [True, False, False, False]),
        ("float32", [-(2.0**-130), 2.0**-131], [("float32", [2.0**-130]), ("float32", [2.0**-131])], [True, True]),
        ("float32", [2.0**-130], [("int32", [1])], [False]),
        ("float32", [1.0], [("float32", [1.0])], [False]),
        ("float16", [2.0**-16], [("float16", [2.0**-16])], [True]),
        ("float16", [2.0**-16], [("float8_e5m2", [2.0**-16])], [False]),  # which keeps its subnormals
    ],
)
def test_which_results_are_subnormals_of_operands(
    dtype: str, actual: list[float], operands: list[tuple[str, list[float]]], found: list[bool]
) -> None:
    given = [np.array(numbers).astype(FORMATS[name].storage) for name, numbers in operands]
    results = np.array(actual).astype(FORMATS[dtype].storage)
    assert flushing.are_subnormals_of(results, given).tolist() == found


def test_the_bounds_of_elements_in_ulps() -> None:
    """0 where it must be equal, infinite where nothing is judged."""
    golden = float32([1.0, NAN, INF, 2.0]).opened(np.array([False, False, False, True]), "P25")
    assert bounds_ulp(golden, Row("ulp", 3.0, None, "t"), {}).tolist() == [3.0, 0.0, 0.0, INF]
    assert bounds_ulp(Golden(F32, np.float32([1.0])), Row("exact", None, None, "t"), {}).tolist() == [0.0]
    assert bounds_ulp(Golden(FORMATS["int32"], np.int32([1])), Row("exact", None, None, "t"), {}).tolist() == [0.0]
    parts = Real.exact(np.array([[1.0, NAN]]))
    number = Golden(FORMATS["complex64"], np.complex64([complex(1, NAN)]), parts)
    assert bounds_ulp(number, Row("ulp", 3.0, None, "t"), {}).tolist() == [[3.0, 0.0]]
