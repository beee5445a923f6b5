"""A certificate end to end, and everything that somebody may do to one."""

from __future__ import annotations

import base64
import json
import os
import random
import re
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b, sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conform.certify import envelope, leaves, merkle, outputs
from conform.certify.found import Asked, Report
from conform.certify.issue import seed_of
from conform.certify.verify import verify
from conform.cli import main
from conform.errors import UsageError
from conform.report.run_json import expanded
from conform.report.schema import read_dict

ASKED = Asked(rejudge=0)
FLIPS, MANY_FLIPS = 120, 10_000
BACKENDS = Path(__file__).with_name("backends.py")


def run(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def keys(folder: Path) -> tuple[Path, Path]:
    """A private key and its public one, as openssl would write them."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key, private, public = Ed25519PrivateKey.generate(), folder / "key.pem", folder / "key.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


PART = ("smoke", "--op", "aten::add", "--op", "aten::sort", "--op", "aten::exp", "--determinism", "3", "--workers", "1",
        "--no-progress", "--quiet")  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A certificate of torch on a part of smoke; the private and the public key."""
    folder = tmp_path_factory.mktemp("certified")
    private, public = keys(folder)
    result = run("certify", *PART, "--backend", "cpu", "--nonce", "8f3a27", "--key", private, "--out", folder / "it")
    assert result.exit_code == 0, result.output
    assert "PASSED (of a part of the must-pass list); levels held: none" in result.output
    return folder / "it", private, public


@pytest.fixture
def copy(made: tuple[Path, Path, Path], tmp_path: Path) -> Path:
    return shutil.copytree(made[0], tmp_path / "copy")


def statement_in(folder: Path) -> dict:
    return json.loads(base64.b64decode(json.loads((folder / "certificate.json").read_text())["payload"]))


def found_in(folder: Path, asked: Asked = ASKED) -> list[str]:
    """What is found; an error that ends the reading is a finding, too."""
    try:
        return list(map(str, verify(folder, asked).findings))
    except UsageError as error:
        return [str(error)]


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
        "certificate.md", "leaves.txt",
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


# --- With a key of one's own ------------------------------------------------------------------------------------------


def signed_anew(folder: Path, private: Path, change: Callable[[dict], None] = lambda _: None) -> None:
    """The certificate of what stands in the folder now, as far as digests, leaves and root go."""
    told = statement_in(folder)
    conform = told["predicate"]["conform"]
    made: list[bytes] = []
    for draw in ("public", "nonce"):
        made += leaves.hashes(draw, expanded(read_dict(folder / draw))["cases"], outputs.read(folder / draw))
    leaves.write(folder, made)
    conform["merkle"] = {"leaves": len(made), "root": merkle.root(made).hex()}
    for name in conform["files"]:
        content = (folder / name).read_bytes()
        conform["files"][name] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    signer = envelope.signer_of(private)
    conform["public_key"] = signer.public_key
    change(told)
    (folder / "certificate.json").write_text(envelope.sealed(told, signer))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return keys(tmp_path)[0]


def test_signing_anew_alone_is_seen_by_who_knows_the_key(copy: Path, own: Path, made: tuple[Path, Path, Path]) -> None:
    signed_anew(copy, own)
    assert found_in(copy) == []
    assert "the signature is not that of the key" in found_in(copy, replace(ASKED, key=made[2]))[0]


def test_a_dropped_case_is_missed(copy: Path, own: Path) -> None:
    record = json.loads((copy / "public" / "run.json").read_text())
    dropped = record["cases"].pop()
    record["summary"] |= {name: record["summary"][name] - 1 for name in ("asked", "judged", "pass")}
    (copy / "public" / "run.json").write_text(json.dumps(record))
    index = copy / "public" / "outputs.jsonl"
    index.write_text("".join(index.read_text().splitlines(keepends=True)[:-1]))

    def agree(told: dict) -> None:
        conform = told["predicate"]["conform"]
        conform["summary"]["public"] = record["summary"]
        counts = conform["ops"][dropped["op"]][dropped["dtype"]]
        counts["pass"] -= 1

    signed_anew(copy, own, agree)
    found = found_in(copy)
    assert any("is a case of the must-pass list, and not in the record" in one or "levels" in one for one in found)


def test_an_answer_in_the_place_of_another_is_judged_again(copy: Path, own: Path) -> None:
    index = copy / "public" / "outputs.jsonl"
    lines = [json.loads(line) for line in index.read_text().splitlines()]
    exps = [line for line in lines if "exp" in line["id"] and line["outputs"] and "at" in line["outputs"][0]]
    one, other = next(
        (a, b) for a in exps for b in exps
        if a["outputs"][0]["shape"] == b["outputs"][0]["shape"] and a["outputs"][0]["dtype"] == b["outputs"][0]["dtype"]
        and a["outputs"][0]["digest"] != b["outputs"][0]["digest"]
    )  # fmt: skip
    one["outputs"], other["outputs"] = other["outputs"], one["outputs"]
    index.write_text("".join(json.dumps(line) + "\n" for line in lines))
    signed_anew(copy, own)
    found = found_in(copy, replace(ASKED, rejudge=None))
    assert any(one["id"] in text and "judged again: " in text for text in found)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda told: told["predicate"].update(result="FAILED"), "predicate: says FAILED, the records PASSED"),
        (lambda told: told["predicate"]["passedTests"].append("aten::mm float32"), "predicate: is not that of"),
        (lambda told: told["predicate"]["conform"]["levels"][0].update(held=True), "levels: is not what the records"),
        (lambda told: told["predicate"]["conform"]["must_pass"].update(is_whole=True), "must_pass: is not what"),
        (lambda told: told["predicate"]["conform"]["kit"]["selftest"].update(caught=10**6), "kit: is not what"),
        (lambda told: told["predicate"]["conform"].update(nonce="mine"), "draws: are not those of the nonce"),
        (lambda told: told["predicate"]["conform"].update(backend={"name": "cuda"}), "backend: is not what"),
        (lambda told: told["predicate"]["conform"].update(more=1), "predicate.conform.more"),
        (lambda told: told["subject"][0].update(name="cuda"), "predicate: is not that of the records"),
        (lambda told: told.pop("subject"), "subject: Field required"),
    ],
)
def test_a_field_that_the_records_do_not_say(copy: Path, own: Path, change: Callable, place: str) -> None:
    signed_anew(copy, own, change)
    assert any(place in one for one in found_in(copy)), found_in(copy)


