"""The shards of a run, each with its journal, as one record: that of the run in one piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from conform.errors import UsageError
from conform.report.record import Run
from conform.running import journal
from conform.running.head import End, Head, record_of
from conform.running.journal import Part


def merged(directories: Sequence[Path]) -> Run:
    """The run whose shards `conform check --shard I/N --out DIR` left in these directories.

    UsageError where one is missing, is there twice, or is that of another run.
    """
    parts = {directory: journal.read(directory) for directory in directories}
    first = next(iter(parts))
    _check_all_are_there(parts)
    for directory, part in parts.items():
        if difference := parts[first].head.differs_from(part.head):
            raise UsageError(f"{first} and {directory} are parts of different runs: {difference}")
    ends = list(chain.from_iterable(part.ends for part in parts.values()))
    if not ends:
        raise UsageError(f"{first}: that shard has not ended; go on with it: conform check ... --resume {first}")
    verdicts = {name: one for part in parts.values() for name, one in part.verdicts.items()}
    return record_of(_whole([part.head for part in parts.values()]), verdicts, End.of_parts(ends, _not_ended(parts)))


def _check_all_are_there(parts: dict[Path, Part]) -> None:
    found: dict[int, Path] = {}
    count = 0
    for directory, part in parts.items():
        shard = part.head.shard
        if shard is None:
            raise UsageError(f"{directory}: that run was no shard (conform check --shard I/N)")
        if shard.count != (count := count or shard.count):
            raise UsageError(f"{directory}: shard {shard}, where the others are of {count}")
        if shard.number in found:
            raise UsageError(f"{found[shard.number]} and {directory} are both shard {shard}")
        found[shard.number] = directory
    missing = [str(number) for number in range(1, count + 1) if number not in found]
    if missing:
        raise UsageError(f"of {count} shards {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")


def _whole(heads: Sequence[Head]) -> Head:
    """The head of the run in one piece."""
    asked_of = sum((Counter(head.asked_of) for head in heads), Counter())
    return heads[0].model_copy(update={"shard": None, "asked_of": dict(asked_of)})


def _not_ended(parts: dict[Path, Part]) -> str | None:
    """Why the run is not whole: the first shard that is not."""
    for part in parts.values():
        if not part.has_ended:
            return f"shard {part.head.shard} did not end"
        if part.ends[-1].stopped:
            return f"shard {part.head.shard}: {part.ends[-1].stopped}"
    return None
