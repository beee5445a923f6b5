"""What a person reads: whole lines, asserted whole."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace

import click
import pytest

from conform.judging.verdict import Verdict
from conform.report import markdown, terminal
from conform.report.failure import repeat_command, repro_command
from conform.report.header import variant
from conform.report.layout import command, width_of
from conform.report.record import build
from conform.report.tally import failure_groups
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


LEGEND = (
    "passed of judged cases, or FAIL: failed of judged; error / bound of the case nearest to its bound, in ulp of the "
    "exact result (equal: all must be; -: there is no number to tell); largest: the largest tensor that was judged."
)


def text_of(*verdicts: Verdict, report: str | None = None, width: int | None = None) -> str:
    return click.unstyle(terminal.render(run_of(*verdicts).record, width, report))


def of(op: str, dtype: str, **changed: object) -> Verdict:
    """A case of an op and dtype that passed, or what else is said of it."""
    case_id = f"{op.removeprefix('aten::')}/{dtype}/{changed.get('values', 'typical')}/contiguous"
    return replace(PASSED, **{"id": case_id, "op": op, "dtype": dtype, **changed})


def test_everything_passed() -> None:
    assert text_of(PASSED).splitlines() == [
        "conform 0.1.0, suite core, backend fake 1.2, contract opencl, seed 0",
        "",
        LEGEND,
        "",
        "op     largest  dtypes   passed  error / bound  first reason",
        "functions",
        "  exp  3x8      float32     1/1  0.75 / 3",
        "",
        "nearest to a bound:",
        "  0.75 / 3  aten::exp float32, exp_1d/float32/typical/contiguous",
        "",
        CONFORMANT,
        "passed by check: accuracy 1 of 1, result 1 of 1, mutation 1 of 1, aliasing 1 of 1",
        CAUGHT,
        TRUST,
    ]


def test_a_failure_tells_all_of_it() -> None:
    block = text_of(FAILED, PASSED).split("\n\n")[3]
    assert block.splitlines() == [
        "FAIL aten::exp float32: outside the bound (1 of 2 cases)",
        "  case      exp_1d/float32/special/contiguous (core/elementwise.yaml:12)",
        "  worst at  output 0, index [1, 2], float32",
        "  self      float32 [2, 3, 4]: 0.1 = 0x1.99999ap-4",
        "  expected  1.105171 = 0x1.1aec7cp+0",
        "  actual    1.1051722 = 0x1.1aec9p+0",
        "  error     7.25 ulp, bound 3 ulp",
        "  bound     ulp 3",
        "  source    OpenCL C 3.0, 7.4 table 66: exp, single precision",
        "  elements  2 of 24 outside the bound",
        "  repeat    conform check core --backend fake --id exp_1d/float32/special/contiguous --seed 0",
    ]


# --- The table of ops -------------------------------------------------------------------------------------------------


def table_of(*verdicts: Verdict, width: int | None = None) -> list[str]:
    """The lines of the table below its legend."""
    return click.unstyle(terminal.op_table(run_of(*verdicts).record, width)).split("\n\n", 1)[1].splitlines()


INTS = ("uint8", "int8", "int16", "int32", "int64")


def test_what_was_waived_is_near_to_no_bound() -> None:
    waived = of("aten::exp", "float32", values="special", status="waived", reason="fail: known", max_error_ulp=1e8)
    text = text_of(PASSED, waived)
    assert "  exp  3x8      float32     1/1  0.75 / 3" in text.splitlines()
    assert text[text.index("nearest to a bound:") :].splitlines()[:3] == [
        "nearest to a bound:", "  0.75 / 3  aten::exp float32, exp_1d/float32/typical/contiguous", "",
    ]  # fmt: skip
    assert "nearest to a bound:" not in text_of(waived)


def test_dtypes_that_say_the_same_are_told_once() -> None:
    exact = [of("aten::exp", dtype, max_error_ulp=None, bound_ulp=None) for dtype in ("bool", *INTS)]
    floats = [of("aten::exp", dtype, max_error_ulp=0.5, bound_ulp=0.5) for dtype in ("float16", "bfloat16", "float64")]
    assert table_of(*exact, *floats, PASSED) == [
        "op     largest  dtypes            passed  error / bound  first reason",
        "functions",
        "  exp  3x8      bool ints floats   10/10  0.75 / 3",
    ]


def test_failures_are_counted_of_the_judged_by_error_and_reason() -> None:
    """7 of 40: as many as failed, of as many as were judged; what was not judged does not count."""
    cases = [replace(FAILED, id=f"t{n}/float32/special/contiguous") for n in range(7)]
    cases += [replace(PASSED, id=f"p{n}/float32/typical/contiguous") for n in range(33)]
    cases += [of("aten::exp", "float16", status="unjudged", reason="no bound", compared=0, max_error_ulp=None)]
    cases += [of("aten::exp", "float64", status="error", reason="ValueError: no", max_error_ulp=None, bound_ulp=None)]
    assert table_of(*cases) == [
        "op     largest  dtypes      passed  error / bound  first reason",
        "functions",
        "  exp  3x8      float16   unjudged",
        "                float32  FAIL 7/40  7.25 / 3       outside the bound",
        "                float64   FAIL 1/1  -              ValueError: no",
    ]


def test_a_bound_as_large_as_the_result_is_not_told() -> None:
    """silu(-89.7) may be 0 by a bound of 8704095.63 ulp, and is: that number helps nobody."""
    assert FAILED.worst is not None
    error_ulp, bound_ulp = 8704095.5722, 8704095.6347
    lost = replace(FAILED.worst, expected=-9.757629e-38, actual=-0.0, error_ulp=error_ulp, bound_ulp=bound_ulp)
    vacuous = of("aten::exp", "float32", values="special", max_error_ulp=error_ulp, bound_ulp=bound_ulp, worst=lost)
    assert table_of(vacuous)[-1] == "  exp  3x8      float32     1/1  -"
    assert table_of(vacuous, PASSED)[-1] == "  exp  3x8      float32     2/2  0.75 / 3"


def test_what_rounding_alone_does_is_told_only_where_there_is_nothing_else() -> None:
    rounded = of("aten::exp", "float64", max_error_ulp=0.5, bound_ulp=0.5)
    assert table_of(rounded)[-1].endswith("0.50 / 0.5")
    assert table_of(rounded, PASSED)[-1].endswith("0.75 / 3")


def test_families_stand_together_in_the_order_of_the_record() -> None:
    assert [line.strip().split()[0] for line in table_of(CRASHED, PASSED, of("aten::sin", "float32"))] == [
        "op", "functions", "exp", "sin", "elementwise", "div.Tensor_mode",
    ]  # fmt: skip


def test_what_a_backend_does_not_have_is_one_line() -> None:
    lacked = [
        of(f"aten::op{n:03}", "float32", status="unsupported", reason=f"no op{n}", max_error_ulp=None)
        for n in range(100)
    ]
    for width in (None, 80, 60):
        lines = text_of(PASSED, *lacked, width=width).splitlines()
        (line,) = [line for line in lines if "op000" in line]
        assert line.startswith("unsupported, 100 of 101 ops: op000, op001, ")
        assert line.endswith(" more")
        assert width is None or len(line) <= width
    assert not [line for line in lines if "no op1" in line]


NAMES = ("aten::_native_batch_norm_legit_no_training", "aten::" + "\u6f22" * 30, "aten::exp")


@pytest.mark.parametrize("width", [40, 41, 60, 80, 132, 200])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    reasons = ("ValueError: " + "\uff37ide " * 40, "x" * 190, "outside")
    cases = [
        of(op, dtype, id=f"{'a' * 150} \u6f22/{op}/{dtype}/special/contiguous", values="special",
           status="fail", reason=reason, test=f"{'a' * 150} \u6f22/{op}", worst=FAILED.worst, failed=2)
        for op in NAMES for dtype in ("bool", *INTS, "float16", "float8_e4m3fnuz") for reason in reasons
    ]  # fmt: skip
    cases += [of(f"aten::no{n}", "float32", status="unsupported", reason="no " * 60, compared=0) for n in range(99)]
    lines = text_of(*cases, UNSPECIFIED, PASSED, width=width).splitlines()
    assert max(map(width_of, lines)) <= width


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("name", ["exp_1d", "a" * 180, "it's a \u6f22 test " * 5, "$(reboot)`x`\\ " * 6])
def test_a_command_over_several_lines_is_still_that_command(name: str, width: int) -> None:
    words = ["printf", "%s\n", name, f"{name}/float32"]
    text = "\n".join(command("  repeat  ", words, width)).removeprefix("  repeat  ")
    assert max(map(width_of, text.splitlines())) <= width
    told = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True)
    assert told.stdout == f"{name}\n{name}/float32\n"


def test_the_plainest_case_is_the_example() -> None:
    """Typical before special, contiguous before other layouts, small before large, then the largest error."""
    cases = [
        replace(FAILED, id="special", values="special", compared=1, max_error_ulp=900.0),
        replace(FAILED, id="strided", values="typical", layout="strided.0", compared=1),
        replace(FAILED, id="large", values="typical", compared=100_003),
        replace(FAILED, id="small", values="typical", compared=5),
        replace(FAILED, id="small and far off", values="typical", compared=5, max_error_ulp=8.0),
    ]
    for number, expected in enumerate(("small and far off", "small", "large", "strided", "special")):
        left = [one for one in cases if one.id not in ("small and far off", "small", "large", "strided")[:number]]
        assert failure_groups(run_of(*left).cases)[0].example["id"] == expected


def test_a_written_run_says_how_to_make_the_case_small() -> None:
    def told(invocation: dict) -> str | None:
        run = build(
            [FAILED], asked=1, suite={"names": ["core"], "digest": "sha256:00"}, tests=["exp_1d"], contract="opencl",
            backend={"name": "mine"}, seed=0, timings={}, selftest=SELFTEST, invocation=invocation,
        )  # fmt: skip
        return repro_command(run.cases[0], run.record)

    assert told({"backend": "cpu", "out": "a b"}) == "conform repro exp_1d/float32/special/contiguous --run 'a b'"
    assert told({"backend": "m.py::M", "out": "o"}) == (
        "conform repro exp_1d/float32/special/contiguous --run o --backend m.py::M"
    )
    assert told({"backend": "folder:k", "out": "o", "imports": ["torch_spyre"]}) == (
        "conform repro exp_1d/float32/special/contiguous --run o --backend folder:k --import torch_spyre"
    )
    assert told({"backend": "cpu", "out": None}) is None  # nothing was written
    assert told({"backend": None, "out": "o"}) is None  # an object, which no command can name


def test_a_header_tells_the_instructions_and_switches_of_the_backend() -> None:
    plain = {"torch": "2.13", "instructions": "AVX512", "features": "avx512_bf16 amx_bf16", "threads": 1,
             "float32_matmul_precision": "highest", "flushes_denormals": False}  # fmt: skip
    assert variant(plain) == ["AVX512", "avx512_bf16", "amx_bf16"]
    held = {**plain, "instructions": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2", "threads": 4, "flushes_denormals": True}
    assert variant(held) == ["AVX2", "threads=4", "flushes_denormals=True", "ONEDNN_MAX_CPU_ISA=AVX2"]
    assert variant({"engine": "3.1\n\x1b[2J", "fast": False}) == ["engine=3.1\\n\\x1b[2J", "fast=False"]
    assert variant({}) == []


def test_not_judged_is_listed_with_its_rule_and_the_counts_close_the_text() -> None:
    lines = text_of(PASSED, FAILED, CRASHED, UNSPECIFIED).splitlines()
    assert "      1  unspecified (P11): integer division by zero: aten::div.Tensor_mode" in lines
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


def test_failures_of_one_kind_are_told_once() -> None:
    alike = [
        replace(FAILED, id=f"t{n}/float32/typical/contiguous", test=f"t{n}", reason=f"{n} elements outside",
                max_error_ulp=4.0 + n)
        for n in range(500)
    ]  # fmt: skip
    text = text_of(*alike, replace(alike[0], id="t0/float64/typical/contiguous", dtype="float64"))
    assert text.count("expected ") == 1
    assert "FAIL aten::exp float32, float64: 499 elements outside (501 of 501 cases)\n  case      t499/" in text
    assert "... 497 more" in text


def test_what_the_failures_of_an_op_have_in_common_stands_in_its_first_block() -> None:
    infinite = replace(FAILED, reason="wrong infinity", id="exp_wide/float32/special/contiguous")
    record = run_of(FAILED, infinite, of("aten::sin", "float16")).record | {
        "findings": [
            {"kind": "division", "op": "aten::exp", "dtypes": [], "text": "fails only where `self` is strided"},
            {"kind": "cause", "op": "aten::exp", "dtypes": ["float32"], "text": "looks flushed"},
            {"kind": "kit defect", "op": "findings:", "dtypes": [], "text": "an error"},
        ]
    }
    text = click.unstyle(terminal.render(record))
    first, other = text[text.index("FAIL aten::exp") :].split("\n\n")[:2]
    assert first.splitlines()[1:4] == [
        "  in common  fails only where `self` is strided",
        "  in common  float32 looks flushed",
        "  case       exp_1d/float32/special/contiguous (core/elementwise.yaml:12)",
    ]
    assert "in common" not in other
    # What no block tells stands apart.
    assert "\n\nWhat failures have in common:\n  findings: an error\n\n" in text


def test_many_kinds_of_failure_are_cut_and_the_report_is_named() -> None:
    kinds = [replace(CRASHED, id=f"t{n}/int64/typical/contiguous", test=f"t{n}", op=f"aten::op{n}") for n in range(25)]
    assert "... and 5 more kinds of failure; all in out/report.md" in text_of(*kinds, report="out/report.md")
    assert "... and 5 more kinds of failure; --out DIR writes them all to a report" in text_of(*kinds)


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


def test_of_several_equal_calls_too() -> None:
    run = run_of(replace(FAILED, id=f"{FAILED.id}/2/repeated", check="determinism", checks=3))
    words = shlex.split(repeat_command(run.cases[0], run.record))
    assert words[words.index("--determinism") + 1] == words[words.index("--samples") + 1] == "3"
    assert repro_command(run.cases[0], run.record) is None


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
    assert click.style("FAIL 1/2", fg="red", bold=True) in styled
    assert click.style("unspecified", fg="yellow") in styled
    assert EXP_ROW.source in styled


def test_what_is_vacuous_is_counted_beside_what_was_compared_and_by_op() -> None:
    run = run_of(replace(PASSED, vacuous=6), replace(PASSED, id="exp_1d/float32/special.1/contiguous", compared=2))
    assert [case["vacuous"] for case in run.cases] == [0, 6]
    text = click.unstyle(terminal.render(run.record))
    assert "26 elements compared, 6 vacuous\n" in text
    assert f"   18.75 %  aten::exp: 6 elements, 26 compared; most in {PASSED.id}\n" in text
    assert "| `aten::exp`" in markdown.render(run.record).partition("## Vacuous bounds")[2]
    assert "vacuous" not in click.unstyle(terminal.render(run_of(PASSED).record))


def test_passes_that_needed_what_the_backend_declares_say_so() -> None:
    needed = "within the bound of intermediates in bfloat16, declared"
    run = run_of(replace(PASSED, admitted=needed), replace(FAILED, admitted=None))
    assert run.cases[1]["admitted"] == needed
    told = f"1 pass {needed} (aten::exp)"
    assert told in click.unstyle(terminal.render(run.record))
    assert told in markdown.render(run.record).replace("`", "")
