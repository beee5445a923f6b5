"""A cause is told where it explains nearly all wrong elements of an op and dtype, and of nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conform.contracts.causes import cut
from conform.findings.causes import cause_of
from conform.findings.findings import findings_of, with_cause
from conform.judging.verdict import FLUSHED, REFUSAL, Verdict
from conform.numerics.formats import FORMATS
from tests.contracts.test_accumulation import sequential
from tests.judging.test_declared import verdict

TF32 = "as if the inputs were rounded to TF32 (10 bits)"
HALF = "as if the sums were accumulated in float16"
F32 = np.float32


def failed(wrong: int = 10, dtype: str = "float32", status: str = "fail", **causes: int) -> Verdict:
    """A failed case of which `causes` explain so many of the wrong elements; TF32, HALF and FLUSHED by their names."""
    words = {"tf32": TF32, "half": HALF, "flushed": FLUSHED}
    return Verdict(
        "t/typical/contiguous", "t", "aten::mm", dtype, "typical", "contiguous", status, "error above the bound",
        compared=100, failed=wrong, causes={words[name]: count for name, count in causes.items()},
    )  # fmt: skip


PASSED = replace(failed(0), status="pass", reason=None)
CRASHED = replace(failed(0, status="crash"), compared=0)
REFUSED = replace(failed(0), check=REFUSAL, compared=0, checks=1)


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ([failed(10, tf32=10)], TF32),
        ([failed(1, tf32=1)], TF32),  # its value is predicted
        ([failed(100, tf32=95)], TF32),
        ([failed(100, tf32=94)], None),
        ([failed(100, tf32=96, flushed=98)], FLUSHED),
        ([failed(1000, tf32=1000), failed(10)], None),  # of two cases one is not explained, however small
        ([failed(10, tf32=10), CRASHED], None),
        ([failed(10, tf32=10), REFUSED], TF32),
        ([failed(15, half=15)], None),  # too few to tell a size by
        ([failed(16, half=16)], HALF),
        ([failed(16, half=16), PASSED], HALF),
        ([failed(16, half=16), PASSED, PASSED], None),  # most sums are right
        ([failed(16, tf32=16), PASSED, PASSED], TF32),
        ([PASSED], None),
        ([CRASHED], None),
        ([REFUSED], None),
    ],
)
def test_a_cause_explains_nearly_all_wrong_elements_and_nearly_all_of_each_case(
    verdicts: list[Verdict], words: str | None
) -> None:
    cause = cause_of(verdicts)
    assert (cause and cause.words) == words


def test_dtypes_of_one_cause_are_told_together() -> None:
    every = [
        failed(10, tf32=10), failed(8, "float16", flushed=8), failed(5, "bfloat16", flushed=5), failed(3, "float64"),
    ]  # fmt: skip
    hint = "; a backend that flushes subnormal numbers declares `flushes_subnormals`"
    assert [(one.dtypes, one.text) for one in findings_of(every)] == [
        (("float32",), f"looks {TF32} (10 of 10 wrong elements)"),
        (("float16", "bfloat16"), f"looks {FLUSHED} (13 of 13 wrong elements){hint}"),
    ]


# --- Defects without a name -------------------------------------------------------------------------------------------

LENGTHS = (2, 3, 7, 16, 40, 64, 300)
Product = Callable[[np.ndarray, np.ndarray], np.ndarray]  # in float64


def products(dtype: str, terms: int, defect: Product) -> Verdict:
    """mm of normal numbers by a backend with the defect."""
    generator, storage = np.random.default_rng(terms), FORMATS[dtype].storage
    lhs, rhs = (generator.standard_normal(shape).astype(storage) for shape in ((9, terms), (terms, 11)))
    wide = defect(lhs.astype(np.float64), rhs.astype(np.float64))
    return verdict("aten::mm", [lhs, rhs], wide.astype(F32).astype(storage) if dtype != "float64" else wide)


def without_last(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    return lhs[:, :-1] @ rhs[:-1]


def last_twice(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    return lhs @ rhs + lhs[:, -1:] @ rhs[-1:]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "defect",
    [
        without_last, last_twice,
        lambda lhs, rhs: (lhs @ rhs) * 1.001,
        lambda lhs, rhs: (lhs @ rhs) * 1.03,
        lambda lhs, rhs: (lhs @ rhs) * 0.0,
        lambda lhs, rhs: lhs @ rhs + 0.01,
        lambda lhs, rhs: np.abs(lhs @ rhs),
        lambda lhs, rhs: (lhs @ rhs) * (np.arange(11) % 4 > 0),
    ],
    ids=["last dropped", "last twice", "1.001", "1.03", "zeros", "shifted", "abs", "a column in four"],
)  # fmt: skip
def test_what_no_cause_explains_has_none(dtype: str, defect: Product) -> None:
    assert cause_of([products(dtype, terms, defect) for terms in LENGTHS]) is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_product_of_no_terms_that_is_not_zero_has_none(dtype: str) -> None:
    storage = FORMATS[dtype].storage
    wrong = verdict("aten::mm", [np.zeros((3, 0), storage), np.zeros((0, 4), storage)], np.full((3, 4), 7, storage))
    assert (wrong.status, wrong.failed, wrong.causes) == ("fail", 12, {})


@pytest.mark.parametrize("alpha", [0, 2])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_an_ignored_alpha_has_none(alpha: int, dtype: str) -> None:
    generator, storage = np.random.default_rng(0), FORMATS[dtype].storage
    addend, lhs, rhs = (generator.standard_normal(shape).astype(storage) for shape in ((5, 7), (5, 6), (6, 7)))
    wide = [each.astype(np.float64) for each in (addend, lhs, rhs)]
    ignored = (wide[0] + wide[1] @ wide[2]).astype(F32).astype(storage)
    wrong = verdict("aten::addmm", [addend, lhs, rhs], ignored, alpha=alpha)
    assert (wrong.status, cause_of([wrong])) == ("fail", None)


def test_zeros_behind_the_first_2048_elements_have_none() -> None:
    generator = np.random.default_rng(0)
    lhs, rhs = generator.standard_normal((60, 8)).astype(F32), generator.standard_normal((8, 60)).astype(F32)
    actual = sequential(lhs, rhs, F32)
    actual.reshape(-1)[2048:] = 0
    wrong = verdict("aten::mm", [lhs, rhs], actual)
    assert (wrong.failed, wrong.causes) == (60 * 60 - 2048, {})
    assert wrong.marks.spans[""]["place"][0].least == 2048


def test_cut_factors_have_a_name_and_half_of_them_have_none() -> None:
    def tf32(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return cut(lhs.astype(F32), 11).astype(np.float64) @ cut(rhs.astype(F32), 11)

    of_all = [products("float32", terms, tf32) for terms in LENGTHS]
    cause = cause_of(of_all)
    assert (cause.words, cause.explained) == (TF32, cause.wrong)
    assert cause_of([*of_all, products("float32", 16, without_last)]) is None


def test_the_verdict_on_one_call_has_its_cause_behind_the_reason() -> None:
    one: dict[str, Any] = {"op": "aten::mm", "args": [F32([[1 + 2.0**-20, 0.0]]), F32([[1.0], [1.0]])]}
    named = with_cause(verdict(**one, actual=F32([[1.0]])))
    assert named.reason == f"error above the bound, {TF32}"
    assert with_cause(verdict(**one, actual=F32([[3.0]]))).reason == "error above the bound"
