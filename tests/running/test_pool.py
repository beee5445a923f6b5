"""Processes of the kit: the same record from any number of them, whatever becomes of them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import conform
from conform import straight_line
from conform.errors import UsageError
from conform.judging.verdict import KIT_DEFECT
from conform.report.record import Interrupted, Run, Stopped
from conform.running import judge, pool
from tests.tiny import negatives

pytestmark = pytest.mark.one_in(6)


@pytest.fixture(autouse=True)
def few_cases_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "CASES_PER_PROCESS", 1)


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "suite.yaml"
    path.write_text(negatives(*(f"t{number}" for number in range(12))))
    return str(path)


def told(run: Run) -> str:
    return json.dumps({name: value for name, value in run.record.items() if name != "environment"})


def test_the_record_does_not_tell_how_many_there_were() -> None:
    options = {"backend": "cpu", "ops": ["aten::neg", "aten::sort"], "dtypes": ["float32"], "values": "typical"}
    one, two = (conform.check("core", workers=workers, **options) for workers in (1, 2))
    assert told(one) == told(two)
    assert one.summary["pass"] > 50


@pytest.mark.parametrize(
    ("cases", "wanted", "count"), [(1, 8, 1), (399, 8, 1), (400, 8, 2), (100_000, 8, 8), (0, None, 1)]
)
def test_a_process_has_to_be_worth_while(
    monkeypatch: pytest.MonkeyPatch, cases: int, wanted: int | None, count: int
) -> None:
    monkeypatch.setattr(pool, "CASES_PER_PROCESS", 200)
    assert pool.worth_while(cases, wanted) == count


@pytest.mark.parametrize(("threads", "count"), [(1, 8), (2, 4), (3, 2), (9, 1)])
def test_backends_of_several_threads_share_the_cores(
    monkeypatch: pytest.MonkeyPatch, threads: int, count: int
) -> None:
    monkeypatch.setattr(pool, "cores", lambda: 8)
    assert pool.worth_while(100_000, None, threads) == count
    assert pool.worth_while(100_000, 5, threads) == 5


def dying(times: int, place: Path) -> Callable[..., Any]:
    """verdict_of, but for the process that judges t5: so often it is killed."""
    honest = judge.verdict_of

    def judged(case: Any, *args: Any, **kwargs: Any) -> Any:
        if case.id.startswith("t5/"):
            with place.open("a") as file:
                file.write("x")
            if place.stat().st_size <= times:
                os.kill(os.getpid(), signal.SIGKILL)
        return honest(case, *args, **kwargs)

    return judged


def test_a_process_that_dies_loses_nothing(monkeypatch: pytest.MonkeyPatch, suite: str, tmp_path: Path) -> None:
    monkeypatch.setattr(judge, "verdict_of", dying(1, tmp_path / "deaths"))
    run = conform.check(suite, backend="cpu", workers=2)
    assert run.summary["pass"] == run.summary["asked"] == 12


def test_the_case_of_which_it_dies_twice_is_a_defect_of_the_kit(
    monkeypatch: pytest.MonkeyPatch, suite: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(judge, "verdict_of", dying(100, tmp_path / "deaths"))
    run = conform.check(suite, backend="cpu", workers=2)
    statuses = {case["test"]: (case["status"], case["rule"]) for case in run.cases}
    assert statuses.pop("t5") == ("unjudged", KIT_DEFECT)
    assert set(statuses.values()) == {("pass", None)}
    assert len(statuses) == 11
    assert run.exit_code == 70
    assert (tmp_path / "deaths").read_text() == "xx"


def test_what_a_user_did_wrong_is_raised_as_from_one_process(suite: str) -> None:
    with pytest.raises(UsageError, match="unknown backend 'cpi'"):
        conform.check(suite, backend="cpi", workers=2)


def test_what_ends_the_run_in_one_ends_it_in_all(monkeypatch: pytest.MonkeyPatch, suite: str) -> None:
    monkeypatch.setattr(judge.Judge, "judged", lambda _: 1 // 0)
    with pytest.raises(Stopped, match="defect of the kit, please report it: ZeroDivisionError") as caught:
        conform.check(suite, backend="cpu", workers=2)
    assert (caught.value.exit_code, caught.value.run.record["not_run"]) == (70, 12)


def test_ctrl_c_leaves_no_process(monkeypatch: pytest.MonkeyPatch, suite: str) -> None:
    pools: list[pool.Pool] = []

    class Watched(pool.Pool):
        def __enter__(self) -> pool.Pool:
            pools.append(self)
            return super().__enter__()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(straight_line, "Pool", Watched)
    with pytest.raises(Interrupted) as caught:
        conform.check(suite, backend="cpu", workers=2, on_verdict=interrupt)
    assert caught.value.run.record["not_run"] == 11
    assert not any(worker.process.is_alive() for worker in pools[0]._workers)


def test_who_stops_at_the_first_failure_runs_in_order(monkeypatch: pytest.MonkeyPatch, suite: str) -> None:
    monkeypatch.setattr(straight_line, "Pool", lambda *_: pytest.fail("in another process"))
    assert conform.check(suite, backend="cpu", workers=2, fail_fast=True).summary["pass"] == 12
