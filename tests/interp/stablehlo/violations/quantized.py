"""Constraints that are about quantized types."""

from __future__ import annotations

from tests.interp.stablehlo.violations.violation import violate

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
