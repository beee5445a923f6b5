"""mean, var, std, prod, norms, logsumexp, log_softmax: hand-computed values, then the special ones."""

import math
import random
from fractions import Fraction

import mpmath
import pytest

from conform.refs import UNSPECIFIED, RefTensor
from conform.refs.exact.rounding import round_number
from tests.refs.helpers import call, rounded_mpf, same, tensor

inf, nan = math.inf, math.nan
FLOATS = ("float16", "bfloat16", "float32", "float64")
TINY = 2.0**-1074


def test_mean() -> None:
    x = tensor("float32", [[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]])
    same(call("mean", self=x), "float32", 4.0)
    same(call("mean.dim", self=x, dim=[-1]), "float32", [2.0, 6.0])
    same(call("mean.dim", self=x, dim=[0], keepdim=True), "float32", [[2.5, 3.5, 6.0]])
    same(call("mean.dim", self=x, dim=[], keepdim=True), "float32", [[4.0]])
    same(call("mean", self=tensor("int64", [1, 2]), dtype="float16"), "float16", 1.5)
    same(call("mean", self=tensor("float16", [65504.0] * 3)), "float16", 65504.0)
    same(call("mean", self=tensor("float64", [1e308, 1e308, -1.0, 1.0])), "float64", 5e307)
    same(call("mean", self=tensor("float32", [1.0, 0.0, 0.0])), "float32", 0.3333333432674408)
    for values, expected in [([], nan), ([inf, 1.0], inf), ([inf, -inf], nan), ([nan], nan), ([1.0, -1.0], 0.0)]:
        same(call("mean", self=tensor("float64", values)), "float64", expected)


@pytest.mark.parametrize(
    ("values", "correction", "variance", "deviation"),
    [
        ([1.0, 3.0], 1, 2.0, math.sqrt(2)),
        ([1.0, 3.0], 0, 1.0, 1.0),
        ([1.0, 3.0], None, 2.0, math.sqrt(2)),
        ([1.0, 3.0], -6, 0.25, 0.5),
        ([0.0, 3.0], 1.5, 9.0, 3.0),
        ([1e200, -1e200], 0, inf, 1e200),  # rounded once: the variance overflows, its root does not
        ([TINY, -TINY], 0, 0.0, TINY),
        ([1e16, 1e16 + 2, 1e16 + 4], 1, 4.0, 2.0),
        ([5.0, 5.0], 1, 0.0, 0.0),
        ([1.0, 3.0], 2, inf, inf),
        ([1.0, 3.0], inf, inf, inf),
        ([5.0, 5.0], 2, UNSPECIFIED, UNSPECIFIED),
        ([5.0], 1, nan, nan),
        ([], 0, nan, nan),
        ([1.0, 3.0], -inf, 0.0, 0.0),
        ([1.0, inf], 1, nan, nan),
        ([1.0, nan], 2, nan, nan),
    ],
)
def test_var_and_std(values: list[float], correction: float | None, variance: float, deviation: float) -> None:
    x = tensor("float64", values)
    same(call("var.correction", self=x, correction=correction), "float64", variance)
    same(call("std.correction", self=x, correction=correction), "float64", deviation)


def test_var_and_std_of_a_fractional_correction_divide_by_the_real_difference() -> None:
    """x = 0, 3, 3: the squares sum to 6, and 6 / (3 - 0.1) is taken with the double 0.1, 3 - 0.1 not rounded."""
    x = tensor("float64", [0.0, 3.0, 3.0])
    exactly = Fraction(6) / (3 - Fraction(0.1))
    same(call("var.correction", self=x, correction=0.1), "float64", exactly.numerator / exactly.denominator)


def test_var_and_std_over_dims() -> None:
    x = tensor("float32", [[1.0, 3.0], [5.0, 11.0]])
    same(call("var", self=x, unbiased=False), "float32", 14.0)
    same(call("var.dim", self=x, dim=[1], unbiased=True), "float32", [2.0, 18.0])
    same(call("std.dim", self=x, dim=[-2], unbiased=False, keepdim=True), "float32", [[2.0, 4.0]])
    same(call("std", self=x, unbiased=True), "float32", 4.320493698120117)
    same(call("var.correction", self=tensor("float32", 2.0), dim=[0], correction=0), "float32", 0.0)


