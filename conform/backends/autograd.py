"""Gradients of what a backend computes, by torch's autograd."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from conform.backends.leaves import leaves
from conform.errors import Unsupported

_NOT_IMPLEMENTED = re.compile(r"derivative for \S+ is not implemented")  # VariableTypeUtils of torch


def gradients_of(
    run: Callable[[], Any], wanted: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor | None]
) -> list[torch.Tensor]:
    """The gradients of the tensors `wanted`, leaves that `run` reads: of the sum of cotangent * output over the outputs
    that have a cotangent. Zeros of a tensor on which no output depends.

    Unsupported where no output carries a graph, or where `run` takes no tensors that require a gradient.
    """
    for one in wanted:
        one.requires_grad_()
    with torch.enable_grad():
        outputs = list(leaves(_with_graph(run, wanted)))
    if len(outputs) != len(cotangents):
        raise ValueError(f"{len(outputs)} outputs, expected {len(cotangents)}: one for each cotangent")
    pairs = [(output, g) for output, g in zip(outputs, cotangents, strict=True) if g is not None]
    pairs = [(output, g) for output, g in pairs if isinstance(output, torch.Tensor) and output.requires_grad]
    if not pairs:
        raise Unsupported("no output carries a graph of autograd")
    moved = [g.to(output.device) for output, g in pairs]
    try:
        return list(
            torch.autograd.grad(
                [output for output, _ in pairs], list(wanted), moved, allow_unused=True, materialize_grads=True
            )
        )
    except RuntimeError as error:
        if _NOT_IMPLEMENTED.fullmatch(str(error)):
            raise Unsupported(str(error)) from None
        raise


def _with_graph(run: Callable[[], Any], wanted: Sequence[torch.Tensor]) -> Any:
    """What `run` returns. What fails only where a gradient is required is no kernel for autograd."""
    try:
        return run()
    except Exception as error:
        for one in wanted:
            one.requires_grad_(False)
        with torch.no_grad():
            run()  # raises what has nothing to do with gradients
        raise Unsupported(f"no graph of autograd: {type(error).__name__}: {error}") from None


def tensors_of(args: Sequence[Any], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Every tensor of a call's arguments, in their order, lists flattened."""
    return [one for one in leaves([*args, *kwargs.values()]) if isinstance(one, torch.Tensor)]
