"""One hunt for all tests of planted defects, on the template of all tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conform.backends.launcher import Template
from conform.selftest.hunt import Hunt
from conform.selftest.trial import Trial
from conform.suites.cases import Selection

FLOATS = ("float16", "bfloat16", "float32", "float64")
SUITE = Path(__file__).with_name("sums_and_edges.yaml")


@pytest.fixture(scope="session")
def template(one_template: Callable[[], Template]) -> Template:
    return one_template()


@pytest.fixture(scope="session")
def trial() -> Trial:
    """Of a suite that is these tests' own."""
    return Trial([str(SUITE)], Selection(dtypes=FLOATS, values="all", layouts="as-written"))


@pytest.fixture(scope="session")
def hunt(template: Template) -> Iterator[Hunt]:
    """Of two ops on the core suite, which are enough to see how it hunts."""
    with Hunt(Trial(selection=Selection(ops=["aten::neg", "aten::sum.dim_IntList"])), template) as one:
        yield one
