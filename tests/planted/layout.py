"""Memory and shapes: strides, offsets, stale, unwritten and overwritten memory, ranks, sizes."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from planting import (
    BINARY,
    FLOAT_FUNCTIONS,
    FUNCTIONS,
    FUNCTIONS_OF_TWO,
    PAIRS,
    UNARY,
    Planted,
    base,
    mapped,
    storage_of,
    tensors_in,
)


class IgnoresStrides(Planted):
    """Reads the storage in order, whatever the strides (pytorch#78043, pytorch#161641).

    Not arange, which reads no tensor.
    """

    bug = "M01"
    ops = ("*",)
    but_not = ("aten::arange",)

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        flat = storage_of(tensor)[tensor.storage_offset() :]
        return tensor if flat.numel() < tensor.numel() else flat[: tensor.numel()].reshape(tensor.shape)


class IgnoresOtherStrides(IgnoresStrides):
    """Minds the strides of the first tensor only (convolution's weight in pytorch#192212, linear's in pytorch#161641).

    Of the ops that read two tensors; where.ScalarSelf and where.ScalarOther have the condition for the first.
    """

    ops = (
        *(f"{op}.Tensor" for op in BINARY if op != "aten::maximum"), "aten::div.Tensor_mode", "aten::maximum",
        "aten::where.self", "aten::where.Scalar?*", "aten::cat", "aten::gather", "aten::index_put", "aten::mm",
        "aten::addmm", "aten::convolution", "aten::native_layer_norm", *PAIRS,
    )  # fmt: skip
    but_not = ("aten::special_xlogy.*",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        first = tensors_in(args)[0]
        return self.honest(op, mapped(lambda tensor: tensor if tensor is first else self.operand(tensor), args), kwargs)


class IgnoresChannelsLast(IgnoresStrides):
    """Takes images for row-major (pytorch#89353, pytorch#192212)."""

    ops = ("aten::convolution", "aten::avg_pool2d", "aten::cat", "aten::permute", "aten::_to_copy", "aten::add.Tensor")

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        is_image = tensor.ndim == 4 and tensor.is_contiguous(memory_format=torch.channels_last)
        return super().operand(tensor) if is_image else tensor


class DropsOffset(Planted):
    """Starts at the beginning of the storage (torch-spyre#3770, pytorch#108472). Not arange, which reads no tensor."""

    bug = "M02"
    ops = ("*",)
    but_not = ("aten::arange",)

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.as_strided(tensor.shape, tensor.stride(), 0)


class DropsOffsetOfZeroDim(DropsOffset):
    """Starts at the beginning of the storage where a tensor is one element of a longer one (pytorch#187117)."""

    ops = (
        *BINARY, *UNARY, *FUNCTIONS, *FLOAT_FUNCTIONS, *FUNCTIONS_OF_TWO, "aten::where", "aten::_to_copy", "aten::sum",
        "aten::amax", "aten::cumsum", "aten::sort",
    )  # fmt: skip
    but_not = ("aten::where.Scalar",)

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return super().operand(tensor) if tensor.ndim == 0 else tensor


class WritesThroughExpanded(Planted):
    """Works in place where the input is expanded: every row then is the last one written (pytorch#183986)."""

    bug = "M03"
    ops = ("aten::index_put",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        expanded = [dim for dim, stride in enumerate(args[0].stride()) if stride == 0 and args[0].shape[dim] > 1]
        return result.narrow(expanded[0], -1, 1).expand(result.shape) if expanded and result.numel() else result


class WritesRowMajor(Planted):
    """Writes in row-major order into a result of the input's layout (pytorch#100764, pytorch#130394).

    Of the ops whose result torch lays out like the input: a transposed or channels_last one; that of a number to
    the power of a tensor it does not.
    """

    bug = "M04"
    ops = (
        *BINARY, *UNARY, *FUNCTIONS, *FLOAT_FUNCTIONS, *FUNCTIONS_OF_TWO, "aten::where", "aten::_to_copy",
        "aten::avg_pool2d", "aten::convolution",
    )  # fmt: skip
    but_not = ("aten::where.Scalar", "aten::pow.Scalar")

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        written = torch.empty_like(tensor)
        storage_of(written)[: tensor.numel()] = tensor.reshape(-1)
        return written


class ChangesInput(Planted):
    """Adds one to the first element of its first tensor, after the result is computed (pytorch#183419).

    Not arange, which reads no tensor.
    """

    bug = "M05"
    ops = ("*",)
    but_not = ("aten::arange",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = mapped(torch.clone, self.honest(op, args, kwargs))
        flat = storage_of(tensors_in([args, kwargs])[0])
        flat[:1] = ~flat[:1] if flat.dtype == torch.bool else torch.where(flat[:1] == 1, 2, 1).to(flat.dtype)
        return result


class WritesBehindInput(Planted):
    """Writes one byte too many, behind its first tensor (pytorch#183419). Not arange, which reads no tensor."""

    bug = "M05"
    ops = ("*",)
    but_not = ("aten::arange",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        storage = tensors_in([args, kwargs])[0].untyped_storage()
        if storage.nbytes():
            ctypes.memset(storage.data_ptr() + storage.nbytes(), 1, 1)
        return self.honest(op, args, kwargs)


class UnwrittenEmptySums(Planted):
    """A sum of no terms is what the memory held (pytorch#139446, tvm#19578)."""

    bug = "M06"
    ops = ("aten::sum", "aten::mm", "aten::addmm")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        operand = args[1] if op == "aten::addmm" else args[0]
        return torch.empty_like(result) if operand.numel() == 0 else result


class UnwrittenTail(Planted):
    """Writes whole vectors of four only; the rest is what the memory held (onnxruntime#32299).

    Not eq: unwritten memory is no bool, so the call ends as an error.
    """

    bug = "M06"
    ops = ("*",)
    but_not = ("aten::eq",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        written, count = torch.empty(tensor.shape, dtype=tensor.dtype), tensor.numel() - tensor.numel() % 4
        written.view(-1)[:count] = tensor.reshape(-1)[:count]
        return written


class StaleResult(Planted):
    """Returns the result of the first call with the same op, shapes and dtypes (torch-spyre#3237).

    Not arange, which reads no tensor.
    """

    bug = "M07"
    ops = ("*",)
    but_not = ("aten::arange",)
    remembers = True

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


class NoZeroDim(Planted):
    """Returns one-element vectors for 0-d results (pytorch#190423).

    Not the ops that have no 0-d result: cat, slice, arange, mm, addmm, convolution, avg_pool2d, the normalizations,
    attention; and not index_put, whose 0-d form no backend is asked for.
    """

    bug = "M09"
    ops = ("*",)
    but_not = (
        "aten::cat", "aten::slice", "aten::arange", "aten::mm", "aten::addmm", "aten::convolution", "aten::avg_pool2d",
        "aten::index_put", "aten::native_layer_norm", "aten::native_group_norm", "aten::_native_batch_norm*",
        "aten::rms_norm", "aten::_fused_rms_norm", "aten::scaled_dot_product_attention",
    )  # fmt: skip

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.atleast_1d(tensor)


class BroadcastsFromTheLeft(Planted):
    """Aligns shapes at their first dims where that gives the same result shape (pytorch#190423, executorch#21052)."""

    bug = "M09"
    ops = (
        *(f"{op}.Tensor" for op in BINARY if op != "aten::maximum"), "aten::div.Tensor_mode", "aten::maximum",
        "aten::where.self", "aten::addmm", "aten::index_put", *PAIRS,
    )  # fmt: skip
    but_not = ("aten::special_xlogy.*",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        broadcast = {"aten::addmm": [0], "aten::index_put": [2]}.get(op, range(len(args)))
        padded = [self._padded(arg, expected.ndim) if place in broadcast else arg for place, arg in enumerate(args)]
        try:
            result = self.honest(op, padded, kwargs)
        except RuntimeError:
            return expected
        return result if result.shape == expected.shape else expected

    @staticmethod
    def _padded(tensor: torch.Tensor, rank: int) -> torch.Tensor:
        return tensor.reshape(tensor.shape + (1,) * (rank - tensor.ndim)) if tensor.ndim else tensor


class NoTermsForEmpty(Planted):
    """Gives the smallest number for the largest of none, instead of raising (xla#887)."""

    bug = "M10"
    ops = ("aten::amax", "aten::argmax")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args[0].numel():
            return self.honest(op, args, kwargs)
        return self.honest("aten::sum.dim_IntList", [args[0], [args[1]] if isinstance(args[1], int) else args[1]], {})


class SkipsTail(Planted):
    """Leaves the last n % 32 elements of a result wrong (torch-mojo-backend#319)."""

    bug = "M11"
    ops = ("*",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        flat = tensor.clone().reshape(-1)
        tail = flat[flat.numel() - flat.numel() % 32 :]
        tail.copy_(~tail if tensor.dtype == torch.bool else tail * 0 + 77)
        return flat.reshape(tensor.shape)


class ForgetsBehind128(Planted):
    """Rows of 129 and more elements: as if they ended after 128, with zeros behind (pytorch#190781, tt-metal#41371)."""

    bug = "M11"
    ops = ("aten::sort", "aten::argmax", "aten::amax", "aten::sum", "aten::cumsum", "aten::_softmax", "aten::mm")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if op == "aten::mm":
            return self.honest(op, [args[0][:, :128], args[1][:128]], kwargs)
        results = mapped(torch.clone, self.honest(op, args, kwargs))
        if args[0].ndim == 0:
            return results
        if len(args) == 1 and base(op) in ("aten::amax", "aten::argmax", "aten::sum"):
            return self.honest(op, [args[0].reshape(-1)[:128]], kwargs)
        dims = kwargs.get("dim", args[1] if len(args) > 1 and not isinstance(args[1], bool) else -1)
        head = args[0]
        for dim in dims if isinstance(dims, list) else [dims or 0]:
            head = head.narrow(dim, 0, min(128, head.shape[dim]))
        parts = tensors_in(self.honest(op, [head, *args[1:]], kwargs))
        for result, part in zip(tensors_in(results), parts, strict=True):
            whole = result.zero_() if result.shape != part.shape else result
            whole[tuple(slice(size) for size in part.shape)] = part
        return results
