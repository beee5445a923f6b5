"""Real functions of two numbers: pow, hypot, atan2, logaddexp, xlogy; halfway cases, special values, wrapping."""

import math
import random

import mpmath
import pytest

from conform.refs import UNSPECIFIED
from conform.refs.exact.rounding import round_number
from tests.refs.helpers import call, rounded_mpf, same, same_number, tensor

inf, nan = math.inf, math.nan
FLOATS = ["float16", "bfloat16", "float32", "float64"]
TINY = 5e-324  # 2^-1074, the least float64


def of_two(op: str, dtype: str, x: float, y: float) -> float:
    name, second = ("pow.Tensor_Tensor", "exponent") if op == "pow" else (op, "other")
    return call(name, self=tensor(dtype, [x]), **{second: tensor(dtype, [y])}).data[0]


# ---- pow -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (1.0, nan, 1.0),
        (1.0, -inf, 1.0),
        (nan, 0.0, 1.0),
        (nan, -0.0, 1.0),
        (inf, 0.0, 1.0),
        (nan, 1.0, nan),
        (2.0, nan, nan),
        (-1.0, inf, 1.0),
        (-1.0, -inf, 1.0),
        (0.0, -3.0, inf),
        (-0.0, -3.0, -inf),
        (-0.0, -2.0, inf),
        (-0.0, -0.5, inf),
        (-0.0, -inf, inf),
        (-0.0, 3.0, -0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, 0.5, 0.0),
        (0.5, -inf, inf),
        (-0.5, inf, 0.0),
        (-2.0, inf, inf),
        (2.0, -inf, 0.0),
        (-inf, -3.0, -0.0),
        (-inf, -0.5, 0.0),
        (-inf, 3.0, -inf),
        (-inf, 2.5, inf),
        (inf, -1.0, 0.0),
        (inf, inf, inf),
        (-8.0, 0.5, nan),
        (-2.0, 3.0, -8.0),
        (-2.0, -2.0, 0.25),
        (9.0, 0.5, 3.0),
        (0.0625, -0.75, 8.0),
    ],
)
def test_special_powers(x: float, y: float, dtype: str, expected: float) -> None:
    same_number(of_two("pow", dtype, x, y), expected)


