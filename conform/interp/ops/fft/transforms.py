"""Discrete Fourier transforms.

The bound is that of a fast transform in norm, |error| <= c u sqrt(n) |x| for every element: of length 2^t, c is
t (mu + gamma_4 (sqrt 2 + mu)), mu the error of a root of unity (Higham, Accuracy and Stability of Numerical Algorithms,
2nd ed., theorem 24.2). Of a factor p other than 2 the sums of p terms, each turned twice, lose as much as p - 1
additions and two products of complex numbers. Lengths with a prime factor above 7 may be transformed as convolutions of
a power of two of at least 2 n - 1 places (Bluestein), by three such transforms and three products, of numbers of norms
|x| and sqrt(2 n - 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import log2, prod, sqrt
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import spans
from conform.interp.formulas.complexes import joined
from conform.interp.formulas.fourier import Exactly, Pair, transformed
from conform.interp.formulas.vanishing import vanishing
from conform.interp.golden import Golden
from conform.interp.semantics import semantics
from conform.numerics.cyclotomic import prime_factors
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.grid import finest
from conform.numerics.parts import write
from conform.numerics.product import held_apart
from conform.numerics.real import Real, where
from conform.numerics.real import joined as joined_reals
from conform.numerics.rounding import decide
from conform.numerics.rounding_errors import flushed_sum, growth, underflow
from conform.numerics.scaled import Scaled

BY_ROOT, BY_COUNT = 1, 2  # normalization; 0: none
DIRECT = 7  # the largest prime factor for which FFTW, pocketfft, cuFFT and vDSP have a transform of their own
PRODUCT = 1 + 2 * sqrt(2)  # of a product of complex numbers, one of them a rounded root of unity, in u
SMALLEST = 2.0**-1074
MOST = 2**22  # numbers that one transform takes: of more the exact one wants minutes, and memory that few machines have
COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}


@semantics("aten::_fft_c2c", along="dim")
def complex_to_complex(self: np.ndarray, dim: Sequence[int], normalization: int, forward: bool) -> Golden:
    """sum over n of self[n] e^(-2 pi i k n / size), over all of dim; forward False: of e^(+2 pi i k n / size).
    normalization 0: as it is, 1: over the root of the number of terms, 2: over their number (P35, P130)"""
    return complex_golden(self, [d % self.ndim for d in dim], normalization, -1 if forward else 1)


@semantics("aten::_fft_r2c", along="dim")
def real_to_complex(self: np.ndarray, dim: Sequence[int], normalization: int, onesided: bool) -> Golden:
    """_fft_c2c of real numbers, forward; onesided: of the last of dim only the first size / 2 + 1 frequencies, of which
    the others are the complex conjugates (P35, P130)"""
    axes = [d % self.ndim for d in dim]
    kept = self.shape[axes[-1]] // 2 + 1 if onesided else None
    return complex_golden(self, axes, normalization, -1, kept)


def _of_whole_lines(arguments: Mapping[str, Any]) -> int:
    """As many as self has beside the last of dim, times what that gets."""
    shape, last = np.shape(arguments["self"]), arguments["dim"][-1] if arguments["dim"] else 0
    return arguments["last_dim_size"] * prod(size for d, size in enumerate(shape) if d != last % len(shape))


@semantics("aten::_fft_c2r", along="dim", elements=_of_whole_lines)
def complex_to_real(self: np.ndarray, dim: Sequence[int], normalization: int, last_dim_size: int) -> Golden:
    """The backward transform of frequencies of which the last of dim has the first half: the others are the complex
    conjugates, so that the result is real, and of what would make it complex the imaginary part is ignored (P35, P130,
    P131)"""
    axes = [d % self.ndim for d in dim]
    lengths = (*(self.shape[axis] for axis in axes[:-1]), last_dim_size)
    refuse_many(prod(lengths))
    rows, shape = _rows(self, axes)
    own = np.arange(rows.shape[-1]) * 2 % last_dim_size == 0  # frequencies that are their own conjugates: 0, size / 2
    weights = np.where(own, 1.0, 2.0)

    def of_rows(some: np.ndarray) -> Golden:
        return _Call(some, lengths, 1, normalization, last_dim_size, weights).golden(format_of(self).component)

    return _arranged(of_rows, rows, (*shape[: len(shape) - len(axes)], *lengths), axes)


def refuse_many(numbers: int) -> None:
    if numbers > MOST:
        raise Unjudged(f"a transform of {numbers:,} numbers at once: the kit judges those of up to {MOST:,}")


def _padded(half: Pair, size: int) -> Pair:
    """The last axis with zeros behind it up to `size`."""

    def pad(array: np.ndarray) -> np.ndarray:
        return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, size - array.shape[-1])])

    return Pair(half.re.map_parts(pad), half.im.map_parts(pad))


def complex_golden(
    self: np.ndarray, axes: list[int], normalization: int, sign: int, kept: int | None = None
) -> Golden:
    """`kept`: how many frequencies of the last axis there are, if not all."""
    fmt = format_of(self)
    fmt = fmt if fmt.is_complex else FORMATS[COMPLEX_OF[fmt.name]]
    refuse_many(prod(self.shape[axis] for axis in axes))
    rows, shape = _rows(self, axes)

    def of_rows(some: np.ndarray) -> Golden:
        return _Call(some, some.shape[1:], sign, normalization, kept).golden(fmt)

    shape = shape if kept is None else (*shape[:-1], kept)
    return _arranged(of_rows, rows, shape, axes)


def _rows(self: np.ndarray, axes: list[int]) -> tuple[np.ndarray, tuple[int, ...]]:
    """([rows, *sizes over the axes], the shape with the axes last)."""
    moved = np.moveaxis(self, axes, range(self.ndim - len(axes), self.ndim))
    sizes = moved.shape[self.ndim - len(axes) :]
    return moved.reshape(-1, *sizes) if self.size else np.empty((0, *sizes), self.dtype), moved.shape


def _arranged(
    of_rows: Callable[[np.ndarray], Golden], rows: np.ndarray, shape: tuple[int, ...], axes: list[int]
) -> Golden:
    """The golden of all rows, in the shape of the result, which has the axes last."""
    places = spans(len(rows), prod(rows.shape[1:]))
    golden = assembled(((place, of_rows(rows[place])) for place in places), len(rows))
    last = range(len(shape) - len(axes), len(shape))

    def move(part: np.ndarray) -> np.ndarray:
        parts = part.shape[rows.ndim :]  # of complex numbers two, beside each value
        return np.moveaxis(part.reshape(*shape, *parts), last, axes)

    return golden.rearranged(move)


def _scaled(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the rows over a power of two each, so that sums stay within float64's range, 0 in place of what is not finite;
    the exponents, which broadcast to them)."""
    finite = np.isfinite(rows)
    whole = np.where(finite, rows, 0.0).astype(np.complex128 if np.iscomplexobj(rows) else np.float64)
    sizes = np.maximum(np.abs(whole.real), np.abs(whole.imag))
    largest = sizes.max(axis=tuple(range(1, rows.ndim)), keepdims=True, initial=0.0)
    exponent = np.where(largest > 0, np.frexp(largest)[1], 0)
    return _ldexp(whole, -exponent), exponent


