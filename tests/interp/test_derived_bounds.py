"""Derived bounds of reductions, normalizations, losses and attention: honest implementations stay inside, the usual
wrong ones fall outside.

The implementations are the documented formulas, step by step in numpy's float32 or float64; half types are computed in
float32 and rounded once at the end. Sums are sequential (the worst order), unless the defect is another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from conform.contracts.judge import Elements, judge
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate
from conform.interp.numerics.formats import FORMATS

DTYPES = ["float32", "float64", "bfloat16"]
OPENCL = contract_table("opencl")
EPS = 1e-5

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # implementations overflow, and may


def judged(op: str, args: list, actual: np.ndarray, output: int = 0, **keywords: object) -> Elements:
    """The judgement of `actual`, rounded to the golden's format, under the contract `opencl`."""
    golden = evaluate(op, args, keywords).goldens[output]
    assert actual.shape == golden.value.shape
    return judge(golden, actual.astype(golden.value.dtype), OPENCL.row(op, golden.format.name))


def is_inside(op: str, args: list, actual: np.ndarray, output: int = 0, **keywords: object) -> bool:
    elements = judged(op, args, actual, output, **keywords)
    assert elements.compared.all()
    return bool(elements.ok.all())


def in_compute(x: np.ndarray) -> np.ndarray:
    """The numbers in the type that an honest implementation computes in."""
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float32)


def tensor(dtype: str, values: np.ndarray) -> np.ndarray:
    return values.astype(FORMATS[dtype].storage)


def normal(dtype: str, *shape: int, mean: float = 0.0, std: float = 1.0, seed: int = 0) -> np.ndarray:
    return tensor(dtype, np.random.default_rng(seed).normal(mean, std, shape))


def total(x: np.ndarray) -> np.ndarray:
    """The sum over the last axis, one term after the other, in x's dtype."""
    return np.add.accumulate(x, axis=-1, dtype=x.dtype)[..., -1]


def mean_of(x: np.ndarray) -> np.ndarray:
    return total(x) / x.dtype.type(x.shape[-1])


def variance_of(x: np.ndarray, divisor: float) -> np.ndarray:
    centred = x - mean_of(x)[..., None]
    return total(centred * centred) / x.dtype.type(divisor)


def naive_variance_of(x: np.ndarray) -> np.ndarray:
    """E[x^2] - E[x]^2"""
    return mean_of(x * x) - mean_of(x) ** 2


# --- Softmax's logarithm, logsumexp -----------------------------------------------------------------------------------


def log_softmax(x: np.ndarray) -> np.ndarray:
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(total(np.exp(shifted)))[..., None]


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


# --- Losses -----------------------------------------------------------------------------------------------------------


def smooth_l1(d: np.ndarray) -> np.ndarray:
    half = d.dtype.type(0.5)
    return np.where(np.abs(d) < half, half * d * d / half, np.abs(d) - half * half)


def huber(d: np.ndarray) -> np.ndarray:
    half = d.dtype.type(0.5)
    return np.where(np.abs(d) <= half, half * d * d, half * (np.abs(d) - half * half))


