"""How ops take quantized tensors: the constraints of the specification that are about quantized types alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from conform.interp.stablehlo.quantization import Quantization, quantization_of
from conform.interp.stablehlo.registry import Call, Quantized

Check = Callable[[Call], None]


def of_operand(call: Call, at: int) -> Quantization | None:
    return quantization_of(call.operands[at].dtype)


def of_result(call: Call, at: int = 0) -> Quantization | None:
    return quantization_of(call.results[at].dtype)


def _listed(call: Call) -> str:
    return f"{', '.join(map(str, call.operands))} with the results {', '.join(map(str, call.results))}"


def _is_per_axis(one: Quantization | None) -> bool:
    return one is not None and one.dimension is not None


# What an op demands, by kinds of ops


def unrestricted(call: Call) -> None:
    """Any quantized tensors."""


def per_tensor(call: Call) -> None:
    """One scale for a whole tensor; the result's type is that of an operand, as the op's constraints say."""
    for at in range(len(call.operands)):
        call.require(f"I{at + 1}", not _is_per_axis(of_operand(call, at)), f"per-axis quantization of {_listed(call)}")


def per_tensor_inputs(call: Call) -> None:
    """The same of an op whose first input is a list of tensors."""
    for at in range(len(call.operands)):
        call.require("I1", not _is_per_axis(of_operand(call, at)), f"per-axis quantization of {_listed(call)}")


def _same_baseline(call: Call, constraint: str, found: list[Quantization | None]) -> None:
    baselines = {None if one is None else one.baseline for one in found}
    call.require(constraint, len(baselines) <= 1, f"quantized types that differ in more than scales: {_listed(call)}")


def numbers(operands: str, results: str | None = "", first: int = 0) -> Quantized:
    """dequantize_op_quantize: the operands, from the one at `first` on (by the constraint `operands`), and the results
    (by `results`, or the same; None of those that are not quantized) have types that differ in scales and zero points
    alone."""

    def check(call: Call) -> None:
        per_tensor(call)
        found = [of_operand(call, at) for at in range(first, len(call.operands))]
        _same_baseline(call, operands, found)
        if results is not None:
            given = [of_result(call, at) for at in range(len(call.results))]
            _same_baseline(call, results or operands, [*found, *given])

    return Quantized(check, "numbers")


AS_THEY_ARE = Quantized(unrestricted, "tensors")
PER_TENSOR = Quantized(per_tensor, "tensors")
PER_TENSOR_INPUTS = Quantized(per_tensor_inputs, "tensors")


# add


def _added(call: Call) -> None:
    lhs, rhs, result = of_operand(call, 0), of_operand(call, 1), of_result(call)
    call.require("C2", None not in (lhs, rhs, result), f"not all of them quantized: {_listed(call)}")
    call.require("C3", lhs.storage == rhs.storage == result.storage, f"storage types of {_listed(call)}")
    call.require("C4", lhs.expressed == rhs.expressed == result.expressed, f"expressed types of {_listed(call)}")
    per_axis = _is_per_axis(lhs) or _is_per_axis(rhs)
    call.require("C5", per_axis == _is_per_axis(result), f"per-axis and per-tensor quantization of {_listed(call)}")
    for constraint, one in (("C6", lhs), ("C7", rhs)):
        same = not _is_per_axis(one) or one.dimension == result.dimension
        call.require(constraint, same, f"quantization dimensions of {_listed(call)}")


ADDED = Quantized(_added, "numbers")


# Contractions


def _contracted(call: Call, both: str, storage: str, expressed: str, per_axis: str, hybrid: str) -> None:
    """The constraints that dot_general and convolution share, under their names."""
    lhs, rhs, result = of_operand(call, 0), of_operand(call, 1), of_result(call)
    call.require("I1", not _is_per_axis(lhs), f"per-axis quantization of {call.operands[0]}")
    call.require(both, (lhs is None) == (result is None) and rhs is not None, f"which are quantized: {_listed(call)}")
    if lhs is None:
        same = call.operands[0].dtype == rhs.expressed.name == call.results[0].dtype
        call.require(hybrid, same, f"expressed types of {_listed(call)}")
        return
    call.require(storage, lhs.storage == rhs.storage, f"storage types of {_listed(call)}")
    call.require(expressed, lhs.expressed == rhs.expressed == result.expressed, f"expressed types of {_listed(call)}")
    fits = _is_per_axis(rhs) or not _is_per_axis(result)
    call.require(per_axis, fits, f"a result per axis of an rhs per tensor: {_listed(call)}")


def _dotted(call: Call) -> None:
    _contracted(call, "C14", "C17", "C18", "C19", "C20")
    rhs = of_operand(call, 1)
    call.require("C15", not any(rhs.zero_points), f"a zero point that is not 0 of {call.operands[1]}")
    summed = call.attributes["dot_dimension_numbers"].get("rhs_contracting_dimensions", ())
    call.require("C16", rhs.dimension not in summed, f"contracting dimensions {list(summed)} of {call.operands[1]}")


def _convolved(call: Call) -> None:
    _contracted(call, "C28", "C31", "C32", "C33", "C34")
    dims: Mapping[str, Any] = call.attributes["dimension_numbers"]
    for constraint, one, name in (("C29", of_operand(call, 1), "kernel_output_feature_dimension"),
                                  ("C30", of_result(call), "output_feature_dimension")):  # fmt: skip
        fits = not _is_per_axis(one) or one.dimension == dims[name]
        call.require(constraint, fits, f"a quantization dimension that is not {name} of {_listed(call)}")


DOTTED, CONVOLVED = Quantized(_dotted, "numbers"), Quantized(_convolved, "numbers")


# Moves that may put the quantization dimension elsewhere


def _moved(call: Call, but_scales: bool) -> tuple[Quantization, Quantization] | None:
    """(C1) The types of operand and result: the same, per axis but for the dimension, and, with `but_scales`, for
    scales and zero points; None unless they are per axis."""
    operand, result = of_operand(call, 0), of_result(call)
    if not _is_per_axis(operand):
        call.require("C1", call.operands[0].dtype == call.results[0].dtype, _listed(call))
        return None
    kept = [None if one is None else one.baseline[:-1] for one in (operand, result)]
    same = kept[0] == kept[1] and _is_per_axis(result)
    scales = same and (operand.scales, operand.zero_points) == (result.scales, result.zero_points)
    call.require("C1", scales or (same and but_scales), _listed(call))
    return operand, result


def _reshaped(call: Call) -> None:
    if found := _moved(call, but_scales=False):
        cut = []
        for one, shape in zip(found, (call.operands[0].shape, call.results[0].shape), strict=True):
            dim = one.dimension
            cut.append(
                [None if None in part else prod(part) for part in (shape[:dim], shape[dim : dim + 1], shape[dim + 1 :])]
            )
        fits = all(None in pair or pair[0] == pair[1] for pair in zip(*cut, strict=True))
        call.require("C3", fits, f"the dimensions around the quantized one of {_listed(call)}")


def _transposed(call: Call) -> None:
    if found := _moved(call, but_scales=False):
        operand, result = found
        permutation = call.dims("permutation")
        fits = result.dimension < len(permutation) and operand.dimension == permutation[result.dimension]
        call.require("C4", fits, f"permutation {list(permutation)} of {_listed(call)}")


def _broadcast(call: Call) -> None:
    if found := _moved(call, but_scales=True):
        operand, result = found
        dims = call.dims("broadcast_dimensions")
        fits = operand.dimension < len(dims) and result.dimension == dims[operand.dimension]
        repeated = set(zip(result.scales, result.zero_points, strict=True))
        if call.operands[0].shape[operand.dimension] == 1:
            fits &= repeated <= {(operand.scales[0], operand.zero_points[0])}
        call.require("C6", fits, f"broadcast_dimensions {list(dims)} of {_listed(call)}")


RESHAPED, TRANSPOSED, BROADCAST = (Quantized(check, "integers") for check in (_reshaped, _transposed, _broadcast))
INTEGERS = Quantized(unrestricted, "integers")
