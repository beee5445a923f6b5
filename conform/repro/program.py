"""A failing case of a StableHLO program: cut down to the op that fails by itself, as a file that checks itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from conform.call.arguments import Arguments
from conform.contracts.tables import Table
from conform.errors import NoGolden, Unjudged, UsageError
from conform.export.case import Exported, outputs_of
from conform.export.stablehlo import text
from conform.foreign import line
from conform.frontends.stablehlo_called import ProgramCall
from conform.frontends.stablehlo_cut import Piece, called_by, pieces
from conform.frontends.stablehlo_engine import with_constants
from conform.frontends.stablehlo_suite import suite_of
from conform.report.schema import Invocation, Record
from conform.repro.script import Finding
from conform.repro.shrink import Candidate
from conform.repro.written import Written
from conform.suites import Suite
from conform.suites.builtin import is_of_programs
from conform.suites.cases import CONSTANTS, Case


def is_run_of_programs(invocation: Invocation) -> bool:
    """Whether what it ran were files of StableHLO programs."""
    return any(map(is_of_programs, invocation.suites))


def suite_of_run(invocation: Invocation) -> Suite:
    """The programs of a run, with the arguments that it gave them."""
    arguments = None if invocation.args is None else Path(invocation.args)
    return suite_of(invocation.suites, invocation.contract, arguments)


def require_reducible(case: Case, as_yaml: bool) -> None:
    """UsageError for a case that has no file of its own."""
    if as_yaml:
        raise UsageError(f"case {case.id!r} is a program, which no suite file holds: leave out --yaml")
    if case.layout == CONSTANTS:
        raise UsageError(f"case {case.id!r} cannot be reduced: its inputs stand in the program, so what the compiler "
                         "makes of them is its finding; conform fold says what it should be")  # fmt: skip


@dataclass(frozen=True)
class Smallest:
    """What fails: a piece of the program, or None for the whole, with its call and what it gets."""

    finding: Finding
    call: ProgramCall
    arrays: tuple[np.ndarray, ...]
    piece: Piece | None = None


Try = Callable[[ProgramCall, Candidate], Finding]


def smallest_of(whole: ProgramCall, first: Finding, tried: Try) -> Smallest:
    """The first op of the program that fails by itself as `first`, the finding of the whole, does; else the whole."""
    arrays = tuple(first.candidate.placed().args)
    try:
        for piece in pieces(whole, arrays):
            try:
                found = tried(piece.call, Candidate(whole.op, Arguments(list(piece.arrays))))
            except NoGolden:  # tensors that travel to no backend
                continue
            if found.verdict.status == first.verdict.status:
                return _within(Smallest(found, piece.call, piece.arrays, piece), tried)
    except Unjudged:  # the interpreter has no meaning for an op, or no numbers
        pass
    return Smallest(first, whole, arrays)


def _within(smallest: Smallest, tried: Try) -> Smallest:
    """The op of the function that fails, where the piece calls one."""
    callee = called_by(smallest.piece)
    if callee is None:
        return smallest
    first = tried(callee, smallest.finding.candidate)
    if first.verdict.status != smallest.finding.verdict.status:
        return smallest
    inner, outer = smallest_of(callee, first, tried), smallest.piece
    if inner.piece is None:
        return smallest
    return replace(inner, piece=replace(inner.piece, op=f"{inner.piece.op} in {outer.op}", location=outer.location))


def written(smallest: Smallest, case: Case, record: Record, table: Table) -> Written:
    """The file. What it should give stands in it, where that is a range of numbers."""
    contract, call = record.environment.invocation.contract, smallest.call.bound(smallest.arrays)
    head = _head(smallest, record)
    try:
        outputs = outputs_of(case.op, call, table)
    except Unjudged as reason:
        told = f"// What it should give is not in it: {line(str(reason), 200)}. conform interpret gives it.\n"
        return Written(head + told + with_constants(smallest.call.text, case.op, smallest.arrays))
    return Written(head + text(Exported(case, call, outputs, contract, record.seed, smallest.call)))


def _head(smallest: Smallest, record: Record) -> str:
    verdict, piece, told = smallest.finding.verdict, smallest.piece, record.backend
    version = f" {line(told.version)}" if told.version else ""
    cut = "No op of it fails by itself."
    if piece is not None:
        cut = f"Cut down to {piece.op} ({line(piece.location)}), on what it has there if each result before is rounded."
    return (
        f"// {verdict.op} on {line(told.name)}{version}: {line(verdict.reason or verdict.status, 300)}\n// {cut}\n"
        f"// Found by {record.kit.name} {record.kit.version}, case {verdict.id}, seed {record.seed}.\n"
    )
