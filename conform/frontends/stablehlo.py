"""StableHLO files as programs: parsed by jaxlib's bindings of MLIR, in the form of the kit.

The parser also verifies what it reads; what it refuses is told with the file and the line, and where an op breaks a
constraint of its specification that the kit knows, under the constraint's name (`stablehlo_refused.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from conform.errors import InvalidArguments, Unjudged, UsageError
from conform.foreign import line
from conform.frontends.stablehlo_attributes import attribute, value_of
from conform.frontends.stablehlo_refused import UNVERIFIED, constraint_of, constraint_of_types
from conform.frontends.stablehlo_resources import with_resources
from conform.frontends.stablehlo_text import generic_checks, programs
from conform.frontends.stablehlo_unparsed import refuse_unparsed
from conform.interp.program.form import Function, Op, Value
from conform.interp.stablehlo.quantization import format_held

MISSING = "StableHLO needs jaxlib: pip install 'conform[stablehlo]'"
_PLACE = re.compile(r'"-":(\d+):\d+')
_DENSE = re.compile(r"dense<.*?> : tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>", re.DOTALL)
RETURNS = ("func.return", "stablehlo.return")
# Attributes that name functions, which the op is to run.
CALLEES = {"func.call": ("callee",), "stablehlo.composite": ("decomposition",)}
PROGRAMS = {"interpreter.run_parallel": ("programs", "infeed")}


@dataclass(frozen=True)
class Source:
    """One program of a file: its functions by name, and the line at which it begins."""

    file: str
    line: int
    functions: dict[str, Function]


def read(path: Path) -> list[Source]:
    """The programs of a file. UsageError, with file and line, for one that cannot be read or parsed; Unjudged for types
    without a meaning."""
    return [parse(one, str(path)) for one in texts_of(text_of(path), str(path))]


def texts_of(text: str, file: str) -> list[str]:
    """The programs of a text. UsageError where there is none."""
    found = programs(text)
    if not found:
        raise UsageError(f"{file}: there is no program in it")
    return found


def text_of(path: Path) -> str:
    """The text of a file. UsageError for one that cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'it is no UTF-8 text'}"
        ) from None


def parse(text: str, file: str) -> Source:
    """One program."""
    generic = _plain(text, file)
    begin = len(text) - len(text.lstrip("\n")) + 1
    try:
        return Source(file, begin, _functions(generic, file))
    except _Refused as refusal:
        raise UsageError(_told(refusal.error, generic, file)) from None


def parsed(text: str, file: str) -> Any:
    """The module of one program, as MLIR's bindings have it. UsageError, with file and line, for one that is refused.
    """
    generic = _plain(text, file)
    try:
        return _module(generic)
    except _Refused as refusal:
        raise UsageError(_told(refusal.error, generic, file)) from None


def named(names: Any) -> list[str]:
    """The names of functions in a list, or in rows of lists."""
    return [names] if isinstance(names, str) else [name for one in names for name in named(one)]


def _plain(text: str, file: str) -> str:
    """The program in what the parser knows, and does not fail at. UsageError, with file and line, where none is."""
    refuse_unparsed(text, file)
    return generic_checks(with_resources(text, file), file)


class _Refused(UsageError):
    """The parser's error."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error


def _module(generic: str) -> Any:
    ir = _ir()
    try:
        return ir.Module.parse(generic, _context())
    except ir.MLIRError as error:
        raise _Refused(error) from None


def _functions(generic: str, file: str) -> dict[str, Function]:
    return Reader(file).functions(_module(generic))


def _told(error: Any, generic: str, file: str) -> str:
    """What the parser says, with places in the file, and the constraints that are broken."""
    lines = []
    for one in error.error_diagnostics:
        where = place(str(one.location), file)
        lines.append(f"{where}: {line(one.message, 300)}")
        named = constraint_of(one, generic, lambda text: _functions(text, file))
        if named := named or constraint_of_types(one, generic):
            lines.append(f"{where}: {line(named, 300)}")
    return "\n".join(dict.fromkeys(lines)) or f"{file}: {line(str(error), 300)}"


def place(location: str, file: str) -> str:
    """`file:12` of the parser's location, or of what the file itself says: `file (model.py:3)`."""
    match = _PLACE.search(location)
    if match:
        return f"{file}:{match[1]}"
    said = location.removeprefix("loc(").removesuffix(")")
    return f"{file} ({line(said, 100)})" if said != "unknown" else file


@cache
def _ir() -> Any:
    try:
        from jaxlib.mlir import ir
    except ImportError:
        raise UsageError(MISSING) from None
    return ir


@cache
def _context() -> Any:
    """With the dialects of programs; ops of others are read in their generic spelling."""
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext, _stablehlo
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo

    context, registry = _ir().Context(), _ir().DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    sdy.register_dialect(context)
    context.allow_unregistered_dialects = True
    _stablehlo.register_stablehlo_passes()
    with context, _ir().Location.unknown():
        _load_quantized_types()
    return context


def _load_quantized_types() -> None:
    """The dialect of quantized types has no binding of its own; what does is a pass that may make such types, and so
    brings the dialect into the context when it runs, on whatever it runs."""
    from jaxlib.mlir.passmanager import PassManager

    PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)").run(_ir().Module.create().operation)


