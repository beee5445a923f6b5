"""One case's verdict from its golden outcome and the backend's reply."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conform.backends.reply import Output, Reply
from conform.call import schemas
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
from conform.judging.declared import admitted, arithmetic_for
from conform.judging.errors_of_sums import looks_like
from conform.judging.histogram import named
from conform.judging.judgement import Result
from conform.judging.likely import likely_errors
from conform.judging.reach import operands_at
from conform.judging.standing import Standing, standing, without_bounds
from conform.judging.verdict import KIT_DEFECT, Contract, Verdict, Worst
from conform.numerics.formats import Format, format_of
from conform.suites.cases import Case, beyond_the_kit
from conform.suites.test import Domain

GPU_DEVICES = ("cuda", "mps", "xpu")


def _verdict(case: Case, status: str, reason: str | None, stands: Standing | None = None, **rest: Any) -> Verdict:
    """`stands`: what the shipped tables say of the result; None where no bound decided."""
    stands = stands or without_bounds(status)
    return Verdict(
        case.id, case.draw.test.id, op=case.op, dtype=case.dtype, values=case.values, layout=case.layout,
        status=status, reason=reason, location=case.draw.test.recorded_at, tables=stands.tables,
        tightest=stands.tightest, **rest,
    )  # fmt: skip


def cannot_run(case: Case, described: dict) -> Verdict | None:
    """The verdict of a case that is not sent: a module, or a test written for another device."""
    test = case.draw.test
    if (reason := beyond_the_kit(test)) is not None:
        return _verdict(case, "unjudged", reason, rule="no semantics")
    kind = str(described.get("device", "cpu")).partition(":")[0]
    if test.device and kind != test.device and not (test.device == "gpu" and kind in GPU_DEVICES):
        return _verdict(case, "unsupported", f"the test is for device {test.device}, the backend runs on {kind}")
    return None


def defect(error: Exception) -> KitDefect:
    """What failed in the kit itself, as what it is."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.name}, line {place.lineno}"
    return KitDefect(f"defect of the kit, please report it: {type(error).__name__} in {where}: {error}")


def undecided(case: Case, reason: Unjudged) -> Verdict:
    """The verdict on a case that the kit cannot judge."""
    rule = KIT_DEFECT if isinstance(reason, KitDefect) else "not decided by the kit"
    return _verdict(case, "unjudged", str(reason), rule=rule)


@np.errstate(all="ignore")  # what IEEE 754 flags, signalling NaNs too, are results here
def verdict_of(
    case: Case,
    call: Bound,
    outcome: Outcome | Exception,
    reply: Reply,
    table: Table,
    declared: Arithmetic = IEEE,
) -> Verdict:
    """How the case ended. A crash or a hang is one whatever the op means; else the golden outcome decides."""
    domain = case.draw.test.domain
    is_invalid = bool(domain and domain.broken) or isinstance(outcome, InvalidArguments)
    return replace(_ended(case, call, outcome, reply, table, declared), is_invalid=is_invalid)


def _ended(
    case: Case, call: Bound, outcome: Outcome | Exception, reply: Reply, table: Table, declared: Arithmetic
) -> Verdict:
    domain = case.draw.test.domain
    if domain and domain.broken:
        return _verdict_outside(case, domain, reply)
    if isinstance(outcome, InvalidArguments) and not domain and _has_refused(reply):
        return _refusal_verdict(case, outcome, reply)
    if reply.status in ("crash", "timeout", "unsupported", "fallback"):
        return _verdict(case, reply.status, reply.reason, log=reply.log)
    if domain and isinstance(outcome, InvalidArguments):
        reason = f"defect of the kit, please report it: the spec of {case.op} allows what is refused here: {outcome}"
        return _verdict(case, "unjudged", reason, rule=KIT_DEFECT)
    if isinstance(outcome, Unjudged):
        return undecided(case, outcome)
    if isinstance(outcome, InvalidArguments):
        return _refusal_verdict(case, outcome, reply)
    if reply.status == "error":
        if outcome.refusal:
            return _verdict(case, "unspecified", "the backend may refuse here, and did", rule=outcome.refusal)
        return _verdict(case, "error", reply.reason)
    harm = _harm(reply) or _aliasing(case.op, reply)
    if harm:
        return _verdict(case, "fail", harm, checks=1)
    arithmetic = arithmetic_for(case.op, declared)
    judged = partial(_compared, case, call, reply=reply, table=table)
    verdict = judged(outcome=outcome, arithmetic=arithmetic)
    if _is_wrong(verdict) and arithmetic != IEEE:
        verdict = judged(outcome=admitted(call, outcome, arithmetic, reply.outputs), arithmetic=arithmetic)
    if _is_wrong(verdict) and not arithmetic.flushes_subnormals and _may_be_flushed(call, outcome, reply):
        flushing_too = replace(arithmetic, flushes_subnormals=True)
        supposed = admitted(call, outcome, flushing_too, reply.outputs)
        if not _is_wrong(judged(outcome=supposed, arithmetic=flushing_too)):
            return replace(verdict, reason=f"{verdict.reason}, as if subnormals were flushed to zero")
    return verdict


