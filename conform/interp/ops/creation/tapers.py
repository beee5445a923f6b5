"""Windows that taper a signal: numbers of their place and how many there are; and the frequencies of a transform."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from conform.interp.golden import Golden
from conform.interp.ops.creation.constants import named
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics.ball import Ball
from conform.numerics.cyclotomic import Digits, roots_of_unity, sum_of_cosines
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format
from conform.numerics.real import Real
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import held_format

ALPHA, BETA = 0.54, 0.46
HANN, BLACKMAN = ((1, -1), 2), ((21, -25, 4), 50)  # the factors of 1, cos x, cos 2 x, over a number


def _count(arguments: Mapping[str, Any]) -> int:
    return arguments["window_length"]


@semantics("aten::hann_window", elements=_count)
def hann_window(window_length: int, dtype: str | None = None) -> Golden:
    """hann_window.periodic that is periodic"""
    return hann_window_periodic(window_length, True, dtype)


@semantics("aten::hann_window.periodic", elements=_count)
def hann_window_periodic(window_length: int, periodic: bool, dtype: str | None = None) -> Golden:
    """(1 - cos(2 pi i / n)) / 2 for i = 0 .. window_length - 1, n = window_length, or one less where not periodic;
    of one number alone 1; without dtype float32 (P250)"""
    return _of_cosines(window_length, periodic, *HANN, dtype)


@semantics("aten::hamming_window", elements=_count)
def hamming_window(window_length: int, dtype: str | None = None) -> Golden:
    """hamming_window.periodic_alpha_beta that is periodic, of 0.54 and 0.46 (P250)"""
    return hamming_window_of(window_length, True, ALPHA, BETA, dtype)


@semantics("aten::hamming_window.periodic", elements=_count)
def hamming_window_periodic(window_length: int, periodic: bool, dtype: str | None = None) -> Golden:
    """hamming_window.periodic_alpha_beta of 0.54 and 0.46 (P250)"""
    return hamming_window_of(window_length, periodic, ALPHA, BETA, dtype)


@semantics("aten::hamming_window.periodic_alpha", elements=_count)
def hamming_window_alpha(window_length: int, periodic: bool, alpha: float, dtype: str | None = None) -> Golden:
    """hamming_window.periodic_alpha_beta of 0.46 (P250)"""
    return hamming_window_of(window_length, periodic, alpha, BETA, dtype)


@semantics("aten::hamming_window.periodic_alpha_beta", elements=_count)
def hamming_window_of(
    window_length: int, periodic: bool, alpha: float, beta: float, dtype: str | None = None
) -> Golden:
    """alpha - beta cos(2 pi i / n) for i = 0 .. window_length - 1, n = window_length, or one less where not periodic;
    of one number alone 1; without dtype float32 (P250)"""
    return _of_cosines(window_length, periodic, (alpha, -beta), 1, dtype)


@semantics("aten::blackman_window", elements=_count)
def blackman_window(window_length: int, dtype: str | None = None) -> Golden:
    """blackman_window.periodic that is periodic"""
    return blackman_window_periodic(window_length, True, dtype)


@semantics("aten::blackman_window.periodic", elements=_count)
def blackman_window_periodic(window_length: int, periodic: bool, dtype: str | None = None) -> Golden:
    """0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n) for i = 0 .. window_length - 1, n = window_length, or one less
    where not periodic; of one number alone 1; without dtype float32 (P250)"""
    return _of_cosines(window_length, periodic, *BLACKMAN, dtype)


@semantics("aten::bartlett_window", elements=_count)
def bartlett_window(window_length: int, dtype: str | None = None) -> Golden:
    """bartlett_window.periodic that is periodic"""
    return bartlett_window_periodic(window_length, True, dtype)


@semantics("aten::bartlett_window.periodic", elements=_count)
def bartlett_window_periodic(window_length: int, periodic: bool, dtype: str | None = None) -> Golden:
    """1 - |2 i / n - 1| for i = 0 .. window_length - 1, n = window_length, or one less where not periodic; of one
    number alone 1; without dtype float32 (P250)"""
    fmt, parts = named(dtype), window_length if periodic else window_length - 1
    if window_length <= 1:
        return _ones(fmt, window_length)
    i = np.arange(window_length)
    rise = parts - np.abs(2 * i - parts)
    ball = _places(i, fmt)
    slope = ball * (ball.constant(2.0) / float(parts)) - 1.0
    return _quotients(fmt, rise, parts, 1.0, -Ball(np.abs(slope.mid), slope.rad, slope.compute) + 1.0)


def _of_cosines(length: int, periodic: bool, factors: Sequence[float], divisor: int, dtype: str | None) -> Golden:
    """The sum of factors[k] cos(k x) / divisor at x = 2 pi i / n."""
    fmt, parts = named(dtype), length if periodic else length - 1
    if length <= 1:
        return _ones(fmt, length)
    places = [k * np.arange(length) % parts for k in range(len(factors))]
    cosines, _ = roots_of_unity(parts)
    terms = [cosines[place] * Real.exact(np.float64(factor)) for factor, place in zip(factors, places, strict=True)]
    value, real = decide_exactly(
        fmt, sum(terms[1:], terms[0]) / np.float64(divisor), _exactly(parts, factors, divisor, places)
    )
    ball = _ball(_places(np.arange(length), fmt), parts, [Fraction(factor) / divisor for factor in factors])
    return Golden.derived(fmt, value, real, ball, zero_sign_free=True)


def _exactly(
    parts: int, factors: Sequence[float], divisor: int, places: Sequence[np.ndarray]
) -> Callable[[tuple[int, ...]], Fraction]:
    order = math.lcm(4, parts)
    fractions = [Fraction(factor) for factor in factors]
    scale = math.lcm(*(one.denominator for one in fractions))

    def exactly(index: tuple[int, ...]) -> Fraction:
        coefficients = np.zeros(order, object)
        for factor, place in zip(fractions, places, strict=True):
            coefficients[int(place[index]) * (order // parts)] += int(factor * scale)
        return sum_of_cosines(Digits.of(coefficients, len(factors)), (divisor * scale) ** 2)

    return exactly


def _ball(i: Ball, parts: int, factors: Sequence[Fraction]) -> Ball:
    """The steps of the sum, of angles that are multiples of a rounded 2 pi / n."""
    angles = i * i.irrational(2 * math.pi / parts)
    terms = [(angles * float(k)).cos() * _held(i, factor) for k, factor in enumerate(factors) if k]
    return sum(terms[1:], terms[0]) + _held(i, factors[0])


def _held(ball: Ball, factor: Fraction) -> Ball:
    """The constant as the ball's type holds it."""
    nearest = float(factor)
    if nearest == factor:
        return ball.constant(nearest)
    return ball.irrational(nearest) if factor > 0 else -ball.irrational(-nearest)


