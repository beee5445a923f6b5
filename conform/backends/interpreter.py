"""The kit's own interpreter as a backend (`--backend self`): it must pass everything, or the kit contradicts itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from conform.backends.base import Backend
from conform.backends.memory import bytes_of
from conform.backends.protocol import DTYPES
from conform.errors import Unjudged, Unsupported
from conform.interp.golden import Golden


class Interpreter(Backend):
    """Answers every call with the golden: the correctly rounded value."""

    name = "self"

    def numerics(self) -> dict[str, str | int | bool]:
        """Nothing: it computes the same on every machine."""
        return {}

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from conform.call.bound import bound_call
        from conform.interp.evaluate import evaluate_call, is_array

        numpy_args = [to_numpy(value) for value in args]
        numpy_kwargs = {name: to_numpy(value) for name, value in kwargs.items()}
        call = bound_call(op, numpy_args, numpy_kwargs, is_array)
        try:
            outcome = evaluate_call(call)
        except Unjudged as reason:
            raise Unsupported(str(reason)) from None
        declared = call.returning.schema.returns
        if any(one.endswith("[]") for one in declared):
            declared = ("Tensor",) * len(outcome.results)
        results = tuple(map(_result, outcome.results, declared))
        given = bound_call(op, args, kwargs).arguments if call.variant or outcome.updated else {}
        if call.variant is not None:
            holders = [holder for _, holder in call.variant.held_by(given)]
            results = tuple(map(_written, holders, results))[: len(call.schema.returns)]
        for name, golden in outcome.left.items():
            _written(given[name], to_torch(golden.value))
        return results[0] if len(results) == 1 else results

    def gradients(
        self, op: str, args: list[Any], kwargs: dict[str, Any], cotangents: Sequence[Any], wanted: Sequence[int]
    ) -> list[torch.Tensor]:
        from conform.call.bound import bound_call
        from conform.interp.evaluate import evaluate_call
        from conform.interp.gradients.evaluation import gradient_call

        named = {name: to_numpy(value) for name, value in kwargs.items()}
        call = bound_call(op, [to_numpy(value) for value in args], named)
        try:
            asked = gradient_call(call, [to_numpy(one) for one in cotangents])
            if len(asked.places) != len(wanted):  # it has those of all tensors that have one
                raise Unsupported(f"gradients of {len(wanted)} tensors: it gives those of all {len(asked.places)}")
            goldens = evaluate_call(asked).goldens
        except Unjudged as reason:
            raise Unsupported(str(reason)) from None
        return [to_torch(golden.value) for golden in goldens]

    def run_module(self, module: torch.nn.Module, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from conform.frontends.modules import ModuleCall
        from conform.interp.evaluate import evaluate_call

        try:
            outcome = evaluate_call(ModuleCall.of(module).bound(args, kwargs))
        except Unjudged as reason:
            raise Unsupported(str(reason)) from None
        for name, golden in outcome.left.items():
            module.get_buffer(name).copy_(to_torch(golden.value))
        return [to_torch(golden.value) for golden in outcome.results]

    def run_program(self, text: str, args: list[Any]) -> list[torch.Tensor]:
        """Every op's results rounded to their element type, as the specification has it."""
        from conform.frontends.stablehlo import parse
        from conform.frontends.stablehlo_called import ProgramCall

        program = ProgramCall("main", text, parse(text, "program").functions["main"], is_stepwise=True)
        try:
            return [to_torch(golden.value) for golden in program.meaning([to_numpy(one) for one in args])]
        except Unjudged as reason:
            raise Unsupported(str(reason)) from None


def to_numpy(value: Any) -> Any:
    """A torch value as the kit has it: arrays in storage dtypes, torch's constants by name, lists of these."""
    if isinstance(value, torch.Tensor):
        return bytes_of(value.detach()).view(DTYPES[_name(value.dtype)]).reshape(value.shape)
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return _name(value)
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, (list, tuple)):
        return type(value)(to_numpy(item) for item in value)
    return value


def to_torch(array: np.ndarray) -> torch.Tensor:
    """The tensor with the elements of `array`, bit for bit."""
    tensor = torch.empty(array.shape, dtype=getattr(torch, array.dtype.name))
    tensor.reshape(-1).view(torch.uint8).numpy()[:] = np.frombuffer(array.tobytes(), np.uint8)
    return tensor


def _result(golden: Golden, declared: str) -> torch.Tensor | complex | None:
    """What answers with the golden where torch's schema declares this type: a tensor, or a number, any where nothing is
    documented."""
    if golden.is_none:
        return None
    if "Tensor" not in declared:
        return 0 if golden.undocumented else golden.value.item()
    return _placed(to_torch(golden.value), golden.strides)


def _written(tensor: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """The tensor of the caller's, which holds the result now; one of no elements gets its shape, and memory for it."""
    return tensor.copy_(result) if tensor.numel() else tensor.set_(result)


def _placed(tensor: torch.Tensor, strides: tuple[int, ...] | None) -> torch.Tensor:
    """The tensor, whose elements nobody set, with the strides that its golden wants."""
    return tensor if strides is None else torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype)


def _name(constant: torch.dtype | torch.memory_format | torch.layout) -> str:
    return str(constant).removeprefix("torch.")
