"""One case's verdict from its golden outcome and the backend's reply."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np

from conform.backends.reply import Output, Reply
from conform.call.bound import Bound
from conform.contracts import flushing
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.contracts.comparison import Comparison
from conform.contracts.components import components
from conform.contracts.judge import has_bound
from conform.contracts.tables import Row, Table
from conform.errors import InvalidArguments, KitDefect, Unjudged
from conform.interp.blocks.blocks import everywhere
from conform.interp.golden import Golden, Outcome
from conform.interp.refusal import lenience_of
from conform.interp.semantics import traits_of
from conform.judging.asked import asked_of, placed
from conform.judging.checks import EVERY, OF_EVERY_ANSWER, OF_VALUES, Held, asked_by, held, question
from conform.judging.declared import admitted, arithmetic_for
from conform.judging.errors_of_sums import causes_of
from conform.judging.evidence import Marks
from conform.judging.histogram import named
from conform.judging.judgement import Result
from conform.judging.likely import likely_errors
from conform.judging.reach import operands_at
from conform.judging.standing import Standing, standing, without_bounds
from conform.judging.structure import aliasing, as_declared, fitting_golden, given_outputs, harm, without_unwanted
from conform.judging.verdict import ALIASING, FLUSHED, JUDGED, KIT_DEFECT, MUTATION, RESULT, Contract, Verdict, Worst
from conform.numerics.formats import Format, format_of
from conform.suites.cases import Case, beyond_the_kit
from conform.suites.test import Domain, Test

Answers = dict[tuple, Verdict]  # the verdicts on answers to one call, by what decides them

NOT_SELECTED = "result is no selected check"  # the rule of a case that only that check would judge
OTHER_DEVICE = "other device"  # the rule of a case that is not sent, for its test is for another
GPU_DEVICES = ("cuda", "mps", "xpu")


def ended_as(case: Case, status: str, reason: str | None, stands: Standing | None = None, **rest: Any) -> Verdict:
    """The verdict on a case that ended so. `stands`: what the shipped tables say of the result; None where no bound
    decided."""
    stands = stands or without_bounds(status)
    return Verdict(
        case.id, case.draw.test.id, op=case.op, dtype=case.dtype, values=case.values, layout=case.layout,
        status=status, reason=reason, location=case.draw.test.recorded_at, tables=stands.tables,
        tightest=stands.tightest, pair=_pair(case.draw.test), **rest,
    )  # fmt: skip


def _of(verdict: Verdict, to_hold: Held) -> Verdict:
    """The verdict, of the check that it failed or else of the last that the case was to be held to."""
    check = verdict.check if verdict.check in OF_EVERY_ANSWER else to_hold.last
    return replace(verdict, check=check, is_counted=to_hold.is_counted)


def unasked(case: Case, verdict: Verdict, checks: Collection[str]) -> Verdict:
    """The verdict on a case that has no golden, or no answer: only its test says what it asks."""
    domain = case.draw.test.domain
    return _of(verdict, held(asked_by(case, bool(domain and domain.broken)), checks))


def _pair(test: Test) -> dict[str, str | None] | None:
    """Which side of which pair a test is."""
    return test.pair and {"group": test.pair.group, "side": test.pair.side, "impl": test.impl}


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


def defect(error: Exception) -> KitDefect:
    """What failed in the kit itself, as what it is."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.name}, line {place.lineno}"
    return KitDefect(f"defect of the kit, please report it: {type(error).__name__} in {where}: {error}")


