"""`conform gen`: calls of an op, made from its argument spec, as a file in the test language."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from conform.call import schemas
from conform.domains.engine.meta_tuple import invalid_tuples, valid_tuples
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import spec_of, specs
from conform.errors import UsageError
from conform.suites.dtypes import dtype_hint, dtype_names
from conform.suites.generated.tests import as_test
from conform.suites.generated.yaml_text import lines_of

_GLOB_MARKS = "*?["


def suite_text(op: str, count: int, *, invalid: bool = False, dtype: str | None = None, seed: int = 0) -> str:
    """A suite file with `count` calls of each overload that `op` (a name or a glob) stands for, in the order of the
    suites `generated` and `negative`; with `dtype`, those whose first data tensor or dtype argument has it.

    UsageError for an op that is unknown or has no spec, for a dtype that is unknown or that none of the overloads
    takes, and where no call is invalid.
    """
    if dtype is not None and dtype not in dtype_names():
        raise UsageError(f"--dtype: unknown dtype {dtype!r}{dtype_hint(dtype)}")
    chosen = [one for one in specs_of(op) if dtype is None or dtype in one.dtypes]
    if not chosen:
        raise UsageError(f"--dtype: {op} takes no {dtype}; it takes {_dtypes_of(op)}")
    entries = [line for one in chosen for line in _entries(one, count, invalid, dtype, seed)]
    if not entries:
        raise UsageError(f"--invalid: no constraint of {op} can be broken")
    kind = "Calls that each break one constraint" if invalid else "Valid calls"
    head = [
        f"# {kind}, from the argument specs, seed {seed}{f', {dtype}' if dtype else ''}. Values are drawn at each run.",
        "tests:",
    ]
    return "\n".join([*head, *entries]) + "\n"


def specs_of(op: str) -> list[OpSpec]:
    """The specs of a name (without overload: of every overload) or a glob. UsageError if there is none."""
    every = specs()
    found = [one for one in every if fnmatchcase(one.name, op) or fnmatchcase(one.name.partition(".")[0], op)]
    found = found or [one for one in [spec_of(op)] if one is not None and one.name == op]  # of a variant that writes
    if found:
        return found
    if any(mark in op for mark in _GLOB_MARKS):
        raise UsageError(f"{op!r} matches no op that has an argument spec; `conform ops` lists the ops")
    if op not in schemas.operator_names():
        raise schemas.unknown_operator(op)
    raise UsageError(f"{op} has no argument spec from which calls could be made")


def write(text: str, path: Path) -> None:
    """UsageError where the file cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out: {path}: {error.strerror}") from None


def _dtypes_of(op: str) -> str:
    return ", ".join(dict.fromkeys(dtype for one in specs_of(op) for dtype in one.dtypes))


def _entries(spec: OpSpec, count: int, invalid: bool, dtype: str | None, seed: int) -> Iterator[str]:
    tuples = (invalid_tuples if invalid else valid_tuples)(spec, seed, dtype=dtype)
    for one in itertools.islice(tuples, count):
        yield from lines_of(as_test(spec, one, seed, label=dtype or ""))
