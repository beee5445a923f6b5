"""What names mean at one place of a file: dimensions, presets and, inside a template, variables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from conform.documents.limits import Limits
from conform.documents.source import Quoted
from conform.suites import nodes
from conform.suites import written_nodes as written
from conform.suites.fields import Symbol, describe
from conform.suites.messages import Path, Problems, SourceFile, TooManyProblems, suggest

UNKNOWN: Any = object()  # what an unknown variable stands for
_MAX_TEXT = 4_096  # characters of a path or id with its variables filled in
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Presets:
    """The presets of a file and of what it includes; each is resolved once, where it was written."""

    written: dict[str, tuple[SourceFile, FilePath, Any]] = field(default_factory=dict)
    resolved: dict[str, nodes.Node] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)  # being resolved, outermost first


@dataclass(slots=True)
class Repeats:
    """What the assignments of a file's templates have come to.

    `values` counts what every assignment repeats, `reads` how often a variable is read. A node in which none is read
    is the same for every assignment: `once` keeps it under the identity of what was written, with that itself, so that
    no other takes its identity.
    """

    values: int = 0
    reads: int = 0
    once: dict[int, tuple[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """The file at hand (and its directory), and what is defined. `variables` is None outside of a template.

    Look-ups report what is unknown and give a stand-in, so that one pass finds every problem.
    """

    file: SourceFile
    directory: FilePath
    dims: Mapping[str, int]
    presets: Presets
    limits: Limits
    problems: Problems
    variables: Mapping[str, Any] | None = None
    depth: int = 0  # of nodes, counted through presets
    is_complete: bool = True  # whether a dimension or preset that is not defined is unknown, and not only not read
    repeats: Repeats = field(default_factory=Repeats)

    def report(self, path: Path, message: str) -> None:
        self.problems.add(self.file, path, message)

    def number(self, value: int | float | Symbol, path: Path) -> int | float | None:
        """The number that a written one stands for; None for an unknown symbol or a number that is not finite."""
        if isinstance(value, Symbol):
            if value not in self.dims:
                if self.is_complete:
                    known = suggest(value, self.dims) or _known(self.dims)
                    self.report(path, f"unknown dimension {str(value)!r}{known}")
                return None
            return self.dims[value]
        if isinstance(value, float) and not math.isfinite(value):
            self.report(path, f"expected a finite number, found {describe(value)}")
            return None
        return value

    def count(self, value: int | Symbol, path: Path) -> int:
        """A number that must not be negative; 1 where it is wrong."""
        found = self.number(value, path)
        if found is not None and found < 0:
            self.report(path, f"expected a non-negative integer, found {describe(found)}")
        return 1 if found is None or found < 0 else int(found)

    def variable(self, node: written.VarNode | written.ShortVarNode, path: Path) -> Any:
        """The written value of a template variable; UNKNOWN if there is none of this name."""
        if self.variables is None:
            self.report(path, f"template variable {node.name!r} outside of a template")
            return UNKNOWN
        if node.name not in self.variables:
            known = suggest(node.name, self.variables) or _known(self.variables)
            self.report(path, f"unknown template variable {describe(node.name)}{known}")
            return UNKNOWN
        self.repeats.reads += 1
        return self.variables[node.name]

    def count_repeats(self, values: int, path: Path) -> None:
        """Counts what an assignment of a template adds to the file; beyond the limit, nothing more is looked at."""
        self.repeats.values += values
        if self.repeats.values > self.limits.max_nodes:
            found = f"more than {self.limits.max_nodes} values (templates written out)"
            self.report(path, self.limits.exceeded("max_nodes", found))
            raise TooManyProblems

    def inserted(self, value: Any) -> Any:
        """A variable's value where it is inserted: a bare string that is a dimension's symbol becomes its integer."""
        if isinstance(value, list):
            return [self.inserted(item) for item in value]
        if isinstance(value, dict):
            return {key: self.inserted(item) for key, item in value.items()}
        if isinstance(value, str) and not isinstance(value, Quoted) and value in self.dims:
            return self.dims[value]
        return value

    def fill_in(self, text: str, path: Path) -> Any:
        """`text` with each `{name}` replaced by the template variable's value; UNKNOWN if one of them is."""
        parts = _PLACEHOLDER.split(text)
        self.count_repeats(len(parts), path)
        for at in range(1, len(parts), 2):
            value = self.variable(written.ShortVarNode(var=parts[at]), path)
            if isinstance(value, list | dict | written.Form):
                self.report(path, f"template variable {parts[at]!r} is no scalar, so it cannot stand in a text")
                return UNKNOWN
            if value is UNKNOWN:
                return UNKNOWN
            parts[at] = scalar_text(value)
        if sum(map(len, parts)) > _MAX_TEXT:
            self.report(path, f"more than {_MAX_TEXT} characters, with the template variables filled in")
            return UNKNOWN
        return "".join(parts)


def scalar_text(value: bool | int | float | str | None) -> str:
    """A scalar as YAML writes it."""
    return value if isinstance(value, str) else describe(value)


def _known(names: Mapping[str, Any]) -> str:
    return f"; known: {', '.join(list(names)[:20])}" if names else "; none is defined"
