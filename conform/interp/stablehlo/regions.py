"""Regions of scalars on many scalars at once: where all their ops work element by element, on whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from conform.interp.program.evaluation import Run
from conform.interp.program.form import Function, Op, Value
from conform.interp.stablehlo import registry
from conform.interp.stablehlo.quantization import Quantization, format_held, quantization_of
from conform.interp.stablehlo.quantized import AS_THEY_ARE
from conform.interp.stablehlo.registry import Call
from conform.interp.stablehlo.values import Tensor

BROADCAST = "conform.broadcast"
Arrays = tuple[np.ndarray, ...]


def on_elements(region: Run, *arguments: np.ndarray) -> Arrays:
    """What a region of 0-dimensional tensors makes of each element of arrays of one shape."""
    arguments = tuple(map(np.asarray, arguments))
    return over_elements(region, arguments[0].shape)(*arguments)


def over_elements(region: Run, shape: tuple[int, ...]) -> Callable[..., Arrays]:
    """`on_elements` of arrays of `shape`, to be used many times: what does not depend on numbers is done once."""
    held = {name: region.scope[name] for name in sorted(region.function.captured)}
    types = [quantization_of(one.dtype) for one in region.function.arguments]
    if shape == ():
        return lambda *arguments: _arrays(region(*_tensors(arguments, types)))
    if not _is_pointwise(region.function, held):
        return lambda *arguments: _one_by_one(region, arguments, types)
    whole = replace(region, function=_Spread(region.function, shape, held).function())
    repeated = [replace(one, array=np.broadcast_to(one.array, shape)) for one in held.values()]
    return lambda *arguments: _arrays(whole(*_tensors(arguments, types), *repeated))


Types = Sequence[Quantization | None]


def _tensors(arguments: Sequence[np.ndarray | np.generic], types: Types) -> list[Tensor]:
    """A row of one element is a scalar of numpy, no array."""
    return [Tensor(np.asarray(one), type_) for one, type_ in zip(arguments, types, strict=True)]


def _arrays(tensors: Sequence[Tensor]) -> Arrays:
    return tuple(one.array for one in tensors)


def _one_by_one(region: Run, arguments: Sequence[np.ndarray], types: Types) -> Arrays:
    results = tuple(np.empty(arguments[0].shape, format_held(name).storage) for name in result_dtypes(region))
    for index in np.ndindex(arguments[0].shape):
        found = region(*_tensors([each[index] for each in arguments], types))
        for result, one in zip(results, found, strict=True):
            result[index] = one.array
    return results


def result_types(region: Run) -> list[tuple[str, tuple[int | None, ...]]]:
    """The dtypes and shapes of what a region gives."""
    known = {one.name: one for one in _values(region.function)}
    found = [known[name] if name in known else region.scope[name] for name in region.function.results]
    return [(one.dtype, one.shape) for one in found]


def result_dtypes(region: Run) -> list[str]:
    """The element types that a region gives."""
    return [dtype for dtype, _ in result_types(region)]


def _values(function: Function) -> list[Value]:
    return [*function.arguments, *(one for op in function.ops for one in op.results)]


def _is_pointwise(function: Function, held: Mapping[str, Tensor]) -> bool:
    known = registry.table()
    scalars = all(one.shape == () for one in (*held.values(), *_values(function)))
    return scalars and all(op.name in known and known[op.name].pointwise for op in function.ops)


class _Spread:
    """A pointwise function of 0-dimensional tensors, for tensors of `shape`: what is held around it becomes arguments
    too, constants are repeated where they are used."""

    def __init__(self, function: Function, shape: tuple[int, ...], held: Mapping[str, Tensor]) -> None:
        self.source, self.shape = function, shape
        extra = [Value(name, one.dtype, shape) for name, one in held.items()]
        self.arguments = (*(replace(one, shape=shape) for one in function.arguments), *extra)
        self.wide = {one.name: one.name for one in self.arguments}
        self.scalars = {one.name: one for one in _values(function)}
        self.ops: list[Op] = []

    def function(self) -> Function:
        for op in self.source.ops:
            if any(name in self.wide for name in op.operands):
                operands = tuple(map(self._widened, op.operands))
                results = tuple(replace(one, shape=self.shape) for one in op.results)
                self.ops.append(replace(op, operands=operands, results=results))
                self.wide |= {one.name: one.name for one in results}
            else:
                self.ops.append(op)
        return Function(self.arguments, tuple(self.ops), tuple(map(self._widened, self.source.results)))

    def _widened(self, name: str) -> str:
        if name not in self.wide:
            result = replace(self.scalars[name], name=f"{name} repeated", shape=self.shape)
            self.ops.append(Op(BROADCAST, (name,), {}, (result,)))
            self.wide[name] = result.name
        return self.wide[name]


@registry.meaning(BROADCAST, quantized=AS_THEY_ARE)
def broadcast(call: Call) -> np.ndarray:
    """operand at every place of the result; no op of the specification, but a step of the kit's own"""
    return np.broadcast_to(call.operands[0].array, call.results[0].shape)


def same_scalars(call: Call, constraint: str, region: Run, formats: Sequence[str], results: Sequence[str]) -> None:
    """The region takes 0-dimensional tensors of `formats`, and gives such of `results`."""
    taken = [(one.dtype, one.shape) for one in region.function.arguments]
    given = result_dtypes(region)
    listed = ", ".join(f"{dtype}{list(shape)}" for dtype, shape in taken) or "nothing"
    call.require(constraint, taken == [(name, ()) for name in formats], f"a region that takes {listed}")
    call.require(constraint, given == list(results), f"a region that gives {', '.join(given)}")


def operation_of(region: Function) -> str | None:
    """The op that is all of a region, on both its arguments."""
    if len(region.ops) != 1 or len(region.arguments) != 2:
        return None
    (op,) = region.ops
    is_all = sorted(op.operands) == sorted(one.name for one in region.arguments)
    return op.name if is_all and region.results == (op.results[0].name,) else None
