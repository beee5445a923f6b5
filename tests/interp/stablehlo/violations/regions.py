"""Reductions, sorts, branches and loops."""

from __future__ import annotations

from tests.interp.stablehlo.violations.violation import ADD, LESS, PAIRS, SELECT, region, violate

violate("reduce", "C1", "2x3xf32 2x4xf32 f32 f32", "dimensions = array<i64: 1>", "2xf32 2xf32", PAIRS)
violate("reduce", "C2", "2x3xf32 f64", "dimensions = array<i64: 1>", "2xf32", ADD)
violate("reduce", "C3", "2x3xf32 2x3xf32 f32", "dimensions = array<i64: 1>", "2xf32 2xf32", PAIRS)
violate("reduce", "C4", "2x3xf32 f32", "dimensions = array<i64: 2>", "2xf32", ADD)
violate("reduce", "C5", "2x3xf32 f32", "dimensions = array<i64: 1, 1>", "2xf32", ADD)
violate("reduce", "C6", "2x3xf32 f32", "dimensions = array<i64: 1>", "2xf32", SELECT)
violate("reduce", "C7", "2x3xf32 f32", "dimensions = array<i64: 1>", "3xf32", ADD)
violate("reduce", "C8", "2x3xf32 f32", "dimensions = array<i64: 1>", "2xf64", ADD)
violate("map", "C1", "2xf32 3xf32", "dimensions = array<i64: 0>", "2xf32", ADD)
violate("map", "C2", "", "dimensions = array<i64>", "f32", ADD)
violate("map", "C3", "2xf32 2xf32", "dimensions = array<i64: 1>", "2xf32", ADD)
violate("map", "C4", "2xf32 2xf32", "dimensions = array<i64: 0>", "2xf32", SELECT)


def _window(constraint: str, operands: str, results: str, regions: str = ADD, **changed: str) -> None:
    lists = {"window_dimensions": "2", "window_strides": "1", "base_dilations": "1", "window_dilations": "1"}
    padding = changed.pop("padding", "dense<0> : tensor<1x2xi64>")
    listed = [f"{name} = array<i64: {values}>" for name, values in (lists | changed).items()]
    violate("reduce_window", constraint, operands, ", ".join([*listed, f"padding = {padding}"]), results, regions)


_window("C1", "4xf32 4xf32 f32", "3xf32 3xf32", PAIRS)
_window("C2", "4xf32 5xf32 f32 f32", "3xf32 3xf32", PAIRS)
_window("C3", "4xf32 f64", "3xf32")
for _size, _sign, _name in (("C4", "C5", "window_dimensions"), ("C6", "C7", "window_strides"),
                            ("C8", "C9", "base_dilations"), ("C10", "C11", "window_dilations")):  # fmt: skip
    _window(_size, "4xf32 f32", "3xf32", **{_name: "1, 1"})
    _window(_sign, "4xf32 f32", "3xf32", **{_name: "0"})
_window("C12", "4xf32 f32", "3xf32", padding="dense<0> : tensor<2x2xi64>")
_window("C13", "4xf32 f32", "3xf32", region("i32 i32", "", "i32"))
_window("C14", "4xf32 4xf32 f32 f32", "3xf32 4xf32", PAIRS)
_window("C15", "4xf32 f32", "4xf32")
_window("C16", "4xf32 f32", "3xf64")


def _select_and_scatter(
    constraint: str, operands: str, result: str, select: str = SELECT, scatter: str = ADD, **changed: str
) -> None:
    lists = {"window_dimensions": "2", "window_strides": "2"}
    padding = changed.pop("padding", "dense<0> : tensor<1x2xi64>")
    listed = [f"{name} = array<i64: {values}>" for name, values in (lists | changed).items()]
    violate(
        "select_and_scatter",
        constraint,
        operands,
        ", ".join([*listed, f"padding = {padding}"]),
        result,
        f"{select}, {scatter}",
    )


