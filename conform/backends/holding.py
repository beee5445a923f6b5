"""A torch module and the arguments of its call as one module without arguments: all that it needs are constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from conform.backends.steps import Place, filled


class Holding(torch.nn.Module):
    """Calls `module` with what it holds, which a compiler may compute with. Tensors stand in lists, tuples and dicts."""

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
