"""What random numbers must obey: which elements no draw can have, and which tensors hardly any honest draw gives.

A fault of a whole tensor is one that an honest generator shows with a probability below FALSE_ALARM, which is proved
for every size and every distribution named, not estimated:

* the greatest distance of a sample's distribution function from the true one exceeds e with a probability of at most
  2 exp(-2 n e^2) (Dvoretzky, Kiefer, Wolfowitz; the constant is Massart's, Annals of Probability 18 (1990) 1269);
* the share f of n independent events of probability q has a tail of at most exp(-n KL(f, q)) on either side
  (Hoeffding, Journal of the American Statistical Association 58 (1963) 13, theorem 1);
* k numbers of a random permutation stand where one given permutation has them with a probability of at most 1 / k!,
  the expected number of sets of k such places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

FALSE_ALARM = 1e-12  # of one tensor: below 1e-9 in a run of 1000 of them


def far_from(distribution: Callable[[np.ndarray], np.ndarray], sample: np.ndarray, precision: int) -> str | None:
    """The fault of a sample [n] that is not of the distribution, a function from numbers to probabilities.

    Its numbers may be rounded to, or drawn from, a grid of `precision` bits, in which none has more probability than
    2^-precision.
    """
    n = sample.size
    if n > 1 and (n - 1) * precision > -math.log2(FALSE_ALARM) and (sample == sample[0]).all():
        return f"all {n} random numbers are {sample[0]}"
    if not n:
        return None
    below = distribution(np.sort(sample))
    distance = max((np.arange(1, n + 1) / n - below).max(), (below - np.arange(n) / n).max())
    most = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * n)) + 2.0**-precision
    if distance <= most:
        return None
    return f"the distribution of {n} random numbers is {distance:.4g} from its own: chance has at most {most:.4g}"


def uniform(numbers: np.ndarray) -> np.ndarray:
    """The distribution function of [0, 1)."""
    return np.clip(numbers, 0, 1)


def normal(variance: float) -> Callable[[np.ndarray], np.ndarray]:
    """That of a normal distribution of mean 0."""
    of_one = NormalDist(0, math.sqrt(variance)).cdf
    return lambda numbers: np.fromiter(map(of_one, numbers.tolist()), np.float64, numbers.size)


def unlikely_share(count: int, n: int, q: float) -> str | None:
    """The fault of n events of probability q of which `count` happened."""
    if not n or n * _divergence(count / n, q) <= math.log(2 / FALSE_ALARM):
        return None
    return f"{count} of {n} elements are kept, each with a probability of {q:.4g}: more or fewer than chance would have"


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
