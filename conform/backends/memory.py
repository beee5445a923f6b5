"""Tensors in the worker: torch tensors over the bytes that came, and the bytes of torch tensors that go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from conform.backends.protocol import ALIGNMENT_BYTES, DTYPES, can_hold, placement
from conform.errors import Unsupported


class Memory:
    """The payload of one call: aligned storages with guards between them, and a copy that shows who wrote to them.

    `bytes` is a writable uint8 array for the payload to be received into; `freeze` keeps the copy.
    """

    def __init__(self, payload_bytes: int) -> None:
        block = np.empty(payload_bytes + ALIGNMENT_BYTES, np.uint8)
        start = -block.ctypes.data % ALIGNMENT_BYTES
        self.bytes = block[start : start + payload_bytes]
        self._before = b""

    def freeze(self) -> None:
        """Takes what is now in memory as what it has to stay."""
        self._before = self.bytes.tobytes()

    def tensors(self, described: list[list[Any]]) -> list[torch.Tensor]:
        """One tensor for each [dtype, shape, strides, offset, storage bytes], each with a storage of its own."""
        self._sizes = [one[4] for one in described]
        starts, _ = placement(self._sizes)
        return [self._tensor(start, *one) for start, one in zip(starts, described, strict=True)]

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

    def changes(self) -> tuple[list[int], bool]:
        """The numbers of the tensors whose storage was written to, and whether a byte outside every storage was."""
        if self.bytes.tobytes() == self._before:
            return [], False
        changed = self.bytes != np.frombuffer(self._before, np.uint8)
        starts, _ = placement(self._sizes)
        mutated = []
        for number, (start, size) in enumerate(zip(starts, self._sizes, strict=True)):
            if changed[start : start + size].any():
                mutated.append(number)
            changed[start : start + size] = False
        return mutated, bool(changed.any())


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
