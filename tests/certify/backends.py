"""Backends that are certified: one that is right, one whose exp is not, and one that ends calls in every way."""

from __future__ import annotations

import os
from typing import Any

import torch

import conform


class Right(conform.backends.TorchDevice):
    name = "right"

    def __init__(self) -> None:
        super().__init__("cpu")


class Wrong(Right):
    name = "wrong"

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = super().run(op, args, kwargs)
        return result * 1.01 if result.is_floating_point() else result


class Mixed(Right):
    """Wrong, refusing, dying, writing to what it is given, sharing it, and answering otherwise each time."""

    name = "mixed"
    calls = 0

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = super().run(op, args, kwargs)
        self.calls += 1
        match op.partition(".")[0], next((one.dtype for one in args if isinstance(one, torch.Tensor)), None):
            case "aten::exp", torch.float16:
                return result * 1.01
            case "aten::exp", torch.bfloat16:
                raise RuntimeError("no such kernel")
            case "aten::sort", torch.float32:
                raise conform.Unsupported("not of float32")
            case "aten::add", torch.float64:
                args[0].zero_()
            case "aten::add", torch.int32:
                return args[0]
            case "aten::gelu", torch.float64:
                return result + self.calls * 2.0**-60
            case "aten::mm", torch.float16:
                os._exit(7)
            case "aten::mm", torch.float64:
                return None
        return result
