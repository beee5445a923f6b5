"""What came back: a worker's reply, checked before anything is made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from conform.backends.protocol import (
    DTYPES,
    MAX_PAYLOAD_BYTES,
    MAX_RANK,
    ProtocolError,
    can_hold,
    from_tree,
    placement,
)
from conform.errors import UsageError
from conform.foreign import line

# A worker's answer is one of these; "crash" and "timeout" are the parent's findings.
WORKER_STATUSES = ("ok", "error", "unsupported", "fallback")

Told = TypeVar("Told")


@dataclass(frozen=True)
class Output:
    """A tensor that a backend returned: a read-only array of its shape and storage dtype, and the strides, in elements,
    that the tensor had."""

    array: np.ndarray
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Reply:
    """The end of one call.

    `status` is ok, error, unsupported, crash or timeout; `reason` says why it is not ok. `declared`: the backend itself
    raised Unsupported; without it, torch's message says that it has no kernel. `device_lost`: the error left the
    device without use for the worker, as no refusal does. `result` is the returned value
    with an `Output` for each tensor, in the tuples and lists the backend returned. `mutated` numbers the tensor
    arguments (args, then kwargs, lists flattened) whose storage the call changed; `overrun`: it wrote outside them all;
    both are the parent's findings. `aliases` are pairs of an output's number and that of the tensor argument whose
    memory it shares, and `apart` the outputs in memory that is no argument's and should be one's, as the worker tells;
    of a call that writes its results into arguments, `result` is what these hold (`written.py`), and `apart` what was
    returned in their place. `log` is the end of what the worker printed, for crash and timeout. `before`
    is what a call before this one deserves instead of the answer that it gave, None mostly: the worker that it left
    died of it. Of that reply `calls_before` tells which: 1 is the call just before.
    """

    status: str
    reason: str | None = None
    result: Any = None
    mutated: tuple[int, ...] = ()
    overrun: bool = False
    aliases: tuple[tuple[int, int], ...] = ()
    apart: tuple[int, ...] = ()
    log: str = ""
    declared: bool = False
    device_lost: bool = False
    before: Reply | None = None
    calls_before: int = 1

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The leaves of `result` in order: Output, None or a Python scalar."""
        return tuple(_leaves(self.result))

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Those of its tensors."""
        return [one.array.shape for one in self.outputs if isinstance(one, Output)]


MOST_NUMERICS = 100
# What a worker tells of its backend, with the types that a field may have.
_GREETING: dict[str, tuple[type, ...]] = {
    "name": (str,), "version": (str, type(None)), "device": (str,), "exports": (bool,), "compute": (str,),
    "flushes_subnormals": (bool,), "rounds_intermediates": (list,), "accumulates_in_element_type": (list,),
    "keeps_intermediates": (bool,), "views_share_memory": (bool,), "numerics": (dict,),
}  # fmt: skip


def of_each(replies: Sequence[Reply], function: Callable[[Reply], Told]) -> Iterator[Told]:
    """What the function says of each. Of equal replies to equal calls, which may be one object many times, it is asked
    once."""
    for _, same in groupby(replies, key=id):
        first, *others = same
        yield from [function(first)] * (1 + len(others))


def decode_greeting(told: Any) -> dict[str, Any]:
    """What a worker's first frame tells of its backend, each text one printable line. ProtocolError for other fields
    than those that it has to tell; UsageError for one of another type, which its author has set so."""
    if not isinstance(told, dict) or set(told) != set(_GREETING):
        raise ProtocolError(f"a backend is described by {str(told)[:100]!r}")
    for field, types in _GREETING.items():
        if type(told[field]) not in types:
            expected = " or ".join("None" if one is type(None) else one.__name__ for one in types)
            raise UsageError(f"{field} is {line(repr(told[field]), 100)}, not {expected}")
        if isinstance(told[field], list) and any(type(name) is not str for name in told[field]):
            raise UsageError(f"{field} is {line(repr(told[field]), 100)}, not a list of names of operators")
    return {field: _printable(value) for field, value in told.items()} | {"numerics": _numerics(told["numerics"])}


def _printable(value: Any) -> Any:
    if isinstance(value, list):
        return [line(each) for each in value]
    return line(value) if isinstance(value, str) else value


def _numerics(told: dict[Any, Any]) -> dict[str, str | int | bool]:
    """What `Backend.numerics` gave, in the order of its names."""
    if len(told) > MOST_NUMERICS:
        raise UsageError(f"numerics has {len(told)} entries, at most {MOST_NUMERICS} are taken")
    for name, value in told.items():
        if type(value) not in (str, int, bool):
            raise UsageError(f"numerics[{line(name, 60)!r}] is {line(repr(value), 100)}, not str, int or bool")
        if type(value) is int and not -(2**63) <= value < 2**63:
            raise UsageError(f"numerics[{line(name, 60)!r}] is {line(value, 100)}, beyond 64 bits")
    return {line(name): _printable(value) for name, value in sorted(told.items())}


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def decode_reply(header: dict[str, Any], payload: bytes, number: int) -> Reply:
    """The reply to call `number`. ProtocolError if the frame is not one."""
    try:
        return _decoded(header, payload, number)
    except ProtocolError:
        raise
    except Exception as error:  # whatever it was that nobody thought of: the worker wrote it
        raise ProtocolError(f"a reply cannot be read: {type(error).__name__}: {error}") from error


def _decoded(header: dict[str, Any], payload: bytes, number: int) -> Reply:
    if header.get("call") != number:
        raise ProtocolError(f"a reply is for call {header.get('call')!r}, not for call {number}")
    status = header.get("status")
    if status not in WORKER_STATUSES:
        raise ProtocolError(f"a reply has status {status!r}")
    if status != "ok":
        declared, lost = (header.get(name) is True for name in ("declared", "retire"))
        return Reply(status, line(header.get("reason")), declared=declared, device_lost=lost)
    outputs = _outputs(_list(header, "outputs"), payload)
    if (reason := unwritten(outputs)) is not None:
        return Reply("error", reason)
    try:
        result = from_tree(header.get("result"), outputs)
    except RecursionError:
        raise ProtocolError("a result is nested too deeply") from None
    places = [_alias(pair, len(outputs)) for pair in _list(header, "aliases")]
    aliases = tuple((output, argument) for output, argument in places if argument is not None)
    apart = tuple(output for output, argument in places if argument is None and outputs[output].array.size)
    return Reply(status, result=result, aliases=aliases, apart=apart)


def _alias(pair: Any, outputs: int) -> tuple[int, int | None]:
    match pair:
        case [int(output), (int() | None) as argument] if 0 <= output < outputs and (argument or 0) >= 0:
            return output, argument
    raise ProtocolError(f"an alias is described as {str(pair)[:100]}")


def _outputs(described: list[Any], payload: bytes) -> list[Output]:
    """The output tensors; the descriptions must account for every byte of the payload."""
    tensors = [_description(one) for one in described]
    sizes = [dtype.itemsize * math.prod(shape) for dtype, shape, _ in tensors]
    starts, payload_bytes = placement(sizes)
    if len(payload) != payload_bytes:
        raise ProtocolError(f"a reply carries {len(payload)} bytes, its outputs take {payload_bytes}")
    return [
        Output(np.frombuffer(payload, dtype, math.prod(shape), start).reshape(shape), tuple(strides))
        for (dtype, shape, strides), start in zip(tensors, starts, strict=True)
    ]


def _description(one: Any) -> tuple[np.dtype, list[int], list[int]]:
    """dtype, shape and strides of one output, each checked."""
    match one:
        case [str(name), list(shape), list(strides)] if name in DTYPES and len(shape) == len(strides) <= MAX_RANK:
            sizes_are_sane = all(type(size) is int and 0 <= size <= MAX_PAYLOAD_BYTES for size in shape)
            if sizes_are_sane and can_hold(shape) and all(type(step) is int and step >= 0 for step in strides):
                return DTYPES[name], shape, strides
    raise ProtocolError(f"an output is described as {str(one)[:100]}")


def _list(header: dict[str, Any], key: str) -> list[Any]:
    value = header.get(key, [])
    if not isinstance(value, list):
        raise ProtocolError(f"a reply's {key!r} is {str(value)[:100]}, not a list")
    return value


def unwritten(outputs: list[Output]) -> str | None:
    """Why an output cannot be read: a bool is one byte, 0 or 1; torch's and numpy's operators rely on it."""
    for number, output in enumerate(outputs):
        if output.array.dtype == np.bool_ and (byte := output.array.view(np.uint8).max(initial=0)) > 1:
            return f"output {number} is a bool tensor with a byte of value {byte}: memory that was never written?"
    return None
