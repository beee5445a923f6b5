"""I8 comes first, and where it fails nothing else counts: every other test then fails with the disagreement's message.

The interpreter is the kit's only truth, so a test that passes on one that disagrees with its references tells nothing.
Under pytest-xdist the processes share a folder: tests outside I8 wait there until every selected I8 test is done, and
look whether one failed. This cannot lock: each process runs its tests in the order of the collection, I8 first.
`pytest -m "not i8"` selects no I8 test, and so nothing waits.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

LONGEST_WAIT_S = 1200.0
FOLDER = pytest.StashKey[Path]()
SELECTED = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "i8: the interpreter against the independent references, bit for bit")
    shared = getattr(config, "workerinput", {}).get("i8_folder")
    config.stash[FOLDER] = Path(shared or tempfile.mkdtemp(prefix="i8_"))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """pytest-xdist: each worker gets the controller's folder."""
    node.workerinput["i8_folder"] = str(node.config.stash[FOLDER])  # type: ignore[attr-defined]


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.stash[FOLDER], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_i8(item.nodeid):
            item.add_marker("i8")
    items.sort(key=lambda item: not is_i8(item.nodeid))


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[SELECTED] = sum(is_i8(item.nodeid) for item in session.items)


def is_i8(nodeid: str) -> bool:
    return nodeid.startswith("tests/i8/")


class Record:
    """What became of the I8 tests, as files that all processes of a run see: one a finished test, one a failure."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, report: pytest.TestReport) -> None:
        name = hashlib.sha256(report.nodeid.encode()).hexdigest()
        if report.failed:
            (self.folder / f"{name}.writing").write_text(f"{report.nodeid}\n{report.longreprtext}", encoding="utf-8")
            (self.folder / f"{name}.writing").replace(self.folder / f"{name}.failed")
        if report.when not in ("setup", "call"):  # the last report of a test; of a crash the only one
            (self.folder / f"{name}.done").touch()

    def failures(self) -> Iterable[str]:
        return (path.read_text(encoding="utf-8") for path in sorted(self.folder.glob("*.failed")))

    def wait(self, count: int) -> None:
        """Until `count` tests are done or one has failed."""
        end = time.monotonic() + LONGEST_WAIT_S
        while len(list(self.folder.glob("*.done"))) < count and not any(self.failures()):
            if time.monotonic() > end:
                pytest.fail(f"I8 is not done after {LONGEST_WAIT_S:.0f} s", pytrace=False)
            time.sleep(0.05)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):  # noqa: ANN201  # a generator of pluggy's
    report = yield
    if is_i8(item.nodeid):
        Record(item.config.stash[FOLDER]).keep(report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if is_i8(item.nodeid):
        return
    record = Record(item.config.stash[FOLDER])
    record.wait(item.config.stash[SELECTED])
    for failure in record.failures():
        pytest.fail(f"I8 failed, so no other test counts: {failure}", pytrace=False)
