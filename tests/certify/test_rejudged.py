"""Every end of a call is judged again, wrong values, refusals, crashes, memory, equal calls, and what was not asked;
and nobody who signs a certificate anew may say otherwise."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result

from conform.certify.evidence import Evidence
from conform.certify.found import Report
from conform.certify.remade import Remade
from conform.certify.verify import verify
from conform.errors import UsageError
from conform.report.run_json import expanded
from conform.running.waivers import read
from tests.certify.support import (
    ASKED,
    BACKENDS,
    DRAWS,
    counted_anew,
    found_in,
    keys,
    of_each_answer,
    run,
    signed_anew,
    signed_by_who_lies_well,
)

pytestmark = pytest.mark.one_in(6, together=True)

ALL = replace(ASKED, rejudge=None)
OPS = ("aten::exp", "aten::sort", "aten::add*", "aten::gelu", "aten::mm")
FAILED = "result: FAILED: the certificate itself says that not everything passed"
MANIFEST = """\
claims:
- op: "aten::*"
limits:
- {op: "aten::gelu", dtype: bfloat16, reason: not yet}
"""
WAIVERS = """\
waivers:
- {op: "aten::exp", dtype: float16, reason: one percent off, until: 2999-12-31}
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of a backend that ends calls in every way, with a manifest and waivers."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "m.yaml").write_text(MANIFEST)
    (folder / "w.yaml").write_text(WAIVERS)
    given = ("--manifest", folder / "m.yaml", "--waivers", folder / "w.yaml")
    result = certified(folder, "smoke", *of(*OPS), *given, "--backend", f"{BACKENDS}::Mixed")
    assert result.exit_code == 1, result.output
    return folder / "it"


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of torch on invalid calls, too: of exp and sort, and of diff, of which there are no valid ones."""
    folder = tmp_path_factory.mktemp("refusing")
    result = certified(folder, "smoke", "negative", *of("aten::exp", "aten::sort", "aten::diff"), "--backend", "cpu")
    assert result.exit_code == 0, result.output
    return folder / "it"


def of(*ops: str) -> list[str]:
    return [word for op in ops for word in ("--op", op)]


def certified(folder: Path, *words: object) -> Result:
    usual = ("--determinism", "3", "--workers", "1", "--no-progress", "--quiet", "--nonce", "8f3a27")
    return run("certify", *words, *usual, "--key", keys(folder)[0], "--out", folder / "it")


@pytest.fixture
def copy(ended: Path, tmp_path: Path) -> Path:
    return shutil.copytree(ended, tmp_path / "copy")


def record_of(folder: Path, draw: str = "public") -> dict[str, Any]:
    return json.loads((folder / draw / "run.json").read_text())


def test_every_end_is_there_and_judged_again(ended: Path) -> None:
    cases = record_of(ended)["cases"]
    statuses = Counter(case["status"] for case in cases)
    assert {"pass", "fail", "error", "crash", "unsupported", "waived"} <= set(statuses)
    failed = {case["check"] for case in cases if case["status"] == "fail"}
    assert {"accuracy", "mutation", "aliasing", "determinism", "result"} <= failed
    report = verify(ended, ALL)
    assert list(map(str, report.findings)) == [FAILED]
    assert judged_again(report) == sum(len(record_of(ended, draw)["cases"]) for draw in DRAWS)


def judged_again(report: Report) -> int:
    """How many cases were, of both draws, where all were."""
    counts = [note.split()[1:4:2] for note in report.notes if "judged again" in note]
    assert counts
    assert all(one == other for one, other in counts)
    return sum(int(one.replace(",", "")) for one, _ in counts)


def test_refusals_are_judged_again(refusing: Path) -> None:
    statuses = Counter(case["status"] for case in record_of(refusing)["cases"] if case["check"] == "refusal")
    assert {"pass", "unjudged", "unspecified"} == set(statuses)
    report = verify(refusing, ALL)
    assert report.findings == []
    assert judged_again(report) == sum(len(record_of(refusing, draw)["cases"]) for draw in DRAWS)


def test_a_failure_that_is_called_a_refusal_of_a_kernel(tmp_path: Path) -> None:
    """Of kernels refusals do not count; what is called one must be one."""
    words = ("smoke", "negative", *of("aten::exp"), "--backend", f"{BACKENDS}::Right")
    assert certified(tmp_path, *words).exit_code == 0
    assert found_in(tmp_path / "it", ASKED) == []
    record = record_of(tmp_path / "it")
    case = record["cases"].pop()
    record["not_counted"].append(case | {"check": "refusal"})
    (tmp_path / "it" / "public" / "run.json").write_text(json.dumps(record))
    index = tmp_path / "it" / "public" / "outputs.jsonl"
    index.write_text("".join(index.read_text().splitlines(keepends=True)[:-1]))
    recounted(tmp_path / "it", tmp_path, result="PASSED")
    assert f"public: {case['id']}: is said not to count, and does" in found_in(tmp_path / "it", ASKED)


def changed(folder: Path, choose: Callable[[dict], bool], **fields: object) -> str:
    """Changes the fields of the first case that is chosen, in the record of the public draw; its id."""
    record = record_of(folder)
    case = next(case for case in record["cases"] if choose(case))
    case.update(fields)
    (folder / "public" / "run.json").write_text(json.dumps(record))
    return case["id"]


def is_of(op: str, dtype: str, **fields: str) -> Callable[[dict], bool]:
    wanted = {"dtype": dtype, **fields}
    return lambda case: case["op"].startswith(op) and all(case[name] == value for name, value in wanted.items())


OTHER_ENDS = [
    (is_of("aten::mm", "float16"), {"status": "unjudged", "reason": "too hard", "rule": "not decided by the kit"}),
    (is_of("aten::mm", "float64"), {"status": "unspecified", "reason": "left open", "rule": "P1"}),
    (is_of("aten::exp", "bfloat16"), {"status": "unsupported", "reason": "no kernel"}),
    (is_of("aten::sort", "float32"), {"status": "unsupported", "reason": "not claimed", "rule": "not claimed"}),
    (is_of("aten::gelu", "bfloat16"), {"reason": "not claimed by m.yaml:9: never"}),
    (is_of("aten::exp", "float16", status="waived"), {"reason": "fail: rounding"}),
    (is_of("aten::gelu", "float64", check="determinism"), {"status": "unspecified", "rule": "torch documents it"}),
    (is_of("aten::add", "float64", check="mutation"), {"check": "accuracy"}),
]


def test_other_ends_than_the_answers(copy: Path, tmp_path: Path) -> None:
    ids = [changed(copy, choose, **fields) for choose, fields in OTHER_ENDS]
    recounted(copy, tmp_path)
    found = [one for one in found_in(copy, ALL) if one != FAILED]
    assert [case_id for case_id in ids if not any(one.startswith(f"public: {case_id}: ") for one in found)] == []


def recounted(folder: Path, tmp_path: Path, result: str = "FAILED") -> None:
    """Signs the folder anew; what the record counts is as a signer who lies well would have it."""
    counted_anew(folder)
    records = [expanded(record_of(folder, draw)) for draw in DRAWS]
    cases, numerics = [case for record in records for case in record["cases"]], records[0]["environment"]["numerics"]

    def agree(told: dict) -> None:
        conform = told["predicate"]["conform"]
        if conform["waivers"]:
            held = read(str(folder / "waivers.yaml")).model_copy(update={"source": conform["waivers"]["source"]})
            given = Evidence(None, held, date.fromisoformat(conform["date"]))
            conform["waivers"] = given.standing(cases, numerics, conform["must_pass"])

    signed_by_who_lies_well(folder, keys(tmp_path)[0], agree, result)


def test_a_call_that_is_left_out(copy: Path, tmp_path: Path) -> None:
    """What was not called cannot have failed, a signer may think."""
    case_id = changed(copy, is_of("aten::mm", "float16"), status="unsupported", reason="no kernel")
    of_each_answer(copy, lambda line: line.update(replies=[]) if line["id"] == case_id else None)
    recounted(copy, tmp_path)
    assert f"public: {case_id}: judged again: there is no answer to a call of it" in found_in(copy, ALL)


def test_more_answers_than_calls(copy: Path, tmp_path: Path) -> None:
    case_id = next(case["id"] for case in record_of(copy)["cases"] if case["check"] == "determinism")
    of_each_answer(copy, lambda line: line["replies"][-1].update(calls=9) if line["id"] == case_id else None)
    recounted(copy, tmp_path)
    assert any(case_id in one and "more answers than calls" in one for one in found_in(copy, ALL))


def test_refusals_of_who_does_nothing_else(refusing: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(refusing, tmp_path / "copy")
    is_uncredited = is_of("aten::diff", "float32", status="unjudged", check="refusal")
    case_id = changed(copy, is_uncredited, status="pass", reason=None, rule=None)
    recounted(copy, tmp_path)
    assert f"public: {case_id}: a refusal that earns no credit, and has some" in found_in(copy, ALL)


@pytest.mark.parametrize("name", ["manifest.yaml", "waivers.yaml"])
def test_another_manifest_and_other_waivers(copy: Path, tmp_path: Path, name: str) -> None:
    text = (copy / name).read_text()
    (copy / name).write_text(text.replace("not yet", "never").replace("2999", "2998"))
    signed_anew(copy, keys(tmp_path)[0])
    assert any(one.startswith(f"{name}: is not the ") for one in found_in(copy))


@pytest.mark.parametrize("change", [("2999-12-31", "2020-01-31"), ("float16", "float32"), ("fail", "crash")])
def test_waivers_that_excuse_something_else(copy: Path, tmp_path: Path, change: tuple[str, str]) -> None:
    """The file and what is told of it are made to agree; what they excuse are not the failures that there are."""
    text = (copy / "waivers.yaml").read_text().replace("reason:", "status: fail, reason:").replace(*change)
    (copy / "waivers.yaml").write_text(text)
    for draw in DRAWS:
        record = record_of(copy, draw)
        record["waivers"] |= {"digest": f"sha256:{sha256(text.encode()).hexdigest()}", "entries": []}
        (copy / draw / "run.json").write_text(json.dumps(record))
    recounted(copy, tmp_path)
    waived = {f"{draw}: {case['id']}" for draw in DRAWS for case in record_of(copy, draw)["cases"]
              if case["status"] == "waived"}  # fmt: skip
    found = [one for one in found_in(copy) if one != FAILED]
    assert {one.rpartition(": ")[0] for one in found} == waived
    assert all("is waived, and no failure that waivers.yaml expects on 20" in one for one in found)


@pytest.mark.parametrize(
    "told", [{"name": "folder:kernels"}, {"name": "k.py::K"}, {"name": "mine", "source": "k:K"}, {"name": "xla(x=1)"}]
)
def test_code_that_a_certificate_names_is_not_run(told: dict) -> None:
    names_it = SimpleNamespace(backend=told)
    remade = Remade(Path(), names_it, {}, {"public": []}, None, replace(ASKED, rerun=True), Report(), print)
    with pytest.raises(UsageError, match="name it: --backend"):
        remade._rerun("public", {})