class Reader:
    """A parsed module in the form of the kit; every value gets a name of its own."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.names: dict[Any, str] = {}
        self.sources: dict[str, Any] = {}
        self.found: dict[str, Function] = {}
        self.open: list[str] = []

    def functions(self, module: Any) -> dict[str, Function]:
        for op in module.body.operations:
            if op.operation.name == "func.func":
                self.sources[str(op.operation.attributes["sym_name"])[1:-1]] = op.operation
        return {name: self.function(name) for name in self.sources}

    def function(self, name: str) -> Function:
        """A function by its name; UsageError for one that is not there, or calls itself."""
        if name in self.open or name not in self.sources:
            raise UsageError(f"{self.file}: function @{name} {'calls itself' if name in self.open else 'is not there'}")
        if name not in self.found:
            self.open.append(name)
            source = self.sources[name]
            self.found[name] = self.region(source.regions[0], self.place(source))
            self.open.pop()
        return self.found[name]

    def region(self, region: Any, where: str) -> Function:
        blocks = list(region.blocks)
        if len(blocks) != 1:
            raise UsageError(f"{where}: a region of {len(blocks)} blocks, expected one")
        arguments = tuple(self.value(one, where) for one in blocks[0].arguments)
        ops = [one.operation for one in blocks[0].operations]
        if not ops or ops[-1].name not in RETURNS:
            raise UsageError(f"{where}: a region without a return")
        steps = tuple(self.op(one) for one in ops[:-1])
        return Function(arguments, steps, tuple(self.names[one] for one in ops[-1].operands))

    def value(self, value: Any, where: str = "") -> Value:
        """A value of an op at `where`, which is told of a type without a meaning, or that breaks a constraint."""
        name = self.names.setdefault(value, f"%{len(self.names)}")
        try:
            return value_of(name, str(value.type))
        except (InvalidArguments, Unjudged) as error:
            raise type(error)(f"{where}: {error}") from None

    def op(self, op: Any) -> Op:
        where = self.place(op)
        operands = tuple(self.names[one] for one in op.operands)
        attributes = dict(self.attributes(op))
        regions = [self.region(one, where) for one in op.regions if len(one.blocks)]
        for name in CALLEES.get(op.name.replace(UNVERIFIED, "stablehlo."), ()):
            callee = attributes.pop(name)
            if callee in self.sources or not op.name.startswith(UNVERIFIED):
                regions.append(self.function(callee))
        for name in PROGRAMS.get(op.name, ()):
            regions += [self.function(one) for one in named(attributes.get(name, ()))]
        results = tuple(self.value(one, where) for one in op.results)
        return Op(op.name, operands, attributes, results, where, tuple(regions))

    def attributes(self, op: Any) -> Iterator[tuple[str, Any]]:
        """Those that have a meaning: names with a dot are notes for other tools."""
        for name in op.attributes:
            name = name if isinstance(name, str) else name.name
            if "." in name:
                continue
            try:
                text = str(op.attributes[name])
            except TypeError:  # constants of complex numbers have no class in the bindings
                text = _DENSE.search(str(op))[0]
            yield name, attribute(text)

    def place(self, op: Any) -> str:
        return place(str(op.location), self.file)


# --- What of a program is run, and on what ----------------------------------------------------------------------------


def asked_functions(source: Source, function: str | None) -> list[str]:
    """The functions of a program that are run: `function` if it is named, else main, else every one without arguments,
    else all."""
    if function is not None:
        return [function] if function in source.functions else []
    if "main" in source.functions:
        return ["main"]
    started = {name for one in source.functions.values() for op in one.ops for name in _started(op)}
    free = [name for name, one in source.functions.items() if not one.arguments and name not in started]
    return free or list(source.functions)


def _started(op: Op) -> list[str]:
    """The functions that an op runs as processes of a grid: they are no programs by themselves."""
    return [name for key in PROGRAMS.get(op.name, ()) for name in named(op.attributes.get(key, ()))]


def input_array(where: str, array: np.ndarray, value: Value) -> np.ndarray:
    """An array in the storage of its format: numpy's files keep that of small formats as bytes alone. UsageError, which
    begins with `where`, for one that is not of the argument's type."""
    storage = format_held(value.dtype).storage
    if array.dtype.kind == "V" and array.dtype.itemsize == storage.itemsize:
        array = array.view(storage)
    if array.dtype != storage or not value.holds(value.dtype, array.shape):
        held = "" if value.dtype == format_held(value.dtype).name else f", held as {storage}"
        raise UsageError(f"{where}: found {array.dtype}{list(array.shape)}, expected {value}{held}")
    return array


def load_arrays(path: Path | None) -> list[np.ndarray]:
    """The arrays of an npz file, in its order. UsageError where it cannot be read."""
    if path is None:
        return []
    try:
        with np.load(path, allow_pickle=False) as file:
            return [file[name] for name in file.files]
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, AttributeError, EOFError, BadZipFile):
        raise UsageError(f"{path}: no npz file of arrays, as numpy.savez writes them (objects are not read)") from None
