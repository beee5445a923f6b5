"""What a case asks, what its answer is held to, and what a run counts of it: from hand-made replies."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from conform.backends.reply import Output, Reply
from conform.call.bound import bound_call
from conform.contracts.tables import contract_table
from conform.errors import InvalidArguments, Unjudged, UsageError
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Outcome
from conform.judging.case import cannot_run, verdict_of
from conform.judging.checks import EVERY, Count, chosen, counts, held, question
from conform.judging.credit import credited
from conform.judging.ended import undecided
from conform.judging.verdict import CHECKS, Verdict
from conform.suites.cases import Case, Draw
from conform.suites.test import Domain, Test

X = np.array([1.0, -2.5], np.float32)
CALL = bound_call("aten::neg", [X], {})
INVALID = InvalidArguments("no")


def written(domain: Domain | None = None, device: str | None = None) -> Test:
    return Test(
        id="t", op="aten::neg", inputs=(), kwargs={}, device=device, cast_input0_to_complex=False, impl=None, pair=None,
        location="file.yaml:1", arguments_at="file.yaml:1:1", builtin=False, recorded_at="file.yaml:1", domain=domain,
    )  # fmt: skip


def case_of(values: str = "typical", layout: str = "contiguous", test: Test | None = None) -> Case:
    draw = Draw(test or written(), {}, 0, 0)
    return Case(f"t/float32/{values}/{layout}", draw, "aten::neg", "float32", values, layout)


def answered(*values: float, dtype: type = np.float32, **rest: object) -> Reply:
    return Reply("ok", result=Output(np.array(values, dtype), (1,)), **rest)


RIGHT, WRONG = answered(-1.0, 2.5), answered(-1.0, 2.0)
REPLIES = {
    "right": RIGHT,
    "wrong number": WRONG,
    "wrong dtype": answered(-1.0, 2.5, dtype=np.float64),
    "wrong shape": answered(-1.0),
    "two outputs": replace(RIGHT, result=(RIGHT.result, RIGHT.result)),
    "input changed": replace(RIGHT, mutated=(0,)),
    "wrote outside": replace(RIGHT, overrun=True),
    "input returned": replace(RIGHT, aliases=((0, 0),)),
    "all wrong": answered(7.0, dtype=np.float64, mutated=(0,), aliases=((0, 0),)),
    "raised": Reply("error", "RuntimeError: no"),
    "crashed": Reply("crash", "SIGSEGV"),
    "hung": Reply("timeout", "30 s"),
    "declined": Reply("unsupported", "no", declared=True),
}


def ended(
    reply: Reply, checks: frozenset[str] = EVERY, case: Case | None = None, outcome: Outcome | Exception | None = None
) -> Verdict:
    outcome = evaluate_call(CALL) if outcome is None else outcome
    return verdict_of(case or case_of(), CALL, outcome, reply, contract_table("opencl"), checks=checks)


# --- Names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "of_kernels", "expected"),
    [
        (None, False, set(CHECKS)),
        (None, True, set(CHECKS) - {"refusal"}),
        ("refusal", True, {"refusal"}),
        ("accuracy, special", False, {"accuracy", "special"}),
        (["layout"], True, {"layout"}),
        (CHECKS, True, set(CHECKS)),
    ],
)
def test_what_counts(given: object, of_kernels: bool, expected: set[str]) -> None:
    assert chosen(given, of_kernels) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("acuracy", "--checks: unknown check 'acuracy'; did you mean 'accuracy'?; there are accuracy, special, "),
        ("accuracy,", "--checks: unknown check ''"),
        ("equivalence", "--checks equivalence: it compares backends, so name several"),
        ("Accuracy", "--checks: unknown check 'Accuracy'; did you mean 'accuracy'?"),
        ([], "--checks: no check is named; there are "),
        (7, "checks: expected a str or a list of them, got 7"),
        ([7], r"checks: expected a str or a list of them, got [7]"),
    ],
)
def test_no_other_name(given: object, message: str) -> None:
    with pytest.raises(UsageError) as error:
        chosen(given, of_kernels=False)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("values", "layout", "is_invalid", "expected"),
    [
        ("typical", "contiguous", False, "accuracy"),
        ("ties", "contiguous", False, "accuracy"),
        ("one_hot", "contiguous", False, "accuracy"),
        ("special", "contiguous", False, "special"),
        ("special.1", "contiguous", False, "special"),
        ("typical", "strided.0", False, "layout"),
        ("special", "transposed.1", False, "layout"),  # of `--values special`, which has no plainer values
        ("given", "given", False, "accuracy"),
        ("typical", "contiguous", True, "refusal"),
        ("special", "strided.0", True, "refusal"),
    ],
)
def test_what_a_case_asks(values: str, layout: str, is_invalid: bool, expected: str) -> None:
    assert question(values, layout, is_invalid) == expected


# --- Verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "status", "check"),
    [
        ("right", "pass", "accuracy"),
        ("wrong number", "fail", "accuracy"),
        ("wrong dtype", "fail", "result"),
        ("wrong shape", "fail", "result"),
        ("two outputs", "fail", "result"),
        ("input changed", "fail", "mutation"),
        ("wrote outside", "fail", "mutation"),
        ("input returned", "fail", "aliasing"),
        ("all wrong", "fail", "mutation"),
        ("raised", "error", "accuracy"),
        ("crashed", "crash", "accuracy"),
        ("hung", "timeout", "accuracy"),
        ("declined", "unsupported", "accuracy"),
    ],
)
def test_the_check_of_a_case_is_the_one_that_it_failed_or_what_it_asks(reply: str, status: str, check: str) -> None:
    verdict = ended(REPLIES[reply])
    assert (verdict.status, verdict.check, verdict.is_counted) == (status, check, True)
    special = ended(REPLIES[reply], case=case_of("special.0"))
    assert special.check == check.replace("accuracy", "special")


@pytest.mark.parametrize(
    ("reply", "checks", "status", "check", "compared"),
    [
        ("input changed", {"accuracy"}, "pass", "accuracy", 2),
        ("input returned", {"accuracy"}, "pass", "accuracy", 2),
        ("all wrong", {"accuracy", "aliasing"}, "fail", "aliasing", 0),
        ("wrong dtype", {"accuracy"}, "unjudged", "accuracy", 0),
        ("two outputs", {"accuracy", "mutation"}, "unjudged", "accuracy", 0),
        ("wrong number", {"mutation"}, "pass", "mutation", 0),
        ("wrong dtype", {"mutation", "aliasing"}, "pass", "aliasing", 0),
        ("wrong number", {"result", "special"}, "pass", "result", 0),
        ("wrong shape", {"result"}, "fail", "result", 0),
        ("crashed", {"mutation"}, "crash", "mutation", 0),
        ("raised", {"result", "special"}, "error", "result", 0),
    ],
)
def test_a_case_is_held_to_those_of_its_checks_that_count(
    reply: str, checks: set[str], status: str, check: str, compared: int
) -> None:
    verdict = ended(REPLIES[reply], frozenset(checks))
    assert (verdict.status, verdict.check, verdict.compared, verdict.is_counted) == (status, check, compared, True)


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        ("raised", "pass", None),
        ("right", "fail", "the backend accepted invalid arguments: no"),
        ("all wrong", "fail", "the backend accepted invalid arguments: no"),
        ("crashed", "crash", "SIGSEGV"),
    ],
)
@pytest.mark.parametrize("checks", [EVERY, EVERY - {"refusal"}, frozenset({"refusal"}), frozenset({"mutation"})])
def test_a_refusal_is_one_check_and_is_judged_alike_where_it_does_not_count(
    reply: str, status: str, reason: str | None, checks: frozenset[str]
) -> None:
    verdict = ended(REPLIES[reply], checks, outcome=INVALID)
    assert (verdict.status, verdict.reason, verdict.check) == (status, reason, "refusal")
    assert verdict.is_counted == ("refusal" in checks)


def test_a_refusal_that_changes_an_input_is_none() -> None:
    verdict = ended(replace(REPLIES["raised"], mutated=(0,)), outcome=INVALID)
    assert (verdict.status, verdict.check) == ("fail", "refusal")


def test_what_no_golden_judges_is_of_the_check_that_it_would_have_come_to() -> None:
    elsewhere = written(device="cuda")
    invalid = case_of(test=written(domain=Domain("dtype(self) != bool")))
    described = {"device": "cpu"}
    for found, check in [
        (undecided(case_of("special"), Unjudged("unknown")), "special"),
        (undecided(case_of(), Unjudged("unknown"), frozenset({"mutation"})), "mutation"),
        (undecided(invalid, Unjudged("unknown")), "refusal"),
        (cannot_run(case_of(test=elsewhere), described), "accuracy"),
        (cannot_run(case_of(test=elsewhere), described, frozenset({"result"})), "result"),
    ]:
        assert (found.check, found.is_counted) == (check, True)
    assert not undecided(invalid, Unjudged("unknown"), EVERY - {"refusal"}).is_counted


CASES = [case_of(), case_of("special"), case_of(layout="strided.0")]
SUBSETS = [frozenset(some) for size in range(1, len(CHECKS) + 1) for some in itertools.combinations(CHECKS, size)]


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("case", [*CASES, None])
def test_whatever_counts(reply: str, case: Case | None) -> None:
    """All choices of checks: what does not count decides nothing, and what counts is decided as where all does."""
    outcome = None if case else INVALID
    is_invalid = case is None and reply != "declined"  # of which no golden is made that could tell
    whole = ended(REPLIES[reply], case=case, outcome=outcome)
    for checks in SUBSETS:
        one = ended(REPLIES[reply], checks, case=case, outcome=outcome)
        asked = question(one.values, one.layout, is_invalid)
        to_hold = held(asked, checks)
        assert one.is_counted == (one.check in checks) == to_hold.is_counted
        if not one.is_counted:
            assert replace(one, is_counted=True) == whole
        elif whole.status == "pass":
            assert one.status == "pass"
        elif whole.check in to_hold.checks:
            assert (one.status, one.check, one.reason) == (whole.status, whole.check, whole.reason)
        if one.status == "pass" and asked in checks:
            assert one.compared or asked == "refusal"


# --- Counts -----------------------------------------------------------------------------------------------------------


def test_counts_are_of_the_cases_that_were_judged_in_each_check() -> None:
    every = [ended(reply) for reply in REPLIES.values()]
    assert counts(every) == [
        Count("accuracy", 5, 1),  # right; wrong, raised, crashed, hung
        Count("result", 5, 2),  # right, wrong number; the three of a wrong structure
        Count("mutation", 9, 6),  # all that returned
        Count("aliasing", 6, 5),
    ]
    some = frozenset({"accuracy", "mutation"})
    assert counts([ended(reply, some) for reply in REPLIES.values()], some) == [
        Count("accuracy", 6, 2),  # the input that was returned has the right numbers
        Count("mutation", 6, 3),  # and three are not judged, since their structure is wrong
    ]


def test_a_refusal_is_credited_beside_calls_that_passed_in_what_counts() -> None:
    refused = replace(ended(REPLIES["raised"], outcome=INVALID), id="refused")
    some = frozenset({"mutation", "refusal"})
    for beside, checks, status in [
        ("right", EVERY, "pass"), ("wrong number", EVERY, "unjudged"), ("right", some, "pass"),
        ("wrong number", some, "pass"), ("input changed", some, "unjudged"), ("raised", some, "unjudged"),
        ("wrong number", frozenset({"refusal"}), "unjudged"),
    ]:  # fmt: skip
        assert credited([ended(REPLIES[beside], checks), refused])[1].status == status, (beside, checks)
