"""Random numbers of continuous distributions, and of the geometric one: what every draw must obey (P227)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod

import numpy as np

from conform.interp.formulas import chance
from conform.interp.golden import Outcome
from conform.interp.ops.creation.constants import named
from conform.interp.ops.creation.drawn import of_chance, rounded_draw, stream_of
from conform.interp.semantics import semantics
from conform.numerics.formats import Format, format_of

RULE = "P227"
OF_KERNELS = 16  # unit roundoffs: what logarithms, exponentials and cosines of a compute type are off together


def _continuous(
    fmt: Format, drawn: np.ndarray, distribution: chance.Distribution, relative: float, absolute: float, grid: float = 1
) -> Outcome:
    """Draws of one distribution, whose formula rounds: an answer's number is off by unit roundoffs, `relative` ones of
    itself and `absolute` ones, and by a number that underflows; `grid`: unit roundoffs that a probability may be off.
    """
    unit = fmt.unit_roundoff

    def places(actual: np.ndarray) -> chance.Places:
        numbers = actual.reshape(-1).astype(np.float64)
        magnitudes = np.minimum(np.abs(numbers), float(fmt.max_finite))
        error = unit * (relative * magnitudes + absolute) + fmt.min_subnormal
        return chance.rounded(distribution, numbers, error, float(fmt.max_finite), grid * unit)

    return of_chance(
        rounded_draw(fmt, drawn), fmt, lambda actual: places(actual).possible().reshape(actual.shape),
        lambda actual: [places(actual)], RULE,
    )  # fmt: skip


@semantics("aten::uniform", undetermined=True, holds_numbers=True)
def uniform(self: np.ndarray, from_: float = 0.0, to: float = 1.0) -> Outcome:
    """Independent numbers of [from, to), uniformly distributed, in the shape and the dtype of self; an end may be what
    rounding makes of a number (P227)"""
    fmt = format_of(self)
    drawn = from_ + stream_of("uniform", self.shape).uniform(self.shape) * (to - from_)
    if from_ == to:
        same = rounded_draw(fmt, np.full(self.shape, from_))
        return of_chance(same, fmt, lambda actual: actual == same, lambda actual: [], RULE, np.ones(self.shape, bool))
    return _continuous(fmt, drawn, chance.uniform(from_, to), 0, 8 * max(abs(from_), abs(to)))


def _normal(op: str, fmt: Format, shape: Sequence[int], mean: np.ndarray, std: np.ndarray) -> Outcome:
    """mean + std * z, element by element: mean where std is 0, or where that is NaN, or an infinity and std is none."""
    mean, std = (np.broadcast_to(np.asarray(each, np.float64), tuple(shape)) for each in (mean, std))
    is_fixed = np.isnan(mean) | np.isinf(mean) & np.isfinite(std) | (std == 0)
    is_drawn = ~is_fixed & np.isfinite(std)
    drawn = np.where(is_fixed, mean, mean + std * stream_of(op, shape).normal(tuple(shape)))
    held = rounded_draw(fmt, drawn)

    def places(actual: np.ndarray) -> chance.Places:
        return _about(fmt, actual[is_drawn].astype(np.float64), mean[is_drawn], std[is_drawn])

    def may_be(actual: np.ndarray) -> np.ndarray:
        possible = np.array((actual == held) | np.isnan(actual) & np.isnan(held) | ~is_fixed)
        possible[is_drawn] = places(actual).possible()
        return possible

    return of_chance(held, fmt, may_be, lambda actual: [places(actual)], RULE, is_fixed)


def _about(fmt: Format, numbers: np.ndarray, mean: np.ndarray, std: np.ndarray) -> chance.Places:
    """The places of numbers in normal distributions of their own."""
    unit, largest = fmt.unit_roundoff, float(fmt.max_finite)
    error = unit * (8 * (np.abs(mean) + np.minimum(np.abs(numbers), largest)) + OF_KERNELS * std) + fmt.min_subnormal
    return chance.rounded(lambda near: chance.normal((near - mean) / std), numbers, error, largest, unit)


@semantics("aten::normal_functional", undetermined=True, holds_numbers=True)
def normal_functional(self: np.ndarray, mean: float = 0.0, std: float = 1.0) -> Outcome:
    """Independent normally distributed numbers of that mean and standard deviation, in the shape and the dtype of self
    (P227)"""
    return _normal("normal_functional", format_of(self), self.shape, mean, std)


@semantics("aten::normal.float_float", elements=lambda arguments: prod(arguments["size"]), undetermined=True,
           holds_numbers=True)  # fmt: skip
def normal_float_float(mean: float, std: float, size: Sequence[int], dtype: str | None = None) -> Outcome:
    """Independent normally distributed numbers of that mean and standard deviation; without dtype of float32 (P227)"""
    return _normal("normal", named(dtype), size, mean, std)


@semantics("aten::normal.Tensor_float", undetermined=True, holds_numbers=True)
def normal_of_means(mean: np.ndarray, std: float = 1.0) -> Outcome:
    """Each element normally distributed about that of mean, with the standard deviation std (P227)"""
    return _normal("normal", format_of(mean), mean.shape, mean, std)


@semantics("aten::normal.float_Tensor", undetermined=True, holds_numbers=True)
def normal_of_deviations(mean: float, std: np.ndarray) -> Outcome:
    """Each element normally distributed about mean, with that of std for its standard deviation (P227)"""
    return _normal("normal", format_of(std), std.shape, mean, std)


@semantics("aten::normal.Tensor_Tensor", undetermined=True)
def normal_of_both(mean: np.ndarray, std: np.ndarray) -> Outcome:
    """Each element normally distributed about that of mean, with that of std for its standard deviation (P227)"""
    return _normal("normal", format_of(mean), mean.shape, mean, std)


@semantics("aten::exponential", undetermined=True, holds_numbers=True)
def exponential(self: np.ndarray, lambd: float = 1.0) -> Outcome:
    """Independent numbers x > 0 of the density lambd * exp(-lambd * x), in the shape and the dtype of self (P227)"""
    drawn = -np.log1p(-stream_of("exponential", self.shape).uniform(self.shape) - 2.0**-54) / lambd
    fmt = format_of(self)
    return _continuous(
        fmt, np.maximum(drawn, fmt.min_subnormal), lambda x: -np.expm1(-lambd * np.maximum(x, 0)), OF_KERNELS, 0
    )


@semantics("aten::log_normal", undetermined=True, holds_numbers=True)
def log_normal(self: np.ndarray, mean: float = 1.0, std: float = 2.0) -> Outcome:
    """Independent numbers whose logarithms are normally distributed with that mean and standard deviation, in the shape
    and the dtype of self (P227)"""
    drawn = np.exp(mean + std * stream_of("log_normal", self.shape).normal(self.shape))
    exponents = abs(mean) + 9 * std  # beyond 9 standard deviations nothing is drawn

    def distribution(numbers: np.ndarray) -> np.ndarray:
        return chance.normal((np.log(np.maximum(numbers, 0)) - mean) / std)

    return _continuous(format_of(self), drawn, distribution, OF_KERNELS + 8 * exponents, 0)


@semantics("aten::cauchy", undetermined=True, holds_numbers=True)
def cauchy(self: np.ndarray, median: float = 0.0, sigma: float = 1.0) -> Outcome:
    """Independent numbers x of the density sigma / pi / ((x - median)^2 + sigma^2), in the shape and the dtype of self
    (P227)"""
    stream = stream_of("cauchy", self.shape)
    drawn = median + sigma * (stream.normal(self.shape) / stream.normal(self.shape))

    def distribution(numbers: np.ndarray) -> np.ndarray:
        return 0.5 + np.arctan((numbers - median) / sigma) / math.pi

    return _continuous(format_of(self), drawn, distribution, OF_KERNELS, OF_KERNELS * (abs(median) + sigma), 8)


@semantics("aten::geometric", undetermined=True, holds_numbers=True)
def geometric(self: np.ndarray, p: float) -> Outcome:
    """Independent numbers k = 1, 2, ... of probability (1 - p)^(k - 1) * p, in the shape and the dtype of self (P227)
    """
    fmt = format_of(self)
    unit = fmt.unit_roundoff if fmt.is_float else 2.0**-24
    failures = -math.log1p(-p)  # a trial fails with the probability exp(-failures)
    drawn = 1 + np.floor(-np.log1p(-stream_of("geometric", self.shape).uniform(self.shape)) / failures)

    def places(actual: np.ndarray) -> chance.Places:
        numbers = actual.reshape(-1).astype(np.float64)
        low, high = (numbers - 1) * (1 - OF_KERNELS * unit), numbers * (1 + OF_KERNELS * unit)
        return chance.Places(*(-np.expm1(-failures * np.maximum(k, 0)) for k in (low, high)), unit)

    def may_be(actual: np.ndarray) -> np.ndarray:
        return (places(actual).possible().reshape(actual.shape)) & (actual.astype(np.float64) % 1 == 0)

    held = rounded_draw(fmt, drawn) if fmt.is_float else drawn.astype(fmt.storage)
    return of_chance(held, fmt, may_be, lambda actual: [places(actual)], RULE)
