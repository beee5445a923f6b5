"""Verdicts of backends that declare their arithmetic, and of sums, whose failures say what they look like."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import conform
from conform.call.bound import bound_call
from conform.contracts.accumulation import STATISTICS_SOURCE
from conform.contracts.arithmetic import IEEE, Arithmetic, arithmetic_of
from conform.contracts.causes import cut
from conform.contracts.tables import contract_table
from conform.errors import UsageError
from conform.findings.findings import with_cause
from conform.interp import semantics
from conform.interp.evaluate import evaluate_call
from conform.judging.case import verdict_of
from conform.judging.verdict import FLUSHED, Verdict
from conform.running import underway, verdicts
from tests.contracts.test_accumulation import sequential, truncating
from tests.interp.ops.literal import bf16
from tests.judging.test_case import case, returned

OPENCL = contract_table("opencl")
F32 = np.float32
FLUSHING = Arithmetic(flushes_subnormals=True)
TF32, F16ACC = Arithmetic("tf32"), Arithmetic("f16acc")
TINY = 2.0**-130  # a subnormal number of float32


def verdict(op: str, args: list[Any], actual: Any, declared: Arithmetic = IEEE, **keywords: Any) -> Verdict:
    """Of the output `actual`, or of a tuple of them."""
    call = bound_call(op, args, keywords)
    outputs = actual if isinstance(actual, tuple) else (actual,)
    return verdict_of(case(call.op), call, evaluate_call(call), returned(*outputs), OPENCL, declared)


def told(op: str, args: list[Any], actual: Any) -> Verdict:
    """The verdict with the cause of the wrong elements, as on a call of the user's."""
    return with_cause(verdict(op, args, actual))


NOT_OF_TWO_FACTORS = {
    "aten::_int_mm",  # integers
    "aten::_scaled_mm",  # 8-bit floats, of which every arithmetic that is declared holds the digits
    "aten::_weight_int8pack_mm",  # a product of a float and an integer, whose type nothing declares
    "aten::trace",  # a sum of elements
    "aten::linalg_vecdot",  # along a dim that the call names, and so
    "aten::tensordot",  # along several
    "aten::bilinear",  # of three factors
    "aten::_addmm_activation",  # what is above zero of one
    "aten::conv_tbc",  # of a convolution that is laid out anew
    "aten::convolution_backward",  # three sums, each of other factors: held to its element type, whatever is declared
}


def test_every_contraction_of_floats_that_adds_up_names_its_factors() -> None:
    of_family = [name for name in semantics.names() if semantics.find(name).family == "contraction"]
    of_sums = [name for name in of_family if semantics.traits_of(name).accumulates and name not in NOT_OF_TWO_FACTORS]
    assert len(of_sums) > 10
    assert all(semantics.traits_of(name).products for name in of_sums)


# --- Flushing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "args", "actual"),
    [
        ("aten::mul", [F32([TINY]), F32([2.0**20])], F32([0.0])),  # the operand is flushed, the result were normal
        ("aten::add", [F32([-TINY]), F32([0.0])], F32([0.0])),  # -0 + 0
        ("aten::exp", [F32([-90.0])], F32([0.0])),  # the result is flushed
        ("aten::eq", [F32([TINY]), F32([0.0])], np.array([True])),
        ("aten::mm", [F32([[TINY, 1.0]]), F32([[2.0**20], [2.0**-128]])], F32([[0.0]])),
    ],
)
def test_a_backend_that_declares_flushing_may_flush(op: str, args: list[Any], actual: np.ndarray) -> None:
    assert verdict(op, args, actual).status == "fail"
    assert verdict(op, args, actual, FLUSHING).status == "pass"


NORMAL = 2.0**-126  # the smallest normal number of float32
C64, F64, F16 = np.complex64, np.float64, np.float16
ORDER = np.int64([[0, 1]])

