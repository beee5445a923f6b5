"""The suites on torch's CPU fail for the reasons that docs/torch-cpu.md lists and no others, and each is torch's.

Torch is held to one instruction set after the other, those that the processor has; each has its rows of the table.
tests/test_torch_cpu_proofs_*.py say what is right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

import conform
from conform.call.aliases import aliases_of
from conform.interp import semantics
from conform.judging.credit import NOT_CREDITED
from conform.judging.likely import TOLD
from conform.judging.verdict import JUDGED
from conform.report.record import Run
from conform.running.waivers import read
from conform.selftest.instruction_sets import PINS, supported, usual
from tests.conftest import ops_of_share

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")

NOT_CONTIGUOUS = (
    "RuntimeError: Expected X.is_contiguous(memory_format) to be true, but got false. (Could this error message be "
    "improved? If so, please report an enhancement request to PyTorch.)"
)
COMPOSED = (
    "logsumexp", "cross_entropy_loss", "prod", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "nll_loss", "nll_loss_forward",
    "_native_batch_norm_legit", "_native_batch_norm_legit_functional", "_native_batch_norm_legit_no_training",
)  # fmt: skip

NOT_VIEWED = (
    "RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans "
    "across two contiguous subspaces). Use .reshape(...) instead."
)
READ_BETWEEN = ("9223372036854775807", "-72340172838076674")  # what lies between and behind the elements of indices
STRIDES_UNREAD = (
    ("RuntimeError: Your input appears to be incorrect: the last offset value should be the size of the indices "
     "tensor, but it seems not to be the case."),
    NOT_CONTIGUOUS.replace("X.is_contiguous(memory_format)", "i < index_size"),
    *(f"RuntimeError: embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {read}"
      for read in READ_BETWEEN),
    *(f"RuntimeError: Index 1 of input takes value {read} which is not in the valid range [0, {rows})"
      for read in READ_BETWEEN for rows in (5, 37)),
)  # fmt: skip
ALIASES: dict[str, set[str]] = {}  # of each op, without overloads
for _alias, _name in aliases_of(set(semantics.names())):
    ALIASES.setdefault(_name.partition(".")[0], set()).add(_alias.partition(".")[0])

NAN, ERROR = "NaN where a number is expected", "error above the bound"
SHARES = "output 0 shares memory with tensor argument 0"
INT8_NOT_CONTIGUOUS = (
    "RuntimeError: _weight_int8pack_mm_cpu : A must be contiguous on the last dimension.",
    "RuntimeError: _weight_int8pack_mm_cpu : expect B to be contiguous.",
)
# (op without overload, dtype, reason), as a run says it: what fails on every instruction set.
EVERYWHERE = {
    *(
        ("aten::_to_copy", "float64", reason)
        for reason in ("not the correctly rounded result", NAN)
    ),
    *(("aten::sqrt", "float64", "not the correctly rounded result"),),
    ("aten::gelu", "float32", ERROR),
    *(
        (op, dtype, ERROR)
        for op in ("aten::_softmax", "aten::_log_softmax")
        for dtype in ("float16", "bfloat16")
    ),
    *((f"aten::{op}", dtype, ERROR) for op in ("softmax", "log_softmax")
      for dtype in (*FLOATS, *INTEGERS)),  # into halves
    *(("aten::index_put", dtype, ERROR) for dtype in ("float16", "bfloat16")),
    *((f"aten::{op}", "float16", reason)
      for op in ("convolution", "_convolution", "convolution_backward") for reason in (ERROR, NAN)),
    *(
        (f"aten::native_{norm}_norm_backward", dtype, reason)
        for norm in ("layer", "batch", "group") for dtype in FLOATS for reason in (ERROR, NAN)
    ),
    *((f"aten::{op}", dtype, reason)
      for op in ("instance_norm", "batch_norm", "native_batch_norm", "_native_batch_norm_legit_functional")
      for dtype in ("float16", "bfloat16") for reason in (ERROR, TOLD)),
    ("aten::instance_norm", "bfloat16",
     "RuntimeError: mixed dtype (CPU): expect parameter to have scalar type of Float"),
    ("aten::batch_norm", "float32", NAN),
    ("aten::native_group_norm_backward", "float32",
     "the backend accepted invalid arguments: they break group in divisors of C"),
    ("aten::native_dropout", "float32", "output 1: dtype float32 instead of bool"),
    *(
        (op, dtype, NAN)
        for op in ("aten::i0", "aten::special_i0", "aten::special_i1")
        for dtype in FLOATS
    ),
    *((op, dtype, ERROR) for op in ("aten::i0", "aten::special_i0", "aten::special_i1") for dtype in INTEGERS),
    *(("aten::special_i1", dtype, "wrong sign of zero") for dtype in FLOATS),
    *(("aten::special_i1", dtype, ERROR) for dtype in ("float32", "float64")),
    *((op, "float64", ERROR) for op in ("aten::digamma", "aten::special_digamma")),
    ("aten::special_ndtri", "float32", ERROR),  # of one number in 100,003, and that with some libm alone
    *(
        ("aten::pow", dtype, reason)
        for dtype in ("bfloat16", "float32", "float64")
        for reason in (NAN, "wrong sign of zero")
    ),
    *(("aten::rsqrt", dtype, ERROR) for dtype in ("float16", "bfloat16")),
    *(
        ("aten::special_ndtr", dtype, ERROR)
        for dtype in (*FLOATS, "int8", "int16", "int32", "int64")
    ),
    *(
        (op, dtype, ERROR)
        for op in ("aten::xlogy", "aten::special_xlogy")
        for dtype in ("float16", "bfloat16")
    ),
    *((f"aten::special_{op}", dtype, ERROR) for op in ("entr", "i0e", "xlog1py") for dtype in ("float16", "bfloat16")),
    *(("aten::special_xlog1py", dtype, ERROR) for dtype in (*INTEGERS, "float32")),  # beside a half type
    *((f"aten::special_bessel_{j}", dtype, NAN) for j in ("j0", "j1") for dtype in ("float32", "float64")),
    *((f"aten::special_bessel_{j}", dtype, ERROR) for j in ("j0", "j1") for dtype in ("float32", "float64", *INTEGERS)),
    *((f"aten::special_modified_bessel_{i}", dtype, NAN) for i in ("i0", "i1") for dtype in ("float32", "float64")),
    *((f"aten::special_modified_bessel_{i}", dtype, ERROR) for i in ("i0", "i1") for dtype in INTEGERS),
    *((f"aten::special_{scaled}modified_bessel_k1", "float64", NAN) for scaled in ("", "scaled_")),
    ("aten::special_modified_bessel_k0", "float64", ERROR),
    *(("aten::special_scaled_modified_bessel_k0", dtype, ERROR) for dtype in ("float32", "float64")),
    *(("aten::special_erfcx", dtype, ERROR) for dtype in ("float32", "float64")),
    *(("aten::special_i1e", dtype, "wrong sign of zero") for dtype in FLOATS),
    *(("aten::logit", dtype, ERROR) for dtype in ("float16", "bfloat16")),
    *((f"aten::{op}", dtype, ERROR) for op in COMPOSED for dtype in ("float16", "bfloat16")),
    ("aten::kl_div", "float16", NAN),
    *(
        ("aten::native_group_norm", dtype, reason)
        for dtype in FLOATS
        for reason in (NOT_CONTIGUOUS, NAN, ERROR)
    ),
    *(
        (op, dtype, NAN)
        for op in ("aten::log1p", "aten::special_log1p", "aten::pow")
        for dtype in ("complex64", "complex128")
    ),
}
# What the calls derived from the specs find beside that. The dtype is that of the first tensor here too, which says
# little of a call that asks for another dtype, or promotes.
EVERYWHERE |= {
    ("aten::addmm", "float32", "a number where NaN is expected"),
    ("aten::div", "float32", ERROR),
    *(("aten::_native_batch_norm_legit", dtype, TOLD) for dtype in ("float16", "bfloat16")),
    ("aten::native_layer_norm", "float32", NAN),
    *(("aten::prod", dtype, ERROR) for dtype in ("float32", "float64", "int64")),
    ("aten::prod", "float16", NAN),
    *((op, dtype, ERROR) for op in ("aten::xlogy", "aten::special_xlogy") for dtype in INTEGERS),
    ("aten::pow", "int32", NAN),
    *(("aten::ldexp", dtype, reason) for dtype in ("float16", *INTEGERS) for reason in ("wrong infinity", ERROR)),
    *(("aten::embedding_dense_backward", dtype, ERROR) for dtype in ("float16", "bfloat16")),
    ("aten::scatter_reduce", "bfloat16", ERROR),
    *(("aten::_embedding_bag", dtype, reason) for dtype in FLOATS for reason in STRIDES_UNREAD),
    *(("aten::_embedding_bag", dtype, ERROR) for dtype in ("float16", "bfloat16")),
    *(("aten::_embedding_bag", dtype, "a number where NaN is expected") for dtype in FLOATS),
    *(("aten::_pdist_forward", dtype, "RuntimeError: _pdist_forward requires contiguous input")
      for dtype in ("float32", "float64")),
    *(("aten::linspace", dtype, ERROR) for dtype in ("float16", "bfloat16")),
    ("aten::index_add", "bfloat16", ERROR),
    *((f"aten::{op}", dtype, ERROR) for op in ("div", "divide", "true_divide")  # of numbers that some draws have
      for dtype in ("complex64", "complex128", "float32", *INTEGERS)),
    *(("aten::grid_sampler_2d", dtype, reason) for dtype in FLOATS for reason in (ERROR, "wrong sign of zero")),
    ("aten::pixel_unshuffle", "float32", "output 0: shape [2, 3, 0] instead of [18, 1, 0]"),
    *(
        ("aten::meshgrid", dtype, SHARES)
        for dtype in ("bool", *INTEGERS, *FLOATS, "complex64", "complex128")
    ),
}
# Products of stacks and vectors, pooling, sampling: partial sums held in the half type, or channels_last of five dims.
EVERYWHERE |= {
    *((op, dtype, ERROR) for dtype in ("float16", "bfloat16") for op in (
        "aten::addbmm", "aten::addmv", "aten::addr", "aten::_adaptive_avg_pool3d",
        "aten::_adaptive_avg_pool2d_backward",
        "aten::max_pool2d_with_indices_backward", "aten::grid_sampler_2d",
    )),
    *((op, "bfloat16", ERROR) for op in ("aten::avg_pool2d_backward", "aten::col2im")),
    ("aten::addbmm", "float16", NAN),
    *((op, "float32", "a number where NaN is expected") for op in ("aten::addbmm", "aten::addmv")),
    ("aten::_adaptive_avg_pool2d_backward", "float16", NAN),
    *(("aten::grid_sampler_2d", dtype, NAN) for dtype in FLOATS),
    *((op, dtype, "RuntimeError: Unsupported memory format. Supports only ChannelsLast3d, Contiguous")
      for op in ("aten::max_pool3d", "aten::max_pool3d_with_indices") for dtype in ("int64", *FLOATS)),
    *(("aten::kron", dtype, NOT_VIEWED) for dtype in ("bool", "int64", *FLOATS)),
}  # fmt: skip
EVERYWHERE |= {(alias, *row) for op, *row in EVERYWHERE for alias in ALIASES.get(op, ())}
# Sums and means of what is not NaN: partial sums, and the sum before its division, rounded to the half type.
EVERYWHERE |= {
    *(("aten::nansum", dtype, ERROR) for dtype in ("float16", "bfloat16")),
    *(("aten::nanmean", dtype, ERROR) for dtype in FLOATS),
}
# Gradients of padding, pooling and windows are added up in the half type, and memory is read without strides.
EVERYWHERE |= {
    *((f"aten::{op}_backward", dtype, ERROR) for dtype in ("float16", "bfloat16") for op in (
        "_adaptive_avg_pool3d", "adaptive_max_pool2d", "max_pool3d_with_indices", "reflection_pad1d",
        "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d", "replication_pad3d",
        "unfold")),
    *(("aten::adaptive_max_pool3d_backward", dtype, ERROR) for dtype in FLOATS),
    *(("aten::max_pool3d_with_indices_backward", dtype,
       "RuntimeError: Unsupported memory format. Supports only ChannelsLast3d, Contiguous") for dtype in FLOATS),
    ("aten::max_pool3d_with_indices_backward", "float32",
     "the backend accepted invalid arguments: they break 0 <= padding[i]"),
}  # fmt: skip
# Windows and frequencies, each step of which is rounded to the half type.
EVERYWHERE |= {
    (f"aten::{op}", dtype, ERROR)
    for op in ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "fft_fftfreq", "fft_rfftfreq")
    for dtype in ("float16", "bfloat16")
}
# Products of the half type, which are added up.
EVERYWHERE |= {
    *((f"aten::{op}", dtype, ERROR) for op in ("linalg_vecdot", "tensordot") for dtype in ("float16", "bfloat16")),
    ("aten::linalg_vecdot", "float16", NAN),
}
# Cross products and intervals in the half type; flattened as a view.
EVERYWHERE |= {
    *((f"aten::{op}", dtype, ERROR) for op in ("cross", "linalg_cross", "histc") for dtype in ("float16", "bfloat16")),
    *((f"aten::{op}", "float16", NAN) for op in ("cross", "linalg_cross")),
    *(("aten::take_along_dim", dtype, NOT_VIEWED)
      for dtype in ("bool", *INTEGERS, *FLOATS, "complex64", "complex128")),
}  # fmt: skip
# Weights, and places of a grid, in the half type; NaN in a grid of three coordinates.
EVERYWHERE |= {
    *(("aten::upsample_bicubic2d", dtype, ERROR) for dtype in ("float16", "bfloat16")),
    *(("aten::grid_sampler_3d", dtype, ERROR) for dtype in FLOATS),
}
# Transposed convolutions of half types add up in these.
EVERYWHERE |= {
    *((f"aten::upsample_{op}", "bfloat16", ERROR) for op in ("linear1d", "trilinear3d")),  # weights of the half type
    *((f"aten::conv_transpose{rank}d", dtype, reason) for rank in (1, 2, 3) for dtype, reason in (
        ("float16", ERROR), ("float16", NAN), ("bfloat16", ERROR))),
    ("aten::_int_mm", "int8", "wrong value"),  # expanded and strided operands; others where there is no VNNI
    *(("aten::kron", dtype, "output 0: dtype float64 instead of float32") for dtype in ("float32", "float64")),
}  # fmt: skip
# Fused optimizers go through memory in its order, whatever the strides; in half types they err in vectors.
EVERYWHERE |= {
    *((f"aten::_fused_{op}", dtype, ERROR) for op in ("adam", "adamw", "sgd", "adagrad") for dtype in FLOATS),
    *(("aten::_fused_sgd", dtype, reason) for dtype in ("float16", "bfloat16")
      for reason in (NAN, "wrong infinity", "a number where NaN is expected")),
    *(("aten::_fused_adagrad", dtype, NAN) for dtype in ("float16", "bfloat16")),
}  # fmt: skip
# A place that NaN in the grid names, or that is computed in the half type, meets an infinity or does not.
EVERYWHERE |= {
    (op, dtype, reason)
    for op in ("aten::grid_sampler_2d", "aten::grid_sampler_3d")
    for dtype in FLOATS
    for reason in (NAN, "wrong infinity", "a number where NaN is expected")
}
# Names that people write kernels for: composed in the half type; one wide, of no samples, of gaps in memory.
FLASH = "aten::_scaled_dot_product_flash_attention_for_cpu"
EVERYWHERE |= {
    *((f"aten::{op}", dtype, ERROR) for dtype in ("float16", "bfloat16") for op in (
        "soft_margin_loss", "hinge_embedding_loss", "margin_ranking_loss", "poisson_nll_loss", "nll_loss2d",
        "nll_loss2d_forward", "cosine_similarity", "pairwise_distance",
    )),
    ("aten::cosine_similarity", "float16", NAN),
    *((f"aten::{op}", "float32", "a number where NaN is expected")
      for op in ("multi_margin_loss", "multilabel_margin_loss")),
    ("aten::mode", "float32", "wrong value"),
    *((f"aten::{op}", dtype, ERROR) for dtype in ("float16", "bfloat16")
      for op in ("nll_loss_nd", "triplet_margin_loss", "cosine_embedding_loss", "einsum", "bilinear",
                 "linalg_multi_dot", "chain_matmul", "conv_tbc")),
    *((f"aten::{op}", "float16", NAN) for op in ("bilinear", "linalg_multi_dot")),
    *((f"aten::_add_relu.{overload}", "float32", reason) for overload in ("Tensor", "Scalar")
      for reason in ("wrong infinity", "a number where NaN is expected")),
    *((f"aten::_add_relu.{overload}", "float64", "wrong infinity") for overload in ("Tensor", "Scalar")),
    ("aten::_addmm_activation", "float32", "a number where NaN is expected"),
    ("aten::conv_tbc", "float32", NOT_VIEWED),
    *((f"aten::{op}", "float32", ERROR)
      for op in ("fake_quantize_per_channel_affine", "fake_quantize_per_channel_affine_cachemask")),
    ("aten::fake_quantize_per_channel_affine_cachemask", "float32", "wrong value"),
    *((f"aten::{op}", dtype, NAN) for op in ("quantile", "nanquantile") for dtype in ("float32", "float64")),
    *(("aten::einsum", dtype, SHARES) for dtype in (*FLOATS, "int64")),
    *(("aten::_weight_int8pack_mm", dtype, reason) for dtype in ("float16", "bfloat16", "float32")
      for reason in (NAN, ERROR, *INT8_NOT_CONTIGUOUS)),
    ("quantized_decomposed::dequantize_per_tensor", "int32", ERROR),
    ("aten::polar", "float64", ERROR),
    *((f"aten::_upsample_{op}2d_aa", "float32", reason) for op in ("bilinear", "bicubic")
      for reason in (ERROR, NAN, "wrong infinity", "a number where NaN is expected")),
    *((FLASH, dtype, reason) for dtype in FLOATS for reason in (ERROR, NAN, "a number where NaN is expected")),
    *(("aten::embedding_bag", *row) for op, *row in EVERYWHERE if op == "aten::_embedding_bag"),
}  # fmt: skip
# Gradients of elements: composed, or with constants, in a narrower type; one that takes no strides.
EVERYWHERE |= {
    *((f"aten::{op}_backward", dtype, ERROR) for dtype in ("float16", "bfloat16") for op in (
        "logit", "glu", "mse_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy",
    )),
    ("aten::sigmoid_backward", "float16", ERROR),
    ("aten::nll_loss2d_backward", "bfloat16", ERROR),
    ("aten::hardsigmoid_backward", "float64", ERROR),
    *(("aten::nll_loss2d_backward", dtype, "RuntimeError: grad_input must be contiguous") for dtype in FLOATS),
}  # fmt: skip
# Gamma functions of two operands, Bessel functions and polynomials: NaN that is not looked for, and constants, series
# and sums that are cut short.
GAMMAS = ("igamma", "igammac", "special_gammainc", "special_gammaincc")
POLYGAMMAS = ("polygamma", "special_polygamma")
STOPS_AT_NAN = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "uvw"),
    "shifted_chebyshev_polynomial_t", "laguerre_polynomial_l", "legendre_polynomial_p",
)  # fmt: skip
EVERYWHERE |= {
    *((f"aten::{op}", "float64", ERROR) for op in (*GAMMAS, *POLYGAMMAS)),
    *((f"aten::{op}", dtype, "a number where NaN is expected")
      for op in (*GAMMAS, "special_zeta") for dtype in (*FLOATS, *INTEGERS)),
    *((f"aten::{op}", dtype, ERROR)
      for op in (*POLYGAMMAS, "mvlgamma", "special_multigammaln") for dtype in ("float16", "bfloat16")),
    *((f"aten::{op}", dtype, reason) for op in POLYGAMMAS for dtype in ("bfloat16", "float32", "float64")
      for reason in (NAN, "wrong infinity")),
    *((f"aten::{op}", "float64", "no answer for 30 s") for op in POLYGAMMAS),
    *((f"aten::special_bessel_{y}", dtype, ERROR) for y in ("y0", "y1") for dtype in ("float32", "float64", *INTEGERS)),
    *((f"aten::special_bessel_{y}", dtype, NAN) for y in ("y0", "y1") for dtype in ("float32", "float64")),
    *((f"aten::special_{op}", dtype, "a number where NaN is expected")
      for op in STOPS_AT_NAN for dtype in ("float32", "float64", *INTEGERS)),
}  # fmt: skip
# ATen's vectorised kernels: those for AVX2 and AVX-512 compute the same.
VECTORS = ("avx2", "avx512", "avx512_bf16", "avx512_fp16")
AVX512 = ("avx512", "avx512_bf16", "avx512_fp16")
BF16 = ("avx512_bf16", "avx512_fp16")
# What fails on these instruction sets and on no others.
ONLY_ON: dict[tuple[str, str, str], tuple[str, ...]] = {
    **{  # bool, int32: with a float32 tensor, float16 with a bfloat16 one
        (op, dtype, NAN): VECTORS
        for op in ("aten::remainder", "aten::fmod")
        for dtype in ("bfloat16", "float32", "float64", "bool", "int32", "float16")
    },
    **{
        (op, dtype, ERROR): VECTORS
        for op in ("aten::sinh", "aten::cosh")
        for dtype in ("bfloat16", "float32", "float64", *INTEGERS)
    },
    **{
        (op, "bfloat16", ERROR): VECTORS
        for op in ("aten::erf", "aten::special_erf", "aten::lgamma", "aten::special_gammaln")
    },
    ("aten::gelu", "float32", "wrong sign of zero"): ("default", "avx2"),
    **{("aten::gelu", dtype, NAN): AVX512 for dtype in ("float32", "bfloat16")},
    ("aten::gelu", "float16", NAN): ("avx512_fp16",),
    ("aten::convolution", "bfloat16", ERROR): ("default", "avx2", *BF16),
    ("aten::_convolution", "bfloat16", ERROR): ("default", "avx2"),
    ("aten::convolution_backward", "bfloat16", ERROR): ("default", "avx2"),
    ("aten::convolution_backward", "bfloat16", NAN): AVX512,
    **{(op, "bfloat16", NAN): BF16 for op in ("aten::convolution", "aten::mm", "aten::addmm")},
}
# Invalid calls of core of which the process dies, and offsets that are not contiguous.
CRASHES = {
    *(f"aten::_fused_{op}{overload}" for op in ("adam", "adamw", "sgd", "adagrad") for overload in ("", ".tensor_lr")),
    "aten::_embedding_bag", "aten::embedding_bag", "aten::embedding_bag.padding_idx",
    "aten::_native_batch_norm_legit.no_stats", "aten::_native_batch_norm_legit_no_training", "aten::lcm",
    "aten::_weight_int8pack_mm", "aten::expand", "aten::native_layer_norm_backward", "aten::native_batch_norm_backward",
    "aten::max_pool2d_with_indices_backward", "aten::adaptive_max_pool3d_backward", "aten::reflection_pad2d_backward",
    "aten::reflection_pad3d_backward",
}  # fmt: skip
# What torch lacks, or its CPU.
NOT_IN_TORCH = {
    "torch 2.13.0+cpu has no operator aten::cbrt",
    *(f"Could not run 'aten::_scaled_dot_product_{kernel}_attention' with arguments from the 'CPU' backend"
      for kernel in ("flash", "efficient", "cudnn")),
    "_scaled_dot_product_fused_attention_overrideable not implemented",
}

PACKETS = frozenset(name.partition(".")[0] for name in semantics.names())


def on(instruction_set: str, *values: str) -> object:
    """A parameter set that runs where the processor has the instruction set."""
    lacks = pytest.mark.skipif(instruction_set not in supported(), reason=f"this processor has no {instruction_set}")
    return pytest.param(instruction_set, *values, marks=lacks)


@pytest.fixture
def pinned(instruction_set: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The instruction set whose kernels the workers of this test take."""
    return pin(instruction_set, monkeypatch)


