"""What planted backends are made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import torch

from conform.selftest.plants.facts import Op, op_of
from conform.selftest.plants.honest import Honest

HALVES = (torch.float16, torch.bfloat16)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
# What torch raises on arguments that it refuses, the last in libraries written in Python.
REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, AssertionError)


class Planted(Honest):
    """torch on the CPU, or the golden where it has no kernel, with one defect. A subclass overrides `wrong`, or
    `operand` or `result`.

    bug   its class in the tables of real backend bugs (M01 to M45, R1, H1 to H8)
    about what a sentence must be about that tells its failing cases from passing ones: subjects of conditions
          (`conform/findings/`), or how they begin; none where nothing does that the kit looks at
    looks_like  words of the causes that it may be taken for
    ops   globs of the ops or overloads that it touches; a subclass whose ops follow from facts overrides `touches`
    """

    name = "planted"
    bug = ""
    about: tuple[str, ...] = ()
    looks_like: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    updated: tuple[tuple[torch.Tensor, torch.Tensor], ...] = ()  # what the call at hand is to change, and a copy of it

    @classmethod
    def touches(cls, op: Op) -> bool:
        """Whether the op can have the defect."""
        return any(fnmatchcase(name, glob) for glob in cls.ops for name in (op.name, op.packet))

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not self.touches(op_of(op)):
            return self.honest(op, args, kwargs)
        return self.wrong(op, *_completed(op, args, kwargs))

    def honest(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What torch answers, a Python number as the 0-d tensor of what it is, so that defects of results alter it. It
        may be asked several times in a call: what is updated is before each as it was."""
        for tensor, before in self.updated:
            tensor.copy_(before)
        answer = super().run(op, args, kwargs)
        return torch.tensor(answer, dtype=NUMBERS[type(answer)]) if type(answer) in NUMBERS else answer

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The call with the defect: tensors go in through `operand` and come out through `result`.

        `args` holds every argument of the schema that may be positional, defaults too; `kwargs` those given of the
        others.
        """
        args, kwargs = mapped(self.operand, args), mapped(self.operand, kwargs)
        return mapped(self.result, self.honest(op, args, kwargs))

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor


def _completed(op: str, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The call with everything positional that can be. A number for a list of n is n of them."""
    schema = op_of(op).spec.schema
    rest, positional = dict(kwargs), []
    for place, one in enumerate(schema.arguments[: schema.positional_count]):
        if place >= len(args) and one.name not in rest and not one.has_default:
            return args, kwargs  # torch refuses it
        value = args[place] if place < len(args) else rest.pop(one.name, one.default)
        size = re.fullmatch(r"\w+\[(\d+)\]\??", one.type)
        positional.append([value] * int(size[1]) if size and isinstance(value, int) else value)
    return positional, rest


def base(op: str) -> str:
    """`op` without its overload."""
    return op.partition(".")[0]


def mapped(function: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    """`function` on every tensor of a value."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: mapped(function, item) for key, item in value.items()}
    if isinstance(value, list):
        return [mapped(function, item) for item in value]
    if isinstance(value, tuple):
        return tuple(mapped(function, item) for item in value)
    return value


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor of a value, in order."""
    found: list[torch.Tensor] = []
    mapped(lambda tensor: found.append(tensor) or tensor, value)
    return found


def with_argument(
    op: str, args: list[Any], kwargs: dict[str, Any], name: str, change: Callable[[Any], Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with the one called `name`, or its default, as `change` makes it."""
    names = [argument.name for argument in op_of(op).spec.schema.arguments]
    place = names.index(name)
    if place < len(args):
        return [*args[:place], change(args[place]), *args[place + 1 :]], kwargs
    default = op_of(op).spec.schema.arguments[place].default
    return args, {**kwargs, name: change(kwargs.get(name, default))}


def value_of(op: str, args: list[Any], kwargs: dict[str, Any], name: str, absent: Any = None) -> Any:
    """What the argument called `name` is; `absent` where the op has none."""
    if all(one.name != name for one in op_of(op).spec.schema.arguments):
        return absent
    held: list[Any] = []
    with_argument(op, args, kwargs, name, held.append)
    return held[0]


def on_data(
    op: str, args: list[Any], kwargs: dict[str, Any], function: Callable[[torch.Tensor], torch.Tensor]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with `function` on every tensor that is neither an index nor a mask."""
    for one in op_of(op).data:
        args, kwargs = with_argument(op, args, kwargs, one.name, lambda given: mapped(function, given))
    return args, kwargs


def in_dtypes_of(expected: Any, results: Any) -> Any:
    """`results` with each tensor in the dtype that the one in `expected` has."""
    dtypes = iter([tensor.dtype for tensor in tensors_in(expected)])
    return mapped(lambda tensor: tensor.to(next(dtypes)), results)


def lists_positions(index: torch.Tensor | None) -> bool:
    """Whether an index of index_put is a list of positions, neither a mask nor a whole dim."""
    return index is not None and index.dtype != torch.bool


def storage_of(tensor: torch.Tensor) -> torch.Tensor:
    """The whole storage as a flat tensor."""
    return torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
