"""The verdict on values: the outputs of a call beside their goldens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.backends.reply import Output, Reply
from conform.call.bound import Bound
from conform.call.foreach import meant_by
from conform.call.variants import variant_of
from conform.contracts import flushing
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.comparison import Comparison
from conform.contracts.components import components
from conform.contracts.judge import has_bound
from conform.contracts.tables import Row, Table
from conform.interp.golden import Golden, Outcome
from conform.interp.semantics import traits_of
from conform.judging.checks import Held
from conform.judging.ended import ended_as
from conform.judging.errors_of_sums import causes_of
from conform.judging.evidence import Marks
from conform.judging.histogram import named
from conform.judging.judgement import Result
from conform.judging.likely import likely_errors
from conform.judging.reach import operands_at
from conform.judging.standing import standing, without_bounds
from conform.judging.structure import fitting_golden, given_outputs
from conform.judging.verdict import RESULT, Contract, Verdict, Worst
from conform.numerics.formats import Format, format_of
from conform.suites.cases import Case

NOT_SELECTED = "result is no selected check"  # the rule of a case that only that check would judge
# The rules of cases whose numbers no bound holds.
VACUOUS, UNBOUNDED = "vacuous bound", "no contract with a source"


def compared_with(
    case: Case, call: Bound, outcome: Outcome, reply: Reply, table: Table, arithmetic: Arithmetic, to_hold: Held,
    has_causes: bool = True, full: bool = True,
) -> Verdict:  # fmt: skip
    """`has_causes`: whether to look for the causes of wrong sums. `full`: whether the operands of the worst element are
    told of a pass, too."""
    outputs, goldens = reply.outputs, outcome.goldens
    if len(outputs) != len(goldens):
        return _incomparable(case, f"{len(outputs)} outputs instead of {len(goldens)}", 1, to_hold)
    given = given_outputs(outcome, outputs)
    goldens = goldens if given is None else given.goldens
    results, checks, independent = [], 1, case.has_independent_terms
    limited = independent and not arithmetic.rounded_on_the_way
    likely = likely_errors(call, outcome, arithmetic) if limited else [None] * len(goldens)
    meant = meant_by(call, len(goldens))
    holders = [outcome.holder_of(number) or _element_of_list(case.op, call, number) for number in range(len(goldens))]
    for number, (golden, output) in enumerate(zip(goldens, outputs, strict=True)):
        fitting = fitting_golden(golden, output)
        checks += 2
        if isinstance(fitting, str):
            held = holders[number] or f"output {number}"
            return _incomparable(case, f"{held}: {fitting}", checks, to_hold)
        op = fitting.bounded_as or case.op
        comparison = Comparison(fitting, output.array, meant[number].arguments, arithmetic)
        row = table.row_of(op, fitting)
        results.append(Result(
            number, op, comparison, row, independent, likely=likely[number], beside=_beside(meant[number]),
            outputs=len(goldens), holder=holders[number],
        ))  # fmt: skip
    if to_hold.last == RESULT:
        return ended_as(case, "pass", None, without_bounds("unjudged"), checks=checks)
    full = full or given is not None  # which may fail as a whole
    verdict = _summed(case, meant, results, full, checks=checks, largest=_largest(call, outputs))
    if verdict.status == "pass" and given is not None and given.fault is not None:
        verdict = replace(verdict, status="fail", reason=given.fault)
    if verdict.status != "fail" or not has_causes:
        return verdict
    return replace(verdict, causes=_causes(meant, results))


def _element_of_list(op: str, call: Bound, number: int) -> str | None:
    """`exp_avgs[1]`, where `op` writes the results of the call into lists of tensors that it reads: the number alone
    would tell nobody."""
    variant = variant_of(op)
    if variant is None or not variant.in_place:
        return None
    if not any(isinstance(call.arguments[name], list | tuple) for name in variant.into):
        return None
    return variant.held_by(call.arguments)[number][0]


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


def _summed(case: Case, calls: list[Bound], results: list[Result], full: bool, **counts: Any) -> Verdict:
    """The verdict on all outputs of these calls; `counts`: what is known of it by now. The one that decides is that
    with the worst error; a violation of a rule about all elements decides where none is beyond its bound."""
    compared, failed, opened, vacuous = (
        sum(getattr(each.judgement, count) for each in results) for count in ("compared", "failed", "open", "vacuous")
    )
    counts |= {"compared": compared, "failed": failed, "open": opened, "vacuous": vacuous}
    counts |= {"stands": standing(results), "errors": named(sum(each.judgement.errors for each in results))}
    deciding = _deciding(results)
    contract = Contract(deciding.row.kind, deciding.row.limit, deciding.row.source)
    off = next((each for each in results if each.judgement.violation), None)
    if failed == 0 and compared == 0 and opened + vacuous and off is None:
        status, reason, rule = _nothing_compared(results, deciding.row)
        return ended_as(case, status, reason, rule=rule, contract=contract, **counts)
    worst = _worst(calls[deciding.number], deciding, has_inputs=full or bool(failed) or off is not None)
    status, reason = ("fail", _reason(deciding)) if failed else ("pass", None)
    if not failed and off is not None:
        violation = off.judgement.violation
        status, reason = "fail", violation.words
        contract = Contract(off.row.kind, violation.rule, violation.source)
    return ended_as(
        case, status, reason, contract=contract, worst=worst, max_error_ulp=worst.error_ulp if worst else None,
        bound_ulp=worst.bound_ulp if worst else None,
        marks=Marks.joined([each.judgement.marks for each in results]), **counts,
    )  # fmt: skip


def _nothing_compared(results: Sequence[Result], row: Row) -> tuple[str, str, str]:
    """Status, reason and rule where every element is open, or has a bound that says nothing."""
    goldens = [each.comparison.golden for each in results]
    if any(each.judgement.open for each in results):
        rules = sorted({golden.open_rule for golden in goldens if golden.open_rule})
        return "unspecified", "the op's meaning leaves every element open", ", ".join(rules)
    if any(has_bound(each.comparison.golden, each.row) for each in results):
        return "unjudged", "the bound is vacuous: none, or beyond 1e-2 of the scale", VACUOUS
    return "unjudged", _why_unbounded(row), UNBOUNDED


def _causes(calls: list[Bound], results: list[Result]) -> dict[str, int]:
    """What may be the causes of the wrong elements of all outputs of these calls."""
    counts: Counter[str] = Counter()
    for each in results:
        if each.judgement.failed or each.judgement.violation:
            are_wrong = each.are_wrong if each.judgement.failed else None
            one = calls[each.number]
            counts.update(causes_of(one, each.comparison.golden, each.comparison.actual, are_wrong))
    return dict(counts)


def _why_unbounded(row: Row) -> str:
    return f"no bound: {row.source}" if row.kind == "unbounded" else "no table bounds the op's error"


def _deciding(results: list[Result]) -> Result:
    """The output whose worst element is furthest into its bound, of those with wrong elements where there are any."""
    judgements = [each.judgement for each in results]
    furthest = [(each.failed > 0, -np.inf if each.furthest is None else each.furthest.figure) for each in judgements]
    return results[furthest.index(max(furthest))]


def _worst(call: Bound, deciding: Result, has_inputs: bool) -> Worst | None:
    if not deciding.judgement.compared:
        return None
    element, comparison = deciding.judgement.furthest, deciding.comparison
    place = tuple(int(i) for i in np.unravel_index(element.number, deciding.shape))
    index = place[: comparison.golden.value.ndim]
    # An exact result is to be equal, not near.
    error, bound = element.error_ulp, np.nan if deciding.row.kind == "exact" else element.bound_ulp
    expected, actual = (python_number(array[index]) for array in (comparison.golden.value, comparison.actual))
    return Worst(
        deciding.number, index, dtype=comparison.golden.format.name,
        inputs=operands_at(call, index) if has_inputs else (),
        expected=expected, actual=actual, error_ulp=None if np.isnan(error) else error, bound_ulp=None if
        np.isnan(bound) else bound, holder=deciding.holder,
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
