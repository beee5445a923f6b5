"""Real functions: published values, exact and halfway cases, special values, mpmath as a second opinion, dtypes."""

import math
import random
import struct
from collections.abc import Callable
from inspect import signature

import mpmath
import pytest

from conform.call.families import family_in
from conform.domains.specs import spec_of
from conform.refs import UNSPECIFIED, RefTensor, lookup, names
from conform.refs.exact.rounding import FLOAT_FORMATS, round_number
from tests.refs.helpers import call, rounded_mpf, same, same_number, tensor

inf, nan = math.inf, math.nan
FLOATS = ["float16", "bfloat16", "float32", "float64"]
TINY = 5e-324  # 2^-1074, the least float64
UNARY = [name for name in names() if family_in("conform.refs", lookup(name).__module__) == "functions"
         and [*signature(lookup(name)).parameters] == ["self"] and not name.endswith("_forward")]  # fmt: skip


def of_one(op: str, dtype: str, x: float) -> float:
    return call(op, self=tensor(dtype, [x])).data[0]


# ---- values --------------------------------------------------------------------------------------------------------

# As printed in tables (Abramowitz & Stegun, DLMF, OEIS), to 20 digits, more than tell two float64 apart.
PUBLISHED = [
    ("exp2", 0.5, 1.41421356237309504880),
    ("expm1", 1.0, 1.71828182845904523536),
    ("log", 2.0, 0.69314718055994530942),
    ("log2", 10.0, 3.32192809488736234787),
    ("log10", 2.0, 0.30102999566398119521),
    ("log1p", 1.0, 0.69314718055994530942),
    ("rsqrt", 2.0, 0.70710678118654752440),
    ("cbrt", 2.0, 1.25992104989487316477),
    ("cbrt", -100.0, -4.64158883361277889241),
    ("reciprocal", 3.0, 0.33333333333333333333),
    ("cos", 1.0, 0.54030230586813971740),
    ("cos", 1e22, 0.52321478539513894550),
    ("tan", 1.0, 1.55740772465490223051),
    ("asin", 0.5, 0.52359877559829887308),  # pi / 6
    ("asin", -1.0, -1.57079632679489661923),
    ("acos", 0.5, 1.04719755119659774615),  # pi / 3
    ("acos", -1.0, 3.14159265358979323846),
    ("atan", 1.0, 0.78539816339744830962),  # pi / 4
    ("sinh", 1.0, 1.17520119364380145688),
    ("cosh", 1.0, 1.54308063481524377848),
    ("tanh", 1.0, 0.76159415595576488812),
    ("asinh", 1.0, 0.88137358701954302523),
    ("acosh", 2.0, 1.31695789692481670863),
    ("atanh", 0.5, 0.54930614433405484570),
    ("erf", 1.0, 0.84270079294971486934),
    ("erfc", 1.0, 0.15729920705028513066),
    ("erfinv", 0.5, 0.47693627620446987338),
    ("special_ndtr", 1.0, 0.84134474606854294859),
    ("special_ndtri", 0.75, 0.67448975019608174320),
    ("lgamma", 0.5, 0.57236494292470008707),  # log sqrt pi
    ("lgamma", -0.5, 1.26551212348464539649),  # log (2 sqrt pi)
    ("digamma", 1.0, -0.57721566490153286061),  # -gamma
    ("digamma", 0.5, -1.96351002602142347944),  # -gamma - 2 log 2
    ("i0", 1.0, 1.26606587775200833560),
    ("special_i1", -1.0, -0.56515910399248502721),
    ("sigmoid", 1.0, 0.73105857863000487926),
    ("silu", -1.0, -0.26894142136999512074),
    ("sinc", 0.5, 0.63661977236758134308),  # 2 / pi
    ("sinc", -1.5, -0.21220659078919378103),  # -2 / (3 pi)
]


@pytest.mark.parametrize(("op", "x", "expected"), PUBLISHED)
def test_published_values(op: str, x: float, expected: float) -> None:
    for dtype in ("float16", "bfloat16", "float32") if x != 1e22 else ():
        assert of_one(op, dtype, x) == round_number(dtype, expected)
    assert of_one(op, "float64", x) == expected


