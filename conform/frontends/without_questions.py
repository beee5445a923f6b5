"""Functions of torch whose Python code asks for the numbers in a tensor, which no export knows: their definition, with
what is asked as an assertion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode


class WithoutQuestions(TorchFunctionMode):
    """Within, these functions are called by their definitions here."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return _DEFINITIONS.get(func, func)(*args, **(kwargs or {}))


def _gaussian_nll_loss(
    input: torch.Tensor,
    target: torch.Tensor,
    var: torch.Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> torch.Tensor:
    """(log(max(var, eps)) + (input - target)^2 / max(var, eps)) / 2, and log(2 pi) / 2 more if `full`; var, which is
    not negative, has the shape of input, or a dim of size 1 in it, or none in the last dim's place, or is a number
    (torch.nn.GaussianNLLLoss). ValueError for other shapes and reductions, and for a negative number."""
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    variances = _variances(input, var).clamp(min=eps)
    loss = 0.5 * (variances.log() + (input - target) ** 2 / variances)
    return _REDUCTIONS[reduction](loss + 0.5 * math.log(2 * math.pi) if full else loss)


def _variances(input: torch.Tensor, var: torch.Tensor | float) -> torch.Tensor:
    if not isinstance(var, torch.Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return torch.full_like(input, var)
    torch._assert_async(torch.logical_not((var < 0).any()), "var has no negative entry")
    if var.shape == input.shape[:-1] and var.dim() < input.dim():
        return var.unsqueeze(-1)
    others = [size for size, whole in zip(var.shape, input.shape, strict=False) if size != whole]
    if var.dim() != input.dim() or others not in ([], [1]):
        raise ValueError("var is of incorrect size")
    return var


_REDUCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda loss: loss, "mean": lambda loss: loss.mean(), "sum": lambda loss: loss.sum(),
}  # fmt: skip
_DEFINITIONS: dict[Any, Callable[..., Any]] = {functional.gaussian_nll_loss: _gaussian_nll_loss}