def _pair(rows: np.ndarray, weights: np.ndarray | float = 1.0) -> Pair:
    """The scaled rows times the weights. What lies more than 2^1022 below the largest number of its row underflows, and
    is known to half of float64's smallest number."""
    scaled, exponent = _scaled(rows)
    lost = _ldexp(scaled, exponent) != np.where(np.isfinite(rows), rows, 0.0)
    whole, radius = Pair.of(scaled * weights), np.where(lost, SMALLEST * weights, 0.0)
    return Pair(*(Real(part.hi, part.lo, radius) for part in (whole.re, whole.im)))


def _ldexp(numbers: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    if np.iscomplexobj(numbers):
        return np.ldexp(numbers.real, exponent) + 1j * np.ldexp(numbers.imag, exponent)
    return np.ldexp(numbers, exponent)


class _Call:
    """Transforms of `rows` [rows, *sizes], over `lengths`, of whose last dim the result has the first `kept` places."""

    def __init__(
        self, rows: np.ndarray, lengths: Sequence[int], sign: int, normalization: int, kept: int | None = None,
        weights: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.rows, self.lengths, self.sign, self.weights = rows, tuple(lengths), sign, weights
        self.factors = 1.0 if weights is None else weights
        self.count = prod(lengths)
        self.kept = slice(kept)
        self.square = {BY_ROOT: self.count, BY_COUNT: self.count**2}.get(normalization, 1)
        self.exactly = Exactly(rows, self.lengths, sign, self.square, weights)
        self.exponent = _scaled(rows)[1]

    def golden(self, fmt: Format) -> Golden:
        component = fmt.component if fmt.is_complex else fmt
        finite = np.isfinite(self.rows).all(axis=tuple(range(1, self.rows.ndim)))
        sums = self._sums(_pair(self.rows, self.factors))
        parts = [sums.re, sums.im] if fmt.is_complex else [sums.re]
        parts = self._finer(component, parts, finite)
        values, reals = [], []
        for part, real in enumerate(parts):
            quotient = self._divided(real[..., self.kept])
            scaled = partial(self._held_apart, quotient)
            whole = quotient.times_power_of_two(self.exponent)
            value, number = decide_exactly(component, whole, self._exact(part, finite), scaled)
            values.append(value)
            reals.append(number)
        return self._judged(fmt, component, values, reals, finite)

    def _sums(self, whole: Pair) -> Pair:
        """Of the scaled rows, before they are divided; all frequencies."""
        for axis in range(1, whole.re.ndim):
            is_short = whole.re.shape[axis] < self.lengths[axis - 1]
            whole = transformed(_padded(whole, self.lengths[-1]) if is_short else whole, axis, self.sign)
        return whole

    def _divided(self, sums: Real) -> Real:
        return sums / Real.exact(np.float64(self.square)).sqrt()

    def _held_apart(self, quotient: Real) -> Scaled:
        with np.errstate(all="ignore"):
            return held_apart(quotient, self.exponent)

    def _finer(self, component: Format, parts: list[Real], finite: np.ndarray) -> list[Real]:
        """The sums, and in rows of which an element is not decided sums of finer bounds, and what is known to be 0."""
        asked = [self._undecided(component, sums) & finite.reshape(-1, *[1] * len(self.lengths)) for sums in parts]
        some = np.logical_or.reduce([each.any(axis=tuple(range(1, each.ndim))) for each in asked])
        if not some.any():
            return parts
        others = self._sums_of_differences(some)
        unit = self._unit(some)
        for sums, mask, other in zip(parts, asked, (others.re, others.im), strict=False):
            better = where(other.radius < sums.radius[some], other, sums[some])
            write(sums, some, where(vanishing(better, unit, mask[some]), 0.0, better))
        return parts

    def _undecided(self, component: Format, sums: Real) -> np.ndarray:
        """Which elements of the result are not decided, among all frequencies."""
        undecided = np.zeros(sums.shape, bool)
        whole = self._divided(sums[..., self.kept]).times_power_of_two(self.exponent)
        undecided[..., self.kept] = decide(component, whole)[1]
        return undecided

    def _sums_of_differences(self, some: np.ndarray) -> Pair:
        """Those of `some` rows less what their first numbers add up to, which is 0 at all places but the first: there
        nothing is known. Of numbers that are nearly equal they have far finer bounds."""
        rows = self.rows[some]
        whole = _pair(rows)
        first = (slice(None), *[slice(1)] * len(self.lengths))
        im = whole.im - whole.im[first] if self.weights is None else whole.im  # the sum of halves has no such place
        sums = self._sums(Pair((whole.re - whole.re[first]) * self.factors, im * self.factors))
        for part in (sums.re, sums.im):
            part.radius[first] = np.inf
        return sums

    def _unit(self, some: np.ndarray) -> np.ndarray:
        """[rows]: powers of two of which all scaled numbers of a row are integer multiples; 0 where it is not held."""
        rows, axes = self.rows[some], tuple(range(1, self.rows.ndim))
        finest_ = np.minimum(finest(rows.real), finest(rows.imag)).min(axis=axes)
        return np.ldexp(finest_, -self.exponent[some].reshape(-1))

    def _exact(self, part: int, finite: np.ndarray) -> Callable[[tuple[int, ...]], Fraction]:
        return lambda index: self.exactly.at(index, part) if finite[index[0]] else Fraction(0)

    def _judged(
        self, fmt: Format, component: Format, values: list[np.ndarray], reals: list[Real], finite: np.ndarray
    ) -> Golden:
        shape = [-1] + [1] * len(self.lengths)
        norm, magnitude = (each.reshape(shape) for each in self._sizes())
        budget = np.broadcast_to(self._error(component, norm), values[0].shape)
        scale = np.broadcast_to(magnitude / sqrt(self.square), values[0].shape)
        if fmt.is_complex:
            value, real = joined(fmt, np.stack(values, axis=-1)), joined_reals(lambda some: np.stack(some, -1), reals)
            budget, scale = (np.stack([each / sqrt(2)] * 2, axis=-1) for each in (budget, scale))
        else:
            value, real = values[0], reals[0]
        freedoms = {"zero_sign_free": True, "normwise": fmt.is_complex}
        golden = Golden(fmt, value, real, budget=budget, scale=scale, **freedoms)
        unfit = np.broadcast_to(~finite.reshape(shape), value.shape)
        beyond = np.broadcast_to(self._largest_step(norm, magnitude) > component.max_finite, value.shape)
        return golden.opened(unfit, "P130").opened(beyond & ~unfit, "P35")

    def _sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """[rows]: the norm and the sum of magnitudes of all that is added up."""
        sizes = np.abs(np.where(np.isfinite(self.rows), self.rows, 0.0).astype(np.complex128))
        sizes = (sizes if self.weights is None else sizes * self.weights).reshape(len(self.rows), -1)
        with np.errstate(over="ignore"):
            magnitude = sizes.sum(axis=1)
            largest = sizes.max(axis=1, initial=0.0)
            share = sizes / np.where(largest > 0, largest, 1.0)[:, None]
            return largest * np.sqrt((share**2).sum(axis=1)), magnitude

    def _error(self, component: Format, norm: np.ndarray) -> np.ndarray:
        """|error| of every element; where numbers underflow, each of the products loses half a subnormal."""
        steps = [_steps(length) for length in self.lengths]
        u, spent = component.unit_roundoff, sum(spent for spent, _ in steps)
        widened = sqrt(prod(wider for _, wider in steps) * self.count)
        lost = 4 * self.count * max(sum(prime_factors(self.count)), 1) * underflow(component)
        with np.errstate(over="ignore", invalid="ignore"):
            computed = (growth_of(spent) + 2) * u * widened * norm + lost
            return computed / sqrt(self.square) + underflow(component) + flushed_sum(component)

    def _largest_step(self, norm: np.ndarray, magnitude: np.ndarray) -> np.ndarray:
        """The largest number on the way."""
        places = prod(_places(length) for length in self.lengths if not _is_direct(length))
        with np.errstate(over="ignore"):
            return magnitude * (4.0 * places**2 if places > 1 else 2.0)


def growth_of(errors: float) -> float:
    """What so many errors of u come to together."""
    return float(growth(errors))


def _is_direct(length: int) -> bool:
    return max(prime_factors(length), default=1) <= DIRECT


def _places(length: int) -> int:
    """Of the convolution by which Bluestein's algorithm transforms: a power of two."""
    return 1 << (2 * length - 2).bit_length()


def _steps(length: int) -> tuple[float, float]:
    """(how many u the transform of one dim loses of the norm, what widens the square of that)."""
    if _is_direct(length):
        return sum(p - 1 + (4 * sqrt(2) if p == 2 else 2 * PRODUCT) for p in prime_factors(length)), 1.0
    return 3 * log2(_places(length)) * (1 + 4 * sqrt(2)) + 3 * PRODUCT, 2.0
