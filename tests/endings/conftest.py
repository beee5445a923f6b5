"""A run of a small suite on a fake backend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import conform
from conform import straight_line
from conform.backends.call import Call
from conform.backends.reply import Reply
from conform.report.record import Run
from tests.endings.fake import SUITE, Fake, right


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Runs SUITE on a Fake; gives the run also where something ended it."""

    def on(reply: Callable[[int, Call], Reply] = lambda _, call: right(call), **options: Any) -> Run:
        (tmp_path / "suite.yaml").write_text(SUITE)
        monkeypatch.setattr(straight_line, "BackendProcess", Fake(reply))
        return conform.check(str(tmp_path / "suite.yaml"), backend="fake", **options)

    return on
