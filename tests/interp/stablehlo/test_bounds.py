"""Sizes that only running tells and that a type bounds: `tensor<?xf32, #stablehlo.bounds<4>>`."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import InvalidArguments, UsageError
from conform.frontends.stablehlo import input_array, parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.values import Tensor

BOUNDED = "tensor<?x2xf32, #stablehlo.bounds<3, ?>>"
SHORTENED = f"""func.func @main(%x: tensor<3x2xf32>, %n: tensor<i32>) -> ({BOUNDED}, tensor<i32>) {{
  %r = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<3x2xf32>, tensor<i32>) -> {BOUNDED}
  %s = stablehlo.add %r, %r : {BOUNDED}
  %m = stablehlo.get_dimension_size %s, dim = 0 : ({BOUNDED}) -> tensor<i32>
  return %s, %m : {BOUNDED}, tensor<i32>
}}
"""
PAIRED = f"""func.func @main(%x: {BOUNDED}, %y: tensor<?x2xf32>) -> {BOUNDED} {{
  %s = stablehlo.add %y, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> {BOUNDED}
  return %s : {BOUNDED}
}}
"""
ROWS = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def run(text: str, *arrays: np.ndarray) -> list[list]:
    function = parse(text, "x.mlir").functions["main"]
    found = evaluate(Program(function), StableHLO(), [Tensor(one) for one in arrays])
    return [one.array.tolist() for one in found]


@pytest.mark.parametrize(("size", "rows"), [(3, [[2, 4], [6, 8], [10, 12]]), (1, [[2, 4]]), (0, [])])
def test_a_size_that_is_set_is_that_of_what_comes_of_it(size: int, rows: list) -> None:
    assert run(SHORTENED, ROWS, np.array(size, np.int32)) == [rows, size]


def test_a_size_above_what_is_there_is_refused() -> None:
    with pytest.raises(InvalidArguments, match=r"size 4 of dimension 0 of tensor<3x2xf32>.*\(x.mlir:2\)"):
        run(SHORTENED, ROWS, np.array(4, np.int32))


def test_an_argument_and_a_result_stay_within_their_bounds() -> None:
    argument, _ = parse(PAIRED, "x.mlir").functions["main"].arguments
    assert input_array("there", ROWS, argument) is ROWS
    with pytest.raises(UsageError, match=r"there: found float32\[4, 2\], expected float32\[<=3, 2\]"):
        input_array("there", np.zeros((4, 2), np.float32), argument)
    assert run(PAIRED, ROWS, ROWS[:1]) == [[[2, 4]]]
    with pytest.raises(InvalidArguments, match=r"tensor<4x2xf32> with the result float32\[<=3, 2\].*\(x.mlir:2\)"):
        run(PAIRED, ROWS, np.zeros((4, 2), np.float32))
