"""The circuit breaker of a sweep: a backend that hangs again and again is not asked for the rest.

Every call that hangs costs the whole time limit, and a sweep has 2^14 calls. Not asked are, within a block, the inputs
behind the AT_MOST-th hang; and of the blocks, counted in their order, those behind the one that has the AT_MOST-th hang
of the sweep. What another worker or shard has found there meanwhile does not count, so a record depends on neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conform.running.breaker import AT_MOST
from conform.sweep.space import CALL, Codes
from conform.sweep.tally import Tally


def hangs(tally: Tally) -> int:
    """How many calls of its codes the backend did not answer in time."""
    return sum(_calls(lost.codes) for lost in tally.lost if lost.status == "timeout")


def _calls(codes: Codes) -> int:
    return codes.last // CALL - codes.first // CALL + 1


def last_asked(done: Mapping[Codes, Tally]) -> Codes | None:
    """The last block that counts; None while the backend is not given up."""
    counts = {block: count for block, tally in done.items() if (count := hangs(tally))}
    hung = 0
    for block in sorted(counts):
        hung += counts[block]
        if hung >= AT_MOST:
            return block
    return None


def left(blocks: Iterable[Codes], done: Mapping[Codes, Tally]) -> list[Codes]:
    """Those of the blocks that are still to be asked: all that are not done, of a backend that is given up those before
    its last one."""
    last = last_asked(done)
    return [block for block in blocks if block not in done and (last is None or block < last)]


def counted(done: Mapping[Codes, Tally]) -> list[Tally]:
    """The tallies that count."""
    last = last_asked(done)
    return [done[block] for block in sorted(done) if last is None or block <= last]


def told(done: Mapping[Codes, Tally], blocks: Sequence[Codes]) -> str | None:
    """Why a sweep of the blocks ended before the last of them, as its record has it; None if it did not."""
    last = last_asked(done)
    if last is None or last == blocks[-1]:
        return None
    return f"the backend hung on {AT_MOST} calls or more up to the code {last.last:#x}, and was not asked for the rest"
