"""One file: its programs, the functions of them that are run, and what came of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from conform.errors import ConformError, Unjudged, UsageError, did_you_mean
from conform.frontends.stablehlo import Source, asked_functions, input_array, read
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Function, Program
from conform.interp.stablehlo.checks import Check
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.processes import Told
from conform.interp.stablehlo.quantization import quantization_of
from conform.interp.stablehlo.values import Tensor


@dataclass(frozen=True)
class Ran:
    """A function that was run: its results and checks, or the error that ended it."""

    name: str
    results: tuple[Any, ...] = ()
    told: Told = field(default_factory=Told)
    error: ConformError | None = None

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(self.told.checks)


@dataclass
class File:
    """A file that was read: what ran of it, or why it could not be read."""

    path: Path
    ran: list[Ran] = field(default_factory=list)
    error: ConformError | None = None

    def errors(self) -> list[ConformError]:
        return [one for one in (self.error, *(ran.error for ran in self.ran)) if one is not None]

    def checks(self) -> list[Check]:
        return [check for ran in self.ran for check in ran.checks]

    @property
    def exit_code(self) -> int:
        """1 a check failed; 2 bad input; 3 without a meaning; 70 a defect of the kit; 0."""
        codes = {one.exit_code for one in self.errors()}
        failed = {1} if any(check.failure for check in self.checks()) else set()
        return next((code for code in (70, 1, 2, 3) if code in codes | failed), 0)


def run_file(path: Path, function: str | None, arguments: Sequence[np.ndarray]) -> File:
    """What came of a file; nothing is raised but what is no ConformError."""
    found = File(path)
    try:
        sources = read(path)
        asked = [(source, name) for source in sources for name in asked_functions(source, function)]
        if function is not None and not asked:
            known = sorted({name for source in sources for name in source.functions})
            raise UsageError(
                f"{path}: no function @{function}{did_you_mean(function, known)}; there are {_named(known)}"
            )
    except ConformError as error:
        found.error = error
        return found
    for source, name in asked:
        found.ran.append(_run(source, name, arguments))
    return found


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"@{name}" for name in names) or "none"


def _run(source: Source, name: str, arguments: Sequence[np.ndarray]) -> Ran:
    op_set = StableHLO()
    try:
        inputs = _inputs(source, name, source.functions[name], arguments)
        results = evaluate(Program(source.functions[name]), op_set, inputs)
    except ConformError as error:
        return Ran(name, told=op_set.process.told, error=error)
    return Ran(name, results, op_set.process.told)


def _inputs(source: Source, name: str, function: Function, arguments: Sequence[np.ndarray]) -> list[Tensor]:
    if len(arguments) != len(function.arguments):
        stated = ", ".join(map(str, function.arguments))
        raise UsageError(f"{source.file}: function @{name} takes {len(function.arguments)} arguments ({stated}), "
                         f"{len(arguments)} are given: --args FILE.npz holds them")  # fmt: skip
    where = f"{source.file}: argument {{}} of @{name}"
    return [Tensor(input_array(where.format(at), one, value), quantization_of(value.dtype))
            for at, (one, value) in enumerate(zip(arguments, function.arguments, strict=True))]  # fmt: skip


def tensors(files: Sequence[File]) -> Mapping[str, np.ndarray]:
    """The results by their names in an npz file. UsageError where two functions have one name, Unjudged for what is no
    tensor."""
    found: dict[str, np.ndarray] = {}
    for ran in (ran for file in files for ran in file.ran):
        for at, one in enumerate(ran.results):
            if not isinstance(one, Tensor):
                raise Unjudged(f"--out holds tensors alone: result {at} of @{ran.name} is {one}")
            if f"{ran.name}.{at}" in found:
                raise UsageError(f"--out: two functions are named @{ran.name}: name one file")
            found[f"{ran.name}.{at}"] = one.array
        for probe, kept in ran.told.probed.items():
            found |= {f"{ran.name}.{probe}.{at}": one.array for at, one in enumerate(kept)}
    return found
