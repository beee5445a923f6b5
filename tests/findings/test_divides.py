"""What is told of cases made by hand: literal verdicts in, sentences out."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from math import comb, exp
from typing import Any

import pytest

from conform.findings.divides import divisions
from conform.findings.splits import Condition, Split
from conform.judging.evidence import PLACE, RESULT, SIZE, SUBNORMAL, Asked, Marks, Span, TensorMeta
from conform.judging.verdict import ACCURACY, REFUSAL, Verdict

ADD = "aten::add.Tensor"


def case(
    number: int, fails: bool, size: int = 6, layout: str = "contiguous", dtype: str = "float32",
    reason: str = "error above the bound", is_invalid: bool = False, marks: Marks | None = None, **keywords: Any,
) -> Verdict:  # fmt: skip
    """A case of add on two tensors of `size` elements; a layout `NAME.K` is that of `self` or `other`."""
    tensor = TensorMeta(dtype, (size,))
    placed = {"": None, "0": "self", "1": "other"}[layout.partition(".")[2]]
    asked = Asked({"self": tensor, "other": tensor, "alpha": 1, **keywords}, (tensor,), placed, ())
    return Verdict(
        f"t/{number}", "t", ADD, dtype, "typical", layout, "fail" if fails else "pass", reason if fails else None,
        compared=size, failed=size if fails else 0, asked=asked, marks=marks,
        check=REFUSAL if is_invalid else ACCURACY,
    )  # fmt: skip


def cases(count: int, of: Callable[[int], dict[str, Any]]) -> list[Verdict]:
    return [case(number, **of(number)) for number in range(count)]


def sentence(verdicts: list[Verdict]) -> str | None:
    found = divisions(verdicts)
    return found[0].sentence if found else None


# --- Conditions on the call -------------------------------------------------------------------------------------------


def test_a_layout_of_one_argument() -> None:
    layouts = ["contiguous", "transposed.1", "contiguous", "strided.1", "transposed.0", "expanded.1", "offset.1"]

    def of(number: int) -> dict[str, Any]:
        layout = layouts[number % 7]
        return {"layout": layout, "fails": layout in ("transposed.1", "strided.1", "expanded.1")}

    assert sentence(cases(42, of)) == (
        "fails only where `other` is not contiguous (18 of 18 such cases; 0 of 24 others)"
    )


def test_a_keyword() -> None:
    found = cases(40, lambda number: {"alpha": 2 if number % 4 == 0 else 1, "fails": number % 4 == 0})
    assert sentence(found) == "fails only where `alpha` is not 1 (10 of 10 such cases; 0 of 30 others)"


def test_a_threshold_lies_between_the_largest_that_passes_and_the_smallest_that_fails() -> None:
    sizes = [7, 100, 1024, 1025, 5000]
    found = cases(40, lambda number: {"size": sizes[number % 5], "fails": sizes[number % 5] > 1024})
    assert sentence(found) == (
        "fails only where the number of elements of the result is more than 1,024 "
        "(16 of 16 such cases; 0 of 24 others); no case tells this from: "
        "the number of elements of `self` is more than 1,024; "
        "the number of elements of `other` is more than 1,024"
    )


def test_a_remainder() -> None:
    sizes = [32, 33, 64, 48, 96, 1000]
    found = cases(60, lambda number: {"size": sizes[number % 6], "fails": sizes[number % 6] % 32 > 0})
    assert sentence(found).startswith(
        "fails only where the number of elements of the result is not a multiple of 32 (30 of 30 such cases"
    )


def test_a_dtype() -> None:
    dtypes = ["float16", "float32", "float64", "int32"]
    found = cases(40, lambda number: {"dtype": dtypes[number % 4], "fails": number % 4 == 0})
    assert sentence(found).startswith("fails only where the dtype is float16 (10 of 10 such cases; 0 of 30 others)")


def test_two_conditions_together_where_one_does_not_do() -> None:
    def of(number: int) -> dict[str, Any]:
        alpha, dtype = (1, 2)[number % 2], ("float16", "float32")[number // 2 % 2]
        return {"alpha": alpha, "dtype": dtype, "fails": alpha == 2 and dtype == "float16"}

    assert sentence(cases(60, of)).startswith("fails only where ")
    assert "`alpha` is not 1" in sentence(cases(60, of))
    assert "the dtype is float16 (15 of 15 such cases; 0 of 45 others)" in sentence(cases(60, of))


def test_what_has_an_exception_says_so() -> None:
    found = cases(400, lambda number: {"alpha": 2 if number % 4 == 0 else 1, "fails": number % 4 == 0 or number == 1})
    assert sentence(found) == "fails nearly only where `alpha` is not 1 (100 of 100 such cases; 1 of 300 others)"


def test_calls_that_have_to_be_refused_are_told_where_nothing_else_fails() -> None:
    refused = [case(number, fails=True, is_invalid=True) for number in range(100, 106)]
    passing = cases(30, lambda number: {"fails": False})
    assert sentence(refused + passing) == (
        "fails only where the call has to be refused (6 of 6 such cases; 0 of 30 others)"
    )
    wrong = cases(40, lambda number: {"alpha": 2 if number % 4 == 0 else 1, "fails": number % 4 == 0})
    assert sentence(refused + wrong) == "fails only where `alpha` is not 1 (10 of 10 such cases; 0 of 30 others)"


def test_of_two_defects_each_is_told_with_its_reason() -> None:
    def of(number: int) -> dict[str, Any]:
        if number % 4 == 0:
            return {"fails": True, "alpha": 2, "reason": "wrong value"}
        strided = number % 4 == 1
        return {"fails": strided, "layout": "strided.0" if strided else "contiguous"}

    assert [one.sentence.partition(" such")[0] for one in divisions(cases(60, of))] == [
        "fails (wrong value; others fail otherwise) only where `alpha` is not 1 (15 of 15",
        "fails (error above the bound; others fail otherwise) only where `self` is strided with gaps (15 of 15",
    ]


def test_a_reason_is_told_with_the_numbers_that_all_have() -> None:
    def of(number: int) -> dict[str, Any]:
        if number % 4 == 0:
            return {"fails": True, "alpha": 2, "reason": f"above {number} of 8"}
        return {"fails": number % 4 == 1, "size": 7 if number % 4 == 1 else 6, "reason": "above 8"}

    told = [one.reason for one in divisions(cases(60, of))]
    assert told == ["above ... of ...", "above 8"]


# --- Nothing to tell --------------------------------------------------------------------------------------------------


def test_layouts_of_one_call_are_one_piece_of_evidence() -> None:
    layouts = ["contiguous", "strided.0", "transposed.0", "offset.0", "expanded.0"]

    def of(number: int) -> dict[str, Any]:
        return {"fails": number < 5, "size": 5 if number < 5 else 6, "layout": layouts[number % 5]}

    assert divisions(cases(110, of)) == []
    apart = [replace(one, test=f"t{number}") for number, one in enumerate(cases(110, of))]
    assert len(divisions(apart)) == 1


def test_what_is_true_of_more_that_fail_otherwise_is_not_the_reason() -> None:
    """7 of 7 calls with that `alpha`, and none of 30 others: but 40 more of them fail for another reason."""

    def of(number: int) -> dict[str, Any]:
        reason = "NaN where a number is expected" if number < 7 else "error above the bound"
        return {"fails": number < 60, "alpha": 2 if number < 47 else 1, "reason": reason}

    assert divisions(cases(90, of)) == []
    without = [one for number, one in enumerate(cases(90, of)) if not 7 <= number < 47]
    assert [one.reason for one in divisions(without)] == ["NaN where a number is expected"]



@pytest.mark.parametrize(
    ("count", "of"),
    [
        (1, lambda number: {"fails": True}),
        (40, lambda number: {"fails": True}),  # nothing passes
        (40, lambda number: {"fails": False}),
        (40, lambda number: {"fails": number % 3 == 0, "alpha": 1 + number % 2}),  # nothing to do with it
        (40, lambda number: {"fails": number == 7, "alpha": 2 if number == 7 else 1}),  # one case alone
        (6, lambda number: {"fails": number < 2, "alpha": 2 if number < 2 else 1}),  # 2 of 6: chance does as much
    ],
)
def test_nothing_is_told_where_nothing_divides(count: int, of: Callable[[int], dict[str, Any]]) -> None:
    assert sentence(cases(count, of)) is None


def test_chance_finds_nothing_in_a_hundred_runs() -> None:
    """Failures that have nothing to do with any condition: dtype, layout, alpha and size are drawn, and so is failing.
    Five in a hundred may be told by what `BY_CHANCE` says."""
    told = 0
    for seed in range(100):
        generator = random.Random(seed)

        def of(_: int, draw: random.Random = generator) -> dict[str, Any]:
            return {
                "dtype": draw.choice(["float16", "float32", "int32"]), "alpha": draw.choice([1, 1, 2, -1]),
                "layout": draw.choice(["contiguous", "strided.0", "offset.1"]), "size": draw.randrange(1, 5000),
                "fails": draw.random() < 0.1,
            }  # fmt: skip

        told += sentence(cases(40, of)) is not None
    assert told <= 5


# --- Elements ---------------------------------------------------------------------------------------------------------


def marked(wrong: int, right: int, **counts: tuple[int, int]) -> Marks:
    return Marks(wrong, right, {RESULT: counts})


def test_elements_tell_what_the_call_does_not() -> None:
    def of(number: int) -> dict[str, Any]:
        fails = number % 2 == 0
        return {"fails": fails, "marks": marked(3 if fails else 0, 97, NaN=(3 if fails else 0, 0), negative=(1, 40))}

    found = [one for one in cases(20, of) if one.marks.wrong or one.status == "pass"]
    assert sentence(found) == (
        "is wrong only where the expected result is NaN (30 of 30 such elements; 0 of 1,940 others)"
    )


def test_a_backend_that_flushes_is_told_how_to_declare_it() -> None:
    def of(number: int) -> dict[str, Any]:
        fails = number % 2 == 0
        return {"fails": fails, "marks": Marks(2 * fails, 90, {RESULT: {SUBNORMAL: (2 * fails, 0)}})}

    assert sentence(cases(20, of)) == (
        "is wrong only where the expected result is subnormal (20 of 20 such elements; 0 of 1,800 others); "
        "a backend that flushes subnormal numbers declares `flushes_subnormals`"
    )


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (PLACE, "an element lies behind the first 2,048 of its output"),
        (SIZE, "the magnitude of the expected result is more than 2047"),
    ],
)
def test_a_limit_between_wrong_and_right_elements(measure: str, words: str) -> None:
    def of(number: int) -> dict[str, Any]:
        fails = number % 2 == 0
        wrong = Span(2048.0, 2050.0, 3) if fails else Span()
        spans = {RESULT: {measure: (wrong, Span(0.0, 2047.0, 90))}}
        return {"fails": fails, "marks": Marks(wrong.count, 90, {}, spans)}

    assert sentence(cases(20, of)) == f"is wrong only where {words} (30 of 30 such elements; 0 of 1,800 others)"


def test_a_measure_that_some_wrong_element_lacks_tells_nothing() -> None:
    def of(number: int) -> dict[str, Any]:
        fails = number % 2 == 0
        wrong = Span(2048.0, 2050.0, 2) if fails else Span()
        return {"fails": fails, "marks": Marks(3 * fails, 90, {}, {RESULT: {SIZE: (wrong, Span(0.0, 2047.0, 90))}})}

    assert sentence(cases(20, of)) is None


@pytest.mark.parametrize(
    ("right", "text"),
    [
        (0, "is wrong only where an element lies behind the last whole 64 of its output (20 of 20 such el"),
        (1, None),  # as many right as wrong: outputs smaller than a vector are nothing but tail
    ],
)  # fmt: skip
def test_a_tail_of_which_most_is_right_is_not_told(right: int, text: str | None) -> None:
    def of(number: int) -> dict[str, Any]:
        fails = number % 2 == 0
        return {"fails": fails, "marks": Marks(2 * fails, 900, {RESULT: {"tail of 64": (2 * fails, right)}})}

    found = sentence(cases(20, of))
    assert found is None if text is None else found.startswith(text)


def test_elements_say_nothing_where_cases_fail_without_any() -> None:
    def of(number: int) -> dict[str, Any]:
        fails = number % 2 == 0
        return {"fails": fails, "marks": marked(3, 97, negative=(3, 0)) if number % 4 == 0 else None}

    every = cases(20, of)
    crashed = [case(number, fails=True) for number in range(100, 105)]
    without = [Verdict(**{**vars_of(one), "failed": 0, "compared": 0, "checks": 1}) for one in crashed]
    assert sentence([*every, *without]) is None


def vars_of(verdict: Verdict) -> dict[str, Any]:
    return {name: getattr(verdict, name) for name in Verdict.__slots__}


# --- How well a condition divides -------------------------------------------------------------------------------------

SOMETHING = (Condition("alpha", "it is so"),)


@pytest.mark.parametrize(
    ("failing", "passing", "all_failing", "all_passing", "tried", "divides"),
    [
        (10, 0, 10, 30, 100, True),
        (2, 0, 2, 500, 100, True),  # 1 / C(502, 2) = 8e-6
        (2, 0, 2, 40, 100, False),  # 1 / C(42, 2) = 1 / 861
        (3, 0, 3, 40, 100, True),  # 1 / 12,341
        (9, 0, 10, 300, 10, False),  # 90 % of what fails
        (19, 0, 20, 300, 10, True),  # 95 %
        (10, 9, 10, 300, 10, True),
        (10, 10, 10, 300, 10, False),  # as many pass as fail
        (10, 4, 10, 30, 10, False),  # 13 % of what passes
    ],
)
def test_what_divides(
    failing: int, passing: int, all_failing: int, all_passing: int, tried: int, divides: bool
) -> None:
    assert Split(SOMETHING, failing, passing, all_failing, all_passing).divides(tried) is divides


def test_the_chance_is_that_of_fishers_exact_test_or_a_little_more() -> None:
    for failing, passing, all_failing, all_passing in ((3, 0, 3, 4), (5, 2, 6, 20), (4, 4, 10, 10), (8, 1, 9, 40)):
        true, everything = failing + passing, all_failing + all_passing
        tail = sum(
            comb(all_failing, some) * comb(all_passing, true - some)
            for some in range(failing, min(true, all_failing) + 1)
        ) / comb(everything, true)
        bound = exp(Split(SOMETHING, failing, passing, all_failing, all_passing)._log_chance())
        assert tail * (1 - 1e-9) <= bound <= min(1.0, 2 * tail) * (1 + 1e-9) or bound == 1.0
