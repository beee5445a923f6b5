"""The references of complex cbrt and atan2: values of mpmath's own functions at 60 digits (3,000 where operands lie far
apart), rounded to the format, as literals; then mpmath on drawn numbers."""

from __future__ import annotations

import math
import random

import mpmath
import pytest

from conform.refs import UNSPECIFIED
from conform.refs.exact.rounding import round_number
from conform.refs.stablehlo.complex_functions import atan2, cbrt
from tests.refs.helpers import rounded_mpf, tensor

C64, C128 = "complex64", "complex128"
t, T = 2.0**-149, 2.0**-1074  # the least numbers of the component formats, and the largest
m, M = float.fromhex("0x1.fffffep+127"), float.fromhex("0x1.fffffffffffffp+1023")
inf, nan = math.inf, math.nan


def number(real: str, imag: str) -> complex:
    return complex(float.fromhex(real), float.fromhex(imag))


# ---- cbrt --------------------------------------------------------------------------------------------------------

ROOTS = [
    (C128, 1 + 1j, "0x1.158f1e9cd5d81p+0", "0x1.297ca5cba998cp-2"),
    (C64, 1 + 1j, "0x1.158f1ep+0", "0x1.297ca6p-2"),
    (C128, 0.5 - 3j, "0x1.4aee61556dfd8p+0", "-0x1.4eff146794368p-1"),
    (C64, 0.5 - 3j, "0x1.4aee62p+0", "-0x1.4eff14p-1"),
    (C128, -1 + 2j, "0x1.04b0c36cedf2ep+0", "0x1.a406a6b73b632p-1"),
    (C64, -1 + 2j, "0x1.04b0c4p+0", "0x1.a406a6p-1"),
    # exact: (2 + i)^3; by a third of a turn it is no longer the principal root
    (C128, 2 + 11j, "0x1p+1", "0x1p+0"),
    (C64, 2 + 11j, "0x1p+1", "0x1p+0"),
    (C64, 2.0**-120 * (2 - 11j), "0x1p-39", "-0x1p-40"),
    (C128, -11 + 2j, "0x1.3b67ae8584caap+0", "0x1.ddb3d742c2655p+0"),
    # the axes, and the cut
    (C128, 0j, "0x0p+0", "0x0p+0"),
    (C128, complex(-0.0, -0.0), "0x0p+0", "0x0p+0"),
    (C128, 27 + 0j, "0x1.8p+1", "0x0p+0"),
    (C128, 3 + 0j, "0x1.7137449123ef6p+0", "0x0p+0"),
    (C128, complex(-8.0, 0.0), "0x1p+0", "0x1.bb67ae8584caap+0"),
    (C128, complex(-8.0, -0.0), "0x1p+0", "-0x1.bb67ae8584caap+0"),
    (C64, complex(-8.0, 0.0), "0x1p+0", "0x1.bb67aep+0"),
    (C128, complex(-3.0, -0.0), "0x1.7137449123ef6p-1", "-0x1.3fc0164bf0b56p+0"),
    (C128, 8j, "0x1.bb67ae8584caap+0", "0x1p+0"),
    (C64, -8j, "0x1.bb67aep+0", "-0x1p+0"),
    (C128, 3j, "0x1.3fc0164bf0b56p+0", "0x1.7137449123ef6p-1"),
    # beside them
    (C128, complex(-8.0, T), "0x1p+0", "0x1.bb67ae8584caap+0"),
    (C128, complex(-8.0, -T), "0x1p+0", "-0x1.bb67ae8584caap+0"),
    (C64, complex(-8.0, -t), "0x1p+0", "-0x1.bb67aep+0"),
    (C128, complex(T, -8.0), "0x1.bb67ae8584caap+0", "-0x1p+0"),
    (C128, complex(8.0, T), "0x1p+1", "0x0p+0"),  # the imaginary part is a twelfth of T
    (C64, complex(1.0, 2.0**-40), "0x1p+0", "0x1.555556p-42"),
    # tiny and huge ones
    (C128, complex(T, T), "0x1.158f1e9cd5d81p-358", "0x1.297ca5cba998cp-360"),
    (C64, complex(t, t), "0x1.5db3d8p-50", "0x1.76cf5ep-52"),
    (C128, complex(-T, 0.0), "0x1p-359", "0x1.bb67ae8584caap-359"),
    (C64, complex(0.0, -t), "0x1.1753e0p-50", "-0x1.428a30p-51"),
    (C128, complex(-3 * T, 2 * T), "0x1.02b97f05b3a11p-358", "0x1.2739f85a9e8c0p-358"),
    (C64, complex(2.0**-126, -t), "0x1p-42", "-0x1.555556p-67"),
    (C128, complex(2.0**-1022, -T), "0x1.428a2f98d728bp-341", "-0x1.ae0d94cbc98b9p-395"),
    (C128, complex(M, T), "0x1.428a2f98d728bp+341", "0x0p+0"),
    (C128, complex(M, -M), "0x1.5db3d742c2655p+341", "-0x1.76cf5d0b09955p+339"),
    (C128, complex(-M, M), "0x1p+341", "0x1p+341"),  # just below
    (C64, complex(-m, m), "0x1.428a30p+42", "0x1.428a30p+42"),
    (C64, complex(-m, 0.0), "0x1.965feap+41", "0x1.5fee48p+42"),
]