def test_bytes_of_no_answer_are_found(copy: Path, own: Path) -> None:
    path = copy / "public" / "outputs.bin"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"more")
    signed_anew(copy, own)
    assert found_in(copy) == [f"public/outputs.bin: has {size + 4} bytes, of which answers have {size}"]


def test_a_waiver_that_had_expired_is_found(copy: Path, own: Path) -> None:
    waiver = {"op": ["aten::exp"], "reason": "known", "until": "2020-01-31", "line": 1, "numerics": {}}
    waivers = {"source": "w.yaml", "digest": "sha256:00", "entries": [{**waiver, "state": "unused", "cases": 0}]}

    def with_it(told: dict) -> None:
        told["predicate"]["conform"]["waivers"] = waivers

    signed_anew(copy, own, with_it)
    assert any(one.startswith("waivers, entry 1: had expired on 2020-01-31") for one in found_in(copy))


def test_bytes_that_unpack_to_more_than_they_may_are_not_unpacked(copy: Path, own: Path) -> None:
    folder = copy / "public"
    lines = [json.loads(line) for line in (folder / "outputs.jsonl").read_text().splitlines()]
    bomb = zlib.compress(bytes(2**27))
    line = next(line for line in lines if line["outputs"] and line["outputs"][0].get("at") is not None)
    line["outputs"][0] |= {"at": 0, "size": len(bomb), "digest": blake2b(bytes(2**27), digest_size=32).hexdigest()}
    (folder / "outputs.bin").write_bytes(bomb + (folder / "outputs.bin").read_bytes())
    (folder / "outputs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    signed_anew(copy, own)
    found = found_in(copy, replace(ASKED, rejudge=None))
    assert any(line["id"] in one and "are not those of its digest" in one for one in found)


def of_each_answer(folder: Path, change: Callable[[dict], object]) -> None:
    for draw in ("public", "nonce"):
        index = folder / draw / "outputs.jsonl"
        lines = [json.loads(line) for line in index.read_text().splitlines()]
        for line in lines:
            change(line)
        index.write_text("".join(json.dumps(line) + "\n" for line in lines))


def without_bytes(line: dict) -> None:
    for output in line["outputs"] or ():
        output.update(at=None, size=None)


def test_answers_that_are_not_kept_are_missed(copy: Path, own: Path) -> None:
    """Else a signer would keep nothing, and nothing would be judged again."""
    of_each_answer(copy, without_bytes)
    signed_anew(copy, own)
    assert any("its answer had to be kept, and is not" in one for one in found_in(copy))


def test_answers_that_are_left_out_are_missed(copy: Path, own: Path) -> None:
    of_each_answer(copy, lambda line: line.update(outputs=None))
    signed_anew(copy, own)
    assert any("values were compared, and there is no answer" in one for one in found_in(copy))


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
    assert result.exit_code == 2 or "name it: --backend" in result.output


def test_a_second_backend_is_compared(tmp_path: Path) -> None:
    words = ("smoke", "--op", "aten::exp", "--determinism", "1", "--workers", "1", "--no-progress", "--quiet")
    result = run("certify", *words, "--backend", "cpu", "--backend", f"{BACKENDS}::Right", "--out", tmp_path / "it")
    assert result.exit_code == 0, result.output
    assert statement_in(tmp_path / "it")["predicate"]["conform"]["equivalence"]["is_right"] is True
    assert found_in(tmp_path / "it") == []
