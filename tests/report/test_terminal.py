"""What a person reads: whole lines, asserted whole."""

from __future__ import annotations

import shlex
from dataclasses import replace

import click
import pytest

from conform.judging.verdict import Verdict
from conform.report import markdown, terminal
from conform.report.failure import repeat_command
from conform.report.record import build
from tests.report.verdicts import CRASHED, EXP_ROW, FAILED, PASSED, SELFTEST, UNSPECIFIED, run_of

CONFORMANT = (
    "conformant: conformance 100 % (1 of 1 judged cases pass), coverage 100 % (1 of 1 asked are judged); "
    "24 elements compared"
)
NOT_CONFORMANT = (
    "not conformant: conformance 33.33 % (1 of 3 judged cases pass), coverage 75.00 % (3 of 4 asked are judged); "
    "48 elements compared"
)
CAUGHT = "self-test: 3,412 of 3,431 planted defects caught, 19 explained (conform selftest --full)"
TRUST = "self-reported: the backend ran beside the kit, and could have read or changed it (--jail confines it)"


def text_of(*verdicts: Verdict, report: str | None = None) -> str:
    return click.unstyle(terminal.render(run_of(*verdicts).record, report=report))


def test_everything_passed() -> None:
    assert text_of(PASSED).splitlines() == [
        "conform 0.1.0, suite core, backend fake 1.2, contract opencl, seed 0",
        "",
        "Largest error / bound in ULP of the exact result; ok: equal; FAIL: cases that did not pass.",
        "largest: the shape of the largest tensor of a call that was judged.",
        "",
        "op         largest    float32",
        "---------  ---------  ---------",
        "aten::exp  3x8        0.75 / 3",
        "",
        "nearest to a bound    dtype    error / bound    case                               at",
        "--------------------  -------  ---------------  ---------------------------------  ----",
        "aten::exp             float32  0.75 / 3         exp_1d/float32/typical/contiguous",
        "",
        CONFORMANT,
        "passed by check: accuracy 1 of 1, result 1 of 1, mutation 1 of 1, aliasing 1 of 1",
        CAUGHT,
        TRUST,
    ]


def test_a_failure_tells_all_of_it() -> None:
    block = text_of(FAILED).split("\n\n")[3]
    assert block.splitlines() == [
        "FAIL aten::exp float32: outside the bound (1 case)",
        "  case      exp_1d/float32/special/contiguous   (core/elementwise.yaml:12)",
        "  worst at  output 0, index [1, 2], float32",
        "  self      float32 [2, 3, 4]: 0.1 = 0x1.99999ap-4",
        "  expected  1.105171 = 0x1.1aec7cp+0",
        "  actual    1.1051722 = 0x1.1aec9p+0",
        "  error     7.25 ulp, bound 3 ulp (ulp 3: OpenCL C 3.0, 7.4 table 66: exp, single precision)",
        "  elements  2 of 24 outside the bound",
        "  repeat    conform check core --backend fake --id exp_1d/float32/special/contiguous --seed 0",
    ]


def test_not_judged_is_listed_with_its_rule_and_the_counts_close_the_text() -> None:
    lines = text_of(PASSED, FAILED, CRASHED, UNSPECIFIED).splitlines()
    assert "           1  unspecified  P11     integer division by zero  aten::div.Tensor_mode" in lines
    assert lines[-6:] == [
        NOT_CONFORMANT,
        "not passed: fail 1, crash 1",
        "not judged: unspecified 1",
        "passed by check: accuracy 1 of 2, special 0 of 1, result 2 of 2, mutation 2 of 2, aliasing 2 of 2",
        CAUGHT,
        TRUST,
    ]


