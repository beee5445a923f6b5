"""Tensors in the worker, in layouts whose strides are not those of their shape."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from conform.backends.memory import Memory, bytes_of, output_of
from conform.backends.protocol import payload_of, placement
from conform.call.arguments import Arguments
from conform.inputs.layouts import Placed, with_layout

IMAGES = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
VOLUMES = IMAGES.reshape(1, 3, 2, 2, 2)
COLUMN = IMAGES.reshape(24, 1)


def placed(layout: str, array: np.ndarray) -> Placed:
    return with_layout(Arguments([array]), f"{layout}.0").args[0]


def received(tensor: Placed) -> tuple[Memory, torch.Tensor]:
    """The tensor as a worker has it, between guards."""
    payload = payload_of([tensor.storage.tobytes()])
    memory = Memory(len(payload))
    memory.bytes[:] = payload
    memory.freeze()
    description = [tensor.dtype.name, list(tensor.shape), list(tensor.strides), tensor.offset, tensor.storage.nbytes]
    return memory, memory.tensors([description])[0]


@pytest.mark.parametrize(("layout", "array"), [
    ("channels_last", IMAGES), ("channels_last", VOLUMES), ("odd_strides", COLUMN), ("odd_strides", IMAGES[:0]),
])  # fmt: skip
def test_writes_are_seen_in_every_layout(layout: str, array: np.ndarray) -> None:
    memory, tensor = received(placed(layout, array))
    assert tensor.tolist() == array.tolist()
    assert memory.changes() == ([], False)
    tensor.add_(1.0)
    assert memory.changes() == ([0] if array.size else [], False)


@pytest.mark.parametrize(("layout", "array"), [("channels_last", IMAGES), ("channels_last", VOLUMES)])
def test_a_write_behind_the_storage_is_an_overrun(layout: str, array: np.ndarray) -> None:
    memory, _ = received(placed(layout, array))
    (start,), _ = placement([array.nbytes])
    memory.bytes[start + array.nbytes] ^= 1
    assert memory.changes() == ([], True)


def test_torch_takes_the_layouts_for_its_memory_formats() -> None:
    images, volumes = (received(placed("channels_last", array))[1] for array in (IMAGES, VOLUMES))
    assert images.is_contiguous(memory_format=torch.channels_last)
    assert volumes.is_contiguous(memory_format=torch.channels_last_3d)
    assert not images.is_contiguous()
    assert received(placed("odd_strides", COLUMN))[1].is_contiguous()


@pytest.mark.parametrize(("tensor", "elements"), [
    (torch.tensor([7.0]).as_strided((1,), (4099,)), [7.0]),
    (torch.arange(6.0).reshape(2, 3).t(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
    (torch.arange(6.0)[2:4], [2.0, 3.0]),
    (torch.empty(0).as_strided((0, 3), (4099, 4097)), []),
])  # fmt: skip
def test_outputs_of_any_strides_are_read_in_row_major_order(tensor: torch.Tensor, elements: list[float]) -> None:
    assert bytes_of(tensor).view(np.float32).tolist() == elements
    described, content = output_of(tensor, 0)
    assert described == ["float32", list(tensor.shape), list(tensor.stride())]
    assert np.frombuffer(content, np.float32).tolist() == elements
