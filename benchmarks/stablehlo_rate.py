"""How fast `conform interpret` evaluates StableHLO beside the specification's own interpreter (jaxlib's `eval_module`),
on the same operands in one process, and how long it takes to read many small programs.

CPU seconds of evaluation alone, the best of several; the text is parsed before. All operands are float32 numbers of a
normal distribution. `python benchmarks/stablehlo_rate.py`
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported

import time
from collections.abc import Callable, Sequence

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from tabulate import tabulate

from conform.frontends.stablehlo import _context, parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.values import Tensor

REPEATS = 3
PROGRAMS = 2000
Shape = tuple[int, ...]


def typed(shape: Sequence[int], element: str = "f32") -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def main_of(shapes: Sequence[Shape], result: str, body: str) -> str:
    arguments = ", ".join(f"%arg{at}: {typed(shape)}" for at, shape in enumerate(shapes))
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %r : {result}\n}}\n"


def elementwise(name: str, shape: Shape, operands: int) -> tuple[str, list[Shape]]:
    named = ", ".join(f"%arg{at}" for at in range(operands))
    types = ", ".join([typed(shape)] * operands)
    body = f'  %r = "stablehlo.{name}"({named}) : ({types}) -> {typed(shape)}'
    return main_of([shape] * operands, typed(shape), body), [shape] * operands


def region(*steps: str) -> str:
    """A region of two scalars %x and %y, which returns %z."""
    return "({\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n    " + "\n    ".join(steps) + "\n  })"


ADD = region("%z = stablehlo.add %x, %y : tensor<f32>", "stablehlo.return %z : tensor<f32>")
OTHER = region(
    "%w = stablehlo.multiply %x, %y : tensor<f32>",
    "%z = stablehlo.subtract %y, %w : tensor<f32>",
    "stablehlo.return %z : tensor<f32>",
)
CHOSEN = region(
    "%p = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>",
    "%w = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>",
    "%z = stablehlo.maximum %w, %y : tensor<f32>",
    "stablehlo.return %z : tensor<f32>",
)
BEFORE = region(
    "%z = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>", "stablehlo.return %z : tensor<i1>"
)
AT_LEAST = BEFORE.replace("LT", "GE")
ZERO = "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"


def reduce(body: str, shape: Shape, dim: int) -> tuple[str, list[Shape]]:
    result = typed([size for at, size in enumerate(shape) if at != dim])
    text = (f'{ZERO}  %r = "stablehlo.reduce"(%arg0, %zero) {body} {{dimensions = array<i64: {dim}>}} : '
            f"({typed(shape)}, tensor<f32>) -> {result}")  # fmt: skip
    return main_of([shape], result, text), [shape]


def reduce_window(size: int) -> tuple[str, list[Shape]]:
    shape, result = (size, size), typed((size - 2, size - 2))
    text = (f'{ZERO}  %r = "stablehlo.reduce_window"(%arg0, %zero) {ADD} {{window_dimensions = array<i64: 3, 3>}} : '
            f"({typed(shape)}, tensor<f32>) -> {result}")  # fmt: skip
    return main_of([shape], result, text), [shape]


def sort(shape: Shape) -> tuple[str, list[Shape]]:
    text = f'  %r = "stablehlo.sort"(%arg0) {BEFORE} {{dimension = 0 : i64}} : ({typed(shape)}) -> {typed(shape)}'
    return main_of([shape], typed(shape), text), [shape]


def select_and_scatter(size: int) -> tuple[str, list[Shape]]:
    shape, source = (size, size), (size // 2, size // 2)
    text = (f'{ZERO}  %r = "stablehlo.select_and_scatter"(%arg0, %arg1, %zero) {AT_LEAST.removesuffix(")")}, {ADD[1:]} '
            "{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : "
            f"({typed(shape)}, {typed(source)}, tensor<f32>) -> {typed(shape)}")  # fmt: skip
    return main_of([shape, source], typed(shape), text), [shape, source]


def dot_general(size: int) -> tuple[str, list[Shape]]:
    shape = (size, size)
    types = f"({typed(shape)}, {typed(shape)}) -> {typed(shape)}"
    text = f"  %r = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : {types}"
    return main_of([shape, shape], typed(shape), text), [shape, shape]


def convolution(size: int, features: int) -> tuple[str, list[Shape]]:
    lhs, rhs, result = (1, size, size, features), (3, 3, features, features), (1, size - 2, size - 2, features)
    text = ("  %r = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
            "window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
            f"({typed(lhs)}, {typed(rhs)}) -> {typed(result)}")  # fmt: skip
    return main_of([lhs, rhs], typed(result), text), [lhs, rhs]


WORK = {
    "add, 2^20 elements": elementwise("add", (1024, 1024), 2),
    "multiply, 2^20 elements": elementwise("multiply", (1024, 1024), 2),
    "exponential, 2^18 elements": elementwise("exponential", (512, 512), 1),
    "tanh, 2^18 elements": elementwise("tanh", (512, 512), 1),
    "dot_general, 128 x 128 x 128": dot_general(128),
    "convolution, 16 x 16 x 16 by 3 x 3 x 16 x 16": convolution(16, 16),
    "reduce by add, 256 rows of 1024": reduce(ADD, (256, 1024), 0),
    "reduce by add, 256 rows of 1024, along the last": reduce(ADD, (256, 1024), 1),
    "reduce by y - x y, 256 rows of 1024": reduce(OTHER, (256, 1024), 0),
    "reduce by a choice and a maximum, 256 rows of 1024": reduce(CHOSEN, (256, 1024), 0),
    "reduce_window by add, 256 x 256 by 3 x 3": reduce_window(256),
    "sort, 256 rows of 1024": sort((256, 1024)),
    "select_and_scatter, 64 x 64 by 2 x 2": select_and_scatter(64),
}


def seconds(function: Callable[[], object]) -> float:
    """CPU seconds, the best of several runs."""
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


def row(name: str, text: str, shapes: Sequence[Shape]) -> list[object]:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    program = Program(parse(text, name).functions["main"])
    kit = seconds(lambda: evaluate(program, StableHLO(), [Tensor(one) for one in arrays]))
    with _context():
        module = ir.Module.parse(text)
        operands = [ir.DenseElementsAttr.get(one) for one in arrays]
    peer = seconds(lambda: stablehlo.eval_module(module, operands))
    return [name, 1e3 * kit, 1e3 * peer, peer / kit]


def reading_s() -> float:
    texts = [elementwise("add", (4, 1 + at), 2)[0] for at in range(PROGRAMS)]
    return seconds(lambda: [parse(text, "small.mlir") for text in texts])


if __name__ == "__main__":
    rows = [row(name, *work) for name, work in WORK.items()]
    print(tabulate(rows, ("program", "conform (ms)", "eval_module (ms)", "times as fast"), "github", floatfmt=".3g"))
    print(f"\n{PROGRAMS} small programs read in {reading_s():.2f} s")
