"""A program as the meaning of an op: a Python function over `conform.ops`, its results as goldens."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conform.errors import ConformError, NoGolden
from conform.interp.golden import Golden
from conform.interp.program.goldens import golden_of
from conform.interp.program.number import as_numbers

_KIT = Path(__file__).parents[2]


def meaning(name: str, program: Callable[..., Any]) -> Callable[..., tuple[Golden, ...]]:
    """The semantics of the op `name`: `program` on Numbers for tensors, every result rounded once."""

    def evaluated(**arguments: Any) -> tuple[Golden, ...]:
        given = {key: as_numbers(value) for key, value in arguments.items()}
        try:
            result = program(**given)
        except ConformError as error:
            raise type(error)(f"reference of {name}: {error}") from None
        except Exception as error:  # a user's own code: its mistake is told as theirs
            raise NoGolden(f"reference of {name}: {_place(error)}: {type(error).__name__}: {error}") from error
        results = tuple(result) if isinstance(result, list | tuple) else (result,)
        return tuple(golden_of(f"reference of {name}", one) for one in results)

    evaluated.__doc__ = program.__doc__
    return evaluated


def _place(error: Exception) -> str:
    """`FILE.py:12` of the innermost frame outside the kit."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not Path(frame.filename).is_relative_to(_KIT)]
    return f"{theirs[-1].filename}:{theirs[-1].lineno}" if theirs else "its call"
