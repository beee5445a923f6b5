"""Numbers at equal distances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import spans
from conform.interp.golden import Golden, Outcome
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import DEFAULT_FLOAT, category, format_of_operand
from conform.interp.semantics import semantics
from conform.numerics import arithmetic, functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly, resolved, root
from conform.numerics.formats import FORMATS, Format, format_named
from conform.numerics.real import Real
from conform.numerics.rounding_errors import held_format, joined

Number = bool | int | float
MOST_ROOTS = 64  # no double has a rational root of a higher degree, but for 1 and powers of two far beyond 2^64
MOST_ELEMENTS = 1 << 28  # of which a golden takes 10 GiB


def _steps(arguments: Mapping[str, Any]) -> int:
    """From start to end, one more for rounding; none of numbers that are refused."""
    start, end, step = arguments.get("start", 0), arguments["end"], arguments.get("step", 1)
    if any(isinstance(number, complex) or not math.isfinite(number) for number in (start, end, step)) or step == 0:
        return 0
    return max(0, int((Fraction(end) - Fraction(start)) / Fraction(step))) + 1


@semantics("aten::arange", elements=_steps)
def arange(end: Number, dtype: str | None = None) -> Golden | Outcome:
    """0, 1, ... below end"""
    return arange_step(0, end, 1, dtype)


@semantics("aten::arange.start", elements=_steps)
def arange_start(start: Number, end: Number, dtype: str | None = None) -> Golden | Outcome:
    """start, start + 1, ... below end"""
    return arange_step(start, end, 1, dtype)


@semantics("aten::arange.start_step", elements=_steps)
def arange_step(start: Number, end: Number, step: Number = 1, dtype: str | None = None) -> Golden | Outcome:
    """start + i * step for i = 0 .. ceil((end - start) / step) - 1; int64 if all three are integers, else float32; of
    an integral dtype all three are truncated first (P83)"""
    integral = all(category(format_of_operand(number)) < 2 for number in (start, end, step))
    fmt = format_named(dtype) if dtype else FORMATS["int64"] if integral else DEFAULT_FLOAT
    if not fmt.is_float:
        golden = _integers(fmt, *(_truncated(number, fmt) for number in (start, end, step)))
        return Outcome((golden,), refusal=None if integral else "P83")
    count = _count(start, end, step)
    return assembled(((place, _floats(fmt, start, step, place)) for place in spans(count)), count)


def _truncated(number: Number, fmt: Format) -> int:
    if not math.isfinite(number):
        raise InvalidArguments(f"arange of {fmt.name} with {number}, which is no integer")
    return int(number)


def _integers(fmt: Format, start: int, end: int, step: int) -> Golden:
    if step == 0 or (end - start) * step < 0:
        raise InvalidArguments(f"arange of {fmt.name} from {start} to {end} by {step}")
    integers = np.empty(_count(start, end, step), fmt.storage)
    for place in spans(integers.size):
        with np.errstate(over="ignore"):
            integers[place] = (start + np.arange(place.start, place.stop) * step).astype(fmt.storage)
    return exact(integers, fmt)


def _floats(fmt: Format, start: Number, step: Number, place: slice) -> Golden:
    """start + i * step for the i of `place`."""
    i = np.arange(place.start, place.stop)
    value, real = arithmetic.axpy(fmt, np.float64(step), np.full(i.size, float(start)), i.astype(np.float64))
    ball = Ball.exact(i, held_format(fmt)) * float(step) + float(start)
    block = ball.compute.unit_roundoff * np.maximum(abs(start), np.abs(ball.mid))  # the rounding of start + k * step
    return Golden.derived(fmt, value, real, replace(ball, rad=joined(ball.rad, block)))


def _count(start: Number, end: Number, step: Number) -> int:
    """ceil((end - start) / step), in double for floats as torch documents, exactly for integers.

    Raises InvalidArguments where no tensor has so many elements, Unjudged where their golden would not fit memory.
    """
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        count = -((start - end) // step)
    else:
        quotient = np.divide(np.float64(end) - np.float64(start), np.float64(step))
        count = math.ceil(quotient) if np.isfinite(quotient) else 2**63
    what = f"aten::arange from {start} to {end} by {step}"
    if count >= 2**63:
        raise InvalidArguments(f"{what}: more elements than the 2^63 - 1 that a tensor may have")
    if count > MOST_ELEMENTS:
        raise Unjudged(f"{what}: a golden of {count} elements; the kit makes aranges of {MOST_ELEMENTS} at most")
    return count


@semantics("aten::linspace", elements=lambda arguments: arguments["steps"])
def linspace(start: Number, end: Number, steps: int, dtype: str | None = None) -> Golden:
    """start + i * (end - start) / (steps - 1) for i = 0 .. steps - 1 (P102); of one step start alone; without
    dtype float32"""
    fmt = format_named(dtype) if dtype else DEFAULT_FLOAT
    return assembled(((place, _between(fmt, start, end, steps, place)) for place in spans(steps)), steps)


@semantics("aten::logspace", elements=lambda arguments: arguments["steps"])
def logspace(start: Number, end: Number, steps: int, base: float = 10.0, dtype: str | None = None) -> Golden:
    """base^(start + i * (end - start) / (steps - 1)) for i = 0 .. steps - 1 (P214); of one step base^start alone;
    without dtype float32"""
    fmt = format_named(dtype) if dtype else DEFAULT_FLOAT
    return assembled(((place, _powers(fmt, start, end, steps, base, place)) for place in spans(steps)), steps)


def _powers(fmt: Format, start: Number, end: Number, steps: int, base: float, place: slice) -> Golden:
    """The powers of `place`."""
    i, parts = np.arange(place.start, place.stop, dtype=np.float64), max(steps - 1, 1)
    first, last = Fraction(start), Fraction(end)

    def exponent(index: int) -> Fraction:
        return first + (last - first) * int(i[index]) / parts

    def rational(index: tuple[int, ...]) -> Fraction | None:
        power = exponent(index[0])
        return root(Fraction(base) ** power.numerator, power.denominator) if power.denominator <= MOST_ROOTS else None

    def formula(rows: np.ndarray) -> np.ndarray:
        powers = np.array([exponent(row) for row in rows.tolist()], dtype=object)
        return mp.exp(mp.of_fraction(powers) * mp.log(mp.of_float(base)))[:, None]

    logarithm = functions.log(Real.exact(np.float64(base)))
    real = functions.exp(_real_between(start, end, i, parts) * logarithm).reshape((i.size, 1))
    value, real = resolved(fmt, real, formula, rational)
    ball = _ball_between(fmt, start, end, i, parts)
    ball = (ball * ball.irrational(float(logarithm.hi))).exp()
    return Golden.derived(fmt, value.reshape(i.size), real.reshape((i.size,)), ball)


def _between(fmt: Format, start: Number, end: Number, steps: int, place: slice) -> Golden:
    """The numbers of `place`."""
    i, parts = np.arange(place.start, place.stop, dtype=np.float64), max(steps - 1, 1)
    value, real = decide_exactly(
        fmt,
        _real_between(start, end, i, parts),
        lambda index: Fraction(start) + Fraction(i[index]) * (Fraction(end) - Fraction(start)) / parts,
    )
    return Golden.derived(fmt, value, real, _ball_between(fmt, start, end, i, parts), zero_sign_free=True)


def _real_between(start: Number, end: Number, i: np.ndarray, parts: int) -> Real:
    first, last = Real.exact(np.float64(start)), Real.exact(np.float64(end))
    return first + (last - first) * i / np.float64(parts)


def _ball_between(fmt: Format, start: Number, end: Number, i: np.ndarray, parts: int) -> Ball:
    """start + i * step, each step of which is rounded."""
    ball = Ball.exact(np.zeros(()), held_format(fmt))
    step = (ball.constant(float(end)) - ball.constant(float(start))) / float(parts)
    return Ball.exact(i, held_format(fmt)) * step + ball.constant(float(start))
