"""Every constraint of every op, violated once: operands, attributes, results and regions, in generic spelling."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """An op that breaks one constraint of its section."""

    op: str
    constraint: str
    operands: tuple[str, ...]
    attributes: str
    results: tuple[str, ...]
    regions: str

    def program(self) -> str:
        """A function of the operands, which are its arguments."""
        arguments = ", ".join(f"%{at}: {type_}" for at, type_ in enumerate(self.operands))
        names = ", ".join(f"%{at}" for at in range(len(self.operands)))
        results = f"%r:{len(self.results)} = " if self.results else ""
        regions = f" ({self.regions})" if self.regions else ""
        return (
            f'func.func @main({arguments}) {{\n  {results}"stablehlo.{self.op}"({names}){regions} '
            f"{{{self.attributes}}} : "
            f"({', '.join(self.operands)}) -> ({', '.join(self.results)})\n  return\n}}\n"
        )


VIOLATIONS: list[Violation] = []


def _v(op: str, constraint: str, operands: str, attributes: str, results: str, regions: str = "") -> None:
    """`operands` and `results`: `2x3xf32 f32 token`."""
    VIOLATIONS.append(Violation(op, constraint, _types(operands), attributes, _types(results), regions))


def _types(text: str) -> tuple[str, ...]:
    own = {"token": "!stablehlo.token"}
    return tuple(own.get(one, one if one.startswith("tuple") else f"tensor<{one}>") for one in text.split())


def _region(arguments: str, body: str, results: str) -> str:
    listed = ", ".join(f"%x{at}: {type_}" for at, type_ in enumerate(_types(arguments)))
    names = ", ".join(f"%x{at}" for at in range(len(results.split()))) if body == "" else "%y"
    types = ", ".join(_types(results))
    return f'{{\n  ^bb0({listed}):\n    {body}\n    "stablehlo.return"({names}) : ({types}) -> ()\n  }}'


F = "f32 f32"
ADD = _region(F, '%y = "stablehlo.add"(%x0, %x1) : (tensor<f32>, tensor<f32>) -> tensor<f32>', "f32")
LESS = (
    '%y = "stablehlo.compare"(%x0, %x1) {comparison_direction = #stablehlo<comparison_direction LT>} : '
    "(tensor<f32>, tensor<f32>) -> tensor<i1>"
)
SELECT = _region(F, LESS, "i1")
WRONG = _region(F, LESS, "i1")

# One type for all
_OF_FLOATS = (
    "cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate rsqrt sign sine sqrt"
)
for _op in (*_OF_FLOATS.split(), "round_nearest_afz", "round_nearest_even", "tan", "tanh"):
    _v(_op, "C1", "2xf32", "", "3xf32")
for _op in ("count_leading_zeros", "not", "popcnt"):
    _v(_op, "C1", "2xi32", "", "3xi32")
for _op in ("add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"):
    _v(_op, "C1", "2xf32 3xf32", "", "2xf32")
for _op in ("and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"):
    _v(_op, "C1", "2xi32 3xi32", "", "2xi32")

_v("abs", "C1", "2xf32", "", "3xf32")
_v("abs", "C2", "2xf32", "", "2xf64")
_v("complex", "C1", "2xf32 3xf32", "", "2xcomplex<f32>")
_v("complex", "C2", "2xf32 2xf32", "", "3xcomplex<f32>")
_v("complex", "C3", "2xf32 2xf32", "", "2xcomplex<f64>")
for _op in ("real", "imag"):
    _v(_op, "C1", "2xcomplex<f32>", "", "3xf32")
    _v(_op, "C2", "2xcomplex<f32>", "", "2xf64")
_v("is_finite", "C1", "2xf32", "", "3xi1")
_v("clamp", "C1", "3xf32 2xf32 f32", "", "2xf32")
_v("clamp", "C2", "f32 2xf32 3xf32", "", "2xf32")
_v("clamp", "C3", "f64 2xf32 f32", "", "2xf32")
_v("clamp", "C4", "f32 2xf32 f32", "", "3xf32")
_v("select", "C1", "3xi1 2xf32 2xf32", "", "2xf32")
_v("select", "C2", "2xi1 2xf32 2xf64", "", "2xf32")
_LT = "comparison_direction = #stablehlo<comparison_direction LT>"
_v("compare", "C1", "2xf32 2xf64", _LT, "2xi1")
_v("compare", "C2", "2xf32 3xf32", _LT, "2xi1")
_v("compare", "C3", "2xi32 2xi32", f"{_LT}, compare_type = #stablehlo<comparison_type FLOAT>", "2xi1")
_v("bitcast_convert", "C1", "2xf32", "", "2x3xi8")
_v("bitcast_convert", "C2", "2xcomplex<f32>", "", "2xf64")
_v("convert", "C1", "2xf32", "", "3xf64")
_v("reduce_precision", "C1", "2xf32", "exponent_bits = 5 : i32, mantissa_bits = 2 : i32", "3xf32")
_v("reduce_precision", "C2", "2xf32", "exponent_bits = 0 : i32, mantissa_bits = 2 : i32", "2xf32")
_v("reduce_precision", "C3", "2xf32", "exponent_bits = 5 : i32, mantissa_bits = -1 : i32", "2xf32")

# Movement
_v("constant", "C1", "", "value = dense<1.0> : tensor<2xf32>", "3xf32")
_v("iota", "C1", "", "iota_dimension = 2 : i64", "2x3xi32")
_v("broadcast_in_dim", "C1", "2xf32", "broadcast_dimensions = array<i64: 0>", "2x3xf64")
_v("broadcast_in_dim", "C2", "2xf32", "broadcast_dimensions = array<i64: 0, 1>", "2x3xf32")
_v("broadcast_in_dim", "C3", "2xf32", "broadcast_dimensions = array<i64: 2>", "2x3xf32")
_v("broadcast_in_dim", "C4", "2x2xf32", "broadcast_dimensions = array<i64: 0, 0>", "2x3xf32")
_v("broadcast_in_dim", "C5", "2xf32", "broadcast_dimensions = array<i64: 1>", "2x3xf32")
_v("reshape", "C1", "2xf32", "", "2xf64")
_v("reshape", "C2", "2xf32", "", "3xf32")
_v("transpose", "C1", "2x3xf32", "permutation = array<i64: 1, 0>", "3x2xf64")
_v("transpose", "C2", "2x3xf32", "permutation = array<i64: 1, 1>", "3x3xf32")
_v("transpose", "C3", "2x3xf32", "permutation = array<i64: 1, 0>", "2x3xf32")
_v("reverse", "C1", "2x3xf32", "dimensions = array<i64: 0>", "3x2xf32")
_v("reverse", "C2", "2x3xf32", "dimensions = array<i64: 0, 0>", "2x3xf32")
_v("reverse", "C3", "2x3xf32", "dimensions = array<i64: 2>", "2x3xf32")
_SLICE = "start_indices = array<i64: {}>, limit_indices = array<i64: {}>, strides = array<i64: {}>"
_v("slice", "C1", "4xf32", _SLICE.format(0, 2, 1), "2xf64")
_v("slice", "C2", "4xf32", _SLICE.format("0, 0", 2, 1), "2xf32")
_v("slice", "C3", "4xf32", _SLICE.format(0, 5, 1), "5xf32")
_v("slice", "C4", "4xf32", _SLICE.format(0, 2, 0), "2xf32")
_v("slice", "C5", "4xf32", _SLICE.format(0, 3, 2), "3xf32")
_v("concatenate", "C1", "2xf32 2xf64", "dimension = 0 : i64", "4xf32")
_v("concatenate", "C2", "2x3xf32 2x4xf32", "dimension = 0 : i64", "4x3xf32")
_v("concatenate", "C3", "", "dimension = 0 : i64", "0xf32")
_v("concatenate", "C4", "2xf32 2xf32", "dimension = 1 : i64", "4xf32")
_v("concatenate", "C5", "2xf32 2xf32", "dimension = 0 : i64", "4xf64")
_v("concatenate", "C6", "2xf32 2xf32", "dimension = 0 : i64", "5xf32")
_PAD = "edge_padding_low = array<i64: {}>, edge_padding_high = array<i64: {}>, interior_padding = array<i64: {}>"
_v("pad", "C1", "2xf32 f64", _PAD.format(0, 0, 0), "2xf32")
_v("pad", "C2", "2xf32 f32", _PAD.format("0, 0", 0, 0), "2xf32")
_v("pad", "C3", "2xf32 f32", _PAD.format(0, 0, -1), "1xf32")
_v("pad", "C4", "2xf32 f32", _PAD.format(-3, 0, 0), "2xf32")
_v("dynamic_slice", "C1", "4xf32 i32", "slice_sizes = array<i64: 2>", "2xf64")
_v("dynamic_slice", "C2", "4xf32 i32 i32", "slice_sizes = array<i64: 2>", "2xf32")
_v("dynamic_slice", "C3", "4x4xf32 i32 i64", "slice_sizes = array<i64: 2, 2>", "2x2xf32")
_v("dynamic_slice", "C4", "4xf32 i32", "slice_sizes = array<i64: 5>", "5xf32")
_v("dynamic_slice", "C5", "4xf32 i32", "slice_sizes = array<i64: 2>", "3xf32")
_v("dynamic_update_slice", "C1", "4xf32 2xf32 i32", "", "5xf32")
_v("dynamic_update_slice", "C2", "4xf32 2xf64 i32", "", "4xf32")
_v("dynamic_update_slice", "C3", "4xf32 2x2xf32 i32", "", "4xf32")
_v("dynamic_update_slice", "C4", "4xf32 2xf32 i32 i32", "", "4xf32")
_v("dynamic_update_slice", "C5", "4x4xf32 2x2xf32 i32 i64", "", "4x4xf32")
_v("dynamic_update_slice", "C6", "4xf32 5xf32 i32", "", "4xf32")
_v("dynamic_broadcast_in_dim", "C1", "2xf32 2xi64", "broadcast_dimensions = array<i64: 0>", "2x3xf64")
_v("dynamic_broadcast_in_dim", "C2", "2xf32 2xi64", "broadcast_dimensions = array<i64: 0, 1>", "0x0xf32")
_v("dynamic_broadcast_in_dim", "C7", "2xf32 3xi64", "broadcast_dimensions = array<i64: 0>", "2x3xf32")
_v("dynamic_iota", "C1", "2xi64", "iota_dimension = 2 : i64", "?x?xi32")
_v("dynamic_iota", "C2", "2xi64", "iota_dimension = 0 : i64", "?xi32")
_v("dynamic_reshape", "C1", "2xf32 1xi64", "", "?xf64")
_v("dynamic_reshape", "C2", "2xf32 1xi64", "", "?xf32")
_v("dynamic_reshape", "C4", "2xf32 1xi64", "", "?x?xf32")
_v("dynamic_pad", "C1", "2xf32 f64 1xi64 1xi64 1xi64", "", "?xf32")
_v("dynamic_pad", "C2", "2xf32 f32 2xi64 1xi64 1xi64", "", "?xf32")
_v("get_dimension_size", "C1", "2x3xf32", "dimension = 2 : i64", "i32")

# Indexing
_GATHER = (
    "dimension_numbers = #stablehlo.gather<offset_dims = [{offset}], collapsed_slice_dims = [{collapsed}], "
    "operand_batching_dims = [{batching}], start_indices_batching_dims = [{of_indices}], start_index_map = [{map}], "
    "index_vector_dim = {vector}>, slice_sizes = array<i64: {sizes}>"
)


def _gather(constraint: str, operands: str, result: str, **changed: object) -> None:
    numbers = {
        "offset": "1",
        "collapsed": "0",
        "batching": "",
        "of_indices": "",
        "map": "0",
        "vector": 1,
        "sizes": "1, 3",
    }
    _v("gather", constraint, operands, _GATHER.format(**(numbers | changed)), result)


_gather("C1", "4x3xf32 2x1xi32", "2x3xf32", offset="1, 2")
_gather("C2", "4x3xf32 2x1xi32", "2x3xf32", vector=3)
_gather("C3", "4x3xf32 2x1xi32", "2x3xf32", map="0, 1")
_gather("C4", "4x3x2xf32 2x1xi32", "2x3x2xf32", offset="2, 1", sizes="1, 3, 2")
_gather("C5", "4x3xf32 2x1xi32", "2x3xf32", offset="2")
_gather("C6", "4x3xf32 2x1xi32", "2xf32", offset="", collapsed="0, 0")
_gather("C7", "4x3xf32 2x1xi32", "2xf32", offset="", collapsed="1, 0", sizes="1, 1")
_gather("C8", "4x3xf32 2x1xi32", "2x3xf32", collapsed="2")
_gather("C9", "4x3xf32 2x1xi32", "2x3xf32", sizes="2, 3")
_TWO = {"offset": "", "collapsed": "0", "sizes": "1, 1, 1"}
_gather("C10", "4x2x2xf32 2x2x1xi32", "2x2xf32", **_TWO, batching="2, 1", of_indices="0, 1", vector=2)
_gather("C11", "4x3xf32 2x1xi32", "2xf32", offset="", batching="2", of_indices="0", sizes="1, 1")
_gather("C12", "4x2xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="0", sizes="1, 2")
_gather("C13", "4x2x2xf32 2x2x1xi32", "2x2xf32", **_TWO, batching="1, 2", of_indices="0, 0", vector=2)
_gather("C14", "4x2xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="3", sizes="1, 1")
_gather("C15", "4x1xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="1", sizes="1, 1")
_gather("C16", "4x2xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="", sizes="1, 1")
_gather("C17", "4x3xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="0", sizes="1, 1")
_gather("C18", "4x2xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="0", map="1", sizes="1, 1")
_gather("C19", "4x3xf32 2x1xi32", "2x3xf32", map="2")
_gather("C20", "4x3xf32 2x1xi32", "2x3xf32", sizes="1, 3, 1")
_gather("C21", "4x3xf32 2x1xi32", "2x4xf32", sizes="1, 4")
_gather("C22", "4x3xf32 2x1xi32", "2x4xf32")
_gather("C23", "4x3xf32 2x1xi32", "2x3xf64")

_SCATTER = (
    "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [{window}], inserted_window_dims = "
    "[{inserted}], input_batching_dims = [{batching}], scatter_indices_batching_dims = [{of_indices}], "
    "scatter_dims_to_operand_dims = [{map}], index_vector_dim = {vector}>"
)


def _scatter(constraint: str, operands: str, results: str, regions: str = ADD, **changed: object) -> None:
    numbers = {"window": "1", "inserted": "0", "batching": "", "of_indices": "", "map": "0", "vector": 1}
    _v("scatter", constraint, operands, _SCATTER.format(**(numbers | changed)), results, regions)


_PAIRS = _region("f32 f32 f32 f32", "", "f32 f32")
_scatter("C1", "4x3xf32 4x4xf32 2x1xi32 2x3xf32 2x3xf32", "4x3xf32 4x4xf32", _PAIRS)
_scatter("C2", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", inserted="")
_scatter("C3", "4x3xf32 4x3xf32 2x1xi32 2x3xf32 2x2xf32", "4x3xf32 4x3xf32", _PAIRS)
_scatter("C4", "4x3xf32 2x1xi32 5x3xf32", "4x3xf32")
_scatter("C6", "4x3xf32 2x1xi32 2x3xf64", "4x3xf32")
_scatter("C7", "4x3x2xf32 2x1xi32 2x3x2xf32", "4x3x2xf32", window="2, 1")
_scatter("C8", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", window="2")
_scatter("C9", "4x3xf32 2x1xi32 2xf32", "4x3xf32", window="", inserted="0, 0")
_scatter("C10", "4x3xf32 2x1xi32 2xf32", "4x3xf32", window="", inserted="1, 0")
_scatter("C11", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", inserted="2")
_scatter("C12", "4x2x2xf32 2x2x1xi32 2x2xf32", "4x2x2xf32", window="", batching="2, 1", of_indices="0, 1", vector=2)
_scatter("C13", "4x3xf32 2x1xi32 2xf32", "4x3xf32", window="", batching="2", of_indices="0")
_scatter("C14", "4x2x2xf32 2x2x1xi32 2x2xf32", "4x2x2xf32", window="", batching="1, 2", of_indices="0, 0", vector=2)
_scatter("C15", "4x2xf32 2x1xi32 2xf32", "4x2xf32", window="", batching="1", of_indices="3")
_scatter("C16", "4x1xf32 2x1xi32 2xf32", "4x1xf32", window="", batching="1", of_indices="1")
_scatter("C17", "4x2xf32 2x1xi32 2xf32", "4x2xf32", window="", batching="1")
_scatter("C18", "4x3xf32 2x1xi32 2xf32", "4x3xf32", window="", batching="1", of_indices="0")
_scatter("C19", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", map="0, 1")
_scatter("C20", "4x2xf32 2x1xi32 2xf32", "4x2xf32", window="", batching="1", of_indices="0", map="1")
_scatter("C21", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", map="2")
_scatter("C22", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", vector=3)
_scatter("C23", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", WRONG)
_scatter("C24", "4x3xf32 2x1xi32 2x3xf32", "4x4xf32")
_scatter("C25", "4x3xf32 2x1xi32 2x3xf32", "4x3xf64")

# Regions
_v("reduce", "C1", "2x3xf32 2x4xf32 f32 f32", "dimensions = array<i64: 1>", "2xf32 2xf32", _PAIRS)
_v("reduce", "C2", "2x3xf32 f64", "dimensions = array<i64: 1>", "2xf32", ADD)
_v("reduce", "C4", "2x3xf32 f32", "dimensions = array<i64: 2>", "2xf32", ADD)
_v("reduce", "C5", "2x3xf32 f32", "dimensions = array<i64: 1, 1>", "2xf32", ADD)
_v("reduce", "C6", "2x3xf32 f32", "dimensions = array<i64: 1>", "2xf32", WRONG)
_v("reduce", "C7", "2x3xf32 f32", "dimensions = array<i64: 1>", "3xf32", ADD)
_v("reduce", "C8", "2x3xf32 f32", "dimensions = array<i64: 1>", "2xf64", ADD)
_v("map", "C1", "2xf32 3xf32", "dimensions = array<i64: 0>", "2xf32", ADD)
_v("map", "C3", "2xf32 2xf32", "dimensions = array<i64: 1>", "2xf32", ADD)
_v("map", "C4", "2xf32 2xf32", "dimensions = array<i64: 0>", "2xf32", WRONG)


def _window(constraint: str, operands: str, results: str, regions: str = ADD, **changed: str) -> None:
    lists = {"window_dimensions": "2", "window_strides": "1", "base_dilations": "1", "window_dilations": "1"}
    padding = changed.pop("padding", "dense<0> : tensor<1x2xi64>")
    listed = [f"{name} = array<i64: {values}>" for name, values in (lists | changed).items()]
    _v("reduce_window", constraint, operands, ", ".join([*listed, f"padding = {padding}"]), results, regions)


_window("C2", "4xf32 5xf32 f32 f32", "3xf32 3xf32", _PAIRS)
_window("C3", "4xf32 f64", "3xf32")
for _size, _sign, _name in (("C4", "C5", "window_dimensions"), ("C6", "C7", "window_strides"),
                            ("C8", "C9", "base_dilations"), ("C10", "C11", "window_dilations")):  # fmt: skip
    _window(_size, "4xf32 f32", "3xf32", **{_name: "1, 1"})
    _window(_sign, "4xf32 f32", "3xf32", **{_name: "0"})
_window("C12", "4xf32 f32", "3xf32", padding="dense<0> : tensor<2x2xi64>")
_window("C13", "4xf32 f32", "3xf32", _region("i32 i32", "", "i32"))
_window("C15", "4xf32 f32", "4xf32")
_window("C16", "4xf32 f32", "3xf64")


def _select_and_scatter(
    constraint: str, operands: str, result: str, select: str = SELECT, scatter: str = ADD, **changed: str
) -> None:
    lists = {"window_dimensions": "2", "window_strides": "2"}
    padding = changed.pop("padding", "dense<0> : tensor<1x2xi64>")
    listed = [f"{name} = array<i64: {values}>" for name, values in (lists | changed).items()]
    _v(
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
_v("sort", "C2", "4xf32", "dimension = 0 : i64", "5xf32", SELECT)
_v("sort", "C3", "4xf32 5xf32", "dimension = 0 : i64", "4xf32 5xf32", _region("f32 f32 f32 f32", LESS, "i1"))
_v("sort", "C4", "4xf32", "dimension = 1 : i64", "4xf32", SELECT)
_v("sort", "C5", "4xf32", "dimension = 0 : i64", "4xf32", ADD)
_NONE = (
    '{\n    %y = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>\n'
    '    "stablehlo.return"(%y) : (tensor<f32>) -> ()\n  }'
)
_ONE = _region("f32", "", "f32")
_v("if", "C1", "i1", "", "f32", f"{_ONE}, {_NONE}")
_v("case", "C1", "i32", "", "f32")
_v("case", "C2", "i32", "", "f32", f"{_ONE}, {_NONE}")
_LOOP = f"{_region('f32', LESS.replace('%x1', '%x0'), 'i1')}, {_ONE}"
_OTHER = _NONE.replace("f32", "f64")
_v("if", "C2", "i1", "", "f32", f"{_NONE}, {_OTHER}")
_v("if", "C3", "i1", "", "f64", f"{_NONE}, {_NONE}")
_v("case", "C3", "i32", "", "f32", f"{_NONE}, {_OTHER}")
_v("case", "C4", "i32", "", "f64", f"{_NONE}, {_NONE}")
_v("while", "C1", "f64", "", "f64", _LOOP)
_v("while", "C2", "f32", "", "f32", f"{_region('f32', LESS.replace('%x1', '%x0'), 'i1')}, {_region('f64', '', 'f64')}")
_v("optimization_barrier", "C1", "f32 f32", "", "f32")
_v("optimization_barrier", "C2", "f32", "", "f64")

# Contractions
_DOT = (
    "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [{0}], rhs_batching_dimensions = [{1}], "
    "lhs_contracting_dimensions = [{2}], rhs_contracting_dimensions = [{3}]>"
)
_v("dot_general", "C1", "2x3xf32 2x3xf32", _DOT.format("0", "", "1", "1"), "2xf32")
_v("dot_general", "C2", "2x3xf32 2x3xf32", _DOT.format("0", "0", "1", ""), "2xf32")
_v("dot_general", "C3", "2x3xf32 2x3xf32", _DOT.format("0", "0", "0", "1"), "2xf32")
_v("dot_general", "C4", "2x3xf32 2x3xf32", _DOT.format("0", "0", "1", "0"), "2xf32")
_v("dot_general", "C5", "2x3xf32 2x3xf32", _DOT.format("2", "0", "1", "1"), "2xf32")
_v("dot_general", "C6", "2x3xf32 2x3xf32", _DOT.format("0", "0", "2", "1"), "2xf32")
_v("dot_general", "C7", "2x3xf32 2x3xf32", _DOT.format("0", "2", "1", "1"), "2xf32")
_v("dot_general", "C8", "2x3xf32 2x3xf32", _DOT.format("0", "0", "1", "2"), "2xf32")
_v("dot_general", "C9", "2x3xf32 4x3xf32", _DOT.format("0", "0", "1", "1"), "2xf32")
_v("dot_general", "C10", "2x3xf32 2x4xf32", _DOT.format("0", "0", "1", "1"), "2xf32")
_PRECISION = "precision_config = [#stablehlo<precision DEFAULT>]"
_v("dot_general", "C11", "2x3xf32 2x3xf32", f"{_DOT.format('0', '0', '1', '1')}, {_PRECISION}", "2xf32")
_v("dot_general", "C13", "2x3xf32 2x3xf64", _DOT.format("0", "0", "1", "1"), "2xf32")
_v("dot_general", "C12", "2x3xf32 2x3xf32", _DOT.format("0", "0", "1", "1"), "3xf32")


def _convolution(constraint: str, operands: str, result: str, **changed: str) -> None:
    numbers = {
        "window_strides": "array<i64: 1>", "padding": "dense<0> : tensor<1x2xi64>", "lhs_dilation": "array<i64: 1>",
        "rhs_dilation": "array<i64: 1>", "window_reversal": "array<i1: false>", "feature_group_count": "1 : i64",
        "batch_group_count": "1 : i64", "dimension_numbers": "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>",
    }  # fmt: skip
    _v("convolution", constraint, operands, ", ".join(f"{a} = {b}" for a, b in (numbers | changed).items()), result)


_SHAPES = "2x5x4xf32 3x4x6xf32"
_convolution("C1", "2x5x4xf32 3x4xf32", "2x3x6xf32")
for _size, _sign, _name in (("C2", "C3", "window_strides"), ("C5", "C6", "lhs_dilation"), ("C7", "C8", "rhs_dilation")):
    _convolution(_size, _SHAPES, "2x3x6xf32", **{_name: "array<i64: 1, 1>"})
    _convolution(_sign, _SHAPES, "2x3x6xf32", **{_name: "array<i64: 0>"})
_convolution("C4", _SHAPES, "2x3x6xf32", padding="dense<0> : tensor<2x2xi64>")
_convolution("C9", _SHAPES, "2x3x6xf32", window_reversal="array<i1: false, false>")
_convolution("C10", "3x5x4xf32 3x4x6xf32", "1x3x6xf32", batch_group_count="2 : i64")
_convolution("C11", "2x5x3xf32 3x4x6xf32", "2x3x6xf32", feature_group_count="2 : i64")
_convolution("C14", "2x5x4xf32 3x3x6xf32", "2x3x6xf32")
_convolution("C15", "2x5x4xf32 3x4x5xf32", "1x3x5xf32", batch_group_count="2 : i64")
_convolution("C16", "2x5x4xf32 3x2x5xf32", "2x3x5xf32", feature_group_count="2 : i64")
_convolution("C21", _SHAPES, "2x3x6xf32", feature_group_count="0 : i64")
_convolution("C22", _SHAPES, "2x3x6xf32", batch_group_count="0 : i64")
_convolution("C23", "2x5x4xf32 3x2x6xf32", "1x3x6xf32", feature_group_count="2 : i64", batch_group_count="2 : i64")
_convolution("C24", _SHAPES, "2x3x6xf32", precision_config="[#stablehlo<precision DEFAULT>]")
_convolution("C25", _SHAPES, "2x4x6xf32")
_convolution("C26", _SHAPES, "2x3x6x1xf32")
_convolution("C27", "2x5x4xf32 3x4x6xf64", "2x3x6xf32")

# Composites of the specification
_BN = "epsilon = 0.0 : f32, feature_index = {} : i64"
_v("batch_norm_inference", "C1", "2x3xf32 3xf32 3xf32 3xf32 3xf32", _BN.format(2), "2x3xf32")
_v("batch_norm_inference", "C2", "2x3xf32 3xf64 3xf32 3xf32 3xf32", _BN.format(1), "2x3xf32")
for _at in range(1, 5):
    _shapes = ["2x3xf32", *["3xf32"] * 4]
    _shapes[_at] = "4xf32"
    _v("batch_norm_inference", f"C{_at + 2}", " ".join(_shapes), _BN.format(1), "2x3xf32")
_v("batch_norm_inference", "C7", "2x3xf32 3xf32 3xf32 3xf32 3xf32", _BN.format(1), "2x4xf32")
_v("batch_norm_training", "C1", "2x3xf32 3xf32 3xf32", _BN.format(2), "2x3xf32 3xf32 3xf32")
_v("batch_norm_training", "C2", "2x3xf32 3xf64 3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
_v("batch_norm_training", "C3", "2x3xf32 4xf32 3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
_v("batch_norm_training", "C4", "2x3xf32 3xf32 4xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
_v("batch_norm_training", "C5", "2x3xf32 3xf32 3xf32", _BN.format(1), "2x3xf32 4xf32 3xf32")
_v("batch_norm_training", "C6", "2x3xf32 3xf32 3xf32", _BN.format(1), "2x3xf32 3xf32 4xf32")
_v("batch_norm_training", "C7", "2x3xf32 3xf32 3xf32", _BN.format(1), "2x4xf32 3xf32 3xf32")
_v("batch_norm_grad", "C1", "2x3xf32 3xf32 3xf32 3xf32 2x3xf32", _BN.format(2), "2x3xf32 3xf32 3xf32")
_v("batch_norm_grad", "C2", "2x3xf32 3xf64 3xf32 3xf32 2x3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
_v("batch_norm_grad", "C3", "2x3xf32 3xf32 3xf32 3xf32 2x4xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
_v("batch_norm_grad", "C4", "2x3xf32 3xf32 3xf32 4xf32 2x3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
_v("batch_norm_grad", "C5", "2x3xf32 4xf32 3xf32 3xf32 2x3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
_v("cholesky", "C1", "3x3xf32", "lower = true", "4x4xf32")
_v("cholesky", "C2", "3xf32", "lower = true", "3xf32")
_v("cholesky", "C3", "3x4xf32", "lower = true", "3x4xf32")
_SOLVE = "left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"
_v("triangular_solve", "C1", "3x3xf32 3x3xf64", _SOLVE, "3x3xf64")
_v("triangular_solve", "C2", "3x3xf32 3xf32", _SOLVE, "3xf32")
_v("triangular_solve", "C3", "3x3xf32 4x3xf32", _SOLVE, "4x3xf32")
_v("triangular_solve", "C4", "3x3xf32 3x2xf32", _SOLVE, "3x3xf32")
_FFT = "fft_type = #stablehlo<fft_type {}>, fft_length = array<i64: {}>"
_v("fft", "C1", "4xcomplex<f32>", _FFT.format("FFT", "4, 4"), "4xcomplex<f32>")
_v("fft", "C2", "4xcomplex<f32>", _FFT.format("FFT", "4"), "4xcomplex<f64>")
_v("fft", "C3", "2x2x2x2xcomplex<f32>", _FFT.format("FFT", "2, 2, 2, 2"), "2x2x2x2xcomplex<f32>")
_v("fft", "C4", "4xf32", _FFT.format("RFFT", "5"), "3xcomplex<f32>")
_v("fft", "C5", "4xcomplex<f32>", _FFT.format("FFT", "4"), "5xcomplex<f32>")
_v("tuple", "C2", "f32", "", "tuple<tensor<f64>>")
_v("get_tuple_element", "C2", "tuple<tensor<f32>>", "index = 0 : i32", "f64")
_v("get_tuple_element", "C1", "tuple<tensor<f32>>", "index = 1 : i32", "f32")

# Processes: main is the one process of a grid of one.

_ONE_GROUP = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"
_TWO = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
_TWICE = "replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>"
_BEYOND = "replica_groups = dense<[[1]]> : tensor<1x1xi64>"
_DEVICES = f"{_ONE_GROUP}, use_global_device_ids"

_v("all_gather", "C1", "2xf32", f"all_gather_dim = 1 : i64, {_ONE_GROUP}", "2xf32")
_v("all_gather", "C2", "2xf32", f"all_gather_dim = 0 : i64, {_TWICE}", "4xf32")
_v("all_gather", "C3", "2xf32", f"all_gather_dim = 0 : i64, {_TWO}", "4xf32")
_v("all_gather", "C4", "2xf32", f"all_gather_dim = 0 : i64, {_BEYOND}", "2xf32")
_v("all_gather", "C5", "2xf32", f"all_gather_dim = 0 : i64, {_DEVICES}", "2xf32")
_v("all_gather", "C6", "2xf32", f"all_gather_dim = 0 : i64, {_ONE_GROUP}", "3xf32")
_v("all_reduce", "C1", "2xf32", _TWICE, "2xf32", ADD)
_v("all_reduce", "C2", "2xf32", _TWO, "2xf32", ADD)
_v("all_reduce", "C3", "2xf32", _BEYOND, "2xf32", ADD)
_v("all_reduce", "C4", "2xf32", _DEVICES, "2xf32", ADD)
_v("all_reduce", "C5", "2xf64", _ONE_GROUP, "2xf64", ADD)
_v("all_reduce", "C6", "2xf32", _ONE_GROUP, "3xf32", ADD)
_v("all_reduce", "C7", "2xf32", _ONE_GROUP, "2xf64", ADD)
_v("reduce_scatter", "C1", "3xf32", f"scatter_dimension = 0 : i64, {_TWO}", "1xf32", ADD)
_v("reduce_scatter", "C2", "2xf32", f"scatter_dimension = 1 : i64, {_ONE_GROUP}", "2xf32", ADD)
_v("reduce_scatter", "C3", "2xf32", f"scatter_dimension = 0 : i64, {_TWICE}", "1xf32", ADD)
_v("reduce_scatter", "C4", "2xf32", f"scatter_dimension = 0 : i64, {_TWO}", "1xf32", ADD)
_v("reduce_scatter", "C5", "2xf32", f"scatter_dimension = 0 : i64, {_BEYOND}", "2xf32", ADD)
_v("reduce_scatter", "C6", "2xf32", f"scatter_dimension = 0 : i64, {_DEVICES}", "2xf32", ADD)
_v("reduce_scatter", "C7", "2xf64", f"scatter_dimension = 0 : i64, {_ONE_GROUP}", "2xf64", ADD)
_v("reduce_scatter", "C8", "2xf32", f"scatter_dimension = 0 : i64, {_ONE_GROUP}", "1xf32", ADD)
_v("reduce_scatter", "C9", "2xf32", f"scatter_dimension = 0 : i64, {_ONE_GROUP}", "2xf64", ADD)


def _exchange(constraint: str, split: int, concat: int, count: int, groups: str, result: str) -> None:
    attributes = f"split_dimension = {split} : i64, concat_dimension = {concat} : i64, split_count = {count} : i64"
    _v("all_to_all", constraint, "2x2xf32", f"{attributes}, {groups}", result)


_exchange("C1", 2, 0, 1, _ONE_GROUP, "2x2xf32")
_exchange("C2", 0, 0, 3, "replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>", "2x2xf32")
_exchange("C3", 0, 2, 1, _ONE_GROUP, "2x2xf32")
_exchange("C4", 0, 0, 0, _ONE_GROUP, "2x2xf32")
_exchange("C5", 0, 0, 2, _TWICE, "2x2xf32")
_exchange("C6", 0, 0, 2, _TWO, "2x2xf32")
_exchange("C7", 0, 0, 1, _BEYOND, "2x2xf32")
_exchange("C8", 0, 0, 2, "replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>", "2x2xf32")
_exchange("C9", 0, 1, 1, _ONE_GROUP, "2x3xf32")
_v("collective_broadcast", "C1", "2xf32", _TWICE, "2xf32")
_v("collective_broadcast", "C2", "2xf32", _BEYOND, "2xf32")
_v("collective_broadcast", "C3", "2xf32", _ONE_GROUP, "3xf32")


def _pairs(numbers: str, shape: str) -> str:
    return f"source_target_pairs = dense<{numbers}> : tensor<{shape}xi64>"


_TO_ITSELF = _pairs("[[0, 0]]", "1x2")
for _constraint, _given in (("C1", _pairs("[[0, 0, 0]]", "1x3")), ("C2", _pairs("[[0, 0], [0, 1]]", "2x2")),
                            ("C3", _pairs("[[0, 0], [1, 0]]", "2x2")), ("C4", _pairs("[[0, 1]]", "1x2"))):  # fmt: skip
    _CHANNEL = f"channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, {_given}"
    _v("collective_permute", _constraint, "2xf32", _given, "2xf32")
    _v("send", _constraint, "2xf32 token", _CHANNEL, "token")
    _v("recv", _constraint, "token", _CHANNEL, "2xf32 token")
_v("collective_permute", "C5", "2xf32", _TO_ITSELF, "3xf32")
_HOST = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true"
_v("send", "C5", "2xf32 token", _HOST, "token")
_v("recv", "C5", "token", _HOST, "2xf32 token")
_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
_v("recv", "C6", "token", _CHANNEL, "")
_v("recv", "C7", "token", _CHANNEL, "token token")
_v("recv", "C8", "token", _CHANNEL, "2xf32")
_v("infeed", "C1", "token", "", "")
_v("infeed", "C2", "token", "", "token token")
_v("infeed", "C3", "token", "", "2xf32")
_UNIFORM = "rng_distribution = #stablehlo<rng_distribution UNIFORM>"
_NORMAL = "rng_distribution = #stablehlo<rng_distribution NORMAL>"
_v("rng", "C1", "f32 f64 1xi64", _UNIFORM, "0xf32")
_v("rng", "C2", "i32 i32 1xi64", _NORMAL, "0xi32")
_v("rng", "C3", "f32 f32 1xi64", _UNIFORM, "1xf32")
_BITS = "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>"
_v("rng_bit_generator", "I2", "2xi64", _BITS, "2xi64 4xui32")
_v("rng_bit_generator", "C1", "2xui64", _BITS, "3xui64 4xui32")
_v("rng_bit_generator", "C2", "3xui64", _BITS, "3xui64 4xui32")

_KNOWN = "broadcast_dimensions = array<i64: 0>, known_{}_dimensions = array<i64: {}>"
_v("dynamic_broadcast_in_dim", "C8", "2xf32 2xi64", _KNOWN.format("expanding", "0, 0"), "?x?xf32")
_v("dynamic_broadcast_in_dim", "C9", "2xf32 2xi64", _KNOWN.format("expanding", "1"), "?x?xf32")
_v("dynamic_broadcast_in_dim", "C10", "2xf32 2xi64", _KNOWN.format("nonexpanding", "1"), "?x?xf32")
_ALGORITHM = (
    "algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, "
    "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, "
    "allow_imprecise_accumulation = false>"
)
_HIGH = "precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]"
_v("dot_general", "C21", "2x3xf32 2x3xf32", f"{_DOT.format('0', '0', '1', '1')}, {_HIGH}, {_ALGORITHM}", "2xf32")
