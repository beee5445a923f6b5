"""StableHLO files as suites: a test a function, whose inputs are drawn by their types, or given."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from conform.errors import UsageError
from conform.frontends.stablehlo import (
    Source,
    asked_functions,
    input_array,
    load_arrays,
    parse,
    text_of,
    texts_of,
)
from conform.frontends.stablehlo_called import OF_THE_INTERPRETER, ProgramCall
from conform.frontends.stablehlo_checks import CHECKS, Limit, limits_of
from conform.frontends.stablehlo_engine import MAIN, for_engines
from conform.interp.program.form import Value
from conform.numerics.formats import FORMATS
from conform.suites import load
from conform.suites.builtin import PROGRAMS, is_of_programs
from conform.suites.dtypes import kind_of
from conform.suites.nodes import ClassPath, Draw, Given, Node, Tensor
from conform.suites.test import ModuleSpec, Suite, Test

_DRAWS = {
    "float": Draw("normal"), "complex": Draw("normal"), "int": Draw("randint"), "bool": Draw("bernoulli"),
}  # fmt: skip
_POSITIVE = Draw("uniform", 0.5, 2.0)  # of formats without a sign


@dataclass(frozen=True)
class _File:
    """A file as it is named, and as records name it."""

    path: Path
    recorded: str
    contract: str
    arrays: tuple[np.ndarray, ...] | None


def loaded(
    names: Sequence[str], seed: int, ids: Sequence[str], contract: str = "opencl", arguments: Path | None = None
) -> Suite:
    """The suites of these names, or the files of StableHLO programs: of cases with these ids, as far as that saves
    time; `arguments` as of `suite_of`. UsageError for some of both, and for arguments of no program."""
    are_programs = list(map(is_of_programs, names))
    if any(are_programs) and not all(are_programs):
        raise UsageError("StableHLO programs and other suites are asked for apart: name either")
    if any(are_programs):
        return suite_of(names, contract, arguments)
    if arguments is not None:
        raise UsageError(f"--args is what a StableHLO program gets; there is no {PROGRAMS} file among the suites")
    return load(names, seed=seed, ids=ids)


def suite_of(names: Sequence[str], contract: str = "opencl", arguments: Path | None = None) -> Suite:
    """The functions of these files, each a test: of every program main, or else every function without arguments, or
    else all. `arguments`: an npz file with what the one function gets. Judged by the contract `stablehlo` they are what
    the specification's interpreter makes of them.

    UsageError, with file and line, for what cannot be read, parsed or called.
    """
    arrays = None if arguments is None else tuple(load_arrays(arguments))
    digest, tests, recorded = hashlib.sha256(), [], []
    for name in dict.fromkeys(names):
        path = Path(name)
        recorded.append(_recorded(path.name, recorded))
        tests += _tests(_File(path, recorded[-1], contract, arrays))
        digest.update(path.read_bytes())
    if arrays is not None:
        if len(tests) != 1:
            raise UsageError(f"--args: {len(tests)} functions are to be called; expected one, which takes them")
        digest.update(arguments.read_bytes())
    return Suite(list(dict.fromkeys(names)), recorded, tuple(tests), f"sha256:{digest.hexdigest()}")


def _recorded(base: str, others: Sequence[str]) -> str:
    """`a.mlir#2` of the second file of this name."""
    same = sum(one.partition("#")[0] == base for one in others)
    return f"{base}#{same + 1}" if same else base


def _tests(file: _File) -> list[Test]:
    found: list[Test] = []
    counted: Counter[str] = Counter()
    for text in texts_of(text_of(file.path), str(file.path)):
        source = parse(text, str(file.path))
        for name in asked_functions(source, None):
            counted[name] += 1
            suffix = f"#{counted[name]}" if counted[name] > 1 else ""
            found += _of_function(file, text, source, name, f"{file.recorded}@{name}{suffix}")
    return found


def _of_function(file: _File, text: str, source: Source, name: str, called: str) -> list[Test]:
    """The function as one test, or by its checks a test each."""
    where = f"{file.path}:{_line(text, name) or source.line}"
    if file.contract != CHECKS:
        return [_test(file, text, name, called, where)]
    limits = limits_of(source.functions[name])
    if not limits:
        raise UsageError(f"{where}: function @{name} checks nothing, by which it could be judged")
    lines = [one.location.rpartition(":")[2] for one in limits]
    names = [f"{called}:{line}" + (f"#{at}" if lines.count(line) > 1 else "") for at, line in enumerate(lines)]
    return [
        _test(file, text, name, own, limit.location, at, limit)
        for at, (own, limit) in enumerate(zip(names, limits, strict=True))
    ]


def _line(text: str, name: str) -> int | None:
    """That at which a function begins."""
    found = re.search(rf"\bfunc\.func\b[^@\n]*@\"?{re.escape(name)}\b", text)
    return found and text.count("\n", 0, found.start()) + 1


def _test(
    file: _File, text: str, name: str, called: str, location: str, check: int | None = None, limit: Limit | None = None
) -> Test:
    alone, source = for_engines(text, str(file.path), name, check)
    function = source.functions[MAIN]
    if not function.results:
        raise UsageError(f"{location}: function @{name} returns and checks nothing: there is nothing to judge")
    call = ProgramCall(called, alone, function, file.contract in OF_THE_INTERPRETER, limit)
    spec = ModuleSpec(ClassPath(called), (), {}, call, takes_any_floats=True)
    return Test(
        called, spec, _inputs(file, name, function.arguments), {},
        device=None, cast_input0_to_complex=False, impl=None, pair=None, location=location, arguments_at=location,
        builtin=False, recorded_at=f"{file.recorded}:{location.rpartition(':')[2]}",
    )  # fmt: skip


def _inputs(file: _File, name: str, arguments: Sequence[Value]) -> tuple[Node, ...]:
    where = f"{file.path}: argument {{}} of @{name}"
    if file.arrays is None:
        return tuple(_drawn(where.format(at), one) for at, one in enumerate(arguments))
    if len(file.arrays) != len(arguments):
        stated = ", ".join(map(str, arguments))
        raise UsageError(f"{file.path}: function @{name} takes {len(arguments)} arguments ({stated}), --args has "
                         f"{len(file.arrays)}")  # fmt: skip
    pairs = enumerate(zip(file.arrays, arguments, strict=True))
    return tuple(Given(input_array(where.format(at), array, value)) for at, (array, value) in pairs)


def _drawn(where: str, value: Value) -> Tensor:
    if value.dtype not in FORMATS:
        raise UsageError(f"{where}: found {value}, expected a tensor: no backend is sent anything else")
    if None in value.shape:
        raise UsageError(f"{where}: found {value}, of an open size; --args FILE.npz gives one")
    fmt, kind = FORMATS[value.dtype], kind_of(value.dtype)
    is_signed = kind in ("int", "bool") or (fmt.component if fmt.is_complex else fmt).is_signed
    return Tensor(value.shape, kind, value.dtype, _DRAWS[kind] if is_signed else _POSITIVE)
