"""Of which ops I8 is known to hold: `i8.json`, which ships with the kit (`python tools/i8_figure.py`).

What it says of an op is of one digest: of the op's schema and of every file that its semantics, its spec, its reference
and their comparison are made of. Of an op one of whose files has changed since, however little, nothing is known; an op
that has come shares no file with the others but those that all share.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from conform.call import schemas
from conform.interp import semantics

FILE = Path(__file__).with_name("i8.json")

_ROOT = Path(__file__).parents[1]
_COMPARES = "conform.selftest.agreement.agreement"
# What is read, or loaded by the name of a family, and not by an import. (Of the rooms of semantics, specs and
# references, which are loaded so too, the ledger names each op's modules.)
_SHARED = ("inputs/edges", "numerics/functions/data")
_OF_TRUTH = ("call", "domains", "inputs", "interp", "numerics", "refs", "selftest/agreement")
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(conform[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))", re.M)

Ledger = Mapping[str, Mapping[str, Any]]


@cache
def shipped() -> Ledger:
    """By op: {"on": the day in UTC, "digest", "modules": its own, "elements": by dtype, that were equal}."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}


def known(ledger: Ledger) -> Ledger:
    """What of the ledger speaks of the files as they are."""
    present = set(semantics.names())
    return {
        op: told for op, told in ledger.items()
        if op in present and digest_of(op, told["modules"]) == told["digest"]
    }  # fmt: skip


def last_green() -> dict[str, Any] | None:
    """What is known of the files as they are: {"on": the day of the oldest comparison that counts, "ops": how many
    hold, "of": how many there are, "pairs": of an op that holds and a dtype, "elements"}; None where nothing is."""
    entries = known(shipped()).values()
    if not entries:
        return None
    return {
        "on": min(told["on"] for told in entries),
        "ops": len(entries),
        "of": len(semantics.names()),
        "pairs": sum(len(told["elements"]) for told in entries),
        "elements": sum(sum(told["elements"].values()) for told in entries),
    }


def digest_of(op: str, modules: Iterable[str]) -> str:
    """`sha256:...` of the op's schema and of the files that its own `modules` and what compares them are made of."""
    whole = hashlib.sha256(f"{schemas.schema(op)!r}\0{_digest_of_modules(frozenset(modules))}".encode())
    return f"sha256:{whole.hexdigest()}"


@cache
def _digest_of_modules(modules: frozenset[str]) -> str:
    whole = hashlib.sha256(_digest_of_shared().encode())
    for part in sorted(_closure(_COMPARES).union(*map(_closure, modules))):
        whole.update(f"{part}\0{_digest(part)}\0".encode())
    return whole.hexdigest()


@cache
def _closure(module: str) -> frozenset[str]:
    """The truth's modules that `module` imports, itself among them, and those that they import."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += imports(one)
    return frozenset(seen)


@cache
def imports(module: str) -> frozenset[str]:
    """The truth's modules, with the packages they lie in, that the text of `module` imports by a statement."""
    named: set[str] = set()
    for package, names, plain in _IMPORT.findall(_text(module)):
        named |= {f"{package}.{name}" for name in re.findall(r"\w+", names)} | {package} if package else set()
        named |= set(re.findall(r"conform[\w.]*", plain))
    return frozenset(one for name in named for one in _with_packages(name) if _file(one) is not None)


def _with_packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(2, len(parts) + 1)]


@cache
def _file(module: str) -> Path | None:
    """Its file, where it is one of the truth's."""
    path = _ROOT.joinpath(*module.split(".")[1:])
    if not any(path.is_relative_to(_ROOT / room) for room in _OF_TRUTH):
        return None
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache
def _text(module: str) -> str:
    """Nothing of a module that is no more."""
    file = _file(module)
    return file.read_text(encoding="utf-8") if file else ""


@cache
def _digest(module: str) -> str:
    return hashlib.sha256(_text(module).encode()).hexdigest()


@cache
def _digest_of_shared() -> str:
    whole = hashlib.sha256()
    for path in sorted(file for room in _SHARED for file in (_ROOT / room).rglob("*")):
        if "__pycache__" not in path.parts and path.is_file():  # there files come and go while Python compiles
            whole.update(f"{path.relative_to(_ROOT).as_posix()}\0".encode() + path.read_bytes())
    return whole.hexdigest()
