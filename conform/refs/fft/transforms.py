"""Discrete Fourier transforms by their definition: sums over exact roots of unity, each part rounded once.

A part is a sum of integers times cosines, c_0 cos 0 + c_1 cos(2 pi / m) + ..., a number of the field of the m-th roots
of unity. Whether it is rational, as zero is, polynomials modulo the m-th cyclotomic one tell; balls round the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import copysign, lcm, prod

from flint import arb, ctx, fmpz_poly

from conform.refs.exact.complex_parts import is_finite
from conform.refs.exact.reals import decided_at, fraction_ball, round_real, scale_to_integers
from conform.refs.exact.rounding import COMPONENTS, round_sqrt
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, groups, strides_of, wrap_dims
from conform.refs.references import reference

NONE, BY_ROOT, BY_SIZE = range(3)  # normalization: nothing, 1 / sqrt(n), 1 / n of n points
FORWARD, BACKWARD = -1, 1  # the sign of the exponent
QUICK_BITS = 192  # decide nearly all results that are not rational
COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}


@reference("aten::_fft_c2c")
def fft_c2c(self: RefTensor, dim: list[int], normalization: int, forward: bool) -> RefTensor:
    """X[k] = sum_n x[n] e^(-+2 pi i n k / size) over the dims, minus if forward; open where an x is not finite."""
    if self.dtype not in COMPONENTS:
        raise ValueError(f"_fft_c2c is of complex64 and complex128, found {self.dtype}")
    if not dim:
        return RefTensor(self.dtype, self.shape, list(self.data))
    dims = _check(self, dim, normalization)
    transform = Transform(tuple(self.shape[d] for d in dims), FORWARD if forward else BACKWARD, normalization)
    return transformed(self, dims, transform, dtype=self.dtype, kept=transform.sizes)


@reference("aten::_fft_r2c")
def fft_r2c(self: RefTensor, dim: list[int], normalization: int, onesided: bool) -> RefTensor:
    """The forward transform of real numbers; onesided keeps the first size // 2 + 1 along the last of the dims."""
    if self.dtype not in COMPLEX_OF:
        raise ValueError(f"_fft_r2c is of float32 and float64, found {self.dtype}")
    dims = _check(self, dim, normalization)
    sizes = tuple(self.shape[d] for d in dims)
    kept = (*sizes[:-1], sizes[-1] // 2 + 1) if onesided else sizes
    transform = Transform(sizes, FORWARD, normalization)
    return transformed(self, dims, transform, dtype=COMPLEX_OF[self.dtype], kept=kept)


@reference("aten::_fft_c2r")
def fft_c2r(self: RefTensor, dim: list[int], normalization: int, last_dim_size: int) -> RefTensor:
    """The backward transform to real numbers, of which self is the first half of the last of the dims.

    The other half is conjugate. Where an element is its own conjugate, at 0 and half of an even size, the imaginary
    part (after the transform along the other dims) does not count.
    """
    if self.dtype not in COMPONENTS:
        raise ValueError(f"_fft_c2r is of complex64 and complex128, found {self.dtype}")
    dims = _check(self, dim, normalization)
    if last_dim_size < 1:
        raise ValueError(f"last_dim_size is 1 or more, found {last_dim_size}")
    if self.shape[dims[-1]] != last_dim_size // 2 + 1:
        raise NotImplementedError(f"{self.shape[dims[-1]]} elements are not the half of {last_dim_size}")
    sizes = (*(self.shape[d] for d in dims[:-1]), last_dim_size)
    transform = Transform(sizes, BACKWARD, normalization, halved=True)
    return transformed(self, dims, transform, dtype=COMPONENTS[self.dtype], kept=sizes)


def _check(self: RefTensor, dim: list[int], normalization: int) -> list[int]:
    """The dims, wrapped; ValueError if there is none, one is empty or named twice, or the normalization unknown."""
    dims = wrap_dims(dim, len(self.shape))
    if not self.shape or not dims or any(self.shape[d] < 1 for d in dims):
        raise ValueError(f"a transform needs dims with elements, found {dim} of shape {self.shape}")
    if normalization not in (NONE, BY_ROOT, BY_SIZE):
        raise ValueError(f"normalization is 0, 1 or 2, found {normalization}")
    return dims


@dataclass(frozen=True)
class Transform:
    """Over points of `sizes` with e^(sign 2 pi i n k / size); halved: of the last size only half is there, and the
    elements that stand for two count twice, of which the real part is wanted."""

    sizes: Shape
    sign: int
    normalization: int
    halved: bool = False

    @property
    def order(self) -> int:
        """m, of which every exponent of the transform is a multiple of 1 / m of a turn, and a quarter turn too."""
        return lcm(4, *self.sizes)

    def weight(self, last: int) -> int:
        """How often an element counts whose index along the last dim is `last`."""
        return 2 if self.halved and last != 0 and 2 * last != self.sizes[-1] else 1


def _indices(sizes: Shape) -> list[Shape]:
    """Every index below the sizes, in row-major order."""
    return [
        tuple(position // stride % size for size, stride in zip(sizes, strides_of(sizes), strict=True))
        for position in range(prod(sizes))
    ]


def transformed(self: RefTensor, dims: list[int], transform: Transform, dtype: str, kept: Shape) -> RefTensor:
    """The first `kept` results along the dims, for every index of the others."""
    order = sorted(dims)  # `groups` lists positions by sorted dims
    shape = tuple(kept[dims.index(d)] if d in dims else size for d, size in enumerate(self.shape))
    data: list = [None] * prod(shape)
    inputs = [tuple(index[order.index(d)] for d in dims) for index in _indices(tuple(self.shape[d] for d in order))]
    outputs = [tuple(index[order.index(d)] for d in dims) for index in _indices(tuple(shape[d] for d in order))]
    for own, its in zip(groups(self.shape, order), groups(shape, order), strict=True):
        results = _results([complex(self.data[i]) for i in own], inputs, outputs, transform, dtype)
        for position, result in zip(its, results, strict=True):
            data[position] = result
    return RefTensor(dtype, shape, data)


def _results(
    values: list[complex], inputs: list[Shape], outputs: list[Shape], transform: Transform, dtype: str
) -> list:
    if not is_finite(*values):
        return [UNSPECIFIED] * len(outputs)
    integers, exponent = scale_to_integers([part for z in values for part in (z.real, z.imag)])
    terms = [
        (index, transform.weight(index[-1]) * integers[2 * i], transform.weight(index[-1]) * integers[2 * i + 1])
        for i, index in enumerate(inputs)
    ]
    return [_result(dtype, terms, output, transform, exponent) for output in outputs]


def _result(
    dtype: str, terms: list[tuple[Shape, int, int]], output: Shape, transform: Transform, exponent: int
) -> complex | float:
    """One result; (a + bi) (cos t + s i sin t) is a cos t - s b sin t, and b cos t + s a sin t times i."""
    order, sign = transform.order, transform.sign
    real, imag = [0] * order, [0] * order
    for index, a, b in terms:
        turn = sum(n * k * (order // size) for n, k, size in zip(index, output, transform.sizes, strict=True)) % order
        sine = turn - order // 4  # sin t = cos(t - a quarter turn); a negative index counts from the end
        real[turn], real[sine] = real[turn] + a, real[sine] - sign * b
        imag[turn], imag[sine] = imag[turn] + b, imag[sine] + sign * a
    if dtype not in COMPONENTS:
        return _round_part(dtype, real, exponent, transform)
    return complex(*(_round_part(COMPONENTS[dtype], part, exponent, transform) for part in (real, imag)))


@cache
def _cosines(order: int, bits: int) -> list[arb]:
    """cos(2 pi j / order) of every j, at a precision of `bits`, that of the context."""
    return [(arb(2 * j) / order).cos_pi() for j in range(order)]


def _round_part(dtype: str, cosines: list[int], exponent: int, transform: Transform) -> float:
    """sum_j cosines[j] cos(2 pi j / m) * 2^exponent, normalized and rounded once; a zero is +0."""
    order, size, scale = len(cosines), prod(transform.sizes), Fraction(2) ** exponent
    divisor_square = {NONE: 1, BY_ROOT: size, BY_SIZE: size**2}[transform.normalization]

    def ball() -> arb:
        roots = _cosines(order, ctx.prec)
        points = sum((c * roots[j] for j, c in enumerate(cosines) if c), arb(0))
        return points * fraction_ball(scale) / arb(divisor_square).sqrt()

    if (quickly := decided_at(QUICK_BITS, dtype, ball)) is not None:
        return quickly
    modulus = fmpz_poly.cyclotomic(order)
    doubled = fmpz_poly([cosines[j] + cosines[-j] for j in range(order)]) % modulus  # 2 cos(j) = z^j + z^-j
    if doubled.degree() < 0:
        return 0.0
    square = doubled * doubled % modulus
    if square.degree() > 0:  # then neither the number nor its quotient by the root of an integer is rational
        return round_real(dtype, ball)
    number = Fraction(int(square[0]), 4 * divisor_square) * scale**2  # the square of the result
    sign = round_real("float64", lambda: ball() / abs(ball()))
    return copysign(round_sqrt(dtype, number.numerator, number.denominator), sign)