def pin(instruction_set: str, monkeypatch: pytest.MonkeyPatch) -> str:
    for variable, value in PINS[instruction_set].items():
        monkeypatch.setenv(variable, value)
    return instruction_set


def assert_only_known(run: Run, instruction_set: str, ops: Set[str] = PACKETS) -> None:
    """What fails is known of the instruction set, and what holds on some of them alone shows where it should: of the
    ops that were run."""
    numerics = run.record["environment"]["numerics"]
    assert numerics["instructions"] == PINS[instruction_set]["ATEN_CPU_CAPABILITY"].upper()
    assert {name: numerics[name] for name in PINS[instruction_set]} == PINS[instruction_set]
    crashed = {case["op"] for case in run.cases if case["status"] == "crash"}
    assert crashed <= CRASHES
    found = {(packet_of(case), case["dtype"], reason_of(case)) for case in failed_in(run) if case["status"] != "crash"}
    expected = {row for row, sets in ONLY_ON.items() if instruction_set in sets and row[0] in ops}
    assert found - EVERYWHERE == expected


def assert_waived(run: Run) -> None:
    """That the shipped waivers expect every failure."""
    waivers = read("torch-cpu").for_backend(run.record["environment"]["numerics"]).entries
    failed = [SimpleNamespace(**case) for case in failed_in(run)]
    assert [one.id for one in failed if not any(each.is_for(one) and each.expects(one) for each in waivers)] == []


