"""A StableHLO program as it is written, op by op."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conform.interp.stablehlo.dense import text as dense_text
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import FORMATS, Format

_TYPE = re.compile(r"tensor<((?:\d+x)*)(.+)>")
ELEMENTS = {one.stablehlo_name.replace("si", "i"): one for one in FORMATS.values()}


@dataclass(frozen=True)
class Value:
    """A value of the program: its name, element type ("f32") and shape."""

    name: str
    element: str
    shape: tuple[int, ...]

    @property
    def format(self) -> Format:
        return ELEMENTS[self.element]

    def __str__(self) -> str:
        return type_of(self.element, self.shape)


def type_of(element: str, shape: Sequence[int]) -> str:
    """`tensor<2x3xf32>`"""
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


class Writer:
    """The lines of `main` so far."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def _name(self) -> str:
        self.count += 1
        return f"%{self.count}"

    def several(self, op: str, operands: Sequence[Value], results: Sequence[str], attributes: str = "") -> list[Value]:
        """The results of an op in its generic spelling, of these types."""
        name = self._name()
        count = f":{len(results)}" if len(results) > 1 else ""
        listed, types = ", ".join(one.name for one in operands), ", ".join(map(str, operands))
        given = f" {{{attributes}}}" if attributes else ""
        self.lines.append(f'  {name}{count} = "{op}"({listed}){given} : ({types}) -> ({", ".join(results)})')
        names = [f"{name}#{at}" for at in range(len(results))] if len(results) > 1 else [name]
        return [Value(one, *_parts(type_)) for one, type_ in zip(names, results, strict=True)]

    def op(
        self, name: str, operands: Sequence[Value], element: str, shape: Sequence[int], attributes: str = ""
    ) -> Value:
        """The result of an op of the dialect stablehlo."""
        return self.several(f"stablehlo.{name}", operands, [type_of(element, shape)], attributes)[0]

    def constant(self, array: np.ndarray) -> Value:
        tensor = Tensor(np.asarray(array))
        value = Value(self._name(), tensor.format.stablehlo_name.replace("si", "i"), tensor.shape)
        self.lines.append(f"  {value.name} = stablehlo.constant {dense_text(tensor)}")
        return value

    def held(self, array: np.ndarray) -> Value:
        """A constant that no compiler looks through."""
        value = self.constant(array)
        return self.op("optimization_barrier", [value], value.element, value.shape)

    def compare(self, direction: str, lhs: Value, rhs: Value) -> Value:
        attributes = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
        return self.op("compare", [lhs, rhs], "i1", lhs.shape, attributes)

    def select(self, pred: Value, on_true: Value, on_false: Value) -> Value:
        return self.op("select", [pred, on_true, on_false], on_true.element, on_true.shape)

    def total(self, value: Value) -> Value:
        """The sum of all elements of int32."""
        zero, name = self.constant(np.zeros((), np.int32)), self._name()
        dims = list(range(len(value.shape)))
        self.lines.append(f"  {name} = stablehlo.reduce({value.name} init: {zero.name}) applies stablehlo.add across "
                          f"dimensions = {dims} : ({value}, tensor<i32>) -> tensor<i32>")  # fmt: skip
        return Value(name, "i32", ())

    def main(self, results: Sequence[Value]) -> str:
        types = ", ".join(map(str, results))
        returned = f"  return {', '.join(one.name for one in results)} : {types}"
        return "\n".join([f"func.func public @main() -> ({types}) {{", *self.lines, returned, "}", ""])


def _parts(type_: str) -> tuple[str, tuple[int, ...]]:
    sizes, element = _TYPE.fullmatch(type_).groups()
    return element, tuple(int(size) for size in sizes.split("x") if size)
