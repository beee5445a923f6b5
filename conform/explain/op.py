"""`conform explain`: what an op means, and how exactly it is held to it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from tabulate import tabulate

from conform.call.schemas import overloads, schema
from conform.contracts import slack
from conform.contracts.tables import EXACT_SOURCE, Row, contract_table, names
from conform.domains.engine.dtypes import ALL
from conform.domains.specs import spec_of
from conform.explain.inventory import packet, result_dtypes
from conform.explain.policy import Rule, rules_of
from conform.interp import semantics
from conform.interp.evaluate import evaluate
from conform.numerics.formats import FORMATS
from conform.suites import load

SHOWN_TESTS = 10


def explain_op(op: str, suites: Sequence[str]) -> str:
    """Schema, meaning, dtypes, bounds with sources and slack, policy rules and tests of an op or one of its overloads.

    Raises UsageError for an op that torch does not have.
    """
    found = _overloads(op)
    meanings = [_meaning(name) for name in found]
    sections = [*dict.fromkeys(meanings), _dtypes(op, found), *_bounds(found)]
    sections += [_slack(packet(op)), _policy(found), _tests(op, suites)]
    return "\n\n".join(section for section in sections if section)


def _overloads(op: str) -> list[str]:
    """The overloads that have semantics; all of torch's if none has."""
    known = [schema(op).name] if "." in op else [one.name for one in overloads(op)]
    return [name for name in known if semantics.find(name)] or known


def _meaning(name: str) -> str:
    found = semantics.find(name)
    meaning = found.meaning if found else f"no semantics: cases of this overload end as unjudged{_see(name)}"
    return f"{schema(name)}\n{textwrap.indent(meaning, '    ')}"


def _see(name: str) -> str:
    """The ops of like name that have semantics, as `_softmax` of softmax and `native_layer_norm` of layer_norm."""
    base = packet(name).removeprefix("aten::")
    like = {packet(known) for known in semantics.names() if f"{_bare(known)}_".startswith(f"{base}_")}
    return f" (see {', '.join(sorted(like))})" if like else ""


def _bare(name: str) -> str:
    return packet(name).removeprefix("aten::").lstrip("_").removeprefix("native_")


def _dtypes(op: str, found: Sequence[str]) -> str:
    """The dtypes of the operands and of the (first) result."""
    spec = spec_of(op)
    of_any = {dtype for name in found for dtype in result_dtypes(name)}
    of_results = [dtype for dtype in ALL if dtype in of_any]
    return f"dtypes: {' '.join(spec.dtypes)}\nof results: {' '.join(of_results)}" if spec else "dtypes: no input spec"


def _bounds(found: Sequence[str]) -> list[str]:
    """What every shipped table asks, once for the overloads that share it: the bounds by dtype, then their sources."""
    borrowed = {name: _borrowed(name) for name in found}
    sharing: dict[tuple, list[str]] = {}
    for name in found:
        if any(operands == spec_of(name).dtypes for _, operands, _ in borrowed[name]):
            continue  # nothing is left to its own rows
        sharing.setdefault(tuple(_rows(name, result_dtypes(name))), []).append(name)
    own = [
        (f"bounds of {', '.join(names_)}\n" if len(sharing) > 1 else "") + _table(names_, rows)
        for rows, names_ in sharing.items()
    ]
    return own + [_borrowed_table(name, *others) for name in found for others in borrowed[name]]


def _borrowed_table(name: str, lender: str, operands: Sequence[str], results: Sequence[str]) -> str:
    rows = _rows(lender, results)
    return f"bounds of {name} of {' '.join(operands)}: those of {lender}\n{_grid(rows)}\n\n{_sources(rows)}"


def _borrowed(name: str) -> list[tuple[str, tuple[str, ...], list[str]]]:
    """(the op whose rows hold, for which operands' dtypes, of which results' dtypes), of a function of one tensor."""
    spec, lenders = spec_of(name), {}
    if spec is None or semantics.find(name) is None or len(schema(name).arguments) != 1:
        return []
    for dtype in spec.dtypes:
        for golden in evaluate(name, [np.ones(1, FORMATS[dtype].storage)], {}).goldens:
            if golden.bounded_as:
                operands, results = lenders.setdefault(golden.bounded_as, ({}, {}))
                operands[dtype] = results[golden.format.name] = None
    return [
        (lender, tuple(operands), [dtype for dtype in ALL if dtype in results])
        for lender, (operands, results) in lenders.items()
    ]


def _table(found: Sequence[str], rows: Sequence[tuple[str, str, Row]]) -> str:
    """The bounds of overloads that share them; what is exact is told only of results that there are."""
    exact = EXACT_SOURCE if any(_is_exact(dtype) for name in found for dtype in result_dtypes(name)) else ""
    return f"{_grid(rows)}\n{exact}".rstrip() + f"\n\n{_sources(rows)}" if rows else exact


def _is_exact(dtype: str) -> bool:
    return FORMATS[dtype].kind.endswith(("int", "bool"))


def _rows(name: str, results: Sequence[str]) -> list[tuple[str, str, Row]]:
    """(table, dtype, row) of the dtypes of results that round."""
    dtypes = [dtype for dtype in results if not _is_exact(dtype)]
    return [(table, dtype, contract_table(table).row(name, dtype)) for table in names() for dtype in dtypes]


def _grid(rows: Sequence[tuple[str, str, Row]]) -> str:
    """Tables down, dtypes across."""
    dtypes = dict.fromkeys(dtype for _, dtype, _ in rows)
    cells = {(table, dtype): row.short for table, dtype, row in rows}
    lines = [[table, *(cells[table, dtype] for dtype in dtypes)] for table in names()]
    return tabulate(lines, headers=["bound", *dtypes], disable_numparse=True)


def _sources(rows: Sequence[tuple[str, str, Row]]) -> str:
    """Each source once, with the tables and the rules that rest on it."""
    tables: dict[tuple[str, str], dict[str, None]] = {}
    for table, _, row in rows:
        tables.setdefault((row.rule, row.source), {})[table] = None
    lines = [[" ".join(told), *key] for key, told in tables.items()]
    return tabulate(lines, headers=["table", "rule", "source"], disable_numparse=True, maxcolwidths=[None, 45, 65])


def _slack(op: str) -> str:
    """How much wider a derived bound is than the errors of kernels that are in use, and why where it is much."""
    found = [one for one in slack.figures() if one.op == op]
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


def _policy(names: Sequence[str]) -> str:
    found: dict[str, Rule] = {}
    for name in names:
        definition = semantics.find(name)
        found |= {rule.number: rule for rule in rules_of(name, definition.function)} if definition else {}
    rows = [[rule.number, rule.question, rule.default] for rule in found.values()]
    return tabulate(rows, headers=["policy", "question", "default"], maxcolwidths=[None, 50, 60]) if rows else ""


def _tests(op: str, suites: Sequence[str]) -> str:
    loaded = load(suites, ops=(packet(op),))
    tests = [test for test in loaded.tests if isinstance(test.op, str) and packet(test.op) == packet(op)]
    lines = [f"tests in {' '.join(suites)}: {len(tests)}"]
    lines += [f"  {test.id}   ({test.location})" for test in tests[:SHOWN_TESTS]]
    if len(tests) > SHOWN_TESTS:
        lines.append(f"  ... and {len(tests) - SHOWN_TESTS} more: conform list")
    return "\n".join(lines)