_select_and_scatter("C1", "4xf32 2xf64 f32", "4xf32")
_select_and_scatter("C2", "4xf32 3xf32 f32", "4xf32")
_select_and_scatter("C3", "4xf32 2xf32 f64", "4xf32")
_select_and_scatter("C4", "4xf32 2xf32 f32", "4xf32", window_dimensions="2, 2")
_select_and_scatter("C5", "4xf32 2xf32 f32", "4xf32", window_dimensions="0")
_select_and_scatter("C6", "4xf32 2xf32 f32", "4xf32", window_strides="2, 2")
_select_and_scatter("C7", "4xf32 2xf32 f32", "4xf32", window_strides="0")
_select_and_scatter("C8", "4xf32 2xf32 f32", "4xf32", padding="dense<0> : tensor<2x2xi64>")
_select_and_scatter("C9", "4xf32 2xf32 f32", "4xf32", select=ADD)
_select_and_scatter("C10", "4xf32 2xf32 f32", "4xf32", scatter=SELECT)
_select_and_scatter("C11", "4xf32 2xf32 f32", "5xf32")
_select_and_scatter("C12", "4xf32 2xf32 f32", "4xf64")
violate("sort", "C1", "", "dimension = 0 : i64", "", SELECT)
violate("sort", "C2", "4xf32", "dimension = 0 : i64", "5xf32", SELECT)
violate("sort", "C3", "4xf32 5xf32", "dimension = 0 : i64", "4xf32 5xf32", region("f32 f32 f32 f32", LESS, "i1"))
violate("sort", "C4", "4xf32", "dimension = 1 : i64", "4xf32", SELECT)
violate("sort", "C5", "4xf32", "dimension = 0 : i64", "4xf32", ADD)
_NONE = (
    '{\n    %y = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>\n'
    '    "stablehlo.return"(%y) : (tensor<f32>) -> ()\n  }'
)
_ONE = region("f32", "", "f32")
violate("if", "C1", "i1", "", "f32", f"{_ONE}, {_NONE}")
violate("case", "C1", "i32", "", "f32")
violate("case", "C2", "i32", "", "f32", f"{_ONE}, {_NONE}")
_LOOP = f"{region('f32', LESS.replace('%x1', '%x0'), 'i1')}, {_ONE}"
_OTHER = _NONE.replace("f32", "f64")
violate("if", "C2", "i1", "", "f32", f"{_NONE}, {_OTHER}")
violate("if", "C3", "i1", "", "f64", f"{_NONE}, {_NONE}")
violate("case", "C3", "i32", "", "f32", f"{_NONE}, {_OTHER}")
violate("case", "C4", "i32", "", "f64", f"{_NONE}, {_NONE}")
violate("while", "C1", "f64", "", "f64", _LOOP)
violate(
    "while", "C2", "f32", "", "f32", f"{region('f32', LESS.replace('%x1', '%x0'), 'i1')}, {region('f64', '', 'f64')}"
)
_NEVER = '%y = "stablehlo.constant"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>'
_OF_ANY_SIZE = f"{region('?xf32', _NEVER, 'i1')}, {region('?xf32', '', '?xf32')}"
violate("while", "C3", "?xf32=0,0", "", "3xf32", _OF_ANY_SIZE)  # of what the parser knows it refuses the types itself
violate("optimization_barrier", "C1", "f32", "", "f64")
violate("if", "I1", "i32", "", "f32", f"{_NONE}, {_NONE}")
violate("case", "I1", "i64", "", "f32", f"{_NONE}, {_NONE}")

NEGATION = """func.func private @negation(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = stablehlo.negate %x : tensor<2xf32>
  return %r : tensor<2xf32>
}
"""
violate("composite", "C1", "2xf32", 'name = "negation", decomposition = @negation', "2xf32", functions=NEGATION)
violate("composite", "C2", "2xf32", 'name = "my.negation", decomposition = @nothing', "2xf32", functions=NEGATION)
violate("composite", "C3", "3xf32", 'name = "my.negation", decomposition = @negation', "2xf32", functions=NEGATION)
violate("composite", "C4", "2xf32", 'name = "my.negation", decomposition = @negation', "3xf32", functions=NEGATION)
