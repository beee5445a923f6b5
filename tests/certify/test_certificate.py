"""A certificate end to end, and what somebody without a key may do to one."""

from __future__ import annotations

import os
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from conform.certify import outputs
from conform.certify.found import Asked, Report
from conform.certify.issue import seed_of
from conform.certify.verify import verify
from conform.report.schema import read_dict
from tests.certify.support import ASKED, BACKENDS, found_in, keys, run, statement_in

pytestmark = pytest.mark.one_in(6)

FLIPS, MANY_FLIPS = 120, 10_000


def test_it_is_verified_with_the_key_the_nonce_and_every_kept_answer(made: tuple[Path, Path, Path]) -> None:
    result = run("verify", made[0], "--key", made[2], "--nonce", "8f3a27", "--rejudge", "all", "--rerun")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].endswith("which is --key's")
    assert lines[-1] == "verified: PASSED; levels held: none"
    counted = [line for line in lines if "kept answers judged again" in line]
    assert [line.split()[1] == line.split()[3] for line in counted] == [True, True]
    assert sum("the same bytes" in line for line in lines) == 2


def test_what_the_statement_says(made: tuple[Path, Path, Path]) -> None:
    told = statement_in(made[0])
    assert (told["_type"], told["predicateType"]) == (
        "https://in-toto.io/Statement/v1", "https://in-toto.io/attestation/test-result/v0.1",
    )  # fmt: skip
    predicate, conform = told["predicate"], told["predicate"]["conform"]
    assert (predicate["result"], predicate["failedTests"]) == ("PASSED", [])
    assert "aten::exp float32" in predicate["passedTests"]
    assert [draw["seed"] for draw in conform["draws"]] == [0, seed_of("8f3a27")]
    assert conform["must_pass"]["is_whole"] is False
    assert conform["kit"]["selftest"]["plants"] > 0
    assert set(conform["files"]) == {
        "certificate.html", "leaves.txt",
        *(f"{draw}/{name}" for draw in ("public", "nonce")
          for name in ("run.json", "junit.xml", "report.md", "report.html", "outputs.jsonl", "outputs.bin")),
    }  # fmt: skip


def test_a_key_nobody_names_vouches_for_nobody(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    assert "which nobody vouched for" in verify(made[0], ASKED).notes[0]
    _, other = keys(tmp_path)
    assert "the signature is not that of the key" in found_in(made[0], Asked(key=other))[0]


def test_an_old_certificate_is_not_one_of_the_nonce_that_was_given(made: tuple[Path, Path, Path]) -> None:
    (found,) = found_in(made[0], replace(ASKED, nonce="another"))
    assert found.startswith("nonce: '8f3a27' (given), not the one that was given")


# --- Without the key --------------------------------------------------------------------------------------------------


def flipped(folder: Path, count: int, seed: int) -> list[tuple[str, int]]:
    """The flips of a bit, one at a time, that nobody found."""
    draw = random.Random(seed)
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    unseen = []
    for number in range(count):
        path = paths[number % len(paths)]
        content = path.read_bytes()
        place = draw.randrange(len(content))
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :])
        found = found_in(folder)
        if not any(path.name in one or path.parent.name in one for one in found):
            unseen.append((path.name, place))
        path.write_bytes(content)
    return unseen


def test_every_flipped_bit_is_found_and_its_file_named(copy: Path) -> None:
    assert flipped(copy, FLIPS, seed=0) == []
    assert found_in(copy) == []


@pytest.mark.long
def test_many_flipped_bits(copy: Path) -> None:
    assert flipped(copy, MANY_FLIPS, seed=1) == []


@pytest.mark.parametrize("name", ["public/outputs.bin", "leaves.txt", "nonce/run.json"])
def test_a_file_less(copy: Path, name: str) -> None:
    (copy / name).unlink()
    assert found_in(copy) == [f"{name}: is missing"]


def test_a_file_more_and_a_link(copy: Path, tmp_path: Path) -> None:
    (copy / "public" / "notes.txt").write_text("all is well")
    assert found_in(copy) == ["public/notes.txt: is no file of the certificate"]
    (copy / "public" / "notes.txt").unlink()
    (tmp_path / "elsewhere").write_bytes((copy / "leaves.txt").read_bytes())
    (copy / "leaves.txt").unlink()
    (copy / "leaves.txt").symlink_to(tmp_path / "elsewhere")
    assert found_in(copy) == ["leaves.txt: is a link"]


