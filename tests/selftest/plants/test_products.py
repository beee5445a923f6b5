"""Defects of matrix units are named in the verdict, and pass where a backend declares them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform import suites
from conform.backends.client import BackendProcess
from conform.backends.launcher import Template
from conform.findings.findings import with_cause
from conform.judging.verdict import Verdict
from conform.selftest import plants
from conform.selftest.trial import Trial
from conform.suites.cases import Case, Selection

pytestmark = pytest.mark.one_in(4)

# fmt: off
NAMED = [
    ("products", "Tf32RoundedInputs", "float32", "as if the inputs were rounded to TF32 (10 bits)"),
    ("accuracy", "Tf32Inputs", "float32", "as if the inputs were truncated to TF32 (10 bits)"),
    ("accuracy", "Bfloat16Inputs", "float32", "as if the inputs were rounded to bfloat16 (7 bits)"),
    ("products", "Bfloat16x3", "float32", "as if the inputs were split into bfloat16 halves (bf16x3)"),
    ("accuracy", "HalfAccumulator", "float16", "as if the sums were accumulated in float16"),
    ("accuracy", "HalfAccumulator", "bfloat16", "as if the sums were accumulated in bfloat16"),
]
PRODUCTS = [
    "mm_sixteen_terms", "mm_many_64", "addmm_float", "addmm_sixteen_terms", "convolution_float", "convolution_bias",
]
POSITIVE = [
    "mm_many_16_positive", "mm_many_64_positive", "mm_many_256_positive", "mm_many_1024_positive",
    "addmm_many_positive", "convolution_many_positive", "sum_many_positive",
]
# fmt: on


CORE = Path(suites.__file__).with_name("core")
DECLARED = Path(__file__).with_name("declared.py")


def written(file: str, name: str) -> str:
    """What `conform check --backend` calls a written class."""
    return f"{Path(plants.__file__).with_name(file)}.py::{name}"


def case_of(trial: Trial, case_id: str) -> Case:
    """The case of a trial that has this id."""
    return next(case for cases in trial.cases.values() for case in cases if case.id == case_id)


def verdicts(name: str, tests: list[str], dtype: str, trial: Trial, template: Template) -> list[Verdict]:
    """Of a backend on the typical, contiguous cases of these tests."""
    cases = [case_of(trial, f"{test}/{dtype}/typical/contiguous") for test in tests]
    with BackendProcess(name, template=template) as process:
        return list(trial.verdicts(process, cases))


@pytest.mark.parametrize(("file", "plant", "dtype", "words"), NAMED)
def test_the_defect_is_named(file: str, plant: str, dtype: str, words: str, trial: Trial, template: Template) -> None:
    for verdict in verdicts(written(file, plant), PRODUCTS, dtype, trial, template):
        assert verdict.status == "fail"
        assert with_cause(verdict).reason.endswith(f", {words}")


def test_truncation_is_named_where_only_many_sums_show_it(trial: Trial, template: Template) -> None:
    for verdict in verdicts(written("products", "TruncatedSums"), POSITIVE, "float32", trial, template):
        assert (verdict.status, verdict.failed) == ("fail", 0)
        assert verdict.reason.startswith("root mean square of the errors ")
        assert with_cause(verdict).reason.endswith(", as if the sums were truncated (rounded toward zero)")


@pytest.mark.parametrize(
    ("declared", "dtype"),
    [
        ("Tf32", "float32"), ("Tf32Rounded", "float32"), ("ThreeBfloat16Products", "float32"),
        ("Float16Accumulator", "float16"),
    ],
)  # fmt: skip
def test_what_is_declared_passes_special_values_too(
    declared: str, dtype: str, trial: Trial, template: Template
) -> None:
    tests = {*PRODUCTS, *POSITIVE, "mm_one_term", "mm_bits", "mm_subnormals", "convolution_padding"}
    cases = [
        case
        for of_op in trial.cases.values()
        for case in of_op
        if case.draw.test.id in tests and case.dtype == dtype and case.layout == "contiguous"
    ]
    assert len(cases) > 40
    with BackendProcess(f"{DECLARED}::{declared}", template=template) as process:
        found = list(trial.verdicts(process, cases))
    judged = [one for one in found if one.rule != "vacuous bound"]  # float16 says nothing of sums of many terms
    assert [(one.id, one.reason) for one in judged if one.status not in ("pass", "unspecified")] == []
    assert len(judged) > len(found) / 2


def test_a_declaration_covers_no_more_than_it_says(trial: Trial, template: Template) -> None:
    found = verdicts(f"{DECLARED}::Bfloat16", ["mm_float", "mm_bits"], "float32", trial, template)
    assert [verdict.status for verdict in found] == ["fail", "fail"]


# fmt: off
NARROW = [
    ("Tf32OfLongSums", "float32", ["*_of_cut_factors"], 6),
    ("FloatAccumulator", "int16", ["sum_of_*", "cumsum_of_*", "sum_along_*"], 3),
    ("FloatAccumulator", "int32", ["sum_of_*", "cumsum_of_*", "sum_along_*"], 3),
    ("FloatAccumulator", "int64", ["sum_of_*", "cumsum_of_*", "sum_along_*"], 3),
    ("FloatAccumulator", "int8", ["*_of_largest_int8", "int_mm_of_largest"], 13),
    ("FloatAccumulator", "int64", ["*_of_largest_int64"], 12),
    ("SaturatedPairs", "int8", ["int_mm_of_smallest"], 1),
    ("TiledHeads", "float32", ["attention_groups_of_heads*"], 4),
]
# fmt: on


@pytest.mark.parametrize(("plant", "dtype", "tests", "count"), NARROW)
def test_core_shows_what_small_calls_hide(
    plant: str, dtype: str, tests: list[str], count: int, template: Template
) -> None:
    """Each of these calls alone. torch is right, but for pairs of int8, which oneDNN saturates without VNNI."""
    chosen = Selection(ids=[f"{one}/{dtype}/typical/contiguous" for one in tests])
    trial = Trial([str(CORE / f"{family}.yaml") for family in ("reduction", "contraction", "attention")], chosen)
    cases = [case for some in trial.cases.values() for case in some]
    assert len(cases) == count
    own = written("composites", plant) if plant == "TiledHeads" else f"{DECLARED.with_name('narrow.py')}::{plant}"
    for name, status in ((own, "fail"), ("cpu", "pass")):
        with BackendProcess(name, template=template) as process:
            found = list(trial.verdicts(process, cases))
        others = [case.id for case, one in zip(cases, found, strict=True) if one.status != status]
        assert [one for one in others if name != "cpu" or "int_mm" not in one] == []
