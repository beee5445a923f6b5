"""Backends that are torch but for one op, by name: `planted.py::Wrong(plant="no bias")`."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import torch

from conform.backends import TorchDevice
from conform.errors import Unsupported

aten = torch.ops.aten


def aborts(*args: Any, **kwargs: Any) -> Any:
    os.abort()


def aborts_later(x: torch.Tensor, **by: Any) -> torch.Tensor:
    threading.Timer(0.1, os.abort).start()
    return aten.gelu(x, **by)


def hangs(*args: Any, **kwargs: Any) -> Any:
    time.sleep(60)


def refuses(*args: Any, **kwargs: Any) -> Any:
    raise Unsupported("no such kernel")


PLANTS = {
    "none": ("", None),
    "transposed weight": ("aten::addmm", lambda a, b, c, **by: aten.addmm(a, b, c.t() if len(c) == len(c.t()) else c)),
    "no bias": ("aten::addmm", lambda a, b, c, **by: b @ c),
    "gelu by tanh": ("aten::gelu", lambda x, approximate="none": aten.gelu(x, approximate="tanh")),
    "eps of layer norm": ("aten::native_layer_norm", lambda x, s, w, b, e: aten.native_layer_norm(x, s, w, b, 1e-5)),
    "eps of batch norm": (
        "aten::native_batch_norm",
        lambda x, w, b, m, v, training, t, e: aten.native_batch_norm(x, w, b, m, v, training, t, 1e-5),
    ),
    "no mask": (
        "aten::_scaled_dot_product_flash_attention_for_cpu",
        lambda q, k, v, *rest, **by: aten._scaled_dot_product_flash_attention_for_cpu(q, k, v),
    ),
    "padding": (
        "aten::convolution",
        lambda x, w, b, s, p, *rest: aten.convolution(x.roll(1, -1) if p[0] else x, w, b, s, p, *rest),
    ),
    "aborts": ("aten::gelu", aborts),
    "aborts later": ("aten::gelu", aborts_later),
    "hangs": ("aten::gelu", hangs),
    "refuses": ("aten::gelu", refuses),
    "halves": ("aten::gelu", lambda x, **by: aten.gelu(x, **by).half()),
}


class Wrong(TorchDevice):
    name = "wrong"

    def __init__(self, plant: str = "none") -> None:
        super().__init__()
        self.op, self.change = PLANTS[plant]

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.change(*args, **kwargs) if op == self.op else super().run(op, args, kwargs)


class Fused(TorchDevice):
    """Right op by op, wrong as a whole."""

    name = "fused"

    def run_module(self, module: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return super().run_module(module, args, kwargs) * (1.0 if hasattr(module, "packet") else 1.01)
