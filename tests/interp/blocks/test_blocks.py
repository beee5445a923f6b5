"""What is worked on in blocks, rows in pieces too, gives what it gives as a whole (guarantee 18)."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from conform.interp.blocks import blocks
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics import chunks
from conform.numerics.real import Real


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    return (4 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)


def special(*shape: int) -> np.ndarray:
    x = normal(*shape)
    x.reshape(-1)[[1, x.size // 3, x.size // 2, x.size - 1]] = np.inf, np.nan, -np.inf, 0.0
    return x


STEPS = [[2, 1], [1, 1], [1, 2]]
ATTENTION = "aten::scaled_dot_product_attention"
HIDDEN = np.where(np.arange(9) > 4, -np.inf, normal(1, 9)).astype("float32")
BESIDE_1 = np.float32([[1], [1 + 2**-23]])
TIE = np.float64([1, 2.0**-53, 2.0**-600] + [0.0] * 9)  # beyond 1 + 2^-53 by what two float64 do not hold
CALLS = [
    ("aten::sum.dim_IntList", [normal(3, 7, 5), [1]]),
    ("aten::sum.dim_IntList", [special(3, 7, 5), [0, 2]]),
    ("aten::sum", [normal(5, 8).T]),
    ("aten::sum", [special(40)]),
    ("aten::sum", [normal(40, dtype="int32")]),
    ("aten::sum", [special(40)], {"dtype": "int32"}),
    ("aten::sum", [normal(40) > 4]),
    ("aten::mean.dim", [normal(9, 4), [1]]),
    ("aten::mean", [normal(40) * np.float32(2e37)]),
    ("aten::amax", [special(40)]),
    ("aten::argmax", [normal(5, 8), 0, True]),
    ("aten::argmax", [special(40)]),
    ("aten::argmax", [normal(40, dtype="int64")]),
    ("aten::cumsum", [special(40), 0]),
    ("aten::cumsum", [normal(40, dtype="float16"), 0]),
    ("aten::cumsum", [special(40), 0], {"dtype": "int64"}),
    ("aten::prod", [normal(40)]),
    ("aten::prod", [normal(40, dtype="int32")]),
    ("aten::prod.dim_int", [normal(40) > -4, 0]),
    ("aten::var", [normal(40)]),
    ("aten::var", [special(40)]),
    ("aten::var.correction", [normal(2, 20), [1]], {"correction": 20}),
    ("aten::std.dim", [normal(2, 20).T, [0]]),
    ("aten::linalg_vector_norm", [normal(40), 2]),
    ("aten::linalg_vector_norm", [special(40), 1]),
    ("aten::linalg_vector_norm", [normal(40), 0.5]),
    ("aten::linalg_vector_norm", [4.0 ** np.arange(12), 0.5]),
    ("aten::linalg_vector_norm", [normal(40), 0]),
    ("aten::linalg_vector_norm", [normal(40), -float("inf")]),
    ("aten::logsumexp", [normal(40), [0]]),
    ("aten::logsumexp", [np.array([0.0] + [-800.0] * 20), [0]]),
    ("aten::_softmax", [normal(2, 20), 1, False]),
    ("aten::_softmax", [np.zeros(24, "float16"), 0, True]),
    ("aten::_log_softmax", [special(2, 20), 1, False]),
    ("aten::_log_softmax", [np.array([0.0] + [-800.0] * 20), 0, False]),
    ("aten::native_layer_norm", [normal(2, 20), [20], normal(20), None, 1e-5]),
    ("aten::native_layer_norm", [np.tile(np.float32([1, 3]), 10), [20], None, normal(20), 0.0]),
    ("aten::native_group_norm", [normal(1, 4, 10), normal(4), None, 1, 4, 10, 2, 1e-5]),
    ("aten::_native_batch_norm_legit.no_stats", [special(2, 5, 3), normal(5), normal(5), True, 0.1, 1e-5]),
    ("aten::rms_norm", [normal(2, 20), [20], normal(20)]),
    ("aten::add.Tensor", [special(5, 8), normal(8)]),
    ("aten::add.Tensor", [normal(5, 8, dtype="float16"), normal(5, 1, dtype="float16")], {"alpha": 3}),
    ("aten::mul.Tensor", [special(40).view("complex64"), normal(40).view("complex64")]),
    ("aten::div.Tensor_mode", [np.arange(-9, 11), np.arange(20) % 3 - 1], {"rounding_mode": "floor"}),
    ("aten::softplus", [np.linspace(-30, 30, 40, dtype="float16"), 0.7, 3]),
    ("aten::where.self", [normal(5, 1) > 0, normal(5, 8), normal(8)]),
    ("aten::angle", [special(40)]),
    ("aten::special_ndtr", [normal(40, dtype="float16")]),
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
    (ATTENTION, [0 * normal(2, 3, 4), normal(2, 20, 4), np.float32([[[1.5], [-1.5]] * 10] * 2)]),
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
    ("aten::l1_loss", [np.array([1e308] * 20 + [np.inf]), np.zeros(21), 2]),
    ("aten::mse_loss", [special(5, 8), normal(8), 0]),
    ("aten::binary_cross_entropy_with_logits", [special(40), normal(40), None, None, 0]),
    ("aten::nll_loss_forward", [special(20, 2), np.arange(20) % 2, np.abs(normal(2)), 1, -100]),
    ("aten::cross_entropy_loss", [special(20), np.array(7), np.abs(normal(20)), 1, -100, 0.25]),
    ("aten::cross_entropy_loss", [normal(2, 5, 4), np.abs(normal(2, 5, 4)), normal(5), 0]),
    ("aten::cross_entropy_loss", [normal(40)[None], np.array([5]), None, 0]),
    ("aten::gather", [normal(5, 8), 0, np.arange(24).reshape(3, 8) % 5]),
    ("aten::index_put", [normal(5, 8), [np.arange(20) % 7 - 2, None], normal(8)]),
    ("aten::index_put", [normal(5, 8), [np.arange(20) % 5, np.arange(20) % 3], special(20), True]),
    ("aten::index_put", [normal(4), [np.zeros(40, np.int64)], normal(40), True]),
    ("aten::index_put", [normal(5, 8), [normal(5, 8) > 0], normal(1)]),
    ("aten::index_put", [normal(2, 5, 8), [None, normal(5, 8) > 0], normal(2, 1), True]),
    ("aten::sort", [special(2, 20), -1, True]),
    ("aten::sort", [special(40)]),
    ("aten::arange", [40]),
    ("aten::arange.start_step", [0.5, 20, 0.1]),
    ("aten::cat", [[normal(3, 8), normal(3, 4, dtype="int32")], 1]),
    ("aten::mm", [special(5, 9), normal(9, 7)]),
    ("aten::mm", [normal(2, 40, dtype="float16"), normal(3, 40, dtype="float16").T]),
    ("aten::mm", [np.float64([[1e308, 1.0, 1e308]] * 3), np.float64([[1.0, 2.0], [3.0, 4.0], [-1.0, 5.0]])]),
    ("aten::mm", [normal(5, 9, dtype="int64"), normal(9, 7, dtype="int64")]),
    ("aten::addmm", [special(7), normal(5, 9), normal(9, 7)], {"beta": 0.5, "alpha": -3.0}),
    ("aten::addmm", [normal(5, 1), special(5, 9), normal(9, 7)], {"alpha": 1e38}),
    ("aten::addmm", [np.arange(7), np.arange(45).reshape(5, 9), np.arange(63).reshape(9, 7)], {"beta": 2}),
    ("aten::convolution", [special(2, 4, 5), normal(4, 3, 3), normal(6), [2], [1], [2], True, [1], 2]),
    ("aten::convolution", [normal(1, 2, 5, 4), special(3, 2, 3, 2), None, *STEPS, False, [0, 0], 1]),
    ("aten::convolution", [normal(2, 2, 5), special(2, 3, 4), normal(3), [3], [2], [1], True, [2], 1]),
    ("aten::convolution", [normal(1, 2, 5, 4), normal(2, 9, 3, 2), None, *STEPS, True, [0, 0], 1]),
    ("aten::convolution", [TIE.reshape(1, 12, 1), np.ones((2, 12, 1)), None, [1], [0], [1], False, [0], 1]),
    ("aten::convolution", [TIE.reshape(1, 12, 1), np.ones((12, 2, 1)), TIE[:2], [1], [0], [1], True, [0], 1]),
    ("aten::avg_pool2d", [special(2, 3, 5, 4), [3, 2], [1, 2], [1, 1], True, False]),
    ("aten::avg_pool2d", [normal(3, 5, 4, dtype="float16"), [5, 4]]),
    ("aten::avg_pool2d", [normal(3, 5, 4, dtype="int64"), [2, 3], [1, 1], [1, 0]], {"divisor_override": -7}),
    ("aten::avg_pool2d", [TIE[None, None], [1, 12]], {"divisor_override": 1}),
    (ATTENTION, [special(4, 3), normal(5, 3), normal(5, 2)]),
    (ATTENTION, [normal(2, 3, 4), normal(2, 9, 4), normal(2, 9, 2), np.arange(27).reshape(3, 9) % 4 > 0]),
    (ATTENTION, [normal(2, 3, 4), normal(9, 4), special(2, 9, 2), HIDDEN]),
    (ATTENTION, [normal(1, 9, 4), normal(1, 9, 4), normal(1, 9, 2), None, 0.0, True]),
    (ATTENTION, [normal(4, 2, 3), normal(2, 6, 3), normal(1, 6, 3)], {"enable_gqa": True}),
    (ATTENTION, [normal(2, 20), normal(3, 20), normal(3, 20)], {"scale": 0.25}),
    (ATTENTION, [normal(2, 3), np.tile(normal(3), (8, 1)), np.tile(BESIDE_1, (4, 2))]),  # the mean is a tie
    (ATTENTION, [np.ones((1, 1), "float32"), np.float32([[0], [0], [-200]]), np.float32([*BESIDE_1, [5]])]),  # almost
    ("aten::gelu", [special(40)]),
    ("aten::silu", [normal(5, 8)]),
]  # fmt: skip


def goldens(op: str, arguments: list[object], keywords: dict[str, object] | None = None) -> list[Golden]:
    found = evaluate(op, arguments, keywords or {}).goldens
    return [each for golden in found for each in (golden, *golden.alternatives)]


def parts(golden: Golden) -> dict[str, np.ndarray]:
    names = ("value", "terms", "magnitude", "budget", "open", "zero_sign_free")
    reals = {} if golden.real is None else {name: getattr(golden.real, name) for name in Real.__slots__}
    if golden.real is not None and golden.real.rest is None:
        reals["rest"] = np.zeros_like(golden.real.hi)  # 0 everywhere
    ranks = {} if golden.ties is None else {"ranks": golden.ties.ranks}
    others = {name: np.asarray(getattr(golden, name)) for name in names if getattr(golden, name) is not None}
    return reals | ranks | others


@pytest.mark.parametrize("size", [pytest.param(8, marks=pytest.mark.one_in(6)), 3])
@pytest.mark.parametrize("call", CALLS, ids=[call[0] for call in CALLS])
def test_blocks_are_put_together_as_the_whole(call: tuple, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = goldens(*call)
    monkeypatch.setattr(blocks, "BLOCK", size)
    monkeypatch.setattr(chunks, "CHUNK", size)
    in_blocks = goldens(*call)
    assert len(whole) == len(in_blocks)
    for expected, actual in zip(whole, in_blocks, strict=True):
        assert_same(actual, expected)


def assert_same(actual: Golden, expected: Golden) -> None:
    """The values bit for bit; real numbers, magnitudes and budgets but for the order of their float64 sums."""
    assert (actual.format, actual.open_rule) == (expected.format, expected.open_rule)
    mine, its = parts(actual), parts(expected)
    assert mine.keys() == its.keys()
    for name in mine.keys() - {"lo", "radius"}:
        compare = CLOSE.get(name, partial(np.testing.assert_array_equal, strict=name == "value"))
        compare(mine[name], its[name], err_msg=name)
    if expected.real is not None:
        off = np.abs(mine["lo"] - its["lo"])
        assert (off <= mine["radius"] + its["radius"]).all()
        np.testing.assert_array_equal(np.isfinite(mine["radius"]), np.isfinite(its["radius"]))


CLOSE = {name: partial(np.testing.assert_allclose, rtol=1e-12) for name in ("magnitude", "budget")}


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (0, 2, 1), (1, 2, 0)])
def test_a_block_of_an_array_in_any_layout_is_that_in_c_order(axes):
    array = np.arange(24).reshape(2, 3, 4).transpose(axes)
    for start in range(25):
        for stop in range(start, 25):
            assert blocks.flat(array, slice(start, stop)).tolist() == array.reshape(-1).tolist()[start:stop]
