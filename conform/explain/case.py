"""`conform explain CASE-ID`: the inputs of one case, what is expected, and within which bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conform import time_limit
from conform.backends.call import Call
from conform.call.arguments import Arguments, is_tensor
from conform.call.bound import Bound, bound_call
from conform.contracts.judge import judge
from conform.contracts.tables import Row, Table, contract_table, names
from conform.errors import InvalidArguments, Unjudged, UsageError, did_you_mean
from conform.frontends.called import called
from conform.frontends.stablehlo_suite import loaded
from conform.inputs.layouts import dense, logical
from conform.interp import semantics
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Golden, Outcome
from conform.judging.verdict import GRADIENTS
from conform.numerics.formats import format_of
from conform.numerics.rounding_errors import root_sum_of_squares
from conform.report.numbers import decimal, ulps
from conform.running import gradients
from conform.straight_line import check_timeout
from conform.suites import Suite
from conform.suites.cases import Case, Selection, beyond_the_kit
from conform.suites.select import select
from conform.suites.test import Domain

SHOWN_ELEMENTS = 64
SHOWN_CASES = 5


def explain_case(
    case_id: str, suites: Sequence[str], seed: int = 0, golden_timeout_s: float = time_limit.GOLDEN_TIMEOUT_S
) -> str:
    """Inputs by the names of the schema, or of a module's parameters, golden outputs, and the contract of each.

    Raises UsageError if no test of the suites has such a case, Unjudged if the golden outputs and their bounds take
    longer than `golden_timeout_s`.
    """
    check_timeout("golden timeout", golden_timeout_s)
    semantics.names()  # loads them all, before a time limit could interrupt that
    case = find_case(case_id, loaded(suites, seed, (case_id,)), seed)
    arguments = case.arguments(case.draw.arguments())
    head = f"{case.id}\n{case.op}, {case.dtype}, seed {seed}   ({case.draw.test.location})"
    if (reason := beyond_the_kit(case.draw.test)) is not None:
        return f"{head}\n\nunjudged: {reason}"
    call = _called(case, arguments)
    domain = case.draw.test.domain
    if domain and domain.broken:
        expectation = _demand(domain)
    else:
        computed = partial(_gradients if case.of_gradients else _expectation, case, call)
        expectation = time_limit.or_unjudged(f"the golden of {case.id}", golden_timeout_s, computed)
    return "\n\n".join([head, _inputs(case, arguments, call), expectation])


def _called(case: Case, arguments: Arguments) -> Bound:
    """The call, on dense tensors."""
    plain = logical(arguments)
    if case.draw.test.is_module:
        return called(case.draw).bound(plain.args, plain.kwargs)
    return bound_call(case.op, plain.args, plain.kwargs)


def _demand(domain: Domain) -> str:
    """What is asked of a call outside the op's domain."""
    if domain.lenience:
        return f"may be accepted, whatever the result: breaks {domain.broken} ({domain.lenience})"
    return f"must be refused: breaks {domain.broken}"


def find_case(case_id: str, suite: Suite, seed: int) -> Case:
    """The case of that id, whatever value classes, layouts and samples the suite asks for by itself."""
    if any(test.id == case_id for test in suite.tests):
        raise UsageError(_cases_of(suite, case_id, seed))
    tests = tuple(test for test in suite.tests if case_id.startswith(f"{test.id}/"))
    if not tests:
        raise UsageError(f"no test of {' '.join(suite.names)} has a case {case_id!r}{_near(case_id, suite)}")
    axes = case_id.removeprefix(f"{tests[-1].id}/").split("/")
    samples = int(axes[3]) + 1 if len(axes) in (4, 5) and axes[3].isdecimal() else 1
    selection = Selection(
        ids=(case_id,), seed=seed, samples=samples, values="all", layouts="all", gradients=axes[-1] == GRADIENTS
    )
    groups = select(replace(suite, tests=tests), selection)
    return next(case for group in groups for case in group)


def _near(case_id: str, suite: Suite) -> str:
    """What may be meant; the axes behind a test's name, which all have, make no case like another."""
    first, _, rest = case_id.partition("/")
    if did_you_mean(first, {test.id.partition("/")[0] for test in suite.tests}):
        return did_you_mean(case_id, [f"{test.id}/{rest}" for test in suite.tests])
    return "; is it one of another suite?"


def _cases_of(suite: Suite, test_id: str, seed: int) -> str:
    """What to ask for instead of a test."""
    tests = tuple(test for test in suite.tests if test.id == test_id)
    groups = select(replace(suite, tests=tests), Selection(seed=seed))
    ids = [case.id for group in groups for case in group]
    more = [f"... {len(ids) - SHOWN_CASES} more"] if len(ids) > SHOWN_CASES else []
    return "\n  ".join([f"{test_id!r} is a test; explain one of its cases:", *ids[:SHOWN_CASES], *more])


def _inputs(case: Case, arguments: Arguments, call: Bound) -> str:
    """As they lie in memory, those of an operator."""
    if case.draw.test.is_module:
        bound = call.arguments
    else:
        bound = bound_call(case.op, arguments.args, arguments.kwargs, is_tensor).arguments
    return "\n".join(line for name, value in bound.items() for line in _argument_lines(name, value))


