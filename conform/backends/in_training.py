"""A module in training mode, where what it gives is determined there: nothing is dropped out."""

from __future__ import annotations

from typing import Any

import torch


class InTraining(torch.nn.Module):
    """Calls `module`, which stays in training mode whatever mode this one is put in."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def train(self, mode: bool = True) -> InTraining:
        super().train(mode)
        self.module.train()
        return self

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)
