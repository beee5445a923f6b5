"""Discrete Fourier transforms: on reals by the algorithms of Cooley and Tukey and, where a prime factor is large, of
Bluestein; and one element of them exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from math import lcm, prod

import numpy as np

from conform.numerics.cyclotomic import Digits, prime_factors, roots_of_unity, sum_of_cosines
from conform.numerics.real import Real, concatenate

MOST_TERMS = 128  # the largest prime factor whose sums are added up term by term
IN_CACHE = 1 << 14  # numbers that are transformed together


@dataclass(frozen=True)
class Pair:
    """The real and the imaginary parts of complex numbers."""

    re: Real
    im: Real

    @staticmethod
    def of(numbers: np.ndarray) -> Pair:
        """Real or complex numbers, as they are."""
        return Pair(*(Real.exact(part.astype(np.float64)) for part in (numbers.real, numbers.imag)))

    def __add__(self, other: Pair) -> Pair:
        return Pair(self.re + other.re, self.im + other.im)

    def __sub__(self, other: Pair) -> Pair:
        return Pair(self.re - other.re, self.im - other.im)

    def __mul__(self, other: Pair) -> Pair:
        return Pair(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def __getitem__(self, index: object) -> Pair:
        return Pair(self.re[index], self.im[index])

    def reshape(self, *shape: int) -> Pair:
        return Pair(self.re.reshape(shape), self.im.reshape(shape))

    def moved(self, source: int, to: int) -> Pair:
        """With the axis `source` at the place `to`."""
        return Pair(*(part.map_parts(lambda array: np.moveaxis(array, source, to)) for part in (self.re, self.im)))


def transformed(numbers: Pair, axis: int, sign: int) -> Pair:
    """sum over j of numbers[j] e^(sign 2 pi i j k / n) for every k along `axis`, whose size is n."""
    last = numbers.moved(axis, -1)
    shape = last.re.shape
    result = _transformed(last.reshape(prod(shape[:-1]), shape[-1]), prime_factors(shape[-1]), sign)
    return result.reshape(*shape).moved(-1, axis)


def _transformed(rows: Pair, factors: list[int], sign: int) -> Pair:
    """Of each row [count, n], n = p m: p transforms of m elements, p apart, each turned, and m transforms of p. What
    does not fit into the processor's cache is taken apart first."""
    count, n = rows.re.shape
    if n == 1:
        return rows
    if count > (step := max(IN_CACHE // n, 1)):
        pieces = [_transformed(rows[at : at + step], factors, sign) for at in range(0, count, step)]
        return _joined(pieces, axis=0)
    p, m = factors[0], n // factors[0]
    parts = rows.reshape(count, m, p).moved(2, 1).reshape(count * p, m)
    parts = _transformed(parts, factors[1:], sign).reshape(count, p, m)
    if p == 2:
        return _sums_and_differences(parts, sign)
    turned = parts * _roots(n, sign, np.outer(np.arange(p), np.arange(m)))
    if p > MOST_TERMS:
        by_columns = turned.moved(1, -1).reshape(count * m, p)
        return _by_chirps(by_columns, sign).reshape(count, m, p).moved(2, 1).reshape(count, n)
    total = turned[:, :1]
    for j in range(1, p):
        total = total + turned[:, j : j + 1] * _roots(p, sign, j * np.arange(p)[:, None] % p)
    return total.reshape(count, n)


def _sums_and_differences(parts: Pair, sign: int) -> Pair:
    """Of parts [count, 2, m] the first plus the second, turned, and then the first minus that: [count, 2 m]."""
    count, _, m = parts.re.shape
    sums, differences = [], []
    for places in np.split(np.arange(m), range(step := max(IN_CACHE // count, 1), m, step)):
        first, second = parts[:, 0, places], parts[:, 1, places] * _roots(2 * m, sign, places)
        sums.append(first + second)
        differences.append(first - second)
    return _joined([*sums, *differences], axis=1)


def _joined(pieces: Sequence[Pair], axis: int) -> Pair:
    parts = ([piece.re for piece in pieces], [piece.im for piece in pieces])
    return Pair(*(concatenate(each, axis) for each in parts))


def _by_chirps(rows: Pair, sign: int) -> Pair:
    """Of each row [count, n] the convolution that is its transform: with the chirp c_j = e^(sign pi i j^2 / n), and
    2 j k = j^2 + k^2 - (k - j)^2, frequency k is c_k times the sum of x_j c_j / c_(k - j)."""
    count, n = rows.re.shape
    chirp, spectrum, places = _chirp(n, sign)
    step = max(IN_CACHE // places, 1)
    if count > step:
        return _joined([_by_chirps(rows[at : at + step], sign) for at in range(0, count, step)], axis=0)
    convolved = _by_halves(_by_halves(_followed_by_zeros(rows * chirp, places), -1) * spectrum, 1)
    whole = convolved[:, :n] * chirp
    return Pair(*(part.times_power_of_two(-(places.bit_length() - 1)) for part in (whole.re, whole.im)))


@cache
def _chirp(n: int, sign: int) -> tuple[Pair, Pair, int]:
    """The chirp [1, n], the transform of its inverse at the places -n + 1 to n - 1 of a cycle, and how long that is."""
    places = 1 << (2 * n - 2).bit_length()
    squares = np.arange(n) ** 2 % (2 * n)
    chirp = _roots(2 * n, sign, squares[None])
    inverse = _roots(2 * n, -sign, squares[None])
    to_n = _followed_by_zeros(inverse, places - n + 1)
    return chirp, _by_halves(_joined([to_n, inverse[:, :0:-1]], axis=1), -1), places


def _by_halves(rows: Pair, sign: int) -> Pair:
    return _transformed(rows, prime_factors(rows.re.shape[1]), sign)


def _followed_by_zeros(rows: Pair, size: int) -> Pair:
    def pad(array: np.ndarray) -> np.ndarray:
        return np.pad(array, [(0, 0), (0, size - array.shape[1])])

    return Pair(rows.re.map_parts(pad), rows.im.map_parts(pad))


def _roots(n: int, sign: int, exponents: np.ndarray) -> Pair:
    cosines, sines = roots_of_unity(n)
    return Pair(cosines[exponents], sines[exponents] if sign > 0 else -sines[exponents])


@dataclass(frozen=True)
class Exactly:
    """Elements of the transform of finite `numbers` [rows, *sizes], real or complex, over all dims but the first.

    lengths: how long each of those dims is, though of the last one only the first elements may be given, times
    `weights` then; square: what the sums are divided by the root of
    """

    numbers: np.ndarray
    lengths: tuple[int, ...]
    sign: int
    square: int
    weights: np.ndarray | None = None
    _last: dict[int, tuple[int, list[Digits]]] = field(default_factory=dict, init=False)

    @cached_property
    def order(self) -> int:
        """Of the roots of unity in which all sums can be written, and the root of `square`, which divides the lengths'
        product or its square."""
        return lcm(8, *self.lengths)

    @cached_property
    def _constant(self) -> list[list[bool]]:
        """Of each row, along which dims its numbers, all that there are, do not change: only the first frequency of
        such a dim is not 0, which all powers of a root of unity other than 1 add up to."""
        axes = tuple(range(1, self.numbers.ndim))
        whole = [self.numbers.shape[axis] == length for axis, length in zip(axes, self.lengths, strict=True)]
        equal = [(self.numbers == self.numbers.take([0], axis)).all(axis=axes) for axis in axes]
        return np.transpose([same & all_ for same, all_ in zip(equal, whole, strict=True)]).tolist()

    def at(self, index: tuple[int, ...], part: int) -> Fraction:
        """The real (part 0) or imaginary (1) part of the element at index (row, *places)."""
        row, *places = index
        if any(place and constant for place, constant in zip(places, self._constant[row], strict=True)):
            return Fraction(0)
        unit, numbers = self._integers(row)
        turns = np.zeros([1] * len(places), dtype=np.int64)
        for axis, (place, length) in enumerate(zip(places, self.lengths, strict=True)):
            steps = np.arange(self.numbers.shape[1 + axis]) * place % length * (self.sign * (self.order // length))
            turns = turns + steps.reshape([-1 if axis == d else 1 for d in range(turns.ndim)])
        quarter = self.order // 4  # sin t = cos(t - quarter), and the imaginary numbers are a quarter ahead
        real, imag = (
            integers.summed((turns + (ahead - part * quarter)) % self.order, self.order)
            for integers, ahead in zip(numbers, (0, quarter), strict=True)
        )
        total = sum_of_cosines(real + imag, self.square)
        return total * Fraction(2) ** unit if total else total

    def _integers(self, row: int) -> tuple[int, list[Digits]]:
        """(k, the real and the imaginary parts): the row's numbers, times their weights, as integers times 2^k.

        Those of the last row are kept: its elements are asked for one after another."""
        if row not in self._last:
            numbers = self.numbers[row]
            parts = numbers.real, numbers.imag
            unit = min((_exponent(x) for part in parts for x in part.flat if x), default=0)
            weights = np.broadcast_to(1 if self.weights is None else self.weights, numbers.shape)
            self._last.clear()
            factors = weights.astype(np.int64).astype(object)
            self._last[row] = unit, [Digits.of(_integers(part, unit) * factors, 2 * numbers.size) for part in parts]
        return self._last[row]


def _exponent(x: float) -> int:
    """The exponent of the unit of which a float is an integer multiple."""
    return 1 - float(x).as_integer_ratio()[1].bit_length()


def _integers(numbers: np.ndarray, unit: int) -> np.ndarray:
    """The numbers over 2^unit, exactly."""
    return np.frompyfunc(lambda x: int(Fraction(x) / Fraction(2) ** unit), 1, 1)(numbers).astype(object)
