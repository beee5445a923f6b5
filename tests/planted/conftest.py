"""One template process and one trial for all tests of planted backends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conform.backends.launcher import Template
from tests.planted.trial import Trial


@pytest.fixture(scope="session")
def template() -> Iterator[Template]:
    with Template() as one:
        yield one


@pytest.fixture(scope="session")
def trial() -> Trial:
    return Trial()
