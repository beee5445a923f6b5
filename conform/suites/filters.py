"""The globs of `--op` and `--id`: what they match, and what they may match before cases are made."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import filter as matching
from fnmatch import fnmatchcase

from conform.call.schemas import operator_names, overloads
from conform.errors import UsageError

_WILDCARDS = "*?["


def matches_op(op: str, glob: str) -> bool:
    """Whether the glob names the op, with its overload (`.default` where that has no name) or without."""
    packet, _, overload = op.partition(".")
    return any(fnmatchcase(name, glob) for name in (op, packet, f"{packet}.{overload or 'default'}"))


def names_an_operator(glob: str) -> bool:
    """Whether there is an operator like the glob, whatever it says of overloads."""
    packet = glob.partition(".")[0]
    return packet in operator_names() or bool(matching(operator_names(), packet))


def matches_id(case_id: str, glob: str) -> bool:
    """Whether the glob, or an id that has wildcards in it itself, names the case."""
    return case_id == glob or fnmatchcase(case_id, glob)


def may_match_op(op: str, globs: Sequence[str]) -> bool:
    """Whether a call of `op`, written with its overload or without, may be one of the ops that the globs name."""
    if not globs:
        return True
    try:
        written = [op] if "." in op else [op, *(one.name for one in overloads(op))]
    except UsageError:  # a module's path
        written = [op]
    return any(matches_op(name, glob) for name in written for glob in globs)


def may_match_id(start: str, globs: Sequence[str]) -> bool:
    """Whether an id that starts so may match one of the globs, by what stands before their first wildcard."""
    literal = [glob[: min([len(glob), *(glob.find(mark) for mark in _WILDCARDS if mark in glob)])] for glob in globs]
    return not globs or any(start.startswith(text) or text.startswith(start) for text in literal)
