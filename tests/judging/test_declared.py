"""Verdicts of backends that declare their arithmetic, and of sums, whose failures say what they look like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.contracts.accumulation import STATISTICS_SOURCE
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.contracts.causes import cut
from conform.contracts.tables import contract_table
from conform.errors import UsageError
from conform.interp import semantics
from conform.interp.evaluate import evaluate_call
from conform.judging.case import verdict_of
from conform.judging.verdict import Verdict
from conform.running import underway, verdicts
from tests.contracts.test_accumulation import sequential, truncating
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


def test_every_contraction_names_its_factors() -> None:
    of_family = [name for name in semantics.names() if semantics.find(name).family == "contraction"]
    assert of_family
    assert all(semantics.traits_of(name).products for name in of_family)


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


def test_moves_and_negations_keep_subnormals() -> None:
    for op, args in (("aten::neg", [F32([-TINY])]), ("aten::cat", [[F32([TINY])]])):
        assert verdict(op, args, F32([0.0]), FLUSHING).status == "fail"


def test_an_undeclared_flush_is_told() -> None:
    flushed = verdict("aten::mul", [F32([TINY, 1.0]), F32([0.5, 1.0])], F32([0.0, 1.0]))
    assert flushed.reason == "not the correctly rounded result, as if subnormals were flushed to zero"
    zeros = verdict("aten::mul", [F32([TINY, 1.0]), F32([0.5, 1.0])], F32([0.0, 0.0]))
    assert zeros.reason == "not the correctly rounded result"
    tail = verdict("aten::silu", [F32([-88.0])], F32([-0.0]))
    assert tail.reason == "error above the bound, as if subnormals were flushed to zero"


def test_flushing_some_results_and_keeping_others_fails() -> None:
    args = [F32([TINY, TINY]), F32([0.5, 0.5])]
    failed = verdict("aten::mul", args, F32([0.0, TINY / 2]), FLUSHING)
    assert failed.reason == "a subnormal result is flushed to zero, another is kept"


# --- Compute modes ----------------------------------------------------------------------------------------------------

LHS, RHS = F32([[1 + 2.0**-20, 0.0]]), F32([[1.0], [1.0]])


def test_what_a_mode_loses_fails_by_name_and_passes_declared() -> None:
    undeclared = verdict("aten::mm", [LHS, RHS], F32([[1.0]]))
    assert undeclared.reason == "error above the bound, as if the inputs were rounded to TF32 (10 bits)"
    assert verdict("aten::mm", [LHS, RHS], F32([[1.0]]), TF32).status == "pass"


def test_a_mode_covers_no_more_than_it_loses() -> None:
    off = F32([[1 - 2.0**-8]])
    assert verdict("aten::mm", [LHS, RHS], off, TF32).status == "fail"
    assert verdict("aten::mul", [F32([1 + 2.0**-23]), F32([1.0])], F32([1.0]), TF32).status == "fail"
    wide = [LHS.astype(np.float64), RHS.astype(np.float64)]
    assert verdict("aten::mm", wide, np.array([[1.0]]), TF32).status == "fail"


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
    failed = verdict("aten::mm", [lhs, rhs], truncating(lhs, rhs, F32))
    assert failed.reason == (
        "root mean square of the errors 23.1 u S, above 10.1 (1156 sums), "
        "as if the sums were truncated (rounded toward zero)"
    )
    assert (failed.status, failed.compared, failed.failed) == ("fail", 1156, 0)
    assert failed.contract.source == STATISTICS_SOURCE
    cutting = verdict("aten::mm", [lhs, rhs], sequential(cut(lhs, 11), cut(rhs, 11), F32), TF32)
    assert cutting.status == "pass"