def test_prod() -> None:
    same(call("prod", self=tensor("int8", [100, 2])), "int64", 200)
    same(call("prod", self=tensor("int8", [100, 2]), dtype="int8"), "int8", -56)
    same(call("prod.dim_int", self=tensor("bool", [[True, False], [True, True]]), dim=1), "int64", [0, 1])
    same(call("prod.dim_int", self=tensor("int8", [[2, 0]]), dim=0, dtype="bool"), "bool", [True, False])
    same(call("prod.dim_int", self=tensor("float16", [[2.0, 3.0]]), dim=-1, keepdim=True), "float16", [[6.0]])
    same(call("prod", self=tensor("float32", [1.9, 2.0]), dtype="int32"), "int32", 2)
    same(call("prod", self=tensor("float32", [nan, 2.0]), dtype="int32"), "int32", UNSPECIFIED)


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        ("float32", [], 1.0),
        ("float32", [1 + 2.0**-12, 1 - 2.0**-12], 1 - 2.0**-24),
        ("float32", [-3.0, 0.0, 2.0], -0.0),
        ("float32", [-3.0, -0.0], 0.0),
        ("float32", [inf, -2.0], -inf),
        ("float32", [inf, 0.0], nan),
        ("float32", [nan, 1e30, 1e30], nan),
        ("float32", [2.0**100, 2.0**100, 2.0**-100], UNSPECIFIED),
        ("float32", [2.0**-100, 2.0**-100, 2.0**100], UNSPECIFIED),
        ("float32", [2.0**-100, 2.0**-26], 2.0**-126),
        ("float16", [256.0, 256.0], inf),  # float32, in which it is computed, holds it
        ("float64", [2.0**100, 2.0**100, 2.0**-100], 2.0**100),
    ],
)
def test_product_of_floats(dtype: str, values: list[float], expected: float) -> None:
    same(call("prod", self=tensor(dtype, values)), dtype, expected)


@pytest.mark.parametrize(
    ("order", "values", "expected"),
    [
        (2, [3.0, -4.0], 5.0),
        (1, [3.0, -4.0], 7.0),
        (3, [3.0, 4.0, 5.0], 6.0),
        (inf, [3.0, -4.0], 4.0),
        (-inf, [3.0, -4.0], 3.0),
        (0, [0.0, -0.0, nan, 2.0], 2.0),
        (0.5, [1.0, 4.0], 9.0),
        (0.5, [2.0, 8.0], 18.0),
        (0.25, [1.0, 16.0], 81.0),
        (1.5, [1.0, 4.0, 0.0], 4.326748710922225),  # 9^(2/3)
        (2.5, [1.0] * 32, 4.0),
        (-1, [3.0, 6.0], 2.0),
        (-1, [TINY, TINY], 0.0),  # half of TINY: to even
        (-1, [3 * TINY, 3 * TINY], 2 * TINY),  # 1.5 TINY: to even
        (-2, [3.0, 4.0], 2.4),
        (7, [1.5], 1.5),
        (0.3, [-2.0], 2.0),
        (1e300, [1.0, 2.0, 2.0], 2.0),
        (1e-300, [1.0, 1.0], inf),
        (-1e-300, [1.0, 1.0], 0.0),
        (2, [2.0**600, 2.0**600], math.sqrt(2) * 2.0**600),
        (2, [TINY], TINY),
        (2, [], 0.0),
        (2, [0.0, -0.0], 0.0),
        (2, [inf, 1.0], inf),
        (1, [inf, nan], nan),
        (inf, [inf, nan], nan),
        (-inf, [inf, nan], nan),
        (-1, [0.0, 1.0], 0.0),
        (-1, [inf, 2.0], 2.0),
        (-1, [inf, -inf], inf),
        (-1, [nan, 0.0], nan),
    ],
)
def test_norm(order: float, values: list[float], expected: float) -> None:
    same(call("linalg_vector_norm", self=tensor("float64", values), ord=order), "float64", expected)
    same(call("norm.Scalar", self=tensor("float64", values), p=order), "float64", expected)


def test_norm_over_dims_and_dtypes() -> None:
    x = tensor("float16", [[3.0, 4.0], [60000.0, 60000.0]])
    same(call("linalg_vector_norm", self=x, dim=[1], keepdim=True), "float16", [[5.0], [inf]])
    same(call("linalg_vector_norm", self=x, dim=-1, dtype="float32"), "float32", [5.0, 84852.8125])
    same(call("norm.ScalarOpt_dim", self=x, p=None, dim=[0], keepdim=False), "float16", [60000.0, 60000.0])
    same(call("norm.ScalarOpt_dim", self=x, p=1, dim=[], keepdim=True), "float16", [[inf]])
    same(call("linalg_vector_norm", self=RefTensor("float32", (2, 0), []), ord=1, dim=[1]), "float32", [0.0, 0.0])
    empty = RefTensor("float32", (2, 0), [])
    for arguments in (
        {"self": empty, "ord": inf, "dim": [1]},
        {"self": empty, "ord": -1},
        {"self": x, "dtype": "bfloat16"},
        {"self": tensor("float64", [1.0]), "dtype": "float32"},
        {"self": x, "dtype": "complex64"},
        {"self": x, "ord": 1j},
        {"self": tensor("int8", [1])},
    ):
        with pytest.raises(ValueError, match="norm"):
            call("linalg_vector_norm", **arguments)
    assert call("linalg_vector_norm", self=empty, ord=inf, dim=[0]).shape == (0,)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", [3, 0.5, -1.7, 2.5, 11])
