"""torch's operator schemas as data: parsing and look-up, without torch.

The schemas are those of the pinned torch (`data/aten_schemas.txt`, written by `tools/write_schemas.py`) and, in
`data/kit_schemas.txt`, those of operators that torch lacks and the kit gives goldens of.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conform.errors import UsageError, did_you_mean


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of an operator. `type` is torch's text without alias annotations, e.g. "SymInt[2]?"."""

    name: str
    type: str
    default: Any
    kwarg_only: bool
    has_default: bool
    is_written: bool


@dataclass(frozen=True, slots=True, eq=False)
class OpSchema:
    """`name` is "aten::add.Tensor" ("aten::relu" where the overload has no name); `returns` are types.

    `aliases`: of each result, whether it may share memory with an argument, as torch's schema says by `Tensor(a)`.
    """

    name: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]
    positional_count: int
    aliases: tuple[bool, ...]

    @property
    def packet(self) -> str:
        """The name without its overload: "aten::add"."""
        return self.name.partition(".")[0]

    @property
    def returns_number(self) -> bool:
        """Whether it gives a Python number, and no tensor."""
        return self.returns in (("Scalar",), ("bool",))

    def __str__(self) -> str:
        return next(line for line in _lines()[self.packet] if _full_name(line) == self.name)


# --- Look-up ----------------------------------------------------------------------------------------------------------


_DATA = tuple(Path(__file__).parent / "data" / name for name in ("aten_schemas.txt", "kit_schemas.txt"))


@functools.cache
def _lines() -> Mapping[str, list[str]]:
    """Schema lines by name without overload, in torch's order."""
    by_packet: dict[str, list[str]] = {}
    for file in _DATA:
        for line in file.read_text(encoding="utf-8").splitlines():
            by_packet.setdefault(_full_name(line).partition(".")[0], []).append(line)
    return by_packet


def _full_name(line: str) -> str:
    return line[: line.index("(")]


@functools.cache
def operator_names() -> frozenset[str]:
    """Every name a test may give: with its overload, and without."""
    names = {_full_name(line) for lines in _lines().values() for line in lines}
    return frozenset(names | _lines().keys())


@functools.cache
def schema(name: str) -> OpSchema:
    """The schema of exactly this name; `.default` is the overload without a name. UsageError with a suggestion if torch
    has none."""
    plain = name.removesuffix(".default")
    for line in _lines().get(plain.partition(".")[0], ()):
        if _full_name(line) == plain:
            return _parse(line)
    raise unknown_operator(name)


def parsed(line: str) -> OpSchema:
    """The schema that a line of text states; UsageError if it states none."""
    try:
        return _parse(line)
    except (ValueError, AssertionError, SyntaxError):
        expected = "NAMESPACE::NAME(TYPE NAME, ...) -> TYPE"
        raise UsageError(f"not an operator's schema: {line!r}; expected {expected}") from None


def define(line: str) -> OpSchema:
    """Add the operator of a schema line, a user's own; in place of one of its name that was added before."""
    found = parsed(line)
    others = [one for one in _lines().get(found.packet, []) if _full_name(one) != found.name]
    _lines()[found.packet] = [*others, line]  # type: ignore[index]
    for look_up in (operator_names, schema, overloads):
        look_up.cache_clear()
    return found


def unknown_operator(name: str) -> UsageError:
    """The error for a name that torch does not have, with the closest one that it has."""
    packet = name.partition(".")[0]
    if packet in _lines():
        choices = [_full_name(line) for line in _lines()[packet]]
        hint = did_you_mean(name, choices) or f"; its overloads are {', '.join(choices)}"
        return UsageError(f"operator {name!r}: torch's {packet} has no such overload{hint}")
    if "::" not in name and f"aten::{name}" in operator_names():
        return UsageError(f"operator {name!r} has no namespace; did you mean 'aten::{name}'?")
    return UsageError(f"unknown operator {name!r}{did_you_mean(name, operator_names())}")


@functools.cache
def overloads(packet: str) -> tuple[OpSchema, ...]:
    """The overloads that a call of the bare name may mean, in the order they are tried.

    Out variants and TorchScript's overloads for lists, strings and Python numbers take part only where the name has
    nothing else. UsageError if torch does not have the name.
    """
    if packet not in _lines():
        raise unknown_operator(packet)
    every = every_overload(packet)
    candidates = [one for one in every if not outs_of(one)] or every
    returning_tensors = [one for one in candidates if any("Tensor" in result for result in one.returns)]
    taking_tensors = [one for one in candidates if any("Tensor" in arg.type for arg in one.arguments)]
    return tuple(returning_tensors or taking_tensors or candidates)


def every_overload(packet: str) -> list[OpSchema]:
    """All overloads of a name, in torch's order; none of a name that torch does not have."""
    return [_parse(line) for line in _lines().get(packet, ())]


def outs_of(one: OpSchema) -> list[Argument]:
    """The arguments that are given for results to be written into."""
    return [argument for argument in one.arguments if argument.kwarg_only and argument.is_written]


# --- Parsing ----------------------------------------------------------------------------------------------------------

_ALIAS = re.compile(r"(?<=[\w\]?])\([a-z|!* >-]*\)")  # Tensor(a!), Tensor(a -> *), int[](a), Tensor(b|a)


@functools.cache
def _parse(line: str) -> OpSchema:
    end = _closing_parenthesis(line, line.index("("))
    name, inside, result = line[: line.index("(")], line[line.index("(") + 1 : end], line[end + len(") -> ") :]
    arguments, kwarg_only = [], False
    for part in _split(inside):
        if part == "*":
            kwarg_only = True
        elif part != "...":
            arguments.append(_parse_argument(part, kwarg_only))
    inner = result[1:-1] if result.startswith("(") and result.endswith(")") else result
    results = _split(inner)
    returns = tuple(_ALIAS.sub("", part).partition(" ")[0] for part in results)
    aliases = tuple(_ALIAS.search(part) is not None for part in results)
    return OpSchema(name, tuple(arguments), returns, sum(not one.kwarg_only for one in arguments), aliases)


def _parse_argument(text: str, kwarg_only: bool) -> Argument:
    declaration, equals, default = text.partition("=")
    annotated, _, name = declaration.rpartition(" ")
    type_ = _ALIAS.sub("", annotated)
    return Argument(
        name, type_, default=_parse_default(default, type_) if equals else None, kwarg_only=kwarg_only,
        has_default=bool(equals), is_written="!" in annotated,
    )  # fmt: skip


# torch's numbers of dtypes (c10/core/ScalarType.h), by which a schema names a default
_SCALAR_TYPES = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64"}


def _parse_default(text: str, type_: str) -> Any:
    """The default as a Python value; one number for a list of n stands for n of them."""
    value = ast.literal_eval(text)
    if type_.startswith("ScalarType") and isinstance(value, int):
        return _SCALAR_TYPES[value]
    size = re.fullmatch(r"\w+\[(\d+)\]\??", type_)
    return [value] * int(size[1]) if size and isinstance(value, int | float) else value


_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|.', re.DOTALL)


def _split(text: str) -> list[str]:
    """The parts between commas that stand outside brackets and strings."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(text):
        depth += (token in "([") - (token in ")]")
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts if part.strip()]


def _closing_parenthesis(line: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(line)):
        depth += (line[at] == "(") - (line[at] == ")")
        if depth == 0:
            return at
    raise AssertionError(f"unbalanced schema {line!r}")
