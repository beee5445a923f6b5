"""An op's golden outcome: resolve the overload, bind the arguments, ask the semantics, add the other readings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conform.call.bound import Bound, bound_call
from conform.call.schemas import OpSchema
from conform.errors import InvalidArguments, Unjudged
from conform.interp import semantics
from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import fits, flat, spans
from conform.interp.golden import Golden, Outcome
from conform.interp.operands import excess_precision, steps_of
from conform.interp.promotion import category, result_type
from conform.interp.refusal import is_in_domain, refuse_outside_domain
from conform.numerics.formats import FORMATS, Format, compute_format, format_of
from conform.numerics.rounding import round_to

# Arguments that say where or how a result is stored, not what it is; torch documents no effect on values.
# cudnn_enable(d) chooses a library; implicit tells tracing that nobody wrote the expand.
WITHOUT_MEANING = frozenset({
    "device", "layout", "pin_memory", "non_blocking", "memory_format", "sparse_grad", "cudnn_enable", "cudnn_enabled",
    "implicit", "generator",
})  # fmt: skip


def is_array(value: object) -> bool:
    """Whether `value` stands for a tensor; numpy scalars are 0-d tensors."""
    return isinstance(value, np.ndarray | np.generic)


def evaluate(op: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Outcome:
    """The golden outputs of `op` ("aten::add", or with its overload) on numpy arrays and Python values.

    Raises Unjudged where the kit has no semantics or cannot decide, InvalidArguments where the op's definition
    rejects the arguments, UsageError for an unknown op or arguments that do not fit its schema.
    """
    return evaluate_call(bound_call(op, args, kwargs, is_array))


def evaluate_call(call: Bound) -> Outcome:
    """The golden outputs of a call that is bound already; raises as `evaluate`."""
    if call.meaning is not None:
        with np.errstate(all="ignore"):
            return _outcome(call.meaning(**call.arguments))
    if call.variant is not None:
        return _written(call, evaluate_call(call.returning))
    definition = semantics.find(call.op)
    if definition is None:
        raise Unjudged(f"no semantics for {call.op}{semantics.related(call.op)}")
    meant = {name: _arrays(value) for name, value in call.arguments.items() if name not in WITHOUT_MEANING}
    for name in definition.arrays:
        if not isinstance(meant[name], np.ndarray | None):
            raise Unjudged(f"no semantics for {call.op} of a Python number as {name}")
    with np.errstate(all="ignore"):  # what IEEE 754 flags, signalling NaNs too, are results here
        refuse_outside_domain(call.op, meant)
        if definition.each is not None:
            return _of_members([evaluate_call(one) for one in definition.each.members(meant)], definition.each.member)
        meant = {name: value for name, value in meant.items() if name not in definition.traits.ignores}
        if definition.traits.pointwise:
            return _by_elements(partial(_of_all_conversions, call.schema, definition.function), meant)
        if definition.traits.holds_numbers:
            return _outcome(definition.function(**meant))
        of_all = _of_all_conversions if definition.traits.converts else _of_all_readings
        outcome = of_all(call.schema, definition.function, meant)
    return replace(outcome, updated=updated) if (updated := semantics.updated_by(call)) else outcome


def _written(call: Bound, returned: Outcome) -> Outcome:
    """What the call writes, where another returns `returned`: the same, in the memory that is there. Tensors of no
    elements get the shape of what is written into them, as `torch.Tensor.resize_` tells their users to leave them."""
    arguments = {name: _arrays(value) for name, value in call.arguments.items() if name not in WITHOUT_MEANING}
    if not all(isinstance(holder, np.ndarray) for _, holder in call.variant.held_by(arguments)):
        written = " and ".join(call.variant.into)
        raise InvalidArguments(f"{call.op}: {written}: found a Python number, expected tensors, which are written into")
    goldens = [replace(golden, strides=None) for golden in returned.goldens]
    for name, golden in zip(call.variant.into, returned.results, strict=False):
        if name not in call.returning.arguments and arguments[name].size == 0:
            arguments[name] = np.broadcast_to(np.zeros((), arguments[name].dtype), golden.value.shape)
    refuse_outside_domain(call.op, arguments)
    return replace(returned, goldens=tuple(goldens))


def _of_members(outcomes: Sequence[Outcome], member: OpSchema) -> Outcome:
    """The outcome of a call of lists, each result of which has the bound of the op that it is one of."""
    rules = dict.fromkeys(outcome.refusal for outcome in outcomes if outcome.refusal)
    goldens = [golden.but_bounded_as(member.name) for outcome in outcomes for golden in outcome.goldens]
    return Outcome(tuple(goldens), ", ".join(rules) or None)


def _of_all_readings(schema: OpSchema, function: Callable[..., Any], meant: Mapping[str, Any]) -> Outcome:
    outcome = _outcome(function(**meant))
    for reading in other_readings(schema, meant):
        if is_in_domain(schema.name, {**meant, **reading}):  # a start that becomes inf is none
            outcome = _joined(outcome, _outcome(function(**{**meant, **reading})))
    return outcome


def _of_all_conversions(schema: OpSchema, function: Callable[..., Any], meant: Mapping[str, Any]) -> Outcome:
    """P84: integers beside a half type, rounded to it or to the compute type alone."""
    outcome = _of_all_readings(schema, function, meant)
    if compute_format(element := element_format(meant)) == element or not any(map(_is_integral, meant.values())):
        return outcome
    with excess_precision():
        return _joined(outcome, _of_all_readings(schema, function, meant))


def _is_integral(value: Any) -> bool:
    return isinstance(value, np.ndarray) and format_of(value).is_integer


def _by_elements(of_some: Callable[[Mapping[str, Any]], Outcome], arguments: Mapping[str, Any]) -> Outcome:
    """The outcome of an op that works element by element: of large tensors a block at a time."""
    tensors = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray) and value.ndim}
    broadcast = dict(zip(tensors, np.broadcast_arrays(*tensors.values()), strict=True))
    shape = next(iter(broadcast.values())).shape if tensors else ()
    if fits(prod(shape)):
        return of_some(arguments)
    refusals: dict[str, None] = {}

    def parts() -> Iterator[tuple[slice, Golden]]:
        for place in spans(prod(shape)):
            outcome = of_some({**arguments, **{name: flat(tensor, place) for name, tensor in broadcast.items()}})
            refusals.update(dict.fromkeys(outcome.refusal.split(", ") if outcome.refusal else ()))
            yield place, outcome.goldens[0]

    golden = assembled(parts(), prod(shape)).rearranged(lambda part: part.reshape(*shape, *part.shape[1:]))
    return Outcome((golden,), ", ".join(refusals) or None)


def _arrays(value: Any) -> Any:
    """numpy scalars as 0-d arrays, in lists too."""
    if isinstance(value, np.generic):
        return np.asarray(value)
    return [_arrays(item) for item in value] if isinstance(value, list | tuple) else value


def _outcome(result: Golden | tuple[Golden, ...] | Outcome) -> Outcome:
    if isinstance(result, Outcome):
        return result
    return Outcome(result if isinstance(result, tuple) else (result,))


def _joined(outcome: Outcome, other: Outcome) -> Outcome:
    pairs = zip(outcome.goldens, other.goldens, strict=True)
    same_shape = [mine.or_else(its) if mine.value.shape == its.value.shape else mine for mine, its in pairs]
    return replace(outcome, goldens=tuple(same_shape), refusal=outcome.refusal or other.refusal)


def other_readings(schema: OpSchema, bound: Mapping[str, Any]) -> list[dict[str, Any]]:
    """P30: the inexact Python floats, the 0-d operands wider than the tensors, and both, as the compute and the element
    type hold them: a kernel reads its numbers, and what calls it converts the operands."""
    readings = []
    for fmt in steps_of(element_format(bound)):
        rounded = {
            argument.name: _read_in(fmt, bound[argument.name])
            for argument in schema.arguments
            if argument.type in ("Scalar", "float", "Tensor") and _is_wider(bound.get(argument.name), fmt)
        }
        operands = {name: value for name, value in rounded.items() if isinstance(value, np.ndarray)}
        numbers = {name: value for name, value in rounded.items() if name not in operands}
        each = [rounded, operands, numbers] if operands and numbers else [rounded]
        readings += [some for some in each if some and some not in readings]
    return readings


def element_format(arguments: Mapping[str, Any]) -> Format:
    """The dtype that Python floats are cast to: of the first float tensor with dimensions, else the common dtype of
    0-d float tensors, else a named one, else torch's default."""
    firsts = (value[0] if isinstance(value, list) and value else value for value in arguments.values())
    tensors = [first for first in firsts if isinstance(first, np.ndarray) and category(format_of(first)) >= 2]
    if tensors:
        return _component(next((format_of(each) for each in tensors if each.ndim), result_type(*tensors)))
    named = arguments.get("dtype")
    return FORMATS[named] if named in FORMATS and FORMATS[named].is_float else FORMATS["float32"]


def _component(fmt: Format) -> Format:
    return fmt.component if fmt.is_complex else fmt


def _is_wider(value: Any, fmt: Format) -> bool:
    if isinstance(value, float | complex):
        return _read_in(fmt, value) != value and np.isfinite(value)
    if isinstance(value, np.ndarray) and value.ndim == 0 and category(format_of(value)) >= 2:
        return _component(format_of(value)).bits > fmt.bits
    return False


def _read_in(fmt: Format, value: float | complex | np.ndarray) -> float | complex | np.ndarray:
    """`value` rounded to the real format `fmt`, a complex one part by part, in the type it has."""
    if np.iscomplexobj(value):
        parts = [round_to(fmt, np.float64(part)).astype(np.float64) for part in (value.real, value.imag)]
        rounded = parts[0] + 1j * parts[1]
    else:
        rounded = round_to(fmt, np.asarray(value, np.float64)).astype(np.float64)
    return np.asarray(rounded, value.dtype) if isinstance(value, np.ndarray) else type(value)(rounded)
