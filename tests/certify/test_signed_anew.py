"""What somebody may do to a certificate with a key of his own: sign it anew, so that every digest is right."""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from itertools import permutations
from pathlib import Path

import pytest
from securesystemslib.dsse import Envelope

from conform.certify import envelope
from conform.certify.issue import draws_of, seed_of
from tests.certify.support import (
    ASKED,
    DRAWS,
    files_signed_anew,
    found_in,
    of_each_answer,
    outputs_in,
    signed_anew,
    signed_by_who_lies_well,
    statement_in,
)

pytestmark = pytest.mark.one_in(6)


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
    exps = [line for line in lines if "exp" in line["id"] and outputs_in(line)]
    kinds = {line["id"]: [outputs_in(line)[0][name] for name in ("shape", "dtype")] for line in exps}
    one, other = next(
        (a, b) for a, b in permutations(exps, 2)
        if kinds[a["id"]] == kinds[b["id"]] and outputs_in(a)[0]["digest"] != outputs_in(b)[0]["digest"]
    )  # fmt: skip
    one["replies"], other["replies"] = other["replies"], one["replies"]
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


def test_bytes_that_unpack_to_more_than_they_may_are_not_unpacked(copy: Path, own: Path) -> None:
    folder = copy / "public"
    lines = [json.loads(line) for line in (folder / "outputs.jsonl").read_text().splitlines()]
    bomb = zlib.compress(bytes(2**27))
    line = next(line for line in lines if outputs_in(line) and "at" in outputs_in(line)[0])
    outputs_in(line)[0] |= {"at": 0, "size": len(bomb), "digest": blake2b(bytes(2**27), digest_size=32).hexdigest()}
    (folder / "outputs.bin").write_bytes(bomb + (folder / "outputs.bin").read_bytes())
    (folder / "outputs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    signed_anew(copy, own)
    found = found_in(copy, replace(ASKED, rejudge=None))
    assert any(line["id"] in one and "are not those of its digest" in one for one in found)


def without_bytes(line: dict) -> None:
    for output in outputs_in(line):
        del output["at"], output["size"]


def test_answers_that_are_not_kept_are_missed(copy: Path, own: Path) -> None:
    """Else a signer would keep nothing, and nothing would be judged again."""
    of_each_answer(copy, without_bytes)
    signed_anew(copy, own)
    assert any("its answer had to be kept, and is not" in one for one in found_in(copy))


def test_answers_that_are_left_out_are_missed(copy: Path, own: Path) -> None:
    of_each_answer(copy, lambda line: line["replies"][0].update(outputs=None))
    signed_anew(copy, own)
    assert any("values were compared, and there is no answer" in one for one in found_in(copy))


# --- Records that say what their cases do not -------------------------------------------------------------------------


def twice(record: dict) -> None:
    record["cases"].append(record["cases"][0])
    for count in ("asked", "judged", "pass"):
        record["summary"][count] += 1


def not_counted(record: dict) -> None:
    record["not_counted"].append(record["cases"].pop())
    for count in ("asked", "judged", "pass"):
        record["summary"][count] -= 1


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda record: record["summary"].update(judged=10**6, **{"pass": 10**6}), "summary.judged: expected "),
        (lambda record: record["required"].update(coverage=1.0, min_coverage=0.0), "required: is not what its cases"),
        (lambda record: record["checks"].update(selected=["layout"]), "checks.selected: expected accuracy, aliasing, "),
        (lambda record: record["kit"]["selftest"].update(caught=10**6), "kit.selftest: is not this kit's figure"),
        (lambda record: record["truth"].update(digest=f"sha256:{0:064x}"), "truth: is not that of this kit"),
        (twice, "stands there 2 times"),
        (not_counted, "is among not_counted, and asks for"),
    ],
)
def test_a_record_that_says_what_it_does_not_hold(copy: Path, own: Path, change: Callable, place: str) -> None:
    for draw in DRAWS:
        record = json.loads((copy / draw / "run.json").read_text())
        change(record)
        (copy / draw / "run.json").write_text(json.dumps(record))
        ids, index = [case["id"] for case in record["cases"]], copy / draw / "outputs.jsonl"
        lines = {json.loads(line)["id"]: line for line in index.read_text().splitlines(keepends=True)}
        index.write_text("".join(lines[one] for one in ids))
    signed_by_who_lies_well(copy, own)
    assert any(f"{draw}/run.json, " in one and place in one for draw in DRAWS for one in found_in(copy)), found_in(copy)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda conform: conform["environment"].update(machine="riscv64"), "environment: is not what the records say"),
        (lambda conform: conform.update(equivalence={"is_right": True, "pairs": []}), "equivalence: is not what equiv"),
        (lambda conform: conform.update(selftest={"seed": conform["draws"][1]["seed"], "problems": [], **dict.fromkeys(
            ("planted", "tried", "caught", "explained", "pairs", "elements", "disagreeing"), 0)}),
         "selftest: belongs to the whole list, and to it alone"),
        (lambda conform: conform.update(date="soon"), "Invalid isoformat string"),
        (lambda conform: conform["draws"][0].update(determinism=1000), "has answers to 4 calls, not 1001"),
    ],
)  # fmt: skip
def test_a_statement_that_says_more(copy: Path, own: Path, change: Callable, place: str) -> None:
    signed_by_who_lies_well(copy, own, lambda told: change(told["predicate"]["conform"]))
    assert any(place in one for one in found_in(copy)), found_in(copy)