@pytest.mark.parametrize(
    ("op", "dtype", "x", "expected"),
    [
        ("exp2", "float64", -1074.0, TINY),
        ("exp2", "float64", -1075.0, 0.0),  # halfway: to even
        ("exp2", "float64", -1074.9999999999998, TINY),
        ("exp2", "float64", 1024.0, inf),
        ("exp2", "float32", -150.0, 0.0),
        ("exp2", "float32", -149.0, 2.0**-149),
        ("exp2", "float16", 16.0, inf),
        ("exp2", "float16", -25.0, 0.0),
        ("expm1", "float64", -800.0, -1.0),
        ("log2", "float64", TINY, -1074.0),
        ("log2", "float64", 8.0, 3.0),
        ("log10", "float64", 1000.0, 3.0),
        ("log10", "float64", 1e22, 22.0),
        ("log10", "float64", 1e23, 23.0),  # the double is 10^23 - 8388608: not exact, but no nearer to 23 - 2^-48
        ("log10", "float16", 100.0, 2.0),
        ("rsqrt", "float64", TINY, 2.0**537),
        ("rsqrt", "float16", 2.0**-24, 4096.0),
        ("rsqrt", "float32", 0.25, 2.0),
        ("cbrt", "float64", TINY, 2.0**-358),
        ("cbrt", "float64", -0.125, -0.5),
        ("cbrt", "float16", 2.0**-24, 2.0**-8),
        ("reciprocal", "float64", TINY, inf),
        ("reciprocal", "float64", -(2.0**1023), -(2.0**-1023)),
        ("reciprocal", "float16", 65504.0, 2.0**-16),  # 2^-16 * 1.00048..., and subnormals are 2^-24 apart
        ("acos", "float64", 1 - 2.0**-53, 2.0**-26),
        ("tan", "float64", 1.5707963267948966, 16331239353195370.0),
        ("sinh", "float16", 12.0, inf),
        ("tanh", "float64", 19.061547465398498, 1.0),
        ("erfc", "float64", 28.0, 0.0),
        ("erfc", "float32", -9.0, 2.0),
        ("lgamma", "float64", 1e308, inf),
        ("lgamma", "float64", 3.0, 0.69314718055994530942),
        ("lgamma", "float64", 1 + 2.0**-52, -1.2816762426960008e-16),  # -gamma * 2^-52
        ("i0", "float32", 92.0, inf),
        ("special_i1", "float64", TINY, TINY),  # just above half of TINY
        ("special_i1", "float64", 3 * TINY, 2 * TINY),
        ("silu", "float64", TINY, TINY),  # just above half of TINY
        ("silu", "float64", -TINY, -0.0),  # just below it in size
        ("mish", "float64", TINY, TINY),  # 0.6 TINY
        ("sinc", "float64", 4503599627370495.5, -7.067899292141149e-17),  # (-1)^odd / (pi x)
        ("sinc", "float64", -3.0, 0.0),
        ("sinc", "float64", 1e300, 0.0),
        ("sinc", "float64", TINY, 1.0),
    ],
)
def test_exact_and_halfway_values_and_edges_of_the_range(op: str, dtype: str, x: float, expected: float) -> None:
    same_number(of_one(op, dtype, x), expected)


