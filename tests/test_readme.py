"""README.md and docs/inputs.md show real output: their commands print what they say, to the last figure."""

from __future__ import annotations

import pytest
import torch

from tests.instruction_sets import PINS, supported
from tools.readme_output import PAGES, README, blocks, kernels, output_of, switches

TEXT = README.read_text(encoding="utf-8")
BLOCKS = [block for page in PAGES for block in blocks(page.read_text(encoding="utf-8"))]
VERSION = "2.13.0+cpu"  # torch's kernels, and so their errors, differ from version to version


def test_the_blocks_are_found() -> None:
    assert [command.split()[1] for command, _ in BLOCKS] == ["check", "check", "gen", "gen"]


def test_the_switches_choose_the_kernels_for_avx2() -> None:
    assert switches(TEXT) == PINS["avx2"]


@pytest.mark.skipif("avx2" not in supported(), reason="this processor has no AVX2, and the figures are of its kernels")
@pytest.mark.skipif(torch.__version__ != VERSION, reason=f"the figures are of torch {VERSION}")
@pytest.mark.parametrize(("command", "output"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_a_command_prints_what_the_readme_says(command: str, output: str) -> None:
    printed = output_of(command, kernels(TEXT), switches(TEXT))
    assert printed == output, "run tools/readme_output.py if this is as it should be"
