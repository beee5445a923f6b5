"""How much a test file may ask for; beyond a limit it is refused before anything of that size is built."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from conform.errors import UsageError

_PREFIX = "CONFORM_"
_MOST = {"max_depth": 100, "max_dims": 64}  # Python's stack holds no deeper recursion; numpy has no more dimensions
_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Limits:
    """Each limit can be set in the environment: `CONFORM_MAX_TESTS=500000` sets `max_tests`."""

    max_file_bytes: int = 16 * 2**20
    max_depth: int = 64  # of nested YAML lists and mappings, and of nodes through presets
    max_nodes: int = 2_000_000  # YAML values of one file, counted where an alias or a template repeats them
    max_files: int = 1_000  # reached from one file by includes
    max_tests: int = 200_000  # of one file, after expansion
    max_values: int = 100_000  # lists, tuples, scalars and tensors that the arguments of one test consist of
    max_elements: int = 2**24  # of all tensors of one test
    max_result_elements: int = 2**25  # of all results of one case, which are known before they are computed
    max_dims: int = 64  # of a tensor
    max_errors: int = 50  # reported of one file

    @classmethod
    def from_environment(cls) -> Limits:
        """The defaults, replaced where the environment says so. UsageError where that is no positive integer."""
        chosen = {}
        for field in fields(cls):
            text = os.environ.get(variable(field.name))
            if text is None:
                continue
            most = _MOST.get(field.name)
            if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS) or int(text) == 0:
                raise UsageError(f"{variable(field.name)}={text[:40]!r}: expected a positive integer")
            if most and int(text) > most:
                raise UsageError(f"{variable(field.name)}={text}: expected at most {most}")
            chosen[field.name] = int(text)
        return cls(**chosen)

    def exceeded(self, name: str, what: str) -> str:
        """The message for something beyond a limit, with the way to raise it."""
        return f"{what}; the limit is {getattr(self, name)} (raise it with {variable(name)})"


def variable(name: str) -> str:
    """The environment variable of a limit."""
    return _PREFIX + name.upper()