DIFFERENCES: dict[str, tuple[dict, Callable[[np.ndarray], np.ndarray]]] = {
    "aten::mse_loss": ({}, lambda d: d * d),
    "aten::l1_loss": ({}, np.abs),
    "aten::smooth_l1_loss": ({"beta": 0.5}, smooth_l1),
    "aten::huber_loss": ({"delta": 0.5}, huber),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", DIFFERENCES)
def test_losses_of_differences(op: str, dtype: str) -> None:
    x, t = normal(dtype, 231, mean=30.0), normal(dtype, 231, mean=30.0, seed=1)
    keywords, function = DIFFERENCES[op]
    elements = function(in_compute(x) - in_compute(t))
    assert is_inside(op, [x, t, 0], elements, **keywords)
    assert is_inside(op, [x, t, 2], total(elements), **keywords)
    assert is_inside(op, [x, t, 1], mean_of(elements), **keywords)
    assert not is_inside(op, [x, t, 1], total(elements) / 230, **keywords)
    if keywords:
        assert not is_inside(op, [x, t, 0], elements)  # the border at its default
    if dtype == "bfloat16":
        assert not is_inside(op, [x, t, 2], total(function(x - t)), **keywords)


def cross_entropy_of(y: np.ndarray, t: np.ndarray) -> np.ndarray:
    one, floor = y.dtype.type(1), y.dtype.type(-100)
    return -(t * np.maximum(np.log(y), floor) + (one - t) * np.maximum(np.log(one - y), floor))


@pytest.mark.parametrize("dtype", DTYPES)
def test_binary_cross_entropy(dtype: str) -> None:
    rng = np.random.default_rng(3)
    x, t = (tensor(dtype, rng.uniform(0, 1, 200)) for _ in range(2))
    x[:4], t[:4] = [0, 1, 0, 1], [1, 0, 0, 1]
    weight = tensor(dtype, rng.uniform(0.5, 2, 200))
    y, s, w = (in_compute(one) for one in (x, t, weight))
    op = "aten::binary_cross_entropy"
    assert is_inside(op, [x, t, weight, 0], cross_entropy_of(y, s) * w)
    assert is_inside(op, [x, t, None, 1], mean_of(cross_entropy_of(y, s)))
    assert not is_inside(op, [x, t, weight, 0], cross_entropy_of(y, s))  # the weight forgotten
    unclamped = -(s * np.log(np.maximum(y, 1e-12)) + (1 - s) * np.log(np.maximum(1 - y, 1e-12)))
    assert not is_inside(op, [x, t, None, 0], unclamped)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("std", [1.0, 40.0])
def test_binary_cross_entropy_with_logits(dtype: str, std: float) -> None:
    rng = np.random.default_rng(4)
    x, t = normal(dtype, 200, std=std), tensor(dtype, rng.uniform(0, 1, 200))
    p = tensor(dtype, rng.uniform(0.5, 3, 200))
    y, s, f = (in_compute(one) for one in (x, t, p))
    one, softplus = y.dtype.type(1), np.log1p(np.exp(-np.abs(y))) + np.maximum(-y, 0)
    op = "aten::binary_cross_entropy_with_logits"
    actual = (one - s) * y + (one + (f - one) * s) * softplus
    assert is_inside(op, [x, t, None, p, 0], actual)
    assert is_inside(op, [x, t, None, p, 1], mean_of(actual))
    assert not is_inside(op, [x, t, None, p, 0], (one - s) * y + softplus)  # pos_weight forgotten
    if std > 1 and dtype != "bfloat16":
        sigmoid = one / (one + np.exp(-y))
        through_sigmoid = -(f * s * np.log(sigmoid) + (one - s) * np.log(one - sigmoid))
        assert not is_inside(op, [x, t, None, p, 0], through_sigmoid)


@pytest.mark.parametrize("dtype", DTYPES)
def test_kl_div(dtype: str) -> None:
    rng = np.random.default_rng(5)
    t = tensor(dtype, rng.uniform(0, 1, 200))
    t[:2] = [0, 1]
    x = normal(dtype, 200, mean=-2.0)
    y, s = in_compute(x), in_compute(t)
    actual = np.where(s == 0, 0, s * np.log(np.where(s == 0, 1, s))) - s * y
    assert is_inside("aten::kl_div", [x, t, 0], actual)
    assert is_inside("aten::kl_div", [x, t, 1], mean_of(actual))
    assert is_inside("aten::kl_div", [x, x, 0], np.exp(y) * (y - y), log_target=True)
    assert not is_inside("aten::kl_div", [x, t, 0], actual, log_target=True)
    assert not is_inside("aten::kl_div", [x, t, 0], s * (np.log(np.maximum(s, 1e-3)) - y))  # a floor under the target


@pytest.mark.parametrize("dtype", DTYPES)
def test_negative_log_likelihood(dtype: str) -> None:
    rng = np.random.default_rng(6)
    x, target = normal(dtype, 300, 7), rng.integers(0, 7, 300)
    weight = tensor(dtype, rng.uniform(0.5, 2, 7))
    y, w = in_compute(x), in_compute(weight)
    kept = np.where(target == 2, w.dtype.type(0), w[target])
    elements = -y[np.arange(300), target]
    arguments = [x, target, weight, 1, 2]
    op = "aten::nll_loss_forward"
    assert is_inside(op, arguments, total(elements * kept) / total(kept))
    assert is_inside(op, arguments, total(kept), output=1)
    wrong = {
        "ignore_index": total(elements * w[target]) / total(w[target]),
        "weights": total(elements[target != 2]) / y.dtype.type(np.count_nonzero(target != 2)),
        "divided by the number": total(elements * kept) / y.dtype.type(300),
    }
    for name, actual in wrong.items():
        assert not is_inside(op, arguments, actual), name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("std", [1.0, 300.0])
def test_cross_entropy(dtype: str, std: float) -> None:
    rng = np.random.default_rng(7)
    x, target = normal(dtype, 60, 7, std=std), rng.integers(0, 7, 60)
    weight = tensor(dtype, rng.uniform(0.5, 2, 7))
    y, w = in_compute(x), in_compute(weight)
    log = log_softmax(y)
    kept = np.where(target == 2, w.dtype.type(0), w[target])
    own, every = -log[np.arange(60), target] * kept, np.where(target == 2, 0, -total(log * w))
    smoothing = y.dtype.type(0.25)
    op, arguments = "aten::cross_entropy_loss", [x, target, weight, 1, 2]
    mixed = total((1 - smoothing) * own + smoothing / 7 * every) / total(kept)
    assert is_inside(op, arguments, total(own) / total(kept))
    assert is_inside(op, [*arguments, 0.25], mixed)
    assert not is_inside(op, [*arguments, 0.25], total(own) / total(kept))  # smoothing ignored
    assert not is_inside(op, arguments, total(own) / y.dtype.type(60))
    assert not is_inside(op, [x, target, weight, 0, -100], own)
    shares = tensor(dtype, rng.dirichlet(np.ones(7), 60))
    probable = -total(log * in_compute(shares) * w)
    assert is_inside(op, [x, shares, weight, 0], probable)
    assert is_inside(op, [x, shares, weight, 1], mean_of(probable))
    assert not is_inside(op, [x, shares, weight, 1], total(probable) / total(w))
    if std > 1:
        unshifted = -(y - np.log(total(np.exp(y)))[:, None])[np.arange(60), target]
        assert not is_inside(op, [x, target, None, 0], unshifted)


# --- Attention --------------------------------------------------------------------------------------------------------

ATTENTION = "aten::scaled_dot_product_attention"


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, bias: np.ndarray | float, scale: float) -> np.ndarray:
    products = total(q[:, :, None] * k[:, None]) * q.dtype.type(scale) + np.asarray(bias, q.dtype)
    e = np.exp(products - products.max(-1, keepdims=True))
    weights = e / total(e)[..., None]
    return total(np.swapaxes(weights[..., None] * v[:, None], 2, 3))


