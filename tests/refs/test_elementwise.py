"""Elementwise references: the documentation's examples, then the special values."""

import math

import pytest

from conform.refs import UNSPECIFIED, RefTensor
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def test_add() -> None:
    a, b = tensor("float32", [[1.0, 2.0]]), tensor("float32", [[10.0], [20.0]])
    same(call("add.Tensor", self=a, other=b, alpha=10), "float32", [[101.0, 102.0], [201.0, 202.0]])
    same(call("add.Scalar", self=tensor("uint8", [250, 3]), other=10, alpha=1), "uint8", [4, 13])
    same(call("add.Scalar", self=tensor("int8", [1]), other=0.5, alpha=1), "float32", [1.5])
    same(call("add.Tensor", self=tensor("float32", []), other=tensor("float32", 1.0), alpha=1), "float32", [])
    u = 2.0**-30  # (1 + u)(1 - u) rounds to 1: two roundings would give 0
    once = call("add.Scalar", self=tensor("float64", [-1.0]), other=1 - u, alpha=1 + u)
    same(once, "float64", [-(2.0**-60)])
    half = call("add.Tensor", self=tensor("float16", [2048.0]), other=tensor("int64", [2049]), alpha=1)
    same(half, "float16", [4096.0])  # 2049 is first rounded to 2048


def test_add_of_bools_is_or() -> None:
    a, b = tensor("bool", [True, True, False, False]), tensor("bool", [True, False, True, False])
    same(call("add.Tensor", self=a, other=b, alpha=1), "bool", [True, True, True, False])
    same(call("add.Tensor", self=a, other=b, alpha=False), "bool", [True, True, False, False])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("x", "y", "alpha", "expected"),
    [
        (-0.0, -0.0, 1, -0.0),
        (-0.0, 0.0, 1, 0.0),
        (1.0, 1.0, -1, 0.0),
        (-1.0, 1.0, 1, 0.0),
        (-0.0, 0.0, -1, -0.0),
        (-0.0, 5.0, -0.0, -0.0),
        (inf, -inf, 1, nan),
        (inf, inf, -1, nan),
        (1.0, inf, 0, nan),
        (inf, -60000.0, 1e308, inf),  # the finite product overflows no infinity
        (nan, 1.0, 1, nan),
        (1.0, -inf, 2.0, -inf),
    ],
)
def test_add_special(dtype: str, x: float, y: float, alpha: float, expected: float) -> None:
    y = RefTensor(dtype, (1,), [y])
    same(call("add.Tensor", self=tensor(dtype, [x]), other=y, alpha=alpha), dtype, [expected])


def test_add_overflows_only_after_the_exact_sum() -> None:
    a, b = tensor("float16", [-65504.0]), tensor("float16", [65504.0])
    same(call("add.Tensor", self=a, other=b, alpha=2), "float16", [65504.0])


def test_complex_add_and_mul() -> None:
    a, b = tensor("complex64", [1 + 2j, complex(inf, 1)]), tensor("complex64", [3 - 1j, 1 + 0j])
    same(call("add.Tensor", self=a, other=b, alpha=1), "complex64", [4 + 1j, UNSPECIFIED])
    same(call("add.Tensor", self=b, other=a, alpha=2.0), "complex64", [5 + 3j, UNSPECIFIED])
    same(call("add.Tensor", self=a, other=b, alpha=2j), "complex64", [3 + 8j, UNSPECIFIED])
    same(call("mul.Tensor", self=a, other=b), "complex64", [5 + 5j, UNSPECIFIED])
    big = tensor("complex64", [1e20 + 1e20j])
    same(call("mul.Tensor", self=big, other=big), "complex64", [UNSPECIFIED])  # the real part is inf - inf
    large = tensor("complex64", [2.0**127 + 0j])
    same(call("add.Tensor", self=large, other=large, alpha=-1), "complex64", [0j])
    same(call("add.Tensor", self=large, other=large, alpha=-2), "complex64", [UNSPECIFIED])  # -2 * 2^127 overflows
    same(call("mul.Scalar", self=tensor("float32", [2.0]), other=1 + 2j), "complex64", [2 + 4j])
    # (1 + u)(1 - u) - 1 * 1 = -u^2 in one rounding, 0 with two
    u = 2.0**-23
    x, y = tensor("complex64", [complex(1 + u, 1)]), tensor("complex64", [complex(1 - u, 1)])
    same(call("mul.Tensor", self=x, other=y), "complex64", [complex(-(2.0**-46), 2.0)])


