"""fft by the specification's text: series of one-dimensional transforms, each the sums of its definition, in complex
balls of so many bits that every result is told from the numbers that it is not.

Scaled to integers, twice a part of a result is an algebraic integer of the field of the m-th roots of unity, and all
its conjugates are sums of the same magnitudes, at most M. The product of the conjugates of one that is not zero is an
integer, so it is itself at least (2 M + 1)^(1 - phi(m)), after an integer up to M was taken off as well: what lies
nearer to an integer is that integer, and all else is irrational, so no midpoint of a format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import lcm, prod

from flint import acb, arb, ctx

from conform.refs.exact.reals import decided_at, fraction_ball, scale_to_integers
from conform.refs.exact.rounding import round_ratio

Index = tuple[int, ...]
Transform = Callable[[Sequence[acb]], list[acb]]
SPARE_BITS = 128  # beyond those that tell integers: roundings of the sums, and a format's own


def fft(kind: str, values: Sequence[complex], shape: Index, lengths: Index, dtype: str) -> list[complex]:
    """The elements of the result in row-major order; real ones of IRFFT. `dtype` is that of their parts: float32 or
    float64."""
    integers, exponent = scale_to_integers([part for one in values for part in (one.real, one.imag)])
    order, most = lcm(4, *lengths), 4 * sum(map(abs, integers)) + 2
    room = most.bit_length()
    bits = room * (order + 1) + SPARE_BITS
    scale = Fraction(2) ** exponent / (prod(lengths) if kind in ("IFFT", "IRFFT") else 1)
    before, ctx.prec = ctx.prec, bits
    try:
        operand = {index: acb(integers[2 * at], integers[2 * at + 1]) for at, index in enumerate(_indices(shape))}
        found = _series(kind, operand, shape, lengths)
        parts = [[_rounded(part, scale, room, dtype) for part in (one.real, one.imag)] for one in found.values()]
    finally:
        ctx.prec = before
    return [re if kind == "IRFFT" else complex(re, im) for re, im in parts]


def _series(kind: str, operand: dict[Index, acb], shape: Index, lengths: Index) -> dict[Index, acb]:
    """FFT and IFFT from the last dimension outward; RFFT begins with rfft along the last, IRFFT ends with irfft."""
    last, outer = len(shape) - 1, range(len(shape) - 2, len(shape) - 1 - len(lengths), -1)
    if kind in ("FFT", "IFFT"):
        along = dict.fromkeys((last, *outer), _fft if kind == "FFT" else _ifft)
    elif kind == "RFFT":
        along = {last: lambda row: _fft(row)[: len(row) // 2 + 1], **dict.fromkeys(outer, _fft)}
    else:
        along = {**dict.fromkeys(outer, _ifft), last: lambda row: _irfft(row, lengths[-1])}
    for dim, transform in along.items():
        operand = _along(operand, dim, transform)
    return dict(sorted(operand.items()))


def _along(operand: dict[Index, acb], dim: int, transform: Transform) -> dict[Index, acb]:
    rows: dict[Index, list[acb]] = {}
    for index in sorted(operand):
        rows.setdefault((*index[:dim], *index[dim + 1 :]), []).append(operand[index])
    return {(*rest[:dim], at, *rest[dim:]): one for rest, row in rows.items() for at, one in enumerate(transform(row))}


def _fft(row: Sequence[acb], sign: int = -1) -> list[acb]:
    """X_k = sum_n x_n e^(-2 pi i n k / N)"""
    size = len(row)
    roots = [acb(arb(2 * sign * n) / size).exp_pi_i() for n in range(size)]
    return [sum((one * roots[n * k % size] for n, one in enumerate(row)), acb(0)) for k in range(size)]


def _ifft(row: Sequence[acb]) -> list[acb]:
    """N times the inverse of _fft: the quotient is taken once, of the exact result."""
    return _fft(row, 1)


def _irfft(row: Sequence[acb], size: int) -> list[acb]:
    """The same of rows that are the first half of what is its own conjugate, backwards."""
    whole = [row[k] if k < len(row) else acb(row[size - k].real, -row[size - k].imag) for k in range(size)]
    return [acb(one.real) for one in _ifft(whole)]


def _rounded(part: arb, scale: Fraction, room: int, dtype: str) -> float:
    """part * scale, rounded once; a zero is +0. `room`: the bits before the point, which its radius has none of."""
    twice, bits = 2 * part, ctx.prec
    whole = int((twice.mid() + arb(1) / 2).floor().unique_fmpz())
    if abs(twice - whole) < arb(2) ** (room + SPARE_BITS // 2 - bits):
        exact = whole * scale / 2
        return round_ratio(dtype, exact.numerator, exact.denominator) if exact else 0.0
    found = decided_at(bits, dtype, lambda: part * fraction_ball(scale))
    if found is None:
        raise ArithmeticError(f"a part of a transform is undecided at {bits} bits")
    return found


def _indices(shape: Index) -> list[Index]:
    return list(product(*map(range, shape)))
