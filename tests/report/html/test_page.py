"""report.html before a browser sees it: the data that it holds, from run.json alone, and the verb that makes it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conform.cli import main
from conform.judging.verdict import Verdict
from conform.report import write
from conform.report.html import counts, ops, overview, page, records, site
from conform.report.run_json import expanded, to_json
from tests.report.verdicts import ACCEPTED, CRASHED, FAILED, PASSED, UNSPECIFIED, run_of

ROOM = Path(page.__file__).parent
SINE = replace(PASSED, id="sin/float32/typical/contiguous", test="sin", op="aten::sin")
EVERY = (PASSED, FAILED, CRASHED, UNSPECIFIED, replace(ACCEPTED, is_counted=False))


def record_of(*verdicts: Verdict, full: bool = False) -> dict[str, Any]:
    return records.of_text(to_json(run_of(*verdicts).record, full))


def unpacked(text: str, id_: str) -> Any:
    """What a script gets of the element of this id."""
    found = re.search(rf'id="{id_}">([^<]*)<', text)
    assert found
    return json.loads(zlib.decompress(base64.b64decode(found[1])))


# --- The record -------------------------------------------------------------------------------------------------------


def test_a_record_written_in_full_comes_back_whole() -> None:
    """Pointers, too, and texts that read like one."""
    verdicts = (*EVERY, replace(CRASHED, id="x/int64/typical/contiguous", reason="#/texts/0"))
    record = run_of(*verdicts).record
    assert expanded(json.loads(to_json(record, full=True))) == record


def test_a_case_that_passed_comes_back_without_what_explains_failures() -> None:
    (case,) = record_of(replace(PASSED, worst=FAILED.worst))["cases"]
    (whole,) = record_of(replace(PASSED, worst=FAILED.worst), full=True)["cases"]
    assert case == {**whole, "worst": None, "checks": 0, "location": None}


# --- The verb ---------------------------------------------------------------------------------------------------------


def written(directory: Path, *verdicts: Verdict, full: bool = False) -> Path:
    write.write(run_of(*verdicts), write.prepare(directory), full)
    return directory


def report(*words: object) -> Result:
    return CliRunner().invoke(main, ["report", *map(str, words)])


@pytest.mark.parametrize("full", [False, True])
def test_the_verb_makes_the_page_that_check_wrote(tmp_path: Path, full: bool) -> None:
    run = written(tmp_path / "run", *EVERY, full=full)
    result = report(run, "--out", tmp_path / "page")
    assert (result.exit_code, result.stdout) == (0, f"written: {tmp_path}/page/report.html\n")
    assert (tmp_path / "page/report.html").read_bytes() == (run / "report.html").read_bytes()


def test_a_site_has_a_table_and_a_page_of_each_run(tmp_path: Path) -> None:
    clean = replace(PASSED, id=FAILED.id)
    runs = [
        written(tmp_path / name, *verdicts) for name, verdicts in {"a": [PASSED, FAILED], "b": [PASSED, clean]}.items()
    ]
    result = report("--site", *runs, "--out", tmp_path / "site")
    names = ["index.html", "fake-1.2.html", "fake-1.2_2.html"]
    assert result.stdout == f"written: {' '.join(f'{tmp_path}/site/{name}' for name in names)}\n"
    assert (tmp_path / "site/fake-1.2.html").read_bytes() == (runs[0] / "report.html").read_bytes()
    index = (tmp_path / "site/index.html").read_text()
    assert index.index("fake-1.2_2.html") < index.index("fake-1.2.html")  # the conformant one


def _set(*path: Any) -> Callable[[dict], None]:
    *places, last, value = path

    def change(found: Any) -> None:
        for place in places:
            found = found[place]
        found[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_set("schema", "conform.run/1"), "written by conform"),
        (_set("summary", "pass", 3), "summary.pass: expected 1, as its cases are, found 3"),
        (_set("summary", "coverage", 1.0), "summary.coverage: expected 0.75, as its cases are, found 1.0"),
        (_set("not_run", 5), "summary.asked: expected 9, as its cases are, found 4"),
        (_set("ops", {}), r"not_counted[0].op: expected one of ops, found 'aten::_softmax'"),
        (_set("cases", 0, "reason", None), r"cases[0].reason: expected a text beside the status fail, found none"),
        (_set("environment", "invocation", "suites", []), "invocation.suites: expected 1, as suite.names has, found 0"),
        (_set("cases", 0, "status", "passed"), "cases[0].status"),
    ],
)
def test_a_record_that_no_run_wrote_is_refused_with_its_place(
    tmp_path: Path, change: Callable[[dict], None], problem: str
) -> None:
    path = written(tmp_path / "run", *EVERY) / "run.json"
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))
    result = report(tmp_path / "run", "--out", tmp_path / "page")
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(path) in result.stderr
    assert problem in result.stderr
    assert not (tmp_path / "page").exists()


def test_a_directory_without_a_run_is_refused(tmp_path: Path) -> None:
    result = report(tmp_path, "--out", tmp_path / "page")
    assert result.exit_code == 2
    assert f"{tmp_path}/run.json: No such file or directory; name a directory" in result.stderr


def test_an_id_of_another_form_has_commands_all_the_same(tmp_path: Path) -> None:
    """conform writes TEST/DTYPE/VALUES/LAYOUT, and /N of a draw: others may write anything."""
    odd = [
        replace(FAILED, id="a/b/c/d/e"),
        replace(FAILED, id="a", check="determinism"),
        replace(CRASHED, id="exp_1d/1/2/3/x"),
    ]
    assert report(written(tmp_path / "run", *odd), "--out", tmp_path / "page").exit_code == 0


# --- What the scripts get ---------------------------------------------------------------------------------------------


def test_cases_are_counted_by_their_places() -> None:
    other = replace(PASSED, id="exp_1d/float32/special.1/strided.0", values="special.1", layout="strided.0")
    found = [record_of(PASSED, other, replace(other, id=f"{other.id}/1"), FAILED)]
    data = counts.data(found, counts.Places(found), ["fake"])
    assert (data["ops"], data["families"], data["dtypes"]) == ([("aten::exp", 0)], ["functions"], ["float32"])
    assert (data["layouts"], data["values"]) == (["contiguous", "strided"], ["typical", "special"])
    assert data["reasons"] == ["", "outside the bound"]
    rows = list(zip(*data["counts"][0], strict=True))
    status, check = data["statuses"].index, data["checks"].index
    assert rows == [
        (0, 0, status("pass"), check("accuracy"), 0, 0, 0, 1),
        (0, 0, status("pass"), check("accuracy"), 1, 1, 0, 2),
        (0, 0, status("fail"), check("special"), 0, 1, 1, 1),
    ]


def test_reasons_that_differ_in_their_numbers_are_one() -> None:
    reasons = {"a": "SIGFPE", "b": "SIGFPE 2", "c": "SIGFPE 31"}
    found = [record_of(*(replace(CRASHED, id=f"{name}/int64/x/y", reason=told) for name, told in reasons.items()))]
    assert counts.Places(found).tables.reasons == ["", "SIGFPE", "SIGFPE 2"]


def op_data(*verdicts: Verdict, full: bool = False) -> dict[str, Any]:
    found = [record_of(*verdicts, full=full)]
    (one,) = ops.data(verdicts[0].op, found, [found[0]["cases"]], counts.Places(found))
    return one


def test_an_op_has_a_row_a_dtype() -> None:
    data = op_data(PASSED, FAILED, replace(UNSPECIFIED, op="aten::exp", dtype="float32"))
    assert data["rows"] == [
        {
            "dtype": "float32", "pass": 1, "failed": 1, "open": 1, "error": "7.25 / 3", "tightest": [],
            "limits_ulp": [3.0], "bounds": [["ulp 3", "OpenCL C 3.0, 7.4 table 66: exp, single precision"]],
        }
    ]  # fmt: skip
    assert data["histograms"] == {"float32": {"zero": 20, "-1": 26, "2": 2}}


def test_a_case_with_a_vacuous_bound_is_not_the_nearest_to_it() -> None:
    wide = replace(PASSED, id="w/float32/typical/contiguous", vacuous=2, max_error_ulp=2.9)
    assert op_data(PASSED, wide)["rows"][0]["error"] == "0.75 / 3"


def test_a_failing_case_has_all_that_is_told_of_it() -> None:
    (one,) = op_data(PASSED, FAILED)["failures"]
    lines = dict(one["lines"])
    assert lines["self"] == "float32 [2, 3, 4]: 0.1 = 0x1.99999ap-4"
    assert (lines["expected"], lines["actual"]) == ("1.105171 = 0x1.1aec7cp+0", "1.1051722 = 0x1.1aec9p+0")
    assert (lines["error"], lines["bound"]) == ("7.25 ulp, bound 3 ulp", "ulp 3")
    assert one["commands"] == [
        ["repeat", f"conform check core --backend fake --id {FAILED.id} --seed 0"],
    ]
    assert one["ends"] == ["fail"]


def test_errors_stand_against_the_inputs_that_the_record_has() -> None:
    told = replace(PASSED, worst=FAILED.worst)
    point = {
        "id": FAILED.id, "dtype": "float32", "status": "fail", "error": "7.25", "bound": "3.0",
        "at": {"self": "0.1", "expected result": "1.105171"},
    }  # fmt: skip
    assert op_data(told, FAILED)["points"] == [point]
    assert op_data(told, FAILED, full=True)["points"] == [point, {**point, "id": PASSED.id, "status": "pass"}]


def test_an_operand_of_many_numbers_is_no_place_of_an_error() -> None:
    operand = replace(FAILED.worst.inputs[0], values=(1.0, 2.0))
    summed = replace(FAILED, worst=replace(FAILED.worst, inputs=(operand,)))
    assert op_data(summed)["points"][0]["at"] == {"expected result": "1.105171"}


def test_runs_beside_each_other_tell_how_a_case_ended_in_the_others() -> None:
    found = [record_of(PASSED, FAILED), record_of(PASSED, replace(FAILED, status="pass", failed=0, reason=None))]
    data = ops.data("aten::exp", found, [one["cases"] for one in found], counts.Places(found))
    assert [one["failures"][0]["ends"] if one["failures"] else None for one in data] == [["fail", "pass"], None]


def test_the_page_holds_them() -> None:
    found = [record_of(*EVERY)]
    text = page.render(found)
    data = unpacked(text, "data")
    assert [name for name, _ in data["ops"]] == ["aten::exp", "aten::div.Tensor_mode", "aten::_softmax"]
    assert unpacked(text, "op-0")[0]["failures"][0]["id"] == FAILED.id
    assert unpacked(text, "op-2")[0]["failures"] == []  # its case does not count


# --- Runs as wholes ---------------------------------------------------------------------------------------------------


def test_the_figures_are_those_of_the_record() -> None:
    facts = overview.facts(record_of(*EVERY))
    assert facts["Result"]["conformance"] == "33.33 %"
    assert facts["Result"]["coverage"] == "75.00 %"
    assert facts["Self-test of the kit"]["kill rate"] == "99.44 %"
    assert facts["Checks and invariants"]["result (invariant)"] == "2 of 2 (100 %)"


def test_a_row_that_no_run_fills_is_left_out_and_others_have_a_column_a_run() -> None:
    result, *_ = overview.sections([record_of(*EVERY), record_of(PASSED)])
    assert dict(result.rows)["crash"] == ["1", "-"]
    assert "timeout" not in dict(result.rows)


def test_many_runs_have_letters() -> None:
    assert [overview.letters(28)[place] for place in (0, 1, 25, 26, 27)] == ["A", "B", "Z", "AA", "AB"]


def test_runs_of_other_suites_or_cases_stand_in_other_tables() -> None:
    one, other = record_of(PASSED), record_of(PASSED)
    other["suite"] = {"names": ["core"], "digest": "sha256:11"}
    assert site.render([one, record_of(PASSED, SINE)])["index.html"].count("<table") == 2  # another --op
    assert site.render([one, one])["index.html"].count("<table") == 1
    assert site.render([one, other])["index.html"].count("<table") == 2


# --- Texts of others, and what comes with the kit ---------------------------------------------------------------------

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202egnorw\u2066\x1b[2J"


def test_a_million_characters_do_not_blow_up_the_page() -> None:
    endless = replace(CRASHED, reason=HOSTILE + "é" * 10**6, test="t" * 10**6, id="i" * 10**6, location="l" * 10**6)
    text = page.render([record_of(endless)])
    assert len(text) < len(page.render([record_of(CRASHED)])) + 40_000
    (one,) = unpacked(text, "op-0")[0]["failures"]
    assert one["commands"] == []  # a command that is cut is none
    assert max(len(told) for _, told in one["lines"]) <= ops.LONGEST


def test_what_a_page_runs_is_told_by_digest() -> None:
    found = record_of(replace(CRASHED, reason=HOSTILE, op=HOSTILE))
    text = page.render([found])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = [f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in scripts]
    assert len(scripts) == len(page.SCRIPTS)
    assert policy[1].split("; ")[:2] == ["default-src 'none'", f"script-src {' '.join(digests)}"]


def test_libraries_are_those_that_are_named() -> None:
    told = re.findall(r"^\| `([\w.]+)` .*\| (\w{64}) \|$", (ROOM / "vendor/README.md").read_text(), re.MULTILINE)
    assert {name: hashlib.sha256((ROOM / "vendor" / name).read_bytes()).hexdigest() for name, _ in told} == dict(told)
    assert {name for name, _ in told} == {path.name for path in (ROOM / "vendor").glob("*.js")}


def test_no_script_of_the_kit_makes_markup_of_text() -> None:
    own = "".join(path.read_text() for path in (ROOM / "assets").glob("*.js"))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|fetch\(|import\(", own
    )
