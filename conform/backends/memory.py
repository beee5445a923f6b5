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
    """The payload of one call: aligned storages with guards between them, in a file that the parent reads as well.

    `descriptor` is the file's, and is closed; None for a call without tensors. `bytes` is what it holds, writable.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self.bytes = np.empty(0, np.uint8)
        if descriptor is not None:
            try:
                self.bytes = np.frombuffer(mmap.mmap(descriptor, 0), np.uint8)  # at a page, so aligned
            finally:
                os.close(descriptor)

    def tensors(self, described: list[list[Any]]) -> list[torch.Tensor]:
        """One tensor for each [dtype, shape, strides, offset, storage bytes], each with a storage of its own."""
        self._sizes = [one[4] for one in described]
        self._starts, _ = placement(self._sizes)
        return [self._tensor(start, *one) for start, one in zip(self._starts, described, strict=True)]

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

    def behind(self, tensor: torch.Tensor) -> int | None:
        """The number of the tensor argument whose storage holds elements of `tensor`; None where none does."""
        if tensor.numel() == 0 or tensor.device.type != "cpu":
            return None
        first = tensor.data_ptr() - self.bytes.ctypes.data
        reaches = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
        last = first + reaches * tensor.itemsize
        spans = enumerate(zip(self._starts, self._sizes, strict=True))
        return next((number for number, (start, size) in spans if first < start + size and start < last), None)


def output_of(tensor: torch.Tensor, number: int) -> tuple[list[Any], bytes]:
    """[dtype, shape, strides] of a returned tensor and its elements in row-major order, bit for bit.

    TypeError for a tensor that the parent has no representation for: sparse, quantised, of a dtype that numpy lacks, or
    of no elements in a shape that it lacks.
    """
    name = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout != torch.strided or name not in DTYPES:
        raise TypeError(f"output {number} is a {tensor.layout} tensor of {tensor.dtype}; expected a dense one")
    if not can_hold(tensor.shape):
        raise TypeError(f"output {number} has the shape {tuple(tensor.shape)}, which numpy cannot hold")
    content = bytes_of(tensor.detach().cpu().resolve_conj().resolve_neg()).tobytes()
    if len(content) != math.prod(tensor.shape) * DTYPES[name].itemsize:
        raise TypeError(f"output {number} of shape {tuple(tensor.shape)} came as {len(content)} bytes")
    return [name, list(tensor.shape), list(tensor.stride())], content


def bytes_of(tensor: torch.Tensor) -> np.ndarray:
    """The elements of a tensor without gradient in row-major order: one-dimensional uint8; a view where it can be.

    A contiguous tensor may have any stride that addresses nothing (size 1, or no elements); a view of bytes may not.
    """
    dense = tensor.contiguous()
    return dense.as_strided((dense.numel(),), (1,)).view(torch.uint8).numpy()
