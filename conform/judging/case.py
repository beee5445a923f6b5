"""One case's verdict from its golden outcome and the backend's reply."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from hashlib import blake2b

import numpy as np

from conform.backends.reply import Output, Reply
from conform.call.bound import Bound
from conform.contracts import flushing
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.contracts.tables import Table
from conform.errors import InvalidArguments, Unjudged
from conform.interp.blocks.blocks import everywhere
from conform.interp.golden import Golden, Outcome
from conform.interp.refusal import lenience_of
from conform.judging.asked import asked_of, placed
from conform.judging.checks import EVERY, OF_VALUES, Held, held, question
from conform.judging.compared import compared_with
from conform.judging.declared import admitted, arithmetic_for
from conform.judging.ended import checked_by, ended_as, unasked, undecided
from conform.judging.standing import without_bounds
from conform.judging.structure import aliasing, as_declared, harm, without_unwanted, written
from conform.judging.verdict import ALIASING, FLUSHED, JUDGED, KIT_DEFECT, MUTATION, Verdict
from conform.suites.cases import Case, beyond_the_kit
from conform.suites.test import Domain

Answers = dict[tuple, Verdict]  # the verdicts on answers to one call, by what decides them

OTHER_DEVICE = "other device"  # the rule of a case that is not sent, for its test is for another
GPU_DEVICES = ("cuda", "mps", "xpu")


def cannot_run(case: Case, described: dict, checks: Collection[str] = EVERY) -> Verdict | None:
    """The verdict of a case that is not sent: one with an object among its arguments, or written for another device."""
    test = case.draw.test
    if (reason := beyond_the_kit(test)) is not None:
        return unasked(case, ended_as(case, "unjudged", reason, rule="no semantics"), checks)
    kind = kind_of(described.get("device", "cpu"))
    if test.device and kind != test.device and not (test.device == "gpu" and kind in GPU_DEVICES):
        reason = f"the test is for device {test.device}, the backend runs on {kind}"
        return unasked(case, ended_as(case, "unsupported", reason, rule=OTHER_DEVICE), checks)
    return None


def declined(case: Case, reply: Reply, checks: Collection[str] = EVERY) -> Verdict | None:
    """The verdict where the backend says itself that it does not do what is asked, whatever that means."""
    if reply.status != "unsupported" or not reply.declared:
        return None
    return unasked(case, ended_as(case, reply.status, reply.reason, log=reply.log), checks)


def kind_of(device: object) -> str:
    """`cuda` of cuda:1."""
    return str(device).partition(":")[0]


@np.errstate(all="ignore")  # what IEEE 754 flags, signalling NaNs too, are results here
def verdict_of(
    case: Case,
    call: Bound,
    outcome: Outcome | Exception,
    reply: Reply,
    table: Table,
    declared: Arithmetic = IEEE,
    checks: Collection[str] = EVERY,
    answers: Answers | None = None,
    full: bool = True,
) -> Verdict:
    """How the case ended, if these checks count. A crash or a hang is one whatever the op means; else the golden
    outcome decides. `answers`: what was found of other answers to this very call, perhaps in other layouts. Unless
    `full` the operands at the worst element are told of what did not pass alone."""
    if (verdict := declined(case, reply, checks)) is not None:
        return verdict
    domain, reply = domain_of(case, call), as_declared(call.schema, reply)
    is_invalid = bool(domain and domain.broken) or isinstance(outcome, InvalidArguments)
    to_hold = held(question(case.values, case.layout, is_invalid), checks)
    answer = None if answers is None or is_invalid else _answer(reply, to_hold)
    if answer is not None and answer in answers:
        return _again(answers[answer], case, call, to_hold)
    ended = _ended(case, call, outcome, reply, table, declared, domain, to_hold, full)
    asked = asked_of(case, call, outcome) if ended.status in JUDGED else None
    ended = checked_by(ended, to_hold, asked)
    if answer is not None:
        answers[answer] = ended
    return ended


def _answer(reply: Reply, to_hold: Held) -> tuple | None:
    """What decides the verdict on values beside the call; None where more than that may."""
    outputs = reply.outputs
    is_of_values = reply.status == "ok" and to_hold.last in OF_VALUES
    if not is_of_values or not all(isinstance(each, Output) for each in outputs):
        return None
    digests = [blake2b(np.ascontiguousarray(each.array).view(np.uint8), digest_size=16).digest() for each in outputs]
    kinds = [(each.array.dtype, each.array.shape) for each in outputs]
    return (to_hold.checks[:-1], reply.mutated, reply.overrun, reply.aliases, reply.apart, *kinds, *digests)


def _again(verdict: Verdict, case: Case, call: Bound, to_hold: Held) -> Verdict:
    """The verdict on the same call with the same answer, in another case."""
    asked = verdict.asked and replace(verdict.asked, placed=placed(case, call))
    return replace(checked_by(verdict, to_hold, asked), id=case.id, layout=case.layout)


def domain_of(case: Case, call: Bound) -> Domain | None:
    """What the op's spec says of a call. That a file calls one lenient holds where the call needs it."""
    domain = case.draw.test.domain
    if domain is None or domain.broken or domain.lenience is None:
        return domain
    found = lenience_of(case.op, call.arguments)
    return Domain(*found) if found else None


