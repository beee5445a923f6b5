"""One op on the numbers of a program: by its rule, or where all operands are exact by its semantics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np

from conform.call.aliases import canonical
from conform.call.bound import Bound, bound_call
from conform.errors import NoGolden
from conform.interp import semantics
from conform.interp.evaluate import WITHOUT_MEANING, evaluate_call
from conform.interp.golden import Golden
from conform.interp.program.number import Number
from conform.interp.program.rules import find, find_composition, is_selection, refuses
from conform.interp.program.storage import stored
from conform.interp.refusal import refuse_outside_domain
from conform.numerics.ball import ULPS, Ball
from conform.numerics.formats import compute_format
from conform.numerics.real import Real
from conform.numerics.rounding_errors import gamma, underflow

_are_steps_stored: ContextVar[bool] = ContextVar("are_steps_stored", default=False)


@contextmanager
def steps_stored(are: bool = True) -> Iterator[None]:
    """Whether an implementation may round the result of each op to its dtype, or keep it in the compute type for what
    comes next; both are honest then, so what comes next has the error of either."""
    token = _are_steps_stored.set(are)
    try:
        yield
    finally:
        _are_steps_stored.reset(token)


def apply(op: str, *args: Any, **kwargs: Any) -> Any:
    """The Numbers that `op` makes of Numbers, arrays and Python values.

    NoGolden, which names the op, where nothing sound is known of them; Unjudged where the result hangs on a comparison
    that an honest error may turn; InvalidArguments and UsageError as for any call.
    """
    call = bound_call(op, _numbers(args), {name: _number(value) for name, value in kwargs.items()}, _is_number)
    if any(one.is_written for one in call.schema.arguments):
        raise NoGolden(f"a program cannot use {call.op}, which writes into its arguments: a step makes new tensors")
    if not _are_steps_stored.get():
        return _applied(call)
    with steps_stored(are=find_composition(call.op) is not None):  # not those of a rule, which a kernel takes at once
        return _stored_step(call)


def _stored_step(call: Bound) -> Any:
    """The result of a call as a step; what only moves or selects elements rounds nothing."""
    if selects(call.op):
        result = _applied(call)
        may_round = any(one.may_round for one in call.tensors())
        return _each(lambda one: replace(one, may_round=may_round and one.array is None), result)
    result = _applied(call.with_tensors(lambda one: stored(one) if one.may_round else one))
    return _each(lambda one: replace(one, may_round=one.array is None), result)


def _each(change: Callable[[Number], Number], result: Any) -> Any:
    return tuple(map(change, result)) if isinstance(result, list | tuple) else change(result)


def _applied(call: Bound) -> Any:
    rule = find(call.op)
    if rule is not None:
        if not refuses(call.op):
            refuse_outside_domain(call.op, call.with_tensors(_stand_in).arguments)
        result = rule(**_taken(call, rule))
        if result is not NotImplemented:
            return result
    composition = find_composition(call.op)
    if composition is None or all(one.array is not None for one in call.tensors()):
        return _by_semantics(call)
    refuse_outside_domain(call.op, call.with_tensors(_stand_in).arguments)
    return composition(**_taken(call, composition))


def _stand_in(number: Number) -> np.ndarray:
    """An array of the number's shape and dtype, for what a domain asks of a tensor."""
    return np.broadcast_to(np.zeros((), number.format.storage), number.shape) if number.array is None else number.array


def _numbers(values: Any) -> list[Any]:
    return [_number(value) for value in values]


def _number(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return Number.exact(np.asarray(value))
    return type(value)(_numbers(value)) if isinstance(value, list | tuple) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, Number)


def selects(op: str) -> bool:
    """Whether the overload `op` only moves or selects elements, and so rounds nothing."""
    return is_selection(op) if find(op) is not None else semantics.traits_of(op).selects


def _taken(call: Bound, rule: Callable[..., Any]) -> Mapping[str, Any]:
    """The arguments that have a meaning and are not at their defaults, and those without any; NoGolden for one that the
    rule does not take."""
    defaults = {one.name: one.default for one in call.schema.arguments if one.has_default}
    parameters = inspect.signature(rule).parameters
    traits = semantics.traits_of(call.op)
    ignored = {*traits.ignores, *(traits.updates.by if traits.updates else ())}
    idle = WITHOUT_MEANING | ignored - parameters.keys()
    taken = {
        name: value for name, value in call.arguments.items()
        if name not in idle and (name not in defaults or isinstance(value, Number) or value != defaults[name])
    }
    if all(one.kind is not one.VAR_KEYWORD for one in parameters.values()):
        for name in taken.keys() - parameters.keys():
            raise NoGolden(f"a program cannot use {call.op} with {name}={taken[name]!r}: its rule does not take that")
    return taken


