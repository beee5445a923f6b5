"""`conform explain`: what an op means, and how exactly it is held to it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tabulate import tabulate

from conform.contracts import slack
from conform.contracts.tables import EXACT_SOURCE
from conform.explain.op_facts import Bounds, Meaning, OpFacts, op_facts, tests_of
from conform.explain.policy import Rule

SHOWN_TESTS = 10


def explain_op(op: str, suites: Sequence[str]) -> str:
    """Schema, meaning, dtypes, bounds with sources and slack, policy rules and tests of an op or one of its overloads.

    Raises UsageError for an op that torch does not have.
    """
    facts = op_facts(op)
    sections = [*dict.fromkeys(map(_meaning, facts.meanings)), _dtypes(facts), *_bounds(facts.bounds)]
    sections += [_slack(facts.slack), _policy(facts.rules), _tests(op, suites)]
    return "\n\n".join(section for section in sections if section)


def _meaning(one: Meaning) -> str:
    like = f" (see {', '.join(one.like)})" if one.like else ""
    meaning = one.text or f"no semantics: cases of this overload end as unjudged{like}"
    gradients = f"\ngradient {one.gradients}" if one.gradients else ""
    return f"{one.schema}\n{textwrap.indent(meaning + gradients, '    ')}"


def _dtypes(facts: OpFacts) -> str:
    """The dtypes of the operands and of the (first) result."""
    if facts.operands is None:
        return "dtypes: no input spec"
    return f"dtypes: {' '.join(facts.operands)}\nof results: {' '.join(facts.results)}"


def _bounds(found: Sequence[Bounds]) -> list[str]:
    """What every shipped table asks: the bounds by dtype, then their sources."""
    is_one_of_several = sum(not one.lender for one in found) > 1
    return [_borrowed(one) if one.lender else _own(one, is_one_of_several) for one in found]


def _own(one: Bounds, is_one_of_several: bool) -> str:
    head = f"bounds of {', '.join(one.overloads)}\n" if is_one_of_several else ""
    exact = EXACT_SOURCE if one.has_exact else ""
    return head + (f"{_grid(one)}\n{exact}".rstrip() + f"\n\n{_sources(one)}" if one.rows else exact)


def _borrowed(one: Bounds) -> str:
    head = f"bounds of {one.overloads[0]} of {' '.join(one.operands)}: those of {one.lender}"
    return f"{head}\n{_grid(one)}\n\n{_sources(one)}"


def _grid(one: Bounds) -> str:
    headers, *lines = one.grid
    return tabulate(lines, headers=headers, disable_numparse=True)


def _sources(one: Bounds) -> str:
    headers = ["table", "rule", "source"]
    return tabulate(one.sources, headers=headers, disable_numparse=True, maxcolwidths=[None, 45, 65])


def _slack(found: Sequence[slack.Slack]) -> str:
    """How much wider a derived bound is than the errors of kernels that are in use, and why where it is much."""
    if not found:
        return ""
    lines = [
        [one.output, one.input, *map(slack.shown, (one.median, one.bound_ulp, one.root_sum_of_squares_ulp))]
        + [" ".join(one.reasons)]
        for one in found
    ]
    headers = ["output", "input", "median slack", "median bound (ulp)", "its root sum of squares", "why above 50"]
    reasons = dict.fromkeys(reason for one in found for reason in one.reasons)
    told = [f"{reason}: {slack.REASONS[reason]}" for reason in reasons]
    head = f"slack, bound over observed error, of {slack.MEASURED_ON}"
    return "\n".join([head, tabulate(lines, headers, disable_numparse=True), *told])


def _policy(rules: Sequence[Rule]) -> str:
    rows = [[rule.number, rule.question, rule.default] for rule in rules]
    return tabulate(rows, headers=["policy", "question", "default"], maxcolwidths=[None, 50, 60]) if rows else ""


def _tests(op: str, suites: Sequence[str]) -> str:
    tests = tests_of(op, suites)
    lines = [f"tests in {' '.join(suites)}: {len(tests)}"]
    lines += [f"  {test.id}   ({test.location})" for test in tests[:SHOWN_TESTS]]
    if len(tests) > SHOWN_TESTS:
        lines.append(f"  ... and {len(tests) - SHOWN_TESTS} more: conform list")
    return "\n".join(lines)
