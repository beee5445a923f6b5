"""How many small changes to a room's code its own tests notice: mutation tests by cosmic-ray.

    python tools/mutants.py ROOM [--sample N] [--seed N]
    make mutants ROOM=judging SAMPLE=200 SEED=0

Of every place in conform/ROOM where cosmic-ray knows mutations, one mutation is drawn, and of these places a sample.
Each mutant runs tests/ROOM until a test fails. All of it happens in a copy of the working tree under build/mutants.
What is found is kept there: the same command goes on where it was ended, and tries again those that survived, on the
tests as they are now. docs/mutants.md has the scores; what tools/equivalent_mutants.yaml names changes no result, and
does not count.
"""

from __future__ import annotations

import ast
import compileall
import hashlib
import os
import py_compile
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import yaml
from cosmic_ray.commands import init
from cosmic_ray.distribution.local import LocalDistributor
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkItem, WorkResult

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "mutants"
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.yaml"
EVERY_TURN = ("-m", "not long or one_in")  # what of a room runs by turns runs on every mutant
LIMIT_FACTOR = 3.0  # of the time that the tests take without a mutation, after which a mutant hangs, and is caught
LIMIT_MORE_S = 20.0


@dataclass(frozen=True)
class Survivor:
    """A mutant that no test noticed: its place, and the lines before and after."""

    path: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}\n  - {self.before}\n  + {self.after}"


@click.command()
@click.argument("room")
@click.option("--sample", type=click.IntRange(min=1), default=200, show_default=True, help="Places that are mutated.")
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses the sample.")
def main(room: str, sample: int, seed: int) -> None:
    """Mutate conform/ROOM and run tests/ROOM on every mutant."""
    sources, tests = ROOT / "conform" / room, ROOT / "tests" / room
    if not (sources.is_dir() and tests.is_dir()):
        raise click.UsageError(f"no room {room!r}: expected a folder of conform/ and of tests/")
    tree = _copied(BUILD / room / "tree")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it, and so would tests
    os.chdir(tree)
    os.environ |= {"PYTHONPATH": str(tree), "CI": "1"}  # hypothesis draws the same for every mutant, and keeps nothing
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *EVERY_TURN]
    taken_s = _seconds([*command, "--durations=0", "--durations-min=0", f"tests/{room}"])
    files = [path.relative_to(ROOT).as_posix() for path in tests.rglob("test_*.py")]
    files.sort(key=lambda file: (taken_s.get(file, 0.0), file))  # the fast ones first: most mutants need no other
    limit_s = LIMIT_FACTOR * sum(taken_s.values()) + LIMIT_MORE_S
    paths = sorted(path.relative_to(ROOT) for path in sources.rglob("*.py"))
    session = BUILD / room / f"{sample}-{seed}-{_digest(paths)}.sqlite"
    if not session.exists():
        _begin(session, paths, sample, seed)
    with use_db(session, WorkDB.Mode.open) as found:
        _run(found, shlex.join([*command, *files]), limit_s)
        _tell(room, found)


