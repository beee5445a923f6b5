"""Defects that every op can have, from its schema and spec: an argument, a layout, a result taken wrongly."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from conform.inputs.layouts import Placed
from conform.interp.semantics import traits_of
from conform.selftest.plants.alterations import NARROWER, WIDER, Alteration, alterations, same
from conform.selftest.plants.base import REFUSALS, Planted, mapped, storage_of, tensors_in, with_argument
from conform.selftest.plants.facts import Op, tensors_of

SIZES = ("elements", "last dim", "terms")  # what a sentence about sizes is about
Given = Mapping[str, Any]  # the arguments of a case by name, tensors as numpy arrays or `Placed`


@dataclass(frozen=True)
class Plant:
    """One defect of one op.

    defect    in words, or the name of a written class
    bug       the class of real bugs that it belongs to
    make      a backend that has it
    concerns  whether it can change the call of these arguments; where not, the call is that of the unplanted backend
    about     what a sentence must be about that tells its failing cases from passing ones, and
    looks_like the causes that it may be taken for: as `Planted` has them
    """

    op: str
    defect: str
    bug: str
    make: Callable[[], Planted]
    concerns: Callable[[Given], bool] = lambda _: True
    about: tuple[str, ...] = ()
    looks_like: tuple[str, ...] = ()


def enumerated(op: Op) -> Iterator[Plant]:
    """Every defect of the op that follows from its schema and spec."""
    yield from _of_arguments(op)
    yield from _of_layouts(op)
    yield from _of_results(op)


# --- Arguments --------------------------------------------------------------------------------------------------------


def _of_arguments(op: Op) -> Iterator[Plant]:
    for one in alterations(op):
        bug = "M28" if one.argument == "dtype" else "M37"
        is_read = one.what.startswith(f"{one.argument} read")  # everywhere, where there are elements
        about = () if is_read else (one.argument,)
        yield Plant(op.name, one.what, bug, partial(Altered, one), partial(_differs, one), about)
    for first, second in zip(op.data, op.data[1:], strict=False):
        if _can_swap(op, first.name, second.name):
            make = partial(Swapped, first.name, second.name)
            yield Plant(op.name, f"{first.name} and {second.name} swapped", "M43", make)


def _can_swap(op: Op, first: str, second: str) -> bool:
    """Whether two arguments can have one shape and dtype, and their order means something."""
    if traits_of(op.name).commutes:
        return False
    pairs = [(call.arguments[first], call.arguments[second]) for call in op.calls]
    return any(
        one.type.is_tensor and other.type.is_tensor and not one.optional and not other.optional
        and (one.shape, one.dtype) == (other.shape, other.dtype)
        for one, other in pairs
    )  # fmt: skip


def _differs(one: Alteration, every: Given) -> bool:
    given = every.get(one.argument)
    if given is None or _is_tensor(given) or isinstance(given, list) and any(map(_is_tensor, given)):
        return given is not None
    return not same(given, one.change(given))


def _is_tensor(value: object) -> bool:
    return hasattr(value, "ndim")


class Answering(Planted):
    """A defect of an answer: a call that torch refuses, as it is or as the defect makes it, is answered as torch does.
    So what is caught is a wrong result of a valid call."""

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        try:
            return self.answer(op, args, kwargs, expected)
        except REFUSALS:
            return expected

    def answer(self, op: str, args: list[Any], kwargs: dict[str, Any], expected: Any) -> Any:
        raise NotImplementedError


class Altered(Answering):
    """Works with an argument as an alteration makes it."""

    def __init__(self, one: Alteration) -> None:
        super().__init__()
        self.one = one

    def answer(self, op: str, args: list[Any], kwargs: dict[str, Any], expected: Any) -> Any:
        return self.honest(op, *with_argument(op, args, kwargs, self.one.argument, self._changed))

    def _changed(self, given: Any) -> Any:
        if not isinstance(given, torch.dtype):
            return self.one.change(given)
        name = self.one.change(str(given).removeprefix("torch."))
        return name if name is None else getattr(torch, name)


class Swapped(Answering):
    """Reads each of two arguments for the other, where both have one shape and dtype."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__()
        self.first, self.second = first, second

    def answer(self, op: str, args: list[Any], kwargs: dict[str, Any], expected: Any) -> Any:
        held: list[Any] = []
        with_argument(op, args, kwargs, self.first, held.append)
        with_argument(op, args, kwargs, self.second, held.append)
        one, other = held
        if one is None or other is None or (one.shape, one.dtype) != (other.shape, other.dtype):
            return expected
        args, kwargs = with_argument(op, args, kwargs, self.first, lambda _: other)
        return self.honest(op, *with_argument(op, args, kwargs, self.second, lambda _: one))


