"""The derived bounds of long sums are no wider than they must be: honest implementations come near to them.

1 and then many terms just too small to change it, added up one after the other, lose all of these terms: nearly
gamma_(n-1) of the sum. A bound that allows for every order of summation cannot be much narrower.
"""

from __future__ import annotations

import numpy as np
import pytest

from conform.contracts.judge import judge
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate

COUNT = 512
LOST = np.float32(0.999 * 2.0**-24)  # less than half an ulp of 1
ONE = np.float32(1)
FEW = np.full(COUNT, LOST, np.float32)
FEW[0] = 1
ROOTS = np.sqrt(FEW)
LOGITS = np.log(FEW)
ZEROS = np.zeros(COUNT, np.float32)
# 1, -1, s, -s, s, ...: mean 0, and squares of which all but the first two are lost
BALANCED = np.tile(np.array([1, -1], np.float32), COUNT // 2) * np.repeat(np.sqrt(2 * FEW[: COUNT // 2]), 2)
BALANCED[:2] = [1, -1]


def total(x: np.ndarray) -> np.float32:
    """The sum, one term after the other."""
    return np.add.accumulate(x, dtype=np.float32)[-1]


def share_of_the_bound(op: str, args: list, actual: np.ndarray, output: int = 0, **keywords: object) -> float:
    """The largest error in units of its bound; fails for an element outside."""
    golden = evaluate(op, args, keywords).goldens[output]
    actual = np.asarray(actual, np.float32).reshape(golden.value.shape)
    elements = judge(golden, actual, contract_table("opencl").row(op, golden.format.name))
    assert elements.ok.all()
    assert elements.compared.all()
    return float((elements.error_ulp / elements.bound_ulp).max())


def test_sums_of_exponentials() -> None:
    e = np.exp(LOGITS)
    log_sum = np.log(total(e))
    assert share_of_the_bound("aten::_softmax", [LOGITS, 0, False], e / total(e)) > 0.9
    assert share_of_the_bound("aten::logsumexp", [LOGITS, [0]], log_sum) > 0.9
    assert share_of_the_bound("aten::_log_softmax", [LOGITS, 0, False], LOGITS - log_sum) > 0.9
    loss = share_of_the_bound("aten::cross_entropy_loss", [LOGITS[None], np.array([0]), None, 0], log_sum - LOGITS[:1])
    assert loss > 0.9


def test_sums_and_sums_of_squares() -> None:
    count = np.float32(COUNT)
    assert share_of_the_bound("aten::mean.dim", [FEW, [0]], total(FEW) / count) > 0.9
    squares = total(ROOTS * ROOTS)
    assert share_of_the_bound("aten::linalg_vector_norm", [ROOTS], np.sqrt(squares)) > 0.9
    rms = ROOTS * (ONE / np.sqrt(squares / count))
    assert share_of_the_bound("aten::rms_norm", [ROOTS, [COUNT], None, 0.0], rms) > 0.9
    assert share_of_the_bound("aten::mse_loss", [ROOTS, ZEROS], squares / count) > 0.9
    assert share_of_the_bound("aten::l1_loss", [FEW, ZEROS], total(FEW) / count) > 0.9


def test_variances_within_a_factor_of_two_for_that_is_what_welford_s_updates_add() -> None:
    variance = total(BALANCED * BALANCED) / np.float32(COUNT)
    assert share_of_the_bound("aten::var", [BALANCED, False], variance) > 0.45
    assert share_of_the_bound("aten::std", [BALANCED, False], np.sqrt(variance)) > 0.45
    rstd = ONE / np.sqrt(variance)
    layer_norm = [BALANCED, [COUNT], None, None, 0.0]
    assert share_of_the_bound("aten::native_layer_norm", layer_norm, rstd, output=2) > 0.45


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_attention_within_a_factor_of_five_for_blocks_and_two_sums(dtype: type) -> None:
    query, key = np.zeros((1, 4), dtype), np.zeros((COUNT, 4), dtype)
    value = np.eye(COUNT, 1, dtype=dtype)
    lost = 0.999 * np.finfo(dtype).eps / 2
    mask = np.log(np.where(np.arange(COUNT) == 0, 1, lost)).astype(dtype)[None]
    weights = np.exp(mask)
    weighted = np.add.accumulate(weights[0] * value[:, 0])[-1] / np.add.accumulate(weights[0])[-1]
    golden = evaluate("aten::scaled_dot_product_attention", [query, key, value, mask], {}).goldens[0]
    row = contract_table("opencl").row("aten::scaled_dot_product_attention", golden.format.name)
    elements = judge(golden, np.full((1, 1), weighted, dtype), row)
    assert elements.ok.all()
    assert (elements.error_ulp / elements.bound_ulp).item() > 0.2
