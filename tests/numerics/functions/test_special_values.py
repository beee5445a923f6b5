"""Results decided by case analysis: C99 annex F and IEEE 754-2019 9.2.1 at NaN, infinities, zeros and poles, exact
values, midpoints, overflow and underflow. Literal operands, literal results."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.numerics import functions
from conform.numerics.formats import FORMATS

FORMAT_NAMES = ("float16", "bfloat16", "float32", "float64")
SMALLEST = 5e-324
LARGEST = 1.7976931348623157e308

# name: (operand or operands, result), ...
CASES: dict[str, tuple[tuple[object, float], ...]] = {
    "acos": ((1.0, 0.0), (2.0, nan), (inf, nan)),
    "acosh": ((1.0, 0.0), (inf, inf), (0.5, nan), (-inf, nan)),
    "asin": ((0.0, 0.0), (-0.0, -0.0), (2.0, nan)),
    "asinh": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)),
    "atan": ((0.0, 0.0), (-0.0, -0.0)),
    "atan2": (((0.0, 1.0), 0.0), ((-0.0, 1.0), -0.0), ((0.0, 0.0), 0.0), ((-0.0, 0.0), -0.0), ((1.0, inf), 0.0),
              ((-1.0, inf), -0.0), ((nan, 1.0), nan), ((1.0, nan), nan)),
    "atanh": ((0.0, 0.0), (-0.0, -0.0), (1.0, inf), (-1.0, -inf), (2.0, nan)),
    "cbrt": ((0.0, 0.0), (-0.0, -0.0), (27.0, 3.0), (-0.125, -0.5), (inf, inf), (-inf, -inf)),
    "cos": ((0.0, 1.0), (-0.0, 1.0), (inf, nan), (-inf, nan)),
    "cosh": ((0.0, 1.0), (inf, inf), (-inf, inf)),
    "digamma": ((0.0, -inf), (-0.0, inf), (-1.0, nan), (-2.0, nan), (inf, inf), (-inf, nan)),
    "erf": ((0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0), (30.0, 1.0), (-30.0, -1.0)),
    "erfc": ((0.0, 1.0), (inf, 0.0), (-inf, 2.0), (-30.0, 2.0), (200.0, 0.0)),
    "erfcx": ((0.0, 1.0), (-0.0, 1.0), (inf, 0.0), (-inf, inf), (-30.0, inf), (nan, nan)),
    "erfinv": ((0.0, 0.0), (-0.0, -0.0), (1.0, inf), (-1.0, -inf), (2.0, nan)),
    "exp": ((0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, 0.0), (2000.0, inf), (-2000.0, 0.0)),
    "exp2": ((0.0, 1.0), (3.0, 8.0), (-4.0, 0.0625), (inf, inf), (-inf, 0.0), (2000.0, inf), (-2000.0, 0.0)),
    "expm1": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -1.0), (-2000.0, -1.0)),
    "gelu": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, nan), (100.0, 100.0), (-100.0, -0.0)),
    "gelu_tanh": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, nan), (100.0, 100.0), (-100.0, -0.0)),
    "hypot": (((3.0, 4.0), 5.0), ((0.0, -0.0), 0.0), ((inf, nan), inf), ((nan, -inf), inf), ((nan, 1.0), nan)),
    "i0": ((0.0, 1.0), (inf, inf), (-inf, inf)),
    "i1": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)),
    "i0e": ((0.0, 1.0), (-0.0, 1.0), (inf, 0.0), (-inf, 0.0), (nan, nan)),
    "i1e": ((0.0, 0.0), (-0.0, -0.0), (inf, 0.0), (-inf, -0.0)),
    "j0": ((0.0, 1.0), (-0.0, 1.0), (inf, 0.0), (-inf, 0.0), (nan, nan)),
    "j1": ((0.0, 0.0), (-0.0, -0.0), (inf, 0.0), (-inf, -0.0)),
    "k0": ((0.0, inf), (-0.0, inf), (inf, 0.0), (-1.0, nan), (-inf, nan), (2000.0, 0.0)),
    "k0e": ((0.0, inf), (-0.0, inf), (inf, 0.0), (-1.0, nan), (-inf, nan)),
    "k1": ((0.0, inf), (-0.0, inf), (inf, 0.0), (-1.0, nan), (-inf, nan), (2000.0, 0.0)),
    "k1e": ((0.0, inf), (-0.0, inf), (inf, 0.0), (-1.0, nan), (-inf, nan)),
    "lgamma": ((1.0, 0.0), (2.0, 0.0), (0.0, inf), (-0.0, inf), (-3.0, inf), (inf, inf), (-inf, inf)),
    "log": ((1.0, 0.0), (0.0, -inf), (-0.0, -inf), (-1.0, nan), (inf, inf), (-inf, nan)),
    "log10": ((1.0, 0.0), (1000.0, 3.0), (0.0, -inf), (-1.0, nan), (inf, inf)),
    "log1p": ((0.0, 0.0), (-0.0, -0.0), (-1.0, -inf), (-2.0, nan), (inf, inf)),
    "log2": ((1.0, 0.0), (8.0, 3.0), (0.125, -3.0), (0.0, -inf), (-1.0, nan), (inf, inf)),
    "log_ndtr": ((inf, 0.0), (-inf, -inf), (nan, nan)),
    "logaddexp": (((inf, 1.0), inf), ((-inf, 1.0), 1.0), ((-inf, -inf), -inf), ((inf, inf), inf), ((nan, 1.0), nan)),
    "logaddexp2": (((inf, 1.0), inf), ((-inf, 1.0), 1.0), ((-inf, -inf), -inf), ((inf, inf), inf), ((nan, 1.0), nan),
                   ((1.0, 1.0), 2.0), ((-1.0, -1.0), 0.0)),
    "logit": ((0.0, -inf), (-0.0, -inf), (1.0, inf), (0.5, 0.0), (-1.0, nan), (2.0, nan), (inf, nan)),
    "mish": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, nan), (100.0, 100.0)),
    "ndtr": ((0.0, 0.5), (-0.0, 0.5), (inf, 1.0), (-inf, 0.0), (-100.0, 0.0)),
    "ndtri": ((0.0, -inf), (1.0, inf), (0.5, 0.0), (2.0, nan), (-1.0, nan)),
    "pow": (((2.0, 10.0), 1024.0), ((4.0, -0.5), 0.5), ((-2.0, 3.0), -8.0), ((-8.0, 0.5), nan), ((nan, 0.0), 1.0),
            ((1.0, nan), 1.0), ((0.0, -1.0), inf), ((-0.0, -1.0), -inf), ((-0.0, -2.0), inf), ((-0.0, 3.0), -0.0),
            ((-0.0, 0.5), 0.0), ((-1.0, inf), 1.0), ((0.5, inf), 0.0), ((-inf, 3.0), -inf), ((-inf, -3.0), -0.0),
            ((0.5, 30000.0), 0.0), ((2.0, 30000.0), inf), ((-3.0, 30001.0), -inf)),
    "reciprocal": ((0.0, inf), (-0.0, -inf), (inf, 0.0), (-inf, -0.0), (-4.0, -0.25)),
    "rsqrt": ((0.0, inf), (-0.0, -inf), (4.0, 0.5), (inf, 0.0), (-1.0, nan)),
    "sigmoid": ((0.0, 0.5), (-0.0, 0.5), (inf, 1.0), (-inf, 0.0), (2000.0, 1.0), (-2000.0, 0.0)),
    "silu": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, nan), (2000.0, 2000.0), (-2000.0, -0.0)),
    "sin": ((0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)),
    "sinc": ((0.0, 1.0), (-0.0, 1.0), (1.0, 0.0), (-7.0, 0.0), (inf, 0.0), (-inf, 0.0)),
    "sinh": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf), (2000.0, inf)),
    "softplus": ((inf, inf), (-inf, 0.0), (2000.0, 2000.0), (-2000.0, 0.0)),
    "spherical_j0": ((0.0, 1.0), (-0.0, 1.0), (inf, 0.0), (-inf, 0.0), (nan, nan)),
    "tan": ((0.0, 0.0), (-0.0, -0.0), (inf, nan)),
    "tanh": ((0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0), (50.0, 1.0)),
    "xlog1py": (((0.0, -1.0), 0.0), ((-0.0, 2.0), 0.0), ((0.0, inf), 0.0), ((0.0, -2.0), 0.0), ((0.0, nan), nan),
                ((2.0, 0.0), 0.0), ((-2.0, 0.0), -0.0), ((2.0, -0.0), -0.0), ((2.0, -1.0), -inf), ((-2.0, -1.0), inf),
                ((2.0, -2.0), nan), ((inf, 0.0), nan)),
    "xlogy": (((0.0, 0.0), 0.0), ((-0.0, 2.0), 0.0), ((0.0, inf), 0.0), ((0.0, -1.0), 0.0), ((0.0, nan), nan),
              ((2.0, 1.0), 0.0), ((-2.0, 1.0), -0.0), ((2.0, 0.0), -inf), ((-2.0, 0.0), inf), ((2.0, -1.0), nan)),
}  # fmt: skip


def apply(name: str, format_name: str, *operands: float) -> np.generic:
    value, real = functions.apply(name, FORMATS[format_name], *(np.array([x]) for x in operands))
    beyond_float64 = np.isinf(real.hi[0]) and np.isinf(real.radius[0])
    assert np.isfinite(real.radius[0]) or beyond_float64
    assert real.radius[0] == 0 or beyond_float64 or np.isfinite(real.hi[0])
    return value[0]


def assert_same(actual: np.generic, expected: float) -> None:
    actual = float(actual)
    assert (np.isnan(actual) and np.isnan(expected)) or (
        actual == expected and np.signbit(actual) == np.signbit(expected)
    ), f"got {actual}, expected {expected}"


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
@pytest.mark.parametrize("name", functions.names())
def test_special_values(name: str, format_name: str) -> None:
    for operands, expected in CASES[name]:
        operands = operands if isinstance(operands, tuple) else (operands,)
        assert_same(apply(name, format_name, *operands), expected)


@pytest.mark.parametrize("name", [name for name in functions.names() if not isinstance(CASES[name][0][0], tuple)])
def test_nan_of_nan(name: str) -> None:
    for format_name in FORMAT_NAMES:
        assert np.isnan(float(apply(name, format_name, nan)))


@pytest.mark.parametrize(
    ("y", "x", "quarters"),
    [(0.0, -1.0, 4), (-0.0, -1.0, -4), (0.0, -0.0, 4), (-0.0, -0.0, -4), (1.0, -inf, 4), (-1.0, -inf, -4),
     (-0.0, -inf, -4), (1.0, 0.0, 2), (-1.0, -0.0, -2), (inf, 5.0, 2), (-inf, -5.0, -2), (inf, inf, 1),
     (inf, -inf, 3), (-inf, -inf, -3)],
)  # fmt: skip
@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_atan2_at_the_axes(y: float, x: float, quarters: int, format_name: str) -> None:
    """Multiples of pi/4 (C99 F.9.1.4), correctly rounded: pi and 3 pi/4 of float64 are those of numpy here."""
    expected = quarters * 0.7853981633974483  # exact multiples but for 3, which is checked to be the nearest below
    expected = FORMATS[format_name].storage.type(expected if abs(quarters) != 3 else np.copysign(2.356194490192345, y))
    assert_same(apply("atan2", format_name, y, x), float(expected))


def test_atan_of_infinity_is_half_pi() -> None:
    assert apply("atan", "float64", inf) == 1.5707963267948966
    assert apply("atan", "float32", -inf) == np.float32(-1.5707964)
    assert apply("acos", "float64", -1.0) == 3.141592653589793


@pytest.mark.parametrize(
    ("name", "format_name", "operands", "expected"),
    [
        ("exp2", "float32", (-150.0,), 0.0),  # half the smallest number: to even
        ("exp2", "float32", (-149.0,), 2.0**-149),
        ("exp2", "float64", (-1075.0,), 0.0),
        ("exp2", "float64", (-1074.0,), SMALLEST),
        ("exp2", "float16", (-25.0,), 0.0),
        ("exp2", "float64", (1024.0,), inf),
        ("pow", "float32", (4097.0, 2.0), 16785408.0),  # 16785409 is a midpoint
        ("pow", "float16", (45.25, 2.0), 2048.0),  # 2047.5625
        ("pow", "float64", (2.0**-537, 2.0), SMALLEST),
        ("pow", "float64", (3.0 * 2.0**-538, 2.0), 2 * SMALLEST),  # 9/4 of the smallest
        ("pow", "float64", (9.0, 1.5), 27.0),
        ("pow", "float64", (0.5, LARGEST), 0.0),
        ("pow", "float64", (1.0 + 2.0**-52, 1e18), 2.7086111089766717e96),
        ("hypot", "float32", (2023.0 * 8191.0, 2040.0 * 8191.0), 23532744.0),  # 23532743 is a midpoint
        ("hypot", "float16", (2023.0, 2040.0), 2872.0),  # 2873 is a midpoint
        ("hypot", "float64", (3 * SMALLEST, 4 * SMALLEST), 5 * SMALLEST),
        ("hypot", "float64", (LARGEST, LARGEST), inf),
        ("cbrt", "float64", (-27.0 * 2.0**-999,), -3.0 * 2.0**-333),
        ("rsqrt", "float64", (2.0**-1074,), 2.0**537),
        ("log10", "float64", (1e22,), 22.0),
        ("log2", "float64", (SMALLEST,), -1074.0),
        ("exp", "float64", (709.782712893384,), 1.7976931348622732e308),
        ("exp", "float64", (709.7827128933841,), inf),
        ("exp", "float64", (-745.1332191019411,), SMALLEST),
        ("exp", "float64", (-745.1332191019412,), 0.0),
        ("exp", "float32", (-103.97207641601562,), 2.0**-149),
        ("exp", "float32", (-103.9720916748047,), 0.0),
        ("exp", "float16", (11.0859375,), 65248.0),
        ("exp", "float16", (11.09375,), inf),
        ("gelu", "float64", (SMALLEST,), SMALLEST),  # a little more than half of the smallest
        ("gelu", "float64", (-SMALLEST,), -0.0),  # a little less
        ("reciprocal", "float64", (SMALLEST,), inf),
        ("reciprocal", "float64", (LARGEST,), 5.562684646268003e-309),
        ("exp2", "float64", (-10649513272266.54,), 0.0),
        ("gelu_tanh", "float64", (-LARGEST,), -0.0),
        ("ndtr", "float64", (-LARGEST,), 0.0),
        ("mish", "float64", (-1e300,), -0.0),
    ],
)  # fmt: skip
def test_exact_values_midpoints_and_edges(name: str, format_name: str, operands: tuple, expected: float) -> None:
    assert_same(apply(name, format_name, *operands), expected)
