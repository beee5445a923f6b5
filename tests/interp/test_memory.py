"""What a golden takes beyond its inputs and outputs does not grow with them (guarantee 19)."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from fnmatch import fnmatch

import numpy as np
import pytest

from conform.call.aliases import canonical
from conform.call.foreach import for_each
from conform.domains.engine import elements
from conform.domains.engine.argument_generator import arguments as made_arguments
from conform.domains.engine.meta_tuple import MetaTuple
from conform.domains.specs import OpSpec, specs
from conform.interp import semantics
from conform.interp.blocks import blocks
from conform.interp.evaluate import evaluate
from conform.interp.ops.indexing import written
from conform.numerics import accumulate, chunks, digits, matmul
from conform.numerics.draws import Stream
from conform.suites.derived import scale

BLOCK = 1 << 10
SMALL, LARGE = 1 << 12, 1 << 14  # elements
NOISE = 8000  # bytes: Python's own objects

Arguments = Callable[[int], list[object]]


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def positive(*shape: int) -> np.ndarray:
    return np.abs(normal(*shape)) + np.float32(0.25)


def shares(*shape: int) -> np.ndarray:
    return 1 / (1 + positive(*shape))


def places(n: int, below: int) -> np.ndarray:
    return np.random.default_rng(1).integers(-below, below, n)


def rows(n: int) -> np.ndarray:
    return normal(n // 32, 32)


def cancelling(n: int) -> np.ndarray:
    """Values [1, 2n, 2] whose sum is 0, which is found by fractions."""
    return np.concatenate([normal(1, n, 2), -normal(1, n, 2)], axis=1)


def beside_midpoints(*shape: int) -> np.ndarray:
    """Numbers whose sums with those of the same sign are found in digits."""
    return np.where(np.arange(shape[-1]) % 2, 2.0**-200, 1 + 2.0**-30) * np.ones(shape)


def channels(n: int) -> np.ndarray:
    return normal(n // 256, 8, 32)


ATTENTION = "aten::scaled_dot_product_attention"
STEPS = [[1, 1], [1, 1], [1, 1], False, [0, 0], 1]
CALLS: list[tuple[str, Arguments]] = [
    ("aten::exp", lambda n: [normal(n)]),
    ("aten::special_ndtr", lambda n: [normal(n, dtype="float16")]),
    ("aten::gelu", lambda n: [normal(n)]),
    ("aten::softplus", lambda n: [normal(n)]),
    ("aten::add.Tensor", lambda n: [rows(n), rows(n)[:, :1]]),
    ("aten::add.Tensor", lambda n: [normal(n, dtype="int32"), normal(n, dtype="int32")]),
    ("aten::mul.Tensor", lambda n: [normal(n).view("complex64"), normal(n).view("complex64")]),
    ("aten::eq.Tensor", lambda n: [rows(n).T, rows(n).T]),
    ("aten::_to_copy", lambda n: [normal(n), {"dtype": "int32"}]),
    ("aten::sum", lambda n: [normal(n)]),
    ("aten::sum", lambda n: [normal(n, dtype="int32")]),
    ("aten::sum.dim_IntList", lambda n: [rows(n), [0]]),
    ("aten::mean", lambda n: [normal(n, dtype="float16")]),
    ("aten::mean.dim", lambda n: [rows(n), [1]]),
    ("aten::amax", lambda n: [normal(n)]),
    ("aten::argmax", lambda n: [normal(n)]),
    ("aten::cumsum", lambda n: [normal(n), 0]),
    ("aten::cumsum", lambda n: [normal(n, dtype="int32"), 0]),
    ("aten::prod", lambda n: [1 + normal(n) * np.float32(1e-6)]),
    ("aten::prod.dim_int", lambda n: [rows(n), 1]),
    ("aten::logsumexp", lambda n: [normal(n), [0]]),
    ("aten::var", lambda n: [normal(n)]),
    ("aten::var.dim", lambda n: [rows(n), [1]]),
    ("aten::var.correction", lambda n: [normal(n)]),
    ("aten::std", lambda n: [normal(n)]),
    ("aten::std.dim", lambda n: [rows(n), [0]]),
    ("aten::std.correction", lambda n: [normal(n)]),
    ("aten::linalg_vector_norm", lambda n: [normal(n), 3]),
    ("aten::linalg_vector_norm", lambda n: [normal(n), float("inf")]),
    ("aten::norm.Scalar", lambda n: [normal(n)]),
    ("aten::norm.ScalarOpt_dim", lambda n: [rows(n), 1, [0]]),
    ("aten::_softmax", lambda n: [normal(n), 0, False]),
    ("aten::_softmax", lambda n: [rows(n), 0, False]),
    ("aten::_log_softmax", lambda n: [normal(n), 0, False]),
    ("aten::native_layer_norm", lambda n: [normal(n), [n], normal(n), normal(n), 0.5]),
    ("aten::native_layer_norm", lambda n: [rows(n), [32], normal(32), normal(32), 0.5]),
    ("aten::native_group_norm", lambda n: [normal(1, 4, n // 4), normal(4), normal(4), 1, 4, n // 4, 2, 0.5]),
    ("aten::_native_batch_norm_legit.no_stats", lambda n: [channels(n), normal(8), normal(8), True, 0.1, 0.5]),
    (
        "aten::_native_batch_norm_legit_no_training",
        lambda n: [channels(n), normal(8), normal(8), normal(8), positive(8), 0.1, 0.5],
    ),
    ("aten::rms_norm", lambda n: [normal(n), [n], normal(n), 0.5]),
    ("aten::_fused_rms_norm", lambda n: [rows(n), [32], normal(32), 0.5]),
    ("aten::mse_loss", lambda n: [normal(n), positive(n)]),
    ("aten::mse_loss", lambda n: [rows(n), rows(n)[:1], 0]),
    ("aten::l1_loss", lambda n: [normal(n, dtype="float16"), normal(n, dtype="float16"), 2]),
    ("aten::smooth_l1_loss", lambda n: [normal(n), -normal(n), 1, 0.5]),
    ("aten::huber_loss", lambda n: [normal(n), -normal(n), 0]),
    ("aten::binary_cross_entropy", lambda n: [shares(n), shares(n)]),
    ("aten::binary_cross_entropy", lambda n: [shares(n // 32, 32), shares(n // 32, 32), positive(32), 0]),
    ("aten::binary_cross_entropy_with_logits", lambda n: [normal(n), shares(n), positive(n), positive(1)]),
    ("aten::kl_div", lambda n: [normal(n), shares(n)]),
    ("aten::kl_div", lambda n: [normal(n), -normal(n), 0, {"log_target": True}]),
    ("aten::nll_loss", lambda n: [normal(n // 2, 2), np.arange(n // 2) % 2, positive(2)]),
    ("aten::nll_loss_forward", lambda n: [normal(n, 1), np.zeros(n, np.int64), None, 0, -100]),
    ("aten::cross_entropy_loss", lambda n: [rows(n), np.arange(n // 32) % 32]),
    ("aten::cross_entropy_loss", lambda n: [normal(n), np.array(3), positive(n), 1, -100, 0.25]),
    ("aten::cross_entropy_loss", lambda n: [normal(4, 8, n // 32), np.zeros((4, n // 32), np.int64), None, 0]),
    ("aten::cross_entropy_loss", lambda n: [normal(1, n), shares(1, n), None, 2, -100, 0.25]),
    ("aten::gather", lambda n: [rows(n), 0, places(n, n).reshape(-1, 32) % (n // 32)]),
    ("aten::index_put", lambda n: [normal(n), [places(n, n)], normal(n)]),
    ("aten::index_put", lambda n: [rows(n), [None, np.arange(32) % 31], normal(32)]),
    ("aten::index_put", lambda n: [normal(n), [np.arange(n)], normal(n)]),
    ("aten::index_put", lambda n: [rows(n), [rows(n) > 0], normal(1)]),
    ("aten::index_put", lambda n: [normal(2, n), [None, normal(n) < 0], normal(2, 1), True]),
    ("aten::index_put", lambda n: [normal(n, 2), [None, np.array([1])], normal(1)]),
    ("aten::index_put", lambda n: [normal(n), [places(n, n)], normal(n), True]),
    ("aten::index_put", lambda n: [normal(4), [places(n, 1)], normal(n), True]),
    ("aten::index_put", lambda n: [normal(n, dtype="int32"), [places(n, n)], normal(n, dtype="int32"), True]),
    ("aten::sort", lambda n: [normal(n)]),
    ("aten::sort", lambda n: [rows(n), 0, True]),
    ("aten::sort.stable", lambda n: [rows(n), {"stable": True}]),
    ("aten::cat", lambda n: [[rows(n), rows(n).astype("int16")], 1]),
    ("aten::arange", lambda n: [n]),
    ("aten::arange.start", lambda n: [2.5, n]),
    ("aten::arange.start_step", lambda n: [0.5, float(n), 1.5]),
    ("aten::permute", lambda n: [rows(n), [1, 0]]),
    ("aten::slice.Tensor", lambda n: [rows(n), 0, 1, None, 2]),
    ("aten::mm", lambda n: [rows(n), normal(32, 8)]),
    ("aten::mm", lambda n: [normal(4, n, dtype="float16"), normal(n, 4, dtype="float16")]),
    ("aten::mm", lambda n: [normal(1, 2), normal(n, 2).T]),
    ("aten::mm", lambda n: [normal(4, n, dtype="int32"), normal(n, 4, dtype="int32")]),
    ("aten::mm", lambda n: [beside_midpoints(n // 8, 8), beside_midpoints(8, 8)]),
    ("aten::mm", lambda n: [beside_midpoints(2, n), beside_midpoints(2, n).T]),
    ("aten::addmm", lambda n: [normal(4), normal(4, n), normal(n, 4)]),
    ("aten::addmm", lambda n: [normal(1), normal(1, 4), normal(4, n // 2), {"beta": 0.5, "alpha": 3.0}]),
    ("aten::addmm", lambda n: [normal(32, dtype="int32"), rows(n).view("int32"), normal(32, 32).view("int32")]),
    ("aten::convolution", lambda n: [normal(1, 4, n // 128, 32), normal(2, 4, 3, 3), normal(2), *STEPS]),
    (
        "aten::convolution",
        lambda n: [
            normal(n // 128, 32, 4, dtype="int32").transpose(0, 2, 1),
            normal(4, 2, 3, dtype="int32"),
            None,
            [1],
            [2],
            [2],
            False,
            [0],
            2,
        ],
    ),
    ("aten::convolution", lambda n: [normal(1, 4, n // 8), normal(4, 2, 3), None, [2], [1], [1], True, [1], 2]),
    ("aten::convolution", lambda n: [normal(1, n, 3), normal(2, n, 3), None, [1], [0], [1], False, [0], 1]),
    ("aten::convolution", lambda n: [normal(1, n // 4, 3), normal(n // 4, 4, 3), None, [1], [0], [1], True, [0], 1]),
    ("aten::convolution", lambda n: [normal(1, 1, 3), normal(n, 1, 3), None, [1], [1], [1], False, [0], 1]),
    (
        "aten::convolution",
        lambda n: [beside_midpoints(1, n, 3), beside_midpoints(2, n, 3), None, [1], [0], [1], False, [0], 1],
    ),
    ("aten::convolution", lambda n: [normal(1, 1, n), normal(2, 1, n - 3), None, [1], [0], [1], False, [0], 1]),
    ("aten::avg_pool2d", lambda n: [normal(4, n // 128, 32), [3, 3], [2, 1], [1, 1]]),
    ("aten::avg_pool2d", lambda n: [normal(1, n // 32, 32), [n // 32, 31], [1, 1]]),
    ("aten::avg_pool2d", lambda n: [np.arange(n).reshape(1, 1, n), [1, 2], [1, 1]]),
    (ATTENTION, lambda n: [normal(2, n // 64, 4), normal(2, 8, 4), normal(2, 8, 2)]),
    (ATTENTION, lambda n: [normal(1, 2, 4), normal(1, n // 8, 4), normal(1, n // 8, 2), normal(2, n // 8)]),
    (ATTENTION, lambda n: [normal(3, n // 64, 4)[:, -3:], *[normal(3, n // 64, 4)] * 2, None, 0.0, True]),
    (ATTENTION, lambda n: [normal(4, 1, 4), *[normal(2, n // 16, 4)] * 2, {"enable_gqa": True}]),
    (ATTENTION, lambda n: [0 * normal(1, 2, 4), normal(1, n // 8, 4), cancelling(n // 16)]),
    (ATTENTION, lambda n: [normal(1, n), normal(2, n), normal(2, 3)]),
    (ATTENTION, lambda n: [normal(1, 3), normal(2, 3), normal(2, n)]),
]


def work_space_bytes(op: str, arguments: list[object]) -> int:
    """What evaluating takes at its peak beyond what it returns."""
    keywords = arguments.pop() if isinstance(arguments[-1], dict) else {}
    gc.collect()
    tracemalloc.start()
    outcome = evaluate(op, arguments, keywords)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome.goldens
    return peak - kept


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (blocks, elements):
        monkeypatch.setattr(module, "BLOCK", BLOCK)
    for module in (chunks, accumulate):
        monkeypatch.setattr(module, "CHUNK", BLOCK)
    monkeypatch.setattr(written, "SHARE", 2)
    monkeypatch.setattr(digits, "AT_ONCE", BLOCK)
    monkeypatch.setattr(matmul, "AT_ONCE", BLOCK)
    for name, size in (("TILE_ROWS", 32), ("TILE_COLUMNS", 32), ("TILE_ELEMENTS", BLOCK)):
        monkeypatch.setattr(matmul, name, size)


@pytest.mark.rotating(12)
@pytest.mark.parametrize(("op", "arguments"), CALLS, ids=[op for op, _ in CALLS])
def test_work_space_does_not_grow_with_the_tensor(op: str, arguments: Arguments) -> None:
    work_space_bytes(op, arguments(BLOCK))  # imports and caches are made
    small, large = (work_space_bytes(op, arguments(size)) for size in (SMALL, LARGE))
    assert large <= 1.2 * small + NOISE, f"{small} bytes beside {SMALL} elements, {large} beside {LARGE}"


# --- Every other op, by calls that its spec gives --------------------------------------------------------------------

MOST = 1 << 16  # elements of all tensors of a call
# What is open: ops whose work space is not shown to be bounded, and why.
OPEN = {
    "no single tensor of theirs has a dim that could be long, so no call is made of their specs": (
        "aten::meshgrid*", "aten::full", "aten::scalar_tensor", "aten::ones", "aten::zeros", "aten::empty*",
        "aten::eye*", "aten::_local_scalar_dense", "aten::rand", "aten::randn", "aten::randperm", "aten::linspace",
        "aten::logspace", "aten::tril_indices", "aten::triu_indices", "aten::_amp_update_scale",
    ),
    "whole lines are put in order, or transformed": (
        "aten::_fft_c2c", "aten::_fft_c2r", "aten::_fft_r2c", "aten::kthvalue", "aten::median", "aten::median.dim",
        "aten::nanmedian", "aten::nanmedian.dim", "aten::topk", "aten::_unique2",
        "aten::mode", "aten::unique_*", "aten::*quantile*",
    ),
    "the difference of two vectors is not read in pieces": (
        "aten::cdist", "aten::_cdist_forward", "aten::_euclidean_dist", "aten::_pdist_forward", "aten::dist",
    ),
    "a factor of three or more is converted as a whole": (
        "aten::bilinear", "aten::linalg_multi_dot", "aten::chain_matmul",
    ),
    "a draw is made as a whole, and what a backend draws is judged as a whole": (
        "aten::rand*_like*", "aten::randint*", "aten::random*", "aten::uniform", "aten::normal*", "aten::exponential",
        "aten::log_normal", "aten::cauchy", "aten::geometric", "aten::bernoulli*", "aten::multinomial",
    ),
    "calls of so many tensors are shorter than a block, which is worked on at once": (
        "aten::_fused_ada*", "aten::_fused_sgd*",
    ),
    "matrices are eliminated as a whole, in integers that grow": (
        "aten::linalg_cholesky*", "aten::cholesky*", "aten::linalg_solve*", "aten::triangular_solve",
        "aten::_linalg_solve_ex", "aten::linalg_inv*", "aten::inverse", "aten::linalg_lu*", "aten::*linalg_*det",
        "aten::*matrix_power", "aten::det", "aten::slogdet", "aten::logdet",
    ),
    "all bags, or all windows, are known before the first one": (
        "aten::_embedding_bag", "aten::embedding_bag*", "aten::max_pool2d_with_indices_backward",
        "aten::_upsample_*_aa*",
    ),
    "where every element goes is known before the first is written": (
        "aten::*select_backward", "aten::slice_backward", "aten::diagonal_backward", "aten::unfold_backward",
        "aten::re*_pad?d_backward", "aten::*upsample_nearest*_backward", "aten::adaptive_max_pool?d_backward",
        "aten::max_pool3d_with_indices_backward",
    ),
    "who reads each element of a line, and its weights, are known before the first sum": (
        "aten::upsample_linear1d_backward", "aten::upsample_bi*_backward", "aten::upsample_trilinear3d_backward",
    ),
    "an operand is laid out anew, or converted, as a whole": (
        "aten::_int_mm", "aten::_scaled_mm", "aten::addbmm", "aten::convolution_backward", "aten::diff",
        "aten::_weight_int8pack_mm", "aten::einsum", "aten::_chunk_cat", "aten::max_unpool2d", "aten::max_unpool3d",
    ),
    "many writes to few elements grow; why is not found yet": (
        "aten::embedding_dense_backward", "aten::index_add", "aten::scatter.reduce", "aten::scatter.value",
        "aten::scatter_add", "aten::scatter_reduce.two",
    ),
    "it grows; why is not found yet": (
        "aten::_adaptive_avg_pool3d*", "aten::_grouped_mm", "aten::addmv", "aten::conv2d.padding", "aten::conv3d",
        "aten::conv3d.padding",
        "aten::group_norm", "aten::layer_norm", "aten::mv", "aten::native_group_norm_backward",
        "aten::native_layer_norm_backward", "aten::adaptive_max_pool3d", "aten::nll_loss2d*", "aten::nll_loss_nd",
        "aten::cosine_similarity", "aten::_prelu_kernel_backward",
        "aten::pairwise_distance", "aten::_scaled_dot_product_attention_math",
    ),
    "scales and zero points of all channels or rows stand beside the elements": (
        "quantized_decomposed::*quantize_per_channel", "quantized_decomposed::*quantize_per_token",
    ),
    "the states of all steps are known before the first": ("aten::*ctc_loss*",),
    "the sums of all gates, and weights as exact numbers, are wholes": (
        "aten::*_cell", "aten::gru.input", "aten::lstm.input", "aten::rnn_*.input",
    ),
    "rows of classes are not read in pieces": ("aten::multi_margin_loss", "aten::multilabel_margin_loss"),
    "the gradients of both halves are wholes before they are put together": ("aten::glu_backward",),
    "what chance decides is drawn as a whole": ("aten::dropout",),
    "too slow beside blocks this small": (
        "aten::baddbmm", "aten::bmm", "aten::conv2d", "aten::conv_transpose1d", "aten::conv_transpose2d.input",
        "aten::conv_transpose3d.input", "aten::grid_sampler_2d", "aten::grid_sampler_3d", "aten::upsample_bicubic2d",
        "aten::upsample_bicubic2d.vec", "aten::upsample_trilinear3d",
        "aten::upsample_trilinear3d.vec",
    ),
}  # fmt: skip


def is_open(op: str) -> bool:
    return any(fnmatch(op, pattern) for patterns in OPEN.values() for pattern in patterns)


def measured_by_spec() -> list[OpSpec]:
    """Those that are neither pointwise, nor aliases, nor another op of each tensor of lists, in CALLS, or open."""
    by_hand = {op for op, _ in CALLS}
    own = (one for one in specs() if canonical(one.name) == one.name and for_each(one.name) is None)
    others = (one for one in own if not is_open(one.name))
    return [one for one in others if one.name not in by_hand and not semantics.traits_of(one.name).pointwise]


def long_calls(spec: OpSpec) -> Iterator[tuple[str, MetaTuple, MetaTuple]]:
    """(which dim is long, the call with a quarter of it, the call): as long as LARGE, or where the tensors would be too
    large then, a quarter of that, and so on."""
    found: dict[str, dict[int, MetaTuple]] = {}
    for size in (LARGE >> 2 * step for step in range(4)):
        for one in scale.with_one_long_dim(spec, size):
            found.setdefault(one.name.replace(str(size), "n"), {})[size] = one.tuple_
    for name, calls in found.items():
        fitting = (size for size, call in calls.items() if elements_of(spec, call) <= MOST and size // 4 in calls)
        large = next(fitting, None)
        if large is not None:
            yield name, calls[large // 4], calls[large]


def elements_of(spec: OpSpec, call: MetaTuple) -> int:
    return sum(number for number, _ in scale.numbers_of(spec, call))


def measured(spec: OpSpec, call: MetaTuple) -> int:
    made = made_arguments(spec, call, Stream(0, spec.name, 0, "memory"))
    return work_space_bytes(spec.name, [*made.args, dict(made.kwargs)])


@pytest.mark.parametrize(
    "spec", [pytest.param(one, marks=pytest.mark.rotating(4)) for one in measured_by_spec()], ids=lambda one: one.name
)
def test_work_space_beside_every_long_dim(spec: OpSpec) -> None:
    found, calls = {}, list(long_calls(spec))
    assert calls, "nothing was measured"
    for name, shorter, longer in calls:
        measured(spec, shorter)  # imports and caches are made
        small, large = measured(spec, shorter), measured(spec, longer)
        if large > 1.2 * small + NOISE:
            found[name] = f"{small} bytes beside {shorter}, {large} beside {longer}"
    assert not found


def test_what_is_open_are_ops() -> None:
    names = semantics.names()
    assert all(any(fnmatch(name, pattern) for name in names) for patterns in OPEN.values() for pattern in patterns)
