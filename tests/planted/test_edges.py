"""Domain edges of an op catch defects that typical draws miss."""

from __future__ import annotations

import pytest

from conform.backends.client import BackendProcess
from conform.backends.launcher import Template
from tests.planted.catalogue import backend_name
from tests.planted.trial import Trial


@pytest.mark.parametrize(("name", "test"), [
    ("TiesAwayFromZero", "mul_float_pairs/float32"),
    ("LargeExponentsAreEven", "pow_float_pairs/float32"),
    ("FlushesTails", "erfc_float/float64"),
])  # fmt: skip
def test_edges_catch_what_typical_draws_miss(name: str, test: str, trial: Trial, template: Template) -> None:
    classes = ("typical", "special")
    with BackendProcess(backend_name(name), template=template) as process:
        verdicts = trial.verdicts(process, [trial.cases[f"{test}/{values}/contiguous"] for values in classes])
        assert [verdict.status for verdict in verdicts] == ["pass", "fail"]
