"""A Python function of torch as a module that calls it: what it means, torch.export's operators say."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from conform.errors import UsageError
from conform.frontends.modules import ModuleCall

_CARRIED = (torch.Tensor, np.ndarray, np.generic, bool, int, float, complex, str, type(None))


class FunctionModule(torch.nn.Module):
    """Calls `function`, with the arguments `held` beside those that it is given."""

    def __init__(self, function: Callable[..., Any], held: Mapping[str, Any]) -> None:
        super().__init__()
        self.function, self.held = function, dict(held)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs, **self.held)

    def _get_name(self) -> str:
        return name_of(self.function)


def function_call(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], travels: bool = False
) -> tuple[ModuleCall, list[Any], dict[str, Any]]:
    """The module that calls `function`, and the arguments that it then gets, by name where the function has names.

    What no call carries (a dtype, a function) the module holds. UsageError for arguments that the function has not;
    NoGolden for what `travels` to a worker and cannot be pickled.
    """
    positional, named = _by_name(function, args, kwargs)
    given = {key: value for key, value in named.items() if _is_carried(value)}
    held = {key: value for key, value in named.items() if key not in given}
    return ModuleCall.of(FunctionModule(function, held), name_of(function), travels), positional, given


def name_of(function: Callable[..., Any]) -> str:
    """`torch.nn.functional.normalize`, `torch.bilinear`, `torch.Tensor.view`."""
    if hasattr(function, "__objclass__"):  # a method of torch's tensors, which has no __module__
        return f"torch.Tensor.{function.__name__}"
    return f"{function.__module__ or 'torch'}.{function.__name__}"


def _by_name(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by name but `self`, which a module has of its own, those of `*args`, and of functions that do not tell
    their names."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return list(args), dict(kwargs)
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in signature.parameters.values()):
        return list(args), dict(kwargs)
    try:
        named = dict(signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise UsageError(f"{name_of(function)}: {error}") from None
    return [named.pop("self")] if "self" in named else [], named


def _is_carried(value: Any) -> bool:
    return all(isinstance(leaf, _CARRIED) for leaf in pytree.tree_leaves(value))
