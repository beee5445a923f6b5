"""Errors of test files: where, in which test, what was found, what was expected, what may have been meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from conform.documents.limits import Limits
from conform.documents.source import Position, position_of
from conform.errors import UsageError, did_you_mean
from conform.suites.dtypes import dtype_hint
from conform.suites.fields import describe
from conform.suites.written import FORMS, OP_FORMS, Common, Side, TemplateComparePairForm
from conform.suites.written_nodes import NODE_FORMS, Form

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its name in messages, its name in run records, and its values with their positions."""

    name: str
    recorded: str
    tree: Any


class TooManyProblems(Exception):
    """As many problems as are reported: ends the search for more."""


class Problems:
    """Collects the errors of a file and of what it includes, so that all are reported at once."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._found: dict[tuple[str, Position, str], None] = {}  # in order, each once

    def __len__(self) -> int:
        return len(self._found)

    def add(self, file: SourceFile, path: Path, message: str, *, key: bool = False) -> None:
        """An error at `path` of the file (with `key`, at the key rather than its value)."""
        self.add_at(file.name, position_of(file.tree, path, key=key), in_context(file.tree, path, message))

    def add_at(self, name: str, position: Position, message: str) -> None:
        self._found[name, position, message] = None
        if len(self._found) >= self.limits.max_errors:
            raise TooManyProblems

    def add_invalid(self, file: SourceFile, path: Path, form: type[Form], error: ValidationError) -> None:
        """What pydantic found wrong with the value at `path`, which should be a `form`."""
        for one in error.errors(include_url=False):
            written = untagged(one["loc"])
            message = _explain(form, one)
            is_key = one["type"] == "extra_forbidden" or written[-1:] == ("[key]",)
            self.add(file, path + tuple(part for part in written if part != "[key]"), message, key=is_key)

    def raise_if_any(self) -> None:
        """UsageError with every problem, a line each."""
        if not self._found:
            return
        files = list(dict.fromkeys(name for name, _, _ in self._found))
        found = sorted(self._found, key=lambda one: (files.index(one[0]), one[1]))
        lines = [f"{name}:{at.line}:{at.column}: {message}" for name, at, message in found]
        if len(lines) >= self.limits.max_errors:
            lines.append(f"(the first {len(lines)} errors; there may be more)")
        raise UsageError("\n".join(lines))


def untagged(loc: Path) -> Path:
    """A location of pydantic's without the tags of the forms that it tried: a path in the file."""
    return tuple(part for part in loc if not _is_tag(part))


def _is_tag(part: str | int) -> bool:
    return isinstance(part, str) and part.startswith("\uffff")


def in_context(tree: Any, path: Path, message: str) -> str:
    """The message with its test, operator and place: "test 'a' (aten::add), in[0].shape: ..."."""
    if path[:1] != ("tests",) or len(path) < 2:
        return f"{place(path)}: {message}" if path else message
    index = path[1]
    test = tree["tests"][index]
    test = test if isinstance(test, dict) else {}
    label = f"test {describe(test['id'])}" if isinstance(test.get("id"), str) else f"test number {index + 1}"
    where = f", {place(path[2:])}" if path[2:] else ""
    return f"{label}{_operator(test.get('op'))}{where}: {message}"


def _operator(op: Any) -> str:
    text = op
    if isinstance(op, dict):
        text = op.get("path", op.get("name"))
        if op.get("type") == "template_compare_pair":
            sides = [op.get(side, {}) for side in ("a", "b")]
            text = " | ".join(str(side.get("path")) for side in sides if isinstance(side, dict))
    return f" ({_printable(text[:80])})" if isinstance(text, str) and text else ""


def _printable(text: str) -> str:
    """The text with escapes in place of what would steer a terminal."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def place(path: Path) -> str:
    """ "in[0].shape[1]" """
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{_printable(part[:60])}" for part in path)
    return text.removeprefix(".")


# --- pydantic's errors in our words -----------------------------------------------------------------------------------

_EXPECTED = {
    "list_type": "expected a list",
    "dict_type": "expected a mapping",
    "model_type": "expected a mapping",
    "model_attributes_type": "expected a mapping",
    "string_type": "expected a string",
    "bool_type": "expected true or false",
    "include": "expected a name or a list of names",
}
_OWN = {"quoted_symbol", "number", "variable", "integer", "value", "name", "dimension", "kind_or_dtype",
        "low_and_high", "target", "operator"}  # fmt: skip


def _explain(form: type[Form], error: Any) -> str:
    kind, found = error["type"], error["input"]
    match kind:
        case "extra_forbidden":
            return _unknown_key(str(error["loc"][-1]), _keys_at(form, error["loc"][:-1]))
        case "missing":
            return f"the key {error['loc'][-1]!r} is missing"
        case "literal_error":
            names = error["ctx"]["expected"].split("'")[1::2]
            return f"expected {error['ctx']['expected']}, found {describe(found)}{suggest(found, names)}"
        case "dtype":
            return f"unknown dtype {describe(found)}{dtype_hint(found)}"
        case "node":
            return _no_node(found)
        case "op":
            return _no_op(found)
        case "too_short" | "string_too_short":
            return "expected at least one item, found none" if kind == "too_short" else "expected a name, found ''"
        case "string_too_long":
            return f"expected at most {error['ctx']['max_length']} characters, found {len(found)}"
        case "string_pattern_mismatch":
            return f"expected one line without blanks around it, found {describe(found)}"
        case _ if kind in _OWN:
            return error["msg"]
        case _:
            return f"{_EXPECTED.get(kind, error['msg'])}, found {describe(found)}"


def _unknown_key(key: str, known: list[str]) -> str:
    return f"unknown key {describe(key)}{suggest(key, known) or '; expected ' + ', '.join(known)}"


def suggest(name: Any, known: Iterable[str]) -> str:
    """`; did you mean 'X'?` for a string that is close to a known name."""
    return did_you_mean(str(name), known) if isinstance(name, str) and len(name) <= 100 else ""


def _keys_at(root: type[Form], loc: Path) -> list[str]:
    """The keys of the form that a location of pydantic's is in."""
    form = root
    for part in loc:
        if _is_tag(part):
            form = FORMS.get(part[1:], form)
        elif form is TemplateComparePairForm:
            form = {"a": Side, "b": Side, "common": Common}.get(part, form)
    return [field.alias or name for name, field in form.model_fields.items()]


def _no_node(found: Any) -> str:
    types = ", ".join(NODE_FORMS)
    if not isinstance(found, dict):
        hint = f"; a literal is {{type: const, value: {describe(found)}}}" if not isinstance(found, list) else ""
        return f"expected a node (a mapping with a type), found {describe(found)}{hint}"
    if "type" not in found:
        close = (f"key {describe(key)}{meant}" for key in found if (meant := suggest(key, ("type", "ref", "var"))))
        hint = next(close, f"expected one of {types}, or {{ref: PRESET}}, {{var: NAME}}")
        return f"this mapping has no type, so it is no node; {hint}"
    hint = suggest(found["type"], NODE_FORMS) or f"; expected one of {types}"
    return f"unknown node type {describe(found['type'])}{hint}"


def _no_op(found: Any) -> str:
    expected = f"expected an operator such as aten::add, or a mapping of type {', '.join(OP_FORMS)}"
    if isinstance(found, dict) and "type" in found:
        return f"unknown type {describe(found['type'])}{suggest(found['type'], OP_FORMS) or '; ' + expected}"
    return f"{expected}; found {describe(found)}"
