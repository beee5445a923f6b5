"""torch's CPU kernels where subnormals are flushed, `torch.set_flush_denormal(True)`, and declared to be.

What fails beside what fails anyway is listed here, and one element of each row is proved: with flushed operands or with
those as they are, torch returns what no honest arithmetic does. The others of its kernels pass.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import conform
from conform.call.bound import bound_call
from conform.contracts.arithmetic import Arithmetic
from conform.findings.findings import CAUSE
from conform.interp.evaluate import evaluate_call
from conform.judging.case import verdict_of
from conform.report.record import Run
from conform.selftest.instruction_sets import usual
from tests.conftest import ops_of_share
from tests.judging.test_case import OPENCL, case, returned
from tests.test_torch_cpu import ERROR, EVERYWHERE, NAN, ONLY_ON, failed_in, packet_of, reason_of

pytestmark = pytest.mark.skipif(not torch.set_flush_denormal(True), reason="this processor has no such mode")
torch.set_flush_denormal(False)

BACKEND = f"{Path(__file__).parent / 'backends' / 'flushing.py'}::Flushing"
UNROUNDED = "not the correctly rounded result"
OTHER_SHAPE = "output 0: another shape"
WIDE = ("float32", "float64")
WITH_BFLOAT16 = ("bfloat16", *WIDE)
# (op without overload, dtype, reason) beside those of tests/test_torch_cpu.py, by what is wrong.
ZERO_OF_THE_OTHER_SIGN = {
    *((f"aten::{op}", dtype, ERROR)
      for op in ("expm1", "log1p", "special_log1p") for dtype in WITH_BFLOAT16),
    *(("aten::special_expm1", dtype, ERROR) for dtype in ("bfloat16", "float32")),
    *((f"aten::{op}", "bfloat16", ERROR) for op in ("sin", "tan")),
}
SCALED_BY_A_FLUSHED_RECIPROCAL = {
    *(("aten::atan2", dtype, ERROR) for dtype in (*WITH_BFLOAT16, "int32")),
    *(("aten::arctan2", dtype, ERROR) for dtype in WIDE),
    *(("aten::hypot", dtype, ERROR) for dtype in ("bfloat16", "float32")),
    ("aten::hypot", "float64", "wrong infinity"),
    *(("aten::angle", dtype, ERROR) for dtype in ("complex64", "complex128")),
}
NOTHING_OVER_NOTHING = {
    *(("aten::atan2", dtype, NAN) for dtype in ("bfloat16", "float32")), ("aten::arctan2", "bfloat16", NAN),
}  # fmt: skip
FUNCTION_OF_A_SUBNORMAL = {
    *((f"aten::{op}", dtype, ERROR) for op in ("xlogy", "special_xlogy") for dtype in (*WIDE, "bool")),
    ("aten::pow", "bfloat16", ERROR),
}
ON_A_BRANCH_CUT = ("log", "log2", "log10", "log1p", "special_log1p", "pow")
SIDE_OF_THE_CUT = {(f"aten::{op}", "complex128", ERROR) for op in ON_A_BRANCH_CUT}
# Subnormal remainders are kept (fmod), and read as zeros where their sign is compared with the divisor's.
ZERO_FOR_THE_TEST_ALONE = {("aten::remainder", dtype, UNROUNDED) for dtype in ("bfloat16", "float64")}
HALF_OF_A_SUBNORMAL = {("aten::frexp", dtype, "wrong value") for dtype in ("bfloat16", "float32")}
# What may be honest, and the kit does not admit yet: a step between numbers that ends below the normal range, a
# difference that is flushed before it is counted (a norm of order 0), a factor that is folded from flushed parts.
NOT_ADMITTED = {
    *(("aten::nextafter", dtype, UNROUNDED) for dtype in WIDE),
    ("aten::_pdist_forward", "float32", ERROR),
    ("aten::_native_batch_norm_legit", "float32", NAN),
    ("aten::_local_scalar_dense", "float64", ERROR),
}
KNOWN = (
    ZERO_OF_THE_OTHER_SIGN
    | SCALED_BY_A_FLUSHED_RECIPROCAL
    | NOTHING_OVER_NOTHING
    | FUNCTION_OF_A_SUBNORMAL
    | SIDE_OF_THE_CUT
    | ZERO_FOR_THE_TEST_ALONE
    | HALF_OF_A_SUBNORMAL
    | NOT_ADMITTED
)


def beside_known(run: Run) -> set[tuple[str, str, str]]:
    """What fails that does not fail without flushing."""
    known = EVERYWHERE | {row for row, sets in ONLY_ON.items() if usual() in sets}
    without = {(op, dtype, without_details(reason)) for op, dtype, reason in known}
    failed = [each for each in failed_in(run) if each["status"] != "crash"]
    return {(packet_of(each), each["dtype"], without_details(reason_of(each))) for each in failed} - without


def without_details(reason: str) -> str:
    """Whatever the sizes are, and the place in the backend's file."""
    return re.sub(r"shape \[[\d, ]+\] instead of \[[\d, ]+\]", "another shape", reason.partition(" (in run, ")[0])


@pytest.mark.whole_suite
@pytest.mark.long
def test_core_fails_for_known_reasons_only() -> None:
    assert beside_known(conform.check("core", backend=BACKEND, layouts="as-written")) == KNOWN


