"""Quantization to integers and back: literal results of the references."""

import math
from typing import Any

import pytest

from conform.refs import UNSPECIFIED, RefTensor, lookup
from tests.refs.helpers import same, tensor

inf, nan = math.inf, math.nan
ENDS = {"quant_min": -128, "quant_max": 127}


def call(op: str, **arguments: Any) -> RefTensor:
    return lookup(f"quantized_decomposed::{op}")(**arguments)


def test_quantize_per_tensor() -> None:
    x = tensor("float32", [0.25, 0.75, -0.75, 9e9, -inf, inf, nan])
    given = {"input": x, "scale": 0.5, "zero_point": 1, **ENDS, "dtype": "int8"}
    same(call("quantize_per_tensor", **given), "int8", [1, 3, -1, 127, -128, 127, UNSPECIFIED])
    tensors = {**given, "scale": tensor("float64", [0.5]), "zero_point": tensor("int64", 1)}
    assert call("quantize_per_tensor.tensor", **tensors).data == call("quantize_per_tensor", **given).data
    ends = {"quant_min": tensor("int64", -1), "quant_max": tensor("int64", [2])}
    same(call("quantize_per_tensor.tensor2", **{**tensors, **ends}), "int8", [1, 2, -1, 2, -1, 2, UNSPECIFIED])
    with pytest.raises(ValueError, match="no integers of uint8"):
        call("quantize_per_tensor", **{**given, "dtype": "uint8"})


def test_quantize_channels_and_tokens() -> None:
    x = tensor("float16", [[1.0, 1.0], [2.0, 2.0]])
    scales, points = tensor("float32", [1.0, 0.5]), tensor("int32", [0, 10])
    given = {"input": x, "scales": scales, "zero_points": points, **ENDS, "dtype": "int16"}
    same(call("quantize_per_channel", axis=1, **given), "int16", [[1, 12], [2, 14]])
    same(call("quantize_per_channel", axis=0, **given), "int16", [[1, 1], [14, 14]])
    rows = {"scales": tensor("float32", [[1.0], [0.5]]), "zero_points": tensor("int32", [[0], [10]])}
    same(call("quantize_per_token", **{**given, **rows}), "int16", [[1, 1], [14, 14]])
    with pytest.raises(ValueError, match="for dim 2"):
        call("quantize_per_channel", axis=2, **given)


def test_dequantize() -> None:
    x = tensor("int8", [[1, 12], [2, -128]])
    told = {**ENDS, "dtype": "int8"}
    plain = call("dequantize_per_tensor", input=x, scale=0.5, zero_point=2, **told)
    same(plain, "float32", [[-0.5, 5.0], [0.0, -65.0]])
    in_half = call("dequantize_per_tensor", input=x, scale=1e3, zero_point=0, out_dtype="float16", **told)
    same(in_half, "float16", [[1000.0, 12000.0], [2000.0, -inf]])
    scales = tensor("float64", [1.0, 0.5])
    without = call("dequantize_per_channel", input=x, scales=scales, zero_points=None, axis=1, **told)
    same(without, "float32", [[1.0, 6.0], [2.0, -64.0]])
    rows = {"scales": tensor("float32", [[1.0], [2.0]]), "zero_points": tensor("int64", [[0], [1]])}
    same(call("dequantize_per_token", input=x, **rows, **told, output_dtype="float32"), "float32",
         [[1.0, 12.0], [2.0, -258.0]])  # fmt: skip
    with pytest.raises(ValueError, match="uint8"):
        call("dequantize_per_tensor", input=x, scale=1.0, zero_point=0, **{**told, "dtype": "uint8"})
