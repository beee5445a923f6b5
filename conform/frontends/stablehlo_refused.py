"""Which constraint of its specification an op breaks that the parser refuses.

An op of a name that no dialect has is not verified. So the op that was refused, where it is spelled generically, is
read again under such a name, and its meaning is asked on zeros: it names the first constraint that types and attributes
break.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conform.errors import ConformError, InvalidArguments, Unjudged
from conform.frontends.stablehlo_attributes import value_of
from conform.interp.program.form import Function, Op
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.processes import Process
from conform.interp.stablehlo.quantization import format_held, quantization_of
from conform.interp.stablehlo.values import TOKEN, Tensor, Token, Tuple

UNVERIFIED = "unverified."
_PLACE = re.compile(r'"-":(\d+):(\d+)')
_OP = re.compile(r'"stablehlo\.(\w+)"')
_QUANTIZED = re.compile(r"tensor<[\dx?]*!quant\.uniform<(?:[^<>]|<[^<>]*>)*>>")
_SHOWN = "see current operation: "
_TYPES = re.compile(r": \((.*)\) -> .*$", re.DOTALL)

Functions = Callable[[str], dict[str, Function]]  # what is read of a program's text; ConformError where it is refused


def constraint_of(diagnostic: Any, text: str, functions: Functions) -> str:
    """`stablehlo.add: operands of the types ..., against constraint (C1) of its specification`, or nothing: for an op
    in a spelling of its own, and where no constraint that its meaning checks before it computes is broken."""
    for spelled in _unverified(diagnostic, text):
        try:
            found = functions(spelled)
        except ConformError:
            continue
        for op, types in _ops(found.values()):
            if op.name.startswith(UNVERIFIED):
                return _broken(replace(op, name=op.name.replace(UNVERIFIED, "stablehlo.")), types)
    return ""


def constraint_of_types(diagnostic: Any, text: str) -> str:
    """The same of the quantized types in the line that was refused."""
    place = _PLACE.search(str(diagnostic.location))
    lines = text.splitlines()
    if place is None or int(place[1]) > len(lines):
        return ""
    for found in _QUANTIZED.finditer(lines[int(place[1]) - 1]):
        try:
            value_of("", found[0])
        except InvalidArguments as error:
            return str(error)
        except Unjudged:
            continue  # the parser's words are all that there is
    return ""


def _unverified(diagnostic: Any, text: str) -> Iterator[str]:
    """Programs with the refused op under another name: the text itself, or one of what the parser shows of the op."""
    place = _PLACE.search(str(diagnostic.location))
    if place:
        start = sum(len(line) for line in text.splitlines(keepends=True)[: int(place[1]) - 1]) + int(place[2]) - 1
        if match := _OP.match(text, start):
            yield text[:start] + f'"{UNVERIFIED}{match[1]}"' + _plain(text[match.end() :])
    for note in diagnostic.notes:
        shown = note.message.removeprefix(_SHOWN)
        match, types = _OP.search(shown), _TYPES.search(shown)
        if shown != note.message and match and types and match[1] != "composite":  # whose function is not shown
            names = re.findall(r"%[\w#]+", shown[match.end() : shown.index(")", match.end())])
            listed = dict(zip(names, re.split(r", (?![^<]*>)", types[1]), strict=False))
            arguments = ", ".join(f"{name}: {type_}" for name, type_ in listed.items())
            body = shown[: match.start()] + f'"{UNVERIFIED}{match[1]}"' + _plain(shown[match.end() :])
            yield f"func.func @shown({arguments}) {{\n{body}\nreturn\n}}"


def _plain(rest: str) -> str:
    """What stands behind an op's name, its properties as attributes."""
    return re.sub(r"\A(\([^)]*\)) *<\{(.*?)\}>", r"\1 {\2}", rest, count=1, flags=re.DOTALL)


Types = dict[str, tuple[str, tuple[int | None, ...]]]


def _ops(functions: Any) -> Iterator[tuple[Op, Types]]:
    """Every op, those of regions too, with the types of all values so far."""
    types: Types = {}
    waiting = list(functions)
    while waiting:
        function = waiting.pop(0)
        types |= {one.name: (one.dtype, one.shape) for one in function.arguments}
        for op in function.ops:
            yield op, types
            types |= {one.name: (one.dtype, one.shape) for one in op.results}
            waiting += op.regions


class _Asked(Exception):
    """A meaning has seen to its constraints, and begins to compute."""


@dataclass(frozen=True)
class _Shown:
    """A region that is looked at, and not run."""

    function: Function
    scope: dict[str, Any]

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        raise _Asked


def _broken(op: Op, types: Types) -> str:
    held = {name: _zeros(*types[name]) for name in types}
    regions = [_Shown(one, held) for one in op.regions]
    try:
        StableHLO(Process())(op, [held[name] for name in op.operands], op.attributes, *regions)
    except InvalidArguments as error:
        return str(error)
    except (_Asked, ConformError, AttributeError, ValueError, TypeError, LookupError, ArithmeticError):
        return ""  # so malformed that its meaning cannot even read it, or in order as far as the kit can tell
    return ""


def _zeros(dtype: str, shape: tuple[int | None, ...]) -> Any:
    if dtype == TOKEN:
        return Token()
    if dtype.startswith("tuple<"):
        parts = re.findall(r"(?:[^,<]|<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)+", dtype[len("tuple<") : -1])
        values = [value_of("", part.strip()) for part in parts]
        return Tuple(tuple(_zeros(one.dtype, one.shape) for one in values))
    zero = np.zeros((), format_held(dtype).storage)
    return Tensor(np.broadcast_to(zero, [size or 0 for size in shape]), quantization_of(dtype))
