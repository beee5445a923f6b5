"""Cases in, verdicts out: the calls go to the backend a few ahead, while goldens and verdicts are made here."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from typing import Any

from conform import time_limit
from conform.backends.client import BackendProcess
from conform.contracts.arithmetic import arithmetic_of
from conform.contracts.tables import Table
from conform.documents.limits import Limits
from conform.judging.case import cannot_run
from conform.judging.checks import EVERY
from conform.judging.verdict import Verdict
from conform.manifest.claimed import held
from conform.manifest.language import Manifest
from conform.running.answers import Keeper
from conform.running.judge import Expected, Judge
from conform.running.known import Known
from conform.running.sent import attempt, is_plain, module_of, typical_of
from conform.running.truth import INTERP
from conform.suites.cases import Case

IN_FLIGHT = 8


def verdicts_of(
    groups: Iterable[Sequence[Case]],
    process: BackendProcess,
    described: Mapping[str, Any],
    table: Table,
    golden_timeout_s: float = time_limit.GOLDEN_TIMEOUT_S,
    is_end: bool = True,
    limits: Limits | None = None,
    in_flight: int = IN_FLIGHT,
    checks: Collection[str] = EVERY,
    manifest: Manifest | None = None,
    keeper: Keeper | None = None,
    known: Known | None = None,
    oracle: str = INTERP,
    full: bool = True,
) -> Iterator[Verdict]:
    """The verdict of every case of `groups` (one a draw), in order; `described` is what `process` tells of itself.

    Calls are sent ahead, `in_flight` at a time, so that the backend computes while goldens and verdicts are made here.
    Whatever fails here is a defect of the kit in that case, and its verdict says so. A case whose worker died of it
    after it had answered gets a second verdict; the last one, too, where nothing comes behind it (`is_end`). Cases of
    an op that is given up (`breaker`) get none. `checks` are those that count. Cases that a `manifest` does not claim
    are not sent. The answers to the others go to a `keeper`, if there is one; one that is `known` is not judged again.
    With the `oracle` refs a golden has to be that of the references. `full`: all that is known is told of cases that
    passed, too.
    """
    described = described if manifest is None else manifest.declared(described)
    arithmetic = arithmetic_of(described)
    judge = Judge(
        process, table, arithmetic, golden_timeout_s, checks, str(described["device"]), manifest, keeper,
        known and known.by(arithmetic), oracle, full,
    )  # fmt: skip
    limits = limits or Limits.from_environment()
    try:
        verdicts = _judged(groups, judge, described, limits, is_end=is_end, in_flight=in_flight)
        yield from _timed(held(manifest, verdicts))
    finally:
        judge.close()


def _timed(verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
    """Each with the time from the one before to it, but for what is done with them meanwhile."""
    since = time.perf_counter()
    for verdict in verdicts:
        yield replace(verdict, seconds=time.perf_counter() - since)
        since = time.perf_counter()


def _judged(
    groups: Iterable[Sequence[Case]], judge: Judge, described: Mapping[str, Any], limits: Limits, is_end: bool,
    in_flight: int,
) -> Iterator[Verdict]:  # fmt: skip
    for group in map(list, chain.from_iterable(map(_by_draw, groups))):
        typical = attempt(partial(typical_of, group[0], limits))
        module = attempt(partial(module_of, group[0]))
        typical, module = (module, None) if isinstance(module, Exception) else (typical, module)
        known: dict[tuple[str, str], Expected] = {}
        for case in group:
            if judge.breaker.has_given_up(case.op):
                continue
            exports = bool(described["exports"])
            asked = judge.unclaimed(case, typical, known, module) or cannot_run(case, described, judge.checks)
            if asked is None and module is not None and described.get("keeps_intermediates") and is_plain(case):
                yield from judge.op_by_op(case, typical, known, exports, module)
                continue
            if asked is None and case.times > 1:
                yield from judge.repeated(case, typical, exports, module)
                continue
            asked = asked or judge.ask(case, typical, known, exports, module)
            if isinstance(asked, Verdict):
                yield asked
            elif len(judge.waiting) >= in_flight:
                yield from judge.judged()
    while judge.waiting:
        yield from judge.judged()
    if is_end:
        yield from judge.settled()


def _by_draw(group: Sequence[Case]) -> Iterator[Iterator[Case]]:
    """The cases of one draw after the other: there are two in a group of a compare pair."""
    return (cases for _, cases in groupby(group, key=lambda case: id(case.draw)))
