"""The last rung for composite ops: rational results by fractions, others by whole formulas at rising precision.

What formulas lose is not bounded: a value y at precision p is taken with radius 2^(20-p) |y|, and must be confirmed at
2p: the difference of the two joins the radius.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from gmpy2 import iroot, mpq, mpz

from conform.errors import Undecided
from conform.numerics import multiprecision as mp
from conform.numerics.formats import Format
from conform.numerics.parts import Parts, parts_of, write
from conform.numerics.real import Real
from conform.numerics.rounding import decide, nearest_of, round_to
from conform.numerics.scaled import Scaled

PRECISIONS = (135, 270, 540, 1080, 2160, 4320)  # each is the double of the one before, whose numbers are used again

Rational = Callable[[tuple[int, ...]], Fraction | mpq | None]


def decide_exactly(
    fmt: Format, real: Real, exact: Rational, scaled: Callable[[], Scaled] | None = None
) -> tuple[np.ndarray, Real]:
    """`real` rounded once to `fmt`, and the reals that were rounded.

    Where `real` cannot decide, `scaled()`, the same numbers with their exponents held apart, is asked for if it is
    given, then `exact(index)` for the exact value; what they say joins the reals.
    """
    value, real, _ = settled_by_fractions(fmt, real, exact, scaled)
    return value, real


def decided_first(
    fmt: Format, hi: np.ndarray, radius: np.ndarray, others: Callable[[np.ndarray], tuple[np.ndarray, Real]]
) -> tuple[np.ndarray, Real]:
    """`hi`, numbers of float64 that are known to within `radius`, rounded once to a narrower `fmt`, and the numbers;
    where these do not decide, both as `others(undecided)` gives them of those."""
    real = Real(hi, np.zeros_like(hi), radius)
    value, undecided = decide(fmt, real)
    if undecided.any():
        value[undecided], finer = others(undecided)
        write(real, undecided, finer)
    return value, real


def resolved(
    fmt: Format,
    real: Real | Scaled,
    formula: Callable[[np.ndarray], np.ndarray],
    rational: Rational | None = None,
    scaled: Callable[[], Scaled] | None = None,
) -> tuple[np.ndarray, Real]:
    """`real` [rows, n] rounded to `fmt`: undecided elements by `scaled()`, the same numbers with their exponents held
    apart, as far as these are known, then by `rational(index)`, which gives None where a result is not known to be
    rational, then rows with others by `formula(row numbers)` on numbers of any precision."""
    value, real, undecided = settled_by_fractions(fmt, real, rational or (lambda index: None), scaled)
    if undecided.any():
        rows = np.flatnonzero(undecided.any(axis=-1))
        rounded, numbers = decided(fmt, formula, rows, undecided[rows])
        value, real = value.copy(), real.map_parts(np.copy)
        value[undecided] = rounded
        for index, parts in zip(np.argwhere(undecided).tolist(), numbers, strict=True):
            write(real, tuple(index), parts)
    return value, real


def settled_by_fractions(
    fmt: Format, real: Real | Scaled, rational: Rational, scaled: Callable[[], Scaled] | None = None
) -> tuple[np.ndarray, Real, np.ndarray]:
    """(value, real, undecided): `real` rounded to `fmt`, with what `scaled()` or else `rational(index)` says where that
    is not decided."""
    value, undecided = real.decided(fmt) if isinstance(real, Scaled) else decide(fmt, real)
    real = real.real() if isinstance(real, Scaled) else real
    if not undecided.any():
        return value, real, undecided
    value, real, undecided = value.copy(), real.map_parts(np.copy), undecided.copy()
    if scaled is not None:
        _write_decided(fmt, scaled(), value, real, undecided)
    settled = np.zeros(value.shape, bool)
    rounded = np.zeros(value.shape)
    for index in map(tuple, np.argwhere(undecided).tolist()):
        number = rational(index)
        if number is not None:
            rounded[index] = nearest_of(fmt, number)
            margin = abs(number) * Irrational.margin if isinstance(number, Irrational) else Fraction(0)
            write(real, index, parts_of(number, margin))
            settled[index] = True
    value[settled], undecided[settled] = round_to(fmt, rounded[settled]), False
    return value, real, undecided


def _write_decided(fmt: Format, numbers: Scaled, value: np.ndarray, real: Real, undecided: np.ndarray) -> None:
    """What `numbers` decide of the undecided elements, written into `value`, `real` and `undecided`."""
    found, still = numbers.decided(fmt)
    settled = undecided & ~still
    value[settled], undecided[settled] = found[settled], False
    write(real, settled, numbers.real()[settled])


class Irrational(Fraction):
    """Stands for an irrational number that rounds like it in every format, and is within `margin` of it, relatively."""

    margin = Fraction(1, 2**120)


def root(number: Fraction | mpq, degree: int) -> Fraction:
    """The root of a number >= 0 where it is rational, else an Irrational.

    An irrational root lies between two multiples of a unit 2^-128 of its size; so do no rounding boundaries (of at
    most 54 bits), and the midpoint of the two stands for it.
    """
    numerator, denominator = mpz(number.numerator), mpz(number.denominator)
    roots, are_exact = zip(*(iroot(integer, degree) for integer in (numerator, denominator)), strict=True)
    if all(are_exact):
        return Fraction(*map(int, roots))
    shift = 128 - (numerator.bit_length() - denominator.bit_length()) // degree
    whole, _ = iroot(_shifted(numerator, shift * degree) // _shifted(denominator, -shift * degree), degree)
    return Irrational(int(_shifted(2 * whole + 1, -shift - 1)), int(_shifted(mpz(1), shift + 1)))


def _shifted(integer: mpz, bits: int) -> mpz:
    """Times a power of two, of which numerators take those above 1, and denominators the others."""
    return integer << bits if bits > 0 else integer


def decided(
    fmt: Format, formula: Callable[[np.ndarray], np.ndarray], rows: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, list[Parts]]:
    """The elements `wanted` (a mask [rows, n]) of `formula(rows)` [rows, n], numbers of any precision, rounded to
    `fmt`.

    Returns the rounded values and the numbers behind them, one each per wanted element. Raises Undecided where the
    highest precision does not decide. A zero counts at that precision alone, unless it is an int: of 1 - e^-1e-308
    nothing is left below a thousand bits, and two such zeros do not differ.
    """
    open_, value, numbers = wanted.copy(), np.zeros(wanted.shape, fmt.storage), {}
    known = np.empty(wanted.shape, object)
    with mp.at_precision(PRECISIONS[0]):
        known[...] = formula(rows)
    for precision in PRECISIONS:
        some, places = open_.any(axis=1), np.nonzero(open_)
        coarse = known[places]
        with mp.at_precision(2 * precision):
            known[some] = formula(rows[some])
            found = [mp.Enclosed.of(*pair, precision) for pair in zip(coarse, known[places], strict=True)]
            value[places], is_open = _decided(fmt, found, precision == PRECISIONS[-1])
            pairs = zip(np.argwhere(open_).tolist(), found, strict=True)
            numbers.update((tuple(place), number.parts()) for place, number in pairs)
        open_[places] = is_open
        if not is_open.any():
            return value[wanted], [numbers[tuple(place)] for place in np.argwhere(wanted).tolist()]
    raise Undecided(f"a result of {fmt.name} lies within 2^-{PRECISIONS[-1]} of a rounding boundary")


def _decided(fmt: Format, numbers: list[mp.Enclosed], is_last: bool) -> tuple[np.ndarray, np.ndarray]:
    """(the numbers rounded to `fmt`, which of them are not decided)."""
    low, high = (mp.rounded(fmt, ends) for ends in zip(*(number.ends for number in numbers), strict=True))
    cancelled = [number.may_have_cancelled for number in numbers]
    return low, (low.view(fmt.code_storage) != high.view(fmt.code_storage)) | (np.array(cancelled) & (not is_last))
