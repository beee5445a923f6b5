"""Reductions, contractions, windows, normalization: hand-computed values, then the special ones."""

import math
from fractions import Fraction

import mpmath
import pytest

from conform.refs import UNSPECIFIED, RefTensor
from conform.refs.exact.rounding import round_ratio
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan


def test_sum() -> None:
    b = RefTensor("int64", (4, 5, 6), list(range(120)))
    same(call("sum.dim_IntList", self=b, dim=[2, 1], keepdim=False, dtype=None), "int64", [435, 1335, 2235, 3135])
    x = tensor("uint8", [[200, 100], [1, 2]])
    same(call("sum", self=x, dtype=None), "int64", 303)
    same(call("sum", self=x, dtype="uint8"), "uint8", 47)
    same(call("sum.dim_IntList", self=x, dim=[-1], keepdim=True, dtype=None), "int64", [[300], [3]])
    same(call("sum.dim_IntList", self=x, dim=[], keepdim=True, dtype="float32"), "float32", [[303.0]])
    same(call("sum.dim_IntList", self=x, dim=None, keepdim=False, dtype="bool"), "bool", True)
    same(call("sum", self=tensor("bool", [True, True]), dtype=None), "int64", 2)
    same(call("sum.dim_IntList", self=RefTensor("int8", (0, 2), []), dim=[0], keepdim=False), "int64", [0, 0])
    same(call("sum.dim_IntList", self=tensor("float16", 2.0), dim=[0], keepdim=True), "float16", 2.0)


def test_sum_rounds_once() -> None:
    same(call("sum", self=tensor("float32", [1e30, 1.0, -1e30])), "float32", 1.0)
    same(call("sum", self=tensor("float16", [2048.0, 1.0, 1.0])), "float16", 2050.0)
    same(call("sum", self=tensor("float16", [65504.0, 65504.0, -65504.0])), "float16", 65504.0)
    same(call("sum", self=tensor("float64", [5e-324, 1e308, -1e308])), "float64", 5e-324)
    same(call("sum", self=tensor("float64", [0.1] * 10), dtype="float16"), "float16", 1.0)
    same(call("sum", self=tensor("float32", [1.9, -1.9, 3.0]), dtype="int8"), "int8", 3)
    same(call("sum", self=tensor("float32", [nan, 3.0]), dtype="int8"), "int8", UNSPECIFIED)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([inf, 1.0], inf), ([inf, -inf], nan), ([nan, inf], nan), ([-0.0, -0.0], 0.0), ([1.0, -1.0], 0.0), ([], 0.0)],
)
def test_sum_special(values: list[float], expected: float) -> None:
    same(call("sum", self=tensor("bfloat16", values)), "bfloat16", expected)


def test_cumsum() -> None:
    same(call("cumsum", self=tensor("int8", [[100, 1], [100, 2]]), dim=0), "int64", [[100, 1], [200, 3]])
    same(call("cumsum", self=tensor("int8", [100, 100]), dim=-1, dtype="int8"), "int8", [100, -56])
    same(call("cumsum", self=tensor("bool", True), dim=0), "int64", 1)
    same(call("cumsum", self=tensor("float16", [2048.0, 1.0, 1.0]), dim=0), "float16", [2048.0, 2048.0, 2050.0])
    x = tensor("float32", [1.0, inf, 2.0, -inf, 1.0])
    same(call("cumsum", self=x, dim=0), "float32", [1.0, inf, inf, nan, nan])
    result = call("cumsum", self=tensor("float32", [1.0, nan, 2.0]), dim=0, dtype="int32")
    same(result, "int32", [1, UNSPECIFIED, UNSPECIFIED])


def test_amax_argmax() -> None:
    x = tensor("float32", [[1.0, nan, 3.0], [inf, 7.0, 7.0]])
    same(call("amax", self=x, dim=[1], keepdim=True), "float32", [[nan], [inf]])
    same(call("amax", self=x, dim=[0], keepdim=False), "float32", [inf, nan, 7.0])
    same(call("amax", self=x, dim=[], keepdim=False), "float32", nan)
    same(call("amax", self=tensor("bool", [False, True]), dim=[0], keepdim=False), "bool", True)
    same(call("amax", self=RefTensor("int8", (0, 2), []), dim=[1], keepdim=False), "int8", [])
    same(call("argmax", self=x, dim=1, keepdim=False), "int64", [1, 0])
    same(call("argmax", self=x, dim=0, keepdim=True), "int64", [[1, 0, 1]])
    same(call("argmax", self=x, dim=None, keepdim=True), "int64", [[1]])
    same(call("argmax", self=tensor("float32", [nan, inf, nan]), dim=0, keepdim=False), "int64", 0)
    same(call("argmax", self=tensor("int64", [5, 9, 9]), dim=None, keepdim=False), "int64", 1)
    same(call("argmax", self=tensor("float32", [-0.0, 0.0]), dim=None, keepdim=False), "int64", 0)


