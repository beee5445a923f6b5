"""A run on a Ray cluster: the shards that it is made of, the words that they are asked by, and the record of the whole.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from conform.cli import main
from conform.errors import UsageError
from conform.options import words_on_ray
from conform.running import on_ray
from conform.sweep.run import sweep
from conform.sweep.space import Codes

pytestmark = pytest.mark.one_in(6)

ROOT = Path(__file__).parents[2]
ASKED = ("smoke", "--backend", "cpu", "--op", "aten::exp", "--determinism", "1")


NOTED = """
import os
from conform.backends import TorchDevice

class Noted(TorchDevice):
    name, version = "noted", "1"

    def __init__(self):
        super().__init__("cpu")
        with open({path!r}, "a") as file:
            file.write(f"{{os.getpid()}}\\n")
"""


def context(*words: str) -> click.Context:
    return main.commands["check"].make_context("check", list(words))


def test_a_shard_is_asked_in_the_words_of_the_command() -> None:
    words = ["smoke", "core", "--backend", "cpu", "--backend-option", "a=b", "--op", "aten::add", "--op", "aten::m*",
             "--checks", "accuracy,special", "--seed", "7", "--values", "all", "--timeout", "2.5", "--huge",
             "--full-record"]
    of_the_driver = ["--ray", "auto", "--out", "here", "--quiet", "--no-progress"]
    found = words_on_ray(context(*words, *of_the_driver))
    assert sorted(found) == sorted(words)
    again = context(*found).params
    given = context(*words).params
    assert again == given


@pytest.mark.parametrize(
    "words", [("--shard", "1/2"), ("--resume", "."), ("--budget", "5"), ("--fail-fast",), ("--workers", "2")]
)
def test_what_says_how_one_machine_goes_about_it_is_refused(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, ["check", *ASKED, "--ray", "auto", *words])
    assert result.exit_code == 2
    assert f"{words[0]} says how one machine goes about it: leave it out with --ray" in result.stderr


class Cluster:
    """What `run_on` needs of Ray, in this process: tasks run when they are waited for, the last one first, in a folder
    of their own."""

    def __init__(self, cpus: int) -> None:
        self.cpus, self.tasks = cpus, {}
        self.exceptions = SimpleNamespace(RayError=RuntimeError)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cpus)}

    def remote(self, **options: Any) -> Callable[[Callable], Any]:
        assert options == {"num_cpus": 1, "max_retries": on_ray.RETRIES}

        def of(function: Callable) -> Any:
            def begin(*args: Any) -> str:
                self.tasks[key := f"task {len(self.tasks)}"] = lambda: function(*args)
                return key

            return SimpleNamespace(remote=begin)

        return of

    def wait(self, waiting: list[str], num_returns: int) -> tuple[list[str], list[str]]:
        assert num_returns == 1
        return waiting[-1:], waiting[:-1]

    def get(self, key: str) -> Any:
        here = os.getcwd()
        os.chdir("/")
        try:
            return self.tasks[key]()
        finally:
            os.chdir(here)

    def shutdown(self) -> None:
        self.tasks = None


def lines(path: Path) -> list[bytes]:
    """The bytes of a record, without the line that may differ."""
    return [line for line in (path / "run.json").read_bytes().splitlines() if not line.startswith(b'"environment"')]


def alone(out: Path, asked: tuple[str, ...] = ASKED) -> Result:
    return CliRunner().invoke(main, ["check", *asked, "--workers", "1", "--no-progress", "--quiet", "--out", str(out)])


def test_the_record_is_that_of_one_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "_connected", lambda address: Cluster(2))
    whole = tmp_path / "whole"
    result = CliRunner().invoke(main, ["check", *ASKED, "--ray", "auto", "--out", str(whole)])
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines() == [f"conform: {done} of 2 shards have ended" for done in (1, 2)]
    assert sorted(path.name for path in whole.iterdir()) == ["junit.xml", "report.html", "report.md", "run.json"]
    assert alone(tmp_path / "alone").exit_code == 0
    assert lines(whole) == lines(tmp_path / "alone")


def test_a_record_that_cannot_be_written_leaves_what_the_shards_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise UsageError("run.json cannot be written: No space left on device")

    monkeypatch.setattr(on_ray, "_connected", lambda address: Cluster(2))
    monkeypatch.setattr("conform.report.write.write", full)
    result = CliRunner().invoke(main, ["check", *ASKED, "--ray", "auto", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "100 %" in result.stdout  # what was found is told
    assert len([*tmp_path.glob("shards/*/journal.jsonl")]) == 2


def test_what_no_shard_can_do_is_told_as_one_machine_tells_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(on_ray, "_connected", lambda address: Cluster(1))
    with pytest.raises(UsageError, match=r"shard 1/1: .*matches no case"):
        on_ray.run_on("auto", ["smoke", "--backend", "cpu", "--op", "aten::none"], tmp_path)


def test_a_sweep_is_that_of_one_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two shards of one block, so that one has nothing to do; the backend's path is relative."""
    monkeypatch.setattr("conform.running.on_ray._connected", lambda address: Cluster(2))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(NOTED.format(path=str(tmp_path / "starts")))
    asked = ["sweep", "neg", "--backend", "mine.py::Noted", "--range", "0x3f800000:0x3f800006", "--no-progress"]
    result = CliRunner().invoke(main, [*asked, "--ray", "auto", "--out", "whole"])
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    assert result.stdout.splitlines()[-1] == "conformant: 7 of 7 inputs, 7 compared, 0 failed"
    assert sorted(path.name for path in (tmp_path / "whole").iterdir()) == ["blocks.jsonl", "sweep.json"]
    assert begun(tmp_path / "starts") == 4  # of each shard the one that is described, and the one that is asked
    assert CliRunner().invoke(main, [*asked, "--workers", "1", "--out", "alone"]).exit_code == 0
    assert swept(tmp_path / "whole") == swept(tmp_path / "alone")