def _ended(
    case: Case,
    call: Bound,
    outcome: Outcome | Exception,
    reply: Reply,
    table: Table,
    declared: Arithmetic,
    domain: Domain | None,
    to_hold: Held,
    full: bool,
) -> Verdict:
    if domain and domain.broken:
        return _verdict_outside(case, call, domain, reply)
    if isinstance(outcome, InvalidArguments) and not domain and _has_refused(reply):
        return _refusal_verdict(case, outcome, reply)
    if reply.status in ("crash", "timeout", "unsupported", "fallback"):
        return ended_as(case, reply.status, reply.reason, log=reply.log)
    if domain and isinstance(outcome, InvalidArguments):
        reason = f"defect of the kit, please report it: the spec of {case.op} allows what is refused here: {outcome}"
        return ended_as(case, "unjudged", reason, rule=KIT_DEFECT)
    if isinstance(outcome, Unjudged):
        return undecided(case, outcome)
    if isinstance(outcome, InvalidArguments):
        return _refusal_verdict(case, outcome, reply)
    if not outcome.refusal and (rule := _refusal_of_a_dtype(call, outcome)):
        outcome = replace(outcome, refusal=rule)
    if reply.status == "error" and (not outcome.refusal or reply.device_lost):
        return ended_as(case, "error", reply.reason)
    return _judged(case, call, outcome, reply, table, declared, to_hold, full)


def _refusal_of_a_dtype(call: Bound, outcome: Outcome) -> str | None:
    """The rule by which a backend may refuse to write a result that may be of several dtypes into a tensor of one."""
    if call.variant is None:
        return None
    several = (any(other.format != golden.format for other in golden.alternatives) for golden in outcome.goldens)
    return "P36" if any(several) else None


def _judged(
    case: Case, call: Bound, outcome: Outcome, reply: Reply, table: Table, declared: Arithmetic, to_hold: Held,
    full: bool,
) -> Verdict:  # fmt: skip
    """The verdict on the answer to a valid call, or on the refusal of one that may be refused."""
    wrong = {MUTATION: harm(reply), ALIASING: aliasing(call, reply)}
    failed = next((check for check, reason in wrong.items() if reason and check in to_hold.checks), None)
    if failed is not None:
        return ended_as(case, "fail", wrong[failed], checks=1, check=failed)
    if reply.status == "error":
        return ended_as(case, "unspecified", "the backend may refuse here, and did", rule=outcome.refusal)
    if to_hold.last in wrong:
        return ended_as(case, "pass", None, without_bounds("unjudged"), checks=1)
    call, reply = call.returning, without_unwanted(outcome, reply)
    arithmetic = arithmetic_for(case.op, declared)
    judged = partial(compared_with, case, call, reply=reply, table=table, to_hold=to_hold, full=full)
    plain = arithmetic.exact_on_the_way()
    verdict = judged(outcome=outcome, arithmetic=plain)
    if plain != IEEE and (_is_wrong(verdict) or _has_other_shapes(verdict, outcome, reply)):
        verdict = judged(outcome=admitted(call, outcome, plain, reply.outputs), arithmetic=plain)
    if _is_wrong(verdict) and arithmetic.rounded_on_the_way:
        wider = judged(outcome=admitted(call, outcome, arithmetic, reply.outputs), arithmetic=arithmetic)
        verdict = wider if _is_wrong(wider) else replace(wider, admitted=_admission(outcome, arithmetic))
    if _is_wrong(verdict) and not arithmetic.flushes_subnormals and _may_be_flushed(call, outcome, reply):
        flushing_too = replace(arithmetic, flushes_subnormals=True)
        supposed = admitted(call, outcome, flushing_too, reply.outputs, of_all=False)
        explained = verdict.wrong - judged(outcome=supposed, arithmetic=flushing_too, has_causes=False).wrong
        if explained > 0:
            return replace(verdict, causes={FLUSHED: explained, **verdict.causes})
    return verdict


