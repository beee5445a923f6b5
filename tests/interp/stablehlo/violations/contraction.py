"""Contractions."""

from __future__ import annotations

from tests.interp.stablehlo.violations.violation import violate

_DOT = (
    "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [{0}], rhs_batching_dimensions = [{1}], "
    "lhs_contracting_dimensions = [{2}], rhs_contracting_dimensions = [{3}]>"
)
violate("dot_general", "C1", "2x3xf32 2x3xf32", _DOT.format("0", "", "1", "1"), "2xf32")
violate("dot_general", "C2", "2x3xf32 2x3xf32", _DOT.format("0", "0", "1", ""), "2xf32")
violate("dot_general", "C3", "2x3xf32 2x3xf32", _DOT.format("0", "0", "0", "1"), "2xf32")
violate("dot_general", "C4", "2x3xf32 2x3xf32", _DOT.format("0", "0", "1", "0"), "2xf32")
violate("dot_general", "C5", "2x3xf32 2x3xf32", _DOT.format("2", "0", "1", "1"), "2xf32")
violate("dot_general", "C6", "2x3xf32 2x3xf32", _DOT.format("0", "0", "2", "1"), "2xf32")
violate("dot_general", "C7", "2x3xf32 2x3xf32", _DOT.format("0", "2", "1", "1"), "2xf32")
violate("dot_general", "C8", "2x3xf32 2x3xf32", _DOT.format("0", "0", "1", "2"), "2xf32")
violate("dot_general", "C9", "2x3xf32 4x3xf32", _DOT.format("0", "0", "1", "1"), "2xf32")
violate("dot_general", "C10", "2x3xf32 2x4xf32", _DOT.format("0", "0", "1", "1"), "2xf32")
_PRECISION = "precision_config = [#stablehlo<precision DEFAULT>]"
violate("dot_general", "C11", "2x3xf32 2x3xf32", f"{_DOT.format('0', '0', '1', '1')}, {_PRECISION}", "2xf32")
violate("dot_general", "C13", "2x3xf32 2x3xf64", _DOT.format("0", "0", "1", "1"), "2xf32")
violate("dot_general", "C12", "2x3xf32 2x3xf32", _DOT.format("0", "0", "1", "1"), "3xf32")


def _convolution(constraint: str, operands: str, result: str, **changed: str) -> None:
    numbers = {
        "window_strides": "array<i64: 1>", "padding": "dense<0> : tensor<1x2xi64>", "lhs_dilation": "array<i64: 1>",
        "rhs_dilation": "array<i64: 1>", "window_reversal": "array<i1: false>", "feature_group_count": "1 : i64",
        "batch_group_count": "1 : i64", "dimension_numbers": "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>",
    }  # fmt: skip
    violate(
        "convolution", constraint, operands, ", ".join(f"{a} = {b}" for a, b in (numbers | changed).items()), result
    )


_SHAPES = "2x5x4xf32 3x4x6xf32"
_convolution("C1", "2x5x4xf32 3x4xf32", "2x3x6xf32")
for _size, _sign, _name in (("C2", "C3", "window_strides"), ("C5", "C6", "lhs_dilation"), ("C7", "C8", "rhs_dilation")):
    _convolution(_size, _SHAPES, "2x3x6xf32", **{_name: "array<i64: 1, 1>"})
    _convolution(_sign, _SHAPES, "2x3x6xf32", **{_name: "array<i64: 0>"})
_convolution("C4", _SHAPES, "2x3x6xf32", padding="dense<0> : tensor<2x2xi64>")
_convolution("C9", _SHAPES, "2x3x6xf32", window_reversal="array<i1: false, false>")
_convolution("C10", "3x5x4xf32 3x4x6xf32", "1x3x6xf32", batch_group_count="2 : i64")
_convolution("C11", "2x5x3xf32 3x4x6xf32", "2x3x6xf32", feature_group_count="2 : i64")


def _raw(given: str, kernel: str, result: str) -> str:
    """Batch, feature and spatial dimensions of each, or of the kernel its input and output features."""
    names = []
    for part, (one, other), numbers in (("input", ("batch", "feature"), given),
                                        ("kernel", ("input_feature", "output_feature"), kernel),
                                        ("output", ("batch", "feature"), result)):  # fmt: skip
        first, second, spatial = numbers.split(" ", 2)
        names += [f"{part}_{one}_dimension = {first}", f"{part}_{other}_dimension = {second}",
                  f"{part}_spatial_dimensions = [{spatial}]"]  # fmt: skip
    return f"#stablehlo.conv<raw {', '.join(names)}>"


for _constraint, _dims in (
    ("C12", _raw("0 2 1, 3", "1 2 0", "0 2 1")), ("C13", _raw("0 5 1", "1 2 0", "0 2 1")),
    ("C17", _raw("0 2 1", "1 2 0, 3", "0 2 1")), ("C18", _raw("0 2 1", "1 1 0", "0 2 1")),
    ("C19", _raw("0 2 1", "1 2 0", "0 2 1, 3")), ("C20", _raw("0 2 1", "1 2 0", "0 -1 1")),
):  # fmt: skip
    _convolution(_constraint, _SHAPES, "2x3x6xf32", dimension_numbers=_dims)
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

_ALGORITHM = (
    "algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, "
    "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, "
    "allow_imprecise_accumulation = false>"
)
_HIGH = "precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]"
violate("dot_general", "C21", "2x3xf32 2x3xf32", f"{_DOT.format('0', '0', '1', '1')}, {_HIGH}, {_ALGORITHM}", "2xf32")
