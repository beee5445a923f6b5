"""Elementwise ops, casts and choices."""

from __future__ import annotations

from tests.interp.stablehlo.violations.violation import violate

_OF_FLOATS = (
    "cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate rsqrt sign sine sqrt"
)
for _op in (*_OF_FLOATS.split(), "round_nearest_afz", "round_nearest_even", "tan", "tanh"):
    violate(_op, "C1", "2xf32", "", "3xf32")
for _op in ("count_leading_zeros", "not", "popcnt"):
    violate(_op, "C1", "2xi32", "", "3xi32")
for _op in ("add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"):
    violate(_op, "C1", "2xf32 3xf32", "", "2xf32")
for _op in ("and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"):
    violate(_op, "C1", "2xi32 3xi32", "", "2xi32")

# (I1), the kinds of numbers that an op takes; add, and what only chooses, take every one
for _op in (*_OF_FLOATS.split(), "tan", "tanh", "round_nearest_afz", "round_nearest_even"):
    if _op not in ("negate", "sign"):
        violate(_op, "I1", "2xi32", "", "2xi32")
for _op, _dtype in (("abs", "ui32"), ("sign", "ui32"), ("negate", "i1"), ("not", "f32"), ("popcnt", "f32"),
                    ("count_leading_zeros", "f32"), ("real", "i32"), ("imag", "i32")):  # fmt: skip
    violate(_op, "I1", f"2x{_dtype}", "", f"2x{_dtype}")
for _op, _dtype in (("atan2", "i32"), ("divide", "i1"), ("power", "i1"), ("subtract", "i1"),
                    ("remainder", "complex<f32>"), ("and", "f32"), ("or", "f32"), ("xor", "f32"), ("shift_left", "f32"),
                    ("shift_right_arithmetic", "f32"), ("shift_right_logical", "f32")):  # fmt: skip
    violate(_op, "I1", f"2x{_dtype} 2x{_dtype}", "", f"2x{_dtype}")
violate("complex", "I1", "2xf16 2xf16", "", "2xcomplex<f32>")
violate("is_finite", "I1", "2xi32", "", "2xi1")
violate("select", "I1", "2xi32 2xf32 2xf32", "", "2xf32")
violate("reduce_precision", "I1", "2xi32", "exponent_bits = 5 : i32, mantissa_bits = 2 : i32", "2xi32")

violate("abs", "C1", "2xf32", "", "3xf32")
violate("abs", "C2", "2xf32", "", "2xf64")
violate("complex", "C1", "2xf32 3xf32", "", "2xcomplex<f32>")
violate("complex", "C2", "2xf32 2xf32", "", "3xcomplex<f32>")
violate("complex", "C3", "2xf32 2xf32", "", "2xcomplex<f64>")
for _op in ("real", "imag"):
    violate(_op, "C1", "2xcomplex<f32>", "", "3xf32")
    violate(_op, "C2", "2xcomplex<f32>", "", "2xf64")
violate("is_finite", "C1", "2xf32", "", "3xi1")
violate("clamp", "C1", "3xf32 2xf32 f32", "", "2xf32")
violate("clamp", "C2", "f32 2xf32 3xf32", "", "2xf32")
violate("clamp", "C3", "f64 2xf32 f32", "", "2xf32")
violate("clamp", "C4", "f32 2xf32 f32", "", "3xf32")
violate("select", "C1", "3xi1 2xf32 2xf32", "", "2xf32")
violate("select", "C2", "2xi1 2xf32 2xf64", "", "2xf32")
_LT = "comparison_direction = #stablehlo<comparison_direction LT>"
violate("compare", "C1", "2xf32 2xf64", _LT, "2xi1")
violate("compare", "C2", "2xf32 3xf32", _LT, "2xi1")
violate("compare", "C3", "2xi32 2xi32", f"{_LT}, compare_type = #stablehlo<comparison_type FLOAT>", "2xi1")
violate("bitcast_convert", "C1", "2xf32", "", "2x3xi8")
violate("bitcast_convert", "C2", "2xcomplex<f32>", "", "2xf64")
violate("convert", "C1", "2xf32", "", "3xf64")
violate("reduce_precision", "C1", "2xf32", "exponent_bits = 5 : i32, mantissa_bits = 2 : i32", "3xf32")
violate("reduce_precision", "C2", "2xf32", "exponent_bits = 0 : i32, mantissa_bits = 2 : i32", "2xf32")
violate("reduce_precision", "C3", "2xf32", "exponent_bits = 5 : i32, mantissa_bits = -1 : i32", "2xf32")
