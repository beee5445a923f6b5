"""Backends with holes, for the tests of manifests."""

import torch

import conform
from conform.backends import TorchDevice

HAS = {"aten::exp": None, "aten::neg": ("float32", "int64"), "aten::abs": ("float32",)}


def _dtype(args):
    return str(next(one.dtype for one in args if isinstance(one, torch.Tensor))).removeprefix("torch.")


class Holes(TorchDevice):
    """It lacks ops, of an op dtypes, and of exp tensors of rank 3 and more."""

    name = "holes"

    def run(self, op, args, kwargs):
        if op not in HAS or (HAS[op] and _dtype(args) not in HAS[op]):
            raise conform.Unsupported("no kernel")
        if op == "aten::exp" and args[0].dim() > 2:
            raise RuntimeError("unsupported rank")
        return super().run(op, args, kwargs)


class Crashing(Holes):
    """What it lacks ends its process."""

    name = "crashing"

    def run(self, op, args, kwargs):
        try:
            return super().run(op, args, kwargs)
        except conform.Unsupported:
            import os

            os._exit(3)


class Falling(TorchDevice):
    """It hands the op to another engine."""

    name = "falling"

    def run(self, op, args, kwargs):
        raise conform.Fallback("eager torch did it")


class Flushing(TorchDevice):
    """It flushes subnormals, which its manifest says, and its class does not."""

    name = "flushing"

    def run(self, op, args, kwargs):
        torch.set_flush_denormal(True)
        return super().run(op, args, kwargs)
