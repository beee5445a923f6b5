"""Every function against Arb: values bit for bit, and reals within their radius."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conform.numerics import functions
from conform.numerics.formats import FORMATS, Format
from conform.numerics.functions.dd import SAFE_MIN
from tests.numerics.functions.arb_formulas import FORMULAS, rounded
from tests.numerics.functions.draws import BINARY, operands

FLOAT64 = FORMATS["float64"]
POSITIVE = ("ndtri", "logit", "k0", "k0e", "k1", "k1e")
LARGEST = 3000.0  # e^x far beyond this only overflows; test_special_values.py has such operands
UNBOUNDED = (
    *("cosh", "digamma", "erfc", "exp", "exp2", "expm1", "gelu", "gelu_tanh", "i0", "i1", "lgamma", "mish", "ndtr"),
    *("sigmoid", "silu", "sinh", "softplus"),
)


def check(name: str, fmt: Format, xs: tuple[np.ndarray, ...]) -> None:
    value, real = functions.apply(name, fmt, *xs)
    assert value.dtype == fmt.storage
    for i, elements in enumerate(zip(*(x.tolist() for x in xs), strict=True)):
        expected, low, high = rounded(name, fmt, elements)
        assert value[i].tobytes() == expected.tobytes(), f"{name}{elements}: got {value[i]}, expected {expected}"
        if np.isfinite(real.hi[i]):
            middle, radius = Fraction(real.hi[i]) + Fraction(real.lo[i]), Fraction(real.radius[i])
            assert low <= middle + radius, f"{name}{elements}: above hi + lo + radius"
            assert high >= middle - radius, f"{name}{elements}: below hi + lo - radius"


def test_every_function_has_an_arb_formula() -> None:
    assert functions.names() == sorted(FORMULAS)


@pytest.mark.parametrize("name", functions.names())
@pytest.mark.parametrize(
    ("format_name", "count"), [("float16", 60), ("bfloat16", 60), ("float32", 120), ("float64", 150)]
)
def test_correctly_rounded_and_enclosed(name: str, format_name: str, count: int) -> None:
    xs = operands(name, FORMATS[format_name], count)
    if name in UNBOUNDED:
        xs = tuple(x[np.abs(x) < LARGEST] for x in xs)
    assert xs[0].size > count // 3
    check(name, FORMATS[format_name], xs)


@pytest.mark.parametrize("name", [name for name in functions.names() if name not in BINARY])
def test_float64_reals_are_double_doubles(name: str) -> None:
    """Composite operations and error_ulp rely on far more than float64's own precision."""
    (x,) = operands(name, FLOAT64, 150)
    _, real = functions.apply(name, FLOAT64, x)
    known = np.isfinite(real.hi) & (np.abs(real.hi) > SAFE_MIN)
    assert known.any()
    size = np.abs(real.hi[known])
    scale = np.maximum(size, 1.0) if name in ("lgamma", "digamma") else size  # next to zeros that are no double
    assert (real.radius[known] <= 2.0**-80 * scale).all()


@pytest.mark.parametrize(
    "name", [n for n in functions.names() if n not in (*BINARY, "acosh", "log", "log2", "log10", "rsqrt")]
)
def test_tiny_operands(name: str) -> None:
    """f(x) = f(0) + f'(0) x (1 + ...) comes closest to numbers and midpoints: 1 + 2^-53 + 2^-107 for exp."""
    x = np.array([s * m * 2.0**e for s in (1, -1) for e in (-60, -54, -53, -52, -30, -27, -26, -20) for m in (1, 1.5)])
    check(name, FLOAT64, (x if name not in POSITIVE else x[x > 0],))


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_near_zeros_below_zero(name: str) -> None:
    zeros = np.array([-2.4570247382208006, -2.7476826467274127, -0.5040830082644554, -1.5734984731623904])
    check(name, FLOAT64, (zeros,))


def test_digamma_next_to_its_positive_zero() -> None:
    check("digamma", FLOAT64, (np.array([1.4616321449683622, 1.4616321449683623]),))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_and_hard_angles(name: str) -> None:
    """6381956970095103 * 2^797 is the double next to a multiple of pi/2, 16367173 * 2^72 the float32."""
    angles = [1e22, 2.0**1000, 6381956970095103 * 2.0**797, 16367173 * 2.0**72, 1.5707963267948966, 3.141592653589793,
              2.0**20 + 0.25, 2.0**20 - 0.25, 1e5]  # fmt: skip
    check(name, FLOAT64, (np.array(angles),))


def test_float16_activations_over_the_whole_range() -> None:
    codes = np.arange(0, 65536, 23, dtype=np.uint16).view(np.float16)
    x = codes[np.isfinite(codes) & (codes != 0)].astype(np.float64)
    for name in ("gelu", "gelu_tanh", "tanh"):
        check(name, FORMATS["float16"], (x,))
