"""README.md shows real output: its commands print what it says, to the last figure."""

from __future__ import annotations

import pytest
import torch

from tools.readme_output import README, blocks, kernels, output_of

TEXT = README.read_text(encoding="utf-8")
# torch's kernels, and so their errors, differ with these; the figures of the README are from here.
MACHINE = ("2.13.0+cpu", "AVX2")


def test_the_blocks_are_found() -> None:
    assert [command.split()[:2] for command, _ in blocks(TEXT)] == [["conform", "check"]] * 2


@pytest.mark.skipif(
    (torch.__version__, torch.backends.cpu.get_cpu_capability()) != MACHINE, reason=f"the figures are of {MACHINE}"
)
@pytest.mark.parametrize(("command", "output"), blocks(TEXT), ids=[command for command, _ in blocks(TEXT)])
def test_a_command_prints_what_the_readme_says(command: str, output: str) -> None:
    assert output_of(command, kernels(TEXT)) == output, "run tools/readme_output.py if this is as it should be"
