"""Random numbers: the specification leaves to the implementation which they are.

So they have a value here where there is but one: no elements, or an interval of one number.
"""

from __future__ import annotations

import numpy as np

from conform.errors import Unjudged
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.steps import next_after
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import format_named

STATES = {"THREE_FRY": (2,), "PHILOX": (2, 3)}  # how many numbers the state of an algorithm has


@meaning("stablehlo.rng")
def rng(call: Call) -> np.ndarray:
    """Numbers of rng_distribution between a and b, where there is one such number or none is asked for"""
    a, b, shape = call.operands
    result, distribution = call.results[0], str(call.attributes["rng_distribution"])
    call.require("C1", a.dtype == b.dtype == result.dtype, f"{a} and {b} with the result {result}")
    call.require("C2", distribution != "NORMAL" or a.format.is_float, f"the distribution {distribution} of {a}")
    stated = tuple(shape.array.tolist())
    call.require("C3", result.holds(result.dtype, stated), f"shape {list(stated)} with the result {result}")
    if 0 in stated or distribution == "UNIFORM" and _is_next(a, b):
        return np.broadcast_to(a.array, stated)
    raise Unjudged(f"{call.op.name}: which numbers of the distribution {distribution} are drawn is left to the "
                   f"implementation")  # fmt: skip


def _is_next(a: Tensor, b: Tensor) -> bool:
    """Whether [a, b) holds a alone."""
    if not a.format.is_float:
        return int(b.array) - int(a.array) == 1
    return bool(a.array < b.array) and bool(next_after(a.array, b.array, a.format) == b.array)


@meaning("stablehlo.rng_bit_generator")
def rng_bit_generator(call: Call) -> np.ndarray:
    """Bits of rng_algorithm, each of whose variants is left to the implementation: constraints alone"""
    (state,), (result, output) = call.operands, call.results
    call.require("I2", (state.dtype, state.rank) == ("uint64", 1), f"an initial_state of {state}")
    call.require("C1", result.holds(state.dtype, state.shape), f"{state} with the output_state {result}")
    algorithm = str(call.attributes["rng_algorithm"])
    sizes = STATES.get(algorithm, (state.array.size,))
    call.require("C2", state.array.size in sizes, f"{state} for the algorithm {algorithm}")
    kind = format_named(output.dtype).kind
    call.require("O2", kind in ("int", "uint", "float"), f"an output of {output.dtype}")
    raise Unjudged(f"{call.op.name}: the bits of the algorithm {algorithm} are left to the implementation")
