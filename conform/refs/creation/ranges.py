"""Numbers at equal distances: by their step, or by how many they are."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isfinite, isinf, isnan, trunc

from conform.refs.creation.constants import fill_number
from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, INTEGER, category, convert
from conform.refs.exact.reals import add_exact, exact, fraction_ball, log_ball, multiply_exact, round_exact, round_real
from conform.refs.exact.rounding import COMPONENTS, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
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


@reference("aten::linspace")
def linspace(
    start: Number | complex,
    end: Number | complex,
    steps: int,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """start + i (end - start) / (steps - 1) for i < steps, exact and rounded once, of complex numbers part by part.

    One step is start alone. Without dtype float32, complex64 if an argument is complex. Open are what lies between
    ends that are not both finite, and of an integer dtype what is no integer.
    """
    is_complex = isinstance(start, complex) or isinstance(end, complex)
    dtype = dtype or ("complex64" if is_complex else "float32")
    if steps < 0 or category(dtype) == BOOL or (is_complex and category(dtype) != COMPLEX):
        raise ValueError(f"linspace from {start} to {end} in {steps} steps of {dtype} is not defined")
    if category(dtype) != COMPLEX:
        return RefTensor(dtype, (steps,), [_between(dtype, start, end, i, steps) for i in range(steps)])
    start, end, component = complex(start), complex(end), COMPONENTS[dtype]
    parts = [
        (_between(component, start.real, end.real, i, steps), _between(component, start.imag, end.imag, i, steps))
        for i in range(steps)
    ]
    data = [UNSPECIFIED if UNSPECIFIED in (real, imag) else complex(real, imag) for real, imag in parts]
    return RefTensor(dtype, (steps,), data)


@reference("aten::logspace")
def logspace(
    start: Number | complex,
    end: Number | complex,
    steps: int,
    base: float = 10.0,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """base to each of the numbers of linspace(start, end, steps), exact and rounded once, of a positive base."""
    dtype = dtype or "float32"
    if steps < 0:
        raise ValueError(f"logspace in {steps} steps is not defined")
    is_real = not isinstance(start, complex) and not isinstance(end, complex)
    if category(dtype) != FLOAT or not is_real or not all(map(isfinite, (start, end, base))) or base <= 0:
        raise NotImplementedError(f"logspace from {start} to {end} of base {base} and {dtype}")
    exponents = [Fraction(start) + i * (Fraction(end) - Fraction(start)) / max(steps - 1, 1) for i in range(steps)]
    return RefTensor(dtype, (steps,), [_power(dtype, Fraction(base), exponent) for exponent in exponents])


def _power(dtype: str, base: Fraction, exponent: Fraction) -> float:
    """base^exponent of a positive base; where that is rational, of two integers, and else an irrational number."""
    roots = [_whole_root(part, exponent.denominator) for part in (base.numerator, base.denominator)]
    if None not in roots:
        exactly = Fraction(*roots) ** exponent.numerator
        return round_ratio(dtype, exactly.numerator, exactly.denominator)
    return round_real(dtype, lambda: (log_ball(base) * fraction_ball(exponent)).exp())


def _whole_root(number: int, degree: int) -> int | None:
    """The root of a positive integer where it is an integer, as of those below 2^degree only that of 1 is."""
    if degree >= number.bit_length():
        return 1 if number == 1 else None
    low, high = 1, number
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
    return low if low**degree == number else None


def _between(dtype: str, start: Number, end: Number, i: int, steps: int) -> Number:
    """The i-th of `steps` numbers from start to end."""
    if i in (0, steps - 1):
        return _as_element(dtype, start if i == 0 else end)
    if not (isfinite(start) and isfinite(end)):
        return UNSPECIFIED
    number = Fraction(start) + i * (Fraction(end) - Fraction(start)) / (steps - 1)
    if category(dtype) == FLOAT:
        return round_ratio(dtype, number.numerator, number.denominator)
    return fill_number("a number between the ends", int(number), dtype) if number.denominator == 1 else UNSPECIFIED


def _as_element(dtype: str, number: Number) -> Number:
    if category(dtype) == INTEGER and isfinite(number) and number != int(number):
        return UNSPECIFIED
    return fill_number("an end", number, dtype)
