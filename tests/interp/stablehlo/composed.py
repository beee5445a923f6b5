"""Random programs of several ops, on arguments: what a compiler fuses, and an interpreter computes step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.interp.stablehlo.generated import type_of

UNARY = ("exponential", "tanh", "logistic", "sine", "cosine", "negate", "abs", "exponential_minus_one", "sign", "floor")
OF_POSITIVE = ("sqrt", "rsqrt", "log", "log_plus_one")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")


class _Program:
    """A program that grows op by op; every value is [rows, columns]."""

    def __init__(self, rng: np.random.Generator, dtype: str, shape: tuple[int, int]) -> None:
        self.rng, self.dtype, self.shape, self.type = rng, dtype, shape, type_of(dtype, shape)
        self.values, self.lines = ["x", "y"], [f"  %zero = stablehlo.constant dense<0.0> : {type_of(dtype, ())}"]

    def add(self, op: str, operands: Sequence[str]) -> str:
        name = f"v{len(self.lines)}"
        listed, types = ", ".join(f"%{one}" for one in operands), ", ".join([self.type] * len(operands))
        self.lines.append(f'  %{name} = "stablehlo.{op}"({listed}) : ({types}) -> {self.type}')
        self.values.append(name)
        return name

    def any(self) -> str:
        return str(self.rng.choice(self.values[-4:]))

    def sum(self) -> None:
        """Over columns, and spread again."""
        name, row = f"v{len(self.lines)}", type_of(self.dtype, self.shape[:1])
        reduced = f"(%{self.any()} init: %zero) applies stablehlo.add across dimensions = [1]"
        types = f"({self.type}, {type_of(self.dtype, ())}) -> {row}"
        spread = f"  %{name} = stablehlo.broadcast_in_dim %{name}s, dims = [0] : ({row}) -> {self.type}"
        self.lines += [f"  %{name}s = stablehlo.reduce{reduced} : {types}", spread]
        self.values.append(name)

    def product(self) -> None:
        """With its own transpose, and with it again: [rows, columns]."""
        name, square = f"v{len(self.lines)}", type_of(self.dtype, (self.shape[0], self.shape[0]))
        lhs, rhs = self.any(), self.any()
        first = f"%{lhs}, %{rhs}, contracting_dims = [1] x [1] : ({self.type}, {self.type}) -> {square}"
        second = f"%{name}s, %{rhs}, contracting_dims = [1] x [0] : ({square}, {self.type}) -> {self.type}"
        self.lines += [f"  %{name}s = stablehlo.dot_general {first}", f"  %{name} = stablehlo.dot_general {second}"]
        self.values.append(name)

    def step(self) -> None:
        kind = self.rng.integers(8)
        if kind < 3:
            self.add(str(self.rng.choice(UNARY)), [self.any()])
        elif kind < 4:
            squared = self.any()
            self.add(str(self.rng.choice(OF_POSITIVE)), [self.add("multiply", [squared, squared])])
        elif kind < 6:
            self.add(str(self.rng.choice(BINARY)), [self.any(), self.any()])
        else:
            self.sum() if kind == 6 else self.product()

    def text(self) -> str:
        result = f"  return %{self.values[-1]} : {self.type}"
        return "\n".join([f"func.func @main(%x: {self.type}, %y: {self.type}) -> {self.type} {{", *self.lines, result,
                          "}", ""])  # fmt: skip


def composed(seed: int, dtype: str, steps: int = 5) -> tuple[str, tuple[int, int]]:
    """A program of some steps, and the shape of its two arguments."""
    rng = np.random.default_rng(seed)
    program = _Program(rng, dtype, (int(rng.integers(1, 5)), int(rng.integers(1, 9))))
    for _ in range(steps):
        program.step()
    return program.text(), program.shape
