"""Making a certificate: the must-pass list run on both draws, the answers kept, everything bound and signed.

`certificate.json` is written last: what a run leaves behind that did not come to its end is no certificate, and can be
resumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conform import interrupt
from conform.backends.names import source
from conform.certify import (
    envelope,
    evidence,
    leaves,
    levels,
    merkle,
    must_pass,
    outputs,
    page,
    proof,
    statement,
    under_way,
)
from conform.certify.envelope import CERTIFICATE
from conform.errors import ConformError, UsageError
from conform.golden_files.container import digest_of
from conform.options import tell
from conform.report import write
from conform.report.run_json import expanded
from conform.report.schema import read_dict
from conform.running.answers import Keeper
from conform.running.answers import read as answers_in
from conform.suites.builtin import NAMES
from conform.verbs.checking import EQUIVALENCE_FILE, Shown, checked, compared_runs

if TYPE_CHECKING:
    from conform.report.record import Run

SUMMARY = "certificate.html"
PUBLIC, NONCE = "public", "nonce"  # the draws
CALLS = 1000  # equal calls of a canonical case


@dataclass(frozen=True)
class Order:
    """What is to be certified, and how.

    backends     the one that it is about, and perhaps a second one, to which its answers are compared
    selection    options of `check` that choose cases, by name: a must-pass list that is narrowed by one is a part
    options      other options of `check`: contract, manifest, waivers, timeouts, jail, imports, workers
    nonce        what the verifier gave, None: the date stands for it
    is_resumed   whether one was begun in `out` that is to be gone on with
    keep         how many passing answers a draw keeps; None: all
    """

    backends: Sequence[str]
    out: Path
    suites: Sequence[str] = must_pass.SUITES
    selection: Mapping[str, Sequence[str]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    nonce: str | None = None
    is_resumed: bool = False
    key: Path | None = None
    keep: int | None = outputs.PASSING_KEPT
    determinism: int = CALLS
    shown: Shown = field(default_factory=Shown)


def seed_of(nonce: str) -> int:
    """The seed of the draws that nobody could prepare for."""
    return int.from_bytes(sha256(f"{statement.SCHEMA}\0{nonce}".encode()).digest()[:6], "big")


def draws_of(nonce: str, nonce_is: str, determinism: int) -> list[statement.Draw]:
    """The two halves: seed 0, which everybody knows, and that of the nonce."""
    return [
        statement.Draw(name=PUBLIC, seed=0, seed_is_from="the default", determinism=determinism),
        statement.Draw(name=NONCE, seed=seed_of(nonce), seed_is_from=f"the nonce, {nonce_is}", determinism=1),
    ]


class _EndedEarly(Exception):
    """A signal ended a run; its exit code."""


@dataclass(frozen=True)
class _Ran:
    """What came of the draws: an exit code each, the leaves of all, and the second backend's part."""

    codes: list[int]
    leaves: list[bytes]
    equivalence: dict[str, Any] | None


def issue(order: Order) -> int:
    """Runs it and writes the folder; the exit code is 0 where the result is PASSED or WARNED, else the worst of the
    runs'. A run that a signal ends leaves what it needs to go on, and no certificate."""
    if others := [name for name in order.suites if name not in NAMES]:
        known = ", ".join(NAMES)
        raise UsageError(f"certify {others[0]}: expected built-in suites ({known}), which a verifier has, too")
    if order.nonce == "":
        raise UsageError("--nonce: found an empty text, expected what the verifier gave")
    signer = envelope.signer_of(order.key)
    for name in order.backends:
        source(name)  # a file that is not there is told before the first run
    if order.is_resumed:
        begun = under_way.resumed(order.out, order.nonce)
    else:
        begun = under_way.begin(order.out, order.nonce, (PUBLIC, NONCE))
    draws = draws_of(begun.nonce, begun.nonce_is, order.determinism)
    try:
        given = evidence.put(order.out, order.options.get("manifest"), order.options.get("waivers"), begun.date)
        order = replace(order, options={**order.options, "waivers": given.waivers})
        ran = _ran(order, draws, begun.nonce)
        of_runs = _of_runs(order, draws, given)
        selftest = _proved(order, draws[-1].seed) if of_runs["must_pass"]["is_whole"] else None
    except _EndedEarly as end:
        tell(f"there is no certificate of a run that was ended early; to go on: --resume {order.out}")
        return end.args[0]
    except ConformError:
        if not order.is_resumed:
            under_way.take_back(order.out)
        raise
    interrupt.hold()
    conform = {
        "schema": statement.SCHEMA, "date": begun.date, "nonce": begun.nonce, "nonce_is": begun.nonce_is, **of_runs,
        "selftest": selftest, "equivalence": ran.equivalence, "kept": kept_as(order.keep),
        "merkle": {"leaves": len(ran.leaves), "root": merkle.root(ran.leaves).hex()}, "files": {},
        "public_key": signer.public_key,
    }  # fmt: skip
    result = statement.result_of(ran.codes, any(one["waived"] for one in conform["summary"].values()), conform)
    _write(order.out, result, conform, ran.leaves, signer)
    page.tell(result, conform, order.out / CERTIFICATE)
    return 0 if result != statement.FAILED else max([1, *ran.codes])


