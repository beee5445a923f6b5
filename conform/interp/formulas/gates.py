"""Recurrent cells: the documented formulas of their gates, written once for every kind of number that a golden needs.

A kind multiplies by weights (`sums`), and has the functions and products of gates. `Steps` has the exact numbers and
the errors of honest implementations side by side; `Numbers` and `Exacts` have one row of a batch, of which only some
units may be asked for: the numbers at any precision, and those that are known to be rational.

A sigmoid of x, |x| >= 2048, and a tanh of half of that, are the limits (P236): what is missing is below e^-2048.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol

import gmpy2
import numpy as np

from conform.interp.program.contraction.matrices import addmm, mm
from conform.interp.program.elementwise import arithmetic
from conform.interp.program.forms import either_form
from conform.interp.program.functions import elementary
from conform.interp.program.number import Number
from conform.interp.program.rules import combined
from conform.interp.program.storage import stored
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import PRECISIONS
from conform.numerics.formats import compute_format
from conform.numerics.real import Real, joined, where

FAR = 2048.0  # of a sigmoid's argument; of a tanh's half of it, since tanh(x) = 2 sigmoid(2x) - 1

Values = Any  # of the kind's own type


@dataclass(frozen=True)
class Weights:
    """The weights of a cell, a row for each unit of each gate, one gate after the other, and its biases, None where
    there are none."""

    input: np.ndarray
    hidden: np.ndarray
    input_bias: np.ndarray | None = None
    hidden_bias: np.ndarray | None = None

    def of_unit(self, unit: int) -> Weights:
        """The rows of one unit."""
        rows = slice(unit, None, self.hidden.shape[1])
        parts = (self.input, self.hidden, self.input_bias, self.hidden_bias)
        return Weights(*(None if part is None else part[rows] for part in parts))


class Kind(Protocol):
    """The numbers that a cell is evaluated in."""

    def sums(self, weights: Weights, x: Values, h: Values) -> tuple[Values, Values]:
        """(W_input x + b_input, W_hidden h + b_hidden), of all gates"""

    def parts(self, x: Values, count: int) -> Sequence[Values]:
        """What each of so many gates has of x."""

    def plus(self, x: Values, y: Values) -> Values: ...

    def times(self, x: Values, y: Values) -> Values: ...

    def sigmoid(self, x: Values) -> Values:
        """1 / (1 + e^-x)"""

    def tanh(self, x: Values) -> Values: ...

    def relu(self, x: Values) -> Values:
        """max(x, 0)"""

    def mixed(self, x: Values, other: Values, kept: Values) -> Values:
        """(1 - z) other + z kept, z the sigmoid of x"""

    def joined(self, x: Values, y: Values) -> Values:
        """The units of both, those of y behind those of x."""


# --- The cells --------------------------------------------------------------------------------------------------------

Cell = Callable[..., tuple[Values, ...]]  # of a kind, weights, x, h and the states of the units that are asked for


def tanh_cell(kind: Kind, weights: Weights, x: Values, h: Values, kept: Sequence[Values]) -> tuple[Values]:
    """tanh(W_ih x + b_ih + W_hh h + b_hh)"""
    return (kind.tanh(kind.plus(*kind.sums(weights, x, h))),)


def relu_cell(kind: Kind, weights: Weights, x: Values, h: Values, kept: Sequence[Values]) -> tuple[Values]:
    """max(W_ih x + b_ih + W_hh h + b_hh, 0)"""
    return (kind.relu(kind.plus(*kind.sums(weights, x, h))),)


def gru_cell(kind: Kind, weights: Weights, x: Values, h: Values, kept: Sequence[Values]) -> tuple[Values]:
    """(1 - z) n + z h of the gates r, z, n, where r multiplies what n has of the state"""
    of_input, of_state = kind.sums(weights, x, h)
    sums = kind.plus(of_input, of_state)
    reset, update = kind.parts(kind.sigmoid(sums), 3)[0], kind.parts(sums, 3)[1]
    own, recurrent = kind.parts(of_input, 3)[2], kind.parts(of_state, 3)[2]
    new = kind.tanh(kind.plus(own, kind.times(reset, recurrent)))
    return (kind.mixed(update, new, kept[0]),)


def lstm_cell(kind: Kind, weights: Weights, x: Values, h: Values, kept: Sequence[Values]) -> tuple[Values, Values]:
    """c' = f c + i g and h' = o tanh(c') of the gates i, f, g, o"""
    sums = kind.plus(*kind.sums(weights, x, h))
    i, f, _, o = kind.parts(kind.sigmoid(sums), 4)
    c = kind.plus(kind.times(f, kept[1]), kind.times(i, kind.tanh(kind.parts(sums, 4)[2])))
    return kind.times(o, kind.tanh(c)), c


# --- What honest implementations compute ------------------------------------------------------------------------------


class Steps:
    """Numbers of a program (`program/number.py`), of which each step may have rounded its results to their dtype."""

    def sums(self, weights: Weights, x: Number, h: Number) -> tuple[Number, Number]:
        return _sums(x, weights.input, weights.input_bias), _sums(h, weights.hidden, weights.hidden_bias)

    def parts(self, x: Number, count: int) -> list[Number]:
        return [x.moved(lambda part, n=n: np.split(part, count, -1)[n]) for n in range(count)]

    def plus(self, x: Number, y: Number) -> Number:
        return arithmetic.add(stored(x), stored(y))

    def times(self, x: Number, y: Number) -> Number:
        return arithmetic.mul(stored(x), stored(y))

    def sigmoid(self, x: Number) -> Number:
        return combined(x.format, _real_sigmoid, elementary.sigmoid, stored(x))

    def tanh(self, x: Number) -> Number:
        return combined(x.format, _real_tanh, _ball_tanh, stored(x))

    def relu(self, x: Number) -> Number:
        return arithmetic.relu(stored(x))

    def mixed(self, x: Number, other: Number, kept: Number) -> Number:
        """Also other + z (kept - other)."""
        z = self.sigmoid(x)
        rest = arithmetic.sub(1.0, stored(z))
        rest = replace(rest, real=self.sigmoid(replace(x, real=-x.real)).real)  # 1 - z, without cancellation
        by_shares = self.plus(self.times(rest, other), self.times(z, kept))
        difference = arithmetic.sub(stored(kept), stored(other))
        return either_form(by_shares, self.plus(other, self.times(z, difference)))

    def joined(self, x: Number, y: Number) -> Number:
        return together([x, y], lambda parts: np.concatenate(parts, -1))


def together(numbers: Sequence[Number], join: Callable[[list[np.ndarray]], np.ndarray]) -> Number:
    """Numbers of one dtype as `join` arranges them."""
    rad = join([np.broadcast_to(one.rad, one.shape) for one in numbers])
    are_known = all(one.array is not None for one in numbers)
    array = join([one.array for one in numbers]) if are_known else None
    return Number(numbers[0].format, joined(join, [one.real for one in numbers]), rad, array)


def _sums(rows: Number, weights: np.ndarray, bias: np.ndarray | None) -> Number:
    """Also with the sums of products rounded before the bias is added."""
    columns, rows = Number.exact(weights.T), stored(rows)
    if bias is None:
        return mm(rows, columns)
    addend = Number.exact(bias)
    sums = addmm(addend, rows, columns)
    if compute_format(rows.format) == rows.format:
        return sums
    return either_form(sums, arithmetic.add(stored(mm(rows, columns)), addend))


def budget_of(number: Number) -> np.ndarray:
    """How far off an honest implementation may be: by what its ball says, unless the exact number was hardly known, of
    which the ball is one, or not at all."""
    untold = number.real.radius
    is_known = untold <= number.rad * 2.0**-20 + 2.0**-1000
    return np.where(is_known, number.rad + untold, np.inf)


def _real_sigmoid(x: Real) -> Real:
    """1 / (1 + e^-x), at the limits beyond FAR."""
    return _image(x, FAR, lambda inner: where(inner.hi == 0, _exactly_at_zero(inner, 0.5), _sigmoid_of(inner)), 0.0)


def _real_tanh(x: Real) -> Real:
    """2 sigmoid(2x) - 1 where e^-2x is small."""

    def of_inner(inner: Real) -> Real:
        far = np.abs(inner.hi) > APART
        image = functions.tanh(where(far, 0.0, inner))
        if not far.any():
            return image
        power = functions.exp(where(far, abs(inner) * -2.0, -1.0))
        near_one = 1.0 - 2.0 * power / (1.0 + power)
        return where(far, where(inner.hi < 0, -near_one, near_one), image)

    return _image(x, FAR / 2, of_inner, -1.0)


APART = 30.0  # from here on a sigmoid is nearer to its limit than double-doubles of 1 are to each other


def _sigmoid_of(x: Real) -> Real:
    far = np.abs(x.hi) > APART
    image = functions.sigmoid(where(far, 0.0, x))
    if not far.any():
        return image
    power = functions.exp(where(far, -abs(x), -1.0))
    small = power / (1.0 + power)
    return where(far, where(x.hi < 0, small, 1.0 - small), image)


def _exactly_at_zero(x: Real, number: float) -> Real:
    return where(x.radius == 0, number, functions.sigmoid(x))


def _image(x: Real, far: float, of_inner: Callable[[Real], Real], low: float) -> Real:
    """The image of a function that rises from `low` to 1, and is at these limits where x is surely beyond `far`.

    Of what is not known at all, and may be NaN, nothing is known.
    """
    is_above, is_below = x.hi - x.radius >= far, x.hi + x.radius <= -far
    is_known = (np.abs(x.hi) <= far) & (x.radius < 1.0)
    middle, half = np.full(x.shape, (1 + low) / 2), np.where(np.isinf(x.radius), np.inf, (1 - low) / 2)
    image = where(is_known, of_inner(where(is_known, x, 0.0)), Real(middle, np.zeros(x.shape), half))
    image = where(np.isnan(x.hi), np.nan, image)
    return where(is_above, 1.0, where(is_below, low, image))


def _ball_tanh(x: Ball) -> Ball:
    """That of a sum that has overflowed may be NaN."""
    image = x.tanh()
    return Ball(image.mid, np.where(np.isinf(x.rad), np.inf, image.rad), x.compute)


# --- One row at any precision -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Between:
    """The ends of an interval in which a number lies; both are the infinity or NaN that it is."""

    low: mp.Number
    high: mp.Number


class Numbers:
    """Arrays of intervals at the precision of the context: of one row of a batch.

    Formulas at rising precision are compared with each other, and a sum that has cancelled may have the same sigmoid or
    tanh at two of them: intervals see that.
    """

    plus = staticmethod(np.frompyfunc(lambda x, y: _total([x, y]), 2, 1))
    times = staticmethod(np.frompyfunc(lambda x, y: _product(x, y), 2, 1))
    parts = staticmethod(np.split)
    relu = staticmethod(np.frompyfunc(lambda x: _rising(_positive_part, x), 1, 1))
    sigmoid = staticmethod(np.frompyfunc(lambda x: _rising(_sigmoid, x), 1, 1))
    tanh = staticmethod(np.frompyfunc(lambda x: _rising(_tanh, x), 1, 1))
    # One end at one precision, the other one at twice that: where these agree they are the number.
    numbers = staticmethod(np.frompyfunc(lambda x: x.low if _is_at_even_step() else x.high, 1, 1))

    def row(self, row: np.ndarray) -> np.ndarray:
        """The elements of a row."""
        numbers = np.empty(len(row), object)
        numbers[:] = [_known(x) for x in row.astype(np.float64).tolist()]
        return numbers

    def sums(self, weights: Weights, x: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._dots(weights.input, x, weights.input_bias), self._dots(weights.hidden, h, weights.hidden_bias)

    def _dots(self, weights: np.ndarray, row: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
        sums = np.empty(len(weights), object)
        for unit, factors in enumerate(weights.astype(np.float64).tolist()):
            terms = [_scaled(factor, number) for factor, number in zip(factors, row, strict=True)]
            sums[unit] = _total(terms if bias is None else [*terms, _known(float(bias[unit]))])
        return sums

    def mixed(self, x: np.ndarray, other: np.ndarray, kept: np.ndarray) -> np.ndarray:
        negative = np.frompyfunc(lambda each: Between(-each.high, -each.low), 1, 1)
        return self.plus(self.times(self.sigmoid(negative(x)), other), self.times(self.sigmoid(x), kept))

    def joined(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.concatenate([x, y])


def _is_at_even_step() -> bool:
    return (gmpy2.get_context().precision // PRECISIONS[0]).bit_length() % 2 == 0


def _known(x: float) -> Between:
    return Between(gmpy2.mpfr(x), gmpy2.mpfr(x))


def _around(low: mp.Number, high: mp.Number, *sizes: mp.Number) -> Between:
    """The interval with room for a few roundings of numbers of these sizes."""
    unit = mp.power_of_two(4 - gmpy2.get_context().precision)
    below, above = sizes or (abs(low), abs(high))
    return Between(low - below * unit, high + above * unit)


def _total(terms: Sequence[Between]) -> Between:
    """The sum; of infinities and NaN what IEEE 754 makes of them."""
    special = [term.low for term in terms if not gmpy2.is_finite(term.low)]
    if special:
        return _known(sum(special))
    sizes = (gmpy2.fsum([abs(getattr(term, end)) for term in terms]) for end in ("low", "high"))
    return _around(gmpy2.fsum([term.low for term in terms]), gmpy2.fsum([term.high for term in terms]), *sizes)


def _scaled(factor: float, x: Between) -> Between:
    ends = factor * x.low, factor * x.high
    return Between(*ends) if factor >= 0 or not gmpy2.is_finite(x.low) else Between(*ends[::-1])


def _product(x: Between, y: Between) -> Between:
    if not (gmpy2.is_finite(x.low) and gmpy2.is_finite(y.low)):
        return _known(x.high * y.high)  # of a gate, which is above 0 unless both its ends are 0
    ends = [one * other for one in (x.low, x.high) for other in (y.low, y.high)]
    return _around(min(ends), max(ends))


def _rising(function: Callable[[mp.Number], mp.Number], x: Between) -> Between:
    """The image under a function that falls nowhere."""
    low, high = (x.low, x.low) if gmpy2.is_nan(x.low) else (function(x.low), function(x.high))
    return _around(low, high) if gmpy2.is_finite(low) else _known(low)


def _positive_part(x: mp.Number) -> mp.Number:
    return x if x > 0 else gmpy2.mpfr(0)


def _sigmoid(x: mp.Number) -> mp.Number:
    if abs(x) >= FAR:
        return gmpy2.mpfr(1 if x > 0 else 0)
    return 1 / (1 + gmpy2.exp(-x))


def _tanh(x: mp.Number) -> mp.Number:
    if abs(x) >= FAR / 2:
        return gmpy2.mpfr(1 if x > 0 else -1)
    return gmpy2.tanh(x)


# --- One row of what is rational --------------------------------------------------------------------------------------


class Unknown(Enum):
    """What is not known to be rational: a finite number, or anything."""

    FINITE = "finite"
    ANYTHING = "anything"


Exact = Fraction | float | Unknown  # infinities and NaN are floats


class Exacts:
    """Of one row of a batch the rational numbers: sums of products, sigmoids and tanhs at 0 and at their limits."""

    plus = staticmethod(np.frompyfunc(lambda x, y: _added([x, y]), 2, 1))
    times = staticmethod(np.frompyfunc(lambda x, y: _multiplied(x, y), 2, 1))
    sigmoid = staticmethod(np.frompyfunc(lambda x: _at_known(x, FAR, (0, Fraction(1, 2), 1)), 1, 1))
    tanh = staticmethod(np.frompyfunc(lambda x: _at_known(x, FAR / 2, (-1, 0, 1)), 1, 1))
    parts = staticmethod(np.split)
    relu = staticmethod(np.frompyfunc(lambda x: Fraction(0) if not isinstance(x, Unknown) and x < 0 else x, 1, 1))

    def row(self, row: np.ndarray) -> np.ndarray:
        """The elements of a row."""
        numbers = np.empty(len(row), object)
        numbers[:] = [_exact(x) for x in row.astype(np.float64).tolist()]
        return numbers

    def sums(self, weights: Weights, x: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._dots(weights.input, x, weights.input_bias), self._dots(weights.hidden, h, weights.hidden_bias)

    def _dots(self, weights: np.ndarray, row: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
        sums = np.empty(len(weights), object)
        for unit, factors in enumerate(weights):
            terms = [_multiplied(factor, number) for factor, number in zip(self.row(factors), row, strict=True)]
            sums[unit] = _added(terms if bias is None else [*terms, _exact(float(bias[unit]))])
        return sums

    def mixed(self, x: np.ndarray, other: np.ndarray, kept: np.ndarray) -> np.ndarray:
        z = self.sigmoid(x)
        rest = self.plus(Fraction(1), self.times(Fraction(-1), z))
        return self.plus(self.times(rest, other), self.times(z, kept))

    def joined(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.concatenate([x, y])


def _exact(x: float) -> Exact:
    return Fraction(x) if np.isfinite(x) else x


def _added(terms: Iterable[Exact]) -> Exact:
    """The sum; of infinities and NaN what IEEE 754 makes of them."""
    terms = list(terms)
    special = [term for term in terms if isinstance(term, float)]
    if Unknown.ANYTHING in terms:
        return Unknown.ANYTHING
    if special:
        return sum(special)
    return Unknown.FINITE if Unknown.FINITE in terms else sum(terms, Fraction(0))


def _multiplied(x: Exact, y: Exact) -> Exact:
    """The product; NaN of 0 and an infinity."""
    if Unknown.ANYTHING in (x, y) or Unknown.FINITE in (x, y) and (isinstance(x, float) or isinstance(y, float)):
        return Unknown.ANYTHING
    if Unknown.FINITE in (x, y):
        return Fraction(0) if 0 in (x, y) else Unknown.FINITE
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x * y
    return _signed(x) * _signed(y)


def _signed(x: Fraction | float) -> float:
    """-1, 0 or 1 in the place of a fraction."""
    return float((x > 0) - (x < 0)) if isinstance(x, Fraction) else x


def _at_known(x: Exact, far: float, images: tuple[Fraction | int, Fraction | int, Fraction | int]) -> Exact:
    """The images of a function at its lower limit, at 0 and at its upper limit."""
    below, at_zero, above = map(Fraction, images)
    if isinstance(x, Unknown) or x != x:
        return x
    if abs(x) >= far:
        return above if x > 0 else below
    return at_zero if x == 0 else Unknown.FINITE
