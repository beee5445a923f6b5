"""What somebody may do to a certificate with a key of his own: sign it anew, so that every digest is right."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from itertools import permutations
from pathlib import Path

import pytest

from tests.certify.support import ASKED, found_in, of_each_answer, outputs_in, signed_anew


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
