"""The reader in C, and the examples for continuous integration."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import yaml

from conform.cli import main
from tests.golden_files.sets import change_file, written

EXAMPLES = Path(__file__).parents[2] / "examples"
READER = EXAMPLES / "golden_reader.c"
ID = "smoke_add/float32/{}/contiguous"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The compiled program with the path of a file that has the cases of smoke_add in float32."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    directory = tmp_path_factory.mktemp("reader")
    flags = ["-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, str(READER), "-o", str(directory / "reader"), "-lm"], check=True, timeout=60)
    written(directory / "out", ["smoke"], ops=["aten::add"], dtypes=["float32"], layouts="as-written")
    return [str(directory / "reader"), str(directory / "out" / "elementwise.safetensors")]


def run(*words: str) -> tuple[int, str]:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


def test_it_is_short() -> None:
    assert len(READER.read_text().splitlines()) <= 60


@pytest.mark.parametrize("values", ["typical", "special", "special.0", "special.1"])
def test_the_reader_in_c_judges_addition(reader: list[str], values: str) -> None:
    """Infinities, overflow on the way and subnormals among the special values; alpha is 2 in this suite."""
    assert run(*reader, ID.format(values), "2") == (0, "35 of 35 elements are right\n")
    code, told = run(*reader, ID.format(values), "2.0000002")  # the next float32
    assert code == 1
    assert int(told.split()[0]) < 35


def test_the_reader_in_c_refuses_what_it_does_not_find(reader: list[str]) -> None:
    assert run(*reader, "no/such/case", "2") == (2, "")
    assert run(reader[0], "no such file", ID.format("typical"), "2") == (2, "")


def test_one_ulp_is_seen(reader: list[str], tmp_path: Path) -> None:
    shutil.copytree(Path(reader[1]).parent, tmp_path / "out")

    def change(header: dict, data: bytearray) -> None:
        for key, told in header.items():
            if key.startswith(ID.format("typical") + "#self"):
                data[told["data_offsets"][0] + 2] ^= 1  # of the first input, in the middle of its significand

    change_file(tmp_path / "out", "elementwise.safetensors", change)
    found = run(reader[0], str(tmp_path / "out" / "elementwise.safetensors"), ID.format("typical"), "2")
    assert found == (1, "34 of 35 elements are right\n")


# --- Continuous integration -------------------------------------------------------------------------------------------


def commands_of(name: str) -> list[str]:
    """The kit's commands in an example."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    return re.findall(r"^\s*(?:run|entry): (conform .*)$", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["github-action.yml", "pre-commit-config.yaml"])
def test_the_commands_are_the_kits(name: str) -> None:
    (command,) = commands_of(name)
    _, verb, *words = shlex.split(command)
    found: click.Command = main.commands[verb]
    context = found.make_context(verb, words)
    assert context.params["suites"] in (("smoke",), ("core",))
    assert context.params["backends"]


def test_the_workflow_keeps_what_a_failing_run_found() -> None:
    workflow = yaml.safe_load((EXAMPLES / "github-action.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["check"]["steps"]
    (check,) = [step["run"] for step in steps if step["run" if "run" in step else "uses"].startswith("conform check")]
    (kept,) = [step for step in steps if step.get("uses", "").startswith("actions/upload-artifact")]
    assert check.endswith(f"--out {kept['with']['path'].rstrip('/')}")
    assert "cancelled()" in kept["if"]
    (cached,) = [step for step in steps if step.get("uses", "").startswith("actions/cache")]
    assert f"--known {cached['with']['path']} " in check
    assert {"BACKEND", "KIT"} == workflow["env"].keys()


def test_the_hook_takes_no_file_names() -> None:
    config = yaml.safe_load((EXAMPLES / "pre-commit-config.yaml").read_text(encoding="utf-8"))
    ((hook,),) = [repo["hooks"] for repo in config["repos"]]
    assert (hook["language"], hook["pass_filenames"]) == ("system", False)
