"""Constraints that are about quantized types."""

from __future__ import annotations

import re

from tests.interp.stablehlo.violations.movement import PAD, SLICE
from tests.interp.stablehlo.violations.violation import ADD, SELECT, violate

Q, OTHER = "!quant.uniform<i8:f32,0.5:3>", "!quant.uniform<i8:f32,0.25:3>"
W, STORAGE, EXPRESSED = "!quant.uniform<i8:f32,0.5>", "!quant.uniform<i16:f32,0.5>", "!quant.uniform<i8:f64,0.5>"


def axis(dim: int, size: int = 2, scale: float = 0.5) -> str:
    """A type with `size` scales along a dimension."""
    return f"!quant.uniform<i8:f32:{dim},{{{','.join([str(scale)] * size)}}}>"


violate("add", "C2", f"2x{Q} 2xf32", "", f"2x{Q}")
violate("add", "C3", f"2x{Q} 2x{STORAGE}", "", f"2x{Q}")
violate("add", "C4", f"2x{Q} 2x{EXPRESSED}", "", f"2x{Q}")
violate("add", "C5", f"2x{Q} 2x{Q}", "", f"2x{axis(0)}")
violate("add", "C6", f"2x2x{axis(0)} 2x2x{W}", "", f"2x2x{axis(1)}")
violate("add", "C7", f"2x2x{W} 2x2x{axis(0)}", "", f"2x2x{axis(1)}")

_DOT = "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
violate("dot_general", "C14", f"2x2x{Q} 2x2x{W}", _DOT, "2x2xf32")
violate("dot_general", "C15", f"2x2x{Q} 2x2x{Q}", _DOT, f"2x2x{Q}")
violate("dot_general", "C16", f"2x2x{Q} 2x2x{axis(0)}", _DOT, f"2x2x{Q}")
violate("dot_general", "C17", f"2x2x{Q} 2x2x{STORAGE}", _DOT, f"2x2x{Q}")
violate("dot_general", "C18", f"2x2x{Q} 2x2x{W}", _DOT, f"2x2x{EXPRESSED}")
violate("dot_general", "C19", f"2x2x{Q} 2x2x{W}", _DOT, f"2x2x{axis(1)}")
violate("dot_general", "C20", f"2x2xf32 2x2x{EXPRESSED}", _DOT, "2x2xf32")

_CONVOLUTION = (
    "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, "
    "batch_group_count = 1 : i64"
)
for _constraint, _lhs, _rhs, _result in (
    ("C28", Q, W, "f32"), ("C29", Q, axis(1, 1), Q), ("C30", Q, axis(2), axis(1, 3)), ("C31", Q, STORAGE, Q),
    ("C32", Q, W, EXPRESSED), ("C33", Q, W, axis(2)), ("C34", "f64", W, "f64"),
):  # fmt: skip
    violate("convolution", _constraint, f"1x3x1x{_lhs} 1x1x2x{_rhs}", _CONVOLUTION, f"1x3x2x{_result}")

violate("reshape", "C3", f"2x3x{axis(0)}", "", f"3x2x{axis(1)}")
violate("transpose", "C4", f"2x2x{axis(0)}", "permutation = array<i64: 1, 0>", f"2x2x{axis(0)}")
violate("broadcast_in_dim", "C6", f"2x2x{axis(0)}", "broadcast_dimensions = array<i64: 1, 0>", f"2x2x{axis(0)}")
violate("dynamic_reshape", "C3", f"2x3x{axis(0)} 2xi64", "", f"3x2x{axis(1)}")
violate("dynamic_broadcast_in_dim", "C6", f"2x2x{axis(0)} 2xi64", "broadcast_dimensions = array<i64: 1, 0>",
        f"2x2x{axis(0)}")  # fmt: skip
violate("uniform_quantize", "I1", "2xi32", "", f"2x{Q}")
violate("uniform_quantize", "C1", "2xf32", "", f"3x{Q}")
violate("uniform_quantize", "C2", "2xf64", "", f"2x{Q}")
violate("uniform_dequantize", "I1", "2xf32", "", "2xf32")
violate("uniform_dequantize", "C1", f"2x{Q}", "", "3xf32")
violate("uniform_dequantize", "C2", f"2x{Q}", "", "2xf64")


def _per_axis(op: str, operands: str, attributes: str, results: str, regions: str = "") -> None:
    """Each operand marked with * by itself is quantized per axis, which it may not be; the others, and those marked
    with ~, are quantized per tensor."""
    each = operands.split()
    for at, one in enumerate(each):
        if one.endswith("*"):
            given = " ".join([*each[:at], one.replace("*", axis(0)), *each[at + 1 :]])
            violate(op, f"I{at + 1}", re.sub(r"[*~]", Q, given), attributes, results.replace("~", Q), regions)


