"""Defects that large calls alone show: results, lines and single elements that a kernel loses beyond a size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from conform.selftest.plants.base import mapped, with_argument
from conform.selftest.plants.enumerated import SIZES, Answering, Given, GivesAnother, Plant
from conform.selftest.plants.facts import Op

LARGE = 2048  # elements that are still right
BLOCK = 1024
RARE = 77_777  # of one element in 10^5

Change = Callable[[torch.Tensor], torch.Tensor]


def of_sizes(op: Op) -> Iterator[Plant]:
    """Every defect of the op that only large calls show, in what comes out and in what is read."""
    results: list[tuple[str, Change]] = [
        (f"result wrong beyond {LARGE} elements", _wrong_beyond),
        (f"last block of {BLOCK} of a large result wrong", _wrong_last_block),
        ("one element in 100000 of the result wrong", _one_wrong),
    ]
    for text, change in results if max(op.result_ranks) > 0 else ():
        yield Plant(op.name, text, "M11", partial(GivesAnother, change), partial(_is_large, op), SIZES)
    for one in op.data[:1]:
        for text, change in _LINES:
            make = partial(Misreads, one.name, change)
            yield Plant(op.name, f"{one.name} {text}", "M11", make, partial(_is_large, op), SIZES)


class Misreads(Answering):
    """Reads the tensors of an argument otherwise than they are."""

    def __init__(self, argument: str, change: Change) -> None:
        super().__init__()
        self.argument, self.change = argument, change

    def answer(self, op: str, args: list[Any], kwargs: dict[str, Any], expected: Any) -> Any:
        read = with_argument(op, args, kwargs, self.argument, lambda given: mapped(self.change, given))
        return self.honest(op, *read)


def _is_large(op: Op, every: Given) -> bool:
    """Whether a tensor of the call is large; of calls without tensors nothing is known beforehand."""
    given = [each for value in every.values() for each in (value if isinstance(value, list) else [value])]
    tensors = [each for each in given if hasattr(each, "ndim")]
    return not op.tensors or any(tensor.size > LARGE for tensor in tensors)


# --- Results ----------------------------------------------------------------------------------------------------------


def _wrong_beyond(tensor: torch.Tensor) -> torch.Tensor:
    return _wrong_from(tensor, LARGE, tensor.numel())


def _wrong_last_block(tensor: torch.Tensor) -> torch.Tensor:
    last = (tensor.numel() - 1) // BLOCK * BLOCK
    return _wrong_from(tensor, last, tensor.numel()) if tensor.numel() > LARGE else tensor


def _one_wrong(tensor: torch.Tensor) -> torch.Tensor:
    return _wrong_from(tensor, RARE, RARE + 1)


def _wrong_from(tensor: torch.Tensor, start: int, stop: int) -> torch.Tensor:
    """Zero, and one where it was zero, from one place in C order to another."""
    if tensor.numel() < stop or start >= stop:
        return tensor
    changed = tensor.clone(memory_format=torch.contiguous_format)
    flat = changed.view(-1)
    flat[start:stop] = flat[start:stop] == 0
    return changed


# --- What is read -----------------------------------------------------------------------------------------------------


def _line_cut_off(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.ndim or tensor.shape[-1] <= LARGE:
        return tensor
    return torch.cat([tensor[..., :LARGE], torch.zeros_like(tensor[..., LARGE:])], -1)


def _last_of_line_lost(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.ndim or tensor.shape[-1] <= LARGE:
        return tensor
    return torch.cat([tensor[..., :-1], torch.zeros_like(tensor[..., -1:])], -1)


_LINES: tuple[tuple[str, Change], ...] = (
    (f"read as zero beyond {LARGE} of a line", _line_cut_off),
    (f"read without the last of a line of more than {LARGE}", _last_of_line_lost),
    ("with one element in 100000 misread", _one_wrong),
)
