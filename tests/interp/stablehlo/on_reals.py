"""Programs in StableHLO's text on real numbers: their goldens, the specification's own steps, verdicts on answers."""

from __future__ import annotations

import re

import numpy as np

from conform.contracts.judge import Elements, judge
from conform.contracts.tables import OF_MODULE
from conform.frontends.stablehlo import parse
from conform.interp.golden import Golden
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Function, Program
from conform.interp.program.goldens import goldens_of
from conform.interp.program.number import Number
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.reals.op_set import Reals
from conform.interp.stablehlo.values import Tensor


def main(text: str) -> Function:
    return parse(text, "x.mlir").functions["main"]


def goldens(text: str, *arrays: np.ndarray) -> tuple[Golden, ...]:
    inputs = [Number.exact(one) for one in arrays]
    return goldens_of(lambda: evaluate(Program(main(text)), Reals(), inputs), "main", nearest=True)


def stepwise(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """What the specification's interpreter gives: each result rounded to its element type."""
    return [one.array for one in evaluate(Program(main(text)), StableHLO(), [Tensor(one) for one in arrays])]


def judged(text: str, answers: list[np.ndarray], *arrays: np.ndarray) -> list[Elements]:
    return [judge(one, answer, OF_MODULE) for one, answer in zip(goldens(text, *arrays), answers, strict=True)]


def unary(op: str, type_: str = "tensor<4x5xf32>") -> str:
    body = f'%0 = "stablehlo.{op}"(%x) : ({type_}) -> {type_}'
    return f"func.func @main(%x: {type_}) -> {type_} {{\n  {body}\n  return %0 : {type_}\n}}\n"


def computed(program: str) -> str:
    """The program with every constant of floats multiplied by 1, so that nothing knows its elements any more."""
    return re.sub(
        r"^  %(\w+) = (stablehlo\.constant dense<.*> : (tensor<[\dx]*(?:f32|f64|f16|bf16)>))$",
        r"  %\1.exact = \2\n  %\1.one = stablehlo.constant dense<1.0> : \3\n"
        r"  %\1 = stablehlo.multiply %\1.exact, %\1.one : \3",
        program, flags=re.MULTILINE,
    )  # fmt: skip
