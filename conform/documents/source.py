"""Safe reading of a YAML file into plain values that remember where they stand.

Built from parser events: nesting, size and repeated aliases are checked before anything is composed (PyYAML's C
composer recurses, and crashes the process on deep nesting), and no tag constructs anything.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from conform.documents.limits import Limits
from conform.documents.scalars import resolve_plain


class Position(NamedTuple):
    """Line and column, counted from 1."""

    line: int
    column: int


class Map(dict[str, Any]):
    """A YAML mapping: `at` is where it starts, `keys_at` and `values_at` where each key and value stands."""

    __slots__ = ("at", "keys_at", "values_at")

    def __init__(self, at: Position) -> None:
        super().__init__()
        self.at = at
        self.keys_at: dict[str, Position] = {}
        self.values_at: dict[str, Position] = {}


class Seq(list[Any]):
    """A YAML sequence: `at` is where it starts, `items_at` where each item stands."""

    __slots__ = ("at", "items_at")

    def __init__(self, at: Position) -> None:
        super().__init__()
        self.at = at
        self.items_at: list[Position] = []


class Quoted(str):
    """A string written in quotes (or as a block): never the symbol of a dimension."""

    __slots__ = ()


class SourceError(Exception):
    """The text cannot be read at all: `message` at `position`."""

    def __init__(self, position: Position, message: str) -> None:
        super().__init__(message)
        self.position = position
        self.message = message


def real_path(path: Path) -> Path:
    """The absolute path without links. OSError for what is no path."""
    try:
        return path.resolve()
    except (ValueError, RuntimeError) as error:  # a zero byte; until Python 3.12, links in a circle
        raise OSError(errno.EINVAL, str(error)) from None


def read_text(path: Path, limits: Limits) -> str:
    """The text of a file. SourceError if it is too large or no UTF-8; OSError if it is no readable regular file."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    with path.open("rb") as file:
        data = file.read(limits.max_file_bytes + 1)
    if len(data) > limits.max_file_bytes:
        raise SourceError(Position(1, 1), limits.exceeded("max_file_bytes", f"more than {limits.max_file_bytes} bytes"))
    return _decode(data)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        position = Position(before.count(b"\n") + 1, error.start - before.rfind(b"\n"))
        raise SourceError(position, f"byte 0x{data[error.start]:02x} is not UTF-8; test files are UTF-8") from None


def parse_yaml(text: str, limits: Limits) -> Any:
    """The value of one YAML document: Map, Seq, str, Quoted, int, float, bool or None."""
    try:
        return _built(text, limits)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        context = f" {error.context}" if error.context else ""
        raise SourceError(_position(mark), f"not YAML: {error.problem}{context}") from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        position = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise SourceError(position, f"not YAML: character {error.character!r} is not allowed") from None


# What libyaml 0.2.6 says of a thousand levels, before it has told of the first.
_TOO_DEEP_FOR_LIBYAML = "exceeded maximum nesting depth"


