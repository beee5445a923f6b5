"""Every test meets the same kernels of torch, and I8 comes first.

torch takes those of one instruction set on all processors that have it (conform/selftest/instruction_sets.py), so that
no test depends on the machine; set here, before any process of the tests runs a kernel or starts a worker, which
inherits it.

Where I8 fails nothing else counts: every other test then fails with the disagreement's message.

The interpreter is the kit's only truth, so a test that passes on one that disagrees with its references tells nothing.
Under pytest-xdist the processes share a folder: tests outside I8 wait there until every selected I8 test is done, and
look whether one failed. This cannot lock: each process runs its tests in the order of the collection, I8 first.
`pytest -m "not i8"` selects no I8 test, and so nothing waits.

Properties (hypothesis) fail by what they say, not because a loaded machine is slow.

Tests marked `rotating(N)` are cut into shares of about N overloads each (ROTATING, where N is left out), however many
there are. Of tests marked `one_in(N)`, which run the whole tool in processes of its own, one in N runs; where a module
makes something costly for all of its tests, the whole module does (`together=True`). Shares are equally large: the
cases of a rotating function, the tests of a module, and the modules that run as a whole are dealt out in turn. Those of
the other shares than --seed's are `long`. Whoever names tests by -k gets them of every share.
"""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from conform.selftest.instruction_sets import hold
from tests.browser import browser, opened  # noqa: F401  (one browser a process: playwright allows no second)

LONGEST_WAIT_S = 1200.0
ROTATING = 2  # overloads whose rotating tests a share holds, on average
ON_CORE = 5  # overloads whose operators a share runs on the whole core suite, on average


def pytest_addoption(parser: pytest.Parser) -> None:
    """xdist gives the controller's seed to its workers, so that midnight parts no run."""
    today = date.today().toordinal()
    text = "names the share of the rotating tests that runs without the long ones (the day's number)"
    parser.addoption("--seed", type=int, default=today, metavar="N", help=text)


def pytest_report_header(config: pytest.Config) -> str:
    return f"rotating tests: the share of --seed {config.getoption('--seed')}; all with -m ''"


@cache
def overloads() -> tuple[str, ...]:
    from conform.interp import semantics

    return tuple(semantics.names())


def shares(size: int) -> int:
    """How many shares there are where each holds so many overloads."""
    return max(1, len(overloads()) // size)


def number_of(name: str) -> int:
    """The same on every machine and at every time, and unlike that of any other name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def share_of(names: Iterable[str], count: int, seed: int, group: str = "") -> frozenset[str]:
    """Of `count` shares the seed's: as many names in each, but for one. With which seed it begins depends on the group,
    or all small groups would have nothing on the same days."""
    return frozenset(sorted(names, key=number_of)[(seed + number_of(group)) % count :: count])


def ops_of_share(config: pytest.Config) -> frozenset[str]:
    """The operators, without overloads, of the seed's share, which is never empty: that would name all."""
    every = {name.partition(".")[0] for name in overloads()}
    return share_of(every, shares(ON_CORE), config.getoption("--seed"))


hold()
settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")


def is_i8(nodeid: str) -> bool:
    return nodeid.startswith("tests/i8/")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "i8: the interpreter against the independent references, bit for bit")
    config.addinivalue_line("markers", "rotating(N): of a share of about N overloads, which --seed names")
    config.addinivalue_line("markers", "one_in(N, together): of N shares, of which --seed names one")
    config.addinivalue_line("markers", "whole_suite: takes a minute; begun early, so that none is left to one process")
    shared = getattr(config, "workerinput", {}).get("i8_folder")
    config.pluginmanager.register(I8First(Path(shared or tempfile.mkdtemp(prefix="i8_")), owned=shared is None))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.keyword:
        return
    dealt = defaultdict[tuple[str, ...], dict[str, list[pytest.Item]]](lambda: defaultdict(list))
    for item in items:
        if (found := _dealt(item)) is not None:
            *place, name = found
            dealt[tuple(place)][name].append(item)
    for (module, _, count), named in dealt.items():
        for name in named.keys() - share_of(named, count, config.getoption("--seed"), module):
            for item in named[name]:
                item.add_marker("long")


def _dealt(item: pytest.Item) -> tuple[str, str, int, str] | None:
    """Of what module and function the tests are beside which one is dealt out, into how many shares, by which name.

    Of cases it is what stands in brackets: the functions of a module that have the same ones share what they make."""
    rotating, one_in = item.get_closest_marker("rotating"), item.get_closest_marker("one_in")
    if rotating is None and one_in is None:
        return None
    count = (shares(*(rotating.args or (ROTATING,))) if rotating else 1) * (one_in.args[0] if one_in else 1)
    module, _, _ = item.nodeid.partition("::")
    function, _, case = item.nodeid.partition("[")
    if rotating:
        return module, function, count, case
    if one_in.kwargs.get("together"):
        return "", "together", count, module
    return module, "", count, item.nodeid


@pytest.fixture(scope="session", autouse=True)
def one_template() -> Iterator[Callable]:
    from tests.shared_template import shared_template

    with shared_template() as shared:
        yield shared


def pytest_collection_finish() -> None:
    """What is collected stays to the end: without this each garbage collection looks through all of it, for 0.4 s."""
    gc.collect()
    gc.freeze()


class I8First:
    """What became of the I8 tests, in files that all processes of a run see: one a finished test, one a failure."""

    def __init__(self, folder: Path, owned: bool) -> None:
        self.folder = folder
        self.owned = owned
        self.selected = 0
        self.agreed = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """pytest-xdist: each worker gets the controller's folder."""
        node.workerinput["i8_folder"] = str(self.folder)  # type: ignore[attr-defined]

    def pytest_unconfigure(self) -> None:
        if self.owned:
            shutil.rmtree(self.folder, ignore_errors=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if is_i8(item.nodeid):
                item.add_marker("i8")
        items.sort(key=lambda item: (not is_i8(item.nodeid), item.get_closest_marker("whole_suite") is None))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.selected = sum(is_i8(item.nodeid) for item in session.items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Runs in the process of the test; under xdist in the controller as well, which alone hears of a crash."""
        if not is_i8(report.nodeid):
            return
        name = hashlib.sha256(report.nodeid.encode()).hexdigest()
        if report.failed:
            draft = self.folder / f"{name}.{os.getpid()}"
            draft.write_text(f"{report.nodeid}\n{report.longreprtext}", encoding="utf-8")
            draft.replace(self.folder / f"{name}.failed")
        if report.when not in ("setup", "call"):  # teardown, a test's last report; a crash has "???"
            (self.folder / f"{name}.done").touch()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if is_i8(item.nodeid) or self.agreed:
            return
        self._wait()
        for failure in sorted(self.folder.glob("*.failed")):
            pytest.fail(f"I8 failed, so no other test counts: {failure.read_text(encoding='utf-8')}", pytrace=False)
        self.agreed = True

    def _wait(self) -> None:
        """Until all selected I8 tests are done or one has failed."""
        end = time.monotonic() + LONGEST_WAIT_S
        while len(list(self.folder.glob("*.done"))) < self.selected and not any(self.folder.glob("*.failed")):
            if time.monotonic() > end:
                pytest.fail(f"I8 is not done after {LONGEST_WAIT_S:.0f} s", pytrace=False)
            time.sleep(0.05)
