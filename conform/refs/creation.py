"""Ops that make tensors of numbers."""

from __future__ import annotations

from math import ceil, isfinite, isinf, isnan, trunc

from conform.refs.exact.promotion import FLOAT, INTEGER, category, convert
from conform.refs.exact.reals import add_exact, exact, multiply_exact, round_exact
from conform.refs.exact.tensor import RefTensor
from conform.refs.references import reference

Number = bool | int | float


@reference("aten::arange")
def arange(
    end: Number, dtype: str | None = None, layout: object = None, device: object = None, pin_memory: object = None
) -> RefTensor:
    """0, 1, ... before `end`."""
    return arange_start_step(0, end, 1, dtype)


@reference("aten::arange.start")
def arange_start(
    start: Number,
    end: Number,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """start, start + 1, ... before `end`."""
    return arange_start_step(start, end, 1, dtype)


@reference("aten::arange.start_step")
def arange_start_step(
    start: Number,
    end: Number,
    step: Number = 1,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """start + i * step for i < ceil((end - start) / step), that size in double, each value exact and rounded once.

    Without dtype: int64 if all arguments are integers, else float32. Of an integer dtype all three are truncated first
    (P83).
    """
    arguments = (start, end, step)
    if any(isinstance(argument, complex) for argument in arguments):
        raise ValueError(f"arange is not defined for complex numbers, found {start}, {end} and {step}")
    integral = all(isinstance(argument, int) for argument in arguments)
    dtype = dtype or ("int64" if integral else "float32")
    if category(dtype) not in (INTEGER, FLOAT):
        raise ValueError(f"arange is not defined for {dtype}")
    if step == 0 or isnan(step) or not (isfinite(start) and isfinite(end)):
        raise ValueError(f"arange from {start} to {end} by {step}: the step is 0 or NaN, or a bound is not finite")
    if category(dtype) == INTEGER:
        if isinf(step):
            raise ValueError(f"{dtype} does not hold the step {step}")
        return _of_integers(dtype, trunc(start), trunc(end), trunc(step))
    if (end - start) * (1 if step > 0 else -1) < 0:
        raise ValueError(f"arange from {start} to {end} does not go in the direction of its step {step}")
    size = -((start - end) // step) if integral else ceil((float(end) - float(start)) / float(step))
    return RefTensor(dtype, (size,), [_element(dtype, start, step, i) for i in range(size)])


def _of_integers(dtype: str, start: int, end: int, step: int) -> RefTensor:
    """What Python's own range has, wrapped where the dtype is too narrow."""
    if step == 0 or (end - start) * step < 0:
        raise ValueError(f"arange from {start} to {end} does not go in the direction of its step {step}")
    data = [convert(value, dtype) for value in range(start, end, step)]
    return RefTensor(dtype, (len(data),), data)


def _element(dtype: str, start: Number, step: Number, i: int) -> float:
    if i == 0 and start == 0:
        return float(start) + 0.0 * float(step)  # only the zeros' signs matter
    return round_exact(dtype, add_exact(exact(start), multiply_exact(exact(i), exact(step))))