def test_a_changed_case_is_named(copy: Path) -> None:
    path = copy / "public" / "run.json"
    first = read_dict(copy / "public")["cases"][0]["id"]
    before, cases = re.split(r'"cases": ?\[', path.read_text())
    changed = re.sub(r'"compared": ?(\d+)', r'"compared": 1\1', cases, count=1)
    path.write_text(f'{before}"cases": [{changed}')
    assert f"public: {first}: its record or answer is not the one that was signed" in found_in(copy)


def test_a_pipe_and_a_folder_more(copy: Path) -> None:
    os.mkfifo(copy / "pipe")
    (copy / "more").mkdir()
    assert found_in(copy) == ["more: is no file of the certificate", "pipe: is no file of the certificate"]


# --- What is no certificate -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[" * 100_000, '{"payload": 1, "payloadType": 2, "signatures": []}', "null",
     '{"payload": "", "payloadType": "application/vnd.in-toto+json", "signatures": [{"keyid": "a", "sig": "!"}]}'],
)  # fmt: skip
def test_other_text_is_named_as_what_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "certificate.json").write_text(text)
    result = run("verify", tmp_path)
    assert result.exit_code == 2
    assert "no DSSE envelope of a statement" in result.stderr


def test_no_folder_a_full_one_and_another_suite_are_told(tmp_path: Path) -> None:
    assert run("verify", tmp_path / "none").exit_code == 2
    (tmp_path / "file").write_text("mine")
    result = run("certify", "smoke", "--backend", "cpu", "--out", tmp_path)
    assert (result.exit_code, "name an empty folder" in result.stderr) == (2, True)
    (tmp_path / "suite.yaml").write_text("tests: []")
    result = run("certify", tmp_path / "suite.yaml", "--backend", "cpu", "--out", tmp_path / "out")
    assert (result.exit_code, "expected built-in suites" in result.stderr) == (2, True)
    result = run("certify", "smoke", "--backend", "cpu", "--nonce", "", "--out", tmp_path / "out")
    assert (result.exit_code, "--nonce: found an empty text" in result.stderr) == (2, True)
    (tmp_path / "key").write_text("no key")
    result = run("certify", "smoke", "--backend", "cpu", "--key", tmp_path / "key", "--out", tmp_path / "out")
    assert (result.exit_code, "no private key in PEM" in result.stderr) == (2, True)


# --- Other backends ---------------------------------------------------------------------------------------------------


def test_what_fails_is_recorded_and_never_verified(tmp_path: Path) -> None:
    words = ("smoke", "--op", "aten::exp", "--determinism", "1", "--workers", "1", "--no-progress", "--quiet")
    result = run("certify", *words, "--backend", f"{BACKENDS}::Wrong", "--out", tmp_path / "it")
    assert result.exit_code == 1
    assert "FAILED" in result.output
    report: Report = verify(tmp_path / "it", ASKED)
    assert [str(one) for one in report.findings] == [
        "result: FAILED: the certificate itself says that not everything passed"
    ]
    assert {line.is_kept for line in outputs.read(tmp_path / "it" / "public")} == {True}


def test_a_backend_that_answers_otherwise_now_is_seen(tmp_path: Path) -> None:
    words = ("smoke", "--op", "aten::exp", "--determinism", "1", "--workers", "1", "--no-progress", "--quiet")
    result = run("certify", *words, "--backend", f"{BACKENDS}::Right", "--out", tmp_path / "it")
    assert result.exit_code == 0, result.output
    assert found_in(tmp_path / "it", replace(ASKED, backend=f"{BACKENDS}::Right", rerun=True)) == []
    found = found_in(tmp_path / "it", replace(ASKED, backend=f"{BACKENDS}::Wrong", rerun=True))
    assert found
    assert all("answers otherwise now" in one for one in found)
    result = run("verify", tmp_path / "it", "--rerun")
    assert (result.exit_code, f"name it: --backend {BACKENDS.name}::Right" in result.output) == (1, True)


def test_a_second_backend_is_compared(tmp_path: Path) -> None:
    words = ("smoke", "--op", "aten::exp", "--determinism", "1", "--workers", "1", "--no-progress", "--quiet")
    result = run("certify", *words, "--backend", "cpu", "--backend", f"{BACKENDS}::Right", "--out", tmp_path / "it")
    assert result.exit_code == 0, result.output
    assert statement_in(tmp_path / "it")["predicate"]["conform"]["equivalence"]["is_right"] is True
    assert found_in(tmp_path / "it") == []
