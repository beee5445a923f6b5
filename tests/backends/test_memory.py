"""Tensors in the worker, in layouts whose strides are not those of their shape."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import torch

from conform.backends.lent import UNCHANGED, Lent
from conform.backends.memory import Memory, bytes_of, output_of
from conform.backends.protocol import payload_of, placement
from conform.call.arguments import Arguments
from conform.inputs.layouts import Placed, with_layout

IMAGES = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
VOLUMES = IMAGES.reshape(1, 3, 2, 2, 2)
COLUMN = IMAGES.reshape(24, 1)


def placed(layout: str, array: np.ndarray) -> Placed:
    return with_layout(Arguments([array]), f"{layout}.0").args[0]


@pytest.fixture
def lend() -> Iterator[Callable[[Placed], tuple[Lent, Memory, torch.Tensor]]]:
    """Lends a tensor's storage, and maps it as a worker does."""
    with ExitStack() as stack:

        def lender(tensor: Placed) -> tuple[Lent, Memory, torch.Tensor]:
            size = tensor.storage.nbytes
            lent = Lent(payload_of([tensor.storage.tobytes()]), [size])
            stack.callback(lent.close)
            described = [tensor.dtype.name, list(tensor.shape), list(tensor.strides), tensor.offset, size]
            memory = Memory([described], descriptor=os.dup(lent.fileno()))
            return lent, memory, memory.tensors()[0]

        yield lender


Lender = Callable[[Placed], tuple[Lent, Memory, torch.Tensor]]


@pytest.mark.parametrize(("layout", "array"), [
    ("channels_last", IMAGES), ("channels_last", VOLUMES), ("odd_strides", COLUMN), ("odd_strides", IMAGES[:0]),
])  # fmt: skip
def test_writes_are_seen_in_every_layout(lend: Lender, layout: str, array: np.ndarray) -> None:
    lent, _, tensor = lend(placed(layout, array))
    assert tensor.tolist() == array.tolist()
    assert lent.changes() == UNCHANGED
    tensor.add_(1.0)
    assert tuple(lent.changes().contents) == ((0,) if array.size else ())


@pytest.mark.parametrize(("layout", "array"), [("channels_last", IMAGES), ("channels_last", VOLUMES)])
def test_a_write_behind_the_storage_is_an_overrun(lend: Lender, layout: str, array: np.ndarray) -> None:
    lent, memory, _ = lend(placed(layout, array))
    (start,), _ = placement([array.nbytes])
    memory.bytes[start + array.nbytes] ^= 1
    assert lent.changes() == ({}, True)


@pytest.mark.parametrize("place", [0, 2**18 - 1, 2**18, 2**19 - 1, 2**19 + 3])
def test_a_single_byte_is_seen_wherever_it_is(lend: Lender, place: int) -> None:
    lent, memory, _ = lend(Placed(np.ones(2**17 + 1, np.float32), (2**17 + 1,), (1,), 0))
    (start,), _ = placement([2**19 + 4])
    memory.bytes[start + place] ^= 1
    assert tuple(lent.changes().contents) == (0,)


@pytest.mark.parametrize("length", [0, 64, 100, 1 << 40])
def test_a_file_that_was_cut_or_grown_is_read_as_far_as_it_was_lent(lend: Lender, length: int) -> None:
    """A worker has the file's descriptor; what it cut away is changed, what it added is nothing of the parent's."""
    lent, _, _ = lend(Placed(np.ones(24, np.float32), (24,), (1,), 0))
    os.ftruncate(lent.fileno(), length)
    assert (tuple(lent.changes().contents), lent.changes().overrun) == (((), False) if length > 1000 else ((0,), True))


def test_what_is_lent_is_a_copy(lend: Lender) -> None:
    storage = np.ones(24, np.float32)
    _, memory, tensor = lend(Placed(storage, (24,), (1,), 0))
    tensor.zero_()
    memory.bytes[:] = 7
    assert (storage == 1).all()


def test_results_that_share_memory_with_an_argument_are_seen() -> None:
    storages = [np.arange(24, dtype=np.float32), np.arange(6, dtype=np.float64)]
    lent = Lent(payload_of([one.tobytes() for one in storages]), [one.nbytes for one in storages])
    described = [["float32", [4, 6], [6, 1], 0, 96], ["float64", [2, 3], [3, 1], 0, 48]]
    memory = Memory(described, descriptor=os.dup(lent.fileno()))
    lent.close()
    first, second = memory.tensors()
    shares = [first, second, first[1:], second.t(), first[3, 5], second.expand(4, 2, 3), first.view(torch.int32)]
    assert [memory.behind(one) for one in shares] == [0, 1, 0, 1, 0, 1, 0]
    own = [first.clone(), second + 0, first[4:], first[:, :0], torch.empty(0), torch.empty(2, device="meta")]
    assert [memory.behind(one) for one in own] == [None] * len(own)
    starts = [one.data_ptr() - memory.bytes.ctypes.data for one in (first, second)]
    end = starts[0] + 96
    of_bytes = torch.frombuffer(memory.bytes.data, dtype=torch.uint8)
    edges = [(starts[0] - 5, 5), (starts[0] - 5, 6), (end - 1, 9), (end, 9), (starts[1] - 3, 3), (starts[1] - 3, 4)]
    assert [memory.behind(of_bytes[at : at + count]) for at, count in edges] == [None, 0, 0, None, None, 1]
    assert memory.behind(of_bytes[starts[1] - 8 : starts[1] + 8].view(torch.float64)) == 1


def test_torch_takes_the_layouts_for_its_memory_formats(lend: Lender) -> None:
    images, volumes = (lend(placed("channels_last", array))[2] for array in (IMAGES, VOLUMES))
    assert images.is_contiguous(memory_format=torch.channels_last)
    assert volumes.is_contiguous(memory_format=torch.channels_last_3d)
    assert not images.is_contiguous()
    assert lend(placed("odd_strides", COLUMN))[2].is_contiguous()


class Wrapper(torch.Tensor):
    """Computes when it is read."""

    @staticmethod
    def __new__(cls, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.Tensor._make_wrapper_subclass(cls, shape)

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        return function(*(torch.zeros(one.shape) if isinstance(one, Wrapper) else one for one in args))


def test_an_output_that_holds_no_elements_is_told_by_its_class() -> None:
    with pytest.raises(TypeError, match=r"output 1 is a Wrapper whose elements cannot be read .*; expected a tensor"):
        output_of(Wrapper((2, 3)), 1)


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
