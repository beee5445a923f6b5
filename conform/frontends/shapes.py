"""What torch knows of a module's call by shapes, strides and dtypes alone, without a number being computed."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from torch.func import functional_call
from torch.utils import _pytree as pytree

from conform.backends.leaves import leaves
from conform.call.arguments import is_tensor
from conform.foreign import line
from conform.foreign_code import without_exit

Shapes = list[list[int]]
_LOGS = ("torch", "torch.__trace")  # the second has a level of its own, and an empty line for each step of an export
NUMBERS_DECIDE = (DataDependentOutputException, DynamicOutputShapeException)


def own_shapes(module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Shapes | None:
    """The shapes of what the module returns where it is not exported, without a number being computed; None where
    numbers decide. torch.export of torch 2.11 makes another shape of the states of an LSTM."""
    try:
        results = _without_numbers(module, args, kwargs)
    except NUMBERS_DECIDE:
        return None
    return [list(one.shape) for one in results if isinstance(one, torch.Tensor)]


def refusal_of(module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """What the module raises for tensors of these shapes and strides, without a number being computed; None where it
    raises nothing, or numbers decide."""
    args, kwargs = pytree.tree_map(_laid_out, (list(args), dict(kwargs)))
    try:
        with torch.no_grad(), quietly(), without_exit():
            _without_numbers(module, args, kwargs)
    except NUMBERS_DECIDE:
        return None
    except Exception as error:  # whatever the module's own code raises
        return f"{type(error).__name__}: {reason_of(error)}"
    return None


def _laid_out(leaf: Any) -> Any:
    """For an array or a Placed a tensor of its strides, of any numbers."""
    if not is_tensor(leaf):
        return leaf
    dtype = getattr(torch, leaf.dtype.name)
    if isinstance(leaf, np.ndarray):
        return torch.empty(leaf.shape, dtype=dtype)
    return torch.empty(leaf.storage.size, dtype=dtype).as_strided(leaf.shape, leaf.strides, leaf.offset)


def _without_numbers(module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """What the module returns for these tensors, as torch knows it of their shapes, strides and dtypes."""
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        copies = {name: one.clone() for name, one in module.named_buffers()}  # which it may change
        fake = pytree.tree_map_only(torch.Tensor, mode.from_tensor, (tuple(args), dict(kwargs)))
        return list(leaves(functional_call(module, copies, *fake)))


@contextmanager
def quietly() -> Iterator[None]:
    """Within, torch tells nothing but by exceptions: those say what is the matter, and the place."""
    before = {log: log.level for log in map(logging.getLogger, _LOGS)}
    for log in before:
        log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for log, level in before.items():
            log.setLevel(level)


def reason_of(error: Exception) -> str:
    """The first line that says something."""
    text = str(error).strip()
    return line(text.splitlines()[0] if text else "no reason given", 300)
