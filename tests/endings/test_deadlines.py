"""What takes too long, or would be too large, ends by itself and costs no other case."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import numpy as np
import pytest

import conform
from conform import time_limit
from conform.backends.call import Call
from conform.errors import Unjudged, UsageError
from conform.report.record import Run
from conform.running import judge, truth
from conform.suites.builtin import limits_of
from tests.endings.fake import Fake, right


@pytest.mark.parametrize(("place", "what"), [("evaluate_call", "the golden"), ("verdict_of", "the judgement")])
def test_what_takes_too_long_is_unjudged(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, place: str, what: str
) -> None:
    def endless(*_: object, **__: object) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:  # nothing that is caught so ends it
                continue

    monkeypatch.setattr(truth if place == "evaluate_call" else judge, place, endless)
    ended = run(golden_timeout_s=0.05)
    assert {(case["status"], case["reason"]) for case in ended.cases} == {
        ("unjudged", f"{what} took longer than 0.05 s")
    }
    assert ended.exit_code == 3


def test_a_norm_of_degree_two_million_ends_in_time() -> None:
    from conform.call.bound import bound_call

    call = bound_call("aten::linalg_vector_norm", [np.linspace(1, 2, 100_000), 2_097_152.5], {})
    started_s = time.monotonic()
    outcome = truth.evaluated(call, 0.5)
    assert time.monotonic() - started_s < 10
    assert not isinstance(outcome, conform.errors.KitDefect)


def test_what_an_interrupted_golden_changed_is_put_back() -> None:
    import mpmath

    def changing() -> None:
        mpmath.mp.prec = 1000
        np.seterr(all="raise")
        while True:
            pass

    settings, precision = np.geterr(), mpmath.mp.prec
    with pytest.raises(time_limit.TookTooLong):
        time_limit.limited(0.05, changing)
    assert (np.geterr(), mpmath.mp.prec) == (settings, precision)


def test_an_alarm_of_the_caller_goes_off_all_the_same() -> None:
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert time_limit.limited(5.0, lambda: 3) == 3
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.2
        time.sleep(0.3)
        assert rung == [1]
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("limit_s", [1e-9, 1e-7, 1e-6])
def test_an_alarm_may_ring_before_it_is_set(limit_s: float) -> None:
    for _ in range(50):
        with pytest.raises(Unjudged, match="took longer than"):
            time_limit.or_unjudged("it", limit_s, lambda: time.sleep(0.01))


def test_no_alarm_is_left() -> None:
    with pytest.raises(time_limit.TookTooLong):
        time_limit.limited(0.01, lambda: time.sleep(10))
    time.sleep(2 * time_limit._AGAIN_S)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_results_that_are_too_large_are_not_asked_for(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Call] = []
    monkeypatch.setenv("CONFORM_MAX_RESULT_ELEMENTS", "3")
    assert run(lambda _, call: asked.append(call) or right(call)).exit_code == 0
    monkeypatch.setenv("CONFORM_MAX_RESULT_ELEMENTS", "2")
    with pytest.raises(UsageError, match=r"suite\.yaml:2:30: test 'a': a result of 3 elements; the limit is 2 "):
        run()
    assert len(asked) == 4
    monkeypatch.setattr("conform.straight_line.BackendProcess", Fake(lambda *_: pytest.fail("asked")))
    builtin = conform.check("smoke", backend="fake", ids=["smoke_exp/float32/typical/contiguous"])
    assert builtin.cases[0]["reason"].startswith("a result of 35 elements; the limit is 2")
    assert builtin.exit_code == 3


@pytest.mark.parametrize("suite", ["generated", "negative"])
def test_of_calls_that_are_drawn_they_are_not_judged(suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can write them smaller."""
    monkeypatch.setenv("CONFORM_MAX_RESULT_ELEMENTS", "2")
    cases = conform.check(suite, backend="self", ops=["aten::randperm"]).cases
    assert {case["status"] for case in cases if "elements; the limit is 2" in (case["reason"] or "")} == {"unjudged"}


def test_who_asks_for_huge_calls_gets_them() -> None:
    assert limits_of(["scale"]).max_result_elements == 2**25
    assert limits_of(["scale", "huge"]).max_result_elements == 2**32
