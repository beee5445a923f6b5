"""A case as a StableHLO program: `main` takes nothing, and gives for each output how many of its elements are wrong.

Inputs go through an optimization barrier, so that a compiler does not compute with them itself. An output is compared
with the first and the last number that it may be by the order of their codes, which tells -0 from +0; NaN is asked for
where it is what is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from conform.errors import UsageError
from conform.export.allowed import Allowed, ordered
from conform.export.case import Exported
from conform.export.stablehlo_ops import written
from conform.frontends.stablehlo import parse
from conform.frontends.stablehlo_engine import CALLED, as_called
from conform.frontends.stablehlo_writer import Value, Writer
from conform.interp.stablehlo.values import Tensor

MOST_ELEMENTS = 2**16  # of the inputs and outputs together, which stand in the file as text


def text(exported: Exported) -> str:
    """The program. UsageError for an op that has no form in StableHLO here, and for a case that is too large."""
    size = sum(one.size for one in exported.tensors.values()) + 2 * sum(one.low.size for one in exported.outputs)
    if size > MOST_ELEMENTS:
        raise UsageError(f"{exported.case.id}: {size} numbers would stand in the file, expected at most "
                         f"{MOST_ELEMENTS}")  # fmt: skip
    writer = Writer()
    inputs = {name: writer.held(array) for name, array in exported.tensors.items()}
    results = _called(writer, exported, inputs)
    counts = [_wrong(writer, one, may) for one, may in zip(results, exported.outputs, strict=True)]
    program = _head(exported) + writer.main(counts) + _private(exported)
    parse(program, "the exported program")  # MLIR verifies it
    return program


def _head(exported: Exported) -> str:
    case = exported.case
    return (
        f"// {case.id}: {case.op}, contract {exported.contract}, seed {exported.seed}\n"
        "// main gives of each output how many elements are wrong: 0 is right.\n"
    )


def _called(writer: Writer, exported: Exported, inputs: Mapping[str, Value]) -> Sequence[Value]:
    if exported.program is None:
        return written(writer, exported.case.op, exported.arguments, inputs)
    types = [str(Tensor(np.empty(one.low.shape, one.low.dtype))) for one in exported.outputs]
    return writer.several("func.call", list(inputs.values()), types, f"callee = @{CALLED}")


def _private(exported: Exported) -> str:
    """The functions of a program that is called, its main by another name."""
    return "" if exported.program is None else "\n" + as_called(exported.program.text, exported.program.op)


# --- The comparison ---------------------------------------------------------------------------------------------------


def _wrong(writer: Writer, actual: Value, may: Allowed) -> Value:
    """How many elements are wrong, int32."""
    shape = may.low.shape
    is_float = may.format.is_float
    right = _within(writer, actual, may) if is_float else writer.compare("EQ", actual, writer.constant(may.low))
    right = writer.op("or", [right, writer.constant(may.free)], "i1", shape)
    wrong = writer.op("convert", [writer.op("not", [right], "i1", shape)], "i32", shape)
    return writer.total(wrong)


def _within(writer: Writer, actual: Value, may: Allowed) -> Value:
    shape = may.low.shape
    order = _ordered(writer, actual)
    integers = f"int{may.format.bits}"
    low, high = (writer.constant(ordered(one.reshape(-1), may.format).astype(integers).reshape(shape))
                 for one in (may.low, may.high))  # fmt: skip
    above, below = writer.compare("GE", order, low), writer.compare("LE", order, high)
    is_number = writer.compare("EQ", actual, actual)
    number_wanted = writer.constant(~may.nan)
    within = writer.op("and", [writer.op("and", [above, below], "i1", shape), is_number], "i1", shape)
    within = writer.op("and", [within, number_wanted], "i1", shape)
    is_nan = writer.op("and", [writer.op("not", [is_number], "i1", shape), writer.constant(may.nan)], "i1", shape)
    return writer.op("or", [within, is_nan], "i1", shape)


def _ordered(writer: Writer, value: Value) -> Value:
    """Codes as integers in the order of their numbers, those of negative ones the other way round, as `ordered`."""
    bits = value.format.bits
    code = writer.op("bitcast_convert", [value], f"i{bits}", value.shape)
    zero = writer.constant(np.zeros(value.shape, f"int{bits}"))
    turn = writer.constant(np.full(value.shape, 2 ** (bits - 1) - 1, f"int{bits}"))
    turned = writer.op("xor", [code, turn], f"i{bits}", value.shape)
    return writer.select(writer.compare("LT", code, zero), turned, code)
