"""An operator as a torch module, so that a backend is asked for it on the way by which it is asked for modules."""

from __future__ import annotations

from typing import Any

import torch


class OneOp(torch.nn.Module):
    """Calls `op` ("aten::linear", "aten::add.Tensor") with what it is given, names standing for torch's constants."""

    def __init__(self, op: str) -> None:
        super().__init__()
        packet, _, overload = op.removeprefix("aten::").partition(".")
        self.op, self.packet, self.overload = op, packet, overload or "default"
        self.types = {one.name: str(one.type) for one in self._target()._schema.arguments}

    def _target(self) -> torch._ops.OpOverload:
        return getattr(getattr(torch.ops.aten, self.packet), self.overload)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """A program that torch.compile takes, so the schema is read before."""
        positional = [_held(value, type_) for value, type_ in zip(args, list(self.types.values()), strict=False)]
        return self._target()(*positional, **{name: _held(value, self.types[name]) for name, value in kwargs.items()})


def _held(value: Any, type_: str) -> Any:
    """torch's constant where a name stands for one; torch's schemas type these as int."""
    return getattr(torch, value) if isinstance(value, str) and "str" not in type_.lower() else value