@pytest.mark.parametrize("dtype", FLOATS)
def test_mul(dtype: str) -> None:
    x = tensor(dtype, [0.0, -0.0, inf, 3.0, -1.0, nan])
    y = tensor(dtype, [-2.0, -2.0, 0.0, -inf, 0.0, 1.0])
    same(call("mul.Tensor", self=x, other=y), dtype, [-0.0, 0.0, nan, -inf, -0.0, nan])


def test_python_integers_out_of_range_wrap() -> None:
    x = tensor("uint8", [1, 255])
    same(call("add.Scalar", self=x, other=300, alpha=1), "uint8", [45, 43])  # 300 is 44
    same(call("add.Scalar", self=x, other=1, alpha=-255), "uint8", [2, 0])  # an unsigned alpha down to -max
    same(call("mul.Scalar", self=x, other=-1), "uint8", [255, 1])
    same(call("eq.Scalar", self=x, other=257), "bool", [True, False])
    same(call("remainder.Scalar", self=tensor("int8", [5]), other=256), "int8", [UNSPECIFIED])  # 256 is 0


def test_mul_of_integers_wraps_and_of_bools_is_and() -> None:
    same(call("mul.Scalar", self=tensor("int8", [100, -128]), other=-1), "int8", [-100, -128])
    same(call("mul.Tensor", self=tensor("int64", [2**62]), other=tensor("int64", 2)), "int64", [-(2**63)])
    both = tensor("bool", [True, True])
    same(call("mul.Tensor", self=both, other=tensor("bool", [True, False])), "bool", [True, False])
    same(call("mul.Tensor", self=tensor("float64", [2.0**-1074]), other=0.5), "float64", [0.0])
    same(call("mul.Tensor", self=tensor("float64", [-(2.0**-1074)]), other=0.5), "float64", [-0.0])


DOC_A = [
    [-0.3711, -1.9353, -0.4605, -0.2917],
    [0.1815, -1.0111, 0.9805, -1.5923],
    [0.1062, 1.4581, 0.7759, -1.2344],
    [-0.1830, -0.0313, 1.1908, -1.4757],
]
DOC_B = [0.8032, 0.2930, -0.8113, -0.2308]


def test_div_examples() -> None:
    a, b = tensor("float64", DOC_A), tensor("float64", DOC_B)
    trunc = [[-0.0, -6.0, 0.0, 1.0], [0.0, -3.0, -1.0, 6.0], [0.0, 4.0, -0.0, 5.0], [-0.0, -0.0, -1.0, 6.0]]
    floor = [[-1.0, -7.0, 0.0, 1.0], [0.0, -4.0, -2.0, 6.0], [0.0, 4.0, -1.0, 5.0], [-1.0, -1.0, -2.0, 6.0]]
    same(call("div.Tensor_mode", self=a, other=b, rounding_mode="trunc"), "float64", trunc)
    same(call("div.Tensor_mode", self=a, other=b, rounding_mode="floor"), "float64", floor)
    same(call("div.Tensor", self=tensor("float64", [0.38, 1.0]), other=tensor("float64", 0.5)), "float64", [0.76, 2.0])
    same(call("div.Scalar", self=tensor("int32", [1, 16777217]), other=3), "float32", [0.3333333432674408, 5592405.5])
    same(call("div.Tensor", self=tensor("bool", [True]), other=tensor("bool", [False])), "float32", [inf])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("x", "y", "true", "trunc", "floor"),
    [
        (0.0, 0.0, nan, nan, nan),
        (inf, -inf, nan, nan, nan),
        (nan, 1.0, nan, nan, nan),
        (1.0, -0.0, -inf, -inf, -inf),
        (-3.0, inf, -0.0, -0.0, -0.0),
        (-inf, 2.0, -inf, -inf, -inf),
        (-0.0, 2.0, -0.0, -0.0, -0.0),
        (-1.0, 4.0, -0.25, -0.0, -1.0),
        (1.0, 4.0, 0.25, 0.0, 0.0),
        (-9.0, 4.0, -2.25, -2.0, -3.0),
    ],
)
def test_div_special(dtype: str, x: float, y: float, true: float, trunc: float, floor: float) -> None:
    for mode, expected in ((None, true), ("trunc", trunc), ("floor", floor)):
        result = call("div.Tensor_mode", self=tensor(dtype, [x]), other=tensor(dtype, [y]), rounding_mode=mode)
        same(result, dtype, [expected])