SPECIAL = {  # at -inf, -2, -1, -0, +0, 1, inf; None where PUBLISHED or mpmath judges
    "exp2": (0.0, 0.25, 0.5, 1.0, 1.0, 2.0, inf),
    "expm1": (-1.0, None, None, -0.0, 0.0, None, inf),
    "log": (nan, nan, nan, -inf, -inf, 0.0, inf),
    "log2": (nan, nan, nan, -inf, -inf, 0.0, inf),
    "log10": (nan, nan, nan, -inf, -inf, 0.0, inf),
    "log1p": (nan, nan, -inf, -0.0, 0.0, None, inf),
    "rsqrt": (nan, nan, nan, -inf, inf, 1.0, 0.0),
    "cbrt": (-inf, None, -1.0, -0.0, 0.0, 1.0, inf),
    "reciprocal": (-0.0, -0.5, -1.0, -inf, inf, 1.0, 0.0),
    "cos": (nan, None, None, 1.0, 1.0, None, nan),
    "tan": (nan, None, None, -0.0, 0.0, None, nan),
    "asin": (nan, nan, None, -0.0, 0.0, None, nan),
    "acos": (nan, nan, None, None, None, 0.0, nan),
    "atan": (None, None, None, -0.0, 0.0, None, None),
    "sinh": (-inf, None, None, -0.0, 0.0, None, inf),
    "cosh": (inf, None, None, 1.0, 1.0, None, inf),
    "tanh": (-1.0, None, None, -0.0, 0.0, None, 1.0),
    "asinh": (-inf, None, None, -0.0, 0.0, None, inf),
    "acosh": (nan, nan, nan, nan, nan, 0.0, inf),
    "atanh": (nan, nan, -inf, -0.0, 0.0, inf, nan),
    "erf": (-1.0, None, None, -0.0, 0.0, None, 1.0),
    "erfc": (2.0, None, None, 1.0, 1.0, None, 0.0),
    "erfinv": (nan, nan, -inf, -0.0, 0.0, inf, nan),
    "special_ndtr": (0.0, None, None, 0.5, 0.5, None, 1.0),
    "special_ndtri": (nan, nan, nan, -inf, -inf, inf, nan),
    "lgamma": (inf, inf, inf, inf, inf, 0.0, inf),
    "digamma": (nan, nan, nan, inf, -inf, None, inf),
    "i0": (inf, None, None, 1.0, 1.0, None, inf),
    "special_i1": (-inf, None, None, -0.0, 0.0, None, inf),
    "sigmoid": (0.0, None, None, 0.5, 0.5, None, 1.0),
    "silu": (UNSPECIFIED, None, None, -0.0, 0.0, None, inf),
    "mish": (UNSPECIFIED, None, None, -0.0, 0.0, None, inf),
    "sinc": (UNSPECIFIED, 0.0, 0.0, 1.0, 1.0, 0.0, UNSPECIFIED),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", SPECIAL)
def test_special_values(op: str, dtype: str) -> None:
    result = call(op, self=tensor(dtype, [-inf, -2.0, -1.0, -0.0, 0.0, 1.0, inf, nan]))
    expected = [got if want is None else want for got, want in zip(result.data, (*SPECIAL[op], nan), strict=True)]
    same(result, dtype, expected)


def test_further_special_values() -> None:
    same(call("atan", self=tensor("float64", [-inf, inf])), "float64", [-math.pi / 2, math.pi / 2])
    same(call("lgamma", self=tensor("float64", [2.0, -3.0, -(2.0**60)])), "float64", [0.0, inf, inf])
    same(call("special_ndtri", self=tensor("float64", [0.5])), "float64", [0.0])
    largest = [-1.7976931348623157e308, 1.7976931348623157e308]
    same(call("silu", self=tensor("float64", largest)), "float64", [-0.0, largest[1]])
    same(call("mish", self=tensor("float64", largest)), "float64", [-0.0, largest[1]])
    same(call("sigmoid", self=tensor("float64", largest)), "float64", [0.0, 1.0])
    same(call("erfc", self=tensor("float64", largest)), "float64", [2.0, 0.0])
    same(call("expm1", self=tensor("float64", [])), "float64", [])
    same(call("tanh", self=tensor("float16", 0.0)), "float16", 0.0)


# ---- a second opinion ------------------------------------------------------------------------------------------------

MPMATH = {
    "exp2": lambda x: mpmath.power(2, x),
    "expm1": mpmath.expm1,
    "log": lambda x: mpmath.log(abs(x)),
    "log2": lambda x: mpmath.log(abs(x)) / mpmath.log(2),
    "log10": lambda x: mpmath.log(abs(x)) / mpmath.log(10),
    "log1p": lambda x: mpmath.log(1 + abs(x)),
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "special_ndtr": mpmath.ncdf,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "digamma": mpmath.digamma,
    "i0": lambda x: mpmath.besseli(0, x),
    "special_i1": lambda x: mpmath.besseli(1, x),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "mish": lambda x: x * mpmath.tanh(mpmath.log(1 + mpmath.exp(x))),
    "sinc": lambda x: mpmath.sinpi(x) / (mpmath.pi * x),
}
INSIDE = {"asin", "acos", "atanh"}  # the operand is drawn from (-1, 1)
POSITIVE = {"log", "log2", "log10", "log1p"}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", MPMATH)
def test_agrees_with_mpmath(op: str, dtype: str) -> None:
    draw = random.Random(op)
    with mpmath.workprec(600):
        for _ in range(25):
            x = round_number(dtype, draw.uniform(-0.99, 0.99) * (1 if op in INSIDE else 2.0 ** draw.randint(-12, 4)))
            x = abs(x) if op in POSITIVE else 1 + abs(x) if op == "acosh" else x
            x = round_number(dtype, x)
            assert of_one(op, dtype, x) == rounded_mpf(dtype, MPMATH[op](mpmath.mpf(x))), x


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("inverse", "function"), [("erfinv", mpmath.erf), ("special_ndtri", mpmath.ncdf)])
def test_an_inverse_lies_between_the_midpoints_around_it(inverse: str, function: Callable, dtype: str) -> None:
    """y is the value nearest to the inverse of x if x lies between the function at both neighbouring midpoints."""
    draw = random.Random(inverse)
    with mpmath.workprec(600):
        for _ in range(25):
            x = round_number(dtype, draw.uniform(0.01, 0.99))
            y = of_one(inverse, dtype, x)
            half_ulp = mpmath.ldexp(1, math.frexp(y)[1] - FLOAT_FORMATS[dtype].precision - 1)
            assert function(y - half_ulp) < x < function(y + half_ulp), x


