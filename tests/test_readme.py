"""README.md, docs/inputs.md and the tutorials show real output: commands print what they say, to the last figure."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
import torch

from conform.cli import main
from conform.selftest.instruction_sets import PINS, supported
from tools.readme_output import PAGES, README, blocks, outputs, switches

TEXT = README.read_text(encoding="utf-8")
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials"]
VERSION = "2.13.0+cpu"  # torch's kernels, and so their errors, differ from version to version
SHARE = 130  # of overloads: about a quarter of the pages each day
SHOWN = {"README.md": 3, "inputs.md": 1, "ci-maintainer.md": 1, "compiler-engineer.md": 1, "device-vendor.md": 1,
         "kernel-author.md": 1, "llm-kernels.md": 2}  # fmt: skip


def test_the_blocks_are_found() -> None:
    assert {page.name: len(blocks(page.read_text(encoding="utf-8"))) for page in PAGES} == SHOWN


def test_the_switches_choose_the_kernels_for_avx2() -> None:
    assert switches(TEXT) == PINS["avx2"]


@pytest.mark.skipif("avx2" not in supported(), reason="this processor has no AVX2, and the figures are of its kernels")
@pytest.mark.skipif(torch.__version__ != VERSION, reason=f"the figures are of torch {VERSION}")
@pytest.mark.rotating(SHARE)
@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_commands_of_a_page_print_what_it_says(page: Path) -> None:
    shown = blocks(page.read_text(encoding="utf-8"))
    printed = [(command, output) for (command, _), output in zip(shown, outputs(page, switches(TEXT)), strict=True)]
    assert printed == shown, "run tools/readme_output.py if this is as it should be"


def commands(page: Path) -> list[str]:
    """Every line of a code block that begins with `conform`, what goes on in further lines included."""
    text = re.sub(r"\\\n\s*", "", page.read_text(encoding="utf-8"))
    code = "".join(re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    return re.findall(r"^(?:\$ )?(conform .*)$", code, re.MULTILINE)


@pytest.mark.parametrize("page", TUTORIALS, ids=[page.name for page in TUTORIALS])
def test_the_commands_of_the_tutorials_are_commands(page: Path) -> None:
    """Also those whose output is not shown: verbs and options are the program's, whatever their arguments name."""
    assert len(commands(page)) >= 5
    for line in commands(page):
        words = shlex.split(line.partition(" | ")[0].partition(";")[0].partition(" #")[0])[1:]
        verb = main.get_command(click.Context(main), words[0])
        assert verb is not None, line
        parser = verb.make_parser(click.Context(verb))
        parser.parse_args(words[1:])
