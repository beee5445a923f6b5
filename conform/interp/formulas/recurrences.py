"""Orthogonal polynomials by their three-term recurrences, a row a polynomial, in every kind of number.

p_0 = 1, p_1 = a x + b, and w_k p_(k+1) = (a_k x + b_k) p_k - c_k p_(k-1), whose coefficients are integers; of the
shifted ones 2 x - 1 stands for x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Number = Any  # of one kind

HIGHEST_DEGREE = 32


def _zero(k: int) -> int:
    return 0


def _one(k: int) -> int:
    return 1


@dataclass(frozen=True)
class Recurrence:
    """slope, constant: a and b of p_1; the other four are those of step k."""

    slope: int
    constant: int
    a: Callable[[int], int]
    b: Callable[[int], int] = _zero
    c: Callable[[int], int] = _one
    w: Callable[[int], int] = _one
    is_shifted: bool = False

    def values(self, x: Number, one: Number, highest: int) -> list[Number]:
        """p_0, p_1, ... of a number of a kind, whose 1 is `one`."""
        if self.is_shifted:
            x = x * 2 + one * -1
        found = [one, _linear(self.slope, self.constant, x, one)]
        for k in range(1, highest):
            rising = _linear(self.a(k), self.b(k), x, one) * found[k]
            step = rising - (found[k - 1] * self.c(k) if self.c(k) != 1 else found[k - 1])
            found.append(step / (one * self.w(k)) if self.w(k) != 1 else step)
        return found[: highest + 1]


    def leading(self, degree: int) -> Fraction:
        """The coefficient of the highest power."""
        found = Fraction(1)
        for k in range(degree):
            found *= Fraction(self.a(k), self.w(k)) if k else self.slope
        return found * 2**degree if self.is_shifted else found


def _linear(a: int, b: int, x: Number, one: Number) -> Number:
    product = x * a if a != 1 else x
    return product + one * b if b else product


def _chebyshev(slope: int, constant: int, is_shifted: bool) -> Recurrence:
    return Recurrence(slope, constant, lambda k: 2, is_shifted=is_shifted)


_KINDS = {"t": (1, 0), "u": (2, 0), "v": (2, -1), "w": (2, 1)}

POLYNOMIALS = {
    **{f"chebyshev_polynomial_{kind}": _chebyshev(*first, False) for kind, first in _KINDS.items()},
    **{f"shifted_chebyshev_polynomial_{kind}": _chebyshev(*first, True) for kind, first in _KINDS.items()},
    "hermite_polynomial_h": Recurrence(2, 0, lambda k: 2, c=lambda k: 2 * k),
    "hermite_polynomial_he": Recurrence(1, 0, lambda k: 1, c=lambda k: k),
    "laguerre_polynomial_l": Recurrence(-1, 1, lambda k: -1, lambda k: 2 * k + 1, lambda k: k, lambda k: k + 1),
    "legendre_polynomial_p": Recurrence(1, 0, lambda k: 2 * k + 1, c=lambda k: k, w=lambda k: k + 1),
}
