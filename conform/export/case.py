"""One case: what is called, its inputs as a backend gets them, and what may come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from conform import time_limit
from conform.call.bound import Bound, bound_call
from conform.contracts.tables import Table, contract_table
from conform.errors import UsageError
from conform.explain.case import find_case
from conform.export.allowed import Allowed, allowed
from conform.frontends.called import called
from conform.frontends.stablehlo_called import ProgramCall
from conform.frontends.stablehlo_suite import loaded
from conform.inputs.layouts import logical
from conform.interp.evaluate import evaluate_call
from conform.suites.cases import Case, beyond_the_kit


@dataclass(frozen=True)
class Exported:
    """A case with the arrays that it is called with, by the names of its arguments, and what each output may be.
    `program`: what is called, if it is a StableHLO program."""

    case: Case
    call: Bound
    outputs: tuple[Allowed, ...]
    contract: str
    seed: int
    program: ProgramCall | None = None

    @property
    def arguments(self) -> Mapping[str, Any]:
        return self.call.arguments

    @property
    def tensors(self) -> Mapping[str, np.ndarray]:
        """The tensors among the arguments; of a list of them each by its place in it."""
        found: dict[str, np.ndarray] = {}
        for name, value in self.arguments.items():
            several = value if isinstance(value, list | tuple) else [value]
            for at, one in enumerate(several):
                if isinstance(one, np.ndarray | np.generic):
                    found[f"{name}.{at}" if several is value else name] = np.asarray(one)
        return found


def exported(
    case_id: str, suites: Sequence[str], seed: int, contract: str,
    golden_timeout_s: float = time_limit.GOLDEN_TIMEOUT_S, arguments: Path | None = None,
) -> Exported:  # fmt: skip
    """The case of that id in these suites, judged by that contract; `arguments`: the npz file that a program gets.

    UsageError if there is none, Unjudged where no range of numbers is what is right, or where that takes longer than
    `golden_timeout_s` to be known, InvalidArguments for a call that must be refused.
    """
    case = find_case(case_id, loaded(suites, seed, (case_id,), contract, arguments), seed)
    if (reason := beyond_the_kit(case.draw.test)) is not None:
        raise UsageError(f"case {case_id!r} cannot be exported: {reason}")
    if case.draw.test.domain and case.draw.test.domain.broken:
        raise UsageError(f"case {case_id!r} cannot be exported: a backend must refuse it, so nothing comes out")
    program = called(case.draw) if case.draw.test.is_module else None
    if program is not None and not isinstance(program, ProgramCall):
        raise UsageError(f"case {case_id!r} cannot be exported: a module of torch is no single op; conform bisect "
                         "makes cases of its ops")  # fmt: skip
    plain = logical(case.arguments(case.draw.arguments()))
    call = bound_call(case.op, plain.args, plain.kwargs) if program is None else program.bound(plain.args)
    outputs = partial(outputs_of, case.op, call, contract_table(contract))
    found = time_limit.or_unjudged(f"the golden of {case.id}", golden_timeout_s, outputs)
    return Exported(case, call, found, contract, seed, program)


def outputs_of(op: str, call: Bound, table: Table) -> tuple[Allowed, ...]:
    """What each output of the call may be. Unjudged where that is no range of numbers."""
    goldens = evaluate_call(call).goldens
    return tuple(allowed(golden, table.row_of(op, golden), dict(call.arguments)) for golden in goldens)
