"""Rules by op name: the Numbers that an op gives, where its results are rounded or its operands were computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from conform.interp.program.aten import aten
from conform.interp.program.form import Op
from conform.interp.program.number import Number
from conform.interp.stablehlo.registry import Call

MODULES = ("elementwise", "choice", "contraction", "reduction", "normalization", "scattering", "broadcasting",
           "linear_algebra", "transforms", "special_functions", "selection", "processes")  # fmt: skip
Rule = Callable[[Call], Any]
_table: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated function for the ops `names`: a Number, or several, of a Call of Numbers."""

    def register(function: Rule) -> Rule:
        for name in names:
            if name in _table:
                raise ValueError(f"{name} has two rules")
            _table[name] = function
        return function

    return register


@cache
def _load() -> dict[str, Rule]:
    for module in MODULES:
        import_module(f"conform.interp.stablehlo.reals.{module}")
    return _table


def find(name: str) -> Rule | None:
    """The rule of the op `name`, or None."""
    return _load().get(name)


def torch(name: str, *operands: Number, **attributes: Any) -> Any:
    """What torch's operator of this name gives: its tensors in the schema's order, all other arguments by name."""
    results = aten(Op(f"aten::{name}", (), {}, ()), operands, attributes)
    return results if len(results) > 1 else results[0]
