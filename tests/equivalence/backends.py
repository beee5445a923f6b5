"""Backends that differ from each other in one thing each."""

import torch

from conform.backends import TorchDevice


class Plain(TorchDevice):
    name = "plain"


class OneElement(TorchDevice):
    """The last element of a negative is the next number."""

    name = "one-element"

    def run(self, op, args, kwargs):
        result = super().run(op, args, kwargs)
        if op == "aten::neg" and result.is_floating_point() and result.numel():
            result = result.clone()
            last = result.view(-1)[-1:]
            last.copy_(torch.nextafter(last, torch.tensor([torch.inf], dtype=result.dtype)))
        return result


class NegativeZero(TorchDevice):
    """-0 where 0 is exact."""

    name = "negative-zero"

    def run(self, op, args, kwargs):
        result = super().run(op, args, kwargs)
        return torch.where(result == 0, -torch.zeros_like(result), result) if op == "aten::abs" else result


class Wrong(TorchDevice):
    """Its exponential is that of a number a little larger; another class of the same code is as wrong."""

    name = "wrong"

    def run(self, op, args, kwargs):
        return super().run(op, args, kwargs) * 1.001 if op == "aten::exp" else super().run(op, args, kwargs)


class AsWrong(Wrong):
    name = "as-wrong"


class AnUlpOff(TorchDevice):
    """Its exponential is the neighbour of torch's: within three ulps."""

    name = "an-ulp-off"

    def run(self, op, args, kwargs):
        result = super().run(op, args, kwargs)
        return torch.nextafter(result, torch.full_like(result, torch.inf)) if op == "aten::exp" else result


class Raising(TorchDevice):
    """It has no square root."""

    name = "raising"

    def run(self, op, args, kwargs):
        if op == "aten::sqrt":
            raise RuntimeError("out of resources")
        return super().run(op, args, kwargs)


class Absent(TorchDevice):
    """Its device is not there."""

    name = "absent"

    def __init__(self):
        raise RuntimeError("no device")