def _built(text: str, limits: Limits) -> Any:
    """Both parsers keep a stack of their own; the Python one comes where libyaml is missing, or stops too early."""
    try:
        return _Builder(limits).whole(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.MarkedYAMLError as error:
        if error.problem != _TOO_DEEP_FOR_LIBYAML:
            raise
    return _Builder(limits).whole(yaml.parse(text, Loader=yaml.SafeLoader))


def _position(mark: Any) -> Position:
    # Called for every value: the namedtuple's own constructor takes twice as long.
    return tuple.__new__(Position, (mark.line + 1, mark.column + 1)) if mark else Position(1, 1)


class _Builder:
    """Turns events into values. The stack holds what is open; `size` counts values as if aliases were written out."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.document: Any = None
        self.documents = 0
        self.stack: list[Map | Seq] = []
        self.pending: list[Any] = []  # of each open mapping, the key that waits for its value; _NO_KEY otherwise
        self.sizes: list[int] = []  # of each open container
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open_anchors: list[str | None] = []

    def whole(self, events: Iterable[yaml.Event]) -> Any:
        """The value of the document that they tell of."""
        for event in events:
            self.add(event)
        return self.document

    def add(self, event: yaml.Event) -> None:
        kind = type(event)
        if kind is ScalarEvent:
            self._scalar(event)
        elif kind is MappingStartEvent:
            self._open(Map(_position(event.start_mark)), event)
        elif kind is SequenceStartEvent:
            self._open(Seq(_position(event.start_mark)), event)
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            self._close()
        elif kind is AliasEvent:
            self._alias(event)
        elif kind is DocumentStartEvent:
            self._start_document(event)

    def _start_document(self, event: yaml.DocumentStartEvent) -> None:
        self.documents += 1
        if self.documents > 1:
            raise SourceError(_position(event.start_mark), "a second document ('---'); a test file is one document")
        if event.version not in (None, (1, 2)):
            raise SourceError(_position(event.start_mark), "test files are YAML 1.2; remove the %YAML directive")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        at = _position(event.start_mark)
        self._refuse_tag(event, at)
        if not event.implicit[0]:  # not plain
            value: Any = Quoted(event.value)
        else:
            try:
                value = resolve_plain(event.value)
            except ValueError as error:
                raise SourceError(at, str(error)) from None
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self._place(value, at, 1)

    def _open(self, container: Map | Seq, event: Any) -> None:
        self._refuse_tag(event, container.at)
        if self.stack and self._awaits_key():
            raise SourceError(container.at, "a list or mapping as a key; keys are strings")
        if len(self.stack) >= self.limits.max_depth:
            message = self.limits.exceeded("max_depth", f"nested more than {self.limits.max_depth} deep")
            raise SourceError(container.at, message)
        self.stack.append(container)
        self.pending.append(_NO_KEY)
        self.sizes.append(1)
        self.open_anchors.append(event.anchor)
        self.anchors.pop(event.anchor, None)  # redefined: inside itself it means nothing yet

    def _close(self) -> None:
        container, size, anchor = self.stack.pop(), self.sizes.pop(), self.open_anchors.pop()
        self.pending.pop()
        if anchor:
            self.anchors[anchor] = (container, size)
        self._place(container, container.at, size)

    def _alias(self, event: yaml.AliasEvent) -> None:
        at = _position(event.start_mark)
        if event.anchor in self.open_anchors:
            raise SourceError(at, f"alias *{event.anchor} stands inside its own anchor")
        if event.anchor not in self.anchors:
            raise SourceError(at, f"alias *{event.anchor} has no anchor &{event.anchor} before it")
        value, size = self.anchors[event.anchor]
        self._place(value, at, size)

    def _refuse_tag(self, event: Any, at: Position) -> None:
        if event.tag is not None:
            raise SourceError(at, f"tag {event.tag!r}: test files have no tags")

    def _awaits_key(self) -> bool:
        return type(self.stack[-1]) is Map and self.pending[-1] is _NO_KEY

    def _place(self, value: Any, at: Position, size: int) -> None:
        if not self.stack:
            self.document = value
            return
        self.sizes[-1] += size
        if self.sizes[-1] > self.limits.max_nodes:
            found = f"more than {self.limits.max_nodes} values (aliases written out)"
            raise SourceError(at, self.limits.exceeded("max_nodes", found))
        container = self.stack[-1]
        if type(container) is Seq:
            container.append(value)
            container.items_at.append(at)
        elif self.pending[-1] is _NO_KEY:
            self._place_key(container, value, at)
        else:
            key, self.pending[-1] = self.pending[-1], _NO_KEY
            container[key] = value
            container.values_at[key] = at

    def _place_key(self, container: Map, key: Any, at: Position) -> None:
        if isinstance(key, list | dict):  # by an alias
            raise SourceError(at, "a list or mapping as a key; keys are strings")
        if not isinstance(key, str):
            raise SourceError(at, f"key {json.dumps(key)} is no string; write it in quotes if it is meant as one")
        if "\uffff" in key:  # no character of Unicode; the tags of `written_nodes.py` begin with it
            raise SourceError(at, f"key {key!r} holds what is no character")
        if key == "<<":
            raise SourceError(at, "merge keys ('<<') are YAML 1.1; use presets")
        if key in container.keys_at:
            raise SourceError(at, f"key {key!r} is given twice; first at line {container.keys_at[key].line}")
        container.keys_at[key] = at
        self.pending[-1] = str(key)


_NO_KEY = object()


def position_of(tree: Any, path: tuple[str | int, ...], *, key: bool = False) -> Position:
    """Where the value at `path` stands (with `key`, the key in front of it); of what is absent, what would hold it."""
    at = tree.at if isinstance(tree, Map | Seq) else Position(1, 1)
    for depth, part in enumerate(path):
        if isinstance(tree, Map) and part in tree.keys_at:
            last = depth == len(path) - 1
            at = tree.keys_at[part] if key and last else tree.values_at[part]
            tree = tree[part]
        elif isinstance(tree, Seq) and isinstance(part, int) and part < len(tree):
            at, tree = tree.items_at[part], tree[part]
        else:
            break
    return at
