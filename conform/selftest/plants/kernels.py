"""Kernels that compute something near: operands, heights and widths, orders and groups mixed up."""

from __future__ import annotations

import math
from typing import Any

import torch

from conform.selftest.plants.base import Planted, lists_positions


class PoolDividesByKernel(Planted):
    """Divides by the kernel size at the borders too (onnxruntime#16203)."""

    bug = "M39"
    ops = ("aten::avg_pool2d",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args[6] is not None or not args[0].is_floating_point():
            return self.honest(op, args, kwargs)
        return self.honest(op, [*args[:6], args[1][0] * args[1][1]], kwargs)


class LosesUpdates(Planted):
    """y[index] += v: of repeated indices one update stays (torch-spyre#3638)."""

    bug = "M41"
    ops = ("aten::index_put",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not args[3]:
            return self.honest(op, args, kwargs)
        index = tuple(slice(None) if i is None else i for i in args[1])
        result = args[0].clone()
        result[index] = result[index] + args[2] if args[0].dtype != torch.bool else result[index] | args[2]
        return result


class TransposedIsFlipped(Planted):
    """Flips the kernel of a transposed convolution."""

    bug = "M43"
    about = ("transposed",)
    ops = ("aten::convolution",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        kernel = args[1].flip(list(range(2, args[1].ndim))) if args[6] else args[1]
        return self.honest(op, [args[0], kernel, *args[2:]], kwargs)


class ConvolvesByDefinition(Planted):
    """Flips the kernel: a convolution where torch means a cross-correlation."""

    bug = "M43"
    ops = ("aten::convolution",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        kernel = args[1] if args[6] else args[1].flip(list(range(2, args[1].ndim)))
        return self.honest(op, [args[0], kernel, *args[2:]], kwargs)


class IgnoresGroups(Planted):
    """Gives every group the first group's channels (pytorch#192212)."""

    bug = "M43"
    about = ("groups",)
    ops = ("aten::convolution",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        groups, channels = args[8], args[0].shape[1]
        first = args[0][:, : channels // groups]
        return self.honest(op, [torch.cat([first] * groups, 1), *args[1:]], kwargs)


class SkipsLastChannel(Planted):
    """Leaves the last input channel out of the sum (torch-xpu-ops#1789)."""

    bug = "M43"
    ops = ("aten::convolution",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        image = args[0].clone()
        image[:, -1] = 0
        return self.honest(op, [image, *args[1:]], kwargs)


class SwapsWhere(Planted):
    """Reads the condition the other way round."""

    bug = "M37"
    ops = ("aten::where",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [~args[0], *args[1:]], kwargs)


class TransposesSquareFactor(Planted):
    """Reads a square second factor as its transpose (pytorch#161641)."""

    bug = "M43"
    ops = ("aten::mm", "aten::addmm")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        rhs = args[-1]
        return self.honest(op, [*args[:-1], rhs.T if rhs.shape[0] == rhs.shape[1] else rhs], kwargs)


class LogicalAnd(Planted):
    """1 where both operands are not zero."""

    bug = "M43"
    ops = ("aten::bitwise_and",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        lhs, rhs = (arg if isinstance(arg, torch.Tensor) else torch.tensor(arg) for arg in args)
        return torch.logical_and(lhs, rhs).to(self.honest(op, args, kwargs).dtype)


class GatherIsIndexSelect(Planted):
    """Takes the first column of the index for every column."""

    bug = "M43"
    ops = ("aten::gather",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        operand, dim, index = args
        for other in range(index.ndim):
            if other != dim % operand.ndim and index.numel():
                index = index.narrow(other, 0, 1).expand(index.shape)
        return self.honest(op, [operand, dim, index], kwargs)


class IndexPutInOrderOfIndex(Planted):
    """Writes the values in the order of the sorted indices."""

    bug = "M43"
    ops = ("aten::index_put",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        indices = [index.sort().values if lists_positions(index) else index for index in args[1]]
        return self.honest(op, [args[0], indices, *args[2:]], kwargs)


class ArangeIncludesEnd(Planted):
    """One more element where the end is a multiple of the step."""

    bug = "M43"
    ops = ("aten::arange",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        start, end, step = {1: [0, *args, 1], 2: [*args, 1], 3: args}[len(args)]
        is_multiple = math.fmod(end - start, step) == 0
        return self.honest("aten::arange.start_step", [start, end + step if is_multiple else end, step], kwargs)
