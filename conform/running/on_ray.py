"""The shards of a run, or of a sweep, on a Ray cluster: `conform check --ray ADDRESS`.

Each shard is a task of one CPU, which runs the command itself with `--shard I/N` and gives back its journal; the
journals are merged, so the record is that of one machine. A task whose node is lost is run again by Ray, on another.
Nodes need the same kit, backend and files under the same paths.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conform.backends.base import BackendUnavailable
from conform.errors import ConformError, KitDefect, UsageError
from conform.foreign import line
from conform.report.record import Run
from conform.report.write import JOURNAL
from conform.running.merge import merged

RETRIES = 3  # of a shard whose node is lost
CONNECT_S = 10.0
MISSING = "--ray needs Ray: pip install 'conform[ray]'"
_ERRORS = {UsageError.exit_code: UsageError, BackendUnavailable.exit_code: BackendUnavailable}
OnShard = Callable[[int, int, str], None]  # (shards that have ended, of how many, what the last one said)


@dataclass(frozen=True)
class Work:
    """A command that is run in shards: its words, the verb first; the folder that its paths are relative to; the file
    that each shard leaves in its `--out`."""

    words: tuple[str, ...]
    folder: str
    journal: str


@dataclass(frozen=True)
class Ended:
    """How the command of a shard ended: its exit code, its journal, None where it wrote none, and what it said."""

    exit_code: int
    journal: bytes | None
    said: str


def shard_of(work: Work, number: int, count: int) -> Ended:
    """Runs one shard, on the node that this is called on."""
    if not Path(work.folder).is_dir():
        return Ended(UsageError.exit_code, None, f"there is no folder {work.folder} on the node {socket.gethostname()}")
    with tempfile.TemporaryDirectory(prefix="conform-shard-") as folder:
        command = [
            sys.executable, "-m", "conform", *work.words, "--shard", f"{number}/{count}", "--out", folder,
            "--workers", "1", "--quiet", "--no-progress",
        ]  # fmt: skip
        done = subprocess.run(
            command, cwd=work.folder, capture_output=True, text=True, errors="backslashreplace", check=False
        )
        journal = Path(folder) / work.journal
        return Ended(done.returncode, journal.read_bytes() if journal.exists() else None, done.stderr.strip())


def run_on(address: str, words: Sequence[str], out: Path, on_shard: OnShard = lambda done, of, said: None) -> Run:
    """The run of `conform check WORDS` on the cluster at `address`, as `journals_on` has it."""
    return merged(journals_on(address, ("check", *words), JOURNAL, out, on_shard))


def journals_on(address: str, words: Sequence[str], journal: str, out: Path, on_shard: OnShard) -> list[Path]:
    """Runs `conform WORDS` on the cluster at `address` (`auto`, `ray://HOST:PORT`), in as many shards as it has CPUs.
    Their journals, files of that name, go into folders of `out`, which are returned in the order of the shards.

    Raises UsageError and BackendUnavailable as a shard's command does, UsageError where Ray or the cluster is not
    there.
    """
    ray = _connected(address)
    try:
        count = max(int(ray.cluster_resources().get("CPU", 0)), 1)
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(shard_of)
        work = Work(tuple(words), os.getcwd(), journal)
        waiting = {task.remote(work, number, count): number for number in range(1, count + 1)}
        folders: dict[int, Path] = {}
        while waiting:
            (done,), _ = ray.wait(list(waiting), num_returns=1)
            number = waiting.pop(done)
            ended = _result(ray, done, number)
            folders[number] = _kept(out, number, count, journal, ended)
            on_shard(len(folders), count, ended.said)
        return [folders[number] for number in sorted(folders)]
    finally:
        ray.shutdown()


def _connected(address: str) -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError(MISSING) from None
    try:
        _reached(address)
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        raise UsageError(f"--ray {address}: there is no cluster: {line(error)}") from None
    return ray


def _reached(address: str) -> None:
    """OSError where nobody listens at a host and port: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), CONNECT_S).close()


def _result(ray: Any, done: Any, number: int) -> Ended:
    try:
        return ray.get(done)
    except ray.exceptions.RayError as error:
        raise ConformError(f"shard {number} was lost {RETRIES + 1} times: {line(error)}") from None


def _kept(out: Path, number: int, count: int, journal: str, ended: Ended) -> Path:
    """The folder of a shard's journal. What kept the shard from being run is raised as its command told it."""
    if ended.journal is None:
        kind = _ERRORS.get(ended.exit_code, KitDefect)
        raise kind(f"shard {number}/{count}: {ended.said.removeprefix('conform: ') or f'exit code {ended.exit_code}'}")
    folder = out / f"shard-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / journal).write_bytes(ended.journal)
    return folder
