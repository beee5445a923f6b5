"""torch's operators in StableHLO: each as its documentation defines it, half types computed in float32.

An operator is here where StableHLO has its meaning in a few ops. What is not here has no form, and is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.errors import UsageError
from conform.frontends.stablehlo_writer import Value, Writer
from conform.interp.dims import reduced_axes, wrap_dim
from conform.interp.promotion import float_result, result_type
from conform.numerics.formats import Format, compute_format, format_of
from conform.numerics.rounding import convert

Rule = Callable[..., Value]
_table: dict[str, Rule] = {}


def form(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated function for the overloads `names`: of a Call and the arguments by the schema's names,
    tensors as Values."""

    def register(function: Rule) -> Rule:
        _table.update({f"aten::{name}": function for name in names})
        return function

    return register


def written(
    writer: Writer, op: str, arguments: Mapping[str, Any], inputs: Mapping[str, Value]
) -> Sequence[Value]:
    """The results of an operator on these inputs, which stand for the tensors of its arguments. UsageError for one
    that has no form here, or not with these arguments."""
    rule = _table.get(op)
    if rule is None:
        known = ", ".join(sorted(name.removeprefix("aten::") for name in _table))
        raise UsageError(f"{op} has no form in StableHLO here; these have: {known}")
    if any(one.format.is_complex for one in inputs.values()):
        raise UsageError(f"{op} of complex numbers has no form in StableHLO here")
    given = {name: _given(name, value, inputs) for name, value in arguments.items()}
    return [rule(Call(writer, op, arguments), **given)]


def _given(name: str, value: Any, inputs: Mapping[str, Value]) -> Any:
    """An argument, with Values for tensors."""
    if isinstance(value, list | tuple) and f"{name}.0" in inputs:
        return [inputs[f"{name}.{at}"] for at in range(len(value))]
    return inputs.get(name, value)


@dataclass(frozen=True)
class Call:
    """One operator to be written; `arguments` as the call has them, arrays for tensors."""

    writer: Writer
    name: str
    arguments: Mapping[str, Any]

    def refuse(self, what: str) -> UsageError:
        return UsageError(f"{self.name} with {what} has no form in StableHLO here")

    def common(self, *names: str) -> Format:
        return result_type(*(self.arguments[name] for name in names))

    def to(self, value: Value | float, fmt: Format, shape: Sequence[int] | None = None) -> Value:
        """A tensor or a number in this format, and broadcast to this shape."""
        if not isinstance(value, Value):
            array = np.full(() if shape is None else shape, value)
            return self.writer.constant(convert(array, format_of(array), fmt))
        element = fmt.stablehlo_name.replace("si", "i")
        held = value if value.element == element else self.writer.op("convert", [value], element, value.shape)
        return held if shape is None or tuple(shape) == held.shape else self.spread(held, shape)

    def spread(self, value: Value, shape: Sequence[int]) -> Value:
        first = len(shape) - len(value.shape)
        dims = ", ".join(str(first + at) for at in range(len(value.shape)))
        given = f"broadcast_dimensions = array<i64{': ' if dims else ''}{dims}>"
        return self.writer.op("broadcast_in_dim", [value], value.element, shape, given)

    def moved(self, name: str, value: Value, shape: Sequence[int], **dims: Sequence[int]) -> Value:
        """An op that moves elements, with lists of integers as its attributes."""
        return self.writer.op(name, [value], value.element, shape, _lists(**dims))


def _lists(**lists: Sequence[int]) -> str:
    return ", ".join(f"{name} = array<i64{': ' if len(dims) else ''}{', '.join(map(str, dims))}>"
                     for name, dims in lists.items())  # fmt: skip


