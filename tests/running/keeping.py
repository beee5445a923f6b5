"""Backends that keep every intermediate result, right or with one defect: `keeping.py::Keeping(plant="eps")`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

import conform
from conform.backends import TorchDevice

IN_FLOAT64 = (
    "aten::addmm", "aten::mm", "aten::bmm", "aten::gelu", "aten::silu", "aten::_softmax", "aten::native_layer_norm",
    "aten::convolution", "aten::_native_batch_norm_legit_no_training", "aten::mean.dim", "aten::rsqrt", "aten::exp",
)  # fmt: skip


OF_BATCHES = ("aten::_native_batch_norm_legit_no_training", "aten::native_batch_norm")


def _wide(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _cut(value: Any) -> Any:
    """A float32 factor rounded to TF32's 11 bits."""
    is_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return ((value.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32) if is_float else value


def _with_other_eps(args: list[Any]) -> list[Any]:
    """What is added is a small number: the eps of a norm that is written out."""
    return [args[0], args[1] * 10 if 0 < args[1] < 1e-3 else args[1]]


def _added_up_in_steps(args: list[Any]) -> list[Any]:
    """addmm whose product is rounded to the half type before the bias is added."""
    bias, lhs, rhs = args[:3]
    product = (lhs.float() @ rhs.float()).to(lhs.dtype)
    return [bias.float() + product.float(), torch.zeros_like(lhs), torch.zeros_like(rhs)]


# By name: the operators concerned, and what becomes of their arguments.
PLANTS: dict[str, tuple[tuple[str, ...], Callable[[list[Any]], list[Any]]]] = {
    "eps": (("aten::native_layer_norm",), lambda args: [*args[:4], args[4] * 10]),
    "eps of variances": (("aten::add.Scalar",), _with_other_eps),
    "eps of batches": (OF_BATCHES, lambda args: [*args[:-1], args[-1] * 10]),
    "tf32": (("aten::addmm",), lambda args: [args[0], *map(_cut, args[1:])]),
    "half sums": (("aten::addmm",), _added_up_in_steps),
}


class Keeping(TorchDevice):
    """Computes in float64, and rounds each result once."""

    name, keeps_intermediates = "keeping", True

    def __init__(self, plant: str | None = None, keeps: bool = True) -> None:
        super().__init__()
        torch.backends.mha.set_fastpath_enabled(False)  # a layer is then no operator of its own
        self.ops, self.changed = PLANTS[plant] if plant else ((), list)
        self.keeps_intermediates = keeps

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        given = self.changed(list(args)) if op in self.ops else args
        if op not in IN_FLOAT64:
            return super().run(op, given, kwargs)
        results = super().run(op, [_wide(value) for value in given], kwargs)
        narrow = next(value.dtype for value in args if isinstance(value, torch.Tensor) and value.is_floating_point())
        return tuple(one.to(narrow) for one in results) if isinstance(results, tuple) else results.to(narrow)


class Split(Keeping):
    """Gives something else than the module where it is asked for its operators (`steps`), or where it is not."""

    def __init__(self, steps: str = "as ever", whole: str = "as ever") -> None:
        super().__init__()
        self.steps, self.whole = steps, whole

    def run_module(self, module: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from conform.backends.steps import Steps

        way = self.steps if isinstance(module, Steps) else self.whole
        if way == "abort":
            os.abort()
        if way == "unsupported":
            raise conform.Unsupported("no operators by themselves")
        result = super().run_module(module, args, kwargs)
        if way == "shorter":
            return result[:-1]
        if way == "wider":
            return [result[0].repeat(2, 1), *result[1:]]
        return result + 2.0**-30 if way == "a little more" else result