def swept(path: Path) -> dict:
    """The record of a sweep without what may differ."""
    return {key: value for key, value in json.loads((path / "sweep.json").read_text()).items() if key != "environment"}


def test_a_shard_of_a_sweep_that_did_not_end_is_told_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its inputs are not swept here, where there may be no device."""
    monkeypatch.setattr("conform.running.on_ray._connected", lambda address: Cluster(2))
    sweep("neg", "cpu", codes=Codes(0x3F7FFFFF, 0x3F800005), shard="1/2", workers=1, out=tmp_path / "first")
    first = (tmp_path / "first" / "blocks.jsonl").read_bytes()
    killed = on_ray.Ended(137, first.splitlines(keepends=True)[0], "conform: no memory")
    ended = {1: on_ray.Ended(0, first, ""), 2: killed}
    monkeypatch.setattr("conform.running.on_ray.shard_of", lambda work, number, count: ended[number])
    asked = ["sweep", "neg", "--backend", "cpu", "--range", "0x3f7fffff:0x3f800005", "--quiet"]
    result = CliRunner().invoke(main, [*asked, "--ray", "auto", "--out", str(tmp_path / "all")])
    assert (result.exit_code, result.stderr) == (1, "conform: no memory\n")
    told = "ended early: of 2 blocks 1 is in no journal\npartial: 1 of 7 inputs, 1 compared, 0 failed\n"
    assert result.stdout == told
    folders = sorted(path.parent.name for path in (tmp_path / "all").glob("shards/*/blocks.jsonl"))
    assert folders == ["shard-1", "shard-2"]


@pytest.mark.parametrize("words", [("--shard", "1/2"), ("--resume", "."), ("--known", "."), ("--workers", "2")])
def test_what_says_how_one_machine_sweeps_is_refused(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, ["sweep", "neg", "--backend", "cpu", "--ray", "auto", *words])
    assert result.exit_code == 2
    assert f"{words[0]} says how one machine goes about it: leave it out with --ray" in result.stderr


def test_a_folder_that_a_node_lacks_is_told(tmp_path: Path) -> None:
    ended = on_ray.shard_of(on_ray.Work(("check",), str(tmp_path / "nowhere"), "journal.jsonl"), 1, 2)
    assert (ended.exit_code, ended.journal) == (2, None)
    assert f"there is no folder {tmp_path / 'nowhere'} on the node" in ended.said


def test_without_a_cluster_there_is_no_run() -> None:
    pytest.importorskip("ray", reason="clusters need the extra conform[ray]")
    result = CliRunner().invoke(main, ["check", *ASKED, "--ray", "127.0.0.1:1"])
    assert result.exit_code == 2
    assert "--ray 127.0.0.1:1: there is no cluster" in result.stderr


def begun(starts: Path) -> int:
    """How many backends have been created."""
    return len(starts.read_text().splitlines()) if starts.exists() else 0


def lose_at_work(cluster: Any, node: Any, is_at_work: Callable[[], bool]) -> None:
    """Kills the node once both shards' backends run."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not is_at_work():
        time.sleep(0.05)
    cluster.remove_node(node, allow_graceful=False)


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "starts_of_a_shard", "compared"),
    [
        (["check", "smoke", "--determinism", "1"], 1, lines),
        (["sweep", "exp", "--range", "0x3f000000:0x42ffffff"], 2, swept),  # 16 blocks
    ],
    ids=["check", "sweep"],
)
def test_two_nodes_of_which_one_is_lost(
    tmp_path: Path, words: list[str], starts_of_a_shard: int, compared: Callable[[Path], Any]
) -> None:
    """The node goes while both shards run: further starts are those of the lost one."""
    pytest.importorskip("ray", reason="clusters need the extra conform[ray]")
    from ray.cluster_utils import Cluster as OfRay

    starts, file = tmp_path / "starts", tmp_path / "noted.py"
    file.write_text(NOTED.format(path=str(starts)))
    words = [*words, "--backend", f"{file}::Noted", "--no-progress"]
    cluster = OfRay(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        is_at_work = lambda: begun(starts) >= 2 * starts_of_a_shard  # noqa: E731
        lose = threading.Thread(target=lose_at_work, args=(cluster, cluster.add_node(num_cpus=1), is_at_work))
        lose.start()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        program = [sys.executable, "-m", "conform", *words, "--ray", cluster.address, "--out", str(tmp_path / "whole")]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
        lose.join()
    finally:
        cluster.shutdown()
    assert done.stderr == ""
    assert begun(starts) == 3 * starts_of_a_shard
    alone = CliRunner().invoke(main, [*words, "--workers", "1", "--out", str(tmp_path / "alone")])
    assert alone.exit_code == done.returncode
    assert compared(tmp_path / "whole") == compared(tmp_path / "alone")
