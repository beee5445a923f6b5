"""A record and a contract table are data: nothing that stands in them runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from conform.cli import main

pytestmark = pytest.mark.one_in(6)

CASE = "cast/float64/typical/contiguous"
SUITE = """
tests:
  - id: cast
    op: aten::_to_copy
    in: [{type: const_tensor, shape: [3], dtype: float64, value: [2.5, 1.0039062500000002, -7.0]}]
    kwargs: {dtype: {type: const, value: bfloat16}}
"""
CODE = "open('forged', 'w').close()"
# Code that a line break, of whatever kind, would put on a line of its own; and code that is in a comment unless that is
# read in the encoding.
BREAKS = [f"x{char}{CODE}{char}#" for char in "\n\r\x0c\u2028"]
ENCODINGS = {"utf_7": f"+AAo-{CODE.replace('(', '+ACg-')}+AAo-#", "unicode_escape": f"\\n{CODE}\\n#"}
CONTRACT = "name: {text}\nbase: opencl\nrows:\n  - {{ops: [aten::_to_copy], kind: exact, source: {text}}}\n"


def run(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The record of a run of torch with a failing case."""
    folder = tmp_path_factory.mktemp("forged")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("suite.yaml").write_text(SUITE)
        assert run("check", "suite.yaml", "--backend", "cpu", "--out", "out")[0] == 1
        return json.loads(Path("out/run.json").read_text())


