"""The coefficient tables against Arb, and the grids."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq

from conform.numerics.functions import (
    bessel,
    error,
    first_bessel,
    gamma,
    inverse_trigonometric,
    piecewise,
    second_bessel,
    trigonometric,
)
from conform.numerics.functions.piecewise import Piecewise, log_centres, log_piece, uniform_piece

HALF_A_PIECE = 1 / 128  # of a uniform grid


def erfcx(x: arb) -> arb:
    return (x * x).exp() * x.erfc()


def scaled(order: int) -> Callable[[arb], arb]:
    return lambda x: (-x).exp() * x.bessel_i(order)


def uniform(first: int, last: int) -> list[float]:
    return [j / 64 for j in range(first, last + 1)]


def rest(order: int, x: arb) -> arb:
    """What K is beside its logarithm and its pole."""
    if order:
        return x.bessel_k(1) - 1 / x - (x / 2).log() * x.bessel_i(1)
    return x.bessel_k(0) + ((x / 2).log() + arb.const_euler()) * x.bessel_i(0)


def hankel(order: int, part: int) -> Callable[[arb], arb]:
    """P or Q of J + iY = sqrt(2 / (pi x)) (P + iQ) e^(i (x - (order / 2 + 1/4) pi))."""

    def function(x: arb) -> arb:
        angle = x - (arb(order) / 2 + arb(1) / 4) * arb.pi()
        value = acb(x.bessel_j(order), x.bessel_y(order)) * (arb.pi() * x / 2).sqrt() * acb(0, -angle).exp()
        return value.imag if part else value.real

    return function


OF_TEN_OCTAVES, OF_FIVE_OCTAVES = log_centres(1.0, 1024.0).tolist(), log_centres(2.0, 64.0).tolist()

# table, Arb function, centres, is the grid logarithmic
TABLES = {
    "sin": (trigonometric._TABLE, arb.sin, uniform(0, 51), 0),
    "cos": (trigonometric._TABLE, arb.cos, uniform(0, 51), 52),
    "atan": (inverse_trigonometric._TABLE, arb.atan, uniform(0, 64), 0),
    "erf": (error._ERF, arb.erf, uniform(0, 64), 0),
    "erfcx": (error._ERFCX, erfcx, log_centres(0.5, 32.0).tolist(), 0),
    "lgamma": (gamma._NEAR["lgamma"], arb.lgamma, uniform(32, 256), 0),
    "lgamma_to_16": (gamma._FAR["lgamma"], arb.lgamma, log_centres(4.0, 16.0).tolist(), 0),
    "digamma": (gamma._NEAR["digamma"], arb.digamma, uniform(32, 256), 0),
    "digamma_to_16": (gamma._FAR["digamma"], arb.digamma, log_centres(4.0, 16.0).tolist(), 0),
    "i0": (bessel._SMALL[0], lambda x: x.bessel_i(0), uniform(0, 64), 0),
    "i1": (bessel._SMALL[1], lambda x: x.bessel_i(1), uniform(0, 64), 0),
    "i0_scaled": (bessel._SCALED[0], scaled(0), log_centres(1.0, 1024.0).tolist(), 0),
    "i1_scaled": (bessel._SCALED[1], scaled(1), log_centres(1.0, 1024.0).tolist(), 0),
    "j0": (first_bessel._NEAR[0], lambda x: x.bessel_j(0), uniform(0, 128), 0),
    "j1": (first_bessel._NEAR[1], lambda x: x.bessel_j(1), uniform(0, 128), 0),
    "k0_rest": (second_bessel._REST[0], lambda x: rest(0, x), uniform(1, 64), 1),
    "k1_rest": (second_bessel._REST[1], lambda x: rest(1, x), uniform(1, 64), 1),
    **{
        f"k{n}_scaled": (second_bessel._SCALED[n], lambda x, n=n: x.bessel_k(n, scaled=True), OF_TEN_OCTAVES, 0)
        for n in (0, 1)
    },
    **{
        f"hankel_{'pq'[part]}{n}_scaled": (first_bessel._HANKEL[n][part], hankel(n, part), OF_FIVE_OCTAVES, 0)
        for n in (0, 1) for part in (0, 1)
    },
}


def half_width(centre: float, name: str) -> float:
    logarithmic = name.endswith(("scaled", "cx", "16"))
    return 2.0 ** (np.frexp(centre)[1] - 1) / 128 if logarithmic else HALF_A_PIECE


def polynomial(table: Piecewise, piece: int, t: Fraction) -> Fraction:
    """The stored coefficients in exact arithmetic."""
    column, n = table.table[:, piece].tolist(), table.pairs
    coefficients = [Fraction(column[2 * k]) + Fraction(column[2 * k + 1]) for k in range(n)]
    coefficients += map(Fraction, column[2 * n :])
    value = Fraction(0)
    for c in reversed(coefficients):
        value = value * t + c
    return value


def enclosed(function: Callable[[arb], arb], x: Fraction) -> arb:
    """The function's value to 130 bits, or at the highest precision: of K Arb loses hundreds of bits."""
    for ctx.prec in (160, 320, 640, 1280):
        value = function(arb(fmpq(x.numerator, x.denominator)))
        if value.rel_accuracy_bits() >= 130:
            break
    return value


