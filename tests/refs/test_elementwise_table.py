"""Elementwise references by a table: an op, its arguments, the result."""

import math

import pytest

from conform.refs import UNSPECIFIED, RefTensor
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan


def f32(*numbers: float) -> RefTensor:
    return tensor("float32", [*numbers])


def f64(*numbers: float) -> RefTensor:
    return tensor("float64", [*numbers])


def i8(*numbers: int) -> RefTensor:
    return tensor("int8", [*numbers])


def u8(*numbers: int) -> RefTensor:
    return tensor("uint8", [*numbers])


def bools(*truths: bool) -> RefTensor:
    return tensor("bool", [*truths])


def c64(*numbers: complex) -> RefTensor:
    return tensor("complex64", [*numbers])


T, F, U = True, False, UNSPECIFIED
ROWS = [
    ("sub.Tensor", {"self": f32(1, -0.0, 0.0), "other": f32(3, 0.0, 0.0), "alpha": 2}, f32(-5.0, -0.0, 0.0)),
    ("sub.Scalar", {"self": u8(1, 7), "other": 3, "alpha": 1}, u8(254, 4)),
    ("square", {"self": bools(T, F)}, tensor("int64", [1, 0])),
    ("square", {"self": i8(-3, 16)}, i8(9, 0)),
    ("square", {"self": c64(1 + 2j)}, c64(-3 + 4j)),
    ("floor_divide", {"self": f32(-7.0), "other": f32(2.0)}, f32(-4.0)),
    ("fmod.Tensor", {"self": f32(-3.0, 5.0, -4.0, 1.0, inf, 2.0), "other": f32(2, -3, 2, inf, 2, 0)},
     f32(-1.0, 2.0, -0.0, 1.0, nan, nan)),
    ("fmod.Scalar", {"self": i8(-3, -128, 7), "other": 2}, i8(-1, 0, 1)),
    ("fmod.Tensor", {"self": i8(1, -128), "other": i8(0, -1)}, i8(U, 0)),
    ("bitwise_or.Tensor", {"self": i8(-2, 5), "other": i8(1, 2)}, i8(-1, 7)),
    ("bitwise_xor.Scalar", {"self": bools(T, F), "other": True}, bools(F, T)),
    ("bitwise_not", {"self": u8(0, 255)}, u8(255, 0)),
    ("bitwise_not", {"self": bools(T)}, bools(F)),
    ("bitwise_left_shift.Tensor", {"self": i8(3, 3, 3, 3), "other": i8(6, 7, 8, -1)}, i8(-64, -128, U, U)),
    ("bitwise_right_shift.Tensor_Scalar", {"self": i8(-5, 5), "other": 1}, i8(-3, 2)),
    ("logical_and", {"self": f32(nan, 0.0, 2.0), "other": i8(1, 1, 0)}, bools(T, F, F)),
    ("logical_xor", {"self": c64(1j), "other": bools(T)}, bools(F)),
    ("logical_not", {"self": f32(-0.0, nan)}, bools(T, F)),
    ("ceil", {"self": f32(-0.5, 1.5, nan, -inf)}, f32(-0.0, 2.0, nan, -inf)),
    ("floor", {"self": f32(-0.5, 0.5)}, f32(-1.0, 0.0)),
    ("trunc", {"self": f64(-1.5, 2.0**60, -0.9)}, f64(-1.0, 2.0**60, -0.0)),
    ("sign", {"self": f32(-3.0, -0.0, nan)}, f32(-1.0, 0.0, U)),
    ("sign", {"self": bools(T, F)}, bools(T, F)),
    ("lt.Tensor", {"self": f32(1, nan, -0.0), "other": f32(2, 2, 0.0)}, bools(T, F, F)),
    ("ge.Scalar", {"self": i8(1, 2), "other": 1.5}, bools(F, T)),
    ("ne.Tensor", {"self": c64(1j, nan), "other": c64(1j, nan)}, bools(F, T)),
    ("isinf", {"self": c64(complex(0, -inf), 1)}, bools(T, F)),
    ("isnan", {"self": i8(1)}, bools(F)),
    ("isfinite", {"self": f32(nan, inf, 3.0)}, bools(F, F, T)),
    ("signbit", {"self": f32(-0.0, 0.0, -inf, nan)}, bools(T, F, T, U)),
    ("clamp", {"self": f32(-5, nan, 5, 0.5), "min": -1, "max": 1.0}, f32(-1.0, nan, 1.0, 0.5)),
    ("clamp", {"self": i8(1, 2), "min": 5, "max": 3}, i8(3, 3)),
    ("clamp", {"self": i8(1), "min": 1.5}, f32(1.5)),
    ("clamp.Tensor", {"self": f32(1, 2), "min": None, "max": f32(nan, 1)}, f32(nan, 1.0)),
    ("clamp_min", {"self": u8(0, 9), "min": 4}, u8(4, 9)),
    ("clamp_max.Tensor", {"self": f32(3), "max": f64(2)}, f64(2.0)),
    ("relu", {"self": f32(-1, nan, 2)}, f32(0.0, nan, 2)),
    ("relu6", {"self": i8(-1, 3, 9)}, i8(0, 3, 6)),
    ("hardtanh", {"self": f32(-3, 0.25, inf, nan)}, f32(-1.0, 0.25, 1.0, nan)),
    ("leaky_relu", {"self": f32(-2, 3, -inf), "negative_slope": 0.25}, f32(-0.5, 3, -inf)),
    ("leaky_relu", {"self": f32(-inf, -1), "negative_slope": 0}, f32(nan, -0.0)),
    ("elu", {"self": f32(2, -inf, -1), "alpha": 3, "scale": 2}, f32(4.0, -6.0, -3.7927234172821045)),
    ("elu", {"self": f32(-inf, -0.0), "input_scale": 0}, f32(nan, -0.0)),
    ("selu", {"self": f64(1, -1)}, f64(1.0507009873554805, -1.1113307378125628)),
    ("celu", {"self": f64(1, -1), "alpha": 2.0}, f64(1, -0.7869386805747332)),
    ("prelu", {"self": f32(-2, 3), "weight": f32(0.5)}, f32(-1.0, 3)),
    ("prelu", {"self": tensor("float32", [[-1, -1]]), "weight": f32(2, 3)}, tensor("float32", [[-2.0, -3.0]])),
    ("threshold", {"self": f32(1, 2, nan), "threshold": 1, "value": 9}, f32(9.0, 2, nan)),
    ("softshrink", {"self": f32(2, -2, 0.5, nan)}, f32(1.5, -1.5, 0.0, nan)),
    ("hardshrink", {"self": f32(2, -2, 0.5, nan)}, f32(2, -2, 0.0, nan)),
    ("hardswish", {"self": f32(-4, 1, 5, -inf)}, f32(0.0, 0.6666666865348816, 5, U)),
    ("hardsigmoid", {"self": f32(-4, 1.5, inf)}, f32(0.0, 0.75, 1.0)),
    ("log_sigmoid", {"self": f64(0, -1e300, 800, inf)}, f64(-0.6931471805599453, -1e300, -0.0, 0.0)),
    ("fill.Scalar", {"self": i8(1, 2), "value": 2.9}, i8(2, 2)),
    ("fill.Tensor", {"self": f32(1, 2), "value": tensor("int8", 7)}, f32(7.0, 7.0)),
    ("copy", {"self": i8(0, 0), "src": f32(1.5)}, i8(1, 1)),
    ("masked_fill.Scalar", {"self": f32(1), "mask": bools(T, F), "value": 5}, f32(5.0, 1)),
    ("copysign.Tensor", {"self": f32(1, 0, nan, 2), "other": f32(-0.0, -1, 1, nan)}, f32(-1.0, -0.0, nan, U)),
    ("copysign.Scalar", {"self": i8(3), "other": -1}, f32(-3.0)),
    ("heaviside", {"self": f32(-1, 0, 2, nan), "values": f32(7)}, f32(0.0, 7, 1.0, U)),
    ("nextafter", {"self": f32(0, 1, 1, -1, 3, inf), "other": f32(-1, 0, 2, 0, nan, 0)},
     f32(-1.401298464324817e-45, 0.9999999403953552, 1.0000001192092896, -0.9999999403953552, nan,
         3.4028234663852886e38)),
    ("lerp.Scalar", {"self": f32(1, inf), "end": f32(3, 0), "weight": 0.25}, f32(1.5, U)),
    ("lerp.Tensor", {"self": c64(0, inf), "end": c64(2j, 0), "weight": c64(0.5j, 1)}, c64(-1 + 0j, U)),
    ("addcmul", {"self": f32(1, -0.0, 1), "tensor1": f32(2, -1, 0), "tensor2": f32(3, 0, inf), "value": 0.5},
     f32(4.0, -0.0, nan)),
    ("addcmul", {"self": i8(1), "tensor1": i8(100), "tensor2": i8(2), "value": 1}, i8(-55)),
    ("addcdiv", {"self": f32(1, 1, 1), "tensor1": f32(1, 1, 0), "tensor2": f32(4, -0.0, 0), "value": 2},
     f32(1.5, -inf, nan)),
    ("addcdiv", {"self": c64(1, 1), "tensor1": c64(1, 1), "tensor2": c64(2j, 0)}, c64(1 - 0.5j, U)),
    ("nan_to_num", {"self": tensor("float16", [nan, inf, -inf, 3])}, tensor("float16", [0.0, 65504.0, -65504.0, 3])),
    ("nan_to_num", {"self": f32(nan, inf), "nan": 2.5, "posinf": 1e300}, f32(2.5, inf)),
    ("deg2rad", {"self": i8(90)}, f32(1.5707963705062866)),
    ("rad2deg", {"self": f64(1, -0.0, inf)}, f64(57.29577951308232, -0.0, inf)),
    ("gcd", {"self": i8(-12, 0, -128), "other": i8(18, 0, 0)}, i8(6, 0, U)),
    ("lcm", {"self": i8(-4, 0, 100), "other": i8(6, 5, 99)}, i8(12, 0, U)),
    ("ldexp.Tensor", {"self": tensor("float16", [3.0]), "other": i8(-2)}, tensor("float16", [0.75])),
    ("ldexp.Tensor", {"self": f64(1, 0), "other": f64(0.5, inf)}, f64(1.4142135623730951, nan)),
    ("positive", {"self": i8(-3)}, i8(-3)),
    ("conj_physical", {"self": c64(1 + 2j)}, c64(1 - 2j)),
    ("real", {"self": c64(1 + 2j)}, f32(1.0)),
    ("imag", {"self": c64(1 + 2j)}, f32(2.0)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "arguments", "expected"), ROWS, ids=[f"{n}-{row[0]}" for n, row in enumerate(ROWS)])