def _is_wrong(verdict: Verdict) -> bool:
    """Whether values were compared, and found wrong."""
    return verdict.status == "fail" and verdict.compared > 0


def _may_be_flushed(call: Bound, outcome: Outcome, reply: Reply) -> bool:
    """Whether operands are subnormal, or a result is zero that should be none."""
    pairs = zip(outcome.goldens, reply.outputs, strict=True)
    lost = (not everywhere(_are_not_lost, golden.value, output.array) for golden, output in pairs)
    return any(map(flushing.has_subnormals, call.tensors())) or any(lost)


def _are_not_lost(expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    return (actual != 0) | (expected == 0)


def _refusal_verdict(case: Case, outcome: InvalidArguments, reply: Reply) -> Verdict:
    if _has_refused(reply):
        harm = _harm(reply)
        return _verdict(case, "fail" if harm else "pass", harm, checks=1)
    return _verdict(case, "fail", f"the backend accepted invalid arguments: {outcome}", checks=1)


def _verdict_outside(case: Case, domain: Domain, reply: Reply) -> Verdict:
    """The verdict on arguments outside the op's domain, by its spec: the backend must refuse them, but where some are
    known to accept them."""
    has_refused = _has_refused(reply)
    if not has_refused and reply.status != "ok":
        return _verdict(case, reply.status, reply.reason, log=reply.log)
    harm = _harm(reply)
    if harm:
        return _verdict(case, "fail", harm, checks=1)
    if domain.lenience:
        reason = f"what breaks {domain.broken} may be accepted"
        return _verdict(case, "unspecified", reason, rule=domain.lenience)
    if has_refused:
        return _verdict(case, "pass", None, checks=1)
    return _verdict(case, "fail", f"the backend accepted invalid arguments: they break {domain.broken}", checks=1)


def _has_refused(reply: Reply) -> bool:
    """That torch has no kernel for a dtype is a refusal; that a backend declares to support none is not."""
    return reply.status == "error" or (reply.status == "unsupported" and not reply.declared)


def _harm(reply: Reply) -> str | None:
    """Damage beyond the result: memory that the call had no business to write."""
    if reply.overrun:
        return "the backend wrote outside the tensors it was given"
    if reply.mutated:
        return f"the backend changed its input tensor {', '.join(map(str, reply.mutated))}"
    return None


def _aliasing(op: str, reply: Reply) -> str | None:
    """A result in an argument's memory, where torch's schema of the op promises memory of its own: what is written to
    one would show in the other."""
    may_alias = schemas.schema(op).aliases or (False,)
    for output, argument in reply.aliases:
        if not may_alias[min(output, len(may_alias) - 1)]:
            return f"output {output} shares memory with tensor argument {argument}"
    return None


def _compared(
    case: Case, call: Bound, outcome: Outcome, reply: Reply, table: Table, arithmetic: Arithmetic
) -> Verdict:
    outputs, goldens = reply.outputs, outcome.goldens
    if len(outputs) != len(goldens):
        return _verdict(case, "fail", f"{len(outputs)} outputs instead of {len(goldens)}", checks=1)
    results, checks, independent = [], 1, case.has_independent_terms
    likely = likely_errors(call, outcome) if independent else [None] * len(goldens)
    for number, (golden, output) in enumerate(zip(goldens, outputs, strict=True)):
        fitting = _fitting(golden, output)
        checks += 2
        if isinstance(fitting, str):
            return _verdict(case, "fail", f"output {number}: {fitting}", checks=checks)
        op = fitting.bounded_as or case.op
        comparison = Comparison(fitting, output.array, call.arguments, arithmetic)
        row = table.row(op, fitting.format.name)
        results.append(Result(number, op, comparison, row, independent, likely[number]))
    return replace(_summed(case, call, results, checks), largest=_largest(call, outputs))


def _largest(call: Bound, outputs: Sequence[Output]) -> tuple[int, ...]:
    """The shape of the largest tensor of a call."""
    shapes = [*(tensor.shape for tensor in call.tensors()), *(output.array.shape for output in outputs)]
    return max(shapes, key=prod)


def _fitting(golden: Golden, output: Any) -> Golden | str:
    """The golden, or an alternative, whose dtype the output has; or what is wrong with the output's structure."""
    if not isinstance(output, Output):
        return f"{type(output).__name__} instead of a tensor"
    if output.array.shape != golden.value.shape:
        return f"shape {list(output.array.shape)} instead of {list(golden.value.shape)}"
    actual = format_of(output.array)
    matching = [each for each in (golden, *golden.alternatives) if each.format == actual]
    if not matching:
        return f"dtype {actual.name} instead of {golden.format.name}"
    return matching[0] if matching[0] is golden else matching[0].or_else(*matching[1:])


def _summed(case: Case, call: Bound, results: list[Result], checks: int) -> Verdict:
    compared, failed, opened, vacuous = (
        sum(getattr(each.judgement, count) for each in results) for count in ("compared", "failed", "open", "vacuous")
    )
    stands = standing(results)
    counts = {"compared": compared, "failed": failed, "open": opened + vacuous, "checks": checks, "stands": stands}
    counts["errors"] = named(sum(each.judgement.errors for each in results))
    deciding = _deciding(results)
    contract = Contract(deciding.row.kind, deciding.row.limit, deciding.row.source)
    off = next((each for each in results if each.judgement.violation), None)
    if failed == 0 and compared == 0 and opened + vacuous and off is None:
        goldens = [each.comparison.golden for each in results]
        rules = ", ".join(sorted({golden.open_rule for golden in goldens if golden.open_rule}))
        if opened:
            return _verdict(
                case,
                "unspecified",
                "the op's meaning leaves every element open",
                rule=rules,
                contract=contract,
                **counts,
            )
        bounded = any(has_bound(each.comparison.golden, each.row) for each in results)
        reason = "the bound is vacuous: it exceeds every result" if bounded else _why_unbounded(deciding.row)
        rule = "vacuous bound" if bounded else "no contract with a source"
        return _verdict(case, "unjudged", reason, rule=rule, contract=contract, **counts)
    worst = _worst(call, deciding)
    status, reason = ("fail", _reason(deciding)) if failed else ("pass", None)
    if not failed and off is not None:
        deciding, status, reason = off, "fail", off.judgement.violation.words
        contract = Contract(deciding.row.kind, off.judgement.violation.rule, off.judgement.violation.source)
    if status == "fail":
        reason += looks_like(call, deciding.comparison.golden, deciding.comparison.actual)
    return _verdict(
        case, status, reason, contract=contract, worst=worst, max_error_ulp=worst.error_ulp if worst else None,
        bound_ulp=worst.bound_ulp if worst else None, **counts,
    )  # fmt: skip


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
    expected, actual = (_python(array[index]) for array in (comparison.golden.value, comparison.actual))
    return Worst(
        deciding.number, index, dtype=comparison.golden.format.name, inputs=operands_at(call, index),
        expected=expected, actual=actual, error_ulp=None if np.isnan(error) else error, bound_ulp=None if
        np.isnan(bound) else bound,
    )  # fmt: skip


def _python(element: Any) -> bool | int | float | complex:
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
