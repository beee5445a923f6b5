"""Random draws that are the same on every platform.

Everything derives from the raw 64-bit output of Philox-4x64-10 (Salmon et al., SC'11), keyed by a hash of what is drawn
for. Floats are built from bits with operations that IEEE 754 defines exactly (+ - * / sqrt, frexp), never with numpy's
distributions or a libm function, whose results differ between versions and machines.
"""

from __future__ import annotations

import hashlib
import math
import threading

import numpy as np

Shape = int | tuple[int, ...]

_WORDS_PER_BLOCK = 4
_TWO_TO_MINUS_53 = 2.0**-53
_TWO_TO_64 = 2**64
_CHUNK = 8192  # numbers made at a time, which stay in cache


class Stream:
    """The draws for one input: a pure function of seed, test id, sample number and label (such as "in.0").

    Draws follow one another: the same calls in the same order give the same values. Each call starts a new Philox block
    (four words), so two short draws are not the two halves of one long draw.
    """

    __slots__ = ("_block", "_hashed", "_parts")

    def __init__(self, seed: int, test_id: str, sample: int, label: str) -> None:
        self._parts = (seed, test_id, sample, label)
        self._hashed: np.ndarray | None = None
        self._block = 0

    @property
    def _key(self) -> np.ndarray:
        """The hash of the four parts, made when it is needed: most streams are not drawn from."""
        if self._hashed is None:
            seed, test_id, sample, label = self._parts
            # The length keeps the four parts apart, whatever characters an id has.
            text = f"{seed} {sample} {len(test_id)} {test_id}{label}"
            self._hashed = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype="<u8", count=2)
        return self._hashed

    def bits(self, count: int) -> np.ndarray:
        """`count` words of 64 random bits, uint64."""
        words = _philox(self._key, self._block, count)
        self.skip(count)
        return words

    def skip(self, count: int) -> None:
        """Leave out what `bits` would give: so many words are never made."""
        self._block += -(-count // _WORDS_PER_BLOCK)

    def uniform(self, shape: Shape) -> np.ndarray:
        """k * 2^-53 with k uniform over 0 .. 2^53 - 1, float64 in [0, 1)."""
        return ((self._words(shape) >> np.uint64(11)) * _TWO_TO_MINUS_53).reshape(shape)

    def normal(self, shape: Shape) -> np.ndarray:
        """Standard normal, float64: a random sign, quantiles of (k + 1/2) * 2^-53 with k uniform over 0 .. 2^52 - 1.

        Finite (at most 8.3 in magnitude) and never zero.
        """
        words = self._words(shape)
        numbers = np.empty(words.size)
        for start in range(0, words.size, _CHUNK):
            chunk = words[start : start + _CHUNK]
            tail = ((chunk << np.uint64(1) >> np.uint64(12)) + 0.5) * _TWO_TO_MINUS_53
            numbers[start : start + _CHUNK] = np.copysign(upper_quantile(tail), chunk.view(np.int64))
        return numbers.reshape(shape)

    def integers(self, low: int, high_inclusive: int, shape: Shape) -> np.ndarray:
        """Integers of low .. high_inclusive, int64, both ends of int64 allowed.

        The probability of each differs from the uniform one by less than 2^-64 (64 bits modulo the number of values).
        ValueError if the range is empty or leaves int64.
        """
        if not -(2**63) <= low <= high_inclusive < 2**63:
            raise ValueError(f"integers: expected -2^63 <= low <= high < 2^63, found {low} and {high_inclusive}")
        words = self._words(shape)
        count = high_inclusive - low + 1
        if count < _TWO_TO_64:
            words = words % np.uint64(count)
        return (words + np.uint64(low % _TWO_TO_64)).view(np.int64).reshape(shape)

    def bernoulli(self, p: float, shape: Shape) -> np.ndarray:
        """True with probability p (rounded up to a multiple of 2^-53), bool."""
        return self.uniform(shape) < p

    def permutation(self, n: int) -> np.ndarray:
        """A permutation of 0 .. n - 1, int64: the order of n random words."""
        return np.argsort(self.bits(n), kind="stable").astype(np.int64, copy=False)

    def _words(self, shape: Shape) -> np.ndarray:
        return self.bits(shape if isinstance(shape, int) else math.prod(shape))


class _Generator(threading.local):
    """One Philox a thread, rekeyed for every draw: constructing one costs more than the draw itself."""

    def __init__(self) -> None:
        self.philox = np.random.Philox(key=0)
        self.state = self.philox.state


_GENERATOR = _Generator()


def _philox(key: np.ndarray, block: int, count: int) -> np.ndarray:
    """`count` words of Philox-4x64-10 under `key`, from counter `block` + 1 on (numpy increments, then encrypts)."""
    state = _GENERATOR.state
    state["state"] = {"key": key, "counter": np.array([block, 0, 0, 0], dtype=np.uint64)}
    state["buffer_pos"] = _WORDS_PER_BLOCK  # an empty buffer: nothing of the previous key is left
    _GENERATOR.philox.state = state
    return _GENERATOR.philox.random_raw(count)


# Numerators and denominators of algorithm AS 241, PPND16 (Wichura, Applied Statistics 37 (1988) 477-484), from the
# highest power down, for its three regions. Relative error about 1e-16 each.
_CENTRAL = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080),
    (5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867,
     5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1.0),
)  # fmt: skip
_TAIL = (
    (7.74545014278341407640e-4, 0.0227238449892691845833, 0.241780725177450611770, 1.27045825245236838258,
     3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 0.0151986665636164571966, 0.148103976427480074590,
     0.689767334985100004550, 1.67638483018380384940, 2.05319162663775882187, 1.0),
)  # fmt: skip
_FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 0.0265321895265761230930,
     0.296560571828504891230, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     0.0148753612908506148525, 0.136929880922735805310, 0.599832206555887937690, 1.0),
)  # fmt: skip
_OF_CENTRE, _OF_TAIL, _OF_FAR_TAIL = (np.array(each).T[:, :, None] for each in (_CENTRAL, _TAIL, _FAR_TAIL))


