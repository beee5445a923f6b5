"""A mixture of experts: each token goes to the two experts that its router likes best."""

import torch
from torch import nn
from torch.nn.functional import gelu


class Mixture(nn.Module):
    def __init__(self, width: int, hidden: int, experts: int, chosen: int) -> None:
        super().__init__()
        self.chosen, self.router = chosen, nn.Linear(width, experts, bias=False)
        nn.init.normal_(self.router.weight, std=2.0)  # of near ties either choice would be right
        self.up = nn.Parameter(torch.randn(experts, width, hidden) / width**0.5)
        self.down = nn.Parameter(torch.randn(experts, hidden, width) / hidden**0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Every expert works on every token, and those that are not chosen have the weight 0."""
        weights, chosen = self.router(x).softmax(-1).topk(self.chosen, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        share = torch.zeros_like(self.router(x)).scatter(-1, chosen, weights)
        mixed = gelu(x @ self.up) @ self.down  # [experts, tokens, width]
        return (share.T[:, :, None] * mixed).sum(0)


def build() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Mixture(width=8, hidden=16, experts=4, chosen=2).eval(), (torch.randn(5, 8),)