# op, args, what an honest implementation that flushes returns, and the nearest wrong result.
OF_FLUSHING = [
    # Comparisons take subnormals for zeros, and choose a zero or move what they chose.
    ("aten::maximum", [F32([-TINY]), F32([-1.0])], F32([-0.0]), F32([-1.0])),
    ("aten::maximum", [F32([-TINY]), F32([-TINY / 2])], F32([-TINY]), F32([-TINY / 4])),
    ("aten::minimum", [F32([TINY]), F32([NORMAL])], F32([0.0]), F32([NORMAL])),
    ("aten::minimum", [F32([NORMAL / 2]), F32([NORMAL])], F32([0.0]), F32([NORMAL])),
    ("aten::amax", [F32([[-TINY, -TINY / 2, -1.0]]), [1]], F32([-TINY]), F32([-1.0])),
    ("aten::sort", [F32([[TINY, -TINY]])], (F32([[TINY, -TINY]]), ORDER), (F32([[-TINY, TINY]]), ORDER)),
    ("aten::sort", [F32([[TINY, -TINY]])], (F32([[0.0, -0.0]]), ORDER), (F32([[NORMAL, 0.0]]), ORDER)),
    ("aten::sort", [F32([[NORMAL, TINY]])], (F32([[TINY, NORMAL]]), ORDER[:, ::-1]), (F32([[NORMAL, TINY]]), ORDER)),
    ("aten::argmax", [F32([TINY, 2 * TINY])], np.array(0), None),
    # What has to be converted is flushed; what is only moved is not.
    ("aten::where", [np.array([True]), F32([TINY]), F64([1.0])], F64([0.0]), F64([TINY / 2])),
    ("aten::where", [np.array([True]), F64([2.0**-1030]), F32([1.0])], F64([2.0**-1030]), F64([0.0])),
    # The negative of a complex number may be 0 - z.
    ("aten::neg", [C64([TINY + 1j])], C64([-1j]), C64([0])),
    ("aten::neg", [C64([NORMAL + 1j])], C64([-NORMAL - 1j]), C64([-1j])),
    ("aten::angle", [C64([complex(-0.0, TINY)])], F32([np.pi]), F32([-np.pi])),
    # A normal number beside a flushed one was not kept: TINY - NORMAL, TINY + TINY
    ("aten::add", [F32([TINY, TINY]), F32([-NORMAL, TINY])], F32([-NORMAL, 0.0]), F32([0.0, 0.0])),
    ("aten::scatter_reduce", [F32([0.0]), 0, ORDER[0, :1], F32([TINY]), "amax"], F32([0.0]), F32([TINY / 2])),
    # How many elements are found hangs on what is taken for zero.
    ("aten::nonzero", [F32([TINY, 1.0])], np.int64([[1]]), np.int64([[0]])),
    ("aten::nonzero", [F32([TINY, 1.0])], np.int64([[0], [1]]), np.int64([[0], [1], [2]])),
    # What was taken for zero may be returned as it is.
    ("aten::remainder", [F32([-TINY]), F32([2.5])], F32([-TINY]), F32([-TINY / 2])),
    # Results on the way: e^-88 is subnormal, e^-80 is not.
    ("aten::silu", [F32([-88.0, 0.0])], F32([-0.0, 0.0]), F32([-2e-35, 0.0])),
    ("aten::silu", [F32([-80.0])], F32([-1.4438108e-33]), F32([-0.0])),
    ("aten::mish", [F32([-88.0, 0.0])], F32([-0.0, 0.0]), F32([-2e-35, 0.0])),
    ("aten::softplus", [F32([-87.0, 0.0])], F32([0.0, 0.6931472]), F32([5e-37, 0.6931472])),
    ("aten::kl_div", [F32([0.3, 0.0]), F32([2 * NORMAL, 1.0]), 0], F32([-2.0369763e-36, 0.0]), F32([-1.9e-36, 0.0])),
    # A number is read in a type in which it is subnormal, a 0-d tensor like it.
    ("aten::mul", [F32([2.0**20]), TINY], F32([0.0]), F32([TINY])),
    ("aten::mul", [F32([2.0**20]), NORMAL], F32([2.0**-106]), F32([0.0])),
    ("aten::mul", [F32([2.0**20]), np.array(TINY)], F32([0.0]), F32([TINY])),
    ("aten::mul", [F16([1024.0]), 2.0**-20], F16([0.0]), F16([2.0**-20])),
    # Below the smallest normal number before it is rounded to that.
    ("aten::mul", [F64([2.0**-1022]), F64([1 - 2.0**-53])], F64([0.0]), F64([-0.0])),
    ("aten::mul", [F64([2.0**-1022]), F64([1 + 2.0**-52])], F64([2.0**-1022 + 2.0**-1074]), F64([0.0])),
    # float16 is computed in float32, where its subnormals are normal numbers, bfloat16's are not.
    ("aten::add", [F16([2.0**-20]), F32([TINY])], F32([2.0**-20]), F32([2.0**-21])),
    ("aten::sin", [F32([TINY, 2 * TINY])], F32([TINY, 0.0]), F32([TINY, TINY * 3])),  # sin(x) = x may be moved
]