def upper_quantile(p: np.ndarray) -> np.ndarray:
    """z > 0 with P(Z > z) = p for a standard normal Z; p is a one-dimensional float64 array in (0, 1/2).

    Bit for bit the same everywhere; relative error below 1e-15.
    """
    distance = 0.5 - p
    quantile = _fraction(_OF_CENTRE, 0.180625 - distance * distance) * distance
    in_tail = np.flatnonzero(distance > 0.425)
    root = np.sqrt(-_log(p[in_tail]))
    quantile[in_tail] = _fraction(_OF_TAIL, root - 1.6)
    far = np.flatnonzero(root > 5.0)  # nearly always none: p < e^-25
    if far.size:
        quantile[in_tail[far]] = _fraction(_OF_FAR_TAIL, root[far] - 5.0)
    return quantile


def _fraction(coefficients: np.ndarray, argument: np.ndarray) -> np.ndarray:
    """The quotient of two polynomials, by Horner's rule; coefficients: [power, fraction part, 1], the highest first."""
    parts = coefficients[0] * argument
    for coefficient in coefficients[1:-1]:
        parts += coefficient
        parts *= argument
    parts += coefficients[-1]
    return parts[0] / parts[1]


_LOG_2 = 0.6931471805599453
# log of the centres of 16 intervals of [1/2, 1), each the nearest double (a test compares with mpmath)
_CENTRES = np.arange(33.0, 65.0, 2.0) / 64.0
_LOG_CENTRES = np.array([
    -0.6623755218931916, -0.6035350218702582, -0.5479651707154474, -0.4953214372300254, -0.44531101665536404,
    -0.39768296766610944, -0.3522205935893521, -0.3087354816496133, -0.26706278524904525, -0.22705745063534608,
    -0.18859116980755003, -0.15154989812720093, -0.1158318155251217, -0.0813456394539524, -0.048009219186360606,
    -0.015748356968139168,
])


def _log(x: np.ndarray) -> np.ndarray:
    """log(x) of positive normal float64 up to 1/2, relative error below 1e-15.

    x = m * 2^e with m in [1/2, 1); log m = log c + 2 atanh(s) with s = (m - c) / (m + c), where c is the centre of m's
    interval and so |s| <= 1/65. The series of atanh ends at s^9 / 9; the rest is below 2^-68.
    """
    mantissa, exponent = np.frexp(x)
    interval = (mantissa * 32.0).astype(np.intp) - 16
    centre = _CENTRES[interval]
    s = (mantissa - centre) / (mantissa + centre)
    s_squared = s * s
    series = s_squared * (2.0 / 9.0)
    for denominator in (7.0, 5.0, 3.0):
        series += 2.0 / denominator
        series *= s_squared
    return exponent * _LOG_2 + _LOG_CENTRES[interval] + (series + 2.0) * s