# --- Layouts of one argument ------------------------------------------------------------------------------------------


class OfArgument(Planted):
    """A defect in reading or sparing the tensors of one argument."""

    def __init__(self, argument: str) -> None:
        super().__init__()
        self.argument = argument

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        read = with_argument(op, args, kwargs, self.argument, lambda given: mapped(self.operand, given))
        return self.honest(op, *read)

    def tensors(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> list[torch.Tensor]:
        """The tensors of the argument."""
        held: list[Any] = []
        with_argument(op, args, kwargs, self.argument, held.append)
        return tensors_in(held)


class IgnoresStrides(OfArgument):
    """Reads the storage in order, whatever the strides (pytorch#78043, pytorch#161641, pytorch#192212)."""

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        flat = storage_of(tensor)[tensor.storage_offset() :]
        return tensor if flat.numel() < tensor.numel() else flat[: tensor.numel()].reshape(tensor.shape)


class DropsOffset(OfArgument):
    """Starts at the beginning of the storage (torch-spyre#3770, pytorch#108472)."""

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.as_strided(tensor.shape, tensor.stride(), 0)


class DropsOffsetOfZeroDim(DropsOffset):
    """Starts at the beginning of the storage where a tensor is one element of a longer one (pytorch#187117)."""

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return super().operand(tensor) if tensor.ndim == 0 else tensor


class IgnoresExpansion(OfArgument):
    """Takes what an expanded tensor repeats for memory that nothing was written to."""

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        for dim, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
            if size > 1 and stride == 0:
                changed = tensor.clone(memory_format=torch.contiguous_format)
                changed.narrow(dim, 1, size - 1).zero_()
                return changed
        return tensor


class ChangesInput(OfArgument):
    """Adds one to the first element of a tensor, after the result is computed (pytorch#183419)."""

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = mapped(torch.clone, self.honest(op, args, kwargs))
        for tensor in self.tensors(op, args, kwargs):
            flat = storage_of(tensor)
            flat[:1] = ~flat[:1] if flat.dtype == torch.bool else torch.where(flat[:1] == 1, 2, 1).to(flat.dtype)
        return result


class WritesBehindInput(OfArgument):
    """Writes one byte too many, behind a tensor (pytorch#183419)."""

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        for tensor in self.tensors(op, args, kwargs):
            storage = tensor.untyped_storage()
            if storage.nbytes():
                ctypes.memset(storage.data_ptr() + storage.nbytes(), 1, 1)
        return self.honest(op, args, kwargs)


class WorksInPlace(OfArgument):
    """Writes its result over a tensor of the same shape and dtype, and returns that."""

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        for tensor in self.tensors(op, args, kwargs):
            if isinstance(result, torch.Tensor) and (tensor.shape, tensor.dtype) == (result.shape, result.dtype):
                return tensor.copy_(result)
        return result


def _of_layouts(op: Op) -> Iterator[Plant]:
    for one in op.tensors:
        made: list[tuple[str, str, type[OfArgument], bool]] = [
            ("strides of {} ignored", "M01", IgnoresStrides, True),
            ("offset of {} dropped", "M02", DropsOffset, True),
            ("expansion of {} ignored", "M03", IgnoresExpansion, True),
            ("{} changed", "M05", ChangesInput, False),
            ("a byte behind {} written", "M05", WritesBehindInput, False),
        ]
        if 0 in op.ranks(one.name):
            made.append(("offset of 0-d {} dropped", "M02", DropsOffsetOfZeroDim, True))
        if op.traits.pointwise and _gives_what_it_holds(op, one.name):
            made.append(("result written over {}", "M05", WorksInPlace, False))
        for text, bug, kind, is_of_layout in made:
            concerns = partial(_is_placed if is_of_layout else _is_given, one.name)
            about = (f"layout of {one.name}", "layout") if is_of_layout else ()
            yield Plant(op.name, text.format(one.name), bug, partial(kind, one.name), concerns, about)


def _is_given(argument: str, every: Given) -> bool:
    return every.get(argument) is not None


def _is_placed(argument: str, every: Given) -> bool:
    """Whether a tensor of the argument lies in memory otherwise than contiguous from the start."""
    given = every.get(argument)
    return any(isinstance(each, Placed) for each in (given if isinstance(given, list) else [given]))


def _gives_what_it_holds(op: Op, argument: str) -> bool:
    """Whether the one result can have shape and dtype of a tensor of the argument, and elements."""
    return any(
        (each.shape, each.dtype) == (call.results[0].shape, call.results[0].dtype) and each.numel
        for call in op.calls
        for each in tensors_of(call.arguments[argument])
        if len(call.results) == 1
    )


# --- Results ----------------------------------------------------------------------------------------------------------


class GivesAnother(Answering):
    """Every result as a function makes it."""

    def __init__(self, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.change = change

    def answer(self, op: str, args: list[Any], kwargs: dict[str, Any], expected: Any) -> Any:
        return mapped(self.change, expected)


class GivesDtypeOf(Answering):
    """Results in the dtype of an argument's first tensor (pytorch#197091, pytorch#78879)."""

    def __init__(self, argument: str) -> None:
        super().__init__()
        self.argument = argument

    def answer(self, op: str, args: list[Any], kwargs: dict[str, Any], expected: Any) -> Any:
        held: list[Any] = []
        with_argument(op, args, kwargs, self.argument, held.append)
        first = tensors_in(held)[:1]
        return mapped(lambda tensor: tensor.to(first[0].dtype), expected) if first else expected


class LeavesEmptyUnwritten(Answering):
    """What is computed of no elements is what the memory held (pytorch#139446, tvm#19578)."""

    def answer(self, op: str, args: list[Any], kwargs: dict[str, Any], expected: Any) -> Any:
        is_empty = any(tensor.numel() == 0 for tensor in tensors_in([args, kwargs]))
        return mapped(torch.empty_like, expected) if is_empty else expected


def _in_dtype(names: Mapping[str, str]) -> Callable[[torch.Tensor], torch.Tensor]:
    def change(tensor: torch.Tensor) -> torch.Tensor:
        name = str(tensor.dtype).removeprefix("torch.")
        return tensor.to(getattr(torch, names.get(name, name)))

    return change


def _one_short(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.narrow(-1, 0, tensor.shape[-1] - 1) if tensor.ndim and tensor.numel() else tensor


def _of_results(op: Op) -> Iterator[Plant]:
    made: list[tuple[str, str, Callable[[torch.Tensor], torch.Tensor]]] = [
        ("result in a wider dtype", "M28", _in_dtype(WIDER)),
        ("result with a dim too many", "M09", lambda tensor: tensor.unsqueeze(0)),
    ]
    if any(dtype in NARROWER for dtype in op.gives):
        made.append(("result in a narrower dtype", "M28", _in_dtype(NARROWER)))
    if 0 in op.result_ranks:
        made.append(("0-d result as 1-d", "M09", torch.atleast_1d))
    if max(op.result_ranks) > 0:
        made.append(("result one element short", "M09", _one_short))
    if max(op.result_ranks) > 1:
        made.append(("result transposed", "M09", lambda tensor: tensor.mT if tensor.ndim > 1 else tensor))
        made.append(("result flattened", "M09", lambda tensor: tensor.flatten()))
    for text, bug, change in made:
        yield Plant(op.name, text, bug, partial(GivesAnother, change))
    for one in op.data:
        if any(_dtype_differs(call.results, tensors_of(call.arguments[one.name])) for call in op.calls):
            make = partial(GivesDtypeOf, one.name)
            yield Plant(op.name, f"result in the dtype of {one.name}", "M28", make, about=("dtypes", "dtype"))
    if any(call.has_empty_operand and call.results[0].numel for call in op.calls):
        yield Plant(op.name, "result of no elements unwritten", "M06", LeavesEmptyUnwritten, about=SIZES)


def _dtype_differs(results: Any, held: list[Any]) -> bool:
    return bool(held) and any(one.dtype != held[0].dtype for one in results)