def test_what_a_backend_did_beyond_its_calls_stands_below_the_verdict() -> None:
    run = build(
        [PASSED], asked=1, suite={"names": ["core"], "digest": "sha256:00"}, tests=["exp_1d"], contract="opencl",
        backend={"name": "fake"}, seed=0, timings={}, selftest=SELFTEST, kit_digests=("sha256:1", "sha256:2"),
        left_running=["miner\n\x1b[2J", "sleep"], jail="bubblewrap",
    )  # fmt: skip
    told = [
        "no verdict: the kit's files changed during the run (run.json: kit.digest, kit.digest_at_end)",
        r"outlived the backend's process, and was killed: miner\n\x1b[2J, sleep",
        "confined by bubblewrap: the backend could neither read nor change the kit",
    ]
    lines = click.unstyle(terminal.render(run.record)).splitlines()
    assert (run.exit_code, lines[-5:-3], lines[-2], lines[-1]) == (3, told[:2], CAUGHT, told[2])
    assert all(f"`{line}`" in markdown.render(run.record) for line in told[:2])


def test_every_shipped_table_is_told_its_share_of_the_cases_it_bounds() -> None:
    near = replace(PASSED, tables={"cr": "fail", "opencl": "pass", "tosa": None}, tightest="opencl")
    far = replace(FAILED, tables={"cr": "fail", "opencl": "fail", "tosa": None})
    assert text_of(near, far, UNSPECIFIED).splitlines()[-3] == "would pass: cr 0.00 %, opencl 50.00 %, tosa -"
    assert markdown.render(run_of(near, far, UNSPECIFIED).record).splitlines()[-7:] == [
        "## Contract tables",
        "",
        "| table   | share   | would pass   | of cases it bounds   | tightest of   |",
        "|:--------|:--------|:-------------|:---------------------|:--------------|",
        "| cr      | 0.00 %  | 0            | 2                    | 0             |",
        "| opencl  | 50.00 % | 1            | 2                    | 1             |",
        "| tosa    | -       | 0            | 0                    | 0             |",
    ]


def test_failures_of_one_kind_are_told_once_with_the_worst_case() -> None:
    alike = [
        replace(FAILED, id=f"t{n}/float32/typical/contiguous", test=f"t{n}", reason=f"{n} elements outside",
                max_error_ulp=4.0 + n)
        for n in range(500)
    ]  # fmt: skip
    text = text_of(*alike)
    assert text.count("expected ") == 1
    assert "FAIL aten::exp float32: 499 elements outside (500 cases)\n  case      t499/" in text
    assert "... 496 more" in text
    assert "aten::exp  3x8        FAIL 500" in text


def test_many_kinds_of_failure_are_cut_and_the_report_is_named() -> None:
    kinds = [replace(CRASHED, id=f"t{n}/int64/typical/contiguous", test=f"t{n}", op=f"aten::op{n}") for n in range(25)]
    assert "... and 5 more kinds of failure; all in out/report.md" in text_of(*kinds, report="out/report.md")
    assert "... and 5 more kinds of failure; --out DIR writes them all to a report" in text_of(*kinds)


def test_the_table_is_cut_into_blocks_that_fit_the_terminal() -> None:
    dtypes = ("bool", "int64", "float16", "float32", "float64")
    verdicts = [replace(PASSED, id=f"exp_1d/{dtype}/typical/contiguous", dtype=dtype) for dtype in dtypes]
    text = click.unstyle(terminal.op_table(run_of(*verdicts).cases, width=42))
    assert max(len(line) for block in text.split("\n\n")[1:] for line in block.splitlines()) <= 42
    heads = [line.split() for line in text.splitlines() if line.startswith("op ")]
    assert heads == [["op", "largest", *pair] for pair in (("bool", "int64"), ("float16", "float32"), ("float64",))]


def test_cells_show_the_case_furthest_into_its_bound() -> None:
    wide = replace(PASSED, id="exp_1d/float32/special/contiguous", max_error_ulp=90.0, bound_ulp=1000.0)
    vacuous = replace(PASSED, id="exp_1d/float32/special.1/contiguous", max_error_ulp=1e9, bound_ulp=float("inf"))
    assert "aten::exp  3x8        0.75 / 3\n" in text_of(wide, PASSED, vacuous)


