"""Rows standardized exactly: deviation / sqrt(variance + eps) * weight + bias, rounded once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isqrt, nan

from flint import arb

from conform.refs.exact.reals import (
    Exact,
    add_exact,
    exact,
    multiply_exact,
    round_balls,
    round_exact,
    scale_to_integers,
)
from conform.refs.exact.rounding import round_number, round_ratio, round_sqrt


@dataclass
class Statistics:
    """A row of finite values, exactly: what is divided by the root of what.

    x_i - mean = deviations[i] * 2^exponent / count, and variance + eps = numerator / denominator. An rms norm has x_i
    and its mean square in their places, batch norm with running statistics a mean and variance that are given.
    """

    count: int
    deviations: list[int]
    exponent: int
    numerator: int
    denominator: int


def statistics_of(values: list[float], eps: float) -> Statistics | None:
    """None where the variance is NaN: an empty row, or one with an infinity (inf - inf) or NaN."""
    if not values or not all(map(isfinite, values)):
        return None
    count = len(values)
    integers, exponent = scale_to_integers(values)
    total = sum(integers)
    deviations = [count * x - total for x in integers]  # of x - mean, scaled by count
    eps_numerator, eps_denominator = float(eps).as_integer_ratio()
    squares = sum(d * d for d in deviations)  # the biased variance is squares * 2^(2 exponent) / count^3
    up, down = 1 << max(2 * exponent, 0), 1 << max(-2 * exponent, 0)
    numerator = squares * up * eps_denominator + eps_numerator * count**3 * down
    return Statistics(count, deviations, exponent, numerator, count**3 * down * eps_denominator)


def round_rstd(dtype: str, statistics: Statistics | None) -> float:
    if statistics is None or statistics.numerator < 0:
        return nan
    if statistics.numerator == 0:
        return inf
    return round_sqrt(dtype, statistics.denominator, statistics.numerator)


def scalar_statistics(deviation: Exact, variance: Fraction) -> Statistics:
    """The statistics of one number whose distance to the mean, and variance + eps, are given."""
    m, e = deviation
    return Statistics(1, [m], e, variance.numerator, variance.denominator)


def mean_square_statistics(values: list[float], eps: float) -> Statistics | None:
    """With mean 0 for the mean: None of an empty row, or of one with an infinity or NaN."""
    if not values or not all(map(isfinite, values)):
        return None
    integers, exponent = scale_to_integers(values)
    mean_square = Fraction(sum(x * x for x in integers), len(values)) * Fraction(4) ** exponent + Fraction(eps)
    return Statistics(1, integers, exponent, mean_square.numerator, mean_square.denominator)


def normalize(
    dtype: str, values: list[float], statistics: Statistics | None, weights: list[float], biases: list[float]
) -> list[float]:
    """The outputs of one row: NaN and infinities, then the rational ones, and by balls those that are irrational.

    The product is irrational unless it is 0 or variance + eps is the square of a rational.
    """
    if statistics is None or statistics.numerator < 0:
        return [nan] * len(values)
    rational_rstd = _rational_rstd(statistics)
    outputs: list[float | None] = []
    for deviation, weight, bias in zip(statistics.deviations, weights, biases, strict=True):
        if statistics.numerator == 0 or not isfinite(weight) or not isfinite(bias):
            normalized = multiply_exact((deviation, 0), inf) if statistics.numerator == 0 else (deviation, 0)
            outputs.append(special_output(dtype, normalized, weight, bias))
        elif deviation == 0 or weight == 0:
            outputs.append(round_number(dtype, bias))
        elif rational_rstd is not None:
            output = Fraction(weight) * deviation * rational_rstd + Fraction(bias)
            outputs.append(round_ratio(dtype, output.numerator, output.denominator))
        else:
            outputs.append(None)
    open_indices = [i for i, output in enumerate(outputs) if output is None]
    rounded = round_balls(dtype, lambda: _irrational_outputs(statistics, weights, biases, open_indices))
    for i, output in zip(open_indices, rounded, strict=True):
        outputs[i] = output
    return outputs


def _rational_rstd(statistics: Statistics) -> Fraction | None:
    """2^exponent / count / sqrt(variance + eps), what a deviation is multiplied by, if it is a rational number."""
    numerator, denominator = statistics.numerator, statistics.denominator
    root = isqrt(numerator * denominator)
    if root == 0 or root * root != numerator * denominator:
        return None
    return Fraction(denominator, root * statistics.count) * Fraction(2) ** statistics.exponent


def special_output(dtype: str, normalized: Exact, weight: float, bias: float) -> float:
    """normalized * weight + bias where a factor is infinite, or the result NaN or bias: so only signs matter."""
    return round_exact(dtype, add_exact(multiply_exact(normalized, exact(weight)), exact(bias)))


def _irrational_outputs(
    statistics: Statistics, weights: list[float], biases: list[float], indices: list[int]
) -> list[arb]:
    """deviation * 2^exponent / count / sqrt(variance + eps) * weight + bias."""
    up, down = 2 * max(statistics.exponent, 0), 2 * max(-statistics.exponent, 0)
    ratio = arb(statistics.denominator << up) / arb(statistics.numerator * statistics.count**2 << down)
    rstd = ratio.sqrt()
    return [arb(statistics.deviations[i]) * rstd * arb(weights[i]) + arb(biases[i]) for i in indices]