def test_div_floors_the_real_quotient_and_not_the_rounded_one() -> None:
    arguments = {"self": tensor("float64", [1.0, -5e-324]), "other": tensor("float64", [0.1, 1e300])}
    same(call("div.Tensor_mode", rounding_mode="floor", **arguments), "float64", [9.0, -1.0])  # 0.1 is above 1/10
    same(call("div.Tensor_mode", rounding_mode=None, **arguments), "float64", [10.0, -0.0])
    huge, tiny = tensor("float64", [-1e300]), tensor("float64", [1e-300])
    for mode in ("trunc", "floor"):
        same(call("div.Tensor_mode", self=huge, other=tiny, rounding_mode=mode), "float64", [-inf])


def test_div_of_integers() -> None:
    x, y = tensor("int8", [7, -7, 7, 5, -128]), tensor("int8", [2, 2, -2, 0, -1])
    trunc, floor = [3, -3, -3, UNSPECIFIED, UNSPECIFIED], [3, -4, -4, UNSPECIFIED, UNSPECIFIED]
    same(call("div.Tensor_mode", self=x, other=y, rounding_mode="trunc"), "int8", trunc)
    same(call("div.Tensor_mode", self=x, other=y, rounding_mode="floor"), "int8", floor)
    same(call("div.Scalar_mode", self=tensor("uint8", [255]), other=2, rounding_mode="floor"), "uint8", [127])