@pytest.fixture
def tampered(record: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes the record with one field changed, beside its suite."""
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(SUITE)

    def write(value: object, *place: str | int) -> Path:
        changed = json.loads(json.dumps(record))
        inside = changed
        for part in place[:-1]:
            inside = inside[part]
        inside[place[-1]] = value
        Path("out").mkdir(exist_ok=True)
        Path("out/run.json").write_text(json.dumps(changed))
        return tmp_path / "forged"

    return write


TEXTS = [("kit", "name"), ("kit", "version"), ("backend", "name"), ("backend", "version"), ("contract",)]


@pytest.mark.parametrize("place", TEXTS, ids=" ".join)
def test_what_a_record_tells_of_itself_is_one_line(tampered: Callable[..., Path], place: tuple[str, ...]) -> None:
    for hostile in BREAKS:
        forged = tampered(hostile, *place)
        code, text, told = run("repro", CASE, "--run", "out")
        assert (code, text) == (2, "")
        assert f"out/run.json: {'.'.join(place)}: Value error, a line break, or a character that is not" in told
        assert not forged.exists()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_a_record_tells_of_itself_does_not_choose_the_encoding(
    tampered: Callable[..., Path], encoding: str
) -> None:
    """The first two lines of a script are where Python looks for one; what follows them is read in it."""
    forged = tampered(0, "seed")
    written = json.loads(Path("out/run.json").read_text())
    names = {"name": f"coding: {encoding}", "version": ENCODINGS[encoding]}
    Path("out/run.json").write_text(json.dumps({**written, "kit": {**written["kit"], **names}, "backend": names}))
    code, text, told = run("repro", CASE, "--run", "out")
    assert code == 0, told
    first, second = text.splitlines()[:2]
    assert first == "# A failing call, made small. -*- coding: utf-8 -*-"
    assert f"coding: {encoding}" in second
    assert ENCODINGS[encoding] in text
    Path("script.py").write_text(text)
    assert subprocess.run([sys.executable, "script.py"], capture_output=True, timeout=60).returncode == 1
    assert not forged.exists()


@pytest.mark.parametrize("hostile", [BREAKS[0], ENCODINGS["unicode_escape"]])
def test_a_contract_table_does_not_run(tampered: Callable[..., Path], hostile: str) -> None:
    """Its name and its sources stand in records and in the comments of scripts."""
    forged = tampered(0, "seed")
    Path("strict.yaml").write_text(CONTRACT.format(text=json.dumps(hostile)))
    words = ("--backend", "cpu", "--contract", "strict.yaml", "--out", "out")
    assert run("check", "suite.yaml", *words)[0] == 1
    code, text, told = run("repro", CASE, "--run", "out")
    assert code == 0, told
    assert all(char.isprintable() or char == "\n" for char in text)
    Path("script.py").write_text(text)
    ended = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert not forged.exists()


LOADED = "open('forged', 'w').close()\nimport conform\nclass Mine(conform.Backend):\n    name = 'mine'\n"


def test_a_record_does_not_choose_the_file_that_is_run(tampered: Callable[..., Path]) -> None:
    forged = tampered("evil.py::Mine", "environment", "invocation", "backend")
    Path("evil.py").write_text(LOADED)
    told = "conform: out is a run of a backend in a file, which is run only if you name it: --backend evil.py::Mine\n"
    assert run("repro", CASE, "--run", "out") == (2, "", told)
    assert not forged.exists()
    code, _, told = run("repro", CASE, "--run", "out", "--backend", "cpu")  # another may be named
    assert (code, told) == (0, "")
    assert not forged.exists()
    run("repro", CASE, "--run", "out", "--backend", "evil.py::Mine")
    assert forged.exists()


@pytest.mark.parametrize(
    ("value", "place", "message"),
    [
        ("cuda'); import os #", ("environment", "invocation", "backend"), "unknown backend \"cuda'); import os #\""),
        (7, ("environment", "invocation", "backend"), "environment.invocation.backend: Input should be a valid string"),
        ("core\0", ("environment", "invocation", "contract"), "environment.invocation.contract: String should match"),
        ("core", ("environment", "invocation", "suites"), "environment.invocation.suites: Input should be"),
        ({}, ("environment",), "environment.python: Field required; it is not as conform wrote it"),
        ("#/texts/99", ("cases", 0, "reason"), "cases[0] has the pointer #/texts/99, which leads nowhere; it is not"),
        ("#/texts/-1", ("cases", 0, "test"), "cases[0] has the pointer #/texts/-1, which leads nowhere"),
        ("#/texts/\u0661", ("cases", 0, "test"), "leads nowhere"),
        ("#/cases/0", ("cases", 0, "contract", "source"), "cases[0] has the pointer #/cases/0, which leads nowhere"),
        (7, ("cases", 0, "standing"), "cases[0] has the standing 7, of 2"),
        ("0", ("cases", 0, "standing"), "cases[0].standing: Input should be a valid integer"),
        ({"a\nb": 1}, ("environment", "numerics"), "environment.numerics"),
        ({"aten::exp": {"float32": {"1.5": 1}}}, ("histograms",), "histograms.aten::exp.float32.1.5"),
        ("0", ("seed",), "seed: Input should be a valid integer"),
        (True, ("seed",), "seed: Input should be a valid integer"),
        ("passed", ("cases", 0, "status"), "cases[0].status: Input should be 'pass'"),
        ("a\nb", ("cases", 0, "id"), r"cases[0].id: Value error, a line break, or a character that is not printable"),
        ([], ("cases", 0), "cases[0]: Input should be"),
        ("md5:0", ("suite", "digest"), "suite.digest: String should match pattern"),
        (None, ("backend", "name"), "backend.name: Input should be a valid string, found None"),
    ],
)
def test_a_record_that_no_run_wrote_is_refused_with_the_place(
    tampered: Callable[..., Path], value: object, place: tuple[str | int, ...], message: str
) -> None:
    tampered(value, *place)
    code, text, told = run("repro", CASE, "--run", "out")
    assert (code, text) == (2, "")
    assert message in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, '"\\ud800"', "null", "\xff"])
def test_a_file_that_is_no_record_is_refused(tampered: Callable[..., Path], text: str) -> None:
    tampered(0, "seed")
    Path("out/run.json").write_text(text, encoding="latin-1")
    code, _, told = run("repro", CASE, "--run", "out")
    assert code == 2
    assert told.startswith("conform: out/run.json: ")
    assert len(told.splitlines()) == 1
