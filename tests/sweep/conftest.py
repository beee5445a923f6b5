"""Sweeps start their template themselves; here they share that of all tests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import pytest

from conform.backends.launcher import Template


@pytest.fixture(autouse=True)
def _one_template_for_sweeps(one_template: Callable[[], Template], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conform.sweep.run.Template", lambda: nullcontext(one_template()))
