"""Recurrent networks: a step a row of the sequence, which torch.export unrolls."""

import torch


def build() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """An LSTM of two layers, read in both directions."""
    return torch.nn.LSTM(8, 12, num_layers=2, bidirectional=True, batch_first=True).eval(), (torch.randn(2, 5, 8),)


def build_gru() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    return torch.nn.GRU(8, 12, batch_first=True).eval(), (torch.randn(2, 5, 8),)
