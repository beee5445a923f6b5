"""run.json: short, complete, as its JSON Schema says, and the same bytes for the same run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
from click.testing import CliRunner

from conform.cli import main
from conform.interp import semantics
from conform.judging.verdict import Contract, Verdict
from conform.report import write
from conform.report.run_json import to_json
from conform.report.schema import Record, read, run_schema
from conform.suites import load
from conform.suites.cases import Selection
from conform.suites.select import select
from tests.report.verdicts import ACCEPTED, CRASHED, EXP_ROW, FAILED, PASSED, UNSPECIFIED, run_of

PAGE = (Path(__file__).parents[2] / "docs/run.md").read_text(encoding="utf-8")


def written(*verdicts: Verdict, full: bool = False) -> dict[str, Any]:
    return json.loads(to_json(run_of(*verdicts).record, full))


def test_a_case_that_passed_leaves_out_what_explains_failures() -> None:
    record = written(replace(PASSED, worst=FAILED.worst))
    assert record["cases"] == [
        {
            "id": "exp_1d/float32/typical/contiguous", "test": "exp_1d", "op": "aten::exp", "dtype": "float32",
            "values": "typical", "layout": "contiguous", "status": "pass", "reason": None, "check": "accuracy",
            "compared": 24, "failed": 0, "max_error_ulp": 0.75, "bound_ulp": 3.0,
            "contract": {"kind": "ulp", "bound": 3.0, "source": "#/texts/0"}, "standing": 0,
        }
    ]  # fmt: skip
    assert record["texts"] == ["OpenCL C 3.0, 7.4 table 66: exp, single precision"]
    assert record["standings"] == [{"tables": {}, "tightest": None}]


def test_a_case_that_failed_stands_there_with_its_texts() -> None:
    record = written(FAILED)
    (case,) = record["cases"]
    assert case["contract"] == {"kind": "ulp", "bound": 3.0, "source": EXP_ROW.source}
    assert (case["location"], case["checks"], case["worst"]["error_ulp"]) == ("core/elementwise.yaml:12", 3, 7.25)
    assert record["texts"] == []


def test_what_a_pass_needed_and_lacks_stands_there() -> None:
    needed = "within the bound of intermediates in bfloat16, declared"
    pair = {"group": "gelu", "side": "a", "impl": "mine.py:Gelu"}
    record = written(replace(PASSED, admitted=needed, vacuous=6, pair=pair))
    (case,) = record["cases"]
    assert (case["vacuous"], case["pair"], record["texts"]) == (6, pair, [needed, EXP_ROW.source])
    assert case["admitted"] == "#/texts/0"


def test_cases_that_do_not_count_are_a_list_of_their_own_in_the_same_form() -> None:
    record = written(PASSED, replace(ACCEPTED, is_counted=False))
    ((case,), (counted,)) = record["not_counted"], record["cases"]
    assert (case["id"], case["check"], counted["id"]) == (ACCEPTED.id, "refusal", PASSED.id)
    assert record["ops"]["aten::_softmax"] == {"family": "other", "largest": None}
    assert record["summary"]["asked"] == 1


def test_the_full_record_has_all_of_every_case() -> None:
    record = written(replace(PASSED, worst=FAILED.worst), full=True)
    (case,) = record["cases"]
    assert case["worst"]["actual"] == {"decimal": "1.1051722", "hex": "0x1.1aec9p+0"}
    assert (case["contract"]["source"], case["location"]) == (EXP_ROW.source, PASSED.location)
    assert record["texts"] == []


def test_what_reads_like_a_pointer_is_referred_to() -> None:
    """A backend says why it does not do a call, and its user writes tables and ids."""
    reason = "#/texts/0"
    row = Contract("exact", None, "#/texts/1")
    lied = replace(CRASHED, id="#/texts/7/x", test="#/texts/7", status="unsupported", reason=reason, contract=row)
    record = written(lied)
    (case,) = record["cases"]
    assert record["texts"] == ["#/texts/7", "#/texts/0", "#/texts/1"]
    assert [case["test"], case["reason"], case["contract"]["source"]] == ["#/texts/0", "#/texts/1", "#/texts/2"]
    assert (case["id"], Record.model_validate(record).text(case["reason"])) == ("#/texts/7/x", reason)


def longest_passes() -> Iterator[Verdict]:
    """A pass of every case of the ops of core with the longest ids, with figures of seventeen digits."""
    row = Contract("accumulation", "gamma_k(u) * sum |terms|", "Higham, Accuracy and Stability, theorem 3.1" * 9)
    ops = sorted(semantics.names(), key=len)[-16:]
    for group in select(load(["core"], ops=ops), Selection(ops=ops)):
        for case in group:
            yield replace(
                PASSED, id=case.id, test=case.draw.test.id, op=case.op, dtype=case.dtype, values=case.values,
                layout=case.layout, compared=100_003, max_error_ulp=12345.678901234567, bound_ulp=123456.78901234567,
                contract=row, worst=FAILED.worst, location=case.draw.test.recorded_at,
                tables=dict.fromkeys(("cr", "cuda", "opencl", "tosa", "torch", "stablehlo"), "pass"),
            )  # fmt: skip


def test_a_case_that_passed_takes_less_than_500_bytes() -> None:
    lines = [line for line in to_json(run_of(*longest_passes()).record).splitlines() if line.startswith(' {"id":')]
    assert len(lines) > 1000
    assert max(len(line.encode()) for line in lines) < 500


def test_the_schema_holds_for_every_kind_of_case() -> None:
    jsonschema.Draft202012Validator.check_schema(run_schema())
    for full in (False, True):
        record = written(PASSED, FAILED, CRASHED, UNSPECIFIED, replace(ACCEPTED, is_counted=False), full=full)
        jsonschema.validate(record, run_schema())
        Record.model_validate(record)


def test_the_command_prints_the_schema() -> None:
    assert json.loads(CliRunner().invoke(main, ["schema", "--run"]).stdout) == run_schema()


def keys_of(value: Any) -> set[str]:
    """The keys of a record, but for names that it holds (ops, dtypes, packages, tables)."""
    if isinstance(value, list):
        return {key for one in value for key in keys_of(one)}
    if not isinstance(value, dict):
        return set()
    named = {"ops", "histograms", "packages", "numerics", "tables", "logs", "summary"}
    return {*value, *(key for name, one in value.items() if name not in named for key in keys_of(one))}


def properties_of(schema: dict[str, Any]) -> set[str]:
    forms = [schema, *schema["$defs"].values()]
    return {name for form in forms for name in form.get("properties", ())}


def test_schema_and_page_describe_every_field() -> None:
    pair = {"group": "exp", "side": "b", "impl": None}
    passed = replace(PASSED, vacuous=1, admitted="as it declares", pair=pair, gradient="self")
    every = (passed, FAILED, CRASHED, replace(UNSPECIFIED, open=3), replace(ACCEPTED, is_counted=False))
    fields = properties_of(run_schema())
    assert keys_of(written(*every, full=True)) <= fields
    assert {field for field in fields if f"`{field}`" not in PAGE} == set()
    assert set(re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE)) <= fields  # and no field that is gone


def test_full_record_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    run = run_of(replace(PASSED, worst=FAILED.worst))
    sizes = [write.write(run, tmp_path, full_record=full)[0].stat().st_size for full in (False, True)]
    assert sizes[1] > sizes[0] + 300


def test_a_record_reads_back(tmp_path: Path) -> None:
    write.write(run_of(PASSED, FAILED), tmp_path)
    record = read(tmp_path)
    assert [(case.id, case.status, case.failed) for case in record.cases] == [
        (FAILED.id, "fail", 2), (PASSED.id, "pass", 0),
    ]  # fmt: skip
    assert record.text(record.cases[1].contract.source) == EXP_ROW.source
