"""The run record: counts, order, exit codes, and the same bytes whatever the order of the verdicts."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from conform.judging.verdict import KIT_DEFECT, STATUSES, Verdict
from conform.report import terminal
from conform.report.record import Required, word
from conform.report.run_json import to_json
from tests.report.verdicts import CRASHED, FAILED, PASSED, UNSPECIFIED, run_of


def test_summary_counts_every_status_and_keeps_two_numbers_apart() -> None:
    run = run_of(PASSED, FAILED, CRASHED, UNSPECIFIED, asked=5)
    assert run.record["not_run"] == 1
    assert run.summary == {
        "asked": 5, "judged": 3, "pass": 1, "fail": 1, "error": 0, "crash": 1, "timeout": 0, "unsupported": 0,
        "fallback": 0, "unspecified": 1, "unjudged": 0, "waived": 0, "coverage": 3 / 5, "conformance": 1 / 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((PASSED,), 0),
        ((PASSED, UNSPECIFIED), 0),
        ((PASSED, FAILED), 1),
        ((PASSED, CRASHED), 1),
        ((CRASHED,), 1),
        ((UNSPECIFIED,), 3),
        ((PASSED, FAILED, replace(UNSPECIFIED, status="unjudged", rule=KIT_DEFECT)), 70),
    ],
)
def test_exit_code(verdicts: tuple[Verdict, ...], expected: int) -> None:
    assert run_of(*verdicts).exit_code == expected


EMPTY = replace(PASSED, compared=0)
OTHER = replace(PASSED, id="sin/float32/typical/contiguous", test="sin", op="aten::sin")
UNSUPPORTED = replace(PASSED, status="unsupported", reason="no", compared=0, checks=0)


@pytest.mark.parametrize(
    ("verdicts", "asked", "said", "exit_code"),
    [
        ((PASSED,), 1, "conformant", 0),
        ((PASSED,), 2, "conformant", 0),
        ((PASSED,), 3, "partial", 1),
        ((PASSED, FAILED), 9, "not conformant", 1),
        ((EMPTY,), 1, "nothing compared", 3),
        ((EMPTY, CRASHED), 2, "not conformant", 1),
        ((EMPTY, PASSED), 2, "conformant", 0),
        ((UNSUPPORTED,), 1, "nothing judged", 3),
        ((), 1, "nothing judged", 3),
    ],
)
def test_conformant_means_compared_and_covered(
    verdicts: tuple[Verdict, ...], asked: int, said: str, exit_code: int
) -> None:
    run = run_of(*verdicts, asked=asked)
    assert (word(run.record), run.exit_code) == (said, exit_code)


@pytest.mark.parametrize(("of_judged_ops", "said", "asked"), [(True, "conformant", 1), (False, "partial", 3)])
def test_kernels_in_a_file_are_asked_for_the_ops_that_they_do(of_judged_ops: bool, said: str, asked: int) -> None:
    others = [replace(UNSUPPORTED, op=f"aten::op{n}", id=f"op{n}/float32/typical/contiguous") for n in range(2)]
    run = run_of(PASSED, *others, required=Required(0.5, of_judged_ops))
    assert (word(run.record), run.record["required"]["asked"]) == (said, asked)


def test_of_an_op_that_is_done_in_part_all_is_asked() -> None:
    rest = [replace(UNSUPPORTED, id=f"{PASSED.id}/{n}") for n in range(2)]
    run = run_of(PASSED, OTHER, *rest, required=Required(0.75, of_judged_ops=True))
    assert word(run.record) == "partial"
    assert terminal.why_partial(run.record) == [
        "partial: 50.00 % of the cases of the ops of which any was judged were judged, less than --min-coverage 0.75"
    ]


def test_nothing_judged_has_no_conformance() -> None:
    assert run_of(UNSPECIFIED).summary["conformance"] is None


def test_a_case_of_run_json() -> None:
    case = run_of(FAILED).cases[0]
    assert case["status"] == "fail"
    assert (case["compared"], case["failed"], case["max_error_ulp"], case["bound_ulp"]) == (24, 2, 7.25, 3.0)
    assert case["contract"] == {
        "kind": "ulp", "bound": 3.0, "source": "OpenCL C 3.0, 7.4 table 66: exp, single precision",
    }  # fmt: skip
    assert (case["tightest"], case["tables"]) == (None, {})
    assert case["worst"] == {
        "output": 0,
        "index": [1, 2],
        "dtype": "float32",
        "inputs": [
            {
                "name": "self", "dtype": "float32", "shape": [2, 3, 4],
                "values": [{"decimal": "0.1", "hex": "0x1.99999ap-4"}], "count": 1,
            }
        ],
        "expected": {"decimal": "1.105171", "hex": "0x1.1aec7cp+0"},
        "actual": {"decimal": "1.1051722", "hex": "0x1.1aec9p+0"},
        "error_ulp": 7.25,
        "bound_ulp": 3.0,
    }  # fmt: skip


def test_cases_come_in_suite_order_and_natural_order_of_ids() -> None:
    ids = [f"exp_1d/float32/typical/contiguous{sample}" for sample in ("", "/2", "/10")]
    samples = [replace(PASSED, id=case_id) for case_id in ids]
    run = run_of(CRASHED, samples[2], samples[0], samples[1])
    assert [case["id"] for case in run.cases] == [CRASHED.id, *ids]


def test_text_is_json_with_a_line_a_case_and_does_not_depend_on_the_order_of_verdicts() -> None:
    infinite = replace(FAILED, max_error_ulp=math.inf, bound_ulp=math.nan)
    samples = [replace(PASSED, id=f"{PASSED.id}/{n}") for n in range(1, 5)]
    text = to_json(run_of(PASSED, infinite, *samples).record)
    assert text == to_json(run_of(*samples, infinite, PASSED).record)
    record = json.loads(text)
    assert list(record) == [
        "schema", "kit", "suite", "truth", "contract", "backend", "environment", "seed", "summary", "required",
        "checks", "not_run", "stopped", "given_up", "shard", "findings", "waivers", "manifest", "ops",
        "histograms", "texts", "standings", "not_counted", "cases",
    ]  # fmt: skip
    assert record["schema"] == "conform.run/2"
    assert record["cases"][0]["max_error_ulp"] == "inf"
    assert record["cases"][0]["bound_ulp"] == "nan"
    assert sum(line.startswith(' {"id":') for line in text.splitlines()) == 6
    assert json.loads(to_json(run_of(asked=1).record))["cases"] == []


def test_ops_tell_their_family_and_the_largest_tensor_judged() -> None:
    larger, refused = replace(PASSED, id="a", largest=(2, 100)), replace(PASSED, id="b", largest=(9, 999), compared=0)
    assert run_of(PASSED, larger, refused, CRASHED, replace(OTHER, op="mine::op")).record["ops"] == {
        "aten::exp": {"family": "functions", "largest": [2, 100]},
        "aten::div.Tensor_mode": {"family": "elementwise", "largest": None},
        "mine::op": {"family": "other", "largest": [3, 8]},
    }


def test_histograms_add_up_the_cases_of_an_op_and_dtype() -> None:
    other = replace(PASSED, id="c", dtype="float16", errors={"inf": 1})
    assert run_of(PASSED, FAILED, other, CRASHED).record["histograms"] == {
        "aten::exp": {"float16": {"inf": 1}, "float32": {"zero": 20, "-1": 26, "2": 2}}
    }


def test_times_stand_in_the_order_of_the_cases_and_in_the_environment_alone() -> None:
    run = run_of(PASSED, UNSPECIFIED, FAILED)
    assert run.record["environment"]["timings"] == {
        "seconds": 1.5, "cases_per_second": 2.0, "case_seconds": [0.5, 0.25, 0.0],
    }  # fmt: skip
    assert "_seconds" not in to_json({**run.record, "environment": {}})


def test_a_verdict_that_no_judge_may_give_is_refused() -> None:
    with pytest.raises(ValueError, match=r"pass with 0 elements compared, 0 checks"):
        replace(PASSED, compared=0, checks=0)
    with pytest.raises(ValueError, match=r"pass with 24 elements compared, 3 checks, 1 failed"):
        replace(PASSED, failed=1)
    with pytest.raises(ValueError, match=r"'fail' without a reason"):
        replace(FAILED, reason=None)
    with pytest.raises(ValueError, match=f"'skipped' is none of {', '.join(STATUSES)}"):
        replace(PASSED, status="skipped")
