"""The kinds of numbers of `number_kinds`, extended by functions and choices: what formulas with exponentials need.

Of every kind a function is the same real function; a ball's is that of honest implementations, with the ULPs that
`numerics/ball.py` allows each, and of fractions none is known but at 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

import gmpy2
import numpy as np

from conform.interp.formulas import number_kinds
from conform.interp.formulas.number_kinds import Kind, NoFraction, Number
from conform.numerics import functions, real
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball, chosen
from conform.numerics.functions.error import erfc_float64
from conform.numerics.real import Real

FAR = 1000.0  # standard deviations: less is left beyond than any float tells from 0, whatever multiplies it


class Functions(Kind, Protocol):
    """A kind whose numbers have functions."""

    def where(self, mask: np.ndarray, x: Number, y: Number) -> Number:
        """x where the mask holds, else y."""

    def constant(self, make: Callable[[], gmpy2.mpfr]) -> Number:
        """An irrational number, which `make` gives at any precision."""

    def exp(self, x: Number) -> Number:
        """e^x."""

    def sigmoid(self, x: Number) -> Number:
        """1 / (1 + e^-x)."""

    def normal_distribution(self, x: Number) -> Number:
        """erfc(-x / sqrt 2) / 2."""

    # Of balls alone, for the other ways of `either`:

    def tanh(self, x: Number) -> Number: ...

    def erf(self, x: Number) -> Number: ...

    def log1p(self, x: Number) -> Number: ...


class Reals(number_kinds.Reals):
    where = staticmethod(real.where)
    constant = staticmethod(mp.as_real)
    exp, sigmoid = staticmethod(functions.exp), staticmethod(functions.sigmoid)

    def normal_distribution(self, x: Real) -> Real:
        return functions.erfc(-x * mp.as_real(root_of_half)) / 2.0


class Balls(number_kinds.Balls):
    where = staticmethod(chosen)

    def constant(self, make: Callable[[], gmpy2.mpfr]) -> Ball:
        return self.number(0.0).irrational(float(make()))

    def exp(self, x: Ball) -> Ball:
        return x.exp()

    def sigmoid(self, x: Ball) -> Ball:
        """By the formula; where e^-x overflows that is 0, and off by what it should be."""
        falling = (-x).exp()
        quotient = self.number(1.0) / (self.number(1.0) + falling)
        overflows = np.isinf(falling.rad) & np.isfinite(x.mid) & (x.mid < 0)
        if not overflows.any():
            return quotient
        tiny = functions.sigmoid(Real.exact(x.mid)).hi
        largest = np.full(tiny.shape, 2.0 / self.compute.max_finite)
        return chosen(overflows, Ball(tiny, largest, self.compute), quotient)

    def normal_distribution(self, x: Ball) -> Ball:
        return (-x * self.constant(root_of_half)).erfc(erfc_float64) * 0.5

    def tanh(self, x: Ball) -> Ball:
        return x.tanh()

    def erf(self, x: Ball) -> Ball:
        return x.erf(functions.erf_float64)

    def log1p(self, x: Ball) -> Ball:
        return x.log1p()


class Numbers(number_kinds.Numbers):
    where = staticmethod(np.where)
    exp = staticmethod(mp.exp)

    def constant(self, make: Callable[[], gmpy2.mpfr]) -> gmpy2.mpfr:
        return make()

    def sigmoid(self, x: np.ndarray) -> np.ndarray:
        return 1 / (1 + mp.exp(-x))

    def normal_distribution(self, x: np.ndarray) -> np.ndarray:
        return _erfc(-np.clip(x, -FAR, FAR) * root_of_half()) / 2


class Fractions(number_kinds.Fractions):
    """Exponentials of 0 alone are known to be rational; of other algebraic numbers none is (Lindemann)."""

    def where(self, mask: np.ndarray, x: Number, y: Number) -> Number:
        return x if mask else y

    def constant(self, make: Callable[[], gmpy2.mpfr]) -> NoFraction:
        return NoFraction()

    def exp(self, x: Fraction | NoFraction) -> Fraction | NoFraction:
        return _if_zero(x, Fraction(1))

    def sigmoid(self, x: Fraction | NoFraction) -> Fraction | NoFraction:
        return _if_zero(x, Fraction(1, 2))

    def normal_distribution(self, x: Fraction | NoFraction) -> Fraction | NoFraction:
        return _if_zero(x, Fraction(1, 2))


_erfc = np.frompyfunc(gmpy2.erfc, 1, 1)


def _if_zero(x: Fraction | NoFraction, value: Fraction) -> Fraction | NoFraction:
    return value if isinstance(x, Fraction) and x == 0 else NoFraction()


def root_of_half() -> gmpy2.mpfr:
    return gmpy2.sqrt(gmpy2.mpfr(0.5))
