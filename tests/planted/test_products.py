"""Defects of matrix units are named in the verdict, and pass where a backend declares them."""

from __future__ import annotations

import pytest

from conform.backends.client import BackendProcess
from conform.backends.launcher import Template
from conform.judging.verdict import Verdict
from tests.planted.catalogue import FOLDER, backend_name
from tests.planted.trial import Trial

# fmt: off
NAMED = [
    ("Tf32RoundedInputs", "float32", "as if the inputs were rounded to TF32 (10 bits)"),
    ("Tf32Inputs", "float32", "as if the inputs were truncated to TF32 (10 bits)"),
    ("Bfloat16Inputs", "float32", "as if the inputs were rounded to bfloat16 (7 bits)"),
    ("Bfloat16x3", "float32", "as if the inputs were split into bfloat16 halves (bf16x3)"),
    ("HalfAccumulator", "float16", "as if the sums were accumulated in float16"),
    ("HalfAccumulator", "bfloat16", "as if the sums were accumulated in bfloat16"),
]
PRODUCTS = [
    "mm_sixteen_terms", "mm_many_64", "addmm_float", "addmm_sixteen_terms", "convolution_float", "convolution_bias",
]
POSITIVE = [
    "mm_many_16_positive", "mm_many_64_positive", "mm_many_256_positive", "mm_many_1024_positive",
    "addmm_many_positive", "convolution_many_positive", "sum_many_positive",
]
# fmt: on


def verdicts(name: str, tests: list[str], dtype: str, trial: Trial, template: Template) -> list[Verdict]:
    """Of a backend on the typical, contiguous cases of these tests."""
    cases = [trial.cases[f"{test}/{dtype}/typical/contiguous"] for test in tests]
    with BackendProcess(name, template=template) as process:
        return list(trial.verdicts(process, cases))


@pytest.mark.parametrize(("plant", "dtype", "words"), NAMED)
def test_the_defect_is_named(plant: str, dtype: str, words: str, trial: Trial, template: Template) -> None:
    for verdict in verdicts(backend_name(plant), PRODUCTS, dtype, trial, template):
        assert verdict.status == "fail"
        assert verdict.reason.endswith(f", {words}")


def test_truncation_is_named_where_only_many_sums_show_it(trial: Trial, template: Template) -> None:
    for verdict in verdicts(backend_name("TruncatedSums"), POSITIVE, "float32", trial, template):
        assert (verdict.status, verdict.failed) == ("fail", 0)
        assert verdict.reason.startswith("root mean square of the errors ")
        assert verdict.reason.endswith(", as if the sums were truncated (rounded toward zero)")


@pytest.mark.parametrize(
    ("declared", "dtype"),
    [
        ("Tf32Declared", "float32"), ("Tf32RoundedDeclared", "float32"), ("Bfloat16x3Declared", "float32"),
        ("Float16AccumulatorDeclared", "float16"),
    ],
)  # fmt: skip
def test_what_is_declared_passes_special_values_too(
    declared: str, dtype: str, trial: Trial, template: Template
) -> None:
    name = f"{FOLDER / 'products.py'}::{declared}"
    tests = {*PRODUCTS, *POSITIVE, "mm_one_term", "mm_bits", "mm_subnormals", "convolution_padding"}
    cases = [
        case
        for case in trial.cases.values()
        if case.draw.test.id in tests and case.dtype == dtype and case.layout == "contiguous"
    ]
    assert len(cases) > 40
    with BackendProcess(name, template=template) as process:
        found = list(trial.verdicts(process, cases))
    assert [(verdict.id, verdict.reason) for verdict in found if verdict.status not in ("pass", "unspecified")] == []


def test_a_declaration_covers_no_more_than_it_says(trial: Trial, template: Template) -> None:
    name = f"{FOLDER / 'products.py'}::Bfloat16Declared"  # declares tf32
    found = verdicts(name, ["mm_float", "mm_bits"], "float32", trial, template)
    assert [verdict.status for verdict in found] == ["fail", "fail"]