def undecided(case: Case, reason: Unjudged, checks: Collection[str] = EVERY) -> Verdict:
    """The verdict on a case that the kit cannot judge."""
    rule = KIT_DEFECT if isinstance(reason, KitDefect) else "not decided by the kit"
    return unasked(case, ended_as(case, "unjudged", str(reason), rule=rule), checks)


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
) -> Verdict:
    """How the case ended, if these checks count. A crash or a hang is one whatever the op means; else the golden
    outcome decides. `answers`: what was found of other answers to this very call, perhaps in other layouts."""
    domain, reply = domain_of(case, call), as_declared(call.schema.returns, reply)
    is_invalid = bool(domain and domain.broken) or isinstance(outcome, InvalidArguments)
    to_hold = held(question(case.values, case.layout, is_invalid), checks)
    answer = None if answers is None or is_invalid else _answer(reply, to_hold)
    if answer is not None and answer in answers:
        return _again(answers[answer], case, call, to_hold)
    ended = _of(_ended(case, call, outcome, reply, table, declared, domain, to_hold), to_hold)
    ended = replace(ended, asked=asked_of(case, call, outcome)) if ended.status in JUDGED else ended
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
    return (to_hold.checks[:-1], reply.mutated, reply.overrun, reply.aliases, *kinds, *digests)


def _again(verdict: Verdict, case: Case, call: Bound, to_hold: Held) -> Verdict:
    """The verdict on the same call with the same answer, in another case."""
    asked = verdict.asked and replace(verdict.asked, placed=placed(case, call))
    return _of(replace(verdict, id=case.id, layout=case.layout, asked=asked), to_hold)


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
) -> Verdict:
    if domain and domain.broken:
        return _verdict_outside(case, domain, reply)
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
    if reply.status == "error" and not outcome.refusal:
        return ended_as(case, "error", reply.reason)
    return _judged(case, call, outcome, reply, table, declared, to_hold)


def _judged(
    case: Case, call: Bound, outcome: Outcome, reply: Reply, table: Table, declared: Arithmetic, to_hold: Held
) -> Verdict:
    """The verdict on the answer to a valid call, or on the refusal of one that may be refused."""
    wrong = {MUTATION: harm(reply), ALIASING: aliasing(call, reply)}
    failed = next((check for check, reason in wrong.items() if reason and check in to_hold.checks), None)
    if failed is not None:
        return ended_as(case, "fail", wrong[failed], checks=1, check=failed)
    if reply.status == "error":
        return ended_as(case, "unspecified", "the backend may refuse here, and did", rule=outcome.refusal)
    if to_hold.last in wrong:
        return ended_as(case, "pass", None, without_bounds("unjudged"), checks=1)
    reply = without_unwanted(outcome, reply)
    arithmetic = arithmetic_for(case.op, declared)
    judged = partial(_compared, case, call, reply=reply, table=table, to_hold=to_hold)
    plain = arithmetic.exact_on_the_way()
    verdict = judged(outcome=outcome, arithmetic=plain)
    if _is_wrong(verdict) and plain != IEEE:
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


def _may_be_flushed(call: Bound, outcome: Outcome, reply: Reply) -> bool:
    """Whether operands are subnormal, or a result is zero that should be none."""
    pairs = (pair for pair in zip(outcome.goldens, reply.outputs, strict=True) if not pair[0].undocumented)
    lost = (not everywhere(_are_not_lost, golden.value, output.array) for golden, output in pairs)
    return any(map(flushing.has_subnormals, call.tensors())) or any(lost)


