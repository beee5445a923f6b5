"""Backends for sweeps, loaded by their path: torch on the CPU, but for a few inputs."""

import os
import time

import numpy as np
import torch

from conform.backends import TorchDevice
from conform.errors import Unsupported

PLACE = 0x3F9D70A4  # 1.23
CALL = 1 << 18  # inputs


class OneWrong(TorchDevice):
    """Eight codes too large at one input of all."""

    name, version = "one_wrong", "1"

    def run(self, op, args, kwargs):
        result = super().run(op, args, kwargs)
        result.numpy().view(np.uint32)[args[0].numpy().view(np.uint32) == PLACE] += 8
        return result


class Misbehaving(TorchDevice):
    """Wrong in another way in each call after that in which PLACE is."""

    name = "misbehaving"

    def run(self, op, args, kwargs):
        first = int(args[0].numpy().view(np.uint32)[0])
        result = super().run(op, args, kwargs)
        match first // CALL - PLACE // CALL:
            case 1:
                print("about to abort", flush=True)
                os.abort()
            case 2:
                time.sleep(1000)
            case 3:
                return result[:-1]
            case 4:
                args[0].zero_()
            case 5:
                raise Unsupported("no kernel")
            case 6:
                raise ValueError("no way")
            case 7:
                return args[0]
            case 8:
                return result.double()
        return result


class Cannot(TorchDevice):
    name = "cannot"

    def run(self, op, args, kwargs):
        raise Unsupported("it has no kernels at all")


class Flushes(TorchDevice):
    """Subnormal operands and results are zeros."""

    name, flushes_subnormals = "flushes", True

    def run(self, op, args, kwargs):
        torch.set_flush_denormal(True)
        return super().run(op, args, kwargs)


class Hangs(TorchDevice):
    """On every second call from that on in which PLACE is."""

    name, version = "hangs", "1"

    def run(self, op, args, kwargs):
        after = int(args[0].numpy().view(np.uint32)[0]) // CALL - PLACE // CALL
        if after >= 0 and after % 2 == 0:
            time.sleep(1000)
        return super().run(op, args, kwargs)
