"""What training leaves in running statistics: they are moved towards those of the batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isinf

import numpy as np

from conform.interp.blocks.rows import Rows
from conform.interp.formulas import moments
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.combinations import wider
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, concatenate, where
from conform.numerics.rounding_errors import held_format

MEAN, VARIANCE = 0, 1  # of a pair of moments


def left(
    input: np.ndarray, running_mean: np.ndarray | None, running_var: np.ndarray | None, momentum: float,
    by_samples: bool = False,
) -> Iterator[Golden]:  # fmt: skip
    """The running statistics after the batch, of those that there are: (1 - momentum) * running + momentum * that of
    the batch by channel, its mean and its unbiased variance; by_samples: the mean over the samples, dim 0, of what each
    leaves by itself (P192)."""
    axes = tuple(range(2, input.ndim)) if by_samples else (1, *range(2, input.ndim))
    rows = Rows.over(input.swapaxes(0, 1), axes)
    batch = _Batch(rows, input.shape[0] if by_samples else 1, held_format(format_of(input)))
    for running, which in ((running_mean, MEAN), (running_var, VARIANCE)):
        if running is not None:
            yield batch.moved(running, momentum, which)


@dataclass(frozen=True)
class _Batch:
    """`samples` rows for each channel, one channel after the other."""

    rows: Rows
    samples: int
    compute: Format

    def moved(self, running: np.ndarray, momentum: float, which: int) -> Golden:
        """The running statistic of every channel after the batch."""
        fmt, before = format_of(running), running[:, None].astype(np.float64)
        is_single = which == VARIANCE and self.rows.terms == 1  # 0 / 0, whatever leaves float64's range beside it

        def rational(index: tuple[int, ...]) -> Fraction:
            share = Fraction(momentum)
            return (1 - share) * Fraction(float(before[index])) + share * self._exact(index[0], which)

        with np.errstate(all="ignore"):
            power = self._exponent * (2 if which == VARIANCE else 1)
            share = Real.exact(np.float64(momentum))
            kept = (Real.exact(np.float64(1)) - share) * Real.exact(before).times_power_of_two(-power)
            is_number = self._are_finite & np.isfinite(before) & np.isfinite(momentum) & (not is_single)
            of_batch = self._reals[which].sum(axis=1, keepdims=True) / Real.exact(np.float64(self.samples))
            real = where(is_number, (kept + share * of_batch).times_power_of_two(power), np.nan)
            value, real = decide_exactly(fmt, real, rational)
            ball = self._ball(Ball.exact(before, self.compute), momentum, self._balls[which])
        golden = Golden.derived(fmt, value, real, ball, zero_sign_free=True)
        has_no_number = self._are_infinite if which == MEAN else is_single
        golden = golden.opened(np.isinf(before) | isinf(momentum) | has_no_number, "P192")
        return golden.rearranged(lambda part: part.reshape(running.shape))

    def _exact(self, channel: int, which: int) -> Fraction:
        """The statistic of a channel of finite numbers."""
        each = (Rows(self.rows.source, 1, self.rows.terms, first=channel * self.samples + s)
                for s in range(self.samples))  # fmt: skip
        unbiased = Fraction(self.rows.terms - 1)
        found = (moments.exact_mean(one, 0) if which == MEAN else moments.exact_variance(one, 0, unbiased)
                 for one in each)  # fmt: skip
        return sum(found, Fraction(0)) / self.samples

    def _ball(self, before: Ball, momentum: float, of_each: Ball) -> Ball:
        """The errors of (1 - momentum) * before + momentum * statistic, or of before + momentum * (statistic - before);
        of several samples of the mean of these, or of the mean of their statistics."""
        share = before.constant(momentum)
        kept = before.constant(1.0) - share

        def moved(statistic: Ball) -> Ball:
            return wider(kept * before + share * statistic, before + share * (statistic - before))

        if self.samples == 1:
            return moved(of_each)
        return wider(moved(of_each).sum(1) / float(self.samples), moved(of_each.sum(1) / float(self.samples)))

    # --- Of all rows, [channels, samples] or [channels, 1] ------------------------------------------------------------

    @cached_property
    def _exponent(self) -> np.ndarray:
        """By which power of two to divide a channel so that it is moderate."""
        return self._by_channel([moments.exponents(some) for _, some in self.rows.blocks()]).max(1, keepdims=True)

    @cached_property
    def _are_finite(self) -> np.ndarray:
        return self._by_channel([some.are_finite() for _, some in self.rows.blocks()]).all(1, keepdims=True)

    @cached_property
    def _are_infinite(self) -> np.ndarray:
        """Which channels hold an infinity."""
        found = [np.logical_or.reduce([np.isinf(piece).any(axis=1, keepdims=True) for piece in some.pieces])
                 for _, some in self.rows.blocks()]  # fmt: skip
        return self._by_channel(found).any(1, keepdims=True)

    @cached_property
    def _reals(self) -> tuple[Real, Real]:
        """The mean and the unbiased variance over 2^exponent, and over the square of that."""
        unbiased, found = Real.exact(np.float64(self.rows.terms - 1)), []
        for place, some in self.rows.blocks():
            channel = np.arange(place.start, place.stop) // self.samples
            found.append(moments.of_reals(some, unbiased, self._exponent[channel]))
        mean, variance = (concatenate(parts).reshape((-1, self.samples)) for parts in zip(*found, strict=True))
        return mean, variance

    @cached_property
    def _balls(self) -> tuple[Ball, Ball]:
        """The errors of both, of the variance as a quotient or as the biased one times n / (n - 1)."""
        n, found = Ball.exact(np.float64(self.rows.terms), self.compute), []
        for _, some in self.rows.blocks():
            mean, variance = moments.of_balls(some, n - 1.0, self.compute)
            corrected = moments.of_balls(some, n, self.compute)[1] * (n / (n - 1.0))
            found.append((mean, wider(variance, corrected)))
        mean, variance = (self._ball_of(parts) for parts in zip(*found, strict=True))
        return mean, variance

    def _ball_of(self, parts: tuple[Ball, ...]) -> Ball:
        mid, rad, scale = ([getattr(one, name) for one in parts] for name in ("mid", "rad", "scale"))
        return Ball(self._by_channel(mid), self._by_channel(rad), self.compute, self._by_channel(scale))

    def _by_channel(self, parts: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(parts).reshape(-1, self.samples)