@pytest.mark.parametrize(("op", "args", "honest", "wrong"), OF_FLUSHING)
def test_what_flushing_makes_right_and_what_it_does_not(op: str, args: list[Any], honest: Any, wrong: Any) -> None:
    assert verdict(op, args, honest, FLUSHING).status == "pass"
    if wrong is not None:
        assert verdict(op, args, wrong, FLUSHING).status == "fail"


def test_a_step_of_an_elementwise_op_is_flushed_on_the_way() -> None:
    """The product of alpha, the quotient that is rounded, and the power of two: each a number below the normal ones."""
    smallest, small, large = F32([NORMAL]), F32([-(2.0**-70)]), F32([2.0**57])
    for op, args, honest, wrong, options in (
        ("aten::add", [smallest, smallest], smallest, F32([1.5 * NORMAL]), {"alpha": -0.3}),
        ("aten::sub", [smallest, smallest], smallest, F32([1.5 * NORMAL]), {"alpha": 0.3}),
        ("aten::div", [small, large], F32([-0.0]), F32([1.0]), {"rounding_mode": "floor"}),
        ("aten::remainder", [small, large], small, -small, {}),
        ("aten::ldexp", [F32([2.0**100]), np.int32([-130])], F32([0.0]), F32([2.0**-29]), {}),
    ):
        assert verdict(op, args, honest, **options).status == "fail"
        assert verdict(op, args, honest, FLUSHING, **options).status == "pass"
        assert verdict(op, args, wrong, FLUSHING, **options).status == "fail"


def test_a_conversion_flushes_and_a_copy_does_not() -> None:
    zero = F64([0.0])
    assert verdict("aten::_to_copy", [F32([TINY])], zero, FLUSHING, dtype="float64").status == "pass"
    assert verdict("aten::_to_copy", [F32([NORMAL])], zero, FLUSHING, dtype="float64").status == "fail"
    assert verdict("aten::_to_copy", [F32([TINY])], F32([0.0]), FLUSHING).status == "fail"
    narrowed, kept = [np.complex128([TINY + 1j])], C64([TINY + 1j])
    assert verdict("aten::_to_copy", narrowed, C64([1j]), FLUSHING, dtype="complex64").status == "pass"
    assert verdict("aten::_to_copy", narrowed, C64([1j]), dtype="complex64").status == "fail"
    assert verdict("aten::_to_copy", narrowed, kept, dtype="complex64").status == "pass"
    assert verdict("aten::_to_copy", narrowed, C64([TINY]), FLUSHING, dtype="complex64").status == "fail"


def test_alpha_makes_a_factor_subnormal_beside_infinity() -> None:
    args = [F32([[0.0]]), F32([[NORMAL, 1.0]]), F32([[np.inf], [1.0]])]
    assert verdict("aten::addmm", args, F32([[np.nan]]), FLUSHING, alpha=0.3).status == "pass"
    assert verdict("aten::addmm", args, F32([[np.nan]]), alpha=0.3).status == "fail"
    large = [args[0], F32([[4 * NORMAL, 1.0]]), args[2]]
    assert verdict("aten::addmm", large, F32([[np.nan]]), FLUSHING, alpha=0.3).status == "fail"


def test_a_zero_for_everything_is_no_flushing() -> None:
    for op in ("aten::exp", "aten::silu", "aten::add", "aten::maximum"):
        args = [F32([TINY, 1.0])] * (2 if op in ("aten::add", "aten::maximum") else 1)
        assert verdict(op, args, F32([0.0, 0.0]), FLUSHING).status == "fail"


def test_moves_keep_subnormals() -> None:
    for op, args in (("aten::clone", [F32([TINY])]), ("aten::cat", [[F32([TINY])]])):
        assert verdict(op, args, F32([0.0]), FLUSHING).status == "fail"


def test_what_has_another_sign_is_flushed_or_kept_all_of_it() -> None:
    one = F32([1.0, 1.0])
    for op, args, sign in (("aten::neg", [], -1), ("aten::abs", [], 1), ("aten::copysign", [-one], -1)):
        operands = [F32([TINY, 2 * TINY]), *args]
        kept, zeros, mixed = sign * operands[0], sign * F32([0.0, 0.0]), sign * F32([TINY, 0.0])
        assert [verdict(op, operands, one, FLUSHING).status for one in (kept, zeros, mixed)] == ["pass", "pass", "fail"]
        assert verdict(op, operands, zeros).status == verdict(op, operands, -zeros, FLUSHING).status == "fail"