@pytest.mark.parametrize(("dtype", "z", "real", "imag"), ROOTS, ids=[f"{one[0]}-{one[1]}" for one in ROOTS])
def test_cbrt(dtype: str, z: complex, real: str, imag: str) -> None:
    assert cbrt(tensor(dtype, [z])) == tensor(dtype, [number(real, imag)])


def test_cbrt_of_what_is_not_finite() -> None:
    assert cbrt(tensor(C128, [complex(inf, 0.0), complex(1.0, nan)])).data == [UNSPECIFIED] * 2


@pytest.mark.parametrize("dtype", [C64, C128])
def test_cbrt_of_cubes(dtype: str) -> None:
    """Of Gaussian integers, times powers of two, whose angle is at most pi / 3."""
    draw = random.Random(dtype)
    roots = [complex(draw.randint(1, 100), draw.randint(-100, 100)) for _ in range(60)]
    roots = [w * 2.0 ** draw.randint(-40, 34) for w in roots if abs(w.imag) < math.sqrt(3) * w.real]
    assert cbrt(tensor(dtype, [w * w * w for w in roots])).data == roots


# ---- atan2 -------------------------------------------------------------------------------------------------------

ANGLES = [
    (C128, 1 + 2j, 3 - 1j, "0x1.85a376b677dc0p-3", "0x1.af038cbcdfe1fp-1"),
    (C64, 1 + 2j, 3 - 1j, "0x1.85a376p-3", "0x1.af038cp-1"),
    (C128, -2 + 0.5j, 0.25 + 1.5j, "-0x1.b2736815ba148p+0", "0x1.db565458eac4ep-1"),
    (C64, -2 + 0.5j, 0.25 + 1.5j, "-0x1.b27368p+0", "0x1.db5654p-1"),
    # real ones
    (C128, 1 + 0j, 1 + 0j, "0x1.921fb54442d18p-1", "0x0p+0"),
    (C64, 1 + 0j, 1 + 0j, "0x1.921fb6p-1", "0x0p+0"),
    (C128, 1 + 0j, -1 + 0j, "0x1.2d97c7f3321d2p+1", "0x0p+0"),
    (C128, complex(M, 0.0), complex(T, 0.0), "0x1.921fb54442d18p+0", "0x0p+0"),
    # the quotient is 1, -1, and beside -1
    (C128, 0j, 2 + 1j, "0x0p+0", "0x0p+0"),
    (C128, 0j, 2j, "0x0p+0", "0x0p+0"),
    (C128, 0j, -2 - 1j, "0x1.921fb54442d18p+1", "0x0p+0"),
    (C64, 0j, -2j, "0x1.921fb6p+1", "0x0p+0"),
    (C128, complex(-0.0, -0.0), complex(-1.0, -0.0), "0x1.921fb54442d18p+1", "0x0p+0"),
    (C128, complex(T, 0.0), -1 + 0j, "0x1.921fb54442d18p+1", "0x0p+0"),
    (C128, complex(-T, 0.0), -1 + 0j, "-0x1.921fb54442d18p+1", "0x0p+0"),
    (C64, complex(-t, 0.0), -1 + 0j, "-0x1.921fb6p+1", "0x0p+0"),
    # x^2 + y^2 is -3, and beside it
    (C128, 2j, 1 + 0j, "0x1.921fb54442d18p+0", "0x1.193ea7aad030bp-1"),
    (C128, 2j, complex(1.0, -0.0), "0x1.921fb54442d18p+0", "0x1.193ea7aad030bp-1"),
    (C128, -2j, 1 + 0j, "-0x1.921fb54442d18p+0", "-0x1.193ea7aad030bp-1"),
    (C128, 2j, complex(1.0, T), "0x1.921fb54442d18p+0", "0x1.193ea7aad030bp-1"),
    (C128, 2j, complex(1.0, -T), "-0x1.921fb54442d18p+0", "0x1.193ea7aad030bp-1"),
    (C64, 2j, complex(1.0, -t), "-0x1.921fb6p+0", "0x1.193ea8p-1"),
    (C128, 2j, complex(-1.0, T), "-0x1.921fb54442d18p+0", "-0x1.193ea7aad030bp-1"),
    # tiny: y / x - (y / x)^3 / 3, whose parts lie on both sides of half the least number
    (C128, complex(0.0, T), 1 + 1j, "0x1p-1074", "0x0p+0"),
    (C64, complex(0.0, t), 1 + 1j, "0x1p-149", "0x0p+0"),
    (C64, complex(t, 0.0), 1 + 1j, "0x1p-149", "0x0p+0"),
    (C128, complex(0.0, T), -1 - 1j, "0x1.921fb54442d18p+1", "0x0p+0"),
    (C128, 1j, complex(T, 0.0), "0x1.921fb54442d18p+0", "0x1p-1074"),
    (C128, -1j, complex(-T, 0.0), "-0x1.921fb54442d18p+0", "0x1p-1074"),
    # tiny and huge operands, near a pole too
    (C128, complex(T, T), complex(T, -3 * T), "-0x1.dac670561bb4fp-3", "0x1.9c041f7ed8d33p-2"),
    (C64, complex(t, t), complex(t, -3 * t), "-0x1.dac67p-3", "0x1.9c042p-2"),
    (C128, complex(M, M), complex(M, -M / 2), "0x1.1b6e192ebbe44p+0", "0x1.9c041f7ed8d33p-1"),
    (C64, complex(m, m), complex(m, -m / 2), "0x1.1b6e1ap+0", "0x1.9c042p-1"),
    (C128, complex(0.0, M), complex(M, T), "0x1.921fb54442d18p-1", "0x1.6bba9ea13b521p+9"),
    (C64, complex(0.0, m), complex(m, t), "0x1.921fb6p-1", "0x1.8163ccp+6"),
    (C128, 1 + 1j, complex(1.0, 2.0**-20 - 1), "0x1.2d97c5f332152p+0", "0x1.dce29fea03dd9p+2"),
    (C128, 1j, 1 + 2.0**-23 + 0j, "0x0p+0", "0x1.0a2b2403bab73p+3"),
    (C64, complex(0.0, 1 + 2.0**-23), 1 + 0j, "0x1.921fb6p+0", "0x1.0a2b24p+3"),
]


