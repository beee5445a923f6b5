"""Suites as pytest tests, one item a case: `*.conform.yaml` files that pytest finds, `pytest --conform-backend cpu`,
and those that it is told, `pytest --conform-suite smoke --conform-backend cpu`.

A case that fails, raises, crashes or hangs is a failure with the text of `conform check`; what cannot be judged is a
skip with its reason. This module is imported by every pytest session of an environment that has the kit, so it imports
what it needs when the first such file is collected.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conform.errors import ConformError

if TYPE_CHECKING:
    from conform.judging.verdict import Verdict
    from conform.suites import Suite
    from conform.suites.cases import Case

SUFFIX = ".conform.yaml"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conform", "conform: test cases for tensor backends (*.conform.yaml)")
    group.addoption("--conform-backend", metavar="NAME", help="What is tested: see `conform backends`.")
    group.addoption("--conform-suite", metavar="SUITE", action="append", default=[],
                    help="Also the cases of this suite: a built-in name (smoke, core, ...) or a YAML file. Repeatable.")
    group.addoption("--conform-contract", metavar="NAME|FILE", default="opencl", help="The table of bounds (opencl).")
    group.addoption("--conform-checks", metavar="NAME,...", help="What counts, as in `conform check --checks`.")
    group.addoption("--conform-seed", metavar="N", type=int, default=0, help="Of every random draw (0).")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("conform_suite") and config.getoption("conform_backend") is None:
        raise pytest.UsageError("--conform-suite: there is nothing to test without --conform-backend NAME")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, pytest.CollectReport]:
    """The suites that are named come behind what the session finds in files."""
    report = yield
    if isinstance(collector, pytest.Session) and report.passed:
        names = dict.fromkeys(collector.config.getoption("conform_suite"))
        suites = [NamedSuite.from_parent(collector, name=name, nodeid=f"conform:{name}") for name in names]
        report.result = [*report.result, *suites]
    return report


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    return SuiteFile.from_parent(parent, path=file_path) if file_path.name.endswith(SUFFIX) else None


class SuiteFile(pytest.File):
    """A test file; its items are the cases that `conform check FILE` would run."""

    def collect(self) -> Iterator[CaseItem]:
        if self.config.getoption("conform_backend") is None:
            raise pytest.skip.Exception("no --conform-backend NAME, so there is nothing to test")
        yield from _items(self, _shown(self.path))


class NamedSuite(pytest.Collector):
    """A suite that `--conform-suite` names; its items are the cases that `conform check NAME` would run."""

    def collect(self) -> Iterator[CaseItem]:
        yield from _items(self, self.name)


def _items(collector: pytest.Collector, name: str) -> Iterator[CaseItem]:
    """The cases of a suite. CollectError, with what `conform check` would say, where it has errors."""
    from conform.suites import load
    from conform.suites.cases import Selection
    from conform.suites.select import select

    seed = collector.config.getoption("conform_seed")
    try:
        suite = load([name], seed=seed)
        groups = select(suite, Selection(seed=seed)) if suite.tests else []
    except ConformError as error:
        raise collector.CollectError(str(error)) from None
    for group in groups:
        for case in group:
            yield CaseItem.from_parent(collector, name=case.id, suite=suite, case=case)


def _shown(path: Path) -> str:
    """The path as one would give it to `conform check`."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


class CaseItem(pytest.Item):
    """One case of a suite."""

    def __init__(self, *, suite: Suite, case: Case, **rest: Any) -> None:
        super().__init__(**rest)
        self.suite = suite
        self.case = case

    def setup(self) -> None:
        try:
            self.bench = _bench(self.config)
        except ConformError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None

    def runtest(self) -> None:
        from conform.judging.verdict import NOT_JUDGED

        verdict = self.bench.verdict(self.case)
        if not verdict.is_counted:
            told = ("not counted", verdict.check, verdict.status, verdict.reason)
            pytest.skip(": ".join(said for said in told if said))
        if verdict.status in NOT_JUDGED:
            pytest.skip(f"{verdict.status}: {verdict.reason}")
        if verdict.status != "pass":
            pytest.fail(self.bench.report(self.suite, verdict), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        file, _, line = self.case.draw.test.location.rpartition(":")  # an included file, perhaps
        if not line.isdecimal():  # a test that is made from a spec
            return self.path, None, self.name
        return Path(file), int(line) - 1, self.name


# --- The backend ------------------------------------------------------------------------------------------------------


class Bench:
    """The backend under test in its process, which lasts for the session, and the contract it is held to.

    Raises UsageError, BackendUnavailable.
    """

    def __init__(self, config: pytest.Config) -> None:
        from conform import kit
        from conform.backends import names
        from conform.backends.client import BackendProcess
        from conform.contracts.tables import contract_table
        from conform.judging.checks import chosen
        from conform.straight_line import TIMEOUT_S

        self.backend = config.getoption("conform_backend")
        self.contract = config.getoption("conform_contract")
        self.seed = config.getoption("conform_seed")
        given = config.getoption("conform_checks")
        self.checks = chosen(given, names.holds_kernels(self.backend))
        self.given_checks = None if given is None else sorted(self.checks)
        self.table = contract_table(self.contract)
        self.source = names.source(self.backend)
        kit.load()
        self.process = BackendProcess(self.backend, timeout_s=TIMEOUT_S).__enter__()
        config.add_cleanup(lambda: self.process.__exit__())
        self.described = self.process.describe()

    def verdict(self, case: Case) -> Verdict:
        from conform.running.verdicts import verdicts_of

        (verdict,) = verdicts_of(
            [[case]], self.process, self.described, self.table, is_end=False, checks=self.checks
        )
        return verdict

    def report(self, suite: Suite, verdict: Verdict) -> str:
        """What `conform check` prints of a failing case."""
        from click import unstyle

        from conform.report import record, tally, terminal
        from conform.running.underway import identity
        from conform.selftest import figure

        run = record.build(
            [verdict], asked=1, suite={"names": suite.recorded_names, "digest": suite.digest}, tests=[verdict.test],
            contract=self.table.name, backend=identity(self.described, self.source), seed=self.seed, timings={},
            selftest=figure.total(figure.shipped()), checks=self.checks,
            invocation={"backend": self.backend, "contract": self.contract, "suites": suite.names,
                        "checks": self.given_checks},
        )  # fmt: skip
        (group,) = tally.failure_groups(run.cases)
        return unstyle(terminal.failure_block(group, run.record))


_BENCH = pytest.StashKey[Bench | ConformError]()


def _bench(config: pytest.Config) -> Bench:
    """The session's bench, made for the first case. If that fails, it fails so for every case, without another try."""
    if _BENCH not in config.stash:
        try:
            config.stash[_BENCH] = Bench(config)
        except ConformError as error:
            config.stash[_BENCH] = error
    bench = config.stash[_BENCH]
    if isinstance(bench, ConformError):
        raise bench
    return bench
