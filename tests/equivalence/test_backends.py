"""Several backends in one command: their runs, and what their answers have in common."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conform.cli import main
from conform.report.schema import read as read_record

pytestmark = pytest.mark.one_in(6)

FILE = Path(__file__).with_name("backends.py")
SUITE = """tests:
- {id: neg, op: aten::neg, in: [{type: tensor, shape: [2, 3], dtype: float32}]}
- {id: negative_ints, op: aten::neg, in: [{type: tensor, shape: [4], dtype: int32}]}
- {id: zeros, op: aten::abs, in: [{type: tensor, shape: [4], dtype: float32, init: zeros}]}
- {id: exp, op: aten::exp, in: [{type: tensor, shape: [5], dtype: float32}]}
- {id: root, op: aten::sqrt, in: [{type: tensor, shape: [5], dtype: float32, init: uniform, low: 1.0, high: 2.0}]}
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return str(path)


def named(name: str) -> str:
    return f"{FILE}::{name}"


def check(suite: str, *names: str, words: tuple[str, ...] = (), out: Path | None = None) -> Result:
    backends = [word for name in names for word in ("--backend", named(name) if name[0].isupper() else name)]
    to = ["--out", str(out)] if out else []
    told = ["check", suite, *backends, "--determinism", "1", "--no-progress", "--workers", "1", *to, *words]
    return CliRunner().invoke(main, told)


def kinds(pair: dict) -> dict[str, dict[str, int]]:
    """Of each op the kinds of its cases that are not identical."""
    usual = ("identical", "not compared")
    names = [key for key in pair["summary"] if key not in usual]
    rows = {f"{row['op'][6:]} {row['dtype']}": {key: row[key] for key in names if row[key]} for row in pair["ops"]}
    return {name: found for name, found in rows.items() if found}


