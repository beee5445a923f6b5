"""Derived bounds of reductions, normalizations and functions: honest implementations stay inside, the usual wrong ones
fall outside.

The implementations are the documented formulas, step by step in numpy's float32 or float64; half types are computed in
float32 and rounded once at the end. Sums are sequential (the worst order), unless the defect is another.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from conform.numerics.rounding_errors import root_sum_of_squares
from tests.interp.honest import (
    DTYPES,
    in_compute,
    is_inside,
    judged,
    log_softmax,
    mean_of,
    naive_variance_of,
    normal,
    tensor,
    total,
    variance_of,
)

EPS = 1e-5

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # implementations overflow, and may


# --- Softmax's logarithm, logsumexp -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (1000.0, 1.0), (0.0, 300.0)])
def test_shifted_log_softmax_and_logsumexp_stay_inside(dtype: str, mean: float, std: float) -> None:
    x = normal(dtype, 20, 33, mean=mean, std=std)
    y = in_compute(x)
    assert is_inside("aten::_log_softmax", [x, 1, False], log_softmax(y))
    largest = y.max(-1)
    assert is_inside("aten::logsumexp", [x, [1]], largest + np.log(total(np.exp(y - largest[:, None]))))


@pytest.mark.parametrize("dtype", DTYPES)
def test_log_softmax_without_the_shift_falls_outside(dtype: str) -> None:
    x = normal(dtype, 20, 5, mean=80.0 if dtype != "float64" else 600.0)
    y = in_compute(x)
    cancelled = y - np.log(total(np.exp(y)))[..., None]  # loses the digits of x
    if dtype != "bfloat16":  # whose result has fewer digits than are lost
        assert not is_inside("aten::_log_softmax", [x, 1, False], cancelled)
    overflowing = normal(dtype, 20, 33, mean=1000.0)
    z = in_compute(overflowing)
    assert not is_inside("aten::_log_softmax", [overflowing, 1, False], z - np.log(total(np.exp(z)))[..., None])
    assert not is_inside("aten::logsumexp", [overflowing, [1]], np.log(total(np.exp(z))))


def test_logarithms_of_sums_in_the_half_type_fall_outside() -> None:
    x = normal("bfloat16", 20, 33)
    assert not is_inside("aten::_log_softmax", [x, 1, False], log_softmax(x))
    assert not is_inside("aten::logsumexp", [x, [1]], x.max(-1) + np.log(total(np.exp(x - x.max(-1)[:, None]))))


# --- Mean, variance, standard deviation -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_sequential_statistics_stay_inside(dtype: str, offset: float) -> None:
    x = normal(dtype, 20, 40, mean=offset)
    y = in_compute(x)
    assert is_inside("aten::mean.dim", [x, [1]], mean_of(y))
    for correction in (0, 1, 2.5):
        variance = variance_of(y, 40 - correction)
        assert is_inside("aten::var.correction", [x, [1]], variance, correction=correction)
        assert is_inside("aten::std.correction", [x, [1]], np.sqrt(variance), correction=correction)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_welford_s_updates_stay_inside(dtype: str) -> None:
    x = normal(dtype, 20, 200, mean=1000.0)
    mean, squares = np.zeros(20, x.dtype), np.zeros(20, x.dtype)
    for i in range(200):
        delta = x[:, i] - mean
        mean = mean + delta / x.dtype.type(i + 1)
        squares = squares + delta * (x[:, i] - mean)
    assert is_inside("aten::var.dim", [x, [1]], squares / x.dtype.type(199))


@pytest.mark.parametrize("dtype", DTYPES)
def test_wrong_statistics_fall_outside(dtype: str) -> None:
    x = normal(dtype, 20, 40, mean=300.0)
    y = in_compute(x)
    assert not is_inside("aten::mean.dim", [x, [1]], total(y) / 39)
    if dtype != "bfloat16":  # where 300 +- 1 is three numbers
        assert not is_inside("aten::var.dim", [x, [1], False], naive_variance_of(y))
    assert not is_inside("aten::var.dim", [x, [1]], variance_of(y, 40))
    assert not is_inside("aten::std.dim", [x, [1], False], np.sqrt(variance_of(y, 39)))


def test_statistics_in_the_half_type_fall_outside() -> None:
    x = normal("bfloat16", 20, 40, mean=3.0)
    assert not is_inside("aten::mean.dim", [x, [1]], mean_of(x))
    assert not is_inside("aten::var.dim", [x, [1], False], variance_of(x, 40))


# --- Norms and products -----------------------------------------------------------------------------------------------


def norm(x: np.ndarray, order: float) -> np.ndarray:
    p = x.dtype.type(order)
    return total(np.abs(x) ** p) ** (1 / p)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", [1, 2, 3, -1, 0.5, 2.7])
def test_norms_stay_inside_and_other_orders_fall_outside(dtype: str, order: float) -> None:
    x = normal(dtype, 20, 33)
    y = in_compute(x)
    assert is_inside("aten::linalg_vector_norm", [x, order, [1]], norm(y, order))
    assert not is_inside("aten::linalg_vector_norm", [x, order, [1]], norm(y, order * 1.01))
    assert not is_inside("aten::linalg_vector_norm", [x, order, [1]], total(np.abs(y) ** y.dtype.type(order)) * 1.01)


def test_norms_and_products_in_the_half_type_fall_outside() -> None:
    x = normal("bfloat16", 20, 33)
    assert not is_inside("aten::linalg_vector_norm", [x, 2, [1]], norm(x, 2))
    assert not is_inside("aten::prod.dim_int", [x, 1], np.multiply.accumulate(x, axis=-1)[:, -1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_in_any_order_stay_inside(dtype: str) -> None:
    x = normal(dtype, 20, 33)
    y = in_compute(x)
    assert is_inside("aten::prod.dim_int", [x, 1], np.multiply.accumulate(y, axis=-1)[:, -1])
    assert is_inside("aten::prod.dim_int", [x, 1], np.multiply.accumulate(y[:, ::-1], axis=-1)[:, -1])
    assert not is_inside("aten::prod.dim_int", [x, 1], np.multiply.accumulate(y[:, 1:], axis=-1)[:, -1])


# --- Normalizations ---------------------------------------------------------------------------------------------------


def standardized(y: np.ndarray, variance: np.ndarray, eps: float = EPS) -> np.ndarray:
    rstd = 1 / np.sqrt(variance + y.dtype.type(eps))
    return (y - mean_of(y)[..., None]) * rstd[..., None]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_group_and_batch_norm_stay_inside(dtype: str, offset: float) -> None:
    x, weight, bias = normal(dtype, 8, 6, 10, mean=offset), normal(dtype, 6, seed=1), normal(dtype, 6, seed=2)
    y, w, b = (in_compute(one) for one in (x, weight, bias))
    rows = y.reshape(8 * 3, 20)
    scale, shift = (np.repeat(one, 10).reshape(3, 20)[None] for one in (w, b))
    expected = standardized(rows, variance_of(rows, 20)).reshape(8, 3, 20) * scale + shift
    group = [x, weight, bias, 8, 6, 10, 3, EPS]
    assert is_inside("aten::native_group_norm", group, expected.reshape(x.shape))
    channels = np.moveaxis(y, 1, 0).reshape(6, 80)
    mean, variance = mean_of(channels), variance_of(channels, 80)
    factor = w / np.sqrt(variance + y.dtype.type(EPS))  # folded into one product
    folded = channels * factor[:, None] + (b - mean * factor)[:, None]
    batch = [x, weight, bias, True, 0.1, EPS]
    name = "aten::_native_batch_norm_legit.no_stats"
    assert is_inside(name, batch, np.moveaxis(folded.reshape(6, 8, 10), 0, 1))
    running = [x, weight, bias, tensor(dtype, mean), tensor(dtype, variance), 0.1, EPS]
    m, v = (in_compute(tensor(dtype, one)) for one in (mean, variance))
    plain = (channels - m[:, None]) / np.sqrt(v + y.dtype.type(EPS))[:, None] * w[:, None] + b[:, None]
    name = "aten::_native_batch_norm_legit_no_training"
    assert is_inside(name, running, np.moveaxis(plain.reshape(6, 8, 10), 0, 1))


@pytest.mark.parametrize(
    ("x", "mean", "variance", "bias"),
    [(3e38, 0.0, 0.5, -1e38), (3.4e38, np.inf, 0.5, 0.0)],  # the exact results are 3.2e38 and -infinity
)
def test_a_folded_product_may_overflow_before_the_shift_is_added(
    x: float, mean: float, variance: float, bias: float
) -> None:
    x_, mean_, variance_, bias_ = (np.float32([one]) for one in (x, mean, variance, bias))
    factor = 1 / np.sqrt(variance_)
    folded = x_ * factor + (bias_ - mean_ * factor)
    assert not np.isfinite(folded).any()
    name, running = "aten::_native_batch_norm_legit_no_training", [x_[None], None, bias_, mean_, variance_, 0.1, 0.0]
    elements = judged(name, running, folded[None])
    assert elements.ok.all()
    assert not elements.compared.any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_wrong_normalizations_fall_outside(dtype: str) -> None:
    x = normal(dtype, 8, 6, 10, mean=0.0 if dtype == "bfloat16" else 300.0)
    rows, group = in_compute(x).reshape(24, 20), [x, None, None, 8, 6, 10, 3, EPS]
    wrong = {
        "unbiased": standardized(rows, variance_of(rows, 19)),
        "mean over the wrong count": (rows - (total(rows) / 21)[:, None]) / np.sqrt(variance_of(rows, 20))[:, None],
        "eps outside the root": (rows - mean_of(rows)[:, None]) / (np.sqrt(variance_of(rows, 20)) + 0.1)[:, None],
    }
    if dtype != "bfloat16":
        wrong["E[x^2] - E[x]^2"] = standardized(rows, naive_variance_of(rows))
    for name, actual in wrong.items():
        arguments = [*group[:-1], 0.1] if "eps" in name else group
        assert not is_inside("aten::native_group_norm", arguments, actual.reshape(x.shape)), name


@pytest.mark.parametrize("dtype", DTYPES)
def test_wrong_batch_norms_fall_outside(dtype: str) -> None:
    x = normal(dtype, 8, 6, 10, mean=3.0)
    channels = np.moveaxis(in_compute(x), 1, 0).reshape(6, 80)
    mean, variance = mean_of(channels), variance_of(channels, 80)

    def images(rows: np.ndarray) -> np.ndarray:
        return np.moveaxis(rows.reshape(6, 8, 10), 0, 1)

    wrong = {
        "unbiased": standardized(channels, variance_of(channels, 79)),
        "mean over the wrong count": (channels - (total(channels) / 81)[:, None]) / np.sqrt(variance)[:, None],
        "of each sample alone": standardized(channels.reshape(6, 8, 10), variance_of(channels.reshape(6, 8, 10), 10)),
    }
    for name, actual in wrong.items():
        batch = [x, None, None, True, 0.1, EPS]
        assert not is_inside("aten::_native_batch_norm_legit.no_stats", batch, images(actual)), name
    running = [x, None, None, tensor(dtype, 0 * mean), tensor(dtype, 0 * mean + 1), 0.1, EPS]
    of_the_batch = standardized(channels, variance)
    assert not is_inside("aten::_native_batch_norm_legit_no_training", running, images(of_the_batch))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("std", [1.0, 1e-3])
def test_rms_norm(dtype: str, std: float) -> None:
    x, weight = normal(dtype, 20, 33, std=std), normal(dtype, 33, seed=1)
    y, w = in_compute(x), in_compute(weight)
    rstd = 1 / np.sqrt(mean_of(y * y) + y.dtype.type(EPS))
    assert is_inside("aten::rms_norm", [x, [33], weight, EPS], y * rstd[:, None] * w)
    assert is_inside("aten::_fused_rms_norm", [x, [33], weight, EPS], rstd[:, None], output=1)
    without_eps = y / np.sqrt(mean_of(y * y))[:, None] * w
    outside = y / (np.sqrt(mean_of(y * y)) + y.dtype.type(EPS))[:, None] * w
    centred = standardized(y, variance_of(y, 33)) * w
    if std < 1:
        assert not is_inside("aten::rms_norm", [x, [33], weight, EPS], without_eps)
        assert not is_inside("aten::rms_norm", [x, [33], weight, EPS], outside)
    assert not is_inside("aten::rms_norm", [x, [33], weight, EPS], centred)


def test_normalizations_in_the_half_type_fall_outside() -> None:
    x = normal("bfloat16", 8, 6, 10, mean=3.0)
    groups = standardized(x.reshape(24, 20), variance_of(x.reshape(24, 20), 20)).reshape(x.shape)
    assert not is_inside("aten::native_group_norm", [x, None, None, 8, 6, 10, 3, EPS], groups)
    channels = np.moveaxis(x, 1, 0).reshape(6, 80)
    batch = np.moveaxis(standardized(channels, variance_of(channels, 80)).reshape(6, 8, 10), 0, 1)
    assert not is_inside("aten::_native_batch_norm_legit.no_stats", [x, None, None, True, 0.1, EPS], batch)
    rms = x / np.sqrt(mean_of(x * x) + x.dtype.type(EPS))[..., None]
    assert not is_inside("aten::rms_norm", [x, [10], None, EPS], rms)


# --- Functions of several steps ---------------------------------------------------------------------------------------


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    t = x.dtype.type
    return t(0.5) * x * (t(1) + np.tanh(t(math.sqrt(2 / math.pi)) * (x + t(0.044715) * x * x * x)))


FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "aten::sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "aten::silu": lambda x: x / (1 + np.exp(-x)),
    "aten::mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "aten::softplus": lambda x: np.log1p(np.exp(x)),
    "aten::gelu": gelu_tanh,
}


@pytest.mark.parametrize("dtype", ["float16", *DTYPES])
@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions_in_the_compute_type_stay_inside_and_with_every_step_in_the_half_type_fall_outside(
    op: str, dtype: str
) -> None:
    x = tensor(dtype, np.concatenate([np.linspace(-9, 9, 400), [-80.0, -20.0, -1e-6, 0.0, 1e-6, 19.0]]))
    keywords = {"approximate": "tanh"} if op == "aten::gelu" else {}
    assert is_inside(op, [x], FUNCTIONS[op](in_compute(x)), **keywords)
    if dtype not in ("float32", "float64"):
        assert not is_inside(op, [x], FUNCTIONS[op](x), **keywords)


# --- The root of the sum of squares -----------------------------------------------------------------------------------

X32, T32 = normal("float32", 20, 129), normal("float32", 20, 129, seed=1)
E32 = np.exp(X32 - X32.max(-1, keepdims=True))
RANDOM = {
    "aten::_softmax": ([X32, 1, False], E32 / total(E32)[:, None]),
    "aten::_log_softmax": ([X32, 1, False], log_softmax(X32)),
    "aten::mean.dim": ([X32, [1]], mean_of(X32)),
    "aten::var.dim": ([X32, [1], False], variance_of(X32, 129)),
    "aten::linalg_vector_norm": ([X32, 2, [1]], np.sqrt(total(X32 * X32))),
    "aten::native_layer_norm": ([X32, [129], None, None, EPS], standardized(X32, variance_of(X32, 129))),
    "aten::mse_loss": ([X32, T32, 1], mean_of(((X32 - T32) ** 2).reshape(-1))),
    "aten::prod.dim_int": ([X32[:, :40], 1], np.multiply.accumulate(X32[:, :40], axis=-1)[:, -1]),
}


@pytest.mark.parametrize("op", RANDOM)
def test_random_errors_are_below_the_root_of_the_sum_of_squares_and_that_below_the_bound(op: str) -> None:
    args, actual = RANDOM[op]
    bound = judged(op, args, actual)
    with root_sum_of_squares():
        figure = judged(op, args, actual)
    assert (figure.bound_ulp < bound.bound_ulp).all()
    assert bound.ok.all()
    assert np.sqrt(np.mean(bound.error_ulp**2)) < np.sqrt(np.mean(figure.bound_ulp**2))