_LT = "comparison_direction = #stablehlo<comparison_direction LT>"
_per_axis("compare", "2x* 2x*", _LT, "2xi1")
for _op in ("maximum", "minimum", "multiply"):
    _per_axis(_op, "2x* 2x*", "", "2x~")
for _op in ("atan2", "divide", "power", "remainder", "subtract"):
    _per_axis(_op, "2x~ 2x*", "", "2x~")
_per_axis("clamp", "2x* 2x* 2x*", "", "2x~")
_per_axis("select", "2xi1 2x* 2x*", "", "2x~")
_per_axis("reverse", "2x*", "dimensions = array<i64: 0>", "2x~")
_per_axis("slice", "2x*", SLICE.format(0, 1, 1), "1x~")
_per_axis("concatenate", "2x* 2x~", "dimension = 0 : i64", "4x~")
_per_axis("pad", "2x* 2x*", PAD.format(0, 0, 0), "2x~")
_per_axis("dynamic_slice", "2x* 2x*", "slice_sizes = array<i64: 1>", "1x~")
_per_axis("dynamic_update_slice", "2x* 2x* 2x*", "", "2x~")
_per_axis("dynamic_pad", "2x* 2x* 1xi64 1xi64 1xi64", "", "2x~")
_per_axis("real_dynamic_slice", "2x* 1xi64 1xi64 1xi64", "", "2x~")
violate("real_dynamic_slice", "C1", f"2x{Q} 1xi64 1xi64 1xi64", "", f"2x{axis(0)}")
_BN = "epsilon = 0.0 : f32, feature_index = 0 : i64"
_per_axis("batch_norm_inference", "2x~ 2x* 2x* 2x* 2x*", _BN, "2x~")
_per_axis("batch_norm_training", "2x~ 2x* 2x*", _BN, "2x~ 2x~ 2x~")
_per_axis("batch_norm_grad", "2x~ 2x* 2x* 2x* 2x*", _BN, "2x~ 2x~ 2x~")
_SOLVE = "left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"
_per_axis("triangular_solve", "2x2x~ 2x2x*", _SOLVE, "2x2x~")
_per_axis("dot_general", "2x2x* 2x2x~", _DOT, "2x2x~")
_per_axis("convolution", "2x3x1x* 1x1x2x~", _CONVOLUTION, "2x3x2x~")
_GATHER = (
    "dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
    "index_vector_dim = 1>"
)
_per_axis("gather", "2x2x* 2xi32", f"{_GATHER}, slice_sizes = array<i64: 1, 2>", "2x2x~")
_per_axis("dynamic_gather", "2x2x~ 2xi32 2x*", _GATHER, "2x2x~")
_SCATTER = "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], index_vector_dim = 1>"
_per_axis("scatter", "2x* 2xi32 2x~", _SCATTER, "2x~", ADD)
_DIMS, _PADDING = "dimensions = array<i64: 0>", "padding = dense<0> : tensor<1x2xi64>"
_per_axis("map", "2x* 2x~", _DIMS, "2x~", ADD)
_per_axis("reduce", f"2x* {Q}", _DIMS, Q, ADD)
_per_axis("reduce_window", f"2x* {Q}", f"window_dimensions = array<i64: 1>, {_PADDING}", "2x~", ADD)
_WINDOW = f"window_dimensions = array<i64: 1>, window_strides = array<i64: 1>, {_PADDING}"
_per_axis("select_and_scatter", "2x* 2x* 2x*", _WINDOW, "2x~", f"{SELECT}, {ADD}")
_per_axis("sort", "2x*", "dimension = 0 : i64", "2x~", SELECT)
_per_axis("optimization_barrier", "2x*", "", "2x~")
_GROUPS = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"
_per_axis("all_gather", "2x*", f"all_gather_dim = 0 : i64, {_GROUPS}", "2x~")
_per_axis("all_reduce", "2x*", _GROUPS, "2x~", ADD)
_per_axis("reduce_scatter", "2x*", f"scatter_dimension = 0 : i64, {_GROUPS}", "2x~", ADD)
_EXCHANGE = "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64"
_per_axis("all_to_all", "2x*", f"{_EXCHANGE}, {_GROUPS}", "2x~")
_per_axis("collective_broadcast", "2x*", _GROUPS, "2x~")
_per_axis("collective_permute", "2x*", "source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>", "2x~")

# Ops that take no quantized tensors
violate("convert", "I1", f"2x{Q}", "", "2xf32")
violate("fft", "I1", f"2x{Q}", "fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 2>", "2xcomplex<f32>")
violate("rng", "I1", f"{Q} {Q} 1xi64", "rng_distribution = #stablehlo<rng_distribution UNIFORM>", f"0x{Q}")