def test_an_undeclared_flush_is_told() -> None:
    flushed = told("aten::mul", [F32([TINY, 1.0]), F32([0.5, 1.0])], F32([0.0, 1.0]))
    assert flushed.reason == "not the correctly rounded result, as if subnormals were flushed to zero"
    zeros = told("aten::mul", [F32([TINY, 1.0]), F32([0.5, 1.0])], F32([0.0, 0.0]))
    assert zeros.reason == "not the correctly rounded result"
    of_nothing = told("aten::nll_loss", [F32([0.5, 1.0]), np.int64(-100)], F32(0.0))  # 0 / 0
    assert of_nothing.reason == "a number where NaN is expected"
    tail = told("aten::silu", [F32([-88.0])], F32([-0.0]))
    assert tail.reason == "error above the bound, as if subnormals were flushed to zero"


def test_weights_of_normal_size_are_not_flushed() -> None:
    """Of 257 keys with equal scores, whose values cancel: each weight is 1/257, far above float16's least normal."""
    query, key = np.zeros((1, 1, 2), np.float16), np.zeros((1, 257, 2), np.float16)
    value = (np.arange(257) % 2 * 2.0 - 1.0).astype(np.float16).reshape(1, 257, 1)  # -1 once more than 1
    op, right = "aten::scaled_dot_product_attention", np.float16([[[-1 / 257]]])
    assert verdict(op, [query, key, value], right).status == "pass"
    wrong = right + np.float16(0.01)
    assert verdict(op, [query, key, value], wrong, FLUSHING).status == "fail"
    assert FLUSHED not in verdict(op, [query, key, value], wrong).causes
    tiny = np.where(np.arange(2) == 1, -12.0, 0.0).astype(np.float16).reshape(1, 2, 1)  # e^-12 of the weight, subnormal
    far = [np.ones((1, 1, 1), np.float16), tiny, np.float16([[[0.0], [2.0**14]]])]
    assert verdict(op, far, np.float16([[[0.0]]])).status == "fail"
    assert verdict(op, far, np.float16([[[0.0]]]), FLUSHING).status != "fail"


def test_what_is_flushed_only_in_part_is_told_as_well() -> None:
    """A backend whose operands are flushed, and whose results are not, keeps subnormals that it computes."""
    args = [F32([TINY, NORMAL, TINY]), F32([TINY, -1.5 * NORMAL, 2.0**-140])]
    partly = verdict("aten::add", args, F32([0.0, -NORMAL / 2, 0.0]))
    assert (partly.failed, partly.causes) == (2, {FLUSHED: 2})


def test_flushing_some_results_and_keeping_others_fails() -> None:
    args = [F32([TINY, TINY]), F32([0.5, 0.5])]
    failed = verdict("aten::mul", args, F32([0.0, TINY / 2]), FLUSHING)
    assert failed.reason == "a subnormal result is flushed to zero, another is kept"


# --- Compute modes ----------------------------------------------------------------------------------------------------

LHS, RHS = F32([[1 + 2.0**-20, 0.0]]), F32([[1.0], [1.0]])


def test_what_a_mode_loses_fails_by_name_and_passes_declared() -> None:
    undeclared = told("aten::mm", [LHS, RHS], F32([[1.0]]))
    assert undeclared.reason == "error above the bound, as if the inputs were rounded to TF32 (10 bits)"
    assert verdict("aten::mm", [LHS, RHS], F32([[1.0]]), TF32).status == "pass"


def test_a_mode_covers_no_more_than_it_loses() -> None:
    off = F32([[1 - 2.0**-8]])
    assert verdict("aten::mm", [LHS, RHS], off, TF32).status == "fail"
    assert verdict("aten::mul", [F32([1 + 2.0**-23]), F32([1.0])], F32([1.0]), TF32).status == "fail"
    wide = [LHS.astype(np.float64), RHS.astype(np.float64)]
    assert verdict("aten::mm", wide, np.array([[1.0]]), TF32).status == "fail"


