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
    """Calls `function`, with the arguments `held`, by place or name, beside those that it is given."""

    def __init__(self, function: Callable[..., Any], held: Mapping[int | str, Any]) -> None:
        super().__init__()
        self.function = function
        self.placed = [(place, value) for place, value in held.items() if isinstance(place, int)]  # from first to last
        self.named = {name: value for name, value in held.items() if isinstance(name, str)}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        every = list(args)
        for place, value in self.placed:
            every.insert(place, value)
        return self.function(*every, **kwargs, **self.named)

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
    every = {**dict(enumerate(positional)), **named}
    held = {key: value for key, value in every.items() if not _is_carried(value)}
    given = [value for place, value in enumerate(positional) if place not in held]
    call = ModuleCall.of(FunctionModule(function, held), name_of(function), travels)
    return call, given, {name: value for name, value in named.items() if name not in held}


def name_of(function: Callable[..., Any]) -> str:
    """`torch.nn.functional.normalize`, `torch.bilinear`, `torch.Tensor.view`."""
    if hasattr(function, "__objclass__"):  # a method of torch's tensors, which has no __module__
        return f"torch.Tensor.{function.__name__}"
    return f"{function.__module__ or 'torch'}.{function.__name__}"


def _by_name(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by name but `self`, which a module has of its own, those that stand before `/` or in `*args`, and of
    functions that do not tell their names."""
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
    by_place = [name for name, one in signature.parameters.items() if one.kind is one.POSITIONAL_ONLY or name == "self"]
    return [named.pop(name) for name in by_place if name in named], named


def _is_carried(value: Any) -> bool:
    return all(isinstance(leaf, _CARRIED) for leaf in pytree.tree_leaves(value))