@pytest.mark.parametrize(
    ("dtype", "y", "x", "real", "imag"), ANGLES, ids=[f"{one[0]}-{one[1]}-{one[2]}" for one in ANGLES]
)
def test_atan2(dtype: str, y: complex, x: complex, real: str, imag: str) -> None:
    assert atan2(tensor(dtype, [y]), tensor(dtype, [x])) == tensor(dtype, [number(real, imag)])


@pytest.mark.parametrize(
    ("y", "x"), [(0j, 0j), (1 + 0j, 1j), (1 + 0j, -1j), (complex(1.0, T), complex(T, -1.0)), (1j, complex(nan, 0.0)),
                 (complex(0.0, -inf), 1j)]
)  # fmt: skip
def test_what_is_open_of_atan2(y: complex, x: complex) -> None:
    """x^2 + y^2 is 0, or a part is not finite."""
    assert atan2(tensor(C128, [y]), tensor(C128, [x])).data == [UNSPECIFIED]


# ---- Drawn numbers -----------------------------------------------------------------------------------------------


def drawn(component: str, seed: str, count: int) -> list[complex]:
    """Of sizes from 2^-60 to 2^60, a part of which may be 0."""
    draw = random.Random(seed)
    parts = [
        round_number(component, draw.choice((0.0, 1.0, 1.0, 1.0)) * draw.uniform(-1, 1) * 2.0 ** draw.randint(-60, 60))
        for _ in range(2 * count)
    ]
    return [complex(x, y) for x, y in zip(parts[::2], parts[1::2], strict=True)]


def rounded(component: str, value: mpmath.mpc) -> complex:
    return complex(rounded_mpf(component, value.real), rounded_mpf(component, value.imag))


@pytest.mark.parametrize(("dtype", "component"), [(C64, "float32"), (C128, "float64")])
def test_agree_with_mpmath(dtype: str, component: str) -> None:
    """Where it has no choice: off the cut of cbrt, and of numbers of which none is 0."""
    zs = [z for z in drawn(component, "z", 100) if z.imag]
    ys, xs = ([w for w in drawn(component, name, 100) if w][:80] for name in "yx")
    with mpmath.workprec(2000):
        roots = [rounded(component, mpmath.exp(mpmath.log(mpmath.mpc(z)) / 3)) for z in zs]
        pairs = [(mpmath.mpc(y), mpmath.mpc(x)) for y, x in zip(ys, xs, strict=True)]
        angles = [rounded(component, -1j * mpmath.log((x + 1j * y) / mpmath.sqrt(x * x + y * y))) for y, x in pairs]
    assert cbrt(tensor(dtype, zs)).data == roots
    assert atan2(tensor(dtype, ys), tensor(dtype, xs)).data == angles
