"""What `conform check` does: a run a backend, with its progress, its files and what a person reads; of several backends
the comparison of their answers."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conform import interrupt
from conform.collector import paused
from conform.errors import UsageError
from conform.options import SHARDS, show, tell, told_of_shards, words_on_ray

if TYPE_CHECKING:
    from conform.equivalence.compare import Side
    from conform.judging.verdict import Verdict
    from conform.report.record import Run

EQUIVALENCE_FILE = "equivalence.json"
_LONGEST_NAME = 80  # characters of a folder


@dataclass(frozen=True)
class Shown:
    """How a run is told: where its files go, with `keeps_journal` the journal too of one that is whole, and how much a
    person reads."""

    out: Path | None = None
    resume: Path | None = None
    quiet: bool = False
    no_progress: bool = False
    full_record: bool = False
    keeps_journal: bool = False


@paused()
def checked(suites: Sequence[str], backend: str, shown: Shown, **selection: Any) -> tuple[Run, int]:
    """The run of one backend, written and told, and its exit code, that of a signal if one ended it."""
    from conform.backends.base import BackendUnavailable
    from conform.report import write
    from conform.report.progress import Progress
    from conform.report.record import Interrupted, Stopped
    from conform.straight_line import check as run_check

    out, resume = shown.out, shown.resume
    directory = write.check_place(out or resume) if out or resume else None
    enabled = not (shown.quiet or shown.no_progress)
    with Progress(enabled=enabled, on_terminal=sys.stderr.isatty()) as progress:

        def on_verdict(verdict: Verdict, asked: int) -> None:
            interrupt.check()
            progress.count(verdict, asked)

        try:
            run = run_check(
                suites, backend=backend, on_verdict=on_verdict, on_end=interrupt.hold, out=out, resume=resume,
                full_record=shown.full_record, **selection,
            )  # fmt: skip
            exit_code, message = run.exit_code, None
        except Interrupted as interruption:
            run, exit_code = interruption.run, interrupt.exit_code(interruption.reason)
            message = f"{interrupt.name(interruption.reason)}; this is what ran"
        except Stopped as end:
            run, exit_code, message = end.run, end.exit_code, f"{end}; this is what ran"
        except BackendUnavailable:
            if out:  # this run has no record, and that of another is not taken for it
                write.prepare(out)
            raise
    interrupt.hold()
    _finish(run, directory, shown, message)
    return run, exit_code


def _finish(run: Run, directory: Path | None, shown: Shown, message: str | None = None) -> None:
    """Writes the run and tells it; of one that cannot be written all the more."""
    from conform.report import write

    try:
        written = write.write(run, directory, shown.full_record, shown.keeps_journal) if directory else []
    except UsageError:
        show(run, [], shown.quiet)
        raise
    if message:
        tell(message)
    show(run, written, shown.quiet)


# --- On a cluster -----------------------------------------------------------------------------------------------------

def checked_on_ray(ctx: click.Context, address: str, shown: Shown) -> int:
    """Runs the command on a cluster, in shards; writes and tells the whole, and gives its exit code."""
    from conform.report import write
    from conform.running.on_ray import run_on

    words = words_on_ray(ctx, also_refused=("budget_s", "fail_fast"))
    if len(ctx.params["backends"]) > 1:
        raise click.UsageError("--ray runs one backend: name one")
    directory = write.check_place(shown.out) if shown.out else None
    with tempfile.TemporaryDirectory(prefix="conform-ray-", ignore_cleanup_errors=True) as scratch:
        shards = directory / SHARDS if directory else Path(scratch)
        run = run_on(address, words, shards, told_of_shards(shown.quiet or shown.no_progress))
        if directory:
            write.prepare(directory)
        _finish(run, directory, shown)
        if run.record["stopped"] is None:
            shutil.rmtree(shards)  # until now `conform merge` could make the run of them
    return run.exit_code


# --- Several backends -------------------------------------------------------------------------------------------------


def checked_together(
    suites: Sequence[str], backends: Sequence[str], shown: Shown, checks: str | None, **selection: Any
) -> int:
    """A run a backend, in folders of `out`, then every pair side by side; the exit code is the worst.

    Without a run of a backend (its device is missing, its name is unknown) the others are compared; of one alone a line
    says that there is nothing to compare. UsageError where the first that is there cannot be run as it was asked.
    """
    from conform.backends.base import BackendUnavailable
    from conform.backends.names import source
    from conform.running.answers import Keeper

    own, is_counted = _apart(checks)
    for name in backends:
        source(name)  # a file that is not there is told before the first run
    folders = _folders(backends)
    codes, runs, missing = [], {}, []
    with tempfile.TemporaryDirectory(prefix="conform-answers-") as answers:
        for name in backends:
            keeper = Keeper(Path(answers) / folders[name])
            keeper.folder.mkdir()
            one = replace(shown, out=shown.out and shown.out / folders[name])
            try:
                run, code = checked(suites, name, one, checks=own, keeper=keeper, **selection)
            except (BackendUnavailable, UsageError) as error:
                if isinstance(error, UsageError) and not runs:  # it may be wrong for all of them
                    raise
                tell(error)
                missing.append(str(error))
                codes.append(error.exit_code)
                continue
            runs[name] = (run, keeper.folder)
            codes.append(code)
            if code in (interrupt.INTERRUPTED, interrupt.TERMINATED):
                tell("nothing was compared, for not all backends ran")
                return code
            interrupt.release()
        interrupt.hold()
        record = compared_runs(runs, folders, missing, is_counted)
    _tell(record, shown)
    from conform.equivalence.text import is_right

    return max([*codes, 0 if is_right(record["pairs"]) or not is_counted else 1])


def _apart(checks: str | None) -> tuple[str | None, bool]:
    """The checks that each run counts, and whether `equivalence` does; where it alone is named, runs count as usual."""
    from conform.judging.verdict import EQUIVALENCE

    if checks is None:
        return None, True
    names = [name.strip() for name in checks.split(",")]
    return ",".join(name for name in names if name != EQUIVALENCE) or None, EQUIVALENCE in names


def _folders(backends: Sequence[str]) -> dict[str, str]:
    """By backend a name that any file system has, of a path its end; numbered where two would have the same."""
    found: dict[str, str] = {}
    for name in backends:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name.rpartition("/")[2]).strip("._-")[-_LONGEST_NAME:] or "backend"
        taken = {folder.lower() for folder in found.values()}
        numbered = (plain if number == 1 else f"{plain}-{number}" for number in range(1, len(backends) + 1))
        found[name] = next(one for one in numbered if one.lower() not in taken)
    return found


def compared_runs(
    runs: Mapping[str, tuple[Run, Path]], folders: Mapping[str, str], missing: Sequence[str], is_counted: bool
) -> dict[str, Any]:
    """The record of several backends' answers to the same cases. runs: of each the run and where a keeper kept its
    answers; folders: of each the folder that the record names; missing: why others did not run."""
    from conform.equivalence.compare import Side, compared
    from conform.equivalence.record import record_of
    from conform.running.answers import outputs_of

    sides: list[Side] = [Side(name, run.record, outputs_of(folder)) for name, (run, folder) in runs.items()]
    skipped = None
    if len(sides) < 2:
        there = f"there is {sides[0].name} alone" if sides else "there is none"
        skipped = f"it needs two backends that are available, and {there} ({'; '.join(missing)})"
    pairs = [compared(*pair) for pair in combinations(sides, 2)]
    return record_of(sides, folders, pairs, skipped, is_counted)


def _tell(record: Mapping[str, Any], shown: Shown) -> None:
    from conform.equivalence.record import to_json
    from conform.equivalence.text import render, summary
    from conform.report import write

    if shown.out:
        write.prepare(shown.out, names=[EQUIVALENCE_FILE])
        path = write.put(shown.out / EQUIVALENCE_FILE, to_json(record))
    if shown.quiet and not record["skipped"]:
        click.echo("\n".join(map(summary, record["pairs"])))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    click.echo(f"\n{render(record, width)}")
    if shown.out:
        click.echo(f"written: {path}")
