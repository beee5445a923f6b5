"""Random tensors: what every draw must obey (P101), and a draw that obeys it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from conform.interp.formulas import chance
from conform.interp.golden import Given, Golden, Outcome
from conform.interp.ops.creation.constants import named
from conform.interp.ops.creation.drawn import CHANCE, of_chance, opened, stream_of
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import pointwise, semantics
from conform.numerics.arithmetic import mul
from conform.numerics.ball import Ball
from conform.numerics.draws import Stream
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.real import Real, where
from conform.numerics.rounding import TOWARD_ZERO, round_fraction, round_to
from conform.numerics.rounding_errors import held_format


def _of_size(arguments: Mapping[str, Any]) -> int:
    return prod(arguments["size"])


def _parts(array: np.ndarray) -> list[np.ndarray]:
    """The numbers, or both parts of complex ones, as float64."""
    parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
    return [part.astype(np.float64) for part in parts]


def _real_numbers(
    op: str,
    shape: Sequence[int],
    fmt: Format,
    draw: Callable[[Stream, tuple[int, ...]], np.ndarray],
    may_be: Callable[[np.ndarray], np.ndarray],
    distribution: chance.Distribution,
) -> Outcome:
    """Independent numbers of one distribution, both parts of complex ones; `may_be` says which a draw can have."""
    component = fmt.component if fmt.is_complex else fmt
    stream = stream_of(op, shape)
    count = 2 if fmt.is_complex else 1
    parts = [round_to(component, draw(stream, tuple(shape)), mode=TOWARD_ZERO).astype(np.float64) for _ in range(count)]
    drawn = (parts[0] + 1j * parts[1] if fmt.is_complex else parts[0]).astype(fmt.storage)

    def places(actual: np.ndarray) -> Iterator[chance.Places]:
        for part in _parts(actual):
            place = distribution(part.reshape(-1))
            yield chance.Places(place, place, component.unit_roundoff)

    def possible(actual: np.ndarray) -> np.ndarray:
        return np.logical_and.reduce([may_be(part) for part in _parts(actual)])

    return of_chance(drawn, fmt, possible, places, CHANCE)


def _uniform(op: str, shape: Sequence[int], fmt: Format) -> Outcome:
    return _real_numbers(op, shape, fmt, Stream.uniform, lambda x: (x >= 0) & (x < 1), chance.uniform(0, 1))


def _normal(op: str, shape: Sequence[int], fmt: Format) -> Outcome:
    deviation = np.sqrt(0.5) if fmt.is_complex else 1.0
    return _real_numbers(
        op, shape, fmt, lambda stream, shape: stream.normal(shape) * deviation, np.isfinite,
        lambda numbers: chance.normal(numbers / deviation),
    )  # fmt: skip


@semantics("aten::rand", elements=_of_size, undetermined=True)
def rand(size: Sequence[int], dtype: str | None = None) -> Outcome:
    """Independent numbers of [0, 1), uniformly distributed, both parts of complex ones too (P101)"""
    return _uniform("rand", size, named(dtype))


@semantics("aten::rand_like", undetermined=True)
def rand_like(self: np.ndarray, dtype: str | None = None) -> Outcome:
    """What rand draws, in the shape of self, and in its dtype unless there is another (P101)"""
    return _uniform("rand_like", self.shape, named(dtype, format_of(self)))


@semantics("aten::randn", elements=_of_size, undetermined=True)
def randn(size: Sequence[int], dtype: str | None = None) -> Outcome:
    """Independent normally distributed numbers of mean 0 and variance 1, a half of it each part's of complex ones"""
    return _normal("randn", size, named(dtype))


@semantics("aten::randn_like", undetermined=True)
def randn_like(self: np.ndarray, dtype: str | None = None) -> Outcome:
    """What randn draws, in the shape of self, and in its dtype unless there is another (P101)"""
    return _normal("randn_like", self.shape, named(dtype, format_of(self)))


@semantics("aten::randperm", elements=lambda arguments: arguments["n"], undetermined=True)
def randperm(n: int, dtype: str | None = "int64") -> Outcome:
    """The numbers 0 .. n - 1 in an order that chance chooses, all with the same probability (P101)"""
    fmt = named(dtype, FORMATS["int64"])
    drawn = stream_of("randperm", [n]).permutation(n)

    def given(outputs: Sequence[np.ndarray]) -> Given:
        numbers = outputs[0].astype(np.float64)
        counted = np.where((numbers >= 0) & (numbers < n) & (numbers % 1 == 0), numbers, -1).astype(np.int64)
        is_first = np.zeros(n, bool)
        is_first[np.unique(counted, return_index=True)[1]] = True
        is_first &= counted >= 0
        missing = np.setdiff1d(np.arange(n), counted[is_first])
        fault = None if missing.size else chance.too_regular(counted)
        counted[~is_first] = missing
        return Given((exact(counted.astype(fmt.storage), fmt),), fault)

    golden = exact(drawn.astype(fmt.storage), fmt)
    return Outcome((golden if n < 2 else opened(golden.value, fmt),), given=given)


