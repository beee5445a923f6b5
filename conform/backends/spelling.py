"""How backends are spelt: `FILE.py::CLASS`, `folder:DIR` or a plain name, perhaps with arguments: `(key=value)`."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from conform.errors import UsageError

FOLDER = "folder:"


@dataclass(frozen=True)
class Spelling:
    """A backend's name, taken apart. `plain` is what is left without the arguments of its class, which are literals."""

    plain: str
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def path(self) -> str | None:
        """The file or the folder that holds the kernels; None where the name tells of neither."""
        if self.plain.startswith(FOLDER):
            return self.plain.removeprefix(FOLDER)
        return self.plain.partition("::")[0] if "::" in self.plain else None

    @property
    def class_name(self) -> str:
        """The class in the file."""
        return self.plain.partition("::")[2]

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of kernels."""
        return self.plain.startswith(FOLDER)

    def resolved(self) -> Spelling:
        """The same with a path that leads through no link."""
        if self.path is None:
            return self
        real = os.path.realpath(self.path)
        return replace(self, plain=f"{FOLDER}{real}" if self.is_folder else f"{real}::{self.class_name}")

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.plain}({options})" if options else self.plain


def spelt(name: str) -> Spelling:
    """`name` taken apart. What stands in parentheses at its end are arguments if it reads so, else part of a path."""
    start = name.find("(") if name.endswith(")") else -1
    while start > 0:
        options = _options(name[start:])
        if options is not None:
            return Spelling(name[:start], options)
        start = name.find("(", start + 1)
    return Spelling(name)


def _options(text: str) -> dict[str, object] | None:
    try:
        call = ast.parse(f"_{text}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
            return None
        return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        return None


def with_options(name: str, given: Iterable[str]) -> str:
    """`name` with arguments `KEY=VALUE` for its class, of which those that are no literals are texts. UsageError for
    what is not written so."""
    options = dict(spelt(name).options)
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"--backend-option: expected KEY=VALUE, got {one!r}")
        options[key] = _literal(value)
    return str(replace(spelt(name), options=options))


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
