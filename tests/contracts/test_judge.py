"""One judge a kind of contract: literal goldens and actual values, and what is within the bound."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conform.contracts.almost_eq import Tolerance
from conform.contracts.judge import Elements, judge
from conform.contracts.tables import Row
from conform.interp.golden import Golden, Ties
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to

INF, NAN = np.inf, np.nan
U = 2.0**-24  # unit roundoff of float32
ULP_OF_1 = 2 * U

EXACT = Row("exact", None, None, "test")
CORRECTLY_ROUNDED = Row("ulp", 0.5, None, "test")
THREE_ULP = Row("ulp", 3.0, None, "test")
ACCUMULATION = Row("accumulation", None, "gamma_k S", "test")
DERIVED = Row("derived", None, "running error", "test")


def golden(dtype: str, real: list[float], **rest: object) -> Golden:
    """A float golden of these real numbers, rounded to `dtype`."""
    fmt, numbers = FORMATS[dtype], np.array(real, np.float64)
    return Golden(fmt, round_to(fmt, numbers), Real.exact(numbers), **rest)


def judged(golden: Golden, actual: list[float], row: Row) -> Elements:
    return judge(golden, np.array(actual).astype(golden.format.storage), row)


def accepted(golden: Golden, actual: list[float], row: Row) -> list[bool]:
    return judged(golden, actual, row).ok.tolist()


# --- ULP bounds -------------------------------------------------------------------------------------------------------


def test_half_an_ulp_is_the_correctly_rounded_result_of_a_tie_the_even_neighbour_alone() -> None:
    tie = golden("float32", [1 + U] * 3)
    elements = judged(tie, [1.0, 1 + 2 * U, 1 - U], CORRECTLY_ROUNDED)
    assert elements.ok.tolist() == [True, False, False]
    assert elements.error_ulp.tolist() == [0.5, 0.5, 1.0]
    assert elements.bound_ulp.tolist() == [0.5] * 3


def test_three_ulps_and_one_beyond() -> None:
    actual = [1 + 3 * ULP_OF_1, 1 + 4 * ULP_OF_1, 1 - 6 * U, 1 - 7 * U]
    elements = judged(golden("float32", [1.0] * 4), actual, THREE_ULP)
    assert elements.ok.tolist() == [True, False, True, False]
    assert elements.error_ulp.tolist() == [3.0, 4.0, 3.0, 3.5]
    assert not elements.wrong_class.any()


def test_the_error_is_taken_from_the_unrounded_number() -> None:
    just_above = Golden(
        FORMATS["float32"], np.float32([1.0]), Real(np.array([1.0]), np.array([2.0**-60]), np.array([0.0]))
    )
    assert judged(just_above, [1 + 3 * ULP_OF_1], THREE_ULP).error_ulp.tolist() == [3 - 2.0**-37]
    just_below = Golden(
        FORMATS["float32"], np.float32([1.0]), Real(np.array([1.0]), np.array([-(2.0**-60)]), np.array([0.0]))
    )
    # Below 1 the unit is half as large: 3 ulps of 1 are 6 there.
    assert accepted(just_below, [1 + 3 * ULP_OF_1], THREE_ULP) == [False]


def test_overflow_counts_as_the_number_after_the_largest() -> None:
    # float16: the largest number is 65504, the next would be 65536; the unit there is 32.
    reals = [65504.0, 65440.0, 65408.0, 65504.0]
    elements = judged(golden("float16", reals), [INF, INF, INF, -INF], THREE_ULP)
    assert elements.ok.tolist() == [True, True, False, False]
    assert elements.error_ulp.tolist()[:3] == [1.0, 3.0, 4.0]
    assert accepted(golden("float16", [1e6, 65520, 65519]), [INF] * 3, CORRECTLY_ROUNDED) == [True, True, False]
    assert accepted(golden("float16", [1e6, 1e6]), [65504, 65440 - 32], THREE_ULP) == [True, False]


def test_overflow_of_a_format_without_infinity_is_nan() -> None:
    beyond = golden("float8_e4m3fn", [1000.0, 1000.0, 448.0])
    for row in (EXACT, CORRECTLY_ROUNDED):
        assert accepted(beyond, [NAN, 448.0, NAN], row) == [True, False, False]


def test_a_subnormal_is_measured_in_the_spacing_of_subnormals() -> None:
    smallest = 2.0**-149
    assert accepted(golden("float32", [smallest] * 2), [4 * smallest, 5 * smallest], THREE_ULP) == [True, False]
    assert accepted(golden("float32", [2.0**-127]), [0.0], THREE_ULP) == [False]  # flushed to zero


@pytest.mark.parametrize("row", [EXACT, CORRECTLY_ROUNDED, THREE_ULP, ACCUMULATION, DERIVED])
def test_the_sign_of_an_exact_zero_is_required_unless_it_is_free(row: Row) -> None:
    extras = {"terms": 2, "magnitude": np.ones(2), "budget": np.ones(2)}
    zeros = golden("float32", [0.0, -0.0], **extras)
    assert accepted(zeros, [0.0, -0.0], row) == [True, True]
    assert accepted(zeros, [-0.0, 0.0], row) == [False, False]
    assert judged(zeros, [-0.0, 0.0], row).wrong_class.tolist() == [True, True]
    assert accepted(golden("float32", [0.0, -0.0], **extras, zero_sign_free=True), [-0.0, 0.0], row) == [True, True]


def test_where_signs_must_agree_a_zero_of_free_sign_has_both() -> None:
    row = Row("almost_eq", None, None, "test", tolerance=Tolerance(rtol=0.0, atol=0.5, same_sign=True))
    near = [0.25, -0.25, 0.75]
    assert accepted(golden("float32", [0.0, 0.0, 0.0]), near, row) == [True, False, False]
    assert accepted(golden("float32", [-0.0, -0.0, -0.0], zero_sign_free=True), near, row) == [True, True, False]


def test_a_number_that_underflows_keeps_its_sign_but_an_error_bound_reaches_across_zero() -> None:
    tiny = golden("float32", [-(2.0**-200)], budget=np.array([1e-40]), terms=2, magnitude=np.array([1.0]))
    assert accepted(tiny, [0.0], CORRECTLY_ROUNDED) == [False]
    assert accepted(tiny, [0.0], THREE_ULP) == [False]
    assert accepted(tiny, [0.0], DERIVED) == [True]
    assert accepted(tiny, [0.0], ACCUMULATION) == [True]


# --- Classes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [EXACT, CORRECTLY_ROUNDED, THREE_ULP, ACCUMULATION, DERIVED])
def test_nan_is_no_wildcard(row: Row) -> None:
    extras = {"terms": 2, "magnitude": np.full(4, 1e30), "budget": np.full(4, 1e30)}
    elements = judged(golden("float32", [1.0, NAN, INF, NAN], **extras), [NAN, 1.0, NAN, NAN], row)
    assert elements.ok.tolist() == [False, False, False, True]
    assert elements.wrong_class.tolist() == [True, True, True, False]
    assert elements.compared.all()


def test_any_nan_equals_any_nan() -> None:
    payload = np.array([0xFFC12345], np.uint32).view(np.float32)
    assert judge(golden("float32", [NAN]), payload, EXACT).ok.tolist() == [True]


@pytest.mark.parametrize("row", [EXACT, CORRECTLY_ROUNDED, THREE_ULP, ACCUMULATION, DERIVED])
def test_an_infinity_that_the_meaning_determines_has_no_neighbours(row: Row) -> None:
    extras = {"terms": 2, "magnitude": np.full(3, 1e30), "budget": np.full(3, 1e30)}
    largest = np.finfo(np.float32).max
    assert accepted(golden("float32", [INF] * 3, **extras), [INF, -INF, largest], row) == [True, False, False]


# --- Exact, integers, indices -----------------------------------------------------------------------------------------


def test_an_exact_result_has_no_neighbours() -> None:
    assert accepted(golden("float32", [1 + U, 3.0]), [1 + 2 * U, 3.0], EXACT) == [False, True]
    value_alone = Golden(FORMATS["float32"], np.float32([2.0, 2.0]))  # a golden without a real number is exact
    assert accepted(value_alone, [2.0, 2 + 2 * ULP_OF_1], THREE_ULP) == [True, False]


def test_integers_and_bools_are_equal_or_wrong() -> None:
    integers = Golden(FORMATS["int64"], np.array([2**62 + 1, -1, 7]))
    elements = judge(integers, np.array([2**62, -1, 7]), EXACT)
    assert elements.ok.tolist() == [False, True, True]
    assert elements.wrong_class.tolist() == [True, False, False]
    assert np.isnan(elements.error_ulp).all()
    bools = Golden(FORMATS["bool"], np.array([True, False]))
    assert judge(bools, np.array([True, True]), EXACT).ok.tolist() == [True, False]


def sorted_indices(actual: list, expected: list = [1, 2, 3, 0], ranks: list = [1, 0, 0, 0], dim: int = 0) -> list:  # noqa: B006
    """Sorting [2, 1, 1, 1]: the three ones may come in any order, each once."""
    expected, ranks, actual = (np.array(places, np.int64) for places in (expected, ranks, actual))
    return judge(Golden(FORMATS["int64"], expected, ties=Ties(dim, ranks)), actual, EXACT).ok.tolist()


def test_equal_elements_may_be_permuted_but_none_given_twice() -> None:
    assert sorted_indices([1, 2, 3, 0]) == [True] * 4
    assert sorted_indices([3, 1, 2, 0]) == [True] * 4
    assert sorted_indices([1, 1, 2, 0]) == [True, False, True, True]
    assert sorted_indices([2, 1, 2, 0]) == [True, True, False, True]
    assert sorted_indices([3, 2, 3, 0]) == [True, True, False, True]  # though 3 is what stands there in the golden


def test_an_index_of_another_element_or_out_of_range_is_wrong() -> None:
    assert sorted_indices([0, 1, 2, 3]) == [False, True, True, False]
    assert sorted_indices([-1, 4, 2, 0]) == [False, False, True, True]


def test_ties_are_looked_up_along_their_dim() -> None:
    columns = {"expected": [[0, 1], [1, 0]], "ranks": [[0, 1], [0, 0]], "dim": 0}  # [[5, 6], [5, 4]] along dim 0
    assert sorted_indices([[1, 1], [0, 0]], **columns) == [[True, True], [True, True]]
    assert sorted_indices([[1, 0], [0, 1]], **columns) == [[True, False], [True, False]]
    assert sorted_indices([], expected=[], ranks=[]) == []
    assert sorted_indices(0, expected=0, ranks=0) is True
    assert sorted_indices(1, expected=0, ranks=0) is False


# --- Complex ----------------------------------------------------------------------------------------------------------


def test_each_part_of_a_complex_number_is_judged_alone() -> None:
    value = np.array([1 + 2j, 3 + 0j], np.complex64)
    real = Real.exact(np.array([[1.0, 2.0], [3.0, 0.0]]))
    number = Golden(FORMATS["complex64"], value, real)
    elements = judge(number, np.array([1 + 2.001j, complex(3, -0.0)], np.complex64), THREE_ULP)
    assert elements.ok.tolist() == [[True, False], [True, False]]
    free = Golden(FORMATS["complex64"], value, real, zero_sign_free=True, open=np.array([True, False]), open_rule="P8")
    elements = judge(free, np.array([NAN, complex(3, -0.0)], np.complex64), THREE_ULP)
    assert elements.ok.all()
    assert elements.compared.tolist() == [[False, False], [True, True]]


# --- Accumulations and derived bounds ---------------------------------------------------------------------------------


def test_an_accumulation_may_lose_gamma_k_times_the_sum_of_magnitudes() -> None:
    # 1 as the sum of terms of magnitude 6 with three roundings: 6 * 3u / (1 - 3u) is a little more than 18u, or 9 ulps.
    total = golden("float32", [1.0, 1.0], terms=3, magnitude=np.array([6.0, 6.0]))
    elements = judged(total, [1 + 9 * ULP_OF_1, 1 + 10 * ULP_OF_1], ACCUMULATION)
    assert elements.ok.tolist() == [True, False]
    assert elements.bound_ulp == pytest.approx([9.0, 9.0], rel=1e-6)


def test_a_half_type_is_summed_in_float32_and_rounded_once() -> None:
    one_term = golden("bfloat16", [1.0, 1.0], terms=0, magnitude=np.array([1.0, 1.0]))
    elements = judged(one_term, [1.0, 1 + 2.0**-7], ACCUMULATION)
    assert elements.ok.tolist() == [True, False]
    assert elements.bound_ulp.tolist() == [0.5, 0.5]
    in_bfloat16 = golden("bfloat16", [1.0], terms=8, magnitude=np.array([1.0]))
    assert accepted(in_bfloat16, [1 + 2.0**-7], ACCUMULATION) == [False]


def test_a_bound_beyond_every_number_is_vacuous_and_nothing_was_compared() -> None:
    too_many = golden("float32", [1.0, NAN], terms=2**24, magnitude=np.array([1.0, 1.0]))
    elements = judged(too_many, [1e9, 1.0], ACCUMULATION)
    assert elements.vacuous.tolist() == [True, False]
    assert elements.compared.tolist() == [False, True]
    assert elements.ok.tolist() == [True, False]


def test_a_bound_beyond_a_hundredth_of_the_scale_is_vacuous_where_the_result_is_within_it() -> None:
    wide = golden("float32", [1.0] * 4, budget=np.array([0.0099, 0.011, 0.011, 0.011]))
    elements = judged(wide, [1.0, 1.01, 1.012, NAN], DERIVED)
    assert elements.vacuous.tolist() == [False, True, False, False]
    assert elements.compared.tolist() == [True, False, True, True]
    assert elements.ok.tolist() == [True, True, False, False]


def test_the_scale_is_that_of_the_terms_of_the_number_or_the_smallest_normal_one() -> None:
    tiny = 2.0**-126
    of_result = golden("float32", [1.0, tiny / 2**20], budget=np.array([0.02, tiny / 2**10]))
    assert judged(of_result, [1.0, 0.0], DERIVED).vacuous.tolist() == [True, False]
    of_terms = golden("float32", [1.0, 0.0], budget=np.array([0.02, 0.02]), scale=np.array([3.0, 1.0]))
    assert judged(of_terms, [1.0, 0.0], DERIVED).vacuous.tolist() == [False, True]
    of_sum = golden("float32", [1.0, 1.0], terms=2**14, magnitude=np.array([1.0, 1e4]))
    assert judged(of_sum, [1.0, 1.0], ACCUMULATION).vacuous.tolist() == [False, False]
    z = np.complex64([1 + 1e-3j])
    parts = Real.exact(np.array([[1.0, 1e-3]]))
    of_number = Golden(FORMATS["complex64"], z, parts, budget=np.array([[1e-3, 1e-3]]))
    assert not judge(of_number, z, DERIVED).vacuous.any()


def test_the_correctly_rounded_result_is_right_however_well_the_real_is_known() -> None:
    known = Real(np.zeros(2), np.zeros(2), np.full(2, 2.0**-1000))  # as a function that underflows is
    exact = Golden(FORMATS["float32"], np.zeros(2, np.float32), known, budget=np.zeros(2))
    assert judged(exact, [0.0, 1e-45], DERIVED).ok.tolist() == [True, False]


def test_no_bound_of_sixteen_ulps_is_vacuous() -> None:
    coarse = golden("bfloat16", [1.0, 1.0], budget=np.array([15.4 * 2.0**-7, 15.6 * 2.0**-7]))
    assert judged(coarse, [1.0, 1.0], DERIVED).bound_ulp.tolist() == pytest.approx([15.9, 16.1], rel=0.05)
    assert judged(coarse, [1.0, 1.0], DERIVED).vacuous.tolist() == [False, True]
    assert not judged(golden("bfloat16", [1.0]), [1.0], Row("ulp", 4.0, None, "pow")).vacuous.any()


def test_a_derived_bound_is_the_budget_in_ulps() -> None:
    composite = golden("float32", [1.0] * 3, budget=np.array([4 * U, 4 * U, INF]))
    elements = judged(composite, [1 + 2 * ULP_OF_1, 1 + 3 * ULP_OF_1, 7.0], DERIVED)
    assert elements.ok.tolist() == [True, False, True]
    assert elements.bound_ulp.tolist()[:2] == [2.0, 2.0]
    assert elements.vacuous.tolist() == [False, False, True]


def test_without_a_bound_only_nan_and_infinities_are_judged() -> None:
    vague = golden("float32", [1.0, NAN, NAN, INF])
    elements = judged(vague, [7.0, NAN, 0.0, -INF], DERIVED)
    assert elements.ok.tolist() == [True, True, False, False]
    assert elements.vacuous.tolist() == [True, False, False, False]
    assert elements.compared.tolist() == [False, True, True, True]


def test_a_budget_in_float32_leaves_a_bfloat16_result_one_more_rounding() -> None:
    composite = golden("bfloat16", [1.0, 1.0], budget=np.array([0.0, 2.0**-8]))
    assert judged(composite, [1.0, 1.0], DERIVED).bound_ulp.tolist() == [0.5, 1.0]


def test_a_row_asks_only_for_what_the_golden_carries() -> None:
    bare = golden("float32", [1.0])
    assert judged(bare, [1.0], DERIVED).bound_ulp.tolist() == [INF]
    assert judged(bare, [1.0], ACCUMULATION).bound_ulp.tolist() == [0.5]
    budgeted = golden("float32", [1.0], budget=np.array([4 * U]))
    assert judged(budgeted, [1.0], ACCUMULATION).bound_ulp.tolist() == [2.0]


def test_around_a_float64_zero_the_numbers_are_compared_where_ulps_are_beyond_counting() -> None:
    zero = golden("float64", [0.0] * 3, budget=np.array([1e-15] * 3), zero_sign_free=True)
    elements = judged(zero, [1e-15, -1.1e-15, INF], DERIVED)
    assert elements.ok.tolist() == [True, False, False]
    assert elements.compared.all()
    assert np.isnan(elements.bound_ulp).all()
    assert not elements.wrong_class.any()


# --- Freedoms ---------------------------------------------------------------------------------------------------------


def test_an_open_element_accepts_anything_and_is_not_compared() -> None:
    freed = golden("float32", [1.0, 1.0], open=np.array([True, False]), open_rule="P13")
    elements = judged(freed, [NAN, 2.0], CORRECTLY_ROUNDED)
    assert elements.ok.tolist() == [True, False]
    assert elements.compared.tolist() == [False, True]
    assert elements.open.tolist() == [True, False]


def test_an_alternative_is_accepted_element_by_element() -> None:
    reading = golden("float32", [1.0, 2.0, 3.0]).or_else(golden("float32", [1.5, 2.5, 3.5]))
    assert accepted(reading, [1.0, 2.5, 3.25], CORRECTLY_ROUNDED) == [True, True, False]


def test_an_alternative_of_another_format_is_none() -> None:
    half = golden("float16", [1.0]).or_else(golden("float32", [2.0]))
    assert accepted(half, [2.0], CORRECTLY_ROUNDED) == [False]


# --- Against the definition, in fractions -----------------------------------------------------------------------------


STORAGE = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32}
ULP_EXPONENTS = {"float16": (-14, 11), "bfloat16": (-126, 8), "float32": (-126, 24)}  # emin, precision


def exact_error_ulp(dtype: str, actual: float, real: float) -> Fraction:
    """The definition: |actual - real| / 2^(max(floor(log2 |real|), emin) - precision + 1)."""
    emin, precision = ULP_EXPONENTS[dtype]
    magnitude, exponent = abs(Fraction(real)), emin
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    return abs(Fraction(actual) - Fraction(real)) / Fraction(2) ** (exponent - precision + 1)


@given(
    dtype=st.sampled_from(sorted(STORAGE)),
    real=st.floats(-1000, 1000),
    steps=st.integers(-5, 5),
    bound=st.sampled_from([1.0, 1.5, 2.5, 3.0, 4.0]),
)
def test_a_neighbour_is_accepted_exactly_where_its_error_is_within_the_bound(
    dtype: str, real: float, steps: int, bound: float
) -> None:
    number = golden(dtype, [real])
    actual = number.value.astype(np.float64)
    spacing = 2.0 ** (np.frexp(actual)[1] - ULP_EXPONENTS[dtype][1])
    actual = (actual + steps * spacing).astype(STORAGE[dtype])  # some number of the format nearby
    if actual == 0 and number.value == 0:
        return  # signs of zero have their own test
    expected = exact_error_ulp(dtype, float(actual[0]), real) <= Fraction(bound)
    assert judge(number, actual, Row("ulp", bound, None, "test")).ok.tolist() == [expected]


@settings(max_examples=25)
@given(real=st.floats(-60000, 60000))
def test_only_the_nearest_float16_is_correctly_rounded(real: float) -> None:
    candidates = np.arange(0x7C00, dtype=np.uint16)
    everything = np.concatenate([candidates, candidates | 0x8000]).view(np.float16)
    number = golden("float16", [real] * everything.size)
    right = everything[judge(number, everything, CORRECTLY_ROUNDED).ok]
    assert right.size == 1
    assert np.abs(right.astype(np.float64) - real) == np.abs(everything.astype(np.float64) - real).min()
