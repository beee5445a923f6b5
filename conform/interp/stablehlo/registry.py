"""The meanings of StableHLO's ops by name: a decorator beside each, duplicates refused; constraints by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Literal

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.program.evaluation import Run
from conform.interp.program.form import Op, Value
from conform.interp.stablehlo.processes import Process
from conform.interp.stablehlo.quantization import quantization_of
from conform.interp.stablehlo.values import Tensor

ALL = 1 << 30  # operands, of an op that has as many as a program gives it
MODULES = (
    "elementwise", "bits", "choice", "casts", "movement", "dynamic", "indexing", "control", "reduction", "sorting",
    "windows", "contraction", "normalization", "linear_algebra", "transforms", "structure", "collectives",
    "channels", "random", "quantization", "chlo",
)  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One op with its operands, and the process that runs it: what a meaning is given. `results` are the values that
    the program states."""

    op: Op
    operands: tuple[Any, ...]
    attributes: Mapping[str, Any]
    regions: tuple[Run, ...]
    process: Process = field(default_factory=Process)

    @property
    def results(self) -> tuple[Value, ...]:
        return self.op.results

    def require(self, constraint: str, holds: bool | np.bool_, found: str) -> None:
        """InvalidArguments, which names the op and the constraint of its specification, unless it holds."""
        if not holds:
            raise InvalidArguments(f"{self.op.name}: {found}, against constraint ({constraint}) of its specification")

    def get(self, name: str, default: Any) -> Any:
        """An attribute; `default` where it is not given."""
        return self.attributes.get(name, default)

    def dims(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """An attribute that is a list of integers, however it is written; InvalidArguments where it is missing."""
        if name not in self.attributes:
            if default is None:
                raise InvalidArguments(f"{self.op.name}: its attribute {name} is missing")
            return tuple(default)
        return tuple(int(one) for one in self.attributes[name])


@dataclass(frozen=True)
class Quantized:
    """How an op takes quantized tensors. `check` sees to the constraints of its section that are about their types.
    It works on the `numbers` that the elements stand for, and its results are quantized; or on the `integers` that are
    stored; or on the `tensors` as they are."""

    check: Callable[[Call], None]
    on: Literal["numbers", "integers", "tensors"]


@dataclass(frozen=True)
class Meaning:
    """What an op means, and what holds of it whatever its operands are.

    pointwise  each element of its results depends on the same element of its operands alone
    moves      of how many of its first operands it moves elements, and does nothing else with them
    selects    it rounds nothing: of exact operands the results are exact, in whatever order they are computed
    runs       it runs its regions on operands that it does not look into, but for what chooses between them
    quantized  how it takes quantized tensors; None if it takes none
    """

    name: str
    function: Callable[[Call], Sequence[Any]]
    pointwise: bool
    moves: int = 0
    selects: bool = False
    runs: bool = False
    quantized: Quantized | None = None

    @property
    def text(self) -> str:
        return inspect.getdoc(self.function) or ""


_table: dict[str, Meaning] = {}


def meaning(
    *names: str,
    pointwise: bool = False,
    moves: int = 0,
    selects: bool = False,
    runs: bool = False,
    quantized: Quantized | None = None,
) -> Callable[[Callable[[Call], Any]], Callable[[Call], Any]]:
    """Register the decorated function as the meaning of the ops `names`: a Tensor, an array or several of a Call."""

    def register(function: Callable[[Call], Any]) -> Callable[[Call], Any]:
        for name in names:
            if name in _table:
                raise ValueError(f"{name} is defined twice: {_table[name].function.__module__}, {function.__module__}")
            _table[name] = Meaning(name, function, pointwise, moves, selects or bool(moves), runs, quantized)
        return function

    return register


@cache
def table() -> Mapping[str, Meaning]:
    """Every op that has a meaning, by its full name."""
    for module in MODULES:
        import_module(f"conform.interp.stablehlo.ops.{module}")
    return _table


def as_results(call: Call, found: Any) -> tuple[Any, ...]:
    """What a meaning returns, one or several, as values: arrays become tensors of the types that the program states."""
    several = found if isinstance(found, list | tuple) else (found,)
    if not any(isinstance(one, np.ndarray | np.generic) for one in several):
        return tuple(several)
    return tuple(_tensor(one, value.dtype) for one, value in zip(several, call.results, strict=True))


def _tensor(found: Any, dtype: str) -> Any:
    is_array = isinstance(found, np.ndarray | np.generic)
    return Tensor(np.asarray(found), quantization_of(dtype)) if is_array else found
