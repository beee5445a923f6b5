"""README.md and docs/inputs.md show real output: their commands print what they say, to the last figure."""

from __future__ import annotations

import pytest
import torch

from tools.readme_output import PAGES, README, blocks, kernels, output_of

EXAMPLE = kernels(README.read_text(encoding="utf-8"))
BLOCKS = [block for page in PAGES for block in blocks(page.read_text(encoding="utf-8"))]
# torch's kernels, and so their errors, differ with these; the figures of the README are from here.
MACHINE = ("2.13.0+cpu", "AVX2")


def test_the_blocks_are_found() -> None:
    assert [command.split()[1] for command, _ in BLOCKS] == ["check", "check", "gen", "gen"]


@pytest.mark.skipif(
    (torch.__version__, torch.backends.cpu.get_cpu_capability()) != MACHINE, reason=f"the figures are of {MACHINE}"
)
@pytest.mark.parametrize(("command", "output"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_a_command_prints_what_the_readme_says(command: str, output: str) -> None:
    assert output_of(command, EXAMPLE) == output, "run tools/readme_output.py if this is as it should be"
