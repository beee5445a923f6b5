"""torch's own attention and transformer layers."""

import torch
from torch.nn.functional import scaled_dot_product_attention


class Attention(torch.nn.Module):
    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return scaled_dot_product_attention(query, key, value, is_causal=True, scale=0.3)


class SelfAttention(torch.nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


def build_attention() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    return Attention().eval(), tuple(torch.randn(2, 3, 6, 8) for _ in range(3))


def build_multihead() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    return SelfAttention(16, 4).eval(), (torch.randn(2, 6, 16),)


def build() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    layer = torch.nn.TransformerEncoderLayer(16, 4, dim_feedforward=32, activation="gelu", batch_first=True)
    return layer.eval(), (torch.randn(2, 6, 16),)
