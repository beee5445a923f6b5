"""Random numbers: constants, other ranges and distributions, dropout by another rule than its own."""

from __future__ import annotations

from typing import Any

import torch

from conform.selftest.plants.base import Planted

DRAWN = ("aten::rand", "aten::randn")


class DrawsOnce(Planted):
    """One random number everywhere."""

    bug = "R1"
    ops = DRAWN

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.flatten()[:1].expand(tensor.numel()).reshape(tensor.shape).clone() if tensor.numel() else tensor


class DrawsFromMinusOne(Planted):
    """Numbers of [-1, 1), as some libraries have them."""

    bug = "R1"
    ops = ("aten::rand",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return 2 * tensor - 1


class DrawsOne(Planted):
    """Numbers of (0, 1]: as a generator that is meant for logarithms has them."""

    bug = "R1"
    ops = ("aten::rand",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return (1 - tensor).where(torch.arange(tensor.numel()).reshape(tensor.shape) > 0, 1.0)


class DrawsBiased(Planted):
    """Squares of what it should draw, or that and a half of normal numbers."""

    bug = "R1"
    ops = DRAWN

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        drawn = self.honest(op, args, kwargs)
        return drawn * drawn if op == "aten::rand" and not drawn.is_complex() else drawn + 0.5


class CountsOn(Planted):
    """A permutation that does not permute."""

    bug = "R1"
    ops = ("aten::randperm",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.sort().values


class DrawsTwice(Planted):
    """Numbers below n, each drawn by itself: some come twice."""

    bug = "R1"
    ops = ("aten::randperm",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor[torch.randint(len(tensor), (len(tensor),))] if len(tensor) else tensor


class KeepsWithP(Planted):
    """Keeps elements with probability p, not 1 - p, and scales them as it should."""

    bug = "R1"
    ops = ("aten::native_dropout",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        data, p, train = args
        if train is False or not 0 < p < 1:
            return self.honest(op, args, kwargs)
        mask = torch.rand(data.shape) < p
        return torch.where(mask, data / (1 - p), 0), mask


class DropsWithoutScaling(Planted):
    """Forgets the factor 1 / (1 - p)."""

    bug = "R1"
    ops = ("aten::native_dropout",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        mask = self.honest(op, args, kwargs)[1]
        return torch.where(mask, args[0], 0), mask


class MasksAnew(Planted):
    """The mask that is returned is another one than that by which elements were dropped."""

    bug = "R1"
    ops = ("aten::native_dropout",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result, mask = self.honest(op, args, kwargs)
        return result, mask.flip(-1) if mask.ndim else mask