def _ran(order: Order, draws: Sequence[statement.Draw], nonce: str) -> _Ran:
    """Runs the draws, the public one on every backend, and keeps the answers of the first."""
    ran = _Ran([], [], None)
    for draw in draws:
        others = order.backends[1:] if draw.name == PUBLIC else ()
        own = {name: _run(order, draw, name) for name in (order.backends[0], *others)}
        _, keeper, code = own[order.backends[0]]
        ran.codes.append(code)
        ran.leaves.extend(_keep(order, draw, keeper, nonce))
        ran = replace(ran, equivalence=_compared(order, own)) if others else ran
    return ran


def _write(out: Path, result: str, conform: dict[str, Any], hashes: Sequence[bytes], signer: envelope.Signer) -> None:
    """The leaves and the page, then, of all files, the certificate."""
    under_way.clear(out)
    leaves.write(out, hashes)
    write.put(out / SUMMARY, page.render(result, conform))
    conform["files"] = _files(out)
    sealed = envelope.sealed(statement.statement_of(statement.predicate_of(result, conform)), signer)
    write.put(out / CERTIFICATE, sealed)


def kept_as(keep: int | None) -> str:
    """Which answers are kept, in words."""
    return "all" if keep is None else f"all but passing, and {keep} of these"


def _run(order: Order, draw: statement.Draw, backend: str) -> tuple[Run, Keeper, int]:
    folder = under_way.folder_of(order.out, draw.name, is_other=backend != order.backends[0])
    keeper = Keeper.behind(under_way.answers_of(folder))
    where = {"resume": folder} if under_way.has_journal(folder) else {"out": folder}
    run, code = checked(
        order.suites, backend, replace(order.shown, keeps_journal=True, **where), keeper=keeper, seed=draw.seed,
        determinism=draw.determinism, **order.selection, **order.options,
    )  # fmt: skip
    interrupt.release()
    if code in (interrupt.INTERRUPTED, interrupt.TERMINATED):
        raise _EndedEarly(code)
    return run, keeper, code


def _keep(order: Order, draw: statement.Draw, keeper: Keeper, nonce: str) -> list[bytes]:
    """Writes the answers of a draw; its leaves."""
    folder = order.out / draw.name
    cases = expanded(read_dict(folder))["cases"]
    others = {case["id"] for case in cases if case["status"] != "pass"}
    passing = outputs.sampled((case["id"] for case in cases if case["status"] == "pass"), nonce, order.keep)
    lines = outputs.write(folder, answers_in(keeper.folder), [case["id"] for case in cases], others | passing)
    return leaves.hashes(draw.name, cases, lines)


def _compared(order: Order, runs: Mapping[str, tuple[Run, Keeper, int]]) -> dict[str, Any]:
    """The answers to the public draw beside those of the second backend (I3)."""
    from conform.equivalence.record import to_json

    kept = {name: (run, keeper.folder) for name, (run, keeper, _) in runs.items()}
    record = compared_runs(kept, {order.backends[0]: PUBLIC}, [], is_counted=True)
    write.put(order.out / EQUIVALENCE_FILE, to_json(record))
    return told_of_pairs(record)


def told_of_pairs(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a comparison of two backends comes to."""
    from conform.equivalence.text import is_right, summary

    return {"is_right": is_right(record["pairs"]), "pairs": [summary(pair) for pair in record["pairs"]]}


def _of_runs(order: Order, draws: Sequence[statement.Draw], given: evidence.Evidence) -> dict[str, Any]:
    """What the runs' records say, of both together."""
    records = [expanded(read_dict(order.out / draw.name)) for draw in draws]
    first, cases = records[0], [case for record in records for case in record["cases"]]
    listed = must_pass.told(first, order.selection)
    asked = levels.Asked(first["contract"], order.determinism, listed["is_whole"])
    return {
        "kit": first["kit"], "truth": first["truth"], "draws": [draw.model_dump() for draw in draws],
        "must_pass": listed, "backend": first["backend"],
        "environment": environment_of(first),
        "manifest": source_of(first["manifest"]),
        "waivers": given.standing(cases, first["environment"]["numerics"], listed),
        "summary": {draw.name: record["summary"] for draw, record in zip(draws, records, strict=True)},
        "ops": statement.ops_of(cases), "levels": levels.standing(cases, asked),
    }  # fmt: skip


def environment_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Where a run was, and what decides a backend's results besides its name."""
    return {
        key: record["environment"][key] for key in ("python", "platform", "machine", "packages", "numerics", "jail")
    }


def source_of(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Of which file a record says what it does of a manifest, or of waivers."""
    return None if given is None else {key: given[key] for key in ("source", "digest")}


def _proved(order: Order, seed: int) -> dict[str, Any]:
    if not order.shown.quiet:
        tell("the kit's self-test, of a share of the planted defects")
    return proof.run(seed)


def _files(out: Path) -> dict[str, dict[str, Any]]:
    """Every file of the folder, but the certificate."""
    paths = sorted(path for path in out.rglob("*") if path.is_file())
    told = {path.relative_to(out).as_posix(): digest_of(path) for path in paths}
    return {name: {"bytes": one.bytes, "sha256": one.sha256} for name, one in told.items()}