def _argument_lines(name: str, value: Any) -> list[str]:
    if isinstance(value, (list, tuple)) and any(is_tensor(item) for item in value):
        return [line for number, item in enumerate(value) for line in _argument_lines(f"{name}[{number}]", item)]
    if not is_tensor(value):
        return [f"{name} = {value!r}"]
    placed = "" if isinstance(value, np.ndarray) else f", strides {list(value.strides)}, offset {value.offset}"
    return [f"{name}: {describe(dense(value))}{placed}", values_text(dense(value))]


def describe(array: np.ndarray) -> str:
    """`float32 [2, 3]`."""
    return f"{format_of(array).name} {list(array.shape)}"


def values_text(array: np.ndarray, is_open: np.ndarray | None = None) -> str:
    """The elements as shortest decimals of their format, `?` where `is_open`; the middle of a large tensor is cut."""
    fmt = format_of(array)
    written = np.empty(array.shape, dtype=object)
    for index, element in np.ndenumerate(array):
        written[index] = decimal(float(element), fmt.name) if fmt.is_float else str(element)
    if is_open is not None:
        written[is_open] = "?"
    return np.array2string(written, threshold=SHOWN_ELEMENTS, max_line_width=100, formatter={"all": str})


def _gradients(case: Case, call: Bound) -> str:
    """What gradients are expected, for which cotangents."""
    try:
        sent = gradients.asked(case, call, evaluate_call(call), Call(case.op, [*call.arguments.values()]))[0]
    except Unjudged as reason:
        return f"unjudged: {reason}"
    given = [line for name in sent.arguments if name not in call.arguments for line in
             _argument_lines(name, sent.arguments[name])]  # fmt: skip
    named = [f"output {number}: the gradient of {place}" for number, place in enumerate(sent.places)]
    return "\n".join([*given, "", *named, _expectation(case, sent)])


def _expectation(case: Case, call: Bound) -> str:
    op = case.op
    try:
        outcome: Outcome = evaluate_call(call)
    except Unjudged as reason:
        return f"unjudged: {reason}"
    except InvalidArguments as reason:
        return f"must be refused: {reason}"
    with root_sum_of_squares():
        expected_errors = evaluate_call(call).goldens
    table, operands = contract_table("opencl"), call.arguments
    outputs = [
        _output(
            _named(outcome, number), golden, op,
            table=table, operands=operands, statistical=statistical,
        )
        for number, (golden, statistical) in enumerate(zip(outcome.goldens, expected_errors, strict=True))
    ]
    refusal = [f"or the backend raises (policy {outcome.refusal})"] if outcome.refusal else []
    return "\n".join([*outputs, *refusal])


def _named(outcome: Outcome, number: int) -> str:
    """`output 0`, or `running_mean after the call`."""
    holder = outcome.holder_of(number)
    return f"output {number}" if holder is None else f"{holder} after the call"


def _output(
    name: str, golden: Golden, op: str, table: Table, operands: Mapping[str, Any], statistical: Golden
) -> str:
    """`name`: of the output, or of what holds it after the call; `statistical`: the same golden with errors that join
    by their squares."""
    row = table.row_of(op, golden)
    lines = [f"expected {name}: {describe(golden.value)}", values_text(golden.value, golden.open)]
    lines.append(f"contract: {row.kind}{'' if row.limit is None else f' {_shown(row.limit)}'} ({row.source})")
    if golden.format.is_float and golden.real is not None:
        rows = {name: contract_table(name).row_of(op, golden) for name in names()}
        allowed = [f"{name} {_allowed(golden, one, operands)}" for name, one in rows.items()]
        lines.append(f"error allowed, in ulps: {', '.join(allowed)}")
        if row.kind in ("accumulation", "derived"):
            with root_sum_of_squares():
                figure = _allowed(statistical, row, operands)
            lines.append(f"root sum of squares, in ulps: {figure} (no bound: what independent rounding errors come to)")
        lines += _vacuous(golden, row, operands)
    if golden.open is not None:
        lines.append(f"?: left open by policy {golden.open_rule}, not judged")
    if np.any(golden.zero_sign_free):
        lines.append("the sign of a zero is free")
    if golden.alternatives:
        lines.append(f"{len(golden.alternatives)} other readings are as right")
    return "\n".join(lines)


def _shown(limit: float | str) -> str:
    return f"{limit:g}" if isinstance(limit, float) else limit


def _vacuous(golden: Golden, row: Row, operands: Mapping[str, Any]) -> list[str]:
    """How many elements a result says nothing of: it may be wrong by any amount, or by more than 1e-2 of the scale."""
    vacuous = np.count_nonzero(judge(golden, golden.value, row, operands).vacuous)
    if not vacuous:
        return []
    return [f"vacuous: {vacuous} of {golden.value.size} elements have no bound, or one beyond 1e-2 of their scale"]


def _allowed(golden: Golden, row: Row, operands: Mapping[str, Any]) -> str:
    """The smallest and largest bound of the row in this output; `-` where it bounds no element."""
    elements = judge(golden, golden.value, row, operands)
    bounds = elements.bound_ulp[elements.compared & np.isfinite(elements.bound_ulp)]
    if bounds.size == 0:
        return "-"
    low, high = ulps(float(bounds.min())), ulps(float(bounds.max()))
    return low if low == high else f"{low} to {high}"