def _admission(outcome: Outcome, arithmetic: Arithmetic) -> str:
    """What a result that is not wrong needed: `within the bound of intermediates in bfloat16, declared`."""
    element = outcome.goldens[0].format.name
    return f"within the bound of {arithmetic.rounded_on_the_way} in {element}, declared"


def _is_wrong(verdict: Verdict) -> bool:
    """Whether values were compared, and found wrong."""
    return verdict.status == "fail" and verdict.compared > 0


def _has_other_shapes(verdict: Verdict, outcome: Outcome, reply: Reply) -> bool:
    """Whether the outputs are tensors, and not of the shapes expected: how many elements are found (nonzero, unique)
    may hang on what is taken for zero."""
    goldens, outputs = outcome.goldens, reply.outputs
    if verdict.status != "fail" or len(goldens) != len(outputs) or not all(isinstance(one, Output) for one in outputs):
        return False
    return any(golden.value.shape != output.array.shape for golden, output in zip(goldens, outputs, strict=True))


def _may_be_flushed(call: Bound, outcome: Outcome, reply: Reply) -> bool:
    """Whether operands are subnormal, or a result is zero that should be none."""
    pairs = zip(outcome.goldens, reply.outputs, strict=True)
    alike = ((golden.value, output.array) for golden, output in pairs if _is_alike(golden, output))
    lost = (not everywhere(_are_not_lost, expected, actual) for expected, actual in alike)
    return any(map(flushing.has_subnormals, call.tensors())) or any(lost)


def _is_alike(golden: Golden, output: Output) -> bool:
    """Whether the golden's own elements, and not those of a reading of another shape, are beside the output's."""
    return not golden.undocumented and golden.value.shape == output.array.shape


def _are_not_lost(expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    return (actual != 0) | (expected == 0) | np.isnan(expected)


def _refusal_verdict(case: Case, outcome: InvalidArguments, reply: Reply) -> Verdict:
    if _has_refused(reply):
        damage = harm(reply)
        return ended_as(case, "fail" if damage else "pass", damage, checks=1)
    return ended_as(case, "fail", f"the backend accepted invalid arguments: {outcome}", checks=1)


def _verdict_outside(case: Case, call: Bound, domain: Domain, reply: Reply) -> Verdict:
    """The verdict on arguments outside the op's domain, by its spec: the backend must refuse them, but where some are
    known to accept them, and then to write what the schema says."""
    has_refused = _has_refused(reply)
    if not has_refused and reply.status != "ok":
        return ended_as(case, reply.status, reply.reason, log=reply.log)
    if damage := harm(reply, written(call) if domain.lenience and not has_refused else ()):
        return ended_as(case, "fail", damage, checks=1)
    if domain.lenience:
        reason = f"what breaks {domain.broken} may be accepted"
        return ended_as(case, "unspecified", reason, rule=domain.lenience)
    if has_refused:
        return ended_as(case, "pass", None, checks=1)
    return ended_as(case, "fail", f"the backend accepted invalid arguments: they break {domain.broken}", checks=1)


def _has_refused(reply: Reply) -> bool:
    """That torch has no kernel for a dtype is a refusal; that a backend declares to support none is not."""
    return reply.status == "error" or (reply.status == "unsupported" and not reply.declared)
