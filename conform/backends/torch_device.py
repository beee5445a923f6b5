"""Eager torch on any of its devices, as a backend."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

from conform.backends.autograd import gradients_of, tensors_of
from conform.backends.base import Backend
from conform.backends.libraries import LIBRARIES
from conform.errors import Unsupported


class TorchDevice(Backend):
    """Runs `torch.ops` on `device` ("cpu", "cuda:1", "mps", ...). May be subclassed: every call goes through `run`.

    Creating one touches the device, so an absent device raises torch's own exception.
    """

    version = torch.__version__

    @property
    def views_share_memory(self) -> bool:  # type: ignore[override]
        """As torch's do; a subclass with a `run` of its own declares it, if its own do."""
        return type(self).run is TorchDevice.run

    def __init__(self, device: str = "cpu") -> None:
        torch.zeros(1, device=device).cpu()
        self.device = device
        self.name = type(self).name or device

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        kernel = self.kernel(op)
        if self.device == "cpu":
            return kernel(*args, **kwargs)
        storages: list[tuple[torch.Tensor, torch.Tensor]] = []
        moved_args = [self._moved(value, storages) for value in args]
        moved_kwargs = {name: self._moved(value, storages) for name, value in kwargs.items()}
        if not storages and takes_device(op) and moved_kwargs.get("device") is None:
            moved_kwargs["device"] = torch.device(self.device)
        result = kernel(*moved_args, **moved_kwargs)
        for original, copy in storages:
            original.copy_(copy)  # so that what the device wrote shows on the CPU, where it is looked for
        return _in_arguments(result, storages)

    def gradients(
        self, op: str, args: list[Any], kwargs: dict[str, Any], cotangents: Sequence[Any], wanted: Sequence[int]
    ) -> Sequence[Any]:
        """Those of leaves on the device; a subclass with a `run` of its own gets its calls there."""
        if self.device == "cpu" or type(self).run is not TorchDevice.run:
            return super().gradients(op, args, kwargs, cotangents, wanted)
        storages: list[tuple[torch.Tensor, torch.Tensor]] = []
        moved = [self._moved(value, storages) for value in args]
        named = {name: self._moved(value, storages) for name, value in kwargs.items()}
        tensors = tensors_of(moved, named)
        found = gradients_of(
            lambda: self.kernel(op)(*moved, **named), [tensors[number] for number in wanted], cotangents
        )
        for original, copy in storages:
            original.copy_(copy)
        return found

    def kernel(self, op: str) -> Callable[..., Any]:
        """What is called for an overload, with tensors on the device; a subclass may name another function."""
        return overload(op)

    def of_module(self, module: torch.nn.Module) -> Callable[..., Any]:
        """What is called for a module that is on the device, with tensors there; a subclass may compile it."""
        return module

    def run_module(self, module: torch.nn.Module, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`of_module`, all of it on the device; a subclass with kernels of its own, and nothing for modules, gets the
        operators, which they are for."""
        own = type(self)
        has_kernels = own.run is not TorchDevice.run or own.kernel is not TorchDevice.kernel
        if has_kernels and own.of_module is TorchDevice.of_module:
            return super().run_module(module, args, kwargs)
        with torch.no_grad():
            if self.device == "cpu":
                return self.of_module(module)(*args, **kwargs)
            storages: list[tuple[torch.Tensor, torch.Tensor]] = []
            moved = [self._moved(value, storages) for value in args]
            named = {name: self._moved(value, storages) for name, value in kwargs.items()}
            result = self.of_module(module.to(self.device))(*moved, **named)
            for original, copy in storages:
                original.copy_(copy)
            return result

    def _moved(self, value: Any, storages: list[tuple[torch.Tensor, torch.Tensor]]) -> Any:
        """`value` with its tensors on the device in the same layout: the whole storage moves, gaps included.

        `storages` collects each tensor's storage, here and there, as flat tensors.
        """
        if isinstance(value, torch.Tensor):
            original = torch.empty(0, dtype=value.dtype).set_(value.untyped_storage())
            copy = original.to(self.device)
            storages.append((original, copy))
            moved = copy.as_strided(value.shape, value.stride(), value.storage_offset())
            return moved.requires_grad_(value.requires_grad)
        if isinstance(value, (list, tuple)):
            return type(value)([self._moved(item, storages) for item in value])
        if isinstance(value, dict):
            return {key: self._moved(item, storages) for key, item in value.items()}
        return value


def _in_arguments(value: Any, storages: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> Any:
    """`value` with the tensors that lie in a copy of a storage as views of that itself, which holds the same by now;
    but for one of which the device has changed the size."""
    if isinstance(value, (list, tuple)):
        return type(value)([_in_arguments(item, storages) for item in value])
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return value
    storage = value.untyped_storage()
    for original, copy in storages:
        is_same = storage._cdata == copy.untyped_storage()._cdata  # the storage itself, on every device
        if is_same and storage.nbytes() == original.untyped_storage().nbytes():
            there = original.view(value.dtype).as_strided(value.shape, value.stride(), value.storage_offset())
            there = there.conj() if value.is_conj() else there
            return torch._neg_view(there) if value.is_neg() else there
    return value


@functools.cache
def overload(op: str) -> torch._ops.OpOverload:
    """torch's operator "aten::add.Tensor", of a library that is imported for it if it has one; Unsupported where this
    torch has none of that name."""
    namespace, _, full_name = op.partition("::")
    name, _, overload_name = full_name.partition(".")
    if namespace in LIBRARIES:
        importlib.import_module(LIBRARIES[namespace])
    try:
        return getattr(getattr(getattr(torch.ops, namespace), name), overload_name or "default")
    except AttributeError:
        raise Unsupported(f"torch {torch.__version__} has no operator {op}") from None


@functools.cache
def takes_device(op: str) -> bool:
    """Whether the operator has an argument `device`, as those have that create tensors from numbers."""
    return any(argument.name == "device" for argument in overload(op)._schema.arguments)
