"""Regions on many elements at once give what they give one element after the other, bit for bit."""

import numpy as np
import pytest

from conform.frontends.stablehlo import parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo import regions
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.ops import reduction, windows
from conform.interp.stablehlo.values import Tensor

pytest.importorskip("jaxlib", reason="conform[stablehlo] is not installed")

ZERO = "%zero = stablehlo.constant dense<-0.0> : tensor<f32>\n%one = stablehlo.constant dense<0> : tensor<i32>\n"
ADD = (
    "^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = stablehlo.add %x, %y : tensor<f32> stablehlo.return %z : tensor<f32>"
)
# Neither commutative nor associative, and with a value from outside.
ODD = ("^bb0(%x: tensor<f32>, %y: tensor<f32>): %w = stablehlo.multiply %x, %factor : tensor<f32> "
       "%z = stablehlo.subtract %y, %w : tensor<f32> stablehlo.return %z : tensor<f32>")  # fmt: skip
FACTOR = "%half = stablehlo.constant dense<0.3> : tensor<f32>\n%factor = stablehlo.negate %half : tensor<f32>\n"
LARGEST = (
    "^bb0(%x: tensor<f32>, %m: tensor<i32>, %y: tensor<f32>, %n: tensor<i32>):"
    "%c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>"
    "%v = stablehlo.select %c, %x, %y : tensor<i1>, tensor<f32> "
    "%k = stablehlo.select %c, %m, %n : tensor<i1>, tensor<i32>"
    "stablehlo.return %v, %k : tensor<f32>, tensor<i32>"
)
GE = (
    "^bb0(%x: tensor<f32>, %y: tensor<f32>): "
    "%z = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %z : tensor<i1>"
)


def reduced(body: str, rows: int) -> str:
    return (f"func.func @main(%a: tensor<{rows}x6xf32>) -> tensor<6xf32> {{ {ZERO}{FACTOR}"
            f'%r = "stablehlo.reduce"(%a, %zero) ({{ {body} }}) {{dimensions = array<i64: 0>}} : '
            f"(tensor<{rows}x6xf32>, tensor<f32>) -> tensor<6xf32> return %r : tensor<6xf32> }}")  # fmt: skip


PROGRAMS = {
    "add": reduced(ADD, 7),
    "no commutative body, which takes a value from outside": reduced(ODD, 7),
    "no rows": reduced(ODD, 0),
    "one number": f"func.func @main(%a: tensor<7xf32>) -> tensor<f32> {{ {ZERO}{FACTOR}"
    f'%r = "stablehlo.reduce"(%a, %zero) ({{ {ODD} }}) {{dimensions = array<i64: 0>}} : '
    "(tensor<7xf32>, tensor<f32>) -> tensor<f32> return %r : tensor<f32> }",
    "two results": f"func.func @main(%a: tensor<7x6xf32>) -> (tensor<6xf32>, tensor<6xi32>) {{ {ZERO}"
    "%i = stablehlo.iota dim = 0 : tensor<7x6xi32>"
    f'%r:2 = "stablehlo.reduce"(%a, %i, %zero, %one) ({{ {LARGEST} }}) {{dimensions = array<i64: 0>}} : '
    "(tensor<7x6xf32>, tensor<7x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)"
    "return %r#0, %r#1 : tensor<6xf32>, tensor<6xi32> }",
    "windows": f"func.func @main(%a: tensor<7x6xf32>) -> tensor<5x4xf32> {{ {ZERO}{FACTOR}"
    f'%r = "stablehlo.reduce_window"(%a, %zero) ({{ {ODD} }}) {{window_dimensions = array<i64: 3, 3>}} : '
    "(tensor<7x6xf32>, tensor<f32>) -> tensor<5x4xf32> return %r : tensor<5x4xf32> }",
}
SCATTERED = (
    f"func.func @main(%a: tensor<7x6xf32>, %s: tensor<5x4xf32>) -> tensor<7x6xf32> {{ {ZERO}{FACTOR}"
    f'%r = "stablehlo.select_and_scatter"(%a, %s, %zero) ({{ {GE} }}, {{ {ODD} }}) '
    "{window_dimensions = array<i64: 3, 3>}"
    " : (tensor<7x6xf32>, tensor<5x4xf32>, tensor<f32>) -> tensor<7x6xf32> return %r : tensor<7x6xf32> }"
)


def results(text: str) -> list[bytes]:
    """On numbers among which are NaN, infinities, subnormals and both zeros."""
    function = parse(text, "text").functions["main"]
    rng = np.random.default_rng(5)
    inputs = []
    for one in function.arguments:
        array = rng.standard_normal(one.shape).astype(np.float32)
        places = array.reshape(-1)[::4]
        places[:] = np.resize(np.asarray([-0.0, np.nan, 0.0, np.inf, 1e-45, -np.inf], np.float32), places.shape)
        inputs.append(Tensor(array))
    return [one.array.tobytes() for one in evaluate(Program(function), StableHLO(), inputs)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_elements_at_once_and_one_by_one_agree(name, monkeypatch):
    at_once = results(PROGRAMS[name])
    monkeypatch.setattr(regions, "_is_pointwise", lambda function, held: False)
    assert results(PROGRAMS[name]) == at_once


def test_a_body_whose_operands_are_exchanged_is_seen(monkeypatch):
    program = PROGRAMS["no commutative body, which takes a value from outside"]
    right = results(program)

    def exchanged(body, shape):
        step = regions.over_elements(body, shape)
        return lambda state, row: step(row, state)

    monkeypatch.setattr(reduction, "over_elements", exchanged)
    assert results(program) != right


def test_select_and_scatter_takes_the_sources_of_a_place_in_their_order(monkeypatch):
    at_once = results(SCATTERED)
    monkeypatch.setattr(windows, "turns", lambda places: [np.asarray([at]) for at in range(len(places))])
    assert results(SCATTERED) == at_once
    monkeypatch.setattr(windows, "turns", lambda places: [np.asarray([at]) for at in reversed(range(len(places)))])
    assert results(SCATTERED) != at_once
