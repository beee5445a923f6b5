"""Complex functions: exact and hand-computed values, both sides of branch cuts, what is open, then mpmath."""

import math
import random
from collections.abc import Callable

import mpmath
import pytest

from conform.refs import UNSPECIFIED, lookup
from conform.refs.exact.rounding import round_number
from tests.refs.helpers import call, rounded_mpf, same, tensor

inf, nan, pi = math.inf, math.nan, math.pi
TINY = 2.0**-1074
LOG_2 = math.log(2)


def of_one(op: str, z: complex, dtype: str = "complex128") -> complex | float:
    return call(op, self=tensor(dtype, [z])).data[0]


def power(z: complex, w: complex, dtype: str = "complex128") -> complex:
    return call("pow.Tensor_Tensor", self=tensor(dtype, [z]), exponent=tensor(dtype, [w])).data[0]


@pytest.mark.parametrize(
    ("op", "z", "expected"),
    [
        ("abs", 3 - 4j, 5.0),
        ("abs", 1e308 + 1e308j, 1.4142135623730951e308),
        ("abs", complex(TINY, TINY), TINY),
        ("angle", complex(-1.0, 0.0), pi),
        ("angle", complex(-1.0, -0.0), -pi),
        ("angle", complex(1.0, -0.0), -0.0),
        ("angle", complex(-0.0, 0.0), pi),
        ("angle", 1 - 1j, -pi / 4),
        ("reciprocal", 3 - 4j, 0.12 + 0.16j),
        ("sqrt", -3 + 4j, 1 + 2j),
        ("sqrt", -3 - 4j, 1 - 2j),
        ("sqrt", 2j, 1 + 1j),
        ("sqrt", complex(-4.0, 0.0), 2j),
        ("sqrt", complex(-4.0, -0.0), complex(0.0, -2.0)),
        ("sqrt", complex(-1.0, TINY), complex(0.0, 1.0)),  # just below TINY / 2
        ("sqrt", complex(-1.0, 3 * TINY), complex(TINY, 1.0)),  # just below 1.5 TINY
        ("rsqrt", -3 + 4j, 0.2 - 0.4j),
        ("rsqrt", complex(-4.0, 0.0), complex(0.0, -0.5)),
        ("exp", 0j, 1 + 0j),
        ("exp", -1e308 + 1j, 0j),
        ("sinh", 0j, 0j),
        ("cosh", 0j, 1 + 0j),
        ("log", 1j, complex(0.0, pi / 2)),
        ("log", complex(-1.0, 0.0), complex(0.0, pi)),
        ("log", complex(-1.0, -0.0), complex(0.0, -pi)),
        ("log", 1 + 1e-300j, complex(0.0, 1e-300)),  # the real part, 1e-600 / 2, underflows
        ("log2", 8 + 8j, complex(3.5, pi / 4 / LOG_2)),
        ("log10", 1 + 3j, complex(0.5, 0.54245368659714692049)),
        ("log1p", complex(-2.0, -0.0), complex(0.0, -pi)),
        ("log1p", -1 + 1j, complex(0.0, pi / 2)),
        ("log1p", 1e-300 + 1e-300j, 1e-300 + 1e-300j),
        ("expm1", 1e-300 + 1e-300j, 1e-300 + 1e-300j),
        ("expm1", -1e308 + 1j, -1 + 0j),
        ("exp2", 3 + 0j, 8 + 0j),
        ("tan", 1 + 1e308j, 1j),
        ("tanh", -1e308 + 1j, -1 + 0j),
        ("asin", complex(2.0, 0.0), complex(pi / 2, 1.3169578969248167)),
        ("asin", complex(2.0, -0.0), complex(pi / 2, -1.3169578969248167)),
        ("acos", complex(2.0, 0.0), complex(0.0, -1.3169578969248167)),
        ("acos", complex(-2.0, -0.0), complex(pi, 1.3169578969248167)),
        ("acosh", complex(-2.0, 0.0), complex(1.3169578969248167, pi)),
        ("acosh", complex(0.5, -0.0), complex(0.0, -1.04719755119659774615)),
        ("asinh", complex(0.0, 2.0), complex(1.3169578969248167, pi / 2)),
        ("asinh", complex(-0.0, 2.0), complex(-1.3169578969248167, pi / 2)),
        ("atan", complex(0.0, 2.0), complex(pi / 2, 0.54930614433405485)),
        ("atan", complex(-0.0, 2.0), complex(-pi / 2, 0.54930614433405485)),
        ("atanh", complex(-2.0, -0.0), complex(-0.54930614433405485, -pi / 2)),
        ("atanh", complex(3 * TINY, 1.0), complex(TINY, pi / 4)),  # x / 2 - x^3 / 12, just below 1.5 TINY
        ("sigmoid", 0j, 0.5 + 0j),
        ("sigmoid", complex(0.0, pi / 2), complex(0.5, 0.5 - 2.0**-54)),  # the double is 6e-17 less than pi / 2
    ],
)
def test_values(op: str, z: complex, expected: complex | float) -> None:
    actual = of_one(op, z)
    assert actual == expected, actual
    if not isinstance(expected, complex):
        assert repr(actual) == repr(expected)