def failed_in(run: Run) -> list[dict]:
    return [case for case in run.cases if case["status"] not in ("pass", "unspecified", "unjudged", "unsupported")]


@pytest.mark.whole_suite
@pytest.mark.parametrize("instruction_set", [on(usual())])
def test_a_share_of_the_ops_fails_for_known_reasons_only(pinned: str, pytestconfig: pytest.Config) -> None:
    share = ops_of_share(pytestconfig)
    run = conform.check("core", backend="cpu", layouts="as-written", ops=sorted(share))
    assert_only_known(run, pinned, share)
    if pinned != "default":  # of which there are no waivers
        assert_waived(run)


@pytest.mark.long
@pytest.mark.parametrize(
    ("instruction_set", "layouts"), [on(name, layouts) for name in PINS for layouts in ("as-written", "all")]
)
def test_torch_cpu_fails_for_known_reasons_only(pinned: str, layouts: str) -> None:
    run = conform.check("core", backend="cpu", layouts=layouts)
    vacuous = [case for case in run.cases if case["rule"] == "vacuous bound"]
    assert len(vacuous) < 0.002 * len(run.cases)  # rows of the largest numbers, sums of 200,006 of float32
    assert len(vacuous) == run.summary["unjudged"]  # every op has a bound
    elements = [sum(case[count] for case in run.cases) for count in ("vacuous", "compared")]
    assert elements[0] < 0.05 * elements[1]
    unsupported = [case for case in run.cases if case["status"] == "unsupported"]
    assert {case["reason"] for case in unsupported} == NOT_IN_TORCH
    assert_only_known(run, pinned)
    assert run.summary["conformance"] > 0.96  # most of what fails are losses of half types


