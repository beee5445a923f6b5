"""Ops that make tensors of nothing: the domains of their arguments."""

from __future__ import annotations

import math

from conform.domains.engine.arguments import Argument, dtype, length, optional, real, result, scalar
from conform.domains.engine.constraints import Constraint, Dtype, Value
from conform.domains.engine.dtypes import DEFAULT_FLOAT, FLOATS, INTEGERS, NUMBERS
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, NUMBERS_WITH_INFINITIES, REALS, Space
from conform.domains.engine.vocabulary import NOT_MANY, shaped
from conform.domains.specs import spec

MOST = 300  # numbers that an arange has here: more than int8 and uint8 hold
NOT_TRUNCATED = "torch truncates the numbers of integral dtypes, and documents neither when nor how"


def _number(name: str, *constraints: Constraint) -> Argument:
    """A real number, an integer where the dtype is integral."""
    truncated = Dtype.NotIn(lambda dtype: ("float",) if dtype in INTEGERS else ()).lenient(NOT_TRUNCATED)
    return scalar(name, Dtype.Ne("complex"), truncated, *constraints)


def _within(space: Space, text: str) -> Constraint:
    """The number lies in a space of reals; a complex one is refused for that, and in none."""
    return Value.In(lambda own: ANYTHING if own.dtype == "complex" else space, ("",), text)


def _beyond(end: MetaArgument, start: complex, step: complex) -> Space:
    """What does not lie before the start."""
    if complex in map(type, (start, step)) or end.dtype == "complex":  # refused for that, and without an order
        return ANYTHING
    return REALS.narrowed("Ge" if step > 0 else "Le", start)


def _not_far(end: MetaArgument, start: complex, step: complex) -> Space:
    """What is at most `MOST` steps away from the start."""
    if complex in map(type, (start, step)) or end.dtype == "complex":
        return ANYTHING
    return REALS.narrowed("Le" if step > 0 else "Ge", start + MOST * step)


START = _number("start", _within(REALS, "the finite numbers"))
# A bool end may lie on neither side of the start that it can be drawn for.
NO_BOOL = Dtype.Ne("bool").lenient("torch takes False and True as 0 and 1")
DTYPE = optional(dtype("dtype", Value.In(NUMBERS)))


def _dtype_of(dtype: str | None, *numbers: MetaArgument) -> str:
    """the dtype given, else int64 if all numbers are integers, else float32"""
    return dtype or (DEFAULT_FLOAT if any(number.dtype == "float" for number in numbers) else "int64")


def _count(start: float, end: float, step: float) -> tuple[int]:
    """ceil((end - start) / step), in double for floats (torch.arange)."""
    if all(isinstance(number, int) for number in (start, end, step)):
        return (-((start - end) // step),)
    return (math.ceil((end - start) / step),)


spec(
    "aten::arange",
    _number(
        "end",
        Value.In(lambda end: _beyond(end, 0, 1), text="[0, inf)"),
        Value.In(lambda end: _not_far(end, 0, 1), text=f"(-inf, {MOST}]").lenient(NOT_MANY),
    ),
    DTYPE,
    result(Dtype.Eq(_dtype_of, ("dtype", "end")), shaped(lambda end: _count(0, end.value, 1))),
)
spec(
    "aten::arange.start",
    START,
    _number(
        "end",
        NO_BOOL,
        Value.In(lambda end, start: _beyond(end, start.value, 1), text="[start, inf)"),
        Value.In(lambda end, start: _not_far(end, start.value, 1), text=f"(-inf, start + {MOST}]").lenient(NOT_MANY),
    ),
    DTYPE,
    result(
        Dtype.Eq(_dtype_of, ("dtype", "start", "end")), shaped(lambda start, end: _count(start.value, end.value, 1))
    ),
)
spec(
    "aten::arange.start_step",
    START,
    _number(
        "end",
        NO_BOOL,
        Value.In(
            lambda end, start, step: _beyond(end, start.value, step.value),
            text="[start, inf) if 0 < step else (-inf, start]",
        ),
        Value.In(
            lambda end, start, step: _not_far(end, start.value, step.value),
            text=f"(-inf, start + {MOST} step] if 0 < step else [start + {MOST} step, inf)",
        ).lenient(NOT_MANY),
    ),
    _number("step", Value.Ne(0), _within(NUMBERS_WITH_INFINITIES, "all numbers but NaN")),
    DTYPE,
    result(
        Dtype.Eq(_dtype_of, ("dtype", "start", "end", "step")),
        shaped(lambda start, end, step: _count(start.value, end.value, step.value)),
    ),
)

BEYOND = "whether a number of the range, or a step between two, overflows depends on the formula"


def _end(name: str) -> Argument:
    return scalar(
        name,
        Dtype.Ne("complex").unjudged("torch takes complex numbers, and the kit has no semantics for them"),
        _within(REALS.narrowed("Ge", -30000.0).narrowed("Le", 30000.0), "[-30000, 30000]").unjudged(BEYOND),
    )


HOW_MANY = (Value.Ge(0), Value.Le(300).lenient(NOT_MANY), Value.Be((7, 50)))
OF_FLOATS = optional(dtype("dtype", Value.In(FLOATS).unjudged("integers that no step meets: torch documents nothing")))
AS_MANY = result(Dtype.Eq(lambda dtype: dtype or DEFAULT_FLOAT), shaped(lambda steps: (steps,)))
spec("aten::linspace", _end("start"), _end("end"), length("steps", *HOW_MANY), OF_FLOATS, AS_MANY)


def _exponent(name: str) -> Argument:
    return scalar(
        name,
        Dtype.Ne("complex").unjudged("torch takes complex numbers, and the kit has no semantics for them"),
        _within(REALS.within(-100.0, 100.0), "[-100, 100]").unjudged(BEYOND),
    )


spec(
    "aten::logspace",
    _exponent("start"),
    _exponent("end"),
    length("steps", *HOW_MANY, Value.Ne(1).unjudged("torch may refuse a single power that overflows")),
    real(
        "base",
        Value.In(REALS.within(1 / 16, 16.0)).unjudged("P214: powers of 0, negative numbers and those beyond the range"),
        Value.Be((2.0, 10.0)),
    ),
    OF_FLOATS,
    AS_MANY,
)
