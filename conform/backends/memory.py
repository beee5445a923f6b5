"""Tensors in the worker: torch tensors over the bytes that came, and the bytes of torch tensors that go."""

from __future__ import annotations

import math
import mmap
import os
from typing import Any

import numpy as np
import torch

from conform.backends.protocol import DTYPES, can_hold, placement
from conform.errors import Unsupported


class Memory:
    """The payload of a call, or of several equal ones: aligned storages with guards between them, in a file that the
    parent reads as well.

    `descriptor` is the file's, and is closed; None for a call without tensors. `described` are the tensors of one call,
    each [dtype, shape, strides, offset, storage bytes] with a storage of its own. `bytes` is what the file holds,
    writable.
    """

    def __init__(self, described: list[list[Any]], times: int = 1, descriptor: int | None = None) -> None:
        self._described = described
        self._sizes = [one[4] for one in described]
        self._starts, _ = placement(self._sizes * times)
        self.bytes = np.empty(0, np.uint8)
        if descriptor is not None:
            try:
                self.bytes = np.frombuffer(mmap.mmap(descriptor, 0), np.uint8)  # at a page, so aligned
            finally:
                os.close(descriptor)

    def tensors(self, turn: int = 0) -> list[torch.Tensor]:
        """The tensors of one of the calls."""
        return [self._tensor(start, *one) for start, one in zip(self._starts_of(turn), self._described, strict=True)]

    def _starts_of(self, turn: int) -> list[int]:
        count = len(self._described)
        return self._starts[turn * count : (turn + 1) * count]

    def _tensor(
        self, start: int, name: str, shape: list[int], strides: list[int], offset: int, size: int
    ) -> torch.Tensor:
        if name not in DTYPES:
            raise Unsupported(f"torch has no tensors of dtype {name}")
        dtype = getattr(torch, name)
        if size == 0:
            storage = torch.empty(0, dtype=dtype)
        else:
            count = size // DTYPES[name].itemsize
            storage = torch.frombuffer(self.bytes.data, dtype=dtype, count=count, offset=start)
        return storage.as_strided(shape, strides, offset)

    def behind(self, tensor: torch.Tensor, turn: int = 0) -> int | None:
        """The number of the tensor argument of a call whose storage holds elements of `tensor`; None where none does.
        """
        if tensor.numel() == 0 or tensor.device.type != "cpu":
            return None
        first = tensor.data_ptr() - self.bytes.ctypes.data
        reaches = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
        last = first + reaches * tensor.itemsize
        spans = enumerate(zip(self._starts_of(turn), self._sizes, strict=True))
        return next((number for number, (start, size) in spans if first < start + size and start < last), None)


def output_of(tensor: torch.Tensor, number: int) -> tuple[list[Any], bytes]:
    """[dtype, shape, strides] of a returned tensor and its elements in row-major order, bit for bit.

    TypeError for a tensor that the parent has no representation for: nested, sparse, quantised, of a dtype that numpy
    lacks, of no elements in a shape that it lacks, or of a subclass that holds none.
    """
    if tensor.is_nested:  # before anything else: its layout may be strided, and it has no shape to ask for
        raise TypeError(f"output {number} is a nested tensor; expected a dense one")
    name = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout != torch.strided or name not in DTYPES:
        raise TypeError(f"output {number} is a {tensor.layout} tensor of {tensor.dtype}; expected a dense one")
    if not can_hold(tensor.shape):
        raise TypeError(f"output {number} has the shape {tuple(tensor.shape)}, which numpy cannot hold")
    content = _content(tensor, number)
    if len(content) != math.prod(tensor.shape) * DTYPES[name].itemsize:
        raise TypeError(f"output {number} of shape {tuple(tensor.shape)} came as {len(content)} bytes")
    return [name, list(tensor.shape), list(tensor.stride())], content


def _content(tensor: torch.Tensor, number: int) -> bytes:
    """The bytes of its elements. TypeError for a tensor of a subclass that has none to read."""
    try:
        if tensor.device.type == "cpu":
            tensor.untyped_storage().data_ptr()  # raises of what wraps another tensor
        return bytes_of(tensor.detach().cpu().resolve_conj().resolve_neg()).tobytes()
    except RuntimeError as error:
        if type(tensor) in (torch.Tensor, torch.nn.Parameter):
            raise
        what = f"a {type(tensor).__name__} whose elements cannot be read ({error})"
        raise TypeError(f"output {number} is {what}; expected a tensor that holds them") from None


def bytes_of(tensor: torch.Tensor) -> np.ndarray:
    """The elements of a tensor without gradient in row-major order: one-dimensional uint8; a view where it can be.

    A contiguous tensor may have any stride that addresses nothing (size 1, or no elements); a view of bytes may not.
    """
    dense = tensor.contiguous()
    return dense.as_strided((dense.numel(),), (1,)).view(torch.uint8).numpy()
