"""Why sums are off, told from their errors: factors cut short, a partial result rounded, additions that truncate, a
narrow accumulator.

Each hypothesis is tested on the failed output itself. Cut factors change the exact result in a known way: the sums of
the cut factors are computed, and they are the cause if they explain the actual values (within IEEE bounds, and nearer
than the true sums by a factor of EXPLAINS). Truncation and a narrow accumulator depend on the order of summation, which
is not known: what shows is the direction of the errors, and their size. All of it is summed up over blocks: tiles of
the output where sums are made again, else elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from conform.contracts.accumulation import VARIANCE, allowance, errors_in_units, final_rounding
from conform.contracts.arithmetic import IEEE
from conform.interp.blocks.blocks import flat, spans
from conform.interp.blocks.converted import Change, unchanged
from conform.interp.blocks.tiles import Contraction
from conform.interp.golden import Golden
from conform.numerics.ball import gamma
from conform.numerics.formats import FORMATS, Format, compute_format
from conform.numerics.real import Real
from conform.numerics.rounding import round_to
from conform.numerics.ulp import ulp

EXPLAINS = 4.0  # a hypothesis must leave at most a quarter of the error
SIGMAS = 4.0  # of a fair coin: how one-sided errors must be to count as truncated
# Accumulators that are too narrow, by element type.
NARROWER = {"float16": "float16", "bfloat16": "bfloat16", "float64": "float32"}
SEEN = 1 / 16  # the least root mean square, in units of u S, that a narrow accumulator leaves


# The sums of products of two factors without the op's addend, of factors that are changed where they are read.
Products = Callable[[Change, Change], Contraction]


@dataclass
class _Errors:
    """The errors of some sums in units of u S: how many, and the sum of their squares."""

    count: int = 0
    squares: float = 0.0

    def add(self, golden: Golden, actual: np.ndarray) -> None:
        errors = errors_in_units(golden, actual)[_finite(golden)]
        self.count, self.squares = self.count + errors.size, self.squares + float(np.sum(errors**2))

    @property
    def rms(self) -> float:
        return float(np.sqrt(self.squares / self.count)) if self.count else 0.0


def cause(golden: Golden, actual: np.ndarray, products: Products | None) -> str | None:
    """What the errors of a failed accumulation look like, in words that follow "error above the bound"; None if like
    nothing known."""
    if not golden.format.is_float or golden.real is None or golden.magnitude is None:
        return None
    golden = replace(golden, alternatives=())
    with np.errstate(all="ignore"):
        of_products = _cut_factors(golden, actual, products) or _rounded_before_addend(golden, actual, products)
        return of_products or _truncation(golden, actual) or _narrow(golden, actual)


# -- Factors cut short: float32 only, since the half types fit into TF32 -----------------------------------------------


def cut(x: np.ndarray, bits: int, nearest: bool = True) -> np.ndarray:
    """float32 numbers with `bits` significant bits, of normal numbers: rounded to nearest even, or truncated."""
    drop = 24 - bits
    pattern = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    if nearest:
        pattern = pattern + (1 << (drop - 1)) - 1 + (pattern >> drop & 1)
    short = (pattern >> drop << drop).astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(x), short, x)


def halves(x: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """float32 numbers rounded to `bits` significant bits, and what that left, rounded likewise; NaN for an infinity."""
    head = cut(x, bits)
    return head, cut(x - head, bits)


Sums = Callable[[slice, slice], Real]  # those of some rows and columns


def _of_cut(bits: int, nearest: bool) -> Callable[[Products], Sums]:
    change = partial(cut, bits=bits, nearest=nearest)
    return lambda products: lambda *place: products(change, change).tile(*place).real


def _of_halves(products: Products) -> Sums:
    """(a1 + a2) (b1 + b2) - a2 b2: of the four products of bfloat16 halves the smallest is left out."""
    both, second = (products(part, part) for part in (lambda x: np.add(*halves(x, 8)), lambda x: halves(x, 8)[1]))
    return lambda *place: both.tile(*place).real - second.tile(*place).real


_CUTS: dict[str, Callable[[Products], Sums]] = {
    "as if the inputs were rounded to TF32 (10 bits)": _of_cut(11, True),
    "as if the inputs were truncated to TF32 (10 bits)": _of_cut(11, False),
    "as if the inputs were rounded to bfloat16 (7 bits)": _of_cut(8, True),
    "as if the inputs were truncated to bfloat16 (7 bits)": _of_cut(8, False),
    "as if the inputs were split into bfloat16 halves (bf16x3)": _of_halves,
}


def _cut_factors(golden: Golden, actual: np.ndarray, products: Products | None) -> str | None:
    """The cut that leaves the smallest error, if it explains the actual values."""
    if products is None or golden.format.name != "float32":
        return None
    honest, supposed = products(unchanged, unchanged), {words: make(products) for words, make in _CUTS.items()}
    true, left = _Errors(), {words: _Errors() for words in _CUTS}
    for place in honest.tiles():
        block, got = golden.rearranged(partial(honest.part, place=place)), honest.part(actual, place)
        of_addend = block.real - honest.tile(*place).real
        true.add(block, got)
        for words in list(supposed):
            hypothesis = replace(block, real=of_addend + supposed[words](*place))
            if _within(hypothesis, got):
                left[words].add(hypothesis, got)
            else:
                del supposed[words]
        if not supposed:
            return None
    best = min(supposed, key=lambda words: left[words].rms)
    return best if left[best].rms * EXPLAINS <= true.rms else None


def _within(golden: Golden, actual: np.ndarray) -> bool:
    """Whether every finite sum is within the IEEE bound."""
    real = golden.real
    error = np.abs((actual.astype(np.float64) - real.hi) - real.lo)
    return bool((error <= allowance(golden, real, IEEE))[_finite(golden)].all())


def _finite(golden: Golden) -> np.ndarray:
    return np.isfinite(golden.real.hi) & (golden.magnitude > 0)


# -- The addend --------------------------------------------------------------------------------------------------------


def _rounded_before_addend(golden: Golden, actual: np.ndarray, products: Products | None) -> str | None:
    """Every result is the sum of products, rounded to the half type, plus the addend, rounded again: what honest errors
    in the compute type leave open is whether the sum went to one neighbour or the other."""
    fmt = golden.format
    if products is None or compute_format(fmt) == fmt:
        return None
    honest = products(unchanged, unchanged)
    for place in honest.tiles():
        block, got = golden.rearranged(partial(honest.part, place=place)), honest.part(actual, place)
        sums, used = honest.tile(*place), _finite(block)
        addend, spread = block.real - sums.real, gamma(sums.terms, compute_format(fmt).unit_roundoff) * sums.magnitude
        least, most = (_rounded(fmt, addend + _rounded(fmt, sums.real + end)) for end in (-spread, spread))
        if not ((least <= got) & (got <= most))[used].all():
            return None
    return f"as if a partial result was rounded to {fmt.name}"


def _rounded(fmt: Format, real: Real) -> np.ndarray:
    """The numbers, as float64."""
    return round_to(fmt, real.hi, real.lo).astype(np.float64)


# -- Additions ---------------------------------------------------------------------------------------------------------


def _truncation(golden: Golden, actual: np.ndarray) -> str | None:
    """Nearly all errors point to zero, and none is larger than directed rounding makes it: gamma_k(2u) S, and one ulp
    into a narrower result."""
    inexact, inward = 0, 0
    for block, got in _blocks(golden, actual):
        compute, real = compute_format(block.format), block.real
        error = (got.astype(np.float64) - real.hi) - real.lo
        reach = gamma(block.terms, 2 * compute.unit_roundoff) * block.magnitude
        reach = reach + 2 * final_rounding(block, compute, real, reach)
        counted = _finite(block) & (error != 0)
        if not (np.abs(error) <= reach)[counted].all():
            return None
        inexact += np.count_nonzero(counted)
        inward += np.count_nonzero((error * np.sign(real.hi) < 0)[counted])
    if 2 * inward - inexact >= SIGMAS * np.sqrt(max(inexact, 1)):
        return "as if the sums were truncated (rounded toward zero)"
    return None


def _narrow(golden: Golden, actual: np.ndarray) -> str | None:
    """The errors are of the size that honest rounding in a narrower format gives: gamma_k(u) S, and TOSA's mean
    square."""
    if golden.format.name not in NARROWER:
        return None
    accumulator: Format = FORMATS[NARROWER[golden.format.name]]
    count, squares, variances = 0, 0.0, 0.0
    for block, got in _blocks(golden, actual):
        u, terms = accumulator.unit_roundoff, np.asarray(block.terms, np.float64)
        error = np.abs((got.astype(np.float64) - block.real.hi) - block.real.lo)
        used = _finite(block)
        reach = (gamma(terms, u) + 2 * u) * block.magnitude + ulp(block.format, block.real.hi) / 2
        if not (error <= reach)[used].all():
            return None
        count += np.count_nonzero(used)
        squares += float(np.sum((error / (u * block.magnitude))[used] ** 2))
        variances += float(np.sum(VARIANCE * np.broadcast_to(terms, error.shape)[used]))
    if count and SEEN**2 <= squares / count <= variances / count:
        return f"as if the sums were accumulated in {accumulator.name}"
    return None


def _blocks(golden: Golden, actual: np.ndarray) -> Iterator[tuple[Golden, np.ndarray]]:
    for place in spans(actual.size):
        yield golden.block(place), flat(actual, place)
