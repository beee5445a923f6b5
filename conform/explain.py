"""`conform explain`: what an op means, and how exactly it is held to it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tabulate import tabulate

from conform.contracts.tables import contract_table
from conform.inputs.specs.registry import spec_of
from conform.interp import registry
from conform.inventory import packet
from conform.policy import Rule, rules_of
from conform.schema import overloads, schema
from conform.suites import load

SHOWN_TESTS = 10


def explain_op(op: str, suites: Sequence[str], contract: str = "opencl") -> str:
    """Schema, meaning, dtypes, bounds with sources, policy rules and tests of an op or of one of its overloads.

    Raises UsageError for an op that torch does not have.
    """
    names = _overloads(op)
    meanings = [_meaning(name) for name in names]
    sections = [*dict.fromkeys(meanings), _inputs(op), _bounds(names, contract), _policy(names), _tests(op, suites)]
    return "\n\n".join(section for section in sections if section)


def _overloads(op: str) -> list[str]:
    """The overloads that have semantics; all of torch's if none has."""
    known = [schema(op).name] if "." in op else [one.name for one in overloads(op)]
    return [name for name in known if registry.find(name)] or known


def _meaning(name: str) -> str:
    found = registry.find(name)
    meaning = found.meaning if found else "no semantics: cases of this overload end as unjudged"
    return f"{schema(name)}\n{textwrap.indent(meaning, '    ')}"


def _inputs(op: str) -> str:
    spec = spec_of(op)
    return f"dtypes: {' '.join(spec.dtypes)}" if spec else "dtypes: no input spec"


def _bounds(names: Sequence[str], contract: str) -> str:
    """One row for the dtypes that share a bound."""
    table = contract_table(contract)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in names:
        spec = spec_of(name)
        for dtype in spec.dtypes if spec else ():
            row = table.row(name, dtype)
            bound = f"{row.bound:g} ulp" if row.bound is not None else row.formula or ""
            groups.setdefault((row.kind, bound, row.source), []).append(dtype)
    rows = [[" ".join(dict.fromkeys(dtypes)), *key] for key, dtypes in groups.items()]
    headers = [f"{contract}: result dtype", "kind", "bound", "source"]
    return tabulate(rows, headers=headers, disable_numparse=True, maxcolwidths=[30, None, 40, 50]) if rows else ""


def _policy(names: Sequence[str]) -> str:
    found: dict[str, Rule] = {}
    for name in names:
        semantics = registry.find(name)
        found |= {rule.number: rule for rule in rules_of(name, semantics.function)} if semantics else {}
    rows = [[rule.number, rule.question, rule.default] for rule in found.values()]
    return tabulate(rows, headers=["policy", "question", "default"], maxcolwidths=[None, 50, 60]) if rows else ""


def _tests(op: str, suites: Sequence[str]) -> str:
    loaded = load(suites)
    tests = [test for test in loaded.tests if isinstance(test.op, str) and packet(test.op) == packet(op)]
    lines = [f"tests in {' '.join(suites)}: {len(tests)}"]
    lines += [f"  {test.id}   ({test.location})" for test in tests[:SHOWN_TESTS]]
    if len(tests) > SHOWN_TESTS:
        lines.append(f"  ... and {len(tests) - SHOWN_TESTS} more: conform list")
    return "\n".join(lines)
