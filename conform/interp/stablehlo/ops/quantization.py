"""Between quantized tensors and the numbers that they stand for."""

from __future__ import annotations

from conform.interp.stablehlo.dequantized import dequantize, quantize
from conform.interp.stablehlo.quantization import quantization_of
from conform.interp.stablehlo.quantized import AS_THEY_ARE
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor


@meaning("stablehlo.uniform_quantize", pointwise=True, quantized=AS_THEY_ARE)
def uniform_quantize(call: Call) -> Tensor:
    """operand, which is of floats or quantized, in the quantized type of the result"""
    (operand,), value = call.operands, call.results[0]
    target, source = quantization_of(value.dtype), operand.quantization
    is_float = source is None and operand.format.is_float
    call.require("I1", source is not None or is_float, f"an operand of {operand.dtype}, expected float or quantized")
    call.require("C1", value.holds(value.dtype, operand.shape), f"{operand} with the result {value}")
    expressed = operand.format if source is None else source.expressed
    call.require("C2", target is not None and target.expressed == expressed, f"{operand} with the result {value}")
    return quantize(operand.array if source is None else dequantize(operand).array, target)


@meaning("stablehlo.uniform_dequantize", pointwise=True, quantized=AS_THEY_ARE)
def uniform_dequantize(call: Call) -> Tensor:
    """The numbers that operand stands for, in its expressed type"""
    (operand,), value = call.operands, call.results[0]
    call.require("I1", operand.quantization is not None, f"an operand of {operand.dtype}, expected quantized")
    call.require("C1", value.holds(value.dtype, operand.shape), f"{operand} with the result {value}")
    expressed = operand.quantization.expressed.name
    call.require("C2", value.dtype == expressed, f"{operand} with the result {value}")
    return dequantize(operand)