@pytest.mark.parametrize(
    ("dtype", "x", "y", "expected"),
    [
        ("float64", 2.0, 0.5, 1.41421356237309504880),
        ("float64", 10.0, -1.0, 0.1),
        ("float64", 3.0, 33.0, 5559060566555523.0),
        ("float64", 3.0, 34.0, 16677181699666568.0),  # ...569 is halfway: to even
        ("float32", 4097.0, 2.0, 16785408.0),  # 16785409 is halfway: to even
        ("float64", TINY, 0.5, 2.0**-537),
        ("float64", 2.0, -1075.0, 0.0),  # halfway: to even
        ("float64", -2.0, -1075.0, -0.0),
        ("float64", TINY, 1.0009, TINY),  # 2^-1074.97
        ("float64", TINY, 1.001, 0.0),  # 2^-1075.07
        ("float64", 1 + 2.0**-52, TINY, 1.0),
        ("float64", 1 - 2.0**-53, 1e308, 0.0),
        ("float64", -1.5, 1e308, inf),
        ("float64", -1.5, -9007199254740991.0, -0.0),
        ("float16", -6.0, 7.0, -inf),
        ("float64", -0.0, -(1 - 2.0**-53), inf),  # nearly an odd exponent
        ("float64", -inf, -(1 - 2.0**-53), 0.0),
        ("float64", 1e-300, -1e300, inf),
    ],
)
def test_powers(dtype: str, x: float, y: float, expected: float) -> None:
    same_number(of_two("pow", dtype, x, y), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers_agree_with_mpmath(dtype: str) -> None:
    draw = random.Random("pow")
    with mpmath.workprec(600):
        for _ in range(100):
            x = round_number(dtype, draw.choice([0.75, 1.0, 9.0, draw.uniform(0, 20)]))
            y = round_number(dtype, draw.choice([0.5, -2.0, -0.25, draw.uniform(-9, 3)]))
            assert of_two("pow", dtype, x, y) == rounded_mpf(dtype, mpmath.power(mpmath.mpf(x), mpmath.mpf(y))), (x, y)


def test_pow_of_integers_wraps() -> None:
    x, exponent = tensor("int8", [2, -2, 3, 0, -1]), tensor("int8", [7, 7, 5, 0, 127])
    result = call("pow.Tensor_Tensor", self=x, exponent=exponent)
    same(result, "int8", [-128, -128, -13, 1, -1])  # 3^5 = 243 = 256 - 13
    same(call("pow.Tensor_Scalar", self=tensor("uint8", [16, 15]), exponent=2), "uint8", [0, 225])
    result = call("pow.Tensor_Scalar", self=tensor("int64", [3, 2**32 + 1]), exponent=41)
    same(result, "int64", [3**41 - 2**65, 41 * 2**32 + 1])
    same(call("pow.Scalar", self=2, exponent=tensor("int32", [31, 32, 2**31 - 1])), "int32", [-(2**31), 0, 0])
    same(call("pow.Scalar", self=300, exponent=tensor("uint8", [1])), "uint8", [44])
    same(call("pow.Tensor_Scalar", self=tensor("bool", [True, False]), exponent=2), "int64", [1, 0])
    mixed = call("pow.Tensor_Tensor", self=tensor("int16", [[-3], [2]]), exponent=tensor("int64", [2, 40]))
    same(mixed, "int64", [[9, 3**40 - 2**64], [4, 2**40]])


def test_negative_powers_of_integers_are_open_or_refused() -> None:
    result = call("pow.Tensor_Tensor", self=tensor("int32", [2, 1]), exponent=tensor("int32", [-1, 3]))
    same(result, "int32", [UNSPECIFIED, 1])
    same(call("pow.Scalar", self=-1, exponent=tensor("int64", [-1, 2])), "int64", [UNSPECIFIED, 1])
    for dtype, exponent in [("int64", -1), ("bool", -1), ("int8", -129), ("int8", 128), ("uint8", 256)]:
        with pytest.raises(ValueError, match=f"found {exponent}"):
            call("pow.Tensor_Scalar", self=tensor(dtype, [1]), exponent=exponent)
    same(call("pow.Tensor_Scalar", self=tensor("int32", [4]), exponent=-0.5), "float32", [0.5])
    same(call("pow.Tensor_Scalar", self=tensor("float32", [4.0]), exponent=-1), "float32", [0.25])


def test_operands_wider_than_the_result_are_not_rounded() -> None:
    """A double halfway between two float32 (P30): a second rounding, or none at all, would show."""
    half = 1 + 2.0**-24
    one = tensor("float32", [1.0])
    same(call("pow.Scalar", self=half, exponent=one), "float32", [1.0])
    same(call("pow.Tensor_Tensor", self=tensor("float64", half + 2.0**-52), exponent=one), "float32", [1 + 2.0**-23])
    far = call("logaddexp", self=tensor("float32", [-1e30, -inf, -20.0]), other=tensor("float64", half))
    same(far, "float32", [1 + 2.0**-23, 1.0, 1 + 2.0**-23])
    far = call("hypot", self=tensor("float32", [0.0, 2.0**-40]), other=tensor("float64", half))
    same(far, "float32", [1.0, 1 + 2.0**-23])


# ---- hypot, atan2, logaddexp, xlogy ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "x", "y", "expected"),
    [
        ("float64", 3.0, -4.0, 5.0),
        ("float64", 1.0, 1.0, 1.41421356237309504880),
        ("float16", 2022.0, 2040.0, 2872.0),  # 2872.3...
        ("bfloat16", 95.0, 168.0, 193.0),
        ("float16", -0.0, -0.0, 0.0),
        ("float64", -0.0, -TINY, TINY),
        ("float64", TINY, TINY, TINY),
        ("float64", 1e308, 1e308, 1.4142135623730951e308),
        ("float32", 3e38, 3e38, inf),
        ("float64", nan, -inf, inf),
        ("float64", inf, nan, inf),
        ("float64", nan, 0.0, nan),
    ],
)
def test_hypot(dtype: str, x: float, y: float, expected: float) -> None:
    same_number(of_two("hypot", dtype, x, y), expected)


def test_hypot_halfway() -> None:
    """2023^2 + 2040^2 = 2873^2, and 2873 lies halfway between two float16."""
    x, y = tensor("float16", [2023.0]), tensor("float16", [2040.0])
    same(call("hypot", self=x, other=y), "float16", [2872.0])


