"""Defects of matrix units are named in the verdict, and pass where a backend declares them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.backends.client import BackendProcess
from conform.backends.launcher import Template
from conform.findings.findings import with_cause
from conform.judging.verdict import Verdict
from conform.selftest import plants
from conform.selftest.trial import Trial
from conform.suites.cases import Case

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
    assert [(verdict.id, verdict.reason) for verdict in found if verdict.status not in ("pass", "unspecified")] == []


def test_a_declaration_covers_no_more_than_it_says(trial: Trial, template: Template) -> None:
    found = verdicts(f"{DECLARED}::Bfloat16", ["mm_float", "mm_bits"], "float32", trial, template)
    assert [verdict.status for verdict in found] == ["fail", "fail"]