def test_an_old_run_under_a_new_nonce(copy: Path, own: Path) -> None:
    """Its answers are right, to other questions."""
    record = json.loads((copy / "nonce" / "run.json").read_text())
    record["seed"] = seed_of("new")
    (copy / "nonce" / "run.json").write_text(json.dumps(record))
    draws = [draw.model_dump() for draw in draws_of("new", "given", 3)]
    signed_by_who_lies_well(copy, own, lambda told: told["predicate"]["conform"].update(nonce="new", draws=draws))
    found = found_in(copy, replace(ASKED, nonce="new", rejudge=20))
    assert any(one.startswith("nonce: ") and "judged again: status 'fail' now" in one for one in found), found


@pytest.mark.parametrize("name", ["certificate.html", "public/report.html", "nonce/junit.xml"])
def test_a_page_that_says_something_else(copy: Path, own: Path, name: str) -> None:
    text = (copy / name).read_text()
    assert "float32" in text
    (copy / name).write_text(text.replace("float32", "float33", 1))
    files_signed_anew(copy, own)
    assert [one.partition(":")[0] for one in found_in(copy)] == [name]


def test_other_data_behind_a_page(copy: Path, own: Path) -> None:
    """What scripts show stands there compressed; more than belongs there is not unpacked."""
    path = copy / "public" / "report.html"
    packed = re.search(r"eJ[A-Za-z0-9+/]{40,}={0,2}", path.read_text())[0]
    for content in (b"[]", bytes(2**27)):
        path.write_text(path.read_text().replace(packed, packed := base64.b64encode(zlib.compress(content)).decode()))
        signed_anew(copy, own)
        assert found_in(copy) == ["public/report.html: is not that of the record beside it"]
    content = zlib.decompress(base64.b64decode(packed))
    assert len(content) == 2**27


@pytest.mark.parametrize(("name", "key"), [("public/run.json", "seed"), ("nonce/outputs.jsonl", "id")])
def test_a_key_that_stands_twice(copy: Path, own: Path, name: str, key: str) -> None:
    """Which of the two is meant each reader decides for itself."""
    told = (copy / name).read_text()
    signed_anew(copy, own)
    (copy / name).write_text(f'{{"{key}": 7, {told[1:]}')
    files_signed_anew(copy, own)
    (found, *_) = found_in(copy)
    assert f"the key '{key}' stands twice" in found


def test_a_statement_with_a_key_that_stands_twice(copy: Path, own: Path) -> None:
    signer, text = envelope.signer_of(own), json.dumps(statement_in(copy), indent=1)
    told = Envelope(text.replace('"result"', '"result": "FAILED", "result"', 1).encode(), envelope.PAYLOAD_TYPE, {})
    told.sign(signer.of_library)
    (copy / "certificate.json").write_text(json.dumps(told.to_dict()) + "\n")
    assert "the statement is not as conform writes it" in found_in(copy)[0]


@pytest.mark.parametrize("name", ["certificate.json", "public/run.json", "leaves.txt"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(copy: Path, name: str) -> None:
    (copy / name).unlink()
    os.mkfifo(copy / name)
    assert "expected a regular file" in found_in(copy)[0]


@pytest.mark.parametrize(
    ("field", "value"),
    [("at", 2**63), ("at", -1), ("size", 2**62), ("size", 0), ("shape", [2**40, 2**40]), ("shape", [-5, -7]),
     ("shape", [0] * 65), ("shape", [5.0, 7]), ("strides", [1]), ("dtype", "float8"), ("digest", "0" * 64)],
)  # fmt: skip
def test_outputs_that_cannot_be(copy: Path, own: Path, field: str, value: object) -> None:
    index = copy / "public" / "outputs.jsonl"
    lines = [json.loads(line) for line in index.read_text().splitlines()]
    next(output for line in lines for output in outputs_in(line))[field] = value
    index.write_text("".join(json.dumps(line) + "\n" for line in lines))
    files_signed_anew(copy, own)
    assert found_in(copy, replace(ASKED, rejudge=None))
