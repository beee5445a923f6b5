"""The arrays of a program by name, where they come from somebody else than its meaning: each as long as it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conform.interp.program.form import Op, Operand, Program

Values = dict[str, np.ndarray]


class Scope:
    """The arrays of a program by name, as long as an op still takes them."""

    def __init__(self, program: Program, inputs: Sequence[np.ndarray]) -> None:
        function = program.function
        named = zip(function.arguments, inputs, strict=True)
        self.values: Values = {**program.constants, **{argument.name: array for argument, array in named}}
        last = {name: at for at, op in enumerate(function.ops) for name in op.used()}
        last |= dict.fromkeys(function.results, len(function.ops))
        self._dropped = {id(op): [name for name in op.used() if last[name] == at]
                         for at, op in enumerate(function.ops)}  # fmt: skip

    def held(self, operand: Operand) -> Any:
        """The arrays of an operand, None for one that is not given."""
        if isinstance(operand, tuple):
            return [None if name is None else self.values[name] for name in operand]
        return None if operand is None else self.values[operand]

    def take(self, op: Op, arrays: Sequence[np.ndarray | None]) -> None:
        """The results of `op`; its operands go where nothing else takes them."""
        for value, array in zip(op.results, arrays, strict=True):
            if value is not None:
                self.values[value.name] = array
        for name in self._dropped[id(op)]:
            self.values.pop(name, None)
