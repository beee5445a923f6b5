"""What parent and worker say to each other: frames, value trees, and the placing of storages in a payload.

A frame is a fixed prefix (magic, header length, payload length), a JSON header and raw bytes. Nothing is pickled, and
nothing here needs torch: the parent reads a worker's frames with this file alone and trusts none of them.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

PREFIX = struct.Struct("<4sIQ")
MAGIC = b"cfm1"
MAX_HEADER_BYTES = 1 << 24
MAX_PAYLOAD_BYTES = 1 << 32
# What a reply may take beyond the results that are expected, so that a wrong result is told as what it is.
SPARE_HEADER_BYTES = 1 << 20
SPARE_PAYLOAD_BYTES = 1 << 26
MAX_RANK = 64  # numpy's (NPY_MAXDIMS); torch's is 64 as well

ALIGNMENT_BYTES = 64
WIDEST_BYTES = 16  # complex128's
MAX_ELEMENTS = (2**63 - 1) // WIDEST_BYTES
# Around every storage lie at least this many bytes of FILLER, which no backend may write to.
GUARD_BYTES = 64
FILLER = b"\xfe"

# Element types that torch and numpy (with ml_dtypes) share: torch's name -> numpy's storage dtype.
DTYPES: dict[str, np.dtype] = {
    np.dtype(type_).name: np.dtype(type_)
    for type_ in (
        *(np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64),
        *(np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128),
        *(ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz),
        ml_dtypes.float8_e8m0fnu,
    )
}


class ProtocolError(Exception):
    """A frame that the other side cannot have meant: the worker counts as crashed."""


@dataclass(frozen=True, slots=True)
class TorchConstant:
    """A torch object known by name. `kind` is "dtype", "memory_format", "layout" or "device"."""

    kind: str
    name: str


class Most(NamedTuple):
    """The largest frame that is taken."""

    header_bytes: int
    payload_bytes: int


MOST = Most(MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES)


def most_of_results(outputs: int, elements: int) -> Most:
    """The largest reply with so many tensors of so many elements in all, whatever their dtype."""
    payload_bytes = SPARE_PAYLOAD_BYTES + WIDEST_BYTES * elements + 2 * (GUARD_BYTES + ALIGNMENT_BYTES) * outputs
    header_bytes = SPARE_HEADER_BYTES + 2 * MAX_RANK * _DIGITS * outputs
    return Most(min(header_bytes, MAX_HEADER_BYTES), min(payload_bytes, MAX_PAYLOAD_BYTES))


CONSTANT_KINDS = frozenset({"dtype", "memory_format", "layout", "device"})


# --- Frames -----------------------------------------------------------------------------------------------------------


_DIGITS = 20  # of an int64 in a header, with its comma

_to_json = json.JSONEncoder(separators=(",", ":")).encode


def frame(header: dict[str, Any], payload: bytes | bytearray = b"") -> bytes:
    """One message as bytes."""
    text = _to_json(header).encode()
    return b"".join((PREFIX.pack(MAGIC, len(text), len(payload)), text, payload))


def parse_prefix(prefix: bytes | bytearray | memoryview, most: Most = MOST) -> tuple[int, int]:
    """Header and payload length in bytes; ProtocolError unless it is a prefix of a frame of at most so many."""
    magic, header_bytes, payload_bytes = PREFIX.unpack_from(prefix)
    if magic != MAGIC:
        raise ProtocolError(f"a frame starts with {magic!r}, not with {MAGIC!r}")
    if header_bytes > most.header_bytes or payload_bytes > most.payload_bytes:
        raise ProtocolError(
            f"a frame announces {header_bytes} bytes of header and {payload_bytes} of payload, "
            f"where {most.header_bytes} and {most.payload_bytes} are the most that is expected"
        )
    return header_bytes, payload_bytes


def parse_header(text: bytes | bytearray) -> dict[str, Any]:
    """The JSON object in `text`; ProtocolError if it holds anything else."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise ProtocolError(f"a header is a JSON {type(header).__name__}, not an object")
    return header


# --- Value trees ------------------------------------------------------------------------------------------------------


# Exact types: numpy's float64 is a float as well, and yet a 0-d tensor.
_PLAIN = frozenset({bool, int, float, str})


def to_tree(value: Any, tensor_number: Callable[[Any], int | None], takes_dicts: bool = False) -> Any:
    """`value` as JSON. None, booleans, numbers, strings and lists are themselves, the rest an object with one key.

    `tensor_number(leaf)` numbers a tensor (and keeps it), and answers None for what is no tensor. TypeError for what
    has no form here, a dict but where `takes_dicts`: a module's arguments may have them. JSON's floats are Python's:
    exact, with NaN, Infinity and -0.0.
    """
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, (list, tuple)):
        items = [to_tree(item, tensor_number, takes_dicts) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if takes_dicts and isinstance(value, dict):
        return {"dict": [[key, to_tree(item, tensor_number, takes_dicts)] for key, item in value.items()]}
    if (number := tensor_number(value)) is not None:
        return {"tensor": number}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, TorchConstant):
        return {value.kind: value.name}
    raise TypeError(f"{type(value).__module__}.{type(value).__qualname__}")


def from_tree(tree: Any, tensors: Sequence[Any], constant: Callable[[str, str], Any] = TorchConstant) -> Any:
    """The value that `to_tree` made `tree` of, with `tensors[k]` for tensor k and `constant(kind, name)`.

    ProtocolError for anything that `to_tree` does not write.
    """
    if isinstance(tree, list):
        return [from_tree(item, tensors, constant) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) == 1:
        (kind, content), *_ = tree.items()
        if kind == "tensor" and type(content) is int and 0 <= content < len(tensors):
            return tensors[content]
        if kind == "tuple" and isinstance(content, list):
            return tuple(from_tree(item, tensors, constant) for item in content)
        if kind == "dict" and isinstance(content, list):
            return {key: from_tree(item, tensors, constant) for key, item in content}
        if kind == "complex" and isinstance(content, list) and [type(part) for part in content] == [float, float]:
            return complex(*content)
        if kind in CONSTANT_KINDS and isinstance(content, str):
            return constant(kind, content)
    raise ProtocolError(f"a value is {str(tree)[:100]}, which stands for nothing")


# --- Tensors in a payload ---------------------------------------------------------------------------------------------


def placement(storage_bytes: Iterable[int]) -> tuple[list[int], int]:
    """Where storages of these sizes start in a payload (aligned, guards between them), and the payload's size."""
    starts = []
    end = 0
    for size in storage_bytes:
        start = _aligned(end + GUARD_BYTES)
        starts.append(start)
        end = start + size
    return starts, (_aligned(end + GUARD_BYTES) if starts else 0)


def _aligned(position: int) -> int:
    return -(-position // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def payload_of(storages: Sequence[bytes]) -> bytearray:
    """The payload that holds these storages, as `placement` places them."""
    starts, size = placement(map(len, storages))
    payload = bytearray(FILLER) * size
    for start, storage in zip(starts, storages, strict=True):
        payload[start : start + len(storage)] = storage
    return payload


def can_hold(shape: Sequence[int]) -> bool:
    """Whether numpy has arrays of this shape, of any dtype: it counts bytes in an int64, sizes of 0 taken as 1."""
    return math.prod(size or 1 for size in shape) <= MAX_ELEMENTS


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """torch's strides, in elements, of a contiguous tensor: a dim of size 0 counts as 1."""
    return tuple(math.prod(max(size, 1) for size in shape[dim + 1 :]) for dim in range(len(shape)))
