"""The straight line of a sweep: op, dtype -> codes -> blocks -> tallies -> journal -> record."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conform import interrupt, kit
from conform.backends import names as backend_names
from conform.backends.base import Backend
from conform.backends.client import BackendProcess
from conform.backends.given import Given, given, origin
from conform.backends.launcher import Template
from conform.contracts.tables import contract_table
from conform.errors import UsageError
from conform.report import write
from conform.running.head import Shard
from conform.running.order import of_shard
from conform.running.pool import as_told, cores
from conform.running.underway import identity
from conform.straight_line import TIMEOUT_S, check_timeout
from conform.sweep import breaker, journal, record
from conform.sweep.journal import Journal, Journaled
from conform.sweep.pool import Known, tallies
from conform.sweep.space import BLOCK, Codes, Space
from conform.sweep.subject import Subject, subject_of
from conform.sweep.tally import Tally, whole
from conform.sweep.worker import Plan

Add = Callable[[Codes, Tally], None]
Take = Callable[[Codes, Tally], bool]  # whether more blocks are wanted
Tested = str | type[Backend] | Backend | Callable
OF_THE_BACKEND = ("named", "backend", "numerics")  # of what a journal begins with


@dataclass(frozen=True)
class Sweep:
    """`record` is the dict of sweep.json; `reason`: what ended the sweep before its last block."""

    record: dict[str, Any]
    reason: BaseException | None = None


def sweep(
    op: str,
    backend: Tested = "cpu",
    *,
    dtype: str | None = None,
    keywords: Mapping[str, Any] | None = None,
    contract: str = "opencl",
    timeout_s: float = TIMEOUT_S,
    codes: Codes | None = None,
    shard: str | None = None,
    workers: int | None = None,
    out: Path | None = None,
    resume: Sequence[Path] = (),
    known: Sequence[Path] = (),
    is_merge: bool = False,
    on_block: Callable[[int, int, int], None] | None = None,
    on_end: Callable[[], None] | None = None,
) -> Sweep:
    """Judge an op on every input of `dtype`, or on `codes`, or on the blocks of these that are of `shard` (`I/N`); the
    arguments are the command's options.

    Journal and sweep.json are written to `out`. Blocks that the journals in the directories `resume` hold are taken
    from there; without `out` the only one of them is gone on with. A block that is answered byte for byte as in a sweep
    in the directories `known`, of another backend perhaps, has the tally that it has there. A merge sweeps nothing:
    what the journals lack is told as the end of the sweep. `on_block` is called with the number of inputs that are
    done, of those found in journals, and of all; `on_end` before the record is made.

    Raises UsageError for bad input, BackendUnavailable where the backend does not start. What ends a sweep that has
    begun is its `reason`.
    """
    started = time.perf_counter()
    kit.load()
    check_timeout("timeout", timeout_s)
    subject = subject_of(op, dtype, keywords)
    contract_table(contract)  # a name that is none is told before anything is started
    blocks = _blocks(subject.space, codes, shard)
    directory = _directory(out, resume)
    journals = [journal.read(each, subject.space) for each in resume]
    others = [journal.read(each, subject.space, "--known") for each in known]
    resumed = {block: each.tallies[block] for each in journals for block in blocks if block in each.tallies}
    todo = [] if is_merge else breaker.left(blocks, resumed)
    with ExitStack() as opened:
        template = opened.enter_context(Template()) if todo or not journals else None
        header = _header(subject, backend, contract, template, journals)
        answered = _by_answers(header, others)
        done, found_inputs, asked = dict(resumed), sum(map(len, resumed)), sum(map(len, blocks))
        add_line = opened.enter_context(_written(directory, header, journals, resumed))

        def take(block: Codes, tally: Tally) -> bool:
            add_line(block, tally)
            done[block] = tally
            if on_block:
                on_block(sum(map(len, done)), found_inputs, asked)
            return bool(breaker.left(todo, done))

        plan = Plan(subject, _tested(backend), contract, timeout_s)
        reason = _each_taken(plan, todo, workers or cores(), template, answered, take) if template else None
    if on_end:
        on_end()
    total = whole(subject.space, breaker.counted(done))
    found = record.build(
        subject, total, header, codes=subject.space.codes if codes is None else codes, shard=shard, asked=asked,
        stopped=_told(reason, done, blocks), kit_digest_at_end=kit.digest(),
        timings={
            "seconds": time.perf_counter() - started, "inputs": sum(map(len, done)) - found_inputs, "workers": workers,
            "answered_as_known": _answered_as_known(done, answered),
        },
    )  # fmt: skip
    if directory is not None:
        write.put(directory / record.FILE, record.to_json(found))
    return Sweep(found, reason)


def _blocks(space: Space, codes: Codes | None, shard: str | None) -> list[Codes]:
    """The blocks that are asked for, in order."""
    wanted = space.codes if codes is None else codes
    if not 0 <= wanted.first <= wanted.last <= space.codes.last:
        raise UsageError(f"--range: found the codes {wanted}; expected them in order and within {space.codes}")
    return of_shard(list(wanted.cut(BLOCK)), None if shard is None else Shard.written_as(shard))


def _directory(out: Path | None, resume: Sequence[Path]) -> Path | None:
    """Where journal and record are written."""
    if out is None and len(resume) > 1:
        raise UsageError("several journals are resumed; expected --out DIR for what becomes of them")
    return out or next(iter(resume), None)


def _by_answers(header: Mapping[str, Any], others: Iterable[Journaled]) -> Known:
    """The tallies of blocks in other sweeps, by the digests of their answers. UsageError for a sweep of something else.
    """
    wanted = {name: value for name, value in header.items() if name not in OF_THE_BACKEND}
    found: dict[Codes, dict[str, Tally]] = {}
    for each in others:
        _check_same(wanted, each)
        for block, tally in each.tallies.items():
            if tally.answers is not None:
                found.setdefault(block, {})[tally.answers] = tally
    return found


def _answered_as_known(done: Mapping[Codes, Tally], known: Known) -> int:
    """How many inputs have the same results in another sweep."""
    return sum(len(block) for block, tally in done.items() if tally.answers in known.get(block, {}))


def _each_taken(
    plan: Plan, todo: Sequence[Codes], workers: int, template: Template, known: Known, take: Take
) -> BaseException | None:
    """Has every block tallied and taken, as long as `take` wants more; what ended that early, if anything did."""
    try:
        with closing(tallies(plan, todo, workers, template, known)) as found:
            for block, tally in found:
                if not take(block, tally):
                    break
    except KeyboardInterrupt as interruption:
        return interruption
    except Exception as error:
        return as_told(error)
    return None


def _told(reason: BaseException | None, done: Mapping[Codes, Tally], blocks: Sequence[Codes]) -> str | None:
    """Why a sweep of the blocks ended before the last of them, as the record has it."""
    if isinstance(reason, KeyboardInterrupt):
        return interrupt.name(reason)
    if reason is not None:
        return str(reason)
    if missing := len(breaker.left(blocks, done)):
        return f"of {len(blocks)} blocks {missing} {'is' if missing == 1 else 'are'} in no journal"
    return breaker.told(done, blocks)


# --- What is swept, and whether journals are of the same --------------------------------------------------------------


def _header(
    subject: Subject, backend: Tested, contract: str, template: Template | None, journals: Sequence[Journaled]
) -> dict[str, Any]:
    """What a journal begins with. UsageError where one of `journals` is of something else. A backend that has nothing
    left to do has no template and is not started: what it was stands in the journals."""
    asked = {
        "op": subject.op, "dtype": subject.dtype, "operands": list(subject.operands), "keywords": subject.keywords,
        "contract": contract_table(contract).name, "contract_digest": _digest_of(contract), "block": BLOCK,
        "kit": kit.digest(), "named": backend if isinstance(backend, str) else None,
    }  # fmt: skip
    if template is not None:
        asked |= _described(backend, template)
    header = json.loads(json.dumps(asked))
    for each in journals:
        _check_same(header, each)
        header = {**each.header, **header}
    header.pop("schema", None)
    return header


def _tested(backend: Tested) -> str | Given:
    return backend if isinstance(backend, str) else given(backend)


def _described(backend: Tested, template: Template) -> dict[str, Any]:
    source = backend_names.source(backend) if isinstance(backend, str) else origin(backend)
    with BackendProcess(_tested(backend), template=template) as process:
        described = process.describe()
    return {"backend": identity(described, source), "numerics": described["numerics"]}


def _check_same(header: Mapping[str, Any], found: Journaled) -> None:
    for name, expected in header.items():
        if name != "schema" and found.header.get(name) != expected:
            told = f"found {json.dumps(found.header.get(name))}, expected {json.dumps(expected)}"
            raise UsageError(f"{found.path}: the journal of another sweep: {name}: {told}")


def _digest_of(contract: str) -> str | None:
    """Of a table in a file of the user's; the kit's own are part of the kit."""
    path = Path(contract)
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}" if path.is_file() else None


# --- The journal ------------------------------------------------------------------------------------------------------


@contextmanager
def _written(
    directory: Path | None, header: Mapping[str, Any], journals: Iterable[Journaled], known: Mapping[Codes, Tally]
) -> Iterator[Add]:
    """Writes blocks to the journal in `directory`, which holds the `known` ones from the start."""
    if directory is None:
        yield lambda block, tally: None
        return
    own = next((each for each in journals if each.path.parent.resolve() == directory.resolve()), None)
    if own is None:
        write.prepare(directory, names=(record.FILE, journal.FILE))
    with Journal(directory, header, own) as opened:
        for block in known.keys() - (own.tallies.keys() if own else ()):
            opened.add(block, known[block])
        yield opened.add
