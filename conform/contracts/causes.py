"""Why sums are off, told from their errors: factors cut short, a partial result rounded, additions that truncate, a
narrow accumulator.

Each hypothesis is tested on the failed output itself, element by element: it explains a wrong element if it predicts
its value, or the direction and the size of its error. Cut factors change the exact result in a known way: the sums of
the cut factors are computed, and explain an element that is within IEEE bounds of them, and nearer to them than to the
true sum by a factor of EXPLAINS. Truncation and a narrow accumulator depend on the order of summation, which is not
known: what shows is the direction of the errors, and their size. All of it is counted over blocks: tiles of the output
where sums are made again, else elements.

Where no element is wrong alone, but the errors of all together are, a hypothesis has to explain these: `together`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from conform.contracts.accumulation import VARIANCE, allowance, errors_in_units, final_rounding
from conform.contracts.arithmetic import IEEE
from conform.contracts.comparison import same_special
from conform.interp.blocks.blocks import flat, spans
from conform.interp.blocks.converted import Change, unchanged
from conform.interp.blocks.tiles import Contraction
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS, Format, compute_format
from conform.numerics.real import Real
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import gamma
from conform.numerics.ulp import ulp

EXPLAINS = 4.0  # a hypothesis must leave at most a quarter of the error
SIGMAS = 4.0  # of a fair coin: how one-sided errors must be to count as truncated
OUTWARD = 3.0  # and how often they point outward where roundings do not explain all of them
MOST_OF_CUT = 2.0**-5  # of the magnitudes: two factors that lose 2^-7 each, and honest rounding beside
WEAKLY = 16  # wrong elements
TELLING = 0.25  # of the magnitudes: an error that may be larger tells nothing
LIKELY = 4.0  # standard deviations that an error of a narrow accumulator may be off
# Accumulators that are too narrow, by element type.
NARROWER = {"float16": "float16", "bfloat16": "bfloat16", "float64": "float32"}
SEEN = 1 / 16  # the least root mean square, in units of u S, that a narrow accumulator leaves


_TRUNCATED, _ACCUMULATED = "as if the sums were truncated", "as if the sums were accumulated in"


# The sums of products of two factors without the op's addend, of factors that are changed where they are read.
Products = Callable[[Change, Change], Contraction]


AreWrong = Callable[[Golden, np.ndarray], np.ndarray]  # of some elements of the golden, and their actual values


def _all(block: Golden, got: np.ndarray) -> np.ndarray:
    return np.ones(got.shape, bool)


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


def explained(golden: Golden, actual: np.ndarray, are_wrong: AreWrong, products: Products | None) -> dict[str, int]:
    """Of the wrong elements of an accumulation how many each cause explains, by its words; no cause that explains none.
    """
    if not _is_told(golden):
        return {}
    counts = Counter[str]()
    with np.errstate(all="ignore"):
        if products is not None and golden.format.name == "float32":  # the half types fit into TF32
            counts.update(_explained_by_cuts(golden, actual, are_wrong, products))
        if products is not None:
            counts.update(_explained_by_addend(golden, actual, are_wrong, products))
        counts.update(_explained_by_size(golden, actual, are_wrong))
    return {words: int(count) for words, count in counts.items() if count}


def together(golden: Golden, actual: np.ndarray, products: Products | None) -> str | None:
    """What the errors of all sums together look like; None if like nothing known."""
    if not _is_told(golden):
        return None
    golden = replace(golden, alternatives=())
    with np.errstate(all="ignore"):
        of_products = _cut_factors(golden, actual, products) or _rounded_before_addend(golden, actual, products)
        return of_products or _truncation(golden, actual) or _narrow(golden, actual)


class Needed(NamedTuple):
    """How many wrong elements a cause has to explain before it is told, and what share of the cases of an op and dtype
    has to fail."""

    elements: int = 1
    failing: float = 0.0


def needed(words: str) -> Needed:
    """One element is enough for a cause that predicts its value. Of a direction as many are needed as make a coin
    thrown so often improbable, 2^-16. Of a size, which other defects may have in long sums, the short sums, too: a
    narrow accumulator is wrong in most."""
    if words.startswith(_ACCUMULATED):
        return Needed(WEAKLY, failing=0.5)
    return Needed(WEAKLY) if words.startswith(_TRUNCATED) else Needed()


def _is_told(golden: Golden) -> bool:
    return golden.format.is_float and golden.real is not None and golden.magnitude is not None


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


def _explained_by_cuts(golden: Golden, actual: np.ndarray, are_wrong: AreWrong, products: Products) -> Counter[str]:
    """By the words of each cut. One that leaves most of the wrong elements so far unexplained is not tried further, and
    counts for nothing."""
    counts, seen = Counter(dict.fromkeys(_CUTS, 0)), 0
    for block, got, mask, hypotheses in _hypotheses(golden, actual, products, are_wrong, counts):
        seen += np.count_nonzero(mask)
        small = np.abs(_error(block, got)) <= MOST_OF_CUT * block.magnitude
        if 2 * np.count_nonzero(mask & small) < np.count_nonzero(mask):
            break  # most are far more wrong than any cut makes them
        for words, hypothesis in hypotheses:
            counts[words] += np.count_nonzero(mask & _predicts(hypothesis, block, got))
            if 2 * counts[words] < seen:
                del counts[words]
        if not counts:
            break
    else:
        return counts
    return Counter()


def _predicts(hypothesis: Golden, block: Golden, got: np.ndarray) -> np.ndarray:
    """Where the actual value is as near to the supposed sum as an honest one, and far nearer than to the true sum."""
    supposed, error = hypothesis.real, _error(block, got)
    left = np.abs((got.astype(np.float64) - supposed.hi) - supposed.lo)
    near = (left <= allowance(hypothesis, supposed, IEEE)) & (left * EXPLAINS <= np.abs(error))
    return near | (~np.isfinite(supposed.hi) & same_special(got.astype(np.float64), supposed.hi))


def _error(block: Golden, got: np.ndarray) -> np.ndarray:
    return (got.astype(np.float64) - block.real.hi) - block.real.lo


Hypotheses = Iterator[tuple[str, Golden]]


def _hypotheses(
    golden: Golden, actual: np.ndarray, products: Products, are_wrong: AreWrong, tried: Collection[str]
) -> Iterator[tuple[Golden, np.ndarray, np.ndarray, Hypotheses]]:
    """(a tile of the golden and of the actual values, which of them are wrong, the goldens of the cuts that are still
    tried), of every tile with a wrong element."""
    honest, supposed = products(unchanged, unchanged), {words: make(products) for words, make in _CUTS.items()}

    def made(block: Golden, place: tuple[slice, slice]) -> Hypotheses:
        of_addend = block.real - honest.tile(*place).real
        for words in list(tried):
            yield words, replace(block, real=of_addend + supposed[words](*place))

    for place in honest.tiles():
        block, got = golden.rearranged(partial(honest.part, place=place)), honest.part(actual, place)
        mask = are_wrong(block, got)
        if mask.any():
            block = replace(block, alternatives=())
            yield block, got, mask, made(block, place)


def _cut_factors(golden: Golden, actual: np.ndarray, products: Products | None) -> str | None:
    """The cut that leaves the smallest error, if it explains all the actual values."""
    if products is None or golden.format.name != "float32":
        return None
    true, left = _Errors(), {words: _Errors() for words in _CUTS}
    for block, got, _, hypotheses in _hypotheses(golden, actual, products, _all, left):
        true.add(block, got)
        for words, hypothesis in hypotheses:
            if _within(hypothesis, got):
                left[words].add(hypothesis, got)
            else:
                del left[words]
        if not left:
            return None
    best = min(left, key=lambda words: left[words].rms)
    return best if 0 < true.rms >= left[best].rms * EXPLAINS else None


def _within(golden: Golden, actual: np.ndarray) -> bool:
    """Whether every finite sum is within the IEEE bound."""
    real = golden.real
    error = np.abs((actual.astype(np.float64) - real.hi) - real.lo)
    return bool((error <= allowance(golden, real, IEEE))[_finite(golden)].all())


def _finite(golden: Golden) -> np.ndarray:
    return np.isfinite(golden.real.hi) & (golden.magnitude > 0)


# -- The addend --------------------------------------------------------------------------------------------------------


def _explained_by_addend(
    golden: Golden, actual: np.ndarray, are_wrong: AreWrong, products: Products
) -> dict[str, int]:
    """A result may be the sum of products, rounded to the half type, plus the addend, rounded again: what honest errors
    in the compute type leave open is whether the sum went to one neighbour or the other."""
    fmt = golden.format
    if compute_format(fmt) == fmt:
        return {}
    honest, count = products(unchanged, unchanged), 0
    for place in honest.tiles():
        block, got = golden.rearranged(partial(honest.part, place=place)), honest.part(actual, place)
        sums = honest.tile(*place)
        addend, spread = block.real - sums.real, gamma(sums.terms, compute_format(fmt).unit_roundoff) * sums.magnitude
        least, most = (_rounded(fmt, addend + _rounded(fmt, sums.real + end)) for end in (-spread, spread))
        count += np.count_nonzero(are_wrong(block, got) & _finite(block) & (least <= got) & (got <= most))
    return {f"as if a partial result was rounded to {fmt.name}": count}


def _rounded_before_addend(golden: Golden, actual: np.ndarray, products: Products | None) -> str | None:
    """Whether that explains every finite sum."""
    if products is None:
        return None
    sums = sum(np.count_nonzero(_finite(block)) for block, _ in _blocks(golden, actual))
    counts = _explained_by_addend(golden, actual, _all, products)
    return next((words for words, count in counts.items() if count == sums > 0), None)


def _rounded(fmt: Format, real: Real) -> np.ndarray:
    """The numbers, as float64."""
    return round_to(fmt, real.hi, real.lo).astype(np.float64)


# -- Additions ---------------------------------------------------------------------------------------------------------


def _explained_by_size(golden: Golden, actual: np.ndarray, are_wrong: AreWrong) -> Counter[str]:
    """Truncation makes errors that point to zero, a narrow accumulator such of its own size."""
    counts, accumulator, outward = Counter[str](), _accumulator(golden.format), 0
    for block, got in _blocks(golden, actual):
        mask = are_wrong(block, got)
        if mask.any():
            mask, error = mask & _finite(block), _error(block, got)
            inward = (error * np.sign(block.real.hi) < 0) & (np.abs(error) <= _reach_of_truncation(block))
            counts[f"{_TRUNCATED} (rounded toward zero)"] += np.count_nonzero(mask & inward)
            if accumulator is not None:
                likely = mask & (np.abs(error) <= _likely_of(accumulator, block))
                counts[f"{_ACCUMULATED} {accumulator.name}"] += np.count_nonzero(likely)
                outward += np.count_nonzero(likely & (error * np.sign(block.real.hi) > 0))
    if accumulator is not None:
        narrow = f"{_ACCUMULATED} {accumulator.name}"
        counts[narrow] = _of_both_signs(counts[narrow], outward)
    return counts


def _of_both_signs(count: int, outward: int) -> int:
    """Of so many errors those that roundings explain, which point outward no more often than inward."""
    excess = 2 * outward - count - OUTWARD * np.sqrt(count)
    return count - max(0, int(excess))


def _reach_of_truncation(block: Golden) -> np.ndarray:
    """What directed rounding makes of sums at most: gamma_k(2u) S, and one ulp into a narrower result."""
    compute = compute_format(block.format)
    reach = gamma(block.terms, 2 * compute.unit_roundoff) * block.magnitude
    return reach + 2 * final_rounding(block, compute, block.real, reach)


def _accumulator(fmt: Format) -> Format | None:
    return FORMATS[NARROWER[fmt.name]] if fmt.name in NARROWER else None


def _likely_of(accumulator: Format, block: Golden) -> np.ndarray:
    """What independent roundings of a narrow accumulator add up to, and the rounding of the result. Of sums so long
    that this is no size to tell by, nothing."""
    deviations = LIKELY * np.sqrt(VARIANCE * np.asarray(block.terms, np.float64)) * accumulator.unit_roundoff
    likely = deviations * block.magnitude + ulp(block.format, block.real.hi) / 2
    return np.where(deviations <= TELLING, likely, 0.0)


def _truncation(golden: Golden, actual: np.ndarray) -> str | None:
    """Nearly all errors point to zero, and none is larger than directed rounding makes it."""
    inexact, inward = 0, 0
    for block, got in _blocks(golden, actual):
        error = _error(block, got)
        counted = _finite(block) & (error != 0)
        if not (np.abs(error) <= _reach_of_truncation(block))[counted].all():
            return None
        inexact += np.count_nonzero(counted)
        inward += np.count_nonzero((error * np.sign(block.real.hi) < 0)[counted])
    if 2 * inward - inexact >= SIGMAS * np.sqrt(max(inexact, 1)):
        return f"{_TRUNCATED} (rounded toward zero)"
    return None


def _narrow(golden: Golden, actual: np.ndarray) -> str | None:
    """The errors are of the size that honest rounding in a narrower format gives: gamma_k(u) S, and TOSA's mean
    square."""
    accumulator = _accumulator(golden.format)
    if accumulator is None:
        return None
    count, squares, variances = 0, 0.0, 0.0
    for block, got in _blocks(golden, actual):
        u, terms = accumulator.unit_roundoff, np.asarray(block.terms, np.float64)
        error, used = np.abs(_error(block, got)), _finite(block)
        reach = (gamma(terms, u) + 2 * u) * block.magnitude + ulp(block.format, block.real.hi) / 2
        if not (error <= reach)[used].all():
            return None
        count += np.count_nonzero(used)
        squares += float(np.sum((error / (u * block.magnitude))[used] ** 2))
        variances += float(np.sum(VARIANCE * np.broadcast_to(terms, error.shape)[used]))
    if count and SEEN**2 <= squares / count <= variances / count:
        return f"{_ACCUMULATED} {accumulator.name}"
    return None


def _blocks(golden: Golden, actual: np.ndarray) -> Iterator[tuple[Golden, np.ndarray]]:
    for place in spans(actual.size):
        yield golden.block(place), flat(actual, place)
