"""The logarithm of a sum of exponentials, what log_softmax, logsumexp and the losses of logits have in common."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

# e^-4000 < 2^-5770 stands for what is smaller: beside a number of a format both can but tip a tie.
LEAST_EXPONENT = -4000


def log_sum_exp_above(values: Sequence[float]) -> arb:
    """log(sum e^x) - max(x) of finite numbers: log(1 + the sum of e^(x - max) over all but one greatest)."""
    greatest = max(values)
    rest = list(values)
    rest.remove(greatest)
    powers = {x: (arb(x) - arb(greatest)).max(arb(LEAST_EXPONENT)).exp() for x in set(rest)}
    return sum((powers[x] for x in rest), arb(0)).log1p()


def log_sum_exp(values: Sequence[float]) -> arb:
    """log(sum e^x) of finite numbers; irrational unless it is of one number (Lindemann and Weierstrass)."""
    return arb(max(values)) + log_sum_exp_above(values)
