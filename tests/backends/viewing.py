"""Devices of torch of which views are copies, or honest, loaded by their path into worker processes."""

import torch

from conform.backends import TorchDevice


class Elsewhere(TorchDevice):
    """The CPU as a device to which tensors are moved: "cpu:0" is another one than "cpu" to torch."""

    name = "elsewhere"

    def __init__(self):
        super().__init__("cpu:0")


class Copying(TorchDevice):
    """What is documented as a view is a copy."""

    name = "copying"

    def kernel(self, op):
        kernel = super().kernel(op)

        def copying(*args, **kwargs):
            result = kernel(*args, **kwargs)
            return result.clone() if isinstance(result, torch.Tensor) else [one.clone() for one in result]

        return copying


class Viewing(TorchDevice):
    """What is documented as a copy is a view."""

    name = "viewing"

    def kernel(self, op):
        return super().kernel(op.replace("_copy", ""))


class CopyingElsewhere(Copying):
    def __init__(self):
        super().__init__("cpu:0")


class Stale(TorchDevice):
    """A view of what the argument held at the first call."""

    name = "stale"

    def run(self, op, args, kwargs):
        if not hasattr(self, "kept"):
            self.kept = args[0].clone()
        return super().run(op, [self.kept, *args[1:]], kwargs)


class DeclaresIt(Stale):
    views_share_memory = True
