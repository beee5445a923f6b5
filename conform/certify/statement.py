"""The statement that is signed: in-toto's, with the test-result predicate and, in its field `conform`, what a verifier
needs besides (https://in-toto.io/attestation/test-result/v0.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from conform.certify.must_pass import canonical
from conform.judging.verdict import FAILURES
from conform.report.waivers import are_right

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
SCHEMA = "conform.certificate/2"
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
PASSED, WARNED, FAILED = "PASSED", "WARNED", "FAILED"


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Written(_Form):
    """A file of the folder."""

    bytes: int = Field(ge=0)
    sha256: Sha256


class Draw(_Form):
    """One run of the must-pass list: its folder, the seed of its draws, and where that is from."""

    name: str = Field(pattern="^[a-z]{1,20}$")
    seed: int
    seed_is_from: str
    determinism: int = Field(ge=1)


class MustPass(_Form):
    """What had to be run: suites, filters, contract; `is_whole`: nothing of the list was left out."""

    suites: list[str]
    suite_digest: str
    selection: dict[str, list[str]]
    contract: str
    is_whole: bool
    digest: Sha256


class Merkle(_Form):
    leaves: int = Field(ge=0)
    root: Sha256


class LevelHeld(_Form):
    name: str
    says: str
    held: bool
    why_not: str | None
    cases: int
    not_judged: int


class SelfTest(_Form):
    """The share of the self-test that `seed` chooses: planted defects that there are, were tried, caught and explained;
    of I8 pairs of op and dtype, elements, and how many pairs disagree."""

    seed: int
    planted: int = Field(ge=0)
    tried: int = Field(ge=0)
    caught: int = Field(ge=0)
    explained: int = Field(ge=0)
    pairs: int = Field(ge=0)
    elements: int = Field(ge=0)
    disagreeing: int = Field(ge=0)
    problems: list[str]


class Conform(_Form):
    """The kit's own part of the predicate."""

    written_as: Literal["conform.certificate/2"] = Field(alias="schema")
    date: str
    nonce: str
    nonce_is: Literal["given", "the date"]
    kit: dict[str, Any]
    truth: dict[str, Any]
    selftest: SelfTest | None
    must_pass: MustPass
    draws: list[Draw] = Field(min_length=1)
    backend: dict[str, Any]
    environment: dict[str, Any]
    manifest: dict[str, Any] | None
    waivers: dict[str, Any] | None
    summary: dict[str, dict[str, Any]]
    ops: dict[str, dict[str, dict[str, int]]]
    levels: list[LevelHeld]
    equivalence: dict[str, Any] | None
    kept: str
    merkle: Merkle
    files: dict[str, Written]
    public_key: str


class Predicate(_Form):
    result: Literal["PASSED", "WARNED", "FAILED"]
    configuration: list[dict[str, Any]]
    passed_tests: list[str] = Field(alias="passedTests")
    warned_tests: list[str] = Field(alias="warnedTests")
    failed_tests: list[str] = Field(alias="failedTests")
    conform: Conform


class Statement(_Form):
    """The whole of it, as the JSON has it."""

    type: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: list[dict[str, Any]] = Field(min_length=1)
    predicate_type: Literal["https://in-toto.io/attestation/test-result/v0.1"] = Field(alias="predicateType")
    predicate: Predicate


def subject_of(backend: Mapping[str, Any]) -> dict[str, Any]:
    """What the statement is about: the backend's file, by its digest, or what it tells of itself, by that of the text.
    """
    told = str(backend.get("digest") or "").removeprefix("sha256:")
    return {"name": backend["name"], "digest": {"sha256": told or sha256(canonical(backend)).hexdigest()}}


def ops_of(cases: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, int]]]:
    """By op and dtype how many cases ended in which status."""
    found: dict[str, dict[str, Counter]] = {}
    for case in cases:
        found.setdefault(case["op"], {}).setdefault(case["dtype"], Counter())[case["status"]] += 1
    return {
        op: {dtype: dict(sorted(counts.items())) for dtype, counts in sorted(dtypes.items())}
        for op, dtypes in sorted(found.items())
    }


def tests_of(ops: Mapping[str, Mapping[str, Mapping[str, int]]]) -> tuple[list[str], list[str], list[str]]:
    """`aten::exp float32`: what passed, what passed but for what was waived, and what failed."""
    passed, warned, failed = [], [], []
    for op, dtypes in ops.items():
        for dtype, counts in dtypes.items():
            if any(counts.get(status) for status in FAILURES):
                failed.append(f"{op} {dtype}")
            elif counts.get("waived"):
                warned.append(f"{op} {dtype}")
            elif counts.get("pass"):
                passed.append(f"{op} {dtype}")
    return passed, warned, failed


def result_of(exit_codes: Iterable[int], has_waived: bool, conform: Mapping[str, Any]) -> str:
    """The result in a word: that every run is conformant, and what there is besides, a second backend that is to be
    equivalent, the waivers and the self-test, is right as well."""
    is_equivalent = conform["equivalence"] is None or conform["equivalence"]["is_right"]
    is_proved = conform["selftest"] is None or not conform["selftest"]["problems"]
    if any(exit_codes) or not is_equivalent or not is_proved or not are_right(conform):
        return FAILED
    return WARNED if has_waived else PASSED


def predicate_of(result: str, conform: Mapping[str, Any]) -> dict[str, Any]:
    """The test-result predicate."""
    passed, warned, failed = tests_of(conform["ops"])
    configuration = [
        {"name": "must-pass list", "digest": {"sha256": conform["must_pass"]["digest"]}},
        {"name": "conform", "digest": {"sha256": conform["kit"]["digest"].removeprefix("sha256:")}},
    ]
    if waivers := conform["waivers"]:
        configuration.append({"name": waivers["source"], "digest": {"sha256": _bare(waivers["digest"])}})
    if manifest := conform["manifest"]:
        configuration.append({"name": manifest["source"], "digest": {"sha256": _bare(manifest["digest"])}})
    return {
        "result": result, "configuration": configuration, "passedTests": passed, "warnedTests": warned,
        "failedTests": failed, "conform": dict(conform),
    }  # fmt: skip


def _bare(digest: str) -> str:
    return digest.removeprefix("sha256:")


def statement_of(predicate: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "_type": TYPE, "subject": [subject_of(predicate["conform"]["backend"])], "predicateType": PREDICATE_TYPE,
        "predicate": dict(predicate),
    }  # fmt: skip