def _are_not_lost(expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    return (actual != 0) | (expected == 0)


def _refusal_verdict(case: Case, outcome: InvalidArguments, reply: Reply) -> Verdict:
    if _has_refused(reply):
        damage = harm(reply)
        return ended_as(case, "fail" if damage else "pass", damage, checks=1)
    return ended_as(case, "fail", f"the backend accepted invalid arguments: {outcome}", checks=1)


def _verdict_outside(case: Case, domain: Domain, reply: Reply) -> Verdict:
    """The verdict on arguments outside the op's domain, by its spec: the backend must refuse them, but where some are
    known to accept them."""
    has_refused = _has_refused(reply)
    if not has_refused and reply.status != "ok":
        return ended_as(case, reply.status, reply.reason, log=reply.log)
    if damage := harm(reply):
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


def _compared(
    case: Case, call: Bound, outcome: Outcome, reply: Reply, table: Table, arithmetic: Arithmetic, to_hold: Held,
    has_causes: bool = True,
) -> Verdict:  # fmt: skip
    """`has_causes`: whether to look for the causes of wrong sums."""
    outputs, goldens = reply.outputs, outcome.goldens
    if len(outputs) != len(goldens):
        return _incomparable(case, f"{len(outputs)} outputs instead of {len(goldens)}", 1, to_hold)
    given = given_outputs(outcome, outputs)
    goldens = goldens if given is None else given.goldens
    results, checks, independent = [], 1, case.has_independent_terms
    limited = independent and not arithmetic.rounded_on_the_way
    likely = likely_errors(call, outcome) if limited else [None] * len(goldens)
    beside = _beside(call)
    for number, (golden, output) in enumerate(zip(goldens, outputs, strict=True)):
        fitting = fitting_golden(golden, output)
        checks += 2
        if isinstance(fitting, str):
            return _incomparable(case, f"output {number}: {fitting}", checks, to_hold)
        op = fitting.bounded_as or case.op
        comparison = Comparison(fitting, output.array, call.arguments, arithmetic)
        row = table.row(op, fitting.format.name).of(fitting)
        results.append(Result(number, op, comparison, row, independent, likely[number], beside, len(goldens)))
    if to_hold.last == RESULT:
        return ended_as(case, "pass", None, without_bounds("unjudged"), checks=checks)
    verdict = _summed(case, call, results, checks)
    if verdict.status == "pass" and given is not None and given.fault is not None:
        verdict = replace(verdict, status="fail", reason=given.fault)
    causes = _causes(call, results) if verdict.status == "fail" and has_causes else {}
    return replace(verdict, largest=_largest(call, outputs), causes=causes)


def _beside(call: Bound) -> dict[str, np.ndarray]:
    """The operands that stand beside each element of the result: those of an elementwise op, by name."""
    if not traits_of(call.op).pointwise:
        return {}
    return {name: value for name, value in call.arguments.items() if isinstance(value, np.ndarray)}


def _incomparable(case: Case, reason: str, checks: int, to_hold: Held) -> Verdict:
    """The verdict on outputs whose structure is wrong. Where that is not to be judged, nor can their elements be."""
    if RESULT in to_hold.checks:
        return ended_as(case, "fail", reason, checks=checks, check=RESULT)
    return ended_as(case, "unjudged", f"nothing to compare: {reason}", rule=NOT_SELECTED)


def _largest(call: Bound, outputs: Sequence[Output]) -> tuple[int, ...]:
    """The shape of the largest tensor of a call."""
    shapes = [*(tensor.shape for tensor in call.tensors()), *(output.array.shape for output in outputs)]
    return max(shapes, key=prod)


def _summed(case: Case, call: Bound, results: list[Result], checks: int) -> Verdict:
    compared, failed, opened, vacuous = (
        sum(getattr(each.judgement, count) for each in results) for count in ("compared", "failed", "open", "vacuous")
    )
    stands = standing(results)
    counts = {"compared": compared, "failed": failed, "open": opened, "vacuous": vacuous}
    counts |= {"checks": checks, "stands": stands, "errors": named(sum(each.judgement.errors for each in results))}
    deciding = _deciding(results)
    contract = Contract(deciding.row.kind, deciding.row.limit, deciding.row.source)
    off = next((each for each in results if each.judgement.violation), None)
    if failed == 0 and compared == 0 and opened + vacuous and off is None:
        goldens = [each.comparison.golden for each in results]
        rules = ", ".join(sorted({golden.open_rule for golden in goldens if golden.open_rule}))
        if opened:
            return ended_as(
                case,
                "unspecified",
                "the op's meaning leaves every element open",
                rule=rules,
                contract=contract,
                **counts,
            )
        bounded = any(has_bound(each.comparison.golden, each.row) for each in results)
        reason = "the bound is vacuous: none, or beyond 1e-2 of the scale" if bounded else _why_unbounded(deciding.row)
        rule = "vacuous bound" if bounded else "no contract with a source"
        return ended_as(case, "unjudged", reason, rule=rule, contract=contract, **counts)
    worst = _worst(call, deciding)
    status, reason = ("fail", _reason(deciding)) if failed else ("pass", None)
    if not failed and off is not None:
        deciding, status, reason = off, "fail", off.judgement.violation.words
        contract = Contract(deciding.row.kind, off.judgement.violation.rule, off.judgement.violation.source)
    return ended_as(
        case, status, reason, contract=contract, worst=worst, max_error_ulp=worst.error_ulp if worst else None,
        bound_ulp=worst.bound_ulp if worst else None,
        marks=Marks.joined([each.judgement.marks for each in results]), **counts,
    )  # fmt: skip


def _causes(call: Bound, results: list[Result]) -> dict[str, int]:
    """What may be the causes of the wrong elements of all outputs."""
    counts: Counter[str] = Counter()
    for each in results:
        if each.judgement.failed or each.judgement.violation:
            are_wrong = each.are_wrong if each.judgement.failed else None
            counts.update(causes_of(call, each.comparison.golden, each.comparison.actual, are_wrong))
    return dict(counts)


def _why_unbounded(row: Row) -> str:
    return f"no bound: {row.source}" if row.kind == "unbounded" else "no table bounds the op's error"


def _deciding(results: list[Result]) -> Result:
    """The output whose worst element is furthest into its bound."""
    furthest = [each.judgement.furthest for each in results]
    shares = [-np.inf if each is None else each.figure for each in furthest]
    return results[shares.index(max(shares))]


def _worst(call: Bound, deciding: Result) -> Worst | None:
    if not deciding.judgement.compared:
        return None
    element, comparison = deciding.judgement.furthest, deciding.comparison
    place = tuple(int(i) for i in np.unravel_index(element.number, deciding.shape))
    index = place[: comparison.golden.value.ndim]
    # An exact result is to be equal, not near.
    error, bound = element.error_ulp, np.nan if deciding.row.kind == "exact" else element.bound_ulp
    expected, actual = (python_number(array[index]) for array in (comparison.golden.value, comparison.actual))
    return Worst(
        deciding.number, index, dtype=comparison.golden.format.name, inputs=operands_at(call, index),
        expected=expected, actual=actual, error_ulp=None if np.isnan(error) else error, bound_ulp=None if
        np.isnan(bound) else bound,
    )  # fmt: skip


def python_number(element: Any) -> bool | int | float | complex:
    """An element of an array of any format as what Python has for it."""
    kind = format_of(np.asarray(element)).kind
    convert = {"bool": bool, "int": int, "uint": int, "float": float, "complex": complex}[kind]
    return convert(element)


def _reason(deciding: Result) -> str:
    """What is wrong with the worst element, in words that group failures of one kind."""
    golden, actual = deciding.comparison.golden, deciding.comparison.actual
    worst, row = deciding.judgement.furthest, deciding.row
    if not (golden.format.is_float or golden.format.is_complex):
        return "wrong value"
    if worst.wrong_class:
        return _wrong_class(golden, actual, worst.number)
    if _is_flushed_among_kept(deciding.comparison, worst.number):
        return "a subnormal result is flushed to zero, another is kept"
    return "not the correctly rounded result" if row.kind == "exact" or row.bound == 0.5 else "error above the bound"


def _is_flushed_among_kept(comparison: Comparison, number: int) -> bool:
    """Of a backend that flushes: whether this element was, and another was not."""
    golden = comparison.golden
    flushes = comparison.arithmetic.flushes_subnormals and flushing.concerns(golden)
    zero = flushes and _component(golden.format, comparison.actual, number) == 0
    return bool(zero) and comparison.kept_subnormals


def _wrong_class(golden: Golden, actual: np.ndarray, number: int) -> str:
    expected, got = (_component(golden.format, array, number) for array in (golden.value, actual))
    if np.isnan(got):
        return "NaN where a number is expected"
    if np.isnan(expected):
        return "a number where NaN is expected"
    if expected == 0 and got == 0:
        return "wrong sign of zero"
    return "wrong infinity" if np.isinf(expected) or np.isinf(got) else "wrong class of value"


def _component(fmt: Format, array: np.ndarray, number: int) -> np.generic:
    """The element of this number in C order, or of complex numbers, which have two components each, the component."""
    return components(fmt, array.flat[number // 2]).flat[number % 2] if fmt.is_complex else array.flat[number]
