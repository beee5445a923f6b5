"""Memory and shapes: strides, offsets, stale, unwritten and overwritten memory, ranks, sizes."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import torch

from conform.selftest.plants.base import Planted, mapped, storage_of, tensors_in, value_of, with_argument
from conform.selftest.plants.facts import Op, op_of


class IgnoresChannelsLast(Planted):
    """Takes images for row-major (pytorch#89353, pytorch#192212)."""

    bug = "M01"
    about = ("layout",)
    ops = ("aten::convolution", "aten::avg_pool2d", "aten::cat", "aten::permute", "aten::_to_copy", "aten::add.Tensor")

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        is_image = tensor.ndim == 4 and tensor.is_contiguous(memory_format=torch.channels_last)
        return storage_of(tensor)[: tensor.numel()].reshape(tensor.shape) if is_image else tensor


class WritesThroughExpanded(Planted):
    """Works in place where the input is expanded: every row then is the last one written (pytorch#183986)."""

    bug = "M03"
    about = ("layout",)
    ops = ("aten::index_put",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        expanded = [dim for dim, stride in enumerate(args[0].stride()) if stride == 0 and args[0].shape[dim] > 1]
        return result.narrow(expanded[0], -1, 1).expand(result.shape) if expanded and result.numel() else result


class WritesRowMajor(Planted):
    """Writes in row-major order into a result of the input's layout (pytorch#100764, pytorch#130394).

    Of the ops whose result torch lays out like the input, a transposed or channels_last one.
    """

    bug = "M04"
    about = ("layout",)
    images = ("aten::avg_pool2d", "aten::convolution")

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.traits.pointwise and bool(op.data) or op.name in cls.images

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        written = torch.empty_like(tensor)
        storage_of(written)[: tensor.numel()] = tensor.reshape(-1)
        return written


class UnwrittenTail(Planted):
    """Writes whole vectors of four only; the rest is what the memory held (onnxruntime#32299)."""

    bug = "M06"
    about = ("elements",)
    ops = ("*",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        written, count = torch.empty(tensor.shape, dtype=tensor.dtype), tensor.numel() - tensor.numel() % 4
        written.view(-1)[:count] = tensor.reshape(-1)[:count]
        return written


class StaleResult(Planted):
    """Returns the result of the first call with the same op, shapes and dtypes (torch-spyre#3237)."""

    bug = "M07"

    @classmethod
    def touches(cls, op: Op) -> bool:
        return bool(op.tensors)

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, Any] = {}

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def described(tensor: torch.Tensor) -> Any:
            return (tuple(tensor.shape), str(tensor.dtype))

        key = repr((op, mapped(described, args), mapped(described, kwargs)))
        if key not in self.seen:
            self.seen[key] = mapped(torch.clone, self.honest(op, args, kwargs))
        return self.seen[key]


class BroadcastsFromTheLeft(Planted):
    """Aligns shapes at their first dims where that gives the same result shape (pytorch#190423, executorch#21052)."""

    bug = "M09"
    about = ("shapes",)
    read: ClassVar = {"aten::addmm": "self", "aten::index_put": "values"}  # of ops that are not pointwise

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.traits.pointwise and len(op.tensors) > 1 and len(op.calls[0].results) == 1 or op.name in cls.read

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        for one in op_of(op).tensors:
            if self.read.get(op, one.name) == one.name:
                pad = partial(mapped, partial(self._padded, rank=expected.ndim))
                args, kwargs = with_argument(op, args, kwargs, one.name, pad)
        try:
            result = self.honest(op, args, kwargs)
        except RuntimeError:
            return expected
        return result if result.shape == expected.shape else expected

    @staticmethod
    def _padded(tensor: torch.Tensor, rank: int) -> torch.Tensor:
        return tensor.reshape(tensor.shape + (1,) * (rank - tensor.ndim)) if tensor.ndim else tensor


class NoTermsForEmpty(Planted):
    """Gives the smallest number for the largest of none, instead of raising (xla#887)."""

    bug = "M10"
    about = ("elements", "refusal",)
    ops = ("aten::amax", "aten::argmax")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args[0].numel():
            return self.honest(op, args, kwargs)
        dims = [args[1]] if isinstance(args[1], int) else args[1]
        return self.honest("aten::sum.dim_IntList", [args[0], dims, args[2]], {})


class SkipsTail(Planted):
    """Leaves the last n % 32 elements of a result wrong (torch-mojo-backend#319)."""

    bug = "M11"
    about = ("elements",)
    ops = ("*",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        flat = tensor.clone().reshape(-1)
        tail = flat[flat.numel() - flat.numel() % 32 :]
        tail.copy_(~tail if tensor.dtype == torch.bool else tail * 0 + 77)
        return flat.reshape(tensor.shape)


class ForgetsBehind128(Planted):
    """Rows of 129 and more elements: as if they ended after 128, with zeros behind (pytorch#190781, tt-metal#41371)."""

    bug = "M11"
    about = ("elements", "last dim", "terms",)
    ops = ("aten::sort", "aten::argmax", "aten::amax", "aten::sum", "aten::cumsum", "aten::_softmax", "aten::mm")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if op == "aten::mm":
            return self.honest(op, [args[0][:, :128], args[1][:128]], kwargs)
        results = mapped(torch.clone, self.honest(op, args, kwargs))
        if args[0].ndim == 0:
            return results
        dims = value_of(op, args, kwargs, "dim", [])
        if dims in (None, []):
            return self.honest(op, [args[0].reshape(-1)[:128], *args[1:]], kwargs).reshape(results.shape)
        head = args[0]
        for dim in dims if isinstance(dims, list) else [dims]:
            head = head.narrow(dim, 0, min(128, head.shape[dim]))
        parts = tensors_in(self.honest(op, [head, *args[1:]], kwargs))
        for result, part in zip(tensors_in(results), parts, strict=True):
            whole = result.zero_() if result.shape != part.shape else result
            whole[tuple(slice(size) for size in part.shape)] = part
        return results
