"""Verdicts by hand, as a judge would give them, for the tests of the reports."""

from __future__ import annotations

from collections.abc import Collection

from conform.judging.checks import EVERY
from conform.judging.verdict import Contract, Operand, Verdict, Worst
from conform.report.record import Required, Run, build

EXP_ROW = Contract("ulp", 3.0, "OpenCL C 3.0, 7.4 table 66: exp, single precision")

PASSED = Verdict(
    id="exp_1d/float32/typical/contiguous", test="exp_1d", op="aten::exp", dtype="float32", values="typical",
    layout="contiguous", status="pass", compared=24, largest=(3, 8), checks=3, max_error_ulp=0.75, bound_ulp=3.0,
    contract=EXP_ROW, location="core/elementwise.yaml:12", errors={"zero": 20, "-1": 4}, seconds=0.25,
)  # fmt: skip

FAILED = Verdict(
    id="exp_1d/float32/special/contiguous", test="exp_1d", op="aten::exp", dtype="float32", values="special",
    layout="contiguous", status="fail", reason="outside the bound", check="special", compared=24,
    largest=(3, 8), checks=3, failed=2, max_error_ulp=7.25, bound_ulp=3.0, contract=EXP_ROW,
    location="core/elementwise.yaml:12", errors={"-1": 22, "2": 2}, seconds=0.5,
    worst=Worst(
        output=0, index=(1, 2), dtype="float32",
        inputs=(Operand("self", "float32", (2, 3, 4), (0.10000000149011612,)),),
        expected=1.1051709651947021, actual=1.1051721572875977, error_ulp=7.25, bound_ulp=3.0,
    ),
)  # fmt: skip

ACCEPTED = Verdict(
    id="softmax/refuses_dim/float32/typical/contiguous", test="softmax/refuses_dim", op="aten::_softmax",
    dtype="float32", values="typical", layout="contiguous", status="fail", checks=1, check="refusal",
    reason="the backend accepted invalid arguments: they break dim < rank(self)", location="spec of aten::_softmax:1",
)  # fmt: skip

CRASHED = Verdict(
    id="div_zero/int64/typical/contiguous", test="div_zero", op="aten::div.Tensor_mode", dtype="int64",
    values="typical", layout="contiguous", status="crash", reason="SIGFPE", location="core/elementwise.yaml:40",
)  # fmt: skip

UNSPECIFIED = Verdict(
    id="div_zero/int64/special/contiguous", test="div_zero", op="aten::div.Tensor_mode", dtype="int64",
    values="special", layout="contiguous", status="unspecified", reason="integer division by zero", rule="P11",
    checks=3, open=24, check="special", location="core/elementwise.yaml:40",
)  # fmt: skip


SELFTEST = {"plants": 3431, "caught": 3412, "explained": 19}


def run_of(
    *verdicts: Verdict, asked: int | None = None, required: Required | None = None, checks: Collection[str] = EVERY
) -> Run:
    """The run record of `verdicts`, on a backend `fake`."""
    return build(
        verdicts,
        asked=len(verdicts) if asked is None else asked,
        suite={"names": ["core"], "digest": "sha256:00"},
        tests=list(dict.fromkeys(verdict.test for verdict in verdicts)),
        contract="opencl",
        backend={"name": "fake", "version": "1.2", "device": "cpu"},
        seed=0,
        timings={"seconds": 1.5, "cases_per_second": 2.0},
        invocation={"backend": "fake", "contract": "opencl", "suites": ["core"]},
        selftest=SELFTEST,
        required=required,
        families={"aten::exp": "functions", "aten::sin": "functions", "aten::div.Tensor_mode": "elementwise"},
        checks=checks,
    )