def test_special_values_of_a_share_of_the_ops_fail_for_known_reasons_only(pytestconfig: pytest.Config) -> None:
    ops = sorted(ops_of_share(pytestconfig))
    assert beside_known(conform.check("core", backend=BACKEND, ops=ops, ids=["*/special/contiguous"])) <= KNOWN


def test_an_undeclared_flush_is_told_of_every_op() -> None:
    ops = ["aten::mul.Tensor", "aten::maximum", "aten::silu", "aten::mish"]
    run = conform.check("core", backend=BACKEND.replace("::Flushing", "::Undeclared"), ops=ops, dtypes=["float32"],
                        ids=["*/special/contiguous"])  # fmt: skip
    assert len(failed_in(run)) > 5
    causes = {one["op"]: one["text"] for one in run.record["findings"] if one["kind"] == CAUSE}
    assert list(causes) == sorted(ops)
    assert all(text.startswith("looks as if subnormals were flushed to zero (") for text in causes.values())
    assert all("declares `flushes_subnormals`" in text for text in causes.values())


# --- One element of each row ------------------------------------------------------------------------------------------

F32 = np.float32
TINY, NORMAL, LARGEST = 2.0**-149, 2.0**-126, float(np.finfo(F32).max)
LN2 = 0.6931471805599453

# op, operands, what torch returns, the real result of the operands as they are, and of flushed operands (None: as they
# are), and how far a number of float32 may be from either.
PROOFS = [
    # log(1 + x) < x and e^x - 1 < 0 for x < 0, and a flushed zero has the sign of what it stands for.
    ("aten::expm1", [F32([-NORMAL / 2])], 0.0, -NORMAL / 2, -0.0, 0.0),
    ("aten::log1p", [F32([-NORMAL - TINY])], 0.0, -NORMAL - TINY, None, 2 * TINY),
    # y / x - (y / x)^3 / 3 < atan(y / x) < y / x
    ("aten::atan2", [F32([65504]), F32([LARGEST])], 0.0, 65504 / LARGEST, None, 1e-38),
    ("aten::hypot", [F32([LARGEST / 2**0.5]), F32([LARGEST / 2**0.5])], LARGEST / 2**0.5, LARGEST, None, 1e32),
    ("aten::atan2", [F32([TINY]), F32([TINY])], math.nan, math.pi / 4, 0.0, 1e-6),
    # log 2^-149 = -149 log 2, and log 0 is infinite.
    ("aten::xlogy", [F32([1]), F32([TINY])], -150 * LN2, -149 * LN2, -math.inf, 1e-4),
    ("aten::pow", [F32([TINY]), F32([0.5])], 2.0**-75, 2.0**-74.5, 0.0, 1e-27),
]


@pytest.mark.parametrize(("op", "operands", "torch_says", "exact", "of_zeros", "reach"), PROOFS)
def test_torch_returns_what_no_flushing_gives(
    op: str, operands: list[np.ndarray], torch_says: float, exact: float, of_zeros: float | None, reach: float
) -> None:
    for right in (exact, exact if of_zeros is None else of_zeros):
        is_the_same = torch_says == right and math.copysign(1, torch_says) == math.copysign(1, right)
        assert not is_the_same
        assert not abs(torch_says - right) <= reach or torch_says == 0
    assert status(op, operands, F32([torch_says])) == "fail"


def test_a_remainder_below_the_normal_range_is_that_or_zero() -> None:
    """Of 2.5 by the number next above 2^-1022 torch gives 2^-1022, which is neither."""
    divisor = math.nextafter(2.0**-1022, 1)
    kept = math.fmod(2.5, divisor)
    assert 0 < kept < 2.0**-1022
    operands = [np.array([2.5]), np.array([divisor])]
    told = [status("aten::remainder", operands, np.array([one])) for one in (kept, 0.0, 2.0**-1022)]
    assert told == ["pass", "pass", "fail"]


@pytest.mark.parametrize("op", ["aten::log", "aten::log2", "aten::log10"])
def test_the_logarithm_lies_on_the_side_that_the_sign_names(op: str) -> None:
    """The angle of -1 + 2^-1074 i is just below pi, and that of -1 + 0i is pi."""
    z, base = np.array([complex(-1, 2.0**-1074)]), {"aten::log": math.e, "aten::log2": 2, "aten::log10": 10}[op]
    angle = math.pi / math.log(base)
    assert status(op, [z], np.array([complex(0, -angle)])) == "fail"
    assert status(op, [z], np.array([complex(0, angle)])) == "pass"


def test_the_angle_of_equal_parts_is_an_eighth_of_a_turn() -> None:
    z = np.array([complex(LARGEST, LARGEST)], np.complex64)
    assert status("aten::angle", [z], F32([0.0])) == "fail"
    assert status("aten::angle", [z], F32([math.pi / 4])) == "pass"


def status(op: str, operands: list[Any], actual: np.ndarray) -> str:
    """The verdict on a backend that declares that it flushes."""
    call = bound_call(op, operands, {})
    flushing = Arithmetic(flushes_subnormals=True)
    return verdict_of(case(call.op), call, evaluate_call(call), returned(actual), OPENCL, flushing).status


def test_the_parts_of_a_subnormal_are_its_own_or_those_of_zero() -> None:
    """2^-149 is 0.5 * 2^-148; torch has the exponent -151, with a mantissa of 0."""
    parts = conform.golden("aten::frexp.Tensor", F32([TINY])).value
    assert [part.tolist() for part in parts] == [[0.5], [-148]]
    assert 0.5 * 2.0**-148 == TINY != 0.0 * 2.0**-151
