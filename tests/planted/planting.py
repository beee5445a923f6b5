"""What planted backends are made of."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import torch

from conform.backends.torch_device import TorchDevice


class Planted(TorchDevice):
    """torch on the CPU with one defect; `bug` is its class in the tables of real backend bugs, `ops` what it touches."""

    bug = ""
    ops: tuple[str, ...] = ("*",)
    remembers = False  # whether a result depends on the calls before it
    name = "planted"

    def __init__(self) -> None:
        super().__init__("cpu")

    @classmethod
    def touches(cls, op: str) -> bool:
        """Whether the defect shows in this overload."""
        return any(fnmatchcase(op, glob) or fnmatchcase(op.partition(".")[0], glob) for glob in cls.ops)

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not self.touches(op):
            return self.honest(op, args, kwargs)
        return self.wrong(op, args, kwargs)

    def honest(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return super().run(op, args, kwargs)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The call with the defect: by default on `operands`, with every result tensor through `result`."""
        args, kwargs = mapped(self.operand, args), mapped(self.operand, kwargs)
        return mapped(self.result, self.honest(op, args, kwargs))

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor


def mapped(function: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    """`function` on every tensor of a value."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: mapped(function, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(mapped(function, item) for item in value) if type(value) in (list, tuple) else tuple(
            mapped(function, item) for item in value
        )
    return value


def storage_of(tensor: torch.Tensor) -> torch.Tensor:
    """The whole storage as a flat tensor."""
    return torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