def _shape(*values: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(*(one.shape for one in values if isinstance(one, Value)))


# --- Element by element -----------------------------------------------------------------------------------------------


def _function(stablehlo: str) -> Rule:
    def function(call: Call, self: Value) -> Value:
        fmt = float_result(call.common("self"))
        compute = compute_format(fmt)
        x = call.to(self, compute)
        return call.to(call.writer.op(stablehlo, [x], x.element, x.shape), fmt)

    return function


FUNCTIONS = {
    "exp": "exponential", "expm1": "exponential_minus_one", "log": "log", "log1p": "log_plus_one", "sin": "sine",
    "cos": "cosine", "tan": "tan", "tanh": "tanh", "sigmoid": "logistic", "sqrt": "sqrt", "rsqrt": "rsqrt",
}  # fmt: skip
for _name, _stablehlo in FUNCTIONS.items():
    form(_name)(_function(_stablehlo))


def _selection(stablehlo: str) -> Rule:
    """Of floats, which nothing rounds."""

    def selection(call: Call, self: Value) -> Value:
        return call.writer.op(stablehlo, [self], self.element, self.shape) if self.format.is_float else self

    return selection


for _name in ("floor", "ceil"):
    form(_name)(_selection(_name))


@form("round")
def round_(call: Call, self: Value) -> Value:
    return _selection("round_nearest_even")(call, self)


@form("neg")
def neg(call: Call, self: Value) -> Value:
    return call.writer.op("negate", [self], self.element, self.shape)


@form("abs")
def abs_(call: Call, self: Value) -> Value:
    return call.writer.op("abs", [self], self.element, self.shape) if self.format.kind != "uint" else self


@form("relu")
def relu(call: Call, self: Value) -> Value:
    zero = call.to(0, self.format, self.shape)
    return call.writer.op("maximum", [self, zero], self.element, self.shape)


def _arithmetic(stablehlo: str, promoted: Callable[..., Format] = result_type) -> Rule:
    def arithmetic(call: Call, self: Value | float, other: Value | float, alpha: float = 1) -> Value:
        if alpha != 1:
            raise call.refuse(f"alpha={alpha}")
        fmt, shape = promoted(call.common("self", "other")), _shape(self, other)
        wide = compute_format(fmt) if fmt.is_float else fmt
        x, y = call.to(self, wide, shape), call.to(other, wide, shape)
        return call.to(call.writer.op(stablehlo, [x, y], x.element, shape), fmt)

    return arithmetic


def _same(fmt: Format) -> Format:
    return fmt


for _name, _stablehlo in (("add", "add"), ("sub", "subtract"), ("mul", "multiply")):
    form(f"{_name}.Tensor", f"{_name}.Scalar")(_arithmetic(_stablehlo, _same))
form("div.Tensor", "div.Scalar")(_arithmetic("divide", float_result))
form("maximum")(_arithmetic("maximum", _same))
form("minimum")(_arithmetic("minimum", _same))
form("atan2")(_arithmetic("atan2", float_result))


def _comparison(direction: str) -> Rule:
    def comparison(call: Call, self: Value, other: Value | float) -> Value:
        fmt, shape = call.common("self", "other"), _shape(self, other)
        return call.writer.compare(direction, call.to(self, fmt, shape), call.to(other, fmt, shape))

    return comparison


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    form(f"{_name}.Tensor")(_comparison(_name.upper()))


@form("where.self")
def where(call: Call, condition: Value, self: Value, other: Value) -> Value:
    fmt, shape = call.common("self", "other"), _shape(condition, self, other)
    chosen = call.spread(condition, shape) if condition.shape != shape else condition
    return call.writer.select(chosen, call.to(self, fmt, shape), call.to(other, fmt, shape))


# --- Moves ------------------------------------------------------------------------------------------------------------


@form("permute")
def permute(call: Call, self: Value, dims: Sequence[int]) -> Value:
    order = [wrap_dim(dim, len(self.shape)) for dim in dims]
    return call.moved("transpose", self, [self.shape[dim] for dim in order], permutation=order)


@form("transpose.int")
def transpose(call: Call, self: Value, dim0: int, dim1: int) -> Value:
    order = list(range(len(self.shape)))
    if order:
        one, other = wrap_dim(dim0, len(order)), wrap_dim(dim1, len(order))
        order[one], order[other] = order[other], order[one]
    return permute(call, self, order)


@form("t")
def t(call: Call, self: Value) -> Value:
    return permute(call, self, list(range(len(self.shape)))[::-1])


@form("flip")
def flip(call: Call, self: Value, dims: Sequence[int]) -> Value:
    turned = sorted(wrap_dim(dim, len(self.shape)) for dim in dims) if self.shape else []
    return call.moved("reverse", self, self.shape, dimensions=turned)


@form("cat")
def cat(call: Call, tensors: Sequence[Value], dim: int = 0) -> Value:
    fmt = result_type(*call.arguments["tensors"])
    given = [call.to(one, fmt) for one in tensors if one.shape != (0,)]
    if not given:
        raise call.refuse("tensors without elements alone")
    axis = wrap_dim(dim, len(given[0].shape))
    shape = list(given[0].shape)
    shape[axis] = sum(one.shape[axis] for one in given)
    return call.writer.op("concatenate", given, given[0].element, shape, f"dimension = {axis} : i64")


# --- Sums and products ------------------------------------------------------------------------------------------------


def _reduced(call: Call, value: Value, dims: Sequence[int], body: str, start: Value, keepdim: bool) -> Value:
    writer, kept = call.writer, [dim for dim in range(len(value.shape)) if dim not in dims]
    name = writer._name()
    shape = [value.shape[dim] for dim in kept]
    result = Value(name, value.element, tuple(shape))
    writer.lines.append(f"  {name} = stablehlo.reduce({value.name} init: {start.name}) applies stablehlo.{body} across "
                        f"dimensions = {list(dims)} : ({value}, {start}) -> {result}")  # fmt: skip
    if not keepdim:
        return result
    whole = [1 if dim in dims else size for dim, size in enumerate(value.shape)]
    return writer.op("reshape", [result], value.element, whole)


@form("sum.dim_IntList")
def sum_over(
    call: Call, self: Value, dim: Sequence[int] | None = None, keepdim: bool = False, dtype: str | None = None
) -> Value:
    if dtype is not None or not self.format.is_float:
        raise call.refuse("a dtype, or numbers that are no floats")
    wide = compute_format(self.format)
    x, axes = call.to(self, wide), reduced_axes(dim, len(self.shape))
    return call.to(_reduced(call, x, axes, "add", call.to(0, wide), keepdim), self.format)


@form("sum")
def sum_(call: Call, self: Value, dtype: str | None = None) -> Value:
    return sum_over(call, self, None, False, dtype)


def _extreme(body: str, sign: int) -> Rule:
    def extreme(call: Call, self: Value, dim: Sequence[int] = (), keepdim: bool = False) -> Value:
        if not self.format.is_float:
            raise call.refuse("numbers that are no floats")
        axes = reduced_axes(dim, len(self.shape))
        return _reduced(call, self, axes, body, call.to(-sign * np.inf, self.format), keepdim)

    return extreme


form("amax")(_extreme("maximum", 1))
form("amin")(_extreme("minimum", -1))


def _product(call: Call, lhs: Value, rhs: Value, numbers: str, shape: Sequence[int]) -> Value:
    """In the compute type, and rounded."""
    fmt = lhs.format
    if not fmt.is_float:
        raise call.refuse("numbers that are no floats")
    wide = compute_format(fmt).stablehlo_name
    attributes = f"dot_dimension_numbers = #stablehlo.dot<{numbers}>"
    return call.to(call.writer.op("dot_general", [lhs, rhs], wide, shape, attributes), fmt)


@form("mm")
def mm(call: Call, self: Value, mat2: Value) -> Value:
    shape = (self.shape[0], mat2.shape[1])
    return _product(call, self, mat2, "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]", shape)


@form("bmm")
def bmm(call: Call, self: Value, mat2: Value) -> Value:
    batches = "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0]"
    shape = (*self.shape[:2], mat2.shape[2])
    return _product(call, self, mat2, f"{batches}, lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]",
                    shape)  # fmt: skip


@form("dot")
def dot(call: Call, self: Value, tensor: Value) -> Value:
    return _product(call, self, tensor, "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]", ())


@form("mv")
def mv(call: Call, self: Value, vec: Value) -> Value:
    numbers = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]"
    return _product(call, self, vec, numbers, self.shape[:1])