@pytest.mark.parametrize(("bits", "expected"), [(24, ["pass", "pass"]), (11, ["fail", "pass"]), (8, ["fail", "fail"])])
def test_a_mode_holds_for_the_products_in_a_module(bits: int, expected: list[str]) -> None:
    linear = torch.nn.Linear(64, 32).requires_grad_(False)
    x = torch.randn(8, 64, generator=torch.Generator().manual_seed(0))
    truth = conform.golden(linear, x)
    weight, rows = (torch.from_numpy(cut(one.numpy(), bits, nearest=False)) for one in (linear.weight, x))
    reply = returned(torch.nn.functional.linear(rows, weight, linear.bias).numpy())
    judged = [verdict_of(case(truth.call.op), truth.call, truth.outcome, reply, OPENCL, by) for by in (IEEE, TF32)]
    assert [one.status for one in judged] == expected


def test_converted_factors_that_are_subnormal_or_overflow() -> None:
    small, large = F32([[2.0**-149]]), F32([[3.4028234663852886e38]])
    one = F32([[0.75]])
    assert verdict("aten::mm", [small, one], F32([[0.0]]), TF32).status == "pass"
    assert verdict("aten::mm", [large, one], F32([[np.inf]])).status == "fail"
    assert verdict("aten::mm", [large, one], F32([[np.inf]]), TF32).status == "unspecified"
    assert verdict("aten::mm", [small, F32([[np.inf]])], F32([[np.nan]]), TF32).status == "unspecified"


def test_a_narrow_accumulator_may_overflow_where_the_magnitudes_do() -> None:
    args = [np.float16([[300.0, 300.0]]), np.float16([[200.0], [-200.0]])]
    assert verdict("aten::mm", args, np.float16([[np.nan]])).status == "fail"
    assert verdict("aten::mm", args, np.float16([[np.nan]]), F16ACC).status == "unspecified"


def test_an_unknown_mode_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="declares compute = 'fast'"):
        list(verdicts.verdicts_of([], None, {"name": "mine", "compute": "fast"}, OPENCL))


def test_the_record_tells_what_the_backend_declares() -> None:
    told = underway.identity({"name": "mine", "compute": "tf32", "flushes_subnormals": True, "threads": 1})
    assert told == {"name": "mine", "version": None, "device": None, "compute": "tf32", "flushes_subnormals": True}


# --- Many sums --------------------------------------------------------------------------------------------------------


def test_errors_within_their_bounds_fail_together() -> None:
    generator = np.random.default_rng(0)
    lhs, rhs = generator.random((34, 64)).astype(F32), generator.random((64, 34)).astype(F32)
    assert verdict("aten::mm", [lhs, rhs], sequential(lhs, rhs, F32)).status == "pass"
    failed = told("aten::mm", [lhs, rhs], truncating(lhs, rhs, F32))
    assert failed.reason == (
        "root mean square of the errors 23.1 u S, above 10.1 (1156 sums), "
        "as if the sums were truncated (rounded toward zero)"
    )
    assert (failed.status, failed.compared, failed.failed) == ("fail", 1156, 0)
    assert failed.contract.source == STATISTICS_SOURCE
    cutting = verdict("aten::mm", [lhs, rhs], sequential(cut(lhs, 11), cut(rhs, 11), F32), TF32)
    assert cutting.status == "pass"


# --- Rounded on the way -----------------------------------------------------------------------------------------------



def declares(op: str, *, partial_sums: bool = False) -> Arithmetic:
    return Arithmetic(accumulates_in_element_type=(op,)) if partial_sums else Arithmetic(rounds_intermediates=(op,))


def llama_rms_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    """Normalized in float32, rounded to the half type, times the weight: rounded twice."""
    wide = x.astype(F32)
    mean = (wide * wide).mean(-1, dtype=F32, keepdims=True)
    return weight * (wide / np.sqrt(mean + F32(eps))).astype(x.dtype)


# op, args, what torch 2.13.0 returns on the CPU (docs/torch-cpu.md), and a wrong result.
ROUNDED = [
    ("aten::logsumexp", [bf16([[0, 0, -5]]), [1]], bf16([0.69140625]), bf16([0.75])),  # log(2 + e^-5) = 0.6965
    ("aten::_log_softmax", [bf16([[0, 0, -2]]), 1, False], bf16([[-0.7578125, -0.7578125, -2.75]]),
     bf16([[-0.7578125, -0.7578125, -2.84375]])),  # log(2 + e^-2) = 0.7586
    ("aten::mse_loss", [bf16([2.203125]), bf16([-0.6015625]), 0], bf16([7.90625]), bf16([8.125])),  # 2.8046875^2
    ("aten::xlogy", [bf16([3.0]), bf16([9.0])], bf16([6.625]), bf16([6.75])),  # 3 log 9 = 6.5917
]  # fmt: skip