def _copied(tree: Path) -> Path:
    """The working tree as it is, without what git ignores; compiled once, and not by every process of every mutant."""
    shutil.rmtree(tree, ignore_errors=True)
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    compileall.compile_dir(tree / "conform", quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    return tree


def _seconds(command: Sequence[str]) -> dict[str, float]:
    """What the tests of each file take without a mutation. ClickException where they fail then, or are not those of the
    copy."""
    tested = subprocess.run([sys.executable, "-c", "import conform; print(conform.__file__)"], capture_output=True)
    if not Path(tested.stdout.decode().strip()).is_relative_to(Path.cwd()):
        raise click.ClickException(f"the tests would import {tested.stdout.decode().strip()}, not the copy")
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ended.returncode:
        raise click.ClickException(f"the tests fail without a mutation:\n{ended.stdout.partition('= slowest dur')[0]}")
    taken_s: dict[str, float] = {}
    for seconds, file in re.findall(r"^ *([\d.]+)s (?:setup|call|teardown) +([^:]+)::", ended.stdout, re.MULTILINE):
        taken_s[file] = taken_s.get(file, 0.0) + float(seconds)
    return taken_s


def _digest(paths: Iterable[Path]) -> str:
    """Of the code that is mutated: results for other code would tell nothing."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:12]


# --- The sample -------------------------------------------------------------------------------------------------------


def _begin(session: Path, paths: Sequence[Path], sample: int, seed: int) -> None:
    """A session of a sample of the places, with one mutation each."""
    everything, draft = session.with_suffix(".all"), session.with_suffix(".draft")
    everything.unlink(missing_ok=True)
    draft.unlink(missing_ok=True)
    with use_db(everything) as drawn:
        init(paths, drawn, {})
        items = [item for item in drawn.work_items if item.mutations]
    everything.unlink()
    ignored = {path: _without_results(path) for path in paths}
    places: dict[tuple, list[WorkItem]] = {}
    for item in items:
        place = item.mutations[0]
        if not _lies_in(place, ignored[place.module_path]):
            places.setdefault((str(place.module_path), place.start_pos, place.end_pos), []).append(item)
    chosen = random.Random(seed)
    one_each = [
        chosen.choice(sorted(places[key], key=lambda item: (_spec(item).operator_name, _spec(item).occurrence)))
        for key in sorted(places)
    ]
    chosen.shuffle(one_each)
    with use_db(draft) as database:
        database.add_work_items(one_each[:sample])
    draft.rename(session)


def _spec(item: WorkItem) -> MutationSpec:
    return item.mutations[0]


Span = tuple[tuple[int, int], tuple[int, int]]


def _without_results(path: Path) -> list[Span]:
    """Where a mutation changes no result or breaks the import: types, dataclasses' options, caches."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.arg):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            found.append(node.returns)
        for decorator in getattr(node, "decorator_list", ()):
            if ast.unparse(decorator).partition("(")[0] in ("dataclass", "cache", "functools.cache"):
                found.append(decorator)
    aliases = [node.value for node in tree.body if isinstance(node, ast.Assign) and _is_union(node.value)]
    spans = [one for one in (*found, *aliases) if one is not None]
    return [((one.lineno, one.col_offset), (one.end_lineno or 0, one.end_col_offset or 0)) for one in spans]


def _is_union(value: ast.expr) -> bool:
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)


def _lies_in(place: MutationSpec, spans: Iterable[Span]) -> bool:
    return any(start <= place.start_pos and place.end_pos <= end for start, end in spans)


# --- Running and telling ----------------------------------------------------------------------------------------------


def _run(session: WorkDB, command: str, limit_s: float) -> None:
    """Everything that has no result, and what survived once more."""
    survived = {job for job, result in session.results if result.test_outcome == TestOutcome.SURVIVED}
    waiting = [*session.pending_work_items, *(item for item in session.work_items if item.job_id in survived)]
    with click.progressbar(length=len(waiting), label=f"limit {limit_s:.0f} s each", file=sys.stderr) as bar:

        def take(job: str, result: WorkResult) -> None:
            session.set_result(job, result)
            bar.update(1)

        LocalDistributor()(waiting, command, limit_s, {}, on_task_complete=take)


def _tell(room: str, session: WorkDB) -> None:
    results = [result for _, result in session.results]
    if broken := [one for one in results if one.test_outcome not in (TestOutcome.SURVIVED, TestOutcome.KILLED)]:
        raise click.ClickException(f"{len(broken)} mutants could not be run, the first: {broken[0].output}")
    survivors = sorted((_survivor(one.diff) for one in results if one.test_outcome == TestOutcome.SURVIVED), key=str)
    known = {(one["path"], one["mutant"]) for one in yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8"))}
    left = [one for one in survivors if (one.path, one.after) not in known]
    for one in left:
        click.echo(str(one))
    counted = len(results) - (len(survivors) - len(left))
    click.echo(
        f"{room}: {counted - len(left)} of {counted} mutants caught ({(counted - len(left)) / max(counted, 1):.0%}), "
        f"{len(survivors) - len(left)} more are equivalent"
    )


def _survivor(diff: str) -> Survivor:
    """From cosmic-ray's unified diff of one mutation."""
    lines = diff.splitlines()
    path = next(line for line in lines if line.startswith("--- a/")).removeprefix("--- a/")
    hunk = next(at for at, line in enumerate(lines) if line.startswith("@@"))
    first = int(lines[hunk].split()[1].lstrip("-").partition(",")[0])
    removed = next(at for at, line in enumerate(lines[hunk + 1 :]) if line.startswith("-"))
    before = " ".join(line[1:].strip() for line in lines[hunk + 1 :] if line.startswith("-"))
    after = " ".join(line[1:].strip() for line in lines[hunk + 1 :] if line.startswith("+"))
    return Survivor(path, first + removed, before, after)


if __name__ == "__main__":
    main()