def test_mm() -> None:
    a, b = tensor("int64", [[1, 2, 3], [4, 5, 6]]), tensor("int64", [[1, 0], [0, 1], [2, 2]])
    same(call("mm", self=a, mat2=b), "int64", [[7, 8], [16, 17]])
    same(call("mm", self=tensor("int8", [[100]]), mat2=tensor("int8", [[3]])), "int8", [[44]])
    u = 2.0**-12
    row, column = tensor("float32", [[1 + u, -1.0]]), tensor("float32", [[1 - u], [1.0]])
    same(call("mm", self=row, mat2=column), "float32", [[-(2.0**-24)]])
    nothing = RefTensor("float16", (1, 0), []), RefTensor("float16", (0, 2), [])
    same(call("mm", self=nothing[0], mat2=nothing[1]), "float16", [[0.0, 0.0]])
    special = tensor("float32", [[inf, 0.0], [1.0, -inf], [nan, 0.0]])
    same(call("mm", self=special, mat2=tensor("float32", [[1.0], [inf]])), "float32", [[nan], [-inf], [nan]])
    large = tensor("float16", [[60000.0, 60000.0]])
    same(call("mm", self=large, mat2=tensor("float16", [[2.0], [-1.0]])), "float16", [[60000.0]])


def test_addmm() -> None:
    eye, x = tensor("float32", [[1.0, 0.0], [0.0, 1.0]]), tensor("float32", [[1.0, 2.0], [3.0, 4.0]])
    row = tensor("float32", [10.0, 20.0])
    same(call("addmm", self=row, mat1=eye, mat2=x, beta=0.5, alpha=2), "float32", [[7.0, 14.0], [11.0, 18.0]])
    lost = tensor("float32", nan)
    same(call("addmm", self=lost, mat1=eye, mat2=x, beta=0, alpha=1), "float32", [[1.0, 2.0], [3.0, 4.0]])
    same(call("addmm", self=tensor("float32", inf), mat1=eye, mat2=x, beta=-1, alpha=1), "float32", [[-inf] * 2] * 2)
    seven = tensor("uint8", [[7]])
    same(call("addmm", self=seven, mat1=seven, mat2=seven, beta=2, alpha=-1), "uint8", [[221]])  # 14 - 49


CONV_DEFAULTS = {
    "bias": None,
    "stride": [1],
    "padding": [0],
    "dilation": [1],
    "transposed": False,
    "output_padding": [0],
    "groups": 1,
}


def conv(input: RefTensor, weight: RefTensor, **options: object) -> RefTensor:
    return call("convolution", input=input, weight=weight, **{**CONV_DEFAULTS, **options})


X = tensor("float32", [[[1.0, 2.0, 3.0, 4.0]]])
W = tensor("float32", [[[10.0, 1.0]]])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [12.0, 23.0, 34.0]),
        ({"stride": [2]}, [12.0, 34.0]),
        ({"padding": [1]}, [1.0, 12.0, 23.0, 34.0, 40.0]),
        ({"dilation": [2]}, [13.0, 24.0]),
        ({"bias": tensor("float32", [0.5])}, [12.5, 23.5, 34.5]),
        ({"transposed": True}, [10.0, 21.0, 32.0, 43.0, 4.0]),
        ({"transposed": True, "stride": [2]}, [10.0, 1.0, 20.0, 2.0, 30.0, 3.0, 40.0, 4.0]),
        ({"transposed": True, "padding": [1]}, [21.0, 32.0, 43.0]),
        ({"transposed": True, "dilation": [2], "output_padding": [1]}, [10.0, 20.0, 31.0, 42.0, 3.0, 4.0, 0.0]),
    ],
)
def test_convolution_1d(options: dict, expected: list[float]) -> None:
    same(conv(X, W, **options), "float32", [[expected]])