GROWING = ("exp2", "expm1", "log", "log2", "log10", "log1p", "asin", "atan", "sinh", "tanh", "asinh", "acosh", "atanh",
           "erf", "erfinv", "special_ndtr", "special_ndtri", "sigmoid", "special_i1", "i0", "cosh")  # fmt: skip


@pytest.mark.parametrize("op", GROWING)
def test_a_growing_function_grows(op: str) -> None:
    """On every 61st positive float16."""
    x = [struct.unpack("<e", struct.pack("<H", code))[0] for code in range(0, 0x7C00, 61)]
    values = [value for value in call(op, self=tensor("float16", x)).data if not math.isnan(value)]
    assert len(values) > 100
    assert values == sorted(values)


# ---- softplus --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "beta", "threshold", "expected"),
    [
        (1.0, 1, 20, 1.31326168751822283405),  # log (1 + e)
        (0.0, 2, 20, 0.34657359027997265471),  # log 2 / 2
        (-0.0, -2, 20, -0.34657359027997265471),
        (20.0, 1, 20, 20.000000002061153),  # at the threshold: not above it
        (20.000000000000004, 1, 20, 20.000000000000004),
        (-1.0, -20.5, 20, -1.0),
        (3.0, 1.0, 2.5, 3.0),
        (0.1, 3, 0.3, 0.1),  # 3 * 0.1 is 0.30000000000000001665 > 0.29999999999999998890
        (1e308, 1, inf, 1e308),
        (-1e308, 1, 20, 0.0),
        (-745.0, 1, 20, TINY),
        (1e308, -1e308, 20, -0.0),
        (inf, 1, 20, inf),
        (-inf, 1, 20, 0.0),
        (-inf, -1, 20, -inf),
        (inf, -1, 20, -0.0),
        (5.0, 0, 20, inf),
        (5.0, 0.0, -1, 5.0),
        (inf, 0, 20, nan),
        (nan, 1, 20, nan),
        (1.0, nan, 20, nan),
        (1.0, inf, inf, nan),
        (inf, 1, inf, inf),
    ],
)
def test_softplus(x: float, beta: float, threshold: float, expected: float) -> None:
    same(call("softplus", self=tensor("float64", [x]), beta=beta, threshold=threshold), "float64", [expected])


