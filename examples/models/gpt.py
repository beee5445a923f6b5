"""A decoder of two layers that goes on with what it has seen: keys and values of earlier tokens are its inputs."""

import torch
from torch import nn
from torch.nn.functional import gelu, scaled_dot_product_attention

Cache = list[tuple[torch.Tensor, torch.Tensor]]


class Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(
        self, x: torch.Tensor, cached: tuple[torch.Tensor, torch.Tensor], mask: torch.Tensor
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        query, key, value = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        key, value = torch.cat([cached[0], key], 2), torch.cat([cached[1], value], 2)
        mixed = scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(gelu(self.up(self.norms[1](x)), approximate="tanh")), (key, value)


class Decoder(nn.Module):
    def __init__(self, words: int, length: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: torch.Tensor, cache: Cache) -> tuple[torch.Tensor, Cache]:
        """Logits of the next tokens, and the cache with theirs."""
        seen, count = cache[0][0].shape[2], tokens.shape[1]
        at = torch.arange(seen, seen + count)
        mask = at[:, None] >= torch.arange(seen + count)
        x, grown = self.words(tokens) + self.places(at), []
        for layer, cached in zip(self.layers, cache, strict=True):
            x, own = layer(x, cached, mask)
            grown.append(own)
        return self.norm(x) @ self.words.weight.T, grown


def model(
    width: int, heads: int, seen: int, count: int, words: int = 50
) -> tuple[nn.Module, tuple[torch.Tensor, Cache]]:
    """A decoder of two layers on `count` tokens behind `seen` ones."""
    decoder = Decoder(words, seen + count, width, heads, layers=2)
    shape = (1, heads, seen, width // heads)
    cache = [(torch.randn(shape), torch.randn(shape)) for _ in range(2)]
    return decoder.eval(), (torch.randint(words, (1, count)), cache)


def build() -> tuple[nn.Module, tuple[torch.Tensor, Cache]]:
    return model(width=16, heads=4, seen=3, count=4)


def build_wide() -> tuple[nn.Module, tuple[torch.Tensor, Cache]]:
    return model(width=256, heads=4, seen=0, count=128)