@semantics("aten::native_dropout", undetermined=True)
def native_dropout(input: np.ndarray, p: float, train: bool | None) -> Outcome | tuple[Golden, ...]:
    """Each element zero with probability p, else input / (1 - p), and a mask that is True where it is kept (P101); all
    as they are where train is False; None is True"""
    fmt, bools = format_of(input), FORMATS["bool"]
    if train is False:
        return exact(input, fmt), exact(np.ones(input.shape, bool), bools)
    if p in (0, 1):
        all_or_none = np.full(input.shape, p == 0)
        return _kept(input, p, all_or_none), exact(all_or_none, bools)
    mask = ~stream_of("dropout", input.shape).bernoulli(p, input.shape)

    def given(outputs: Sequence[np.ndarray]) -> Given:
        kept = outputs[1]
        fault = chance.unlikely_share(int(np.count_nonzero(kept)), kept.size, 1 - p)
        return Given((_kept(input, p, kept), exact(kept, bools)), fault)

    everywhere = np.ones(input.shape, bool)
    return Outcome(
        (_kept(input, p, mask).opened(everywhere, CHANCE), exact(mask, bools).opened(everywhere, CHANCE)), given=given
    )


@pointwise("aten::native_dropout_backward")
def native_dropout_backward(grad_output: np.ndarray, mask: np.ndarray, scale: float) -> Golden:
    """grad_output * scale where the mask is True, else a zero of any sign (P215)"""
    fmt, numbers = format_of(grad_output), np.where(mask, grad_output, 0).astype(np.float64)
    ball = Ball.exact(numbers, held_format(fmt))
    golden = _masked(fmt, *mul(fmt, numbers, np.float64(scale)), ball * ball.constant(scale), mask)
    if fmt != ball.compute:
        held = float(round_to(fmt, np.float64(scale)))
        golden = golden.or_else(_masked(fmt, *mul(fmt, numbers, np.float64(held)), ball * held, mask))
    return golden.opened(~mask & ~np.isfinite(grad_output.astype(np.float64)), "P215")


@semantics("aten::dropout", undetermined=True)
def dropout(input: np.ndarray, p: float, train: bool) -> Outcome | Golden:
    """Each element zero with probability p, else input / (1 - p) (P101); all as they are where train is False"""
    outcome = native_dropout(input, p, train)
    if isinstance(outcome, tuple):
        return outcome[0]

    def given(outputs: Sequence[np.ndarray]) -> Given:
        without_number = np.isnan(outputs[0]) & ~np.isnan(input)  # an infinity times 0
        dropped = (outputs[0] == 0) & (input != 0) | without_number
        told = np.count_nonzero(input)  # a zero does not tell whether it was kept, and so has any sign
        fault = chance.unlikely_share(told - int(np.count_nonzero(dropped)), told, 1 - p)
        return Given((_kept(input, p, ~dropped & (input != 0)),), fault)

    return Outcome(outcome.goldens[:1], given=given)


def _kept(input: np.ndarray, p: float, mask: np.ndarray) -> Golden:
    """input / (1 - p) where the mask is True, or input times that factor in the element type (P30), else a zero
    of any sign; open what is then infinite or NaN: 0 * inf."""
    fmt, numbers = format_of(input), np.where(mask, input, 0).astype(np.float64)
    share = 1 - Fraction(p) if p < 1 else Fraction(1)
    divisor = Real.exact(np.float64(1)) - Real.exact(np.float64(p if p < 1 else 0))
    value, real = decide_exactly(fmt, Real.exact(numbers) / divisor, lambda index: Fraction(numbers[index]) / share)
    ball = Ball.exact(numbers, held_format(fmt))
    one = Ball.exact(np.ones(()), ball.compute)
    golden = _masked(fmt, value, real, ball * (one / (one - one.constant(float(1 - share)))), mask)
    if fmt != ball.compute:
        factor = float(round_fraction(fmt, 1 / share))
        golden = golden.or_else(_masked(fmt, *mul(fmt, numbers, np.float64(factor)), ball * factor, mask))
    return golden.opened(~mask & ~np.isfinite(input.astype(np.float64)), CHANCE)


def _masked(fmt: Format, value: np.ndarray, real: Real, ball: Ball, mask: np.ndarray) -> Golden:
    value = np.where(mask, value, np.zeros((), fmt.storage))
    return Golden.derived(fmt, value, where(mask, real, 0.0), ball, zero_sign_free=~mask)