@pytest.mark.long
@pytest.mark.parametrize("instruction_set", [on(name) for name in PINS if name != usual()])
def test_what_depends_on_the_instruction_set_shows_where_it_should(pinned: str) -> None:
    ops = sorted({op for op, _, _ in ONLY_ON})
    ids = ["*/special/*", "convolution_backward/dtype_bfloat16/*/special.*"]
    assert_only_known(conform.check("core", backend="cpu", ops=ops, ids=ids), pinned)


@pytest.mark.one_in(7)  # which has no factor in common with the number of sets
def test_and_on_the_set_that_the_seed_names(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    others = sorted({*supported()} - {usual()}) or [usual()]
    chosen = others[pytestconfig.getoption("--seed") % len(others)]
    test_what_depends_on_the_instruction_set_shows_where_it_should(pin(chosen, monkeypatch))


def packet_of(case: dict) -> str:
    return case["op"].partition(".")[0]


def reason_of(case: dict) -> str:
    return case["reason"]


def test_the_page_names_the_instruction_sets_of_each_row() -> None:
    page = Path(__file__).parents[1].joinpath("docs/torch-cpu.md").read_text(encoding="utf-8")
    told: dict[tuple[str, str], set[str]] = {}
    for ops, dtypes, sets in re.findall(r"^\| (`.*) \| (.*) \| .* \| .* \| (`[^|]*) \|$", page, re.MULTILINE):
        for op, dtype in product(re.findall(r"`(\w+)`", ops), dtypes_of(dtypes)):
            told.setdefault((f"aten::{op}", dtype), set()).update(re.findall(r"`(\w+)`", sets))
    known: dict[tuple[str, str], set[str]] = {}
    for (op, dtype, _), sets in ONLY_ON.items():
        known.setdefault((op, dtype), set()).update(sets)
    assert told == known


@pytest.mark.long
@pytest.mark.parametrize("instruction_set", [on(name) for name in PINS])
def test_the_page_counts_the_failures_of_each_set_side_by_side(pinned: str) -> None:
    rows = rows_of_the_page()
    assert {f"aten::{op}" for op, _ in rows} >= {op for op, _, _ in ONLY_ON}
    assert_counted(rows, pinned)


@pytest.mark.one_in(7)
def test_and_a_few_of_the_set_that_the_seed_names(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed, rows = pytestconfig.getoption("--seed"), rows_of_the_page()
    few = sorted({op for op, _ in rows})[seed % 5 :: 5]
    sets = sorted(supported()) or [usual()]
    chosen = pin(sets[seed % len(sets)], monkeypatch)
    assert_counted({row: told for row, told in rows.items() if row[0] in few}, chosen)


def rows_of_the_page() -> dict[tuple[str, str], list[str]]:
    """Of each op and dtype how many cases were judged, and how many of them fail on each set."""
    page = Path(__file__).parents[1].joinpath("docs/torch-cpu.md").read_text(encoding="utf-8")
    row = r"^\| `(\w+)` \| (\w+)" + r" \| (\d+)" * (1 + len(PINS)) + r" \|$"
    return {(op, dtype): told for op, dtype, *told in re.findall(row, page, re.MULTILINE)}


def assert_counted(rows: Mapping[tuple[str, str], Sequence[str]], pinned: str) -> None:
    run = conform.check("core", backend="cpu", layouts="as-written", ops=sorted({f"aten::{op}" for op, _ in rows}))
    place = 1 + list(PINS).index(pinned)
    for (op, dtype), told in rows.items():
        judged = [case for case in run.cases if (packet_of(case), case["dtype"]) == (f"aten::{op}", dtype)]
        judged = [case for case in judged if case["status"] in JUDGED]
        # A kernel that reads past its memory dies on some machines and not on others; CRASHES says which ops may.
        failed = sum(case["status"] not in ("pass", "crash") for case in judged)
        assert [op, dtype, str(len(judged)), str(failed)] == [op, dtype, told[0], told[place]]


def dtypes_of(cell: str) -> set[str]:
    """The dtypes that a cell of the page names; `with` begins a remark."""
    names = set(re.findall(r"\w+", re.sub(r" with .*", "", cell)))
    return names - {"integers"} | (set(INTEGERS) if "integers" in names else set())


@pytest.mark.long
@pytest.mark.parametrize("instruction_set", [on(name) for name in PINS if name != "default"])  # it has no waivers
def test_calls_from_the_specs_fail_for_known_reasons_only(pinned: str) -> None:
    run = conform.check(["generated", "negative"], backend="cpu")
    assert {case["reason"] for case in run.cases if case["status"] == "unsupported"} <= NOT_IN_TORCH
    assert {case["rule"] for case in run.cases if case["status"] == "unjudged"} <= {NOT_CREDITED, "vacuous bound"}
    assert_waived(run)
