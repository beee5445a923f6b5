"""What torch returns of windows where docs/torch-cpu.md says that it is wrong, and what is right."""

from __future__ import annotations

import torch


def test_a_line_of_its_own_size_keeps_its_infinities() -> None:
    line = torch.tensor([[[0.0, torch.inf, 1.0, 2.0]]])  # the places are 0, 1, 2 and 3: every element is itself
    result = torch.ops.aten.upsample_linear1d(line, [4], False)[0, 0]
    assert result.isnan().tolist() == [False, True, False, False]
    assert result[[0, 2, 3]].tolist() == [0.0, 1.0, 2.0]