def test_norm_agrees_with_mpmath(order: float, dtype: str) -> None:
    draw = random.Random(order)
    with mpmath.workprec(400):
        for size in (1, 2, 7):
            values = [round_number(dtype, draw.uniform(0.5, 2) * 2.0 ** draw.randint(-4, 4)) for _ in range(size)]
            expected = sum(mpmath.mpf(x) ** order for x in values) ** (1 / mpmath.mpf(order))
            result = call("linalg_vector_norm", self=tensor(dtype, values), ord=order)
            same(result, dtype, rounded_mpf(dtype, expected))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 0.0], math.log(2)),
        ([1.0, 1.0, 1.0, 1.0], 2.386294361119891),
        ([3.5], 3.5),
        ([-0.0], 0.0),
        ([1000.0, 1000.0], 1000.6931471805599),
        ([5.0, -1e308], 5.0),
        ([0.0, -40.0], 4.248354255291589e-18),
        ([-inf, 2.0], 2.0),
        ([-inf, -inf], -inf),
        ([], -inf),
        ([inf, -inf], inf),
        ([inf, nan], nan),
        ([-0.6931471805599453, -0.6931471805599453], 2.3190468138462996e-17),  # the double is not quite -log 2
    ],
)
def test_logsumexp(values: list[float], expected: float) -> None:
    same(call("logsumexp", self=tensor("float64", values), dim=[0]), "float64", expected)


def test_logsumexp_over_dims_and_dtypes() -> None:
    x = tensor("int64", [[0, 0], [0, 0]])
    same(call("logsumexp", self=x, dim=[1]), "float32", [0.6931471824645996] * 2)
    same(call("logsumexp", self=x, dim=[0, -1], keepdim=True), "float32", [[1.3862943649291992]])
    same(call("logsumexp", self=tensor("float16", 2.0), dim=[]), "float16", 2.0)
    with pytest.raises(ValueError, match="needs a dim"):
        call("logsumexp", self=x, dim=[])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 0.0], [-math.log(2)] * 2),
        ([0.0, 1.0], [-1.31326168751822283405, -0.31326168751822283405]),
        ([0.0, -800.0], [-0.0, -800.0]),
        ([40.0, 0.0], [-4.248354255291589e-18, -40.0]),
        ([1e308, -1e308], [-0.0, -inf]),
        ([5.0, -inf], [0.0, -inf]),
        ([1.0, inf], [nan, nan]),
        ([-inf, -inf], [nan, nan]),
        ([nan, -inf], [nan, nan]),
        ([], []),
    ],
)
def test_log_softmax(values: list[float], expected: list[float]) -> None:
    same(call("_log_softmax", self=tensor("float64", values), dim=0, half_to_float=False), "float64", expected)


def test_log_softmax_dtypes() -> None:
    x = tensor("float16", [[0.0, 1.0], [0.0, 3.0]])
    half = -0.693359375
    same(
        call("_log_softmax", self=tensor("float16", [[0.0, 0.0]]), dim=-1, half_to_float=False), "float16", [[half] * 2]
    )
    result = call("_log_softmax", self=x, dim=0, half_to_float=True)
    same(result, "float32", [[-0.6931471824645996, -2.1269280910491943], [-0.6931471824645996, -0.12692801654338837]])
    for dtype in ("int8", "complex64"):
        with pytest.raises(ValueError, match="_log_softmax of"):
            call("_log_softmax", self=tensor(dtype, [1]), dim=0, half_to_float=False)


@pytest.mark.parametrize("op", ["mean", "var", "std", "var.correction", "std.correction", "norm.Scalar"])
@pytest.mark.parametrize("dtype", ["bool", "int64"])
def test_integers_are_refused(op: str, dtype: str) -> None:
    with pytest.raises(ValueError, match="not defined for"):
        call(op, self=tensor(dtype, [1]))
