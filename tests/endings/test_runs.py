"""Whatever ends a run or a case, nothing that was found is lost: the record is written, and says how it ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conform.backends.base import BackendUnavailable
from conform.backends.call import Call
from conform.backends.reply import Reply
from conform.contracts.tables import contract_table
from conform.errors import UsageError
from conform.judging.verdict import KIT_DEFECT, Verdict
from conform.report import terminal
from conform.report.record import Interrupted, Run, Stopped
from conform.running import judge, sent, truth, verdicts
from conform.suites import load
from conform.suites.cases import Selection
from conform.suites.select import select
from tests.endings.fake import SUITE, Fake, right, statuses

# --- What ends a run --------------------------------------------------------------------------------------------------


def third(error: BaseException) -> Callable[[int, Call], Reply]:
    """Right answers, and in the place of the third an exception."""

    def reply(number: int, call: Call) -> Reply:
        if number == 3:
            raise error
        return right(call)

    return reply


@pytest.mark.parametrize(
    ("error", "exit_code", "told"),
    [
        (BackendUnavailable("the device is gone"), 1, "the device is gone"),
        (UsageError("the file changed"), 2, "the file changed"),
        (OSError(24, "Too many open files"), 2, "Too many open files: more is needed to run a backend beside the kit"),
        (RuntimeError("what nobody thought of"), 70, "defect of the kit, please report it: RuntimeError in reply"),
    ],
)
def test_what_ends_a_run_keeps_the_cases_before(
    run: Callable[..., Run], error: Exception, exit_code: int, told: str
) -> None:
    with pytest.raises(Stopped) as caught:
        run(third(error))
    ended = caught.value
    assert (ended.exit_code, ended.run.record["not_run"], statuses(ended.run)) == (exit_code, 2, ["pass", "pass"])
    assert str(ended).startswith(told)
    assert ended.run.record["stopped"].startswith(told)
    assert terminal.summary_lines(ended.run.record).splitlines()[0].startswith("\x1b[33m\x1b[1mpartial")


def test_ctrl_c_keeps_the_cases_before(run: Callable[..., Run]) -> None:
    with pytest.raises(Interrupted) as caught:
        run(third(KeyboardInterrupt()))
    assert (caught.value.run.record["not_run"], statuses(caught.value.run)) == (2, ["pass", "pass"])


def test_nothing_judged_before_the_backend_is_gone(run: Callable[..., Run]) -> None:
    def gone(number: int, call: Call) -> Reply:
        raise BackendUnavailable("gone")

    with pytest.raises(Stopped) as caught:
        run(gone)
    assert (caught.value.exit_code, caught.value.run.record["not_run"]) == (3, 4)


# --- What fails in a case ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "place"),
    [(judge, "verdict_of"), (judge, "bound_call"), (sent, "exported"), (sent, "too_large")],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_fails_in_the_kit_is_its_defect_in_that_case(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, module: ModuleType, place: str
) -> None:
    honest, calls = getattr(module, place), []

    def failing(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError("in the midst")
        return honest(*args, **kwargs)

    monkeypatch.setattr(module, place, failing)
    monkeypatch.setattr(Fake, "describe", lambda _: {"name": "fake", "device": "cpu", "exports": True, "numerics": {}})
    ended = run()
    assert statuses(ended) == ["pass", "unjudged", "pass", "pass"]
    assert ended.cases[1]["rule"] == KIT_DEFECT
    assert "ZeroDivisionError" in ended.cases[1]["reason"]
    assert (ended.exit_code, ended.record["not_run"]) == (70, 0)


def test_too_little_memory_for_a_golden_is_no_defect(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(call: object) -> None:
        raise MemoryError

    monkeypatch.setattr(truth, "evaluate_call", exhausted)
    ended = run()
    assert {case["reason"] for case in ended.cases} == {"there is not enough memory for it"}
    assert ended.exit_code == 3


# --- Blame ------------------------------------------------------------------------------------------------------------


def test_the_case_before_gets_a_second_verdict_where_its_worker_died_of_it(run: Callable[..., Run]) -> None:
    def reply(number: int, call: Call) -> Reply:
        crash = Reply("crash", "SIGABRT", log="last words")
        return Reply("ok", result=right(call).result, before=crash) if number == 3 else right(call)

    told: list[Verdict] = []
    ended = run(reply, on_verdict=lambda verdict, _: told.append(verdict))
    assert statuses(ended) == ["pass", "crash", "pass", "pass"]
    assert [verdict.test for verdict in told] == ["a", "b", "b", "c", "d"]
    assert ended.record["environment"]["logs"] == {ended.cases[1]["id"]: ["last words"]}
    assert "  printed  last words\n  repeat " in terminal.render(ended.record)


def test_a_case_further_before_may_get_it(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    def reply(number: int, call: Call) -> Reply:
        before = Reply("crash", "SIGABRT", calls_before=2) if number == 3 else None
        return Reply("ok", result=right(call).result, before=before)

    assert statuses(run(reply)) == ["crash", "pass", "pass", "pass"]
    monkeypatch.setattr(Fake, "settle", lambda _: Reply("crash", "SIGABRT", calls_before=3))
    assert statuses(run()) == ["pass", "crash", "pass", "pass"]
    monkeypatch.setattr(Fake, "settle", lambda _: Reply("crash", "SIGABRT", calls_before=9))
    last = run().cases[-1]
    assert (last["status"], last["reason"]) == ("crash", "SIGABRT, of a call before this one")


def test_the_call_before_may_have_been_somebody_elses(tmp_path: Path) -> None:
    """As under pytest, where each case is run by itself in one process."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    groups = select(load([str(tmp_path / "suite.yaml")]), Selection())
    fake = Fake(lambda _, call: Reply("ok", result=right(call).result, before=Reply("crash", "SIGABRT")))
    (verdict,) = verdicts.verdicts_of(groups[:1], fake, fake.describe(), contract_table("opencl"), is_end=False)
    assert (verdict.status, verdict.reason) == ("crash", "SIGABRT, of a call before this one")


def test_the_last_case_too(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fake, "settle", lambda _: Reply("crash", "SIGABRT"))
    assert statuses(run()) == ["pass", "pass", "pass", "crash"]
