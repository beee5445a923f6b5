"""One template for all runs of a process of the tests: torch is imported once, not once a run (1.4 s of a processor).

What a template started with is what its workers start with. So a run with another environment or in a jail gets one of
its own, as do the tests of templates.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from conform import straight_line
from conform.backends.client import BackendProcess
from conform.backends.launcher import Template


@contextmanager
def shared_template() -> Iterator[Callable[[], Template]]:
    """Gives one template to each BackendProcess that is made without one and would start the same, a twin of it to each
    run; and the template to who asks."""
    process, environment, started = os.getpid(), _environment(), []
    made = BackendProcess.__init__

    def shared() -> Template:
        started[:] = started or [Template(preloaded=["tests.preloaded"])]
        return started[0]

    def is_alike() -> bool:
        return os.getpid() == process and _environment() == environment

    def init(self: BackendProcess, *args: object, **options: object) -> None:
        made(self, *args, **options)
        if self._given_template is None and self._jail is None and is_alike():
            self._given_template = shared()

    def of_run(**options: object) -> Template:
        return shared().twin() if is_alike() else Template(**options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BackendProcess, "__init__", init)
        patch.setattr(straight_line, "Template", of_run)
        yield shared
    for template in started:
        template.close()


def _environment() -> dict[str, str]:
    """What a worker may read: not the limits of documents, of which no backend reads one."""
    others = ("PYTEST_CURRENT_TEST", "CONFORM_MAX_")
    return {name: value for name, value in os.environ.items() if not name.startswith(others)}
