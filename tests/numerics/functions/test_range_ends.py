"""The ladder at the ends of float64's range against Arb: operands of every binade, results at both ends, ties there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from conform.numerics import functions
from conform.numerics.formats import FORMATS
from conform.numerics.functions import ladder
from tests.numerics.functions.draws import BINARY, is_defined
from tests.numerics.functions.test_functions import UNBOUNDED, check

FLOAT64 = FORMATS["float64"]
TINY = 5e-324
FAST = 3000.0  # Arb needs long for e^x beyond

# Where results leave float64's range: [the last binade of normal results, beyond the last subnormal or finite one].
ENDS = {
    "exp": ((-746.0, -700.0), (700.0, 711.0)),
    "exp2": ((-1076.0, -1000.0), (1000.0, 1025.0)),
    "expm1": ((690.0, 711.0),),
    "sinh": ((690.0, 711.5), (-711.5, -690.0)),
    "cosh": ((690.0, 711.5), (-711.5, -690.0)),
    "sigmoid": ((-746.0, -620.0),),
    "softplus": ((-746.0, -620.0),),
    "silu": ((-753.0, -620.0),),
    "mish": ((-753.0, -620.0),),
    "erfc": ((24.0, 28.0),),
    "ndtr": ((-39.0, -34.0),),
    "erfcx": ((-26.7, -24.0), (1e299, 1.7e308)),
    "log_ndtr": ((34.0, 39.0), (-1.3e154, -1e154)),
    "gelu": ((-39.0, -34.0),),
    "gelu_tanh": ((-22.5, -13.0),),
    "i0": ((690.0, 714.5), (-714.5, -690.0)),
    "i1": ((690.0, 714.5), (-714.5, -690.0)),
    "k0": ((680.0, 746.0),),
    "k1": ((680.0, 746.0), (1e-310, 1e-307)),
    "k1e": ((1e-310, 1e-307),),
    "spherical_j0": ((1e300, 1.7e308),),
    "lgamma": ((1e300, 3e305),),
    "reciprocal": ((2.0**1000, 1.7e308), (2.0**-1030, 2.0**-1000)),
}


def every_binade(name: str, seed: int) -> np.ndarray:
    """One number of either sign in every second binade, the others another day, without what is exact."""
    rng = np.random.default_rng([seed, *name.encode()])
    exponents = np.arange(-1074 + seed % 2, 1024, 2)
    x = np.ldexp(rng.uniform(1, 2, exponents.size), exponents) * rng.choice([-1.0, 1.0], exponents.size)
    return x[(x != 0) & (np.rint(x * 0.5) != x * 0.5) | (np.abs(x) > 2.0**53)]


def in_domain(name: str, x: np.ndarray) -> np.ndarray:
    """Those where the function is a number other than 0."""
    if not is_defined(name, 1.5):
        x = x[np.abs(x) < 1]
    if not is_defined(name, -0.5) or name == "log1p":
        x = np.abs(x)
    if name in ("lgamma", "digamma"):
        x = np.where(x < -1000, -x, x)
    return x[np.abs(x) < 2.0**50] if name == "sinc" else x[x > 1] if name == "acosh" else x


@pytest.mark.parametrize("name", [name for name in functions.names() if name not in BINARY])
def test_every_binade(name: str) -> None:
    x = in_domain(name, every_binade(name, 0))
    if name in UNBOUNDED:
        x = x[(np.abs(x) < FAST) | (name in ("lgamma", "digamma"))]
    assert x.size > 200
    check(name, FLOAT64, (x,))


@pytest.mark.parametrize(("name", "ends"), [(name, end) for name, several in ENDS.items() for end in several])
def test_where_results_leave_the_range(name: str, ends: tuple[float, float]) -> None:
    rng = np.random.default_rng([*name.encode()])
    x = rng.uniform(*ends, 150)
    check(name, FLOAT64, (x[np.rint(x) != x] if name == "exp2" else x,))


@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "i1", "silu"])
def test_halves_of_subnormal_numbers_are_ties_that_what_follows_breaks(name: str) -> None:
    x = np.arange(1, 200) * TINY
    check(name, FLOAT64, (np.concatenate([x, -x]),))
    for format_name in ("float32", "bfloat16"):
        fmt = FORMATS[format_name]
        x = np.arange(1, 60) * fmt.min_subnormal
        check(name, fmt, (np.concatenate([x, -x]),))


PAIRS: dict[str, Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]] = {
    "atan2": lambda rng, n: (wide(rng, n), wide(rng, n)),
    "hypot": lambda rng, n: (x := wide(rng, n), x * rng.uniform(-3, 3, n)),
    "pow": lambda rng, n: (x := np.abs(wide(rng, n)), rng.uniform(-1100, 1100, n) / np.log2(x)),
    "xlogy": lambda rng, n: (wide(rng, n), np.abs(wide(rng, n))),
    "xlog1py": lambda rng, n: (wide(rng, n), np.abs(wide(rng, n)) - rng.choice([0.0, 2.0**-30], n)),
    **dict.fromkeys(
        ("logaddexp", "logaddexp2"), lambda rng, n: (x := rng.uniform(-1000, 1000, n), x + rng.uniform(-50, 50, n))
    ),
}


def wide(rng: np.random.Generator, n: int) -> np.ndarray:
    """Of any binade."""
    return np.ldexp(rng.uniform(1, 2, n), rng.integers(-1074, 1024, n)) * rng.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_every_binade(name: str) -> None:
    with np.errstate(over="ignore"):
        x, y = PAIRS[name](np.random.default_rng(5), 400)
    kept = np.isfinite(x) & np.isfinite(y) & (x != 0) & (y != 0) & (np.abs(y) != 1)
    check(name, FLOAT64, (x[kept], y[kept]))


def test_quotients_that_are_ties_of_subnormal_numbers() -> None:
    """The angle of (x, y) is a little less than y / x."""
    k = np.arange(1.0, 300.0)
    check("atan2", FLOAT64, (k * TINY, np.full_like(k, 2.0)))
    check("atan2", FLOAT64, (-k * TINY, np.full_like(k, 4.0)))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_any_size(name: str) -> None:
    """Multiples of pi/2 to nearest, and the double next to one (Muller, Elementary Functions, 11.3.2)."""
    rng = np.random.default_rng(7)
    multiples = np.rint(2.0 ** rng.uniform(1, 1023, 300)) * (np.pi / 2)
    check(name, FLOAT64, (np.append(multiples[np.isfinite(multiples)], 6381956970095103 * 2.0**797),))


# Every rung but the last, so that one that is wrong or slow cannot hide behind mpmath.
SLOW_SHARE = 0.004  # of the operands may need mpmath: they are near a tie


@pytest.mark.parametrize("name", [name for name in functions.names() if name not in BINARY])
def test_mpmath_is_not_needed_anywhere_in_the_range(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    one = ladder._one
    monkeypatch.setattr(ladder, "_one", lambda *arguments: asked.append(arguments[2]) or one(*arguments))
    x = in_domain(name, np.concatenate([every_binade(name, 1), every_binade(name, 2)]))
    functions.apply(name, FLOAT64, x)
    assert len(asked) <= SLOW_SHARE * x.size, asked[:10]