def test_operands_that_are_no_tensors_and_long_rows() -> None:
    from conform.report.failure import operand_text

    row = {"dtype": "int8", "shape": [99], "values": [{"decimal": "1", "hex": "0x01"}] * 9, "count": 99}
    assert operand_text(row) == "int8 [99]: " + ", ".join(["1 = 0x01"] * 8) + ", ... 91 more"
    assert operand_text({"dtype": None, "shape": None, "values": [[0, 1]], "count": 1}) == "[0, 1]"


@pytest.mark.parametrize(
    ("suite", "case_id", "options"),
    [
        ("core", "exp_1d/float32/special/contiguous", []),
        ("core", "exp_1d/float32/special/contiguous/3", ["--samples", "4"]),
        ("a b.yaml", "exp_1d/float32/special/contiguous", ["--dtype", "float32", "--values", "all"]),
        ("core", "t[1]*/float32/special/contiguous", []),
    ],
)
def test_the_command_repeats_just_the_case(suite: str, case_id: str, options: list[str]) -> None:
    test = case_id.split("/")[0]
    case = replace(FAILED, id=case_id, test=test)
    run = build(
        [case], asked=1, suite={"names": [suite], "digest": "sha256:00"}, tests=[test], contract="opencl",
        backend={"name": "cpu"}, seed=7, timings={}, selftest=SELFTEST,
    )  # fmt: skip
    words = shlex.split(repeat_command(run.cases[0], run.record))
    escaped = case_id.replace("[", "[[]").replace("*", "[*]")
    assert words == ["conform", "check", suite, "--backend", "cpu", "--id", escaped, "--seed", "7", *options]


def test_the_command_names_backend_and_contract_as_they_were_named() -> None:
    run = build(
        [FAILED], asked=1, suite={"names": ["core"], "digest": "sha256:00"}, tests=["exp_1d"], contract="strict",
        backend={"name": "mine"}, seed=0, timings={}, selftest=SELFTEST,
        invocation={"backend": "a b.py::Mine", "contract": "strict.yaml"},
    )  # fmt: skip
    assert repeat_command(run.cases[0], run.record) == (
        "conform check core --backend 'a b.py::Mine' --id exp_1d/float32/special/contiguous --seed 0 "
        "--contract strict.yaml"
    )


def test_colours_mark_failures_alone() -> None:
    styled = terminal.render(run_of(PASSED, FAILED, UNSPECIFIED).record)
    assert click.style("FAIL 1", fg="red", bold=True) in styled
    assert click.style("unspecified", fg="yellow") in styled
    assert EXP_ROW.source in styled


def test_what_is_vacuous_is_counted_beside_what_was_compared_and_by_op() -> None:
    run = run_of(replace(PASSED, vacuous=6), replace(PASSED, id="exp_1d/float32/special.1/contiguous", compared=2))
    assert [case["vacuous"] for case in run.cases] == [0, 6]
    text = click.unstyle(terminal.render(run.record))
    assert "26 elements compared, 6 vacuous\n" in text
    row = next(line for line in text.splitlines() if line.startswith("aten::exp ") and "18.75 %" in line)
    assert row.split()[:5] == ["aten::exp", "6", "26", "18.75", "%"]
    assert "| `aten::exp`" in markdown.render(run.record).partition("## Vacuous bounds")[2]
    assert "vacuous" not in click.unstyle(terminal.render(run_of(PASSED).record))


def test_passes_that_needed_what_the_backend_declares_say_so() -> None:
    needed = "within the bound of intermediates in bfloat16, declared"
    run = run_of(replace(PASSED, admitted=needed), replace(FAILED, admitted=None))
    assert run.cases[1]["admitted"] == needed
    told = f"1 pass {needed} (aten::exp)"
    assert told in click.unstyle(terminal.render(run.record))
    assert told in markdown.render(run.record).replace("`", "")
