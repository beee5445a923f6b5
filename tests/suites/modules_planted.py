"""Backends that are torch but for one module's argument, by name: `modules_planted.py::Wrong(plant="eps")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from conform.backends import TorchDevice


def _set(name: str, change: Callable[[Any], Any]) -> Callable[[torch.nn.Module], None]:
    def plant(module: torch.nn.Module) -> None:
        for part in module.modules():
            if hasattr(part, name):
                setattr(part, name, change(getattr(part, name)))

    return plant


def _unbiased(module: torch.nn.Module) -> None:
    """Statistics of the batch, of which the variance is that of a sample."""

    def forward(x: torch.Tensor) -> torch.Tensor:
        dims = [dim for dim in range(x.ndim) if dim != 1]
        variance, mean = torch.var_mean(x, dims, correction=1)
        return torch.nn.functional.batch_norm(x, mean, variance, module.weight, module.bias, eps=module.eps)

    module.forward = forward


PLANTS: dict[str, Callable[[torch.nn.Module], None]] = {
    "eps": _set("eps", lambda eps: 2e-5 if eps is None or eps == 1e-5 else eps * 1.25),
    "unbiased": _unbiased,
    "padding mode": lambda module: setattr(module, "padding_mode", "zeros"),
    "slope": _set("negative_slope", lambda slope: slope + 0.01),
    "align_corners": _set("align_corners", lambda aligned: not aligned),
    "count_include_pad": _set("count_include_pad", lambda included: not included),
    "ceil_mode": _set("ceil_mode", lambda ceil: False),
    "approximate": _set("approximate", lambda kind: "none" if kind == "tanh" else "tanh"),
    "label_smoothing": _set("label_smoothing", lambda share: 0.0),
    "norm_first": _set("norm_first", lambda first: not first),
    "beta": _set("beta", lambda beta: beta * 1.01),
}


class Wrong(TorchDevice):
    name = "wrong"

    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = PLANTS[plant]

    def run_module(self, module: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        self.plant(module)
        return super().run_module(module, args, kwargs)
