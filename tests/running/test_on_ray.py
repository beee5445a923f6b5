"""A run on a Ray cluster: the shards that it is made of, the words that they are asked by, and the record of the whole.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from conform.cli import main
from conform.errors import UsageError
from conform.running import on_ray
from conform.verbs.checking import words_of

ROOT = Path(__file__).parents[2]
ASKED = ("smoke", "--backend", "cpu", "--op", "aten::exp", "--determinism", "1")


def context(*words: str) -> click.Context:
    return main.commands["check"].make_context("check", list(words))


def test_a_shard_is_asked_in_the_words_of_the_command() -> None:
    words = ["smoke", "core", "--backend", "cpu", "--backend-option", "a=b", "--op", "aten::add", "--op", "aten::m*",
             "--checks", "accuracy,special", "--seed", "7", "--values", "all", "--timeout", "2.5", "--huge"]
    of_the_driver = ["--ray", "auto", "--out", "here", "--quiet", "--no-progress", "--full-record"]
    found = words_of(context(*words, *of_the_driver))
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
    """What `run_on` needs of Ray, in this process: tasks run when they are waited for, the last one first."""

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
        return self.tasks[key]()

    def shutdown(self) -> None:
        self.tasks = None


def content(path: Path) -> dict:
    """A record without what may differ."""
    return {key: value for key, value in json.loads((path / "run.json").read_text()).items() if key != "environment"}


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
    assert content(whole) == content(tmp_path / "alone")


def test_what_no_shard_can_do_is_told_as_one_machine_tells_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(on_ray, "_connected", lambda address: Cluster(1))
    with pytest.raises(UsageError, match=r"shard 1/1: .*matches no case"):
        on_ray.run_on("auto", ["smoke", "--backend", "cpu", "--op", "aten::none"], tmp_path)


def test_without_a_cluster_there_is_no_run() -> None:
    pytest.importorskip("ray", reason="clusters need the extra conform[ray]")
    result = CliRunner().invoke(main, ["check", *ASKED, "--ray", "127.0.0.1:1"])
    assert result.exit_code == 2
    assert "--ray 127.0.0.1:1: there is no cluster" in result.stderr


@pytest.mark.long
def test_two_nodes_of_which_one_is_lost(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="clusters need the extra conform[ray]")
    from ray.cluster_utils import Cluster as OfRay

    asked = ("smoke", "--backend", "cpu", "--determinism", "1")
    cluster = OfRay(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        other = cluster.add_node(num_cpus=1)
        lose = threading.Timer(15.0, lambda: cluster.remove_node(other, allow_graceful=False))
        lose.start()
        words = ["check", *asked, "--ray", cluster.address, "--out", str(tmp_path / "whole")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        program = [sys.executable, "-m", "conform", *words]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
        lose.join()
        assert "2 of 2 shards have ended" in done.stderr, done.stderr
    finally:
        cluster.shutdown()
    assert alone(tmp_path / "alone", asked).exit_code == done.returncode
    assert content(tmp_path / "whole") == content(tmp_path / "alone")