@pytest.mark.parametrize(
    ("y", "x", "expected"),
    [
        (1.0, -1.0, 2.35619449019234492885),
        (-1.0, 0.0, -1.57079632679489661923),
        (1.0, -0.0, 1.57079632679489661923),
        (0.0, 1.0, 0.0),
        (-0.0, 0.0, -0.0),
        (0.0, -0.0, 3.14159265358979323846),
        (-0.0, -1.0, -3.14159265358979323846),
        (-0.0, -inf, -3.14159265358979323846),
        (0.0, inf, 0.0),
        (-5.0, inf, -0.0),
        (5.0, -inf, 3.14159265358979323846),
        (inf, 5.0, 1.57079632679489661923),
        (-inf, -0.0, -1.57079632679489661923),
        (inf, inf, 0.78539816339744830962),
        (-inf, -inf, -2.35619449019234492885),
        (TINY, 2.0, 0.0),  # just below half of TINY
        (-TINY, 2.0, -0.0),
        (3 * TINY, 2.0, TINY),  # just below 1.5 TINY
        (TINY, -1e308, 3.14159265358979323846),
        (-TINY, 1e308, -0.0),
        (1e308, TINY, 1.57079632679489661923),
        (nan, 1.0, nan),
        (0.0, nan, nan),
    ],
)
def test_atan2(y: float, x: float, expected: float) -> None:
    same_number(of_two("atan2", "float64", y, x), expected)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (0.0, 0.0, 0.69314718055994530942),
        (0.0, 1.0, 1.31326168751822283405),
        (-1e308, 3.0, 3.0),
        (1e308, 1e308, 1e308),
        (-0.69314718055994530942, -0.69314718055994530942, 2.319046813846299558e-17),  # log 2 less its double
        (0.0, -1e308, 0.0),
        (0.0, -745.0, TINY),
        (-TINY, -2000.0, -TINY),
        (-inf, -inf, -inf),
        (-inf, inf, inf),
        (inf, inf, inf),
        (-inf, 5.0, 5.0),
        (-0.0, -inf, 0.0),
        (inf, -3.0, inf),
        (inf, nan, nan),
        (nan, -inf, nan),
    ],
)
def test_logaddexp(x: float, y: float, expected: float) -> None:
    same_number(of_two("logaddexp", "float64", x, y), expected)
    same_number(of_two("logaddexp", "float64", y, x), expected)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (2.0, 2.0, 1.38629436111989061883),
        (0.0, 0.0, 0.0),
        (-0.0, 5.0, 0.0),
        (0.0, -1.0, 0.0),
        (0.0, inf, 0.0),
        (0.0, nan, nan),
        (nan, 1.0, nan),
        (1.0, nan, nan),
        (-3.0, 1.0, -0.0),
        (3.0, 1.0, 0.0),
        (inf, 1.0, nan),
        (3.0, 0.0, -inf),
        (-3.0, -0.0, inf),
        (-3.0, inf, -inf),
        (3.0, -2.0, nan),
        (inf, 0.5, -inf),
        (-inf, 0.5, inf),
        (-inf, 2.0, -inf),
        (-TINY, 1.5, -0.0),  # 0.405 TINY
        (TINY, 0.5, -TINY),  # 0.69 TINY
    ],
)
def test_xlogy(x: float, y: float, expected: float) -> None:
    same_number(of_two("xlogy.Tensor", "float64", x, y), expected)
    same_number(of_two("special_xlogy", "float64", x, y), expected)


def test_xlogy_of_scalars_and_integers() -> None:
    same(call("xlogy.Scalar_Self", self=2, other=tensor("int64", [1, 0])), "float32", [0.0, -inf])
    result = call("xlogy.Scalar_Other", self=tensor("bool", [True, False]), other=2.0)
    same(result, "float32", [0.6931471824645996, 0.0])
    same(call("special_xlogy.self_scalar", self=0, other=tensor("float16", [nan])), "float16", [nan])
    same(call("special_xlogy.other_scalar", self=tensor("float64", [-1.0]), other=1), "float64", [-0.0])


# ---- logaddexp2, xlog1py ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(0.0, 0.0, 1.0), (-1.0, -1.0, 0.0), (3.0, -inf, 3.0), (-inf, -inf, -inf), (inf, -inf, inf), (nan, 0.0, nan)],
)
def test_logaddexp2(x: float, y: float, expected: float) -> None:
    same_number(of_two("logaddexp2", "float32", x, y), expected)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(0.0, -1.0, 0.0), (0.0, nan, nan), (2.0, 0.0, 0.0), (-2.0, 0.0, -0.0), (1.0, -1.0, -inf), (1.0, -2.0, nan)],
)
def test_xlog1py(x: float, y: float, expected: float) -> None:
    same_number(of_two("special_xlog1py", "float32", x, y), expected)
