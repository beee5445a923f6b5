"""torch on the CPU in the mode that flushes subnormals, which it declares."""

import torch

from conform.backends import TorchDevice


class Flushing(TorchDevice):
    name = "flushing"
    flushes_subnormals = True

    def run(self, op, args, kwargs):
        if not torch.set_flush_denormal(True):  # of the thread that computes
            raise RuntimeError("this processor has no mode that flushes subnormals")
        return super().run(op, args, kwargs)


class Undeclared(Flushing):
    """The same, which does not say so."""

    name = "undeclared"
    flushes_subnormals = False