@pytest.mark.parametrize(("op", "args", "right", "wrong"), ROUNDED)
def test_intermediates_may_be_rounded_where_that_is_declared(
    op: str, args: list[Any], right: np.ndarray, wrong: np.ndarray
) -> None:
    assert verdict(op, args, right).status == "fail"
    passed = verdict(op, args, right, declares(op))
    assert passed.status == "pass"
    assert passed.admitted == "within the bound of intermediates in bfloat16, declared"
    assert verdict(op, args, wrong, declares(op)).status == "fail"
    assert verdict(op, args, right, declares("aten::softplus")).status == "fail"  # that is another op


def test_partial_products_may_be_rounded_where_that_is_declared() -> None:
    args = [bf16([1.296875, 1.015625, 1.046875])]  # whose product is 1.3789
    for declared, status in ((IEEE, "fail"), (declares("aten::prod"), "fail")):
        assert verdict("aten::prod", args, bf16(1.3828125), declared).status == status
    rounded = declares("aten::prod", partial_sums=True)
    passed = verdict("aten::prod", args, bf16(1.3828125), rounded)
    assert (passed.status, passed.admitted) == (
        "pass", "within the bound of intermediates and partial sums in bfloat16, declared"
    )  # fmt: skip
    assert verdict("aten::prod", args, bf16(1.4140625), rounded).status == "fail"
    added = [np.float16([2048, 0]), [np.array([0, 0])], np.float16([1, 1]), True]
    kept = np.float16([2048, 0])  # 2048 + 1 + 1, one after the other
    assert verdict("aten::index_put", added, kept).status == "fail"
    assert verdict("aten::index_put", added, kept, declares("aten::index_put", partial_sums=True)).status == "pass"


def test_llama_s_rms_norm_rounds_before_the_weight() -> None:
    generator = np.random.default_rng(3)
    x, weight = (generator.normal(*one).astype(ml_dtypes.bfloat16) for one in ((0, 1, (8, 16)), (1, 0.5, 16)))
    args, declared = [x, [16], weight, 1e-3], declares("aten::rms_norm")
    right = llama_rms_norm(x, weight, 1e-3)
    assert verdict("aten::rms_norm", args, right).status == "fail"
    passed = verdict("aten::rms_norm", args, right, declared)
    assert (passed.status, passed.compared, passed.vacuous) == ("pass", 128, 0)
    for wrong in (
        llama_rms_norm(x, weight + bf16([1]), 1e-3),  # Gemma's
        llama_rms_norm(x, weight, 0.1),
        llama_rms_norm(x, weight, 1e-3) * bf16([1.03125]),  # n - 1 for n
        llama_rms_norm(x, np.ones_like(weight), 1e-3),
    ):
        assert verdict("aten::rms_norm", args, wrong, declared).status == "fail"


def test_what_needs_nothing_that_is_declared_says_nothing() -> None:
    op, args, _, _ = ROUNDED[0]
    exact = verdict(op, args, bf16([0.6953125]), declares(op))
    assert (exact.status, exact.admitted) == ("pass", None)
    single = verdict(op, [F32([[0, 0, -5]]), [1]], F32([0.69140625]), declares(op))  # float32 is not rounded on the way
    assert single.status == "fail"


@pytest.mark.parametrize(
    ("field", "name", "message"),
    [
        ("rounds_intermediates", "aten::logsumxep", "did you mean 'aten::logsumexp'"),
        ("rounds_intermediates", "aten::exp", "which is one function without intermediates"),
        ("rounds_intermediates", "aten::gather", "which rounds nothing"),
        ("rounds_intermediates", "aten::sum", "accumulates_in_element_type is for sums"),
        ("accumulates_in_element_type", "aten::tan", "which is one function without intermediates"),
    ],
)
def test_ops_that_have_nothing_to_round_are_a_usage_error(field: str, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as told:
        arithmetic_of({"name": "mine", field: [name]})
    assert str(told.value).startswith(f"backend 'mine' declares {field} of '{name}'")


def test_overloads_may_be_declared_alone() -> None:
    declared = arithmetic_of({"name": "mine", "accumulates_in_element_type": ["aten::prod.dim_int"]})
    assert declared.of("aten::prod.dim_int").rounded_on_the_way == "intermediates and partial sums"
    assert declared.of("aten::prod").rounded_on_the_way is None
    told = underway.identity({"name": "mine", "accumulates_in_element_type": ["aten::prod.dim_int"]})
    assert told["accumulates_in_element_type"] == ["aten::prod.dim_int"]
