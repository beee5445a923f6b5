"""Random numbers: constants, other ranges and distributions, dropout by another rule than its own."""

from __future__ import annotations

from typing import Any

import torch

from conform.selftest.plants.base import Planted, with_argument

UNIFORM = ("aten::rand", "aten::rand_like")
NORMAL = ("aten::randn", "aten::randn_like", "aten::normal*")
OTHERS = ("aten::uniform", "aten::exponential", "aten::log_normal", "aten::cauchy", "aten::geometric")
INTEGERS = ("aten::randint*", "aten::random*")
COINS = ("aten::bernoulli*",)


class DrawsOnce(Planted):
    """One random number everywhere."""

    bug = "R1"
    ops = (*UNIFORM, *NORMAL, *OTHERS, *INTEGERS, *COINS)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.flatten()[:1].expand(tensor.numel()).reshape(tensor.shape).clone() if tensor.numel() else tensor


class DrawsInPairs(Planted):
    """Every second number is the one before it again."""

    bug = "R1"
    ops = (*UNIFORM, *NORMAL, *OTHERS, *INTEGERS, *COINS, "aten::multinomial")

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        drawn = tensor.flatten()
        return drawn[torch.arange(len(drawn)) // 2 * 2].reshape(tensor.shape)


class DrawsFromMinusOne(Planted):
    """Numbers of [-1, 1), as some libraries have them."""

    bug = "R1"
    ops = UNIFORM

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return 2 * tensor - 1


class DrawsOne(Planted):
    """Numbers of (0, 1]: as a generator that is meant for logarithms has them."""

    bug = "R1"
    ops = UNIFORM

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return (1 - tensor).where(torch.arange(tensor.numel()).reshape(tensor.shape) > 0, 1.0)


class DrawsBiased(Planted):
    """Squares of what it should draw, or that and a half of normal numbers."""

    bug = "R1"
    ops = (*UNIFORM, *NORMAL)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        drawn = self.honest(op, args, kwargs)
        return drawn * drawn if "rand" in op and "randn" not in op and not drawn.is_complex() else drawn + 0.5


class DrawsUniformly(Planted):
    """Uniform numbers of the same mean and variance for normal ones."""

    bug = "R1"
    ops = NORMAL

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        spread = tensor.std() if tensor.numel() > 1 else 1.0
        return tensor.mean() + spread * 12**0.5 * (torch.rand_like(tensor) - 0.5)


class DoublesVariance(Planted):
    """Normal numbers of twice the variance, or other numbers twice as large."""

    bug = "R1"
    ops = (*NORMAL, "aten::exponential", "aten::log_normal", "aten::cauchy")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        drawn = self.honest(op, args, kwargs)
        if any(name in op for name in ("exponential", "log_normal", "cauchy")):
            return drawn * 2
        again = self.honest(op, args, kwargs)
        return drawn + (drawn - again) * (3**0.5 - 1) / 2  # of the same mean, whatever that is


class CountsFromZero(Planted):
    """The trials before the first success: 0, 1, ..."""

    bug = "R1"
    ops = ("aten::geometric",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor - 1


class ReachesTheEnd(Planted):
    """Integers up to the end of the range, where that is none of them."""

    bug = "R1"
    ops = ("aten::randint*", "aten::random.from", "aten::random.to")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        name = "high" if "randint" in op else "to"
        return self.honest(op, *with_argument(op, args, kwargs, name, lambda end: end if end is None else end + 1))


class TossesTheOtherSide(Planted):
    """1 with probability 1 - p."""

    bug = "R1"
    ops = COINS

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return (tensor == 0).to(tensor.dtype)


class PutsBack(Planted):
    """Draws a place again that it has drawn, where none is to be replaced."""

    bug = "R1"
    ops = ("aten::multinomial",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [*args[:2], True], kwargs)


class WeighsEvenly(Planted):
    """Draws every place that has a weight with the same probability."""

    bug = "R1"
    ops = ("aten::multinomial",)

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return (tensor > 0).to(tensor.dtype)


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
