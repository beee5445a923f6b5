"""Derived bounds of losses and attention: honest implementations stay inside, the usual wrong ones fall outside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.interp.honest import DTYPES, in_compute, is_inside, log_softmax, mean_of, normal, tensor, total

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # implementations overflow, and may


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


def test_losses_in_the_half_type_fall_outside() -> None:
    rng = np.random.default_rng(9)
    p, t = (tensor("bfloat16", rng.uniform(0.01, 0.99, 200)) for _ in range(2))
    x, one = normal("bfloat16", 200, std=3.0), p.dtype.type(1)
    assert not is_inside("aten::binary_cross_entropy", [p, t, None, 0], cross_entropy_of(p, t))
    logits = (one - t) * x + np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0)
    assert not is_inside("aten::binary_cross_entropy_with_logits", [x, t, None, None, 0], logits)
    assert not is_inside("aten::kl_div", [x, t, 0], t * np.log(t) - t * x)
    rows, target = normal("bfloat16", 60, 7), rng.integers(0, 7, 60)
    own = -log_softmax(rows)[np.arange(60), target]
    assert not is_inside("aten::cross_entropy_loss", [rows, target, None, 0], own)
    likelihoods = -rows[np.arange(60), target]
    assert not is_inside("aten::nll_loss", [rows, target, None, 2], total(likelihoods))


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
    causal, late, early = (np.where(np.arange(40) <= np.arange(9)[:, None] + shift, 0, -np.inf) for shift in (0, 1, 31))
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