def _operands(dtype: str, std: float = 1.0) -> list[np.ndarray]:
    """query and key of standard deviation `std`, and value"""
    return [normal(dtype, 3, 9, 8, std=std), normal(dtype, 3, 40, 8, std=std, seed=1), normal(dtype, 3, 40, 5, seed=2)]


def in_blocks(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float) -> np.ndarray:
    """Online softmax over blocks of 16 keys, in the type of q."""
    shape = (*q.shape[:2], 1)
    largest, sums, result = np.full(shape, -np.inf, q.dtype), np.zeros(shape, q.dtype), 0
    for start in range(0, k.shape[1], 16):
        products = total(q[:, :, None] * k[:, None, start : start + 16]) * q.dtype.type(scale)
        new = np.maximum(largest, products.max(-1, keepdims=True))
        e, rescale = np.exp(products - new), np.exp(largest - new)
        sums = sums * rescale + total(e)[..., None]
        result = result * rescale + total(np.swapaxes(e[..., None] * v[:, None, start : start + 16], 2, 3))
        largest = new
    return result / sums


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("std", [1.0, 6.0])
def test_attention_stays_inside(dtype: str, std: float) -> None:
    operands = _operands(dtype, std)
    q, k, v = (in_compute(one) for one in operands)
    causal = np.where(np.arange(40) <= np.arange(9)[:, None], 0, -np.inf)
    mask = np.random.default_rng(8).random((9, 40)) < 0.5
    assert is_inside(ATTENTION, operands, attention(q, k, v, 0, 8**-0.5))
    assert is_inside(ATTENTION, operands, in_blocks(q, k, v, 8**-0.5))
    assert is_inside(ATTENTION, [*operands, None, 0.0, True], attention(q, k, v, causal, 8**-0.5))
    assert is_inside(ATTENTION, [*operands, mask], attention(q, k, v, np.where(mask, 0, -np.inf), 8**-0.5))
    assert is_inside(ATTENTION, operands, attention(q, k, v, 0, 0.3), scale=0.3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_wrong_attention_falls_outside(dtype: str) -> None:
    operands = _operands(dtype)
    q, k, v = (in_compute(one) for one in operands)
    causal, late, early = (
        np.where(np.arange(40) <= np.arange(9)[:, None] + shift, 0, -np.inf) for shift in (0, 1, 31)
    )
    mask = np.random.default_rng(8).random((9, 40)) < 0.5
    assert not is_inside(ATTENTION, operands, attention(q, k, v, 0, 1.0))  # scale forgotten
    assert not is_inside(ATTENTION, operands, attention(q, k, v, 0, 1 / 8))  # not its root
    for wrong in (late, early, 0 * causal):
        actual = attention(q, k, v, np.nan_to_num(wrong, nan=0.0), 8**-0.5)
        assert not is_inside(ATTENTION, [*operands, None, 0.0, True], actual)
    assert not is_inside(ATTENTION, [*operands, mask], attention(q, k, v, np.where(mask, -np.inf, 0), 8**-0.5))
    assert not is_inside(ATTENTION, [*operands, mask], attention(q, k, v, mask * 1.0, 8**-0.5))  # added as numbers


def test_attention_without_the_shift_or_with_sums_in_the_half_type_falls_outside() -> None:
    q, k, v = _operands("float32", 12.0)
    e = np.exp(total(q[:, :, None] * k[:, None]) * np.float32(8**-0.5))
    unshifted = total(np.swapaxes((e / total(e)[..., None])[..., None] * v[:, None], 2, 3))
    assert not is_inside(ATTENTION, [q, k, v], unshifted)
    halves = _operands("bfloat16")
    assert not is_inside(ATTENTION, halves, attention(*halves, 0, 8**-0.5))
