"""The operators of a torch module one after the other, as a module that returns what each of them gives.

A backend that keeps every intermediate result is asked for it, so that each operator can be judged by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from conform.backends.one_op import OneOp
from conform.backends.torch_device import takes_device


class Place(NamedTuple):
    """Stands for the tensor of this name among an operator's arguments."""

    name: str


class Step(NamedTuple):
    """A call of an operator; `results`: a name for each of its outputs, None for one that nobody uses."""

    op: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    results: tuple[str | None, ...]


class Steps(torch.nn.Module):
    """Runs the steps on tensors of the names `arguments`, in the order of torch's leaves, and on those it holds."""

    def __init__(self, arguments: Sequence[str], held: Mapping[str, torch.Tensor], steps: Sequence[Step]) -> None:
        super().__init__()
        self.arguments, self.steps = tuple(arguments), tuple(steps)
        self.ops = torch.nn.ModuleDict({str(at): OneOp(name) for at, name in enumerate(self._names())})
        self.held = {name: f"held_{at}" for at, name in enumerate(held)}
        for name, tensor in held.items():
            self.register_buffer(self.held[name], tensor)

    def _names(self) -> list[str]:
        return list(dict.fromkeys(step.op for step in self.steps))

    def forward(self, *args: Any, **kwargs: Any) -> list[torch.Tensor]:
        """The results of all steps that somebody uses, in order."""
        given = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        scope = {name: getattr(self, place) for name, place in self.held.items()}
        scope |= dict(zip(self.arguments, given, strict=True))
        ops = dict(zip(self._names(), self.ops.values(), strict=True))
        device = next((tensor.device for tensor in scope.values()), None)
        made: list[torch.Tensor] = []
        for step in self.steps:
            named = {name: _filled(value, scope) for name, value in step.kwargs.items()}
            if takes_device(step.op):
                named["device"] = device
            outputs = ops[step.op](*(_filled(value, scope) for value in step.args), **named)
            outputs = outputs if isinstance(outputs, list | tuple) else (outputs,)
            used = {name: one for name, one in zip(step.results, outputs, strict=True) if name is not None}
            scope |= used
            made += used.values()
        return made


def _filled(value: Any, scope: Mapping[str, torch.Tensor]) -> Any:
    if isinstance(value, Place):
        return scope[value.name]
    return [_filled(item, scope) for item in value] if isinstance(value, list) else value