def _places(i: np.ndarray, fmt: Format) -> Ball:
    """The integers, which a half type may not hold."""
    mid = i.astype(np.float64)
    return Ball(mid, np.abs(round_to(fmt, mid).astype(np.float64) - mid), held_format(fmt))


def _ones(fmt: Format, count: int) -> Golden:
    return exact(np.ones(count, fmt.storage), fmt)


def _quotients(fmt: Format, integers: np.ndarray, count: int, d: float, ball: Ball) -> Golden:
    """The integers over count * d."""
    real = Real.exact(integers.astype(np.float64)) / (Real.exact(np.float64(count)) * Real.exact(np.float64(d)))
    divisor = count * Fraction(d)
    value, real = decide_exactly(fmt, real, lambda index: int(integers[index]) / divisor)
    return Golden.derived(fmt, value, real, ball, zero_sign_free=True)


# --- Frequencies ------------------------------------------------------------------------------------------------------


@semantics("aten::fft_fftfreq", elements=lambda arguments: arguments["n"])
def fftfreq(n: int, d: float = 1.0, dtype: str | None = None) -> Golden:
    """i / (n d) for i = 0, 1, ..., then -n / 2, ..., -1: the n frequencies of fft_fft, of samples d apart; without
    dtype float32 (P251)"""
    i = np.arange(n)
    return _frequencies(np.where(2 * i < n, i, i - n), n, d, dtype)


@semantics("aten::fft_rfftfreq", elements=lambda arguments: arguments["n"])
def rfftfreq(n: int, d: float = 1.0, dtype: str | None = None) -> Golden:
    """i / (n d) for i = 0 .. n / 2: the frequencies of fft_rfft, of samples d apart; without dtype float32 (P251)"""
    return _frequencies(np.arange(n // 2 + 1), n, d, dtype)


def _frequencies(i: np.ndarray, n: int, d: float, dtype: str | None) -> Golden:
    fmt = named(dtype)
    ball = _places(i, fmt)
    return _quotients(fmt, i, n, d, ball * (ball.constant(1.0) / (ball.constant(d) * float(n))))