def _by_semantics(call: Bound) -> Any:
    if semantics.find(call.op) is None:
        raise NoGolden(f"a program cannot use {call.op}: the kit has no semantics for it{semantics.related(call.op)}")
    if any(one.array is None for one in call.tensors()):
        raise NoGolden(f"a program cannot use {call.op} on numbers that it has computed: no rule tells what becomes of "
                       "their errors; on arguments of the program it can")  # fmt: skip
    outcome = evaluate_call(call.with_tensors(lambda number: number.array))
    if outcome.given is not None:
        raise NoGolden(f"a program cannot use {call.op}: chance has a part in it (a module in training mode: call its "
                       "eval() first)")  # fmt: skip
    if outcome.refusal is not None and any(one.open is not None and one.open.any() for one in outcome.results):
        raise NoGolden(f"a program cannot use {call.op} here: an implementation may refuse ({outcome.refusal})")
    found = tuple(_of_golden(call.op, golden) for golden in outcome.results)
    return found[0] if len(found) == 1 else found


def _of_golden(op: str, golden: Golden) -> Number:
    """An output of an op on exact operands, with what an honest implementation may have lost of it."""
    fmt, shape = golden.format, golden.value.shape
    open_ = np.zeros(shape, bool) if golden.open is None else golden.open
    if golden.value.size == 0:
        return Number.exact(golden.value)
    if golden.real is None and not golden.alternatives and golden.ties is None:
        if not open_.any():
            return Number.exact(golden.value)
        if fmt.is_float:
            return Number(fmt, Real.exact(golden.value.astype(np.float64)), np.where(open_, np.inf, 0.0))
    if golden.real is None and fmt.is_float and golden.ties is None:
        return _chosen_of(golden, open_)
    rad = _budget(golden)
    if rad is None and (name := canonical(op).removeprefix("aten::")) in ULPS:
        rad = _within_ulps(golden, ULPS[name])
    if rad is None or golden.real is None or not fmt.is_float:
        raise NoGolden(f"a program cannot use {op} here: the kit knows no bound of its error, or of its choice")
    with np.errstate(all="ignore"):
        for other in golden.alternatives:
            beside = _budget(other)
            far = other.format != fmt or beside is None or other.real is None
            rad = np.maximum(rad, np.inf if far else np.abs((other.real - golden.real).hi) + beside)
    rad = np.where(np.isfinite(golden.real.hi) | open_ | np.isnan(rad), np.where(np.isnan(rad), np.inf, rad), 0.0)
    return Number(fmt, golden.real, np.where(open_, np.inf, rad))


def _chosen_of(golden: Golden, open_: np.ndarray) -> Number:
    """A selected element of which implementations may choose another one: off by the distance to that."""
    value = golden.value.astype(np.float64)
    rad = np.where(open_, np.inf, 0.0)
    with np.errstate(all="ignore"):
        for other in golden.alternatives:
            distance = np.abs(np.asarray(other.value, np.float64) - value)
            equal = (other.value == golden.value) | (np.isnan(value) & np.isnan(np.asarray(other.value, np.float64)))
            rad = np.maximum(rad, np.where(equal, 0.0, np.where(np.isnan(distance), np.inf, distance)))
    if not rad.any():
        return Number.exact(golden.value)
    allowed = tuple(one.value for one in (golden, *golden.alternatives))
    return Number(golden.format, Real.exact(value), rad, allowed=allowed)


def _within_ulps(golden: Golden, ulps: float) -> np.ndarray | None:
    """The absolute error of a function of known numbers, of which OpenCL states so many ulps; None of complex ones."""
    if golden.real is None or not golden.format.is_float:
        return None
    exact = Ball.exact(golden.real.hi, compute_format(golden.format))
    with np.errstate(all="ignore"):
        return exact.rounded(exact.mid, 0.0, ulps).rad


def _budget(golden: Golden) -> np.ndarray | None:
    """The absolute error before the rounding to a narrower format; None where no formula bounds it."""
    if golden.budget is not None:
        return golden.budget
    if golden.magnitude is None or golden.terms is None:
        return None
    compute = compute_format(golden.format)
    return gamma(golden.terms, compute.unit_roundoff) * golden.magnitude + golden.terms * underflow(compute)