def test_value(op: str, arguments: dict, expected: RefTensor) -> None:
    actual = call(op, **arguments)
    floats = expected.dtype.startswith(("float", "bfloat"))
    data = [float(x) if floats and x is not UNSPECIFIED else x for x in expected.data]
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    assert list(map(repr, (float(x) if floats and x is not UNSPECIFIED else x for x in actual.data))) == list(
        map(repr, data)
    )


def test_frexp() -> None:
    mantissa, exponent = call("frexp.Tensor", self=f32(3.0, -0.0, inf, 2.0**-149))
    same(mantissa, "float32", [0.75, -0.0, inf, 0.5])
    same(exponent, "int32", [2, 0, UNSPECIFIED, -148])


REFUSED = [
    ("sub.Tensor", {"self": bools(T), "other": f32(1)}, "bools"),
    ("sub.Scalar", {"self": f32(1), "other": True}, "bools"),
    ("bitwise_left_shift.Tensor", {"self": bools(T), "other": bools(T)}, "not defined"),
    ("ceil", {"self": c64(1)}, "not defined"),
    ("lt.Tensor", {"self": c64(1), "other": f32(1)}, "not defined"),
    ("clamp", {"self": f32(1)}, "needs min or max"),
    ("clamp", {"self": i8(1), "min": 1000}, "range"),
    ("relu", {"self": bools(T)}, "not defined"),
    ("hardtanh", {"self": u8(1)}, "range"),
    ("leaky_relu", {"self": i8(1)}, "not defined"),
    ("celu", {"self": f32(1), "alpha": 0}, "other than 0"),
    ("prelu", {"self": f32(1), "weight": f32(1, 2)}, "1 or 1 weights"),
    ("softshrink", {"self": f32(1), "lambd": -1}, "lambd >= 0"),
    ("fill.Tensor", {"self": f32(1), "value": f32(1)}, "0-d"),
    ("masked_fill.Scalar", {"self": f32(1), "mask": u8(1), "value": 1}, "mask of bool"),
    ("masked_fill.Scalar", {"self": f32(1), "mask": bools(T), "value": 1j}, "complex"),
    ("heaviside", {"self": f32(1), "values": f64(1)}, "one dtype"),
    ("lerp.Scalar", {"self": f32(1), "end": f64(1), "weight": 1}, "one dtype"),
    ("addcdiv", {"self": f32(1), "tensor1": i8(1), "tensor2": i8(1)}, "no integers"),
    ("imag", {"self": f32(1)}, "not defined"),
    ("positive", {"self": bools(T)}, "not defined"),
]


@pytest.mark.parametrize(("op", "arguments", "reason"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refusal(op: str, arguments: dict, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        call(op, **arguments)
