"""Write the coefficient tables of conform/numerics/functions/piecewise.py.

    python tools/generate_polynomials.py [NAME ...]

Every piece interpolates its function at Chebyshev nodes with mpmath at 400 bits. A zero at a centre is factored
out (the first coefficient is then exactly 0). A piece whose stored coefficients miss the function by more than
TRUNCATION, relative, at points between the nodes stops the run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import gmpy2
import mpmath
import numpy as np
from mpmath import mp, mpf

from conform.numerics.functions import piecewise
from conform.numerics.functions.piecewise import PER_UNIT, TRUNCATION, log_centres

PRECISION_BITS = 400


@dataclass(frozen=True)
class Table:
    """`pieces` lists (function, centre, half width); a polynomial has `pairs` + `doubles` coefficients. Errors are
    relative to the function, or to `scale` where it is smaller."""

    name: str
    pairs: int
    doubles: int
    pieces: Callable[[], list[tuple[Callable, mpf, mpf]]]
    scale: float = 0.0


@cache
def _nodes(n: int) -> list[mpf]:
    return [mp.cos(mp.pi * (2 * i + 1) / (2 * n)) for i in range(n)]


@cache
def _inverse_vandermonde(n: int) -> mpmath.matrix:
    return mpmath.matrix([[node**k for k in range(n)] for node in _nodes(n)]) ** -1


def interpolate(function: Callable, centre: mpf, half_width: mpf, n: int) -> list[mpf]:
    """n coefficients in t = x - centre; an exact zero at the centre stays one."""
    zero = function(centre) == 0
    n -= zero
    values = [function(centre + half_width * u) / (half_width * u if zero else 1) for u in _nodes(n)]
    scaled = _inverse_vandermonde(n) * mpmath.matrix(values)
    coefficients = [scaled[k] / half_width**k for k in range(n)]
    return [mpf(0), *coefficients] if zero else coefficients


def stored(coefficients: Sequence[mpf], pairs: int) -> list[float]:
    """Pairs as hi, lo; the others rounded to doubles. Parity noise (below 2^-300) becomes 0."""
    row = []
    for k, c in enumerate(coefficients):
        c = mpf(0) if abs(c) < mpf(2) ** -300 else c
        row += [float(c), float(c - float(c))] if k < pairs else [float(c)]
    return row


def check(function: Callable, centre: mpf, half_width: mpf, row: list[float], pairs: int, scale: float) -> None:
    """Stops the program where the stored piece misses its function by more than TRUNCATION."""
    coefficients = [mpf(row[2 * k]) + mpf(row[2 * k + 1]) for k in range(pairs)] + [mpf(c) for c in row[2 * pairs :]]
    for u in (mpf(-1), mpf("-0.97"), mpf("-0.4"), mpf("0.55"), mpf("0.99"), mpf(1)):
        t = half_width * u
        expected, value = function(centre + t), mp.polyval(coefficients[::-1], t)
        error = abs(value - expected) / max(abs(expected), scale)
        if error > TRUNCATION:
            where, size = mp.nstr(centre, 8), mp.nstr(error, 3)
            raise SystemExit(f"piece at {where}: relative error {size} exceeds TRUNCATION; add terms")


def generate(table: Table) -> np.ndarray:
    rows = []
    for function, centre, half_width in table.pieces():
        row = stored(interpolate(function, centre, half_width, table.pairs + table.doubles), table.pairs)
        check(function, centre, half_width, row, table.pairs, table.scale)
        rows.append(row)
    return np.ascontiguousarray(np.array(rows).T)


def uniform(function: Callable, last: int, first: int = 0) -> list[tuple[Callable, mpf, mpf]]:
    return [(function, mpf(j) / PER_UNIT, mpf(1) / (2 * PER_UNIT)) for j in range(first, last + 1)]


def logarithmic(function: Callable, lowest: float, highest: float) -> list[tuple[Callable, mpf, mpf]]:
    centres = log_centres(lowest, highest).tolist()
    return [(function, mpf(c), mpf(2) ** (mp.frexp(mpf(c))[1] - 2) / PER_UNIT) for c in centres]


def erfcx(x: mpf) -> mpf:
    return mp.exp(x * x) * mp.erfc(x)


def bessel_scaled(order: int) -> Callable[[mpf], mpf]:
    return lambda x: mp.exp(-x) * mp.besseli(order, x)


def bessel(order: int) -> Callable[[mpf], mpf]:
    return lambda x: mpf(order == 0) if x == 0 else mp.besseli(order, x)


def _of_mpfr(number: gmpy2.mpfr) -> mpf:
    mantissa, exponent = number.as_mantissa_exp()
    return mp.ldexp(mpf(int(mantissa)), int(exponent))


def _to_mpfr(number: mpf) -> gmpy2.mpfr:
    sign, mantissa, exponent, _ = number._mpf_
    return gmpy2.mul_2exp(gmpy2.mpfr(-int(mantissa) if sign else int(mantissa)), exponent) if exponent >= 0 else (
        gmpy2.div_2exp(gmpy2.mpfr(-int(mantissa) if sign else int(mantissa)), -exponent)
    )  # fmt: skip


def second_bessel_scaled(order: int) -> Callable[[mpf], mpf]:
    """The integral of e^(-x (cosh t - 1)) cosh(order t) over t > 0 (DLMF 10.32.9) by the trapezoidal rule, with 4
    steps or more to e^(-x t^2 / 2) = e^(-1/2), where its error is e^(-32 pi^2)."""

    def function(x: mpf) -> mpf:
        with gmpy2.context(precision=PRECISION_BITS + 40):
            x, total, k = _to_mpfr(x), gmpy2.mpfr(1) / 2, 0
            step = 1 / gmpy2.ceil(max(32, 4 * gmpy2.sqrt(x)))
            while True:
                k += 1
                term = gmpy2.exp(-2 * x * gmpy2.sinh(k * step / 2) ** 2) * (gmpy2.cosh(k * step) if order else 1)
                total += term
                if term < gmpy2.exp2(-PRECISION_BITS):
                    return _of_mpfr(total * step)

    return function


def k0_rest(x: mpf) -> mpf:
    """K0 + (log(x / 2) + gamma) I0, which is even."""
    x = abs(x)
    return mpf(0) if x == 0 else mp.besselk(0, x) + (mp.log(x / 2) + mp.euler) * mp.besseli(0, x)


def k1_rest(x: mpf) -> mpf:
    """K1 - 1/x - log(x / 2) I1, which is odd."""
    size = abs(x)
    return mpf(0) if x == 0 else mp.sign(x) * (
        mp.besselk(1, size) - 1 / size - mp.log(size / 2) * mp.besseli(1, size)
    )  # fmt: skip


def hankel(order: int, part: int) -> Callable[[mpf], mpf]:
    """P or Q (DLMF 10.17.3, 10.18): J + iY = sqrt(2 / (pi x)) (P + iQ) e^(i (x - (order / 2 + 1/4) pi)), J and Y by
    MPFR."""
    first, second = ((gmpy2.j0, gmpy2.y0), (gmpy2.j1, gmpy2.y1))[order]

    def function(x: mpf) -> mpf:
        angle = x - (mpf(order) / 2 + mpf(1) / 4) * mp.pi
        with gmpy2.context(precision=PRECISION_BITS):
            pair = mp.mpc(_of_mpfr(first(_to_mpfr(x))), _of_mpfr(second(_to_mpfr(x))))
        value = pair * mp.sqrt(mp.pi * x / 2) * mp.expj(-angle)
        return value.imag if part else value.real

    return function


def log_gamma(x: mpf) -> mpf:
    return mpf(0) if x in (1, 2) else mp.loggamma(x)


TABLES = [
    Table("sin_cos", 7, 7, lambda: uniform(mp.sin, 51) + uniform(mp.cos, 51)),
    Table("atan", 8, 9, lambda: uniform(mp.atan, PER_UNIT)),
    Table("erf", 8, 9, lambda: uniform(mp.erf, PER_UNIT)),
    Table("erfcx", 8, 9, lambda: logarithmic(erfcx, 0.5, 32.0)),
    Table("lgamma", 10, 13, lambda: uniform(log_gamma, 256, 32)),
    Table("lgamma_to_16", 8, 9, lambda: logarithmic(log_gamma, 4.0, 16.0)),
    Table("digamma", 10, 12, lambda: uniform(mp.digamma, 256, 32), scale=1.0),
    Table("digamma_to_16", 8, 9, lambda: logarithmic(mp.digamma, 4.0, 16.0)),
    Table("i0", 7, 7, lambda: uniform(bessel(0), PER_UNIT)),
    Table("i1", 7, 7, lambda: uniform(bessel(1), PER_UNIT)),
    Table("i0_scaled", 8, 9, lambda: logarithmic(bessel_scaled(0), 1.0, 1024.0)),
    Table("i1_scaled", 8, 9, lambda: logarithmic(bessel_scaled(1), 1.0, 1024.0)),
    Table("k0_rest", 7, 7, lambda: uniform(k0_rest, PER_UNIT), scale=0.01),
    Table("k1_rest", 7, 8, lambda: uniform(k1_rest, PER_UNIT), scale=0.01),
    Table("k0_scaled", 8, 9, lambda: logarithmic(second_bessel_scaled(0), 1.0, 1024.0)),
    Table("k1_scaled", 8, 9, lambda: logarithmic(second_bessel_scaled(1), 1.0, 1024.0)),
    Table("j0", 7, 7, lambda: uniform(lambda x: mp.besselj(0, x), 2 * PER_UNIT)),
    Table("j1", 7, 7, lambda: uniform(lambda x: mp.besselj(1, x), 2 * PER_UNIT)),
    *(
        Table(f"hankel_{name}{order}", 8, 9, lambda which=(order, part): logarithmic(hankel(*which), 2.0, 64.0))
        for order in (0, 1)
        for part, name in enumerate("pq")
    ),
]


def main(names: list[str]) -> None:
    mp.prec = PRECISION_BITS
    for table in TABLES:
        if not names or table.name in names:
            coefficients = generate(table)
            np.save(Path(piecewise.__file__).with_name("data") / f"{table.name}.npy", coefficients)
            print(table.name, coefficients.shape)


if __name__ == "__main__":
    main(sys.argv[1:])
