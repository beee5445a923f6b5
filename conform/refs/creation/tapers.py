"""Windows that taper a signal, and the frequencies of a transform: by their formulas, rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

from flint import arb

from conform.refs.exact.promotion import FLOAT, category
from conform.refs.exact.reals import fraction_ball, round_real
from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import RefTensor
from conform.refs.references import reference


def _rational_cosine(turn: Fraction) -> Fraction | None:
    """cos(2 pi turn) where it is rational: at multiples of a sixth and a quarter of a turn (Niven)."""
    twelfths = 12 * (turn % 1)
    found = {0: 1, 2: Fraction(1, 2), 3: 0, 4: Fraction(-1, 2), 6: -1, 8: Fraction(-1, 2), 9: 0, 10: Fraction(1, 2)}
    return Fraction(found[int(twelfths)]) if twelfths.denominator == 1 and int(twelfths) in found else None


def _taper(
    length: int, periodic: bool, dtype: str | None, a: Fraction, b: Fraction, c: Fraction = Fraction(0)
) -> RefTensor:
    """a + b cos(2 pi i / n) + c cos(4 pi i / n)."""
    dtype = dtype or "float32"
    _check(length, dtype)
    if length == 1:
        return RefTensor(dtype, (1,), [1.0])
    parts = length if periodic else length - 1
    return RefTensor(dtype, (length,), [_at(dtype, Fraction(i, parts), a, b, c) for i in range(length)])


def _check(length: int, dtype: str) -> None:
    if length < 0 or category(dtype) != FLOAT:
        raise ValueError(f"a window of {length} numbers of {dtype}")


def _at(dtype: str, turn: Fraction, a: Fraction, b: Fraction, c: Fraction) -> float:
    """Rational where the cosines that count are: no other sum of these is, since b and c differ in size where both do
    (those of a fifth and a tenth of a turn are in one field of degree 2)."""
    first, second = _rational_cosine(turn), _rational_cosine(2 * turn)
    if (first is None and b != 0) or (second is None and c != 0):
        return round_real(dtype, lambda: _ball(turn, a, b, c))
    number = a + b * (first or 0) + c * (second or 0)
    return round_ratio(dtype, number.numerator, number.denominator)


def _ball(turn: Fraction, a: Fraction, b: Fraction, c: Fraction) -> arb:
    first, second = ((2 * fraction_ball(times * turn)).cos_pi() for times in (1, 2))
    return fraction_ball(a) + fraction_ball(b) * first + fraction_ball(c) * second


@reference("aten::hann_window", "aten::hann_window.periodic")
def hann_window(
    window_length: int, periodic: bool = True, dtype: str | None = None, layout: object = None,
    device: object = None, pin_memory: object = None,
) -> RefTensor:  # fmt: skip
    """1/2 - 1/2 cos(2 pi i / n)."""
    return _taper(window_length, periodic, dtype, Fraction(1, 2), Fraction(-1, 2))


@reference("aten::hamming_window", "aten::hamming_window.periodic", "aten::hamming_window.periodic_alpha",
           "aten::hamming_window.periodic_alpha_beta")  # fmt: skip
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, dtype: str | None = None,
    layout: object = None, device: object = None, pin_memory: object = None,
) -> RefTensor:  # fmt: skip
    """alpha - beta cos(2 pi i / n)."""
    if not (isfinite(alpha) and isfinite(beta)):
        raise NotImplementedError(f"alpha {alpha} and beta {beta}")
    return _taper(window_length, periodic, dtype, Fraction(alpha), -Fraction(beta))


@reference("aten::blackman_window", "aten::blackman_window.periodic")
def blackman_window(
    window_length: int, periodic: bool = True, dtype: str | None = None, layout: object = None,
    device: object = None, pin_memory: object = None,
) -> RefTensor:  # fmt: skip
    """0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n), of these decimal numbers."""
    return _taper(window_length, periodic, dtype, Fraction(42, 100), Fraction(-1, 2), Fraction(8, 100))


@reference("aten::bartlett_window", "aten::bartlett_window.periodic")
def bartlett_window(
    window_length: int, periodic: bool = True, dtype: str | None = None, layout: object = None,
    device: object = None, pin_memory: object = None,
) -> RefTensor:  # fmt: skip
    """2 i / n up to the middle, 2 - 2 i / n behind it."""
    dtype = dtype or "float32"
    _check(window_length, dtype)
    if window_length == 1:
        return RefTensor(dtype, (1,), [1.0])
    parts = window_length if periodic else window_length - 1
    numbers = [min(Fraction(2 * i, parts), 2 - Fraction(2 * i, parts)) for i in range(window_length)]
    return RefTensor(dtype, (window_length,), [round_ratio(dtype, x.numerator, x.denominator) for x in numbers])


@reference("aten::fft_fftfreq")
def fftfreq(
    n: int, d: float = 1.0, dtype: str | None = None, layout: object = None, device: object = None,
    pin_memory: object = None,
) -> RefTensor:  # fmt: skip
    """0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1 over n d."""
    return _over([*range((n - 1) // 2 + 1), *range(-(n // 2), 0)], n, d, dtype or "float32")


@reference("aten::fft_rfftfreq")
def rfftfreq(
    n: int, d: float = 1.0, dtype: str | None = None, layout: object = None, device: object = None,
    pin_memory: object = None,
) -> RefTensor:  # fmt: skip
    """0, 1, ..., n // 2 over n d."""
    return _over(list(range(n // 2 + 1)), n, d, dtype or "float32")


def _over(integers: list[int], n: int, d: float, dtype: str) -> RefTensor:
    if n < 1 or d == 0 or not isfinite(d) or category(dtype) != FLOAT:
        raise NotImplementedError(f"frequencies of {n} samples {d} apart, of {dtype}")
    numbers = [Fraction(i) / (n * Fraction(d)) for i in integers]
    return RefTensor(dtype, (len(numbers),), [round_ratio(dtype, x.numerator, x.denominator) for x in numbers])
