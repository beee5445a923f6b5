"""What random numbers must obey: which elements no draw can have, and which tensors hardly any honest draw gives.

A fault of a whole tensor is one that an honest generator shows with a probability below FALSE_ALARM, of each way to
find one, which is proved for every size and every distribution named, not estimated:

* a draw X of the distribution function F has a place U between F(X-) and F(X) that is uniformly distributed, whatever
  F is (the distributional transform: Rueschendorf, Journal of Statistical Planning and Inference 139 (2009) 3921). A
  rounded draw tells two probabilities between which its place lies: a law is judged by these alone;
* the greatest distance of a sample's distribution function from the true one exceeds e with a probability of at most
  2 exp(-2 n e^2) (Dvoretzky, Kiefer, Wolfowitz; the constant is Massart's, Annals of Probability 18 (1990) 1269);
* the share f of n independent events of mean probability q has a tail of at most exp(-n KL(f, q)) on either side
  (Hoeffding, Journal of the American Statistical Association 58 (1963) 13, theorem 1);
* n draws of which each but the first has a probability of at most a to be what that is are all alike with a
  probability of at most a^(n - 1);
* k numbers of a random permutation stand where one given permutation has them with a probability of at most 1 / k!,
  the expected number of sets of k such places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

FALSE_ALARM = 1e-12  # of one way to find a fault in one tensor: below 1e-8 in a run of 1000 of them
CERTAIN = 2.0**-53  # an event of less probability is not seen
Distribution = Callable[[np.ndarray], np.ndarray]  # from numbers to the probabilities that a draw is at most so large


class Places(NamedTuple):
    """Of each draw, in the order of drawing, two probabilities between which its place in its own distribution lies.

    grid: how far at most the bits that a generator draws from move any probability.
    """

    low: np.ndarray
    high: np.ndarray
    grid: float

    def possible(self) -> np.ndarray:
        """Which of them any draw has: none lies at either end of its distribution, beyond all numbers."""
        return (self.high >= CERTAIN) & (self.low <= 1 - CERTAIN)


def rounded(distribution: Distribution, numbers: np.ndarray, error: np.ndarray, largest: float, grid: float) -> Places:
    """The places of numbers, each off by its error at most; one beyond the largest may have been any that is."""
    with np.errstate(all="ignore"):
        finite = np.clip(numbers, -largest, largest)
        low = np.where(numbers == -np.inf, 0.0, distribution(finite - error))
        high = np.where(numbers == np.inf, 1.0, distribution(finite + error))
    return Places(low, high, grid)


def unlikely(places: Places) -> str | None:
    """The fault of draws that have the places: they are alike, or spread otherwise than chance spreads them, or
    neighbours hang together."""
    if not places.low.size:
        return None
    return _alike(places) or _far_from_uniform(places) or _dependent(places)


def _alike(places: Places) -> str | None:
    low, high, grid = places
    n, probability = low.size, max(high[0] - low[0] + grid, CERTAIN)
    if (low != low[0]).any() or (high != high[0]).any() or probability >= 1:
        return None
    return f"all {n} random numbers are alike" if (n - 1) * math.log(probability) < math.log(FALSE_ALARM) else None


def _far_from_uniform(places: Places) -> str | None:
    n = places.low.size
    above = np.arange(1, n + 1) / n - np.sort(places.high)
    below = np.sort(places.low) - np.arange(n) / n
    distance = max(above.max(), below.max())
    most = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * n)) + places.grid
    if distance <= most:
        return None
    return f"the distribution of {n} random numbers is {distance:.4g} from its own: chance has at most {most:.4g}"


def _dependent(places: Places) -> str | None:
    """Neighbours, two by two, lie on one side of the median as often as on both, and are hardly ever alike."""
    pairs = places.low.size // 2
    low, high = (part[: 2 * pairs].reshape(-1, 2) for part in (places.low, places.high))
    is_below = high <= 0.5
    is_above = (low >= 0.5) & ~is_below
    together = int((is_below.all(axis=1) | is_above.all(axis=1)).sum())
    apart = int((is_below.any(axis=1) & is_above.any(axis=1)).sum())
    for count, how in ((together, "the same side"), (apart, "both sides")):
        if count > pairs / 2 and unlikely_share(count, pairs, 0.5, 2 * places.grid**2):
            return f"{count} of {pairs} pairs of neighbours lie on {how} of the median: more than chance would have"
    alike = int(((low[:, 0] == low[:, 1]) & (high[:, 0] == high[:, 1])).sum())
    likely = np.minimum(high[:, 0] - low[:, 0] + places.grid, 1).mean() if pairs else 1.0  # of a second, by the first
    if alike > likely * pairs and unlikely_share(alike, pairs, likely):
        return f"{alike} of {pairs} pairs of neighbours are alike: more than chance would have"
    return None


def uniform(low: float, high: float) -> Distribution:
    """The distribution function of [low, high)."""
    return lambda numbers: np.clip((numbers - low) / (high - low), 0, 1)


def normal(numbers: np.ndarray) -> np.ndarray:
    """That of the normal distribution of mean 0 and variance 1."""
    halves = map(math.erfc, (numbers.reshape(-1) * -math.sqrt(0.5)).tolist())
    return np.fromiter(halves, np.float64, numbers.size).reshape(numbers.shape) / 2


def unlikely_share(count: int, n: int, q: float, grid: float = 0.0) -> str | None:
    """The fault of n events of which `count` happened, whose probabilities have a mean that is off q by `grid` at
    most."""
    if not n:
        return None
    nearest = min(max(count / n, q - grid), q + grid)
    if n * _divergence(count / n, nearest) <= math.log(2 / FALSE_ALARM):
        return None
    return f"{count} of {n} events happened, each of a probability of {q:.4g}: more or fewer than chance would have"


def _divergence(f: float, q: float) -> float:
    """KL(f, q) of two probabilities."""
    return sum(x * math.log(x / y) if y else math.inf for x, y in ((f, q), (1 - f, 1 - q)) if x)


def too_regular(permutation: np.ndarray) -> str | None:
    """The fault of a permutation of 0 .. n - 1 that has too many numbers of one that a rotation of 0, 1, ..., forwards
    or backwards, is."""
    n = permutation.size
    if n < 2:
        return None
    most = next((k for k in range(n + 1) if 2 * n / math.factorial(min(k, 30)) < FALSE_ALARM), n + 1)
    places = np.arange(n)
    for turned in (permutation - places, permutation + places):
        found = np.bincount(turned % n, minlength=n).max()
        if found >= most:
            return f"{found} of {n} numbers of a random order stand as in one that counts on; {most} hardly ever do"
    return None
