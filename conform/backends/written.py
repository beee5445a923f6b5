"""The reply to a call that writes into arguments: what these hold then are its outputs, or stand behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conform.backends.call import Call
from conform.backends.lent import Changes
from conform.backends.protocol import contiguous_strides
from conform.backends.reply import Output, Reply, unwritten
from conform.call.arguments import Arguments, tensors
from conform.call.variants import Variant


def as_written(reply: Reply, call: Call, variant: Variant, changes: Changes) -> Reply:
    """The reply of what was lent for the call, whatever the worker returned: of each argument that is written into what
    it holds now, as an output. Memory between the elements of such an argument counts as outside of it. `apart` are the
    outputs that the worker returned in other memory, or with other elements than the argument has.

    An argument of no elements may have been resized, which its memory cannot show: what was returned stands for it.
    """
    returned, written = reply.outputs, variant.written_in(call.args, call.kwargs)
    returned = returned if variant.schema.returns else ()
    if reply.status != "ok" or len(returned) != len(variant.schema.returns):
        return _but_written(reply, call, variant)
    outputs, apart, overrun = [], [], reply.overrun
    shared = dict(reply.aliases)
    for place, (number, tensor) in enumerate(written):
        output, strayed = _held(tensor, changes.contents.get(number))
        if place >= len(returned):
            pass
        elif output.array.size == 0:
            output = returned[place]
        elif _differs(returned[place], output) or place in reply.apart or shared.get(place, number) != number:
            apart.append(place)
        outputs.append(output)
        overrun |= strayed
    if (reason := unwritten([one for one in outputs if isinstance(one, Output)])) is not None:
        return replace(_but_written(reply, call, variant), status="error", reason=reason, result=None)
    return replace(_but_written(reply, call, variant), result=tuple(outputs), overrun=overrun, apart=tuple(apart))


def with_updated(reply: Reply, call: Call, changes: Changes) -> Reply:
    """The reply with what the arguments that the call updates hold now as further outputs, where there are results; a
    call that is refused is to change nothing."""
    if reply.status != "ok":
        return reply
    reply = replace(reply, mutated=tuple(number for number in reply.mutated if number not in call.updates))
    if call.wanted:
        return reply
    given = tensors(Arguments(call.args, call.kwargs))
    held = [_held(given[number], changes.contents.get(number)) for number in call.updates]
    outputs = [output for output, _ in held]
    if (reason := unwritten(outputs)) is not None:
        return replace(reply, status="error", reason=reason, result=None)
    has_strayed = any(strayed for _, strayed in held)
    return replace(reply, result=(*reply.outputs, *outputs), overrun=reply.overrun or has_strayed)


def _but_written(reply: Reply, call: Call, variant: Variant) -> Reply:
    """The reply, in which the arguments that are to be written into do not count as changed inputs."""
    written = {number for number, _ in variant.written_in(call.args, call.kwargs)}
    return replace(reply, mutated=tuple(number for number in reply.mutated if number not in written))


def _held(tensor: Any, content: bytes | None) -> tuple[Output, bool]:
    """What an argument holds, of which the memory now is `content` (None: as it was), and whether memory between its
    elements has changed."""
    if isinstance(tensor, np.ndarray):
        array = tensor if content is None else np.frombuffer(content, tensor.dtype).reshape(tensor.shape)
        return Output(np.array(array, order="C"), contiguous_strides(tensor.shape)), False
    strides = tuple(int(step) for step in tensor.strides)
    storage = tensor.storage if content is None else np.frombuffer(content, tensor.storage.dtype)
    output = Output(np.array(_view(storage, tensor), order="C"), strides)
    return output, content is not None and _has_strayed(storage, tensor)


def _has_strayed(storage: np.ndarray, tensor: Any) -> bool:
    changed = _bytes(storage).reshape(storage.size, -1) != _bytes(tensor.storage).reshape(storage.size, -1)
    outside = changed.any(axis=1)
    _view(outside, tensor)[...] = False
    return bool(outside.any())


def _view(storage: np.ndarray, tensor: Any) -> np.ndarray:
    steps = [int(step) * storage.itemsize for step in tensor.strides]
    return np.lib.stride_tricks.as_strided(storage[int(tensor.offset) :], tensor.shape, steps)


def _differs(returned: Any, output: Output) -> bool:
    if not isinstance(returned, Output) or returned.array.dtype != output.array.dtype:
        return True
    return returned.array.shape != output.array.shape or not np.array_equal(
        _bytes(returned.array), _bytes(output.array)
    )


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
