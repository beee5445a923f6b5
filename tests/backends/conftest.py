"""Workers for the tests of the process boundary: one template for all of them, so that torch is imported once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conform.backends.client import BackendProcess
from conform.backends.launcher import Template

MISBEHAVING = str(Path(__file__).parent / "misbehaving.py")


@pytest.fixture(scope="session")
def template(one_template: Callable[[], Template]) -> Template:
    return one_template()


@pytest.fixture
def start(template: Template) -> Callable[..., BackendProcess]:
    """A BackendProcess of a class in misbehaving.py (or of any backend, by `name`), not yet entered."""

    def starter(class_name: str = "Misbehaving", name: str | None = None, **options: float) -> BackendProcess:
        return BackendProcess(
            name or f"{MISBEHAVING}::{class_name}", template=template, **{"timeout_s": 20.0, **options}
        )

    return starter


@pytest.fixture
def misbehaving(start: Callable[..., BackendProcess]) -> Iterator[BackendProcess]:
    with start() as process:
        yield process