def test_equal_backends_are_equivalent_and_each_has_its_record(suite: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = check(suite, "Plain", "cpu", out=out)
    assert result.exit_code == 0, result.output
    assert result.stdout.count("conformant: conformance 100 %") == 2
    found = json.loads((out / "equivalence.json").read_text())
    (pair,) = found["pairs"]
    assert (pair["summary"]["identical"], kinds(pair), pair["failures"]) == (5, {}, [])
    folders = [one["directory"] for one in found["backends"]]
    assert folders[1] == "cpu"
    assert [read_record(out / folder).backend.name for folder in folders] == ["plain", "cpu"]
    assert read_record(out / "cpu").kit.digest == found["kit"]["digest"]


@pytest.mark.parametrize(
    ("name", "expected", "exit_code"),
    [
        ("OneElement", {"neg float32": {"apart": 1}}, 1),
        ("NegativeZero", {"abs float32": {"apart": 1}}, 1),
        ("AnUlpOff", {"exp float32": {"within": 1}}, 0),
        ("Raising", {"sqrt float32": {"one alone": 1}}, 1),
    ],
)
def test_what_differs_from_torch(
    suite: str, tmp_path: Path, name: str, expected: dict, exit_code: int
) -> None:
    result = check(suite, "Plain", name, out=tmp_path / "out")
    (pair,) = json.loads((tmp_path / "out/equivalence.json").read_text())["pairs"]
    assert (kinds(pair), result.exit_code) == (expected, exit_code), result.output
    assert ("not equivalent: " in result.stdout) == bool(exit_code)


def test_one_element_is_told_with_both_values(suite: str, tmp_path: Path) -> None:
    check(suite, "Plain", "OneElement", out=tmp_path / "out")
    (pair,) = json.loads((tmp_path / "out/equivalence.json").read_text())["pairs"]
    (row,) = [row for row in pair["ops"] if (row["op"], row["dtype"]) == ("aten::neg", "float32")]
    assert (row["elements"], row["equal_elements"], row["worst_ulp"]) == (6, 5, 1.0)
    assert (row["further_from_truth"], row["max_error_ulp"]) == ([0, 1], [0.0, 1.0])
    (failure,) = pair["failures"]
    assert (failure["kind"], failure["at"]["output"], failure["at"]["index"]) == ("apart", 0, [1, 2])
    mine, its = (float.fromhex(value["hex"]) for value in failure["at"]["values"])
    assert 0 < its - mine < 1e-5


def test_minus_zero_differs_in_its_bytes_alone(suite: str, tmp_path: Path) -> None:
    check(suite, "Plain", "NegativeZero", out=tmp_path / "out")
    (pair,) = json.loads((tmp_path / "out/equivalence.json").read_text())["pairs"]
    (failure,) = pair["failures"]
    assert (failure["id"], failure["worst_ulp"], failure["equal_elements"]) == (
        "zeros/float32/typical/contiguous", 0.0, 0,
    )  # fmt: skip
    assert "wrong sign of zero" in failure["reason"]


def test_agreement_in_what_is_wrong_is_no_pass(suite: str, tmp_path: Path) -> None:
    result = check(suite, "Wrong", "AsWrong", out=tmp_path / "out")
    found = json.loads((tmp_path / "out/equivalence.json").read_text())
    (pair,) = found["pairs"]
    assert (result.exit_code, kinds(pair)) == (1, {"exp float32": {"both wrong": 1}})
    assert [one["verdict"] for one in found["backends"]] == ["not conformant", "not conformant"]
    assert "the same answer, and both are wrong" in result.stdout
    assert "agreement in what is wrong is no pass" in result.stdout


def test_three_backends_are_three_pairs_and_the_exit_code_is_the_worst(suite: str, tmp_path: Path) -> None:
    result = check(suite, "Plain", "AnUlpOff", "Wrong", out=tmp_path / "out", words=("--quiet",))
    pairs = json.loads((tmp_path / "out/equivalence.json").read_text())["pairs"]
    assert [pair["summary"]["within"] for pair in pairs] == [1, 0, 0]
    assert [pair["summary"]["apart"] for pair in pairs] == [0, 1, 1]
    assert (result.exit_code, len(result.stdout.splitlines())) == (1, 6)


def test_one_backend_alone_is_a_visible_skip(suite: str, tmp_path: Path) -> None:
    result = check(suite, "Plain", "Absent", out=tmp_path / "out")
    assert result.exit_code == 3  # one of the two was not judged
    assert "equivalence: skipped, it needs two backends that are available" in result.stdout
    assert "no device" in result.stdout
    found = json.loads((tmp_path / "out/equivalence.json").read_text())
    assert (len(found["backends"]), found["pairs"]) == (1, [])
    assert found["skipped"].startswith("it needs two backends")


def test_a_name_that_turns_out_to_be_unknown_leaves_the_runs_before_it_compared(suite: str) -> None:
    result = check(suite, "Plain", "cpu", "cudaa")
    assert result.exit_code == 2
    assert "unknown backend 'cudaa'; did you mean 'cuda'?" in result.stderr
    assert f"{named('Plain')} and cpu" in result.stdout


def test_checks_name_equivalence_or_not(suite: str, tmp_path: Path) -> None:
    """A backend whose run passes, since only `result` counts in it: what then fails is the equivalence alone."""
    words = ("--checks", "result")
    shown = check(suite, "Plain", "Wrong", words=words)
    assert (shown.exit_code, "not equivalent: " in shown.stdout) == (0, False)
    both = check(suite, "Plain", "Raising", words=("--checks", "accuracy"))
    assert both.exit_code == 1
    alone = check(suite, "Plain", "Wrong", words=("--checks", "equivalence"))
    assert (alone.exit_code, "not equivalent: " in alone.stdout) == (1, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--backend", "cpu", "--checks", "equivalence"), "it compares backends, so name several"),
        (("--backend", "cpu", "--backend", "cpu"), "cpu is named twice"),
        (("--backend", "cpu", "--backend", "self", "--resume", "x"), "--resume is about one backend; 2 are named"),
        (("--backend", "cpu", "--backend", "self", "--manifest", "x"), "--manifest is about one backend"),
        (("--backend", "cpu", "--backend", "nowhere.py::X"), "there is no Python file 'nowhere.py'"),
    ],
)
def test_mistakes(suite: str, words: tuple[str, ...], message: str) -> None:
    result = CliRunner().invoke(main, ["check", suite, *words])
    assert (result.exit_code, message in result.stderr, result.stdout) == (2, True, "")


def test_the_same_bytes_come_again(suite: str, tmp_path: Path) -> None:
    for name in "ab":
        check(suite, "Plain", "AnUlpOff", out=tmp_path / name)
    first, second = ((tmp_path / name / "equivalence.json").read_bytes() for name in "ab")
    assert first == second