@pytest.mark.parametrize("name", TABLES)
def test_every_piece_meets_its_truncation_error(name: str) -> None:
    """At the ends and at a point between, where the interpolation error of the nodes is near its largest."""
    table, function, centres, offset = TABLES[name]
    for i, centre in enumerate(centres):
        for part in (-1, Fraction(3, 7), 1):
            t = part * Fraction(half_width(centre, name))
            x = Fraction(centre) + t
            if name == "lgamma" and x in (1, 2):
                continue
            expected = enclosed(function, x)
            value = polynomial(table, offset + i, t)
            error_size = abs(arb(fmpq(value.numerator, value.denominator)) - expected)
            scale = abs(expected).max(arb({"digamma": 1, "k0_rest": "0.01", "k1_rest": "0.01"}.get(name, 0)))
            assert error_size <= scale * piecewise.TRUNCATION, f"{name} at {float(x)}"


@pytest.mark.parametrize(
    ("name", "centre"), [("sin", 0), ("atan", 0), ("erf", 0), ("i1", 0), ("lgamma", 32), ("lgamma", 96)]
)
def test_zeros_at_centres_are_exact(name: str, centre: int) -> None:
    assert (TABLES[name][0].table[:2, centre] == 0).all()


def test_tables_have_one_column_a_piece() -> None:
    for table, _, centres, offset in TABLES.values():
        assert table.table.dtype == np.float64
        assert table.table.shape[1] in (len(centres), 2 * len(centres)) or offset


def test_uniform_pieces() -> None:
    piece, centre = uniform_piece(np.array([0.0, 0.0078, 0.008, 0.99, 7.0]), 64)
    assert piece.tolist() == [0, 0, 1, 63, 64]
    assert centre.tolist() == [0.0, 0.0, 1 / 64, 63 / 64, 1.0]


def test_log_pieces() -> None:
    piece, centre = log_piece(np.array([1.0, 1.0156, 1.0157, 2.0, 3.999, 0.1, 9.0]), 1.0, 4.0)
    assert piece.tolist() == [0, 0, 1, 64, 127, 0, 127]
    assert centre.tolist() == [1 + 1 / 128, 1 + 1 / 128, 1 + 3 / 128, 2 + 1 / 64, 4 - 1 / 64, 1 + 1 / 128, 4 - 1 / 64]
    np.testing.assert_array_equal(log_centres(1.0, 4.0)[[0, 64, 127]], centre[[0, 3, 4]])


@pytest.mark.parametrize("name", ["atan", "lgamma"])
def test_the_generator_writes_these_tables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(__file__).parents[3] / "tools" / "generate_polynomials.py"
    spec = importlib.util.spec_from_file_location("generate_polynomials", path)
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, generator)  # dataclasses look their module up
    spec.loader.exec_module(generator)
    (table,) = (table for table in generator.TABLES if table.name == name)
    with mpmath.workprec(generator.PRECISION_BITS):
        np.testing.assert_array_equal(generator.generate(table), TABLES[name][0].table)
