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
from conform.numerics.formats import FORMATS
from tests.interp.stablehlo import generated

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


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("op", ["add", "multiply"])
def test_a_known_region_is_the_same_step_by_step(op: str, dtype: str) -> None:
    """One op is done by numpy where that rounds alike; with two negations behind it the region is run: the same codes,
    in ascending order, on numbers that lose digits in any, overflow, vanish and are special."""
    fmt, rng = FORMATS[dtype], np.random.default_rng(8)
    x = rng.choice([-1, 1], (40, 30)) * rng.uniform(0.7, 1.4, (40, 30))
    x *= 2.0 ** rng.integers(-9, 9, (40, 30)) if op == "add" else 1.0
    x[:, ::7] *= float(fmt.max_finite) / 2**12
    x[::9, ::11] = np.resize([np.inf, np.nan, -0.0, float(fmt.min_subnormal)], x[::9, ::11].shape)
    held = x.astype(fmt.storage)
    element, results = generated.element(dtype), []
    for steps in (f"%z = stablehlo.{op} %x, %y : tensor<{element}>", f"""%a = stablehlo.{op} %x, %y : tensor<{element}>
          %b = stablehlo.negate %a : tensor<{element}>
          %z = stablehlo.negate %b : tensor<{element}>"""):
        text = f"""func.func @main(%arg: tensor<40x30x{element}>, %init: tensor<{element}>) -> tensor<30x{element}> {{
        %r = "stablehlo.reduce"(%arg, %init) ({{
          ^bb0(%x: tensor<{element}>, %y: tensor<{element}>):
          {steps}
          stablehlo.return %z : tensor<{element}>
        }}) {{dimensions = array<i64: 0>}} : (tensor<40x30x{element}>, tensor<{element}>) -> tensor<30x{element}>
        return %r : tensor<30x{element}>
        }}"""
        program = Program(parse(text, "x.mlir").functions["main"])
        (found,) = evaluate(program, StableHLO(), [Tensor(held), Tensor(np.asarray(held[3, 3]))])
        results.append(np.where(np.isnan(found.array), fmt.storage.type(1), found.array).view(fmt.code_storage))
    assert results[0].tolist() == results[1].tolist()
    assert len(set(results[0].tolist())) > 15