def test_softplus_defaults() -> None:
    same(call("softplus", self=tensor("float16", [0.0, 21.0])), "float16", [0.693359375, 21.0])


# ---- dtypes ----------------------------------------------------------------------------------------------------------


def test_integers_and_bools_become_float32_first() -> None:
    same(call("log2", self=tensor("int64", [2**24 + 1, 8])), "float32", [24.0, 3.0])
    same(call("reciprocal", self=tensor("uint8", [0, 4])), "float32", [inf, 0.25])
    same(call("sigmoid", self=tensor("bool", [False])), "float32", [0.5])
    result = call("atan2", self=tensor("int32", [0, 2]), other=tensor("int8", [3, 0]))
    same(result, "float32", [0.0, 1.5707963705062866])
    result = call("hypot", self=tensor("int64", [2049]), other=tensor("float16", [0.0]))
    same(result, "float16", [2048.0])  # 2049 becomes float16 first


@pytest.mark.parametrize("op", UNARY)
def test_dtypes_of_unary_functions_are_those_of_their_domains(op: str) -> None:
    function, dtypes = lookup(op), spec_of(op).dtypes
    assert function(self=RefTensor("float64", (0, 2), [])) == RefTensor("float64", (0, 2), [])
    for dtype, one in [("bool", True), ("int16", 1)]:
        if dtype in dtypes:
            assert function(self=tensor(dtype, [one])) == function(self=tensor("float32", [1.0]))
        else:
            with pytest.raises(ValueError, match="not defined"):
                function(self=tensor(dtype, [one]))
    if "complex64" in dtypes:
        result = function(self=RefTensor("complex64", (0, 2), []))
        assert result == RefTensor("float32" if op == "aten::angle" else "complex64", (0, 2), [])
    else:
        with pytest.raises((NotImplementedError, ValueError), match="complex64"):
            function(self=tensor("complex64", [1j]))


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("pow.Tensor_Tensor", {"self": tensor("bool", [True]), "exponent": tensor("bool", [True])}),
        ("pow.Tensor_Scalar", {"self": tensor("bool", [True]), "exponent": True}),
        ("hypot", {"self": tensor("int8", [1]), "other": tensor("bool", [True])}),
        ("hypot", {"self": tensor("complex64", [1j]), "other": tensor("float32", [1.0])}),
        ("logaddexp", {"self": tensor("int8", [1]), "other": tensor("int64", [1])}),
        ("atan2", {"self": tensor("complex64", [1j]), "other": tensor("float32", [1.0])}),
        ("xlogy.Scalar_Other", {"self": tensor("float32", [1.0]), "other": 1j}),
        ("softplus", {"self": tensor("int8", [1])}),
        ("softplus", {"self": tensor("complex64", [1j])}),
        ("softplus", {"self": tensor("float32", [1.0]), "beta": 1j}),
        ("hypot", {"self": tensor("float32", [1.0, 2.0]), "other": tensor("float32", [1.0, 2.0, 3.0])}),
    ],
)
def test_refused(op: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **arguments)


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        ("special_erfcx", 0.0, 1.0), ("special_erfcx", -inf, inf), ("special_erfcx", 1.0, 0.42758357615580700),
        ("special_i0e", -1.0, 0.46575960759364044), ("special_i1e", -0.0, -0.0), ("special_log_ndtr", -inf, -inf),
        ("special_log_ndtr", -3.0, -6.6077262215103495), ("special_entr", 0.0, 0.0), ("special_entr", -1.0, -inf),
        ("logit", 0.5, 0.0), ("logit", 1.5, nan), ("special_bessel_j0", 10.0, -0.24593576445134834),
        ("special_bessel_j1", 1.0, 0.44005058574493352), ("special_modified_bessel_k0", 1.0, 0.42102443824070833),
        ("special_modified_bessel_k1", 0.0, inf), ("special_modified_bessel_k1", -1.0, nan),
    ],
)  # fmt: skip
def test_special_functions(op: str, x: float, expected: float) -> None:
    (found,) = call(op, self=tensor("float64", [x])).data
    same_number(found, expected)