def test_convolution_channels_groups_and_batch() -> None:
    x = tensor("int64", [[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
    mixed = tensor("int64", [[[1], [10]], [[100], [1000]]])
    same(conv(x, mixed), "int64", [[[31, 42], [3100, 4200]], [[75, 86], [7500, 8600]]])
    separate = tensor("int64", [[[1]], [[10]], [[100]], [[1000]]])
    grouped = [[[1, 2], [10, 20], [300, 400], [3000, 4000]], [[5, 6], [50, 60], [700, 800], [7000, 8000]]]
    same(conv(x, separate, groups=2), "int64", grouped)
    same(conv(x, mixed, transposed=True), "int64", [[[301, 402], [3010, 4020]], [[705, 806], [7050, 8060]]])
    per_group = tensor("int64", [[[1], [10]], [[100], [1000]]])  # (C_in, C_out / groups, 1)
    same(conv(x, per_group, transposed=True, groups=2), "int64", grouped)


def test_convolution_2d_and_3d() -> None:
    x = tensor("float16", [[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])
    w = tensor("float16", [[[[1.0, 10.0]]]])
    same(conv(x, w), "float16", [[[[21.0, 32.0], [54.0, 65.0]]]])
    strided = conv(x, w, stride=[2, 1], padding=[1, 0], dilation=[1, 2])
    same(strided, "float16", [[[[0.0], [64.0]]]])  # rows -1 and 1; 4 + 10 * 6
    cube = RefTensor("float16", (1, 1, 2, 2, 2), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    ones = RefTensor("float16", (1, 1, 2, 1, 2), [1.0] * 4)
    same(conv(cube, ones), "float16", [[[[[14.0], [22.0]]]]])


def test_convolution_special() -> None:
    same(conv(tensor("float32", [[[inf, 1.0]]]), tensor("float32", [[[0.0]]])), "float32", [[[nan, 0.0]]])
    for weight in ([inf, 1.0], [nan, 1.0]):  # the first window alone has padding under the first weight
        edge = conv(X, tensor("float32", [[weight]]), padding=[1])
        same(edge, "float32", [[[UNSPECIFIED, *weight[:1] * 4]]])
    plane, weight = tensor("float32", [[[[1.0, 2.0], [3.0, 4.0]]]]), tensor("float32", [[[[1.0, -inf]]]])
    same(conv(plane, weight, padding=[1, 0]), "float32", [[[[UNSPECIFIED], [-inf], [-inf], [UNSPECIFIED]]]])
    transposed = conv(X, tensor("float32", [[[inf, 1.0]]]), stride=[2], transposed=True)  # each output has one term
    same(transposed, "float32", [[[e for _ in range(4) for e in (inf, UNSPECIFIED)]]])  # and one tap without input
    tail = conv(X, tensor("float32", [[[1.0, inf]]]), stride=[2], transposed=True)
    same(tail, "float32", [[[e for _ in range(4) for e in (UNSPECIFIED, inf)]]])
    two = tensor("float32", [[[1.0], [2.0]]])  # padding of a group meets the weights of that group alone
    padded = conv(two, tensor("float32", [[[nan]], [[1.0]]]), padding=[1], groups=2)
    same(padded, "float32", [[[UNSPECIFIED, nan, UNSPECIFIED], [0.0, 2.0, 0.0]]])
    empty = conv(RefTensor("float32", (0, 1, 4), []), W)
    assert (empty.shape, empty.data) == ((0, 1, 3), [])


def softmax(dtype: str, values: list, half_to_float: bool = False, dim: int = -1) -> RefTensor:
    return call("_softmax", self=tensor(dtype, values), dim=dim, half_to_float=half_to_float)


def test_softmax() -> None:
    same(softmax("float32", [[1.0, 1.0], [-inf, 3.0]]), "float32", [[0.5, 0.5], [0.0, 1.0]])
    same(softmax("float64", [1e300] * 3), "float64", [1 / 3] * 3)
    same(softmax("float64", [0.0, -1e308, 0.0]), "float64", [0.5, 0.0, 0.5])
    same(softmax("float32", [[0.0, -inf], [1000.0, -inf]], dim=0), "float32", [[0.0, nan], [1.0, nan]])
    same(softmax("float16", [-inf, -inf]), "float16", [nan, nan])
    same(softmax("float16", [inf, 0.0]), "float16", [nan, nan])
    same(softmax("float16", [nan, 0.0]), "float16", [nan, nan])
    same(softmax("float16", [1.0, 1.0, 1.0], half_to_float=True), "float32", [0.3333333432674408] * 3)
    same(softmax("float64", 5.0), "float64", 1.0)
    same(softmax("float64", []), "float64", [])
    logistic = [0.2689414213699951, 0.7310585786300049]  # 1 / (1 + e), e / (1 + e)
    same(softmax("float64", [0.0, 1.0]), "float64", logistic)


def test_safe_softmax() -> None:
    lines = tensor("float32", [[1.0, 1.0], [-inf, 3.0], [-inf, -inf], [-inf, nan]])
    same(call("_safe_softmax", self=lines, dim=1), "float32", [[0.5, 0.5], [0.0, 1.0], [0.0, 0.0], [nan, nan]])
    same(call("_safe_softmax", self=lines, dim=0), "float32", [[1.0, nan], [0.0, nan], [0.0, nan], [0.0, nan]])
    same(call("_safe_softmax", self=tensor("int8", [3, 3]), dim=0, dtype="float16"), "float16", [0.5, 0.5])


def norm(dtype: str, rows: list, weight: list | None, bias: list | None, eps: float, size: int) -> tuple:
    return call(
        "native_layer_norm",
        input=tensor(dtype, rows),
        normalized_shape=[size],
        weight=None if weight is None else tensor(dtype, weight),
        bias=None if bias is None else tensor(dtype, bias),
        eps=eps,
    )


def test_layer_norm_rational() -> None:
    # mean 3, variance 5, eps 4: rstd 1/3
    out, mean, rstd = norm("float32", [[0.0, 2.0, 4.0, 6.0]], [1.0, 3.0, 1.0, 3.0], [0.0, 0.0, 0.5, 0.0], 4.0, 4)
    third = 0.3333333432674408
    same(out, "float32", [[-1.0, -1.0, 0.8333333134651184, 3.0]])
    same(mean, "float32", [[3.0]])
    same(rstd, "float32", [[third]])
    out, mean, rstd = norm("float16", [[[1.0, 1.0]], [[1.0, 3.0]]], None, None, 0.0, 2)
    same(out, "float16", [[[nan, nan]], [[-1.0, 1.0]]])
    same(mean, "float32", [[[1.0]], [[2.0]]])
    same(rstd, "float32", [[[inf]], [[1.0]]])


def test_layer_norm_special() -> None:
    out, mean, rstd = norm("float64", [[1.0, inf], [nan, 1.0], [nan, -inf], [5.0, 5.0]], None, [0.25, -1.0], 1.0, 2)
    same(out, "float64", [[nan, nan], [nan, nan], [nan, nan], [0.25, -1.0]])
    same(mean, "float64", [[UNSPECIFIED], [nan], [UNSPECIFIED], [5.0]])
    same(rstd, "float64", [[UNSPECIFIED], [nan], [UNSPECIFIED], [1.0]])
    out, _, _ = norm("float32", [[-1.0, 0.0, 1.0]], [inf, inf, 1.0], [0.0, 0.0, -inf], 0.5, 3)
    same(out, "float32", [[-inf, nan, -inf]])
    out, _, rstd = norm("float32", [[1.0, 1.0]], None, None, -1.0, 2)
    same(out, "float32", [[nan, nan]])
    same(rstd, "float32", [[nan]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_layer_norm_irrational_agrees_with_mpmath(dtype: str) -> None:
    row, weight, bias, eps = [1.0, 2.5, -3.0, 0.125, 7.0], [1.0, -2.0, 0.5, 3.0, 0.0], [0.0, 1.0, -1.0, 0.0, 2.0], 1e-5
    out, _, rstd = norm(dtype, [row], weight, bias, eps, 5)
    mean = sum(map(Fraction, row)) / 5
    variance = sum((Fraction(x) - mean) ** 2 for x in row) / 5 + Fraction(eps)
    with mpmath.workprec(300):
        scale = 1 / mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
        centred = [mpmath.mpf((Fraction(x) - mean).numerator) / (Fraction(x) - mean).denominator for x in row]
        values = [scale * c * w + b for c, w, b in zip(centred, weight, bias, strict=True)]
        expected = [_round_mpf(dtype, value) for value in values]
        assert rstd.data == [_round_mpf(rstd.dtype, scale)]
    assert out.data == expected


def _round_mpf(dtype: str, value: mpmath.mpf) -> float:
    m, e = int(mpmath.sign(value)) * int(value.man), int(value.exp)
    return round_ratio(dtype, m << max(e, 0), 1 << max(-e, 0))


ONE = tensor("int8", [[1]])


def pool(dtype: str, plane: list, kernel: list[int], **options: object) -> RefTensor:
    return call("avg_pool2d", self=tensor(dtype, [plane]), kernel_size=kernel, **options)


def test_avg_pool2d() -> None:
    x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
    same(pool("float32", x, [2]), "float32", [[[3.0]]])
    same(pool("float32", x, [2, 1], stride=[1, 2]), "float32", [[[2.5, 4.5], [5.5, 7.5]]])
    same(pool("float32", x, [2], ceil_mode=True), "float32", [[[3.0, 4.5], [7.5, 9.0]]])
    same(pool("float32", x, [2], padding=1), "float32", [[[0.25, 1.25], [2.75, 7.0]]])
    same(pool("float32", x, [2], padding=[1, 1], count_include_pad=False), "float32", [[[1.0, 2.5], [5.5, 7.0]]])
    same(pool("float32", x, [2], divisor_override=-3), "float32", [[[-4.0]]])
    same(pool("float16", [[1.0, 0.0, 0.0]], [1, 3]), "float16", [[[0.333251953125]]])
    same(pool("int64", [[-3, -4], [0, 0]], [2]), "int64", [[[-1]]])  # -7 / 4 toward zero
    same(pool("float32", [[inf, 1.0], [-inf, 1.0]], [2, 1]), "float32", [[[nan, 1.0]]])


def test_avg_pool2d_last_window_starts_inside() -> None:
    # size 4, kernel 2, stride 3, padding 1: ceil((4 + 2 - 2) / 3) + 1 = 3 windows, the third would start at 5: dropped
    row = [[1.0, 2.0, 4.0, 8.0]]
    same(pool("float32", row, [1, 2], stride=[1, 3], padding=[0, 1], ceil_mode=True), "float32", [[[0.5, 6.0]]])
    # size 6: the third window starts at 5, inside, and holds the last element and one padded zero
    row = [[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]]
    same(pool("float32", row, [1, 2], stride=[1, 3], padding=[0, 1], ceil_mode=True), "float32", [[[0.5, 6.0, 16.0]]])


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("sum.dim_IntList", {"self": X, "dim": [0, -3]}),
        ("sum.dim_IntList", {"self": X, "dim": [3]}),
        ("cumsum", {"self": X, "dim": 0, "dtype": "bool"}),
        ("amax", {"self": RefTensor("int8", (0, 2), []), "dim": [], "keepdim": False}),
        ("amax", {"self": RefTensor("int8", (0, 2), []), "dim": [0], "keepdim": False}),
        ("argmax", {"self": RefTensor("int8", (0, 2), []), "dim": None, "keepdim": False}),
        ("argmax", {"self": tensor("bool", [True]), "dim": None, "keepdim": False}),
        ("mm", {"self": tensor("int8", [[1]]), "mat2": tensor("int16", [[1]])}),
        ("mm", {"self": tensor("bool", [[True]]), "mat2": tensor("bool", [[True]])}),
        ("mm", {"self": tensor("int8", [[1, 2]]), "mat2": tensor("int8", [[1, 2]])}),
        ("addmm", {"self": ONE, "mat1": ONE, "mat2": ONE, "beta": 128, "alpha": 1}),
        ("addmm", {"self": ONE, "mat1": ONE, "mat2": ONE, "beta": 1, "alpha": -129}),
        ("convolution", {**CONV_DEFAULTS, "input": X, "weight": W, "padding": [-1]}),
        ("convolution", {**CONV_DEFAULTS, "input": X, "weight": W, "dilation": [4]}),
        ("convolution", {**CONV_DEFAULTS, "input": X, "weight": W, "groups": 2}),
        ("convolution", {**CONV_DEFAULTS, "input": X, "weight": W, "bias": tensor("float32", [1.0, 2.0])}),
        ("convolution", {**CONV_DEFAULTS, "input": X, "weight": W, "transposed": True, "output_padding": [1]}),
        ("_softmax", {"self": tensor("int8", [1]), "dim": 0, "half_to_float": False}),
        ("_softmax", {"self": tensor("float32", [1.0]), "dim": 0, "half_to_float": True}),
        ("avg_pool2d", {"self": X, "kernel_size": [2]}),
        ("avg_pool2d", {"self": X, "kernel_size": [1, 2], "padding": [0, 2]}),
        ("avg_pool2d", {"self": X, "kernel_size": [1, 2], "stride": [0]}),
        ("avg_pool2d", {"self": X, "kernel_size": [1, 2], "divisor_override": 0}),
        ("avg_pool2d", {"self": tensor("int8", [[[1]]]), "kernel_size": [1]}),
    ],
)
def test_refused(op: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **arguments)
