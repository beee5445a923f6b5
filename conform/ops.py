"""`conform.ops`: the operators that a reference program is written in, `ops.add(x, y)`.

A program gets a number for each tensor and makes new ones of them, by these functions, by Python's operators and
indices (`x + y`, `x > 0`, `x[1:]`) and by methods (`x.mean([-1], True)`). Arguments are those of torch's schemas;
arrays may be constants. What cannot be used soundly raises UsageError and names the op.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conform.call.schemas import operator_names


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("__") or f"aten::{name}" not in operator_names():
        raise AttributeError(f"there is no operator aten::{name}")
    from conform.interp.program.apply import apply

    return partial(apply, f"aten::{name}")