def test_real_angle() -> None:
    x = tensor("float32", [-2.0, -0.0, 0.0, 3.0, -inf, inf, nan])
    same(call("angle", self=x), "float32", [3.1415927410125732, 0.0, 0.0, 0.0, 3.1415927410125732, 0.0, nan])
    same(call("angle", self=tensor("int8", [-1, 1])), "float32", [3.1415927410125732, 0.0])
    same(call("angle", self=tensor("bool", [True])), "float32", [0.0])


def test_quotients() -> None:
    z, w = tensor("complex64", [1 + 2j, 1 + 0j, inf + 0j, 1 + 1j]), tensor("complex64", [3 - 4j, 0j, 1 + 0j, nan + 0j])
    quotients = call("div.Tensor", self=z, other=w).data
    assert quotients == [complex(-0.20000000298023224, 0.4000000059604645), *[UNSPECIFIED] * 3]
    assert call("div.Scalar", self=tensor("float32", [2.0]), other=4j) == tensor("complex64", [-0.5j])
    overflowing = call("div.Tensor", self=tensor("complex64", [3e38 + 3e38j]), other=tensor("complex64", [1 + 0j]))
    assert overflowing.data == [UNSPECIFIED]  # each part is finite, the magnitude overflows
    with pytest.raises(ValueError, match="rounding mode"):
        call("div.Tensor_mode", self=z, other=w, rounding_mode="floor")


@pytest.mark.parametrize(
    ("z", "w", "expected"),
    [
        (1 + 1j, 2 + 0j, 2j),
        (1 + 2j, 3 + 0j, -11 - 2j),
        (3 + 4j, -1 + 0j, 0.12 - 0.16j),
        (3 + 4j, 0.5 + 0j, 2 + 1j),
        (3 + 4j, 1.5 + 0j, 2 + 11j),
        (complex(-4.0, 0.0), 0.5 + 0j, 2j),
        (complex(-4.0, -0.0), 0.5 + 0j, -2j),
        (complex(-4.0, 0.0), 1.5 + 0j, -8j),
        (complex(-4.0, 0.0), 0.25 + 0j, 1 + 1j),
        (1 + 1j, 1000 + 0j, 2.0**500 + 0j),
        (-1 + 0j, 1e300 + 0j, 1 + 0j),
        (1j, 1j, complex(0.20787957635076190855, 0.0)),
        (1 + 0j, 1e308 + 1e308j, 1 + 0j),
        (0j, 0j, 1 + 0j),
        (0j, 1 - 1j, 0j),
        (2 + 2j, -1e308 + 0j, 0j),
        (0j, 0 + 1j, UNSPECIFIED),
        (0j, -1 + 0j, UNSPECIFIED),
        (2 + 2j, 1e308 + 0j, UNSPECIFIED),
        (inf + 0j, 0j, UNSPECIFIED),
        (1 + 0j, complex(0.0, nan), UNSPECIFIED),
    ],
)
def test_pow(z: complex, w: complex, expected: complex) -> None:
    assert power(z, w) == expected


def test_pow_of_mixed_operands() -> None:
    same(call("pow.Scalar", self=-1, exponent=tensor("complex64", [0.5 + 0j])), "complex64", [1j])
    same(call("pow.Tensor_Scalar", self=tensor("float32", [-4.0]), exponent=0.5 + 0j), "complex64", [2j])


