"""Small programs of quantized types, on integers over the whole of their ranges, whose results are integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tests.interp.stablehlo.generated import UNARY, Case, main


class Type(NamedTuple):
    """A quantized type per tensor."""

    storage: str
    expressed: str
    parameters: str

    @property
    def bits(self) -> int:
        return int(self.storage.partition("<")[0].lstrip("iu"))

    def tensor(self, size: int) -> str:
        return f"tensor<{size}x!quant.uniform<{self.storage}:{self.expressed}, {self.parameters}>>"

    def stored(self, size: int) -> str:
        return f"tensor<{size}xi{self.bits}>"

    def codes(self, count: int) -> np.ndarray:
        """Integers from one end of the storage type to the other."""
        low = 0 if self.storage.startswith("u") else -(2 ** (self.bits - 1))
        return np.unique(np.linspace(low, low + 2**self.bits - 1, count).astype(np.int64))

    def constant(self, name: str, codes: np.ndarray) -> str:
        size = len(codes)
        value = f"dense<{codes.tolist()}> : {self.stored(size)}"
        return f"  %{name} = stablehlo.constant() {{value = {value}}} : () -> {self.tensor(size)}\n"

    def read(self, name: str, size: int) -> tuple[str, tuple[str, str]]:
        """The integers of %name, as a result."""
        to = self.stored(size)
        return f"  %{name}i = stablehlo.bitcast_convert %{name} : ({self.tensor(size)}) -> {to}\n", (f"{name}i", to)


# Each with another type of the same baseline.
TYPES = [
    (Type("i8", "f32", "0.1:-30"), Type("i8", "f32", "0.03:5")),
    (Type("i8", "f32", "0.25:3"), Type("i8", "f32", "0.5:-7")),
    (Type("u8", "f32", "0.3:200"), Type("u8", "f32", "0.5:100")),
    (Type("i4", "f32", "0.7"), Type("i4", "f32", "1.5:1")),
    (Type("i8<-100:90>", "f32", "0.3:5"), Type("i8<-100:90>", "f32", "0.1:5")),
    (Type("i16", "f32", "0.01:7"), Type("i16", "f32", "0.02:-9")),
]
OF_NUMBERS = [op for op, dtypes in UNARY.items() if "float32" in dtypes and op not in ("is_finite", "real", "imag")]
OF_TWO = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "atan2")


def quantized() -> Iterator[Case]:
    for one, other in TYPES:
        yield from _unary(one, other)
        yield from _binary(one, other)
        yield from _conversions(one, other)
        yield _dots(one)


def _name(one: Type) -> str:
    return f"{one.storage}:{one.expressed}"


def _unary(one: Type, other: Type) -> Iterator[Case]:
    codes = one.codes(256)
    size = len(codes)
    for op in OF_NUMBERS:
        read, result = other.read("y", size)
        body = f"  %y = stablehlo.{op} %x : ({one.tensor(size)}) -> {other.tensor(size)}\n"
        yield Case(f"quantized {op}", _name(one), main(one.constant("x", codes) + body + read, [result]))


def _binary(one: Type, other: Type) -> Iterator[Case]:
    x, y = (np.ravel(grid) for grid in np.meshgrid(one.codes(16), other.codes(16)))
    size = len(x)
    given = one.constant("x", x) + other.constant("y", y)
    types = f"({one.tensor(size)}, {other.tensor(size)})"
    for op in OF_TWO:
        read, result = one.read("z", size)
        body = f"  %z = stablehlo.{op} %x, %y : {types} -> {one.tensor(size)}\n"
        yield Case(f"quantized {op}", _name(one), main(given + body + read, [result]))
    to = f"tensor<{size}xi1>"
    body = f"  %z = stablehlo.compare LT, %x, %y : {types} -> {to}\n"
    yield Case("quantized compare", _name(one), main(given + body, [("z", to)]))


def _conversions(one: Type, other: Type) -> Iterator[Case]:
    codes = one.codes(256)
    size = len(codes)
    numbers = f"tensor<{size}x{one.expressed}>"
    body = one.constant("x", codes) + f"  %y = stablehlo.uniform_dequantize %x : ({one.tensor(size)}) -> {numbers}\n"
    yield Case("uniform_dequantize", _name(one), main(body, [("y", numbers)]))
    read, result = other.read("z", size)
    back = f"  %z = stablehlo.uniform_quantize %y : ({numbers}) -> {other.tensor(size)}\n"
    yield Case("uniform_quantize", _name(one), main(body + back + read, [result]))
    again = f"  %z = stablehlo.uniform_quantize %x : ({one.tensor(size)}) -> {other.tensor(size)}\n"
    yield Case("uniform_quantize quantized", _name(one), main(one.constant("x", codes) + again + read, [result]))


def _dots(one: Type) -> Case:
    """Of a matrix and a vector without a zero point, into integers of 32 bits."""
    rhs = one._replace(parameters="0.5")
    to = Type("i32", one.expressed, "0.05")
    x, y = one.codes(8), rhs.codes(8)
    size = min(len(x), len(y))
    lhs, vector = one.tensor(size), rhs.tensor(size)
    body = one.constant("x", x[:size]) + rhs.constant("y", y[:size])
    result = to.tensor(1).replace("1x", "", 1)
    body += f"  %z = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : ({lhs}, {vector}) -> {result}\n"
    body += f"  %zi = stablehlo.bitcast_convert %z : ({result}) -> tensor<i32>\n"
    return Case("quantized dot_general", _name(one), main(body, [("zi", "tensor<i32>")]))
