"""What the kit knows of an op, as data: `conform explain` prints it, and the documentation site has a page of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from conform.call.schemas import overloads, schema
from conform.call.variants import variant_of
from conform.contracts import slack
from conform.contracts.tables import Row, contract_table, names
from conform.domains.engine.dtypes import ALL
from conform.domains.specs import spec_of
from conform.explain.inventory import packet, result_dtypes
from conform.explain.policy import Rule, rules_of
from conform.interp import semantics
from conform.interp.evaluate import evaluate
from conform.interp.gradients import rules
from conform.numerics.formats import FORMATS
from conform.suites import load
from conform.suites.test import Test


@dataclass(frozen=True)
class Meaning:
    """An overload's schema, and what it means; None without semantics, where `like` names ops that may be meant; and of
    which operands it has gradients, by which formula, None where the kit has none."""

    schema: str
    text: str | None
    like: tuple[str, ...] = ()
    gradients: str | None = None


@dataclass(frozen=True)
class Bounds:
    """What every shipped table asks of the results of overloads that share it.

    rows: (table, dtype, row) of the dtypes of results that round; has_exact: there are others. Where `lender` names
    another op, its rows hold, for operands of these dtypes.
    """

    overloads: tuple[str, ...]
    rows: tuple[tuple[str, str, Row], ...]
    has_exact: bool = False
    lender: str = ""
    operands: tuple[str, ...] = ()

    @property
    def grid(self) -> list[list[str]]:
        """Tables down, dtypes across; the first line names the dtypes."""
        dtypes = dict.fromkeys(dtype for _, dtype, _ in self.rows)
        cells = {(table, dtype): row.short for table, dtype, row in self.rows}
        return [["bound", *dtypes], *([table, *(cells[table, dtype] for dtype in dtypes)] for table in names())]

    @property
    def sources(self) -> list[list[str]]:
        """Each source once: the tables that rest on it, the rule, the source."""
        tables: dict[tuple[str, str], dict[str, None]] = {}
        for table, _, row in self.rows:
            tables.setdefault((row.rule, row.source), {})[table] = None
        return [[" ".join(told), *key] for key, told in tables.items()]


@dataclass(frozen=True)
class OpFacts:
    """operands, results: dtypes, None without an argument spec; slack: how wide the derived bounds were found to be."""

    op: str
    overloads: tuple[str, ...]
    meanings: tuple[Meaning, ...]
    operands: tuple[str, ...] | None
    results: tuple[str, ...]
    bounds: tuple[Bounds, ...]
    slack: tuple[slack.Slack, ...]
    rules: tuple[Rule, ...]


def op_facts(op: str) -> OpFacts:
    """Of an op, `aten::add`, or one of its overloads. UsageError for an op that torch does not have."""
    found = _overloads(op)
    spec = spec_of(op) or spec_of(found[0])
    borrowed = {name: _borrowed(name) for name in found}
    of_any = {dtype for name in found for dtype in result_dtypes(name)}
    return OpFacts(
        op=op,
        overloads=tuple(found),
        meanings=tuple(_meaning(name) for name in found),
        operands=spec.dtypes if spec else None,
        results=tuple(dtype for dtype in ALL if dtype in of_any),
        bounds=(*_own_bounds(borrowed), *(each for those in borrowed.values() for each in those)),
        slack=tuple(one for one in slack.figures() if one.op == packet(op)),
        rules=_rules(found),
    )


def tests_of(op: str, suites: Sequence[str]) -> list[Test]:
    """The tests of every overload."""
    loaded = load(suites, ops=(packet(op),))
    return [test for test in loaded.tests if isinstance(test.op, str) and packet(test.op) == packet(op)]


def _overloads(op: str) -> list[str]:
    """The overloads that have semantics; all of torch's if none has."""
    known = [schema(op).name] if "." in op else [one.name for one in overloads(op)]
    return [name for name in known if semantics.find(name)] or known


def _meaning(name: str) -> Meaning:
    found = semantics.find(name)
    if found is None:
        return Meaning(str(schema(name)), None, _like(name), _gradients(name))
    written = f"{', '.join(variant.into)}: " if (variant := variant_of(name)) else ""
    return Meaning(str(schema(name)), written + found.meaning, (), _gradients(name))


def _gradients(name: str) -> str | None:
    rule = rules.find(name)
    return rule and f"of {', '.join(rule.operands)}: {rule.text}"


def _like(name: str) -> tuple[str, ...]:
    """The ops of like name that have semantics, as `_softmax` of softmax and `native_layer_norm` of layer_norm."""
    base = packet(name).removeprefix("aten::")
    return tuple(sorted({packet(known) for known in semantics.names() if f"{_bare(known)}_".startswith(f"{base}_")}))


def _bare(name: str) -> str:
    return packet(name).removeprefix("aten::").lstrip("_").removeprefix("native_")


def _own_bounds(borrowed: Mapping[str, Sequence[Bounds]]) -> list[Bounds]:
    """Of each overload, beside what it has of other ops; once for those that share them."""
    sharing: dict[tuple, list[str]] = {}
    for name, others in borrowed.items():
        if any(one.operands == spec_of(name).dtypes for one in others):
            continue  # nothing is left to its own rows
        sharing.setdefault(_rows(name, result_dtypes(name)), []).append(name)
    return [
        Bounds(tuple(names_), rows, any(is_exact(dtype) for name in names_ for dtype in result_dtypes(name)))
        for rows, names_ in sharing.items()
    ]


def _borrowed(name: str) -> list[Bounds]:
    """Of a pointwise function of one tensor: what other ops' rows say of some of its operands' dtypes."""
    spec, definition, lenders = spec_of(name), semantics.find(name), {}
    if spec is None or definition is None or not definition.traits.pointwise:
        return []
    if [one.type for one in spec.schema.arguments] != ["Tensor"]:
        return []
    for dtype in spec.dtypes:
        for golden in evaluate(name, [np.ones(1, FORMATS[dtype].storage)], {}).goldens:
            if golden.bounded_as:
                operands, results = lenders.setdefault(golden.bounded_as, ({}, {}))
                operands[dtype] = results[golden.format.name] = None
    return [
        Bounds(
            (name,), _rows(lender, [dtype for dtype in ALL if dtype in results]),
            lender=lender, operands=tuple(operands),
        )
        for lender, (operands, results) in lenders.items()
    ]  # fmt: skip


def is_exact(dtype: str) -> bool:
    """Whether nothing rounds in it."""
    return FORMATS[dtype].kind.endswith(("int", "bool"))


def _rows(name: str, results: Sequence[str]) -> tuple[tuple[str, str, Row], ...]:
    dtypes = [dtype for dtype in results if not is_exact(dtype)]
    return tuple((table, dtype, contract_table(table).row(name, dtype)) for table in names() for dtype in dtypes)


def _rules(found: Sequence[str]) -> tuple[Rule, ...]:
    rules: dict[str, Rule] = {}
    for name in found:
        definition = semantics.find(name)
        rules |= {rule.number: rule for rule in rules_of(name, definition.function)} if definition else {}
    return tuple(rules.values())