MPMATH: dict[str, Callable] = {
    "exp": mpmath.exp,
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "reciprocal": lambda z: 1 / z,
    "log": mpmath.log,
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "log1p": lambda z: mpmath.log(1 + z),
    "exp2": lambda z: mpmath.exp(z * mpmath.log(2)),
    "expm1": lambda z: mpmath.exp(z) - 1,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)),
}


@pytest.mark.parametrize("op", [*MPMATH, "abs", "angle"])
def test_what_is_open(op: str) -> None:
    for z in (complex(inf, 0.0), complex(0.0, nan), complex(nan, inf)):
        assert of_one(op, z) is UNSPECIFIED
    poles = {
        "reciprocal": [0j],
        "rsqrt": [0j],
        "log": [0j],
        "log1p": [-1 + 0j],
        "atanh": [1 + 0j, -1 + 0j],
        "atan": [1j],
    }
    overflows = {op: [800 + 1j] for op in ("exp", "sinh", "cosh", "expm1")} | {
        "exp2": [1100 + 1j],
        "sin": [1 - 800j],
        "cos": [1 - 1e308j],
        "abs": [1.7e308 + 1.7e308j],
        "sigmoid": [-800 + 1j, complex(-800.0, 0.0)],
    }
    for z in (poles | overflows).get(op, []):
        assert of_one(op, z) is UNSPECIFIED, z


def test_the_magnitude_decides_on_overflow() -> None:
    """e^709.9 overflows binary64; the parts of e^(709.9 + i), e^709.9 times 0.54 and 0.84, do not."""
    assert of_one("exp", 709.9 + 1j) is UNSPECIFIED
    assert of_one("exp", 709.7 + 1j) is not UNSPECIFIED


def numbers(component: str, seed: str, count: int) -> list[complex]:
    """Numbers off the axes, of sizes from 2^-20 to 2^3."""
    draw = random.Random(seed)
    parts = [round_number(component, draw.uniform(-1, 1) * 2.0 ** draw.randint(-20, 3)) for _ in range(2 * count)]
    return [complex(x, y) for x, y in zip(parts[::2], parts[1::2], strict=True)]


def rounded_parts(component: str, value: mpmath.mpc) -> complex:
    return complex(rounded_mpf(component, value.real), rounded_mpf(component, value.imag))


@pytest.mark.parametrize(("dtype", "component"), [("complex64", "float32"), ("complex128", "float64")])
@pytest.mark.parametrize("op", MPMATH)
def test_agrees_with_mpmath(op: str, dtype: str, component: str) -> None:
    zs = numbers(component, op, 40)
    with mpmath.workprec(600):
        expected = [rounded_parts(component, MPMATH[op](mpmath.mpc(z))) for z in zs]
    assert call(op, self=tensor(dtype, zs)).data == expected


@pytest.mark.parametrize(("dtype", "component"), [("complex64", "float32"), ("complex128", "float64")])
def test_pow_and_quotients_agree_with_mpmath(dtype: str, component: str) -> None:
    zs, ws = numbers(component, "z", 40), numbers(component, "w", 40)
    operands = tensor(dtype, zs), tensor(dtype, ws)
    with mpmath.workprec(600):
        pairs = [(mpmath.mpc(z), mpmath.mpc(w)) for z, w in zip(zs, ws, strict=True)]
        powers = [rounded_parts(component, mpmath.exp(w * mpmath.log(z))) for z, w in pairs]
        quotients = [rounded_parts(component, z / w) for z, w in pairs]
    assert call("pow.Tensor_Tensor", self=operands[0], exponent=operands[1]).data == powers
    assert call("div.Tensor", self=operands[0], other=operands[1]).data == quotients


@pytest.mark.parametrize("op", MPMATH)
def test_a_conjugate_operand_has_the_conjugate_result(op: str) -> None:
    axes = [0.0, 0.25, 0.5, 2.0, -0.25, -0.5, -2.0]
    zs = [complex(x, y) for x in axes for y in (0.0, 0.5, 2.0)] + numbers("float64", op, 5)
    for z in zs:
        result, mirrored = of_one(op, z), of_one(op, z.conjugate())
        assert mirrored == (result if result is UNSPECIFIED else result.conjugate()), z


def test_functions_without_a_complex_reference() -> None:
    for op in ("sinc", "silu"):
        with pytest.raises(NotImplementedError, match="complex64"):
            lookup(f"aten::{op}")(self=tensor("complex64", [1j]))
