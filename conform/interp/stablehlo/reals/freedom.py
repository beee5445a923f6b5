"""What the specification leaves to the implementation of ops that round nothing: elements of which nothing is known.

Division of integers by zero, powers with negative exponents, shifts by all bits, integers from floats that they cannot
hold (openxla/stablehlo, spec.md: "implementation-defined", or no word); the order of equal elements that are sorted
without `is_stable`, of updates for one place, and of a reduction (scatter, reduce: "implementation-defined").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.choice import choice
from conform.interp.program.form import Function
from conform.interp.program.number import Number
from conform.interp.stablehlo.ops.indexing import update_places
from conform.interp.stablehlo.reals.exact import exactly, known, on_tensors
from conform.interp.stablehlo.regions import on_elements, operation_of
from conform.interp.stablehlo.registry import Call
from conform.interp.stablehlo.two_complement import codes_of
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import Format, format_named

# Bodies of reductions that give the same integers and bools in whatever order, and of floats the same selection.
WITHOUT_ORDER = frozenset(f"stablehlo.{name}" for name in ("add", "multiply", "and", "or", "xor", "maximum", "minimum"))


def freely(call: Call) -> tuple[Number, ...]:
    """The results of `exactly`, with what is free in them."""
    results = exactly(call)
    free = _FREE.get(call.op.name)
    masks = None if free is None else free(call)
    if masks is None or not masks.any():
        return results
    return tuple(_unknown(one, np.broadcast_to(masks, one.shape)) for one in results)


def _unknown(result: Number, free: np.ndarray) -> Number:
    if result.format.is_float:
        return replace(result, rad=np.where(free, np.inf, 0.0), array=None)
    if result.format.is_complex:
        raise NoGolden("what the specification leaves open of complex numbers")
    return choice(result.format, [result.array], free)


def is_replacing(region: Function) -> bool:
    """Whether a region gives its second argument, the update."""
    return not region.ops and region.results == (region.arguments[-1].name,)


# --- By op ------------------------------------------------------------------------------------------------------------


def _format(call: Call) -> Format:
    return call.operands[0].format


def _arrays(call: Call) -> list[np.ndarray]:
    return [one.array for one in call.operands]


def _quotient(call: Call) -> np.ndarray | None:
    if not _format(call).is_integer:
        return None
    x, y = _arrays(call)
    fmt = _format(call)
    return (y == 0) | ((x == fmt.min_value) & (y == -1) if fmt.kind == "int" else False)


def _power(call: Call) -> np.ndarray | None:
    return call.operands[1].array < 0 if _format(call).kind == "int" else None


def _shift(call: Call) -> np.ndarray:
    fmt = _format(call)
    return codes_of(call.operands[1].array, fmt) >= fmt.bits


def _conversion(call: Call) -> np.ndarray | None:
    """Of complex numbers the real part is what an integer may not hold."""
    (x,) = call.operands
    limits = format_named(call.results[0].dtype)
    if not (x.format.is_float or x.format.is_complex) or not limits.is_integer:
        return None
    whole = np.trunc(x.array.real.astype(np.float64))
    return ~((whole >= float(limits.min_value)) & (whole < float(limits.max_value) + 1.0))


def _sorted(call: Call) -> np.ndarray | None:
    """Lines in which elements lie side by side that are equal to the comparator, and are not the same."""
    if bool(call.get("is_stable", False)):
        return None
    dim, (comparator,) = int(call.get("dimension", -1)), call.regions
    lines = [np.moveaxis(one.array, dim, 0) for one in exactly(call)]
    neighbours = [(line[:-1], line[1:]) for line in lines]
    before, behind = (
        on_elements(on_tensors(comparator), *(one for pair in neighbours for one in pair[::step]))[0]
        for step in (1, -1)
    )  # fmt: skip
    differs = np.logical_or.reduce([_unlike(*pair) for pair in neighbours])
    return np.moveaxis(((before == behind) & differs).any(axis=0, keepdims=True), 0, dim)


def _unlike(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Other elements: NaNs and zeros by their codes."""
    codes = np.dtype(f"V{lhs.dtype.itemsize}")
    return np.ascontiguousarray(lhs).view(codes) != np.ascontiguousarray(rhs).view(codes)


def _scattered(call: Call) -> np.ndarray | None:
    """Places that several updates are for, unless what joins them has no order."""
    (region,) = call.regions
    if operation_of(region.function) in WITHOUT_ORDER:
        return None
    if len(call.operands) != 3 or not is_replacing(region.function):
        raise NoGolden(f"{call.op.name}: its region may hang on the order of updates, which is free")
    return counted(call) > 1


def targets(call: Call) -> np.ndarray:
    """Of every element of a scatter's updates its place in the flat operand, -1 where it has none."""
    operand, indices, updates = call.operands
    stand_ins = (Tensor(np.zeros(one.shape, np.int64)) for one in (operand, updates))
    of_operand, of_updates = ([one] for one in stand_ins)
    places, valid = update_places(call, of_operand, known(call, indices), of_updates)
    return np.where(valid, places, -1)


def counted(call: Call) -> np.ndarray:
    """How many updates each element of a scatter's operand gets."""
    operand, places = call.operands[0], targets(call)
    size = int(np.prod(operand.shape, dtype=np.int64))
    return np.bincount(places[places >= 0], minlength=size).reshape(operand.shape)


def _select_and_scattered(call: Call) -> None:
    """Windows are reduced, and what is chosen is joined, in an order that is free: a comparison of integers keeps the
    same one in any."""
    select, scatter = call.regions
    if not is_comparison(select.function) or operation_of(scatter.function) not in WITHOUT_ORDER:
        raise NoGolden(f"{call.op.name}: its regions may hang on the order of elements, which is free")


def is_comparison(select: Function) -> bool:
    """Whether a region is one comparison by size, of its arguments in their order."""
    if operation_of(select) != "stablehlo.compare":
        return False
    (op,) = select.ops
    in_order = op.operands == tuple(one.name for one in select.arguments)
    return in_order and op.attributes["comparison_direction"] in ("GE", "GT", "LE", "LT")


def _reduced(call: Call) -> None:
    if operation_of(call.regions[0].function) not in WITHOUT_ORDER:
        raise NoGolden(f"{call.op.name}: its region may hang on the order of elements, which is free")


_FREE: dict[str, Callable[[Call], np.ndarray | None]] = {
    "stablehlo.divide": _quotient, "stablehlo.remainder": _quotient, "stablehlo.power": _power,
    "stablehlo.shift_left": _shift, "stablehlo.shift_right_arithmetic": _shift,
    "stablehlo.shift_right_logical": _shift, "stablehlo.convert": _conversion, "stablehlo.sort": _sorted,
    "stablehlo.scatter": _scattered, "stablehlo.reduce": _reduced, "stablehlo.reduce_window": _reduced,
    "stablehlo.select_and_scatter": _select_and_scattered,
}  # fmt: skip
