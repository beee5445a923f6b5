"""A call as the parent states it, and its frame."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conform.backends.protocol import TorchConstant, contiguous_strides, frame, to_tree
from conform.call import schemas

_KIND_OF_TYPE = {"ScalarType": "dtype", "MemoryFormat": "memory_format", "Layout": "layout", "Device": "device"}


@dataclass(frozen=True)
class Call:
    """One call of a resolved overload.

    Tensors are numpy arrays in the storage dtype of their format (contiguous, whatever their numpy strides), or
    objects with `storage` (1-d array), `shape`, `strides` (in elements) and `offset`. A string for a parameter that
    torch's schema types as ScalarType, MemoryFormat, Layout or Device stands for that object. `requires_grad` holds the
    numbers (args, then kwargs, lists flattened) of the tensors that get this flag. What is called may be no operator
    but `module`, a pickled torch module, of the class `op`, or `program`, the text of a StableHLO program. With
    `wanted`, numbers of tensors likewise, not the results are asked for but the gradients of these: of the sum of
    cotangent * result over the results that have a cotangent, each of `cotangents` for one of them. `is_view`: the
    results are to lie in the memory of an argument. `updates`: numbers of tensors that the call is to change; what they
    hold afterwards stands behind the results. `buffers`: of a module those of which the same holds, by name.
    """

    op: str
    args: list[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)
    requires_grad: frozenset[int] = frozenset()
    module: bytes | None = None
    program: str | None = None
    wanted: tuple[int, ...] = ()
    cotangents: tuple[Any, ...] = ()
    is_view: bool = False
    updates: tuple[int, ...] = ()
    buffers: tuple[str, ...] = ()


def encode_call(call: Call, number: int, times: int = 1) -> tuple[bytes, list[bytes]]:
    """The frame of so many equal calls and the storages of the tensors of one, to be lent beside it for each;
    `number` comes back in each reply.

    TypeError for a value that no frame can carry.
    """
    tensors: list[list[Any]] = []
    storages: list[bytes] = []

    def tensor_number(value: Any) -> int | None:
        described = _described(value)
        if described is None:
            return None
        tensors.append(described[0])
        storages.append(described[1])
        return len(tensors) - 1

    is_module = call.module is not None
    args, kwargs = _with_constants(call)
    arguments = {
        "args": [to_tree(value, tensor_number, is_module) for value in args],
        "kwargs": {name: to_tree(value, tensor_number, is_module) for name, value in kwargs.items()},
    }
    gradients = {
        "gradients": {"wanted": call.wanted, "cotangents": [to_tree(one, tensor_number) for one in call.cotangents]}
    }
    if is_module:
        tensor_number(np.frombuffer(call.module, np.uint8))  # the last one
    header = {
        "call": number,
        "times": times,
        "op": call.op,
        **arguments,
        "tensors": tensors,
        "requires_grad": sorted(call.requires_grad),
        "module_path": sys.path if is_module else None,
        "buffers": call.buffers,
        "program": call.program,
        **(gradients if call.wanted else {}),
    }
    return frame(header), storages


def _described(value: Any) -> tuple[list[Any], bytes] | None:
    """[dtype, shape, strides, offset, storage bytes] of a tensor and its storage; numpy scalars are 0-d tensors."""
    if isinstance(value, (np.ndarray, np.generic)):
        storage = value.tobytes()
        return [value.dtype.name, value.shape, contiguous_strides(value.shape), 0, len(storage)], storage
    if hasattr(value, "storage"):
        storage = value.storage.tobytes()
        shape, strides = [int(size) for size in value.shape], [int(step) for step in value.strides]
        return [value.storage.dtype.name, shape, strides, int(value.offset), len(storage)], storage
    return None


def _with_constants(call: Call) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with TorchConstants where the schema asks for them."""
    positions, names = _constant_parameters(call.op)
    args, kwargs = call.args, call.kwargs
    if positions:
        args = [_constant(positions.get(position), value) for position, value in enumerate(args)]
    if names:
        kwargs = {name: _constant(names.get(name), value) for name, value in kwargs.items()}
    return args, kwargs


def _constant(kind: str | None, value: Any) -> Any:
    return TorchConstant(kind, value) if kind and isinstance(value, str) else value


@functools.cache
def _constant_parameters(op: str) -> tuple[dict[int, str], dict[str, str]]:
    """Kinds of the parameters that take a torch object, by position and by name; none for what has no schema."""
    if op not in schemas.operator_names():
        return {}, {}
    parameters = [(one, _KIND_OF_TYPE.get(one.type.removesuffix("?"))) for one in schemas.schema(op).arguments]
    positions = {at: kind for at, (one, kind) in enumerate(parameters) if kind and not one.kwarg_only}
    return positions, {one.name: kind for one, kind in parameters if kind}
