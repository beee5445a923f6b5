"""Domain edges of an op catch defects that typical draws miss."""

from __future__ import annotations

import pytest

from conform.backends.client import BackendProcess
from conform.backends.launcher import Template
from conform.selftest.trial import Trial
from tests.selftest.plants.test_products import case_of, written


@pytest.mark.parametrize(("name", "test"), [
    ("TiesAwayFromZero", "mul_float_pairs/float32"),
    ("LargeExponentsAreEven", "pow_float_pairs/float32"),
    ("FlushesTails", "erfc_float/float64"),
])  # fmt: skip
def test_edges_catch_what_typical_draws_miss(name: str, test: str, trial: Trial, template: Template) -> None:
    cases = [case_of(trial, f"{test}/{values}/contiguous") for values in ("typical", "special")]
    with BackendProcess(written("edges", name), template=template) as process:
        assert [verdict.status for verdict in trial.verdicts(process, cases)] == ["pass", "fail"]
