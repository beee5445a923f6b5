"""A torch module with arguments of its call as one module: all of them, so that all that it needs are constants, or
those that no call carries, objects of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from conform.backends.steps import Place, filled


class Holding(torch.nn.Module):
    """Calls `module` with what it holds, which a compiler may compute with. Tensors are in lists, tuples and dicts."""

    def __init__(self, module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        super().__init__()
        self.module, self.held = module, []
        self.args, self.kwargs = self._placed(list(args)), self._placed(dict(kwargs))
        self.eval()

    def _placed(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            name = f"argument_{len(self.held)}"
            self.held.append(name)
            self.register_buffer(name, value)
            return Place(name)
        if isinstance(value, list | tuple):
            return type(value)([self._placed(item) for item in value])
        return {key: self._placed(item) for key, item in value.items()} if isinstance(value, dict) else value

    def forward(self) -> Any:
        scope = {name: getattr(self, name) for name in self.held}
        return self.module(*filled(self.args, scope), **filled(self.kwargs, scope))


class Object(NamedTuple):
    """Stands for an argument that is no tensor or Python value."""

    it: Any


class WithObjects(torch.nn.Module):
    """Calls `module` with the arguments that it gets, and in the places of the Objects in `args` and `kwargs` these."""

    def __init__(self, module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        super().__init__()
        self.module, self.args, self.kwargs = module, list(args), dict(kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        given = [_with_objects(*pair) for pair in zip(args, self.args, strict=True)]
        return self.module(*given, **{key: _with_objects(value, self.kwargs[key]) for key, value in kwargs.items()})


def _with_objects(value: Any, beside: Any) -> Any:
    if isinstance(beside, Object):
        return beside.it
    if isinstance(beside, list | tuple):
        return type(value)([_with_objects(*pair) for pair in zip(value, beside, strict=True)])
    return {key: _with_objects(value[key], beside[key]) for key in value} if isinstance(beside, dict) else value
