"""Ops of the dialect chlo, as its documentation has them (openxla.org/stablehlo/generated/chlo): functions are
correctly rounded, where its own lowering has formulas of many rounded steps; a broadcasting op is the op of the same
name on operands of one shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp.stablehlo.ops.choice import total_order
from conform.interp.stablehlo.ops.elementwise import REAL_OR_COMPLEX, of_torch
from conform.interp.stablehlo.registry import Call, meaning, table
from conform.interp.stablehlo.steps import next_after
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import format_named

Array = np.ndarray


def _refuse_unless(call: Call, holds: bool, found: str) -> None:
    if not holds:
        raise InvalidArguments(f"{call.op.name}: {found}")


def _operands(call: Call, *kinds: str) -> tuple[Array, ...]:
    """The arrays of operands of one type, whose elements are of these kinds."""
    first = call.operands[0]
    _refuse_unless(call, first.format.kind in kinds, f"an operand of {first.dtype}, expected {', '.join(kinds)}")
    for other in call.operands[1:]:
        same = (other.dtype, other.shape) == (first.dtype, first.shape)
        _refuse_unless(call, same, f"operands of the types {first} and {other}, expected one type")
    return tuple(one.array for one in call.operands)


# Functions of one number: chlo's name, torch's, numpy's formula for complex numbers that are not finite


def _unary(name: str, torch_name: str, fallback: Callable[[Array], Array] | None = None) -> None:
    kinds = REAL_OR_COMPLEX if fallback else ("float",)

    def function(call: Call) -> Array:
        return of_torch(f"aten::{torch_name}", *_operands(call, *kinds), fallback=fallback)

    function.__doc__ = f"{name}(operand), correctly rounded"
    meaning(f"chlo.{name}", pointwise=True)(function)


_unary("acos", "acos", np.arccos)
_unary("acosh", "acosh", np.arccosh)
_unary("asin", "asin", np.arcsin)
_unary("asinh", "asinh", np.arcsinh)
_unary("atan", "atan", np.arctan)
_unary("atanh", "atanh", np.arctanh)
_unary("cosh", "cosh", np.cosh)
_unary("sinh", "sinh", np.sinh)
_unary("tan", "tan", np.tan)
_unary("square", "square", np.square)
_unary("digamma", "digamma")
_unary("erf", "erf")
_unary("erfc", "erfc")
_unary("erf_inv", "erfinv")
_unary("lgamma", "lgamma")


@meaning("chlo.conj", pointwise=True)
def conj(call: Call) -> Array:
    """operand with the imaginary part of the other sign"""
    (x,) = _operands(call, *REAL_OR_COMPLEX)
    return np.conj(x) if call.operands[0].format.is_complex else x


def _infinite(name: str, is_such: Callable[[Array], Array]) -> None:
    def function(call: Call) -> Array:
        (x,) = _operands(call, "float")
        return is_such(x.astype(np.float64))

    function.__doc__ = f"{name}(operand)"
    meaning(f"chlo.{name}", pointwise=True)(function)


_infinite("is_inf", np.isinf)
_infinite("is_pos_inf", np.isposinf)
_infinite("is_neg_inf", np.isneginf)


# Of two numbers


@meaning("chlo.next_after", pointwise=True, selects=True)
def next_after_(call: Call) -> Array:
    """The number beside x in the direction of y: y where they are equal"""
    x, y = _operands(call, "float")
    return next_after(x, y, call.operands[0].format)


@meaning("chlo.mulhi", pointwise=True)
def mulhi(call: Call) -> Array:
    """The upper half of the product of twice as many bits"""
    x, y = _operands(call, "int", "uint")
    fmt = call.operands[0].format
    wide = x.astype(object) * y.astype(object)
    return np.asarray(wide >> fmt.bits, object).astype(fmt.storage)


# Constants


@meaning("chlo.constant", selects=True)
def constant(call: Call) -> Array:
    """value"""
    return np.asarray(call.attributes["value"])


@meaning("chlo.constant_like", selects=True)
def constant_like(call: Call) -> Array:
    """value at every place of operand"""
    value, fmt = call.attributes["value"], format_named(call.results[0].dtype)
    if not isinstance(value, bool | int | float):
        raise Unjudged(f"{call.op.name}: no meaning for the value {value}")
    return np.full(call.operands[0].shape, value, fmt.storage)


# The largest


@meaning("chlo.top_k", selects=True)
def top_k(call: Call) -> tuple[Array, Array]:
    """The k largest elements along the last dimension, the largest first, and where they are: by IEEE 754's totalOrder,
    of equal ones the first one first"""
    (operand,), k = call.operands, int(call.attributes["k"])
    _operands(call, "int", "uint", "float")
    _refuse_unless(call, operand.rank >= 1, f"an operand of {operand}, expected a last dimension")
    _refuse_unless(call, 0 <= k <= operand.shape[-1], f"k {k} of {operand}")
    wide = np.uint64 if operand.format.kind == "uint" else np.int64
    keys = total_order(operand) if operand.format.is_float else operand.array.astype(wide)
    places = np.argsort(~keys, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(operand.array, places, -1), places.astype(np.int32)


# Broadcasting


def broadcast(call: Call) -> list[Tensor]:
    """The operands in the shape of the result: the one of lower rank has its dimensions at broadcast_dimensions of the
    other one, at the last ones unless they are given."""
    rank = max(one.rank for one in call.operands)
    given = call.get("broadcast_dimensions", None)
    shaped = [_aligned(call, one, rank, given) for one in call.operands]
    try:
        shape = np.broadcast_shapes(*(one.shape for one in shaped))
    except ValueError:
        raise InvalidArguments(f"{call.op.name}: {_listed(call.operands)} have no shape in common") from None
    return [Tensor(np.broadcast_to(one, shape)) for one in shaped]


def _aligned(call: Call, one: Tensor, rank: int, given: Sequence[int] | None) -> Array:
    dims = range(rank - one.rank, rank) if given is None or one.rank == rank else [int(dim) for dim in given]
    fits = len(dims) == one.rank and all(0 <= dim < rank for dim in dims)
    fits = fits and all(dims[at] < dims[at + 1] for at in range(len(dims) - 1))
    _refuse_unless(call, fits, f"broadcast_dimensions {list(dims)} of {one} in {rank} dimensions")
    shape = [1] * rank
    for dim, size in zip(dims, one.shape, strict=True):
        shape[dim] = size
    return one.array.reshape(shape)


def _listed(operands: Sequence[Tensor]) -> str:
    return ", ".join(map(str, operands))


def _broadcasting(name: str, of: str) -> None:
    def function(call: Call) -> Array:
        return table()[of].function(replace(call, operands=tuple(broadcast(call))))

    function.__doc__ = f"{of} of the operands in one shape"
    meaning(name)(function)


_OF_STABLEHLO = (
    "add", "and", "atan2", "compare", "complex", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder",
    "select", "shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor",
)  # fmt: skip
# By the name of one that broadcasts the op that it is of operands of one shape.
BROADCASTING = {f"chlo.broadcast_{name}": f"stablehlo.{name}" for name in _OF_STABLEHLO}
BROADCASTING["chlo.broadcast_next_after"] = "chlo.next_after"
for _name, _of in BROADCASTING.items():
    _broadcasting(_name, _of)
