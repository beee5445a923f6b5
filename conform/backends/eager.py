"""A torch module on a backend of operators: eager torch takes it apart, the backend computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from conform.backends.base import Backend


def run_by_operators(backend: Backend, module: torch.nn.Module, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What `module` returns, without gradients, each operator that computes run by `backend.run`.

    Views and writes into tensors stay torch's: they are memory, which no result of a backend could share.
    """
    with torch.no_grad(), _Through(backend):
        return module(*args, **kwargs)


class _Through(TorchDispatchMode):
    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.backend = backend

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Else torch imports its compiler for the first operator, a second and a half of each worker."""
        return False

    def __torch_dispatch__(
        self, function: torch._ops.OpOverload, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        schema, given = function._schema, kwargs or {}
        if schema.is_mutable or any(one.alias_info is not None for one in schema.returns):
            return function(*args, **given)
        overload = f".{function._overloadname}" if function._overloadname != "default" else ""
        result = self.backend.run(f"{schema.name}{overload}", list(args), given)
        return _on_the_cpu(result)


def _on_the_cpu(result: Any) -> Any:
    if isinstance(result, torch.Tensor):
        return result.cpu()
    return type(result)(map(_on_the_cpu, result)) if type(result) in (list, tuple) else result
