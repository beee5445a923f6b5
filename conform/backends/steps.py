"""The operators of a torch module one after the other, as a module of its own.

A backend that keeps every intermediate result is asked for one that returns what each operator gives, so that each can
be judged by itself; a folded module is one, too.
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
    """Runs the steps on tensors of the names `arguments`, in the order of torch's leaves, and on those it holds, and
    returns those of the names `results`: one tensor, or a tuple."""

    def __init__(
        self, arguments: Sequence[str], held: Mapping[str, torch.Tensor], steps: Sequence[Step],
        results: Sequence[str],
    ) -> None:  # fmt: skip
        super().__init__()
        self.arguments, self.steps, self.results = tuple(arguments), tuple(steps), tuple(results)
        self.ops = torch.nn.ModuleDict({str(at): OneOp(name) for at, name in enumerate(self._names())})
        self.held = {name: f"held_{at}" for at, name in enumerate(held)}
        for name, tensor in held.items():
            self.register_buffer(self.held[name], tensor)

    def _names(self) -> list[str]:
        return list(dict.fromkeys(step.op for step in self.steps))

    def forward(self, *args: Any, **kwargs: Any) -> torch.Tensor | tuple[torch.Tensor, ...]:
        given = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        scope = {name: getattr(self, place) for name, place in self.held.items()}
        scope |= dict(zip(self.arguments, given, strict=True))
        ops = dict(zip(self._names(), self.ops.values(), strict=True))
        device = next((tensor.device for tensor in scope.values()), None)
        for step in self.steps:
            named = {name: filled(value, scope) for name, value in step.kwargs.items()}
            if takes_device(step.op):
                named["device"] = device
            outputs = ops[step.op](*(filled(value, scope) for value in step.args), **named)
            outputs = outputs if isinstance(outputs, list | tuple) else (outputs,)
            scope |= {name: one for name, one in zip(step.results, outputs, strict=True) if name is not None}
        found = tuple(scope[name] for name in self.results)
        return found[0] if len(found) == 1 else found


def filled(value: Any, scope: Mapping[str, torch.Tensor]) -> Any:
    """The value with the tensor of its name in each place."""
    if isinstance(value, Place):
        return scope[value.name]
    if isinstance(value, list | tuple):
        return type(value)([filled(item, scope) for item in value])
    return {key: filled(item, scope) for key, item in value.items()} if isinstance(value, dict) else value