def test_remainder_examples() -> None:
    x = tensor("float32", [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
    same(call("remainder.Scalar", self=x, other=2), "float32", [1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    x = tensor("int64", [1, 2, 3, 4, 5])
    same(call("remainder.Scalar", self=x, other=-1.5), "float32", [-0.5, -1.0, -0.0, -0.5, -1.0])
    same(call("remainder.Scalar_Tensor", self=7, other=tensor("int8", [3, -3, 0])), "int8", [1, -2, UNSPECIFIED])
    same(call("remainder.Scalar", self=tensor("int8", [-128]), other=-1), "int8", [0])


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainder_special(dtype: str) -> None:
    x = tensor(dtype, [-1.0, 1.0, -0.0, 1.0, inf, 1.0, nan, 1.0, -(2.0**-14)])
    y = tensor(dtype, [inf, inf, -inf, -inf, 1.0, 0.0, 1.0, nan, 1.0])
    expected = [inf, 1.0, -0.0, -inf, nan, nan, nan, nan, 1.0 if dtype in ("float16", "bfloat16") else 1 - 2.0**-14]
    same(call("remainder.Tensor", self=x, other=y), dtype, expected)


def test_maximum() -> None:
    result = call("maximum", self=tensor("int64", [1, 2, -1]), other=tensor("int64", [3, 0, 4]))
    same(result, "int64", [3, 2, 4])
    x, y = tensor("float16", [nan, 1.0, -inf, 2.0]), tensor("float16", [1.0, nan, -1.0, inf])
    same(call("maximum", self=x, other=y), "float16", [nan, nan, -1.0, inf])
    same(call("maximum", self=tensor("bool", [False, True]), other=tensor("bool", False)), "bool", [False, True])
    same(call("maximum", self=tensor("int8", [3, 0]), other=1.5), "float32", [3.0, 1.5])


def test_eq() -> None:
    result = call("eq.Tensor", self=tensor("int64", [[1, 2], [3, 4]]), other=tensor("int64", [[1, 1], [4, 4]]))
    same(result, "bool", [[True, False], [False, True]])
    x = tensor("float32", [nan, -0.0, inf, 16777216.0])
    same(call("eq.Tensor", self=x, other=x), "bool", [False, True, True, True])
    same(call("eq.Scalar", self=x, other=0), "bool", [False, True, False, False])
    same(call("eq.Tensor", self=x, other=tensor("int64", [16777217])), "bool", [False, False, False, True])
    same(call("eq.Scalar", self=tensor("complex64", [1 + 0j, 1j]), other=1), "bool", [True, False])


def test_where() -> None:
    condition = tensor("bool", [[True], [False]])
    result = call("where.self", condition=condition, self=tensor("int64", [1, 2]), other=tensor("float16", [0.5]))
    same(result, "float16", [[1.0, 2.0], [0.5, 0.5]])
    same(call("where.Scalar", condition=condition, self=1, other=0.1), "float32", [[1.0], [0.10000000149011612]])
    same(call("where.ScalarSelf", condition=condition, self=7, other=tensor("int8", [-1])), "int8", [[7], [-1]])
    result = call("where.ScalarOther", condition=condition, self=tensor("float64", -0.0), other=nan)
    same(result, "float64", [[-0.0], [nan]])
    same(call("where.Scalar", condition=False, self=1, other=2), "int64", 2)


def test_bitwise_and() -> None:
    result = call("bitwise_and.Tensor", self=tensor("int8", [-1, -2, 3]), other=tensor("int8", [1, 0, 3]))
    same(result, "int8", [1, 0, 3])
    x, y = tensor("bool", [True, True, False]), tensor("bool", [False, True, False])
    same(call("bitwise_and.Tensor", self=x, other=y), "bool", [False, True, False])
    same(call("bitwise_and.Scalar_Tensor", self=6, other=tensor("uint8", [255, 3])), "uint8", [6, 2])
    same(call("bitwise_and.Scalar", self=tensor("bool", [True]), other=3), "int64", [1])


def test_neg_abs_round() -> None:
    same(call("neg", self=tensor("int8", [-128, 1])), "int8", [-128, -1])
    same(call("neg", self=tensor("uint8", [1, 0])), "uint8", [255, 0])
    same(call("neg", self=tensor("float16", [0.0, nan, -inf])), "float16", [-0.0, nan, inf])
    same(call("abs", self=tensor("int64", [-1, -2, 3, -(2**63)])), "int64", [1, 2, 3, -(2**63)])
    same(call("abs", self=tensor("float32", [-0.0, -inf, nan])), "float32", [0.0, inf, nan])
    same(call("round", self=tensor("float64", [4.7, -2.3, 9.1, -7.7])), "float64", [5.0, -2.0, 9.0, -8.0])
    x = tensor("float16", [-0.5, 0.5, 1.5, 2.5, -0.0, inf, nan])
    same(call("round", self=x), "float16", [-0.0, 0.0, 2.0, 2.0, -0.0, inf, nan])
    same(call("round", self=tensor("uint8", [200])), "uint8", [200])


@pytest.mark.parametrize(
    ("dtype", "x", "decimals", "expected"),
    [
        ("float64", 0.1234567, 3, 0.123),
        ("float32", 1200135.0, -3, 1200000.0),
        ("float64", 0.125, 2, 0.12),
        ("float64", 0.375, 2, 0.38),
        ("float64", -0.125, 2, -0.12),
        ("float64", 2.675, 2, 2.67),  # the double lies below 2.675
        ("float64", 1e308, 2, 1e308),
        ("float64", -0.001, 2, -0.0),
        ("float16", 65504.0, -1, 65504.0),
        ("float16", 15.0, -1, 20.0),
        ("float16", 25.0, -1, 20.0),
        ("float16", 65504.0, -5, inf),  # 100000
        ("float16", nan, 1, nan),
    ],
)
def test_round_decimals(dtype: str, x: float, decimals: int, expected: float) -> None:
    same(call("round.decimals", self=tensor(dtype, [x]), decimals=decimals), dtype, [expected])


def test_real_functions_take_integers_as_float32() -> None:
    same(call("exp", self=tensor("float32", [0.0, math.log(2.0)])), "float32", [1.0, 2.0])
    same(call("exp", self=tensor("bool", [False, True])), "float32", [1.0, 2.7182817459106445])
    same(call("sqrt", self=tensor("int64", [0, 16777217, -4])), "float32", [0.0, 4096.0, nan])
    same(call("sqrt", self=tensor("float64", [2.0, -0.0, inf, 5e-324])), "float64", [2**0.5, -0.0, inf, 2.0**-537])
    same(call("sqrt", self=tensor("float16", [-1.0, -inf, nan])), "float16", [nan, nan, nan])
    same(call("sin", self=tensor("uint8", [0])), "float32", [0.0])
    same(call("gelu", self=tensor("float64", [1.0]), approximate="none"), "float64", [0.8413447460685429])
    same(call("gelu", self=tensor("float16", [1.0, 0.0]), approximate="tanh"), "float16", [0.84130859375, 0.0])


def test_to_copy() -> None:
    x = tensor("float64", [1 + 2.0**-11 + 2.0**-40, 70000.0, -0.0])
    half = call("_to_copy", self=x, dtype="float16", device="cpu", memory_format=None)
    same(half, "float16", [1 + 2.0**-10, inf, -0.0])
    same(call("_to_copy", self=x, dtype="int32"), "int32", [1, 70000, 0])
    same(call("_to_copy", self=x, dtype="uint8"), "uint8", [1, UNSPECIFIED, 0])
    same(call("_to_copy", self=x, dtype=None), "float64", x.data)


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("neg", {"self": tensor("bool", [True])}),
        ("abs", {"self": tensor("bool", [True])}),
        ("round", {"self": tensor("bool", [True])}),
        ("round.decimals", {"self": tensor("int8", [1]), "decimals": 1}),
        ("remainder.Tensor", {"self": tensor("bool", [True]), "other": tensor("bool", [True])}),
        ("maximum", {"self": tensor("complex64", [1j]), "other": tensor("float32", [1.0])}),
        ("bitwise_and.Scalar", {"self": tensor("int8", [1]), "other": 1.5}),
        ("gelu", {"self": tensor("int8", [1]), "approximate": "none"}),
        ("gelu", {"self": tensor("float32", [1.0]), "approximate": "erf"}),
        ("add.Scalar", {"self": tensor("int8", [1]), "other": 1, "alpha": 1.5}),
        ("add.Scalar", {"self": tensor("int8", [1]), "other": 1, "alpha": True}),
        ("add.Scalar", {"self": tensor("float32", [1.0]), "other": 1, "alpha": 1j}),
        ("add.Scalar", {"self": tensor("int8", [1]), "other": 1, "alpha": 128}),
        ("add.Scalar", {"self": tensor("int8", [1]), "other": 1, "alpha": -129}),
        ("add.Scalar", {"self": tensor("uint8", [1]), "other": 1, "alpha": -256}),
        ("add.Tensor", {"self": tensor("int8", [1, 2]), "other": tensor("int8", [1, 2, 3]), "alpha": 1}),
        ("div.Scalar_mode", {"self": tensor("bool", [True]), "other": True, "rounding_mode": "floor"}),
        ("div.Scalar_mode", {"self": tensor("float32", [1.0]), "other": 1, "rounding_mode": "up"}),
        ("where.self", {"condition": tensor("int8", [1]), "self": tensor("int8", [1]), "other": tensor("int8", [1])}),
    ],
)
def test_refused(op: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **arguments)
