"""A block as in Llama: RMS norm, rotary positions, grouped-query attention, a gated feed-forward layer."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention, silu


class Block(nn.Module):
    def __init__(self, width: int, heads: int, groups: int, hidden: int, length: int) -> None:
        super().__init__()
        self.heads, self.groups = heads, groups
        part = width // heads
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5) for _ in range(2))
        self.query, self.out = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(width, groups * part, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)
        angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, part, 2) / part)
        self.register_buffer("cosine", torch.cos(angles).repeat(1, 2))
        self.register_buffer("sine", torch.sin(angles).repeat(1, 2))

    def rotated(self, x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * self.cosine + torch.cat([-second, first], dim=-1) * self.sine

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.norms[0](x)
        query = self.rotated(self.query(normed).unflatten(-1, (self.heads, -1)).transpose(1, 2))
        key = self.rotated(self.key(normed).unflatten(-1, (self.groups, -1)).transpose(1, 2))
        value = self.value(normed).unflatten(-1, (self.groups, -1)).transpose(1, 2)
        mixed = scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        normed = self.norms[1](x)
        return x + self.down(silu(self.gate(normed)) * self.up(normed))


def build() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Block(width=16, heads=4, groups=2, hidden=24, length=6).eval(), (torch.randn(2, 6, 16),)
