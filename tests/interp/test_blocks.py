"""Rows, convolution windows and chunks worked on in blocks give what they give as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from conform.interp import losses, rows
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.interp.numerics import chunks
from conform.interp.ops import attention, contraction


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    return (4 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)


def special(*shape: int) -> np.ndarray:
    x = normal(*shape)
    x.reshape(-1)[[1, x.size // 3, x.size // 2, x.size - 1]] = np.inf, np.nan, -np.inf, 0.0
    return x


CALLS = [
    ("aten::sum.dim_IntList", [normal(3, 7, 5), [1]]),
    ("aten::sum.dim_IntList", [special(3, 7, 5), [0, 2]]),
    ("aten::mean.dim", [normal(9, 4), [1]]),
    ("aten::cumsum", [normal(3, 5, 4), 1]),
    ("aten::prod.dim_int", [special(9, 4), 1]),
    ("aten::var.correction", [normal(9, 4), [1]]),
    ("aten::linalg_vector_norm", [normal(9, 4), 3, [1]]),
    ("aten::logsumexp", [special(9, 4), [1]]),
    ("aten::_softmax", [special(3, 5, 4), 1, False]),
    ("aten::_log_softmax", [normal(9, 4), 1, False]),
    ("aten::native_layer_norm", [special(9, 4), [4], normal(4), normal(4), 1e-5]),
    ("aten::native_group_norm", [normal(2, 6, 3), normal(6), normal(6), 2, 6, 3, 3, 1e-5]),
    ("aten::_native_batch_norm_legit.no_stats", [normal(2, 5, 3), normal(5), None, True, 0.1, 1e-5]),
    ("aten::_native_batch_norm_legit_no_training",
     [normal(2, 5, 3), normal(5), normal(5), normal(5), np.abs(normal(5)), 0.1, 1e-5]),
    ("aten::rms_norm", [normal(9, 4), [4]]),
    ("aten::scaled_dot_product_attention", [normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 2)]),
    ("aten::convolution",
     [normal(2, 4, 9, 7), normal(6, 2, 3, 2), normal(6), [2, 1], [1, 1], [1, 2], False, [0, 0], 2]),
    ("aten::convolution", [normal(1, 3, 20, dtype="int64"), normal(2, 3, 4, dtype="int64"), None, [1], [0], [1], False,
                           [0], 1]),
    ("aten::mse_loss", [normal(40), special(40)]),
    ("aten::huber_loss", [normal(5, 8), -normal(5, 8), 0]),
    ("aten::binary_cross_entropy", [np.linspace(0, 1, 40, dtype="float32"), np.linspace(1, 0, 40, dtype="float32")]),
    ("aten::binary_cross_entropy_with_logits", [special(40), normal(40)]),
    ("aten::kl_div", [normal(40), np.abs(normal(40))]),
    ("aten::cross_entropy_loss", [normal(9, 4), np.arange(9) % 4, None, 1, 2]),
    ("aten::cross_entropy_loss", [normal(9, 4), np.abs(normal(9, 4)), normal(4), 2, -100, 0.25]),
    ("aten::gelu", [special(40)]),
    ("aten::silu", [normal(5, 8)]),
]  # fmt: skip


def goldens(op: str, arguments: list[object]) -> list[Golden]:
    found = evaluate(op, arguments, {}).goldens
    return [each for golden in found for each in (golden, *golden.alternatives)]


def parts(golden: Golden) -> dict[str, np.ndarray]:
    names = ("value", "terms", "magnitude", "budget", "open", "zero_sign_free")
    real = golden.real
    reals = {} if real is None else {"hi": real.hi, "lo": real.lo, "radius": real.radius}
    return reals | {name: np.asarray(getattr(golden, name)) for name in names}


@pytest.mark.parametrize(("op", "arguments"), CALLS, ids=[op for op, _ in CALLS])
def test_blocks_are_put_together_as_the_whole(
    op: str, arguments: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = goldens(op, arguments)
    for module in (rows, losses, attention, contraction):
        monkeypatch.setattr(module, "BLOCK", 8)
    monkeypatch.setattr(chunks, "CHUNK", 8)
    in_blocks = goldens(op, arguments)
    assert len(whole) == len(in_blocks)
    for expected, actual in zip(whole, in_blocks, strict=True):
        assert (actual.format, actual.open_rule) == (expected.format, expected.open_rule)
        for name, array in parts(expected).items():
            if name == "magnitude" and expected.magnitude is not None:  # BLAS adds it up in an order of its own
                np.testing.assert_allclose(parts(actual)[name], array, rtol=1e-12)
            else:
                np.testing.assert_array_equal(parts(actual)[name], array, strict=name == "value", err_msg=name)
