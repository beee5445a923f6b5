"""The worker's loop: decode a call, run it, see what it did to its inputs, reply."""

from __future__ import annotations

import importlib
import pickle
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch

from conform.backends import given, names
from conform.backends.base import Backend
from conform.backends.failures import classify, device_is_lost
from conform.backends.leaves import leaves
from conform.backends.memory import Memory, output_of
from conform.backends.protocol import PREFIX, frame, from_tree, parse_header, parse_prefix, payload_of, to_tree
from conform.errors import Unsupported, UsageError

_OF_POINTERS = ("cpu", "cuda")  # the devices whose tensors tell where they lie


def serve(connection: socket.socket, name: str | None, threads: int, imports: Sequence[str] = ()) -> None:
    """Answers calls to backend `name` until the parent closes the connection. The first frame describes the backend.

    Without a name the first frame that comes holds the backend itself. The modules `imports` are imported first.
    """
    torch.set_num_threads(threads)
    try:
        for module in imports:
            _import(module)
        backend = names.load(name) if name is not None else _given(connection)
        greeting = frame({"hello": describe(backend)})
    except UsageError as error:
        connection.sendall(frame({"usage": str(error)}))
        return
    except Exception as error:
        connection.sendall(frame({"unavailable": classify(error)[1]}))
        return
    connection.sendall(greeting)
    while (received := receive(connection)) is not None:
        connection.sendall(b"".join(answers(backend, *received)))


def _import(module: str) -> None:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:  # one that it imports itself
            raise
        raise UsageError(f"--import {module}: there is no such module") from None


def _given(connection: socket.socket) -> Backend:
    """The backend in the first frame, whose payload follows its header; that of a call lies in memory."""
    prefix = bytearray(PREFIX.size)
    if _fill(connection, memoryview(prefix)):
        header, payload = map(bytearray, parse_prefix(prefix))
        if _fill(connection, memoryview(header)) and _fill(connection, memoryview(payload)):
            return given.loaded(parse_header(header), bytes(payload))
    raise EOFError("the parent closed the connection before it sent its backend")


def describe(backend: Backend) -> dict[str, Any]:
    """What a run record tells about a backend; `numerics` belongs to the environment."""
    return {
        "name": backend.name,
        "version": backend.version,
        "device": backend.device,
        "exports": backend.exports,
        "compute": backend.compute,
        "flushes_subnormals": backend.flushes_subnormals,
        "rounds_intermediates": _names(backend.rounds_intermediates),
        "accumulates_in_element_type": _names(backend.accumulates_in_element_type),
        "keeps_intermediates": backend.keeps_intermediates,
        "views_share_memory": backend.views_share_memory,
        "numerics": backend.numerics(),
    }


def _names(given: Any) -> Any:
    """What a frame holds: of a sequence that is no text, the list."""
    return list(given) if isinstance(given, (list, tuple, set, frozenset)) else given


# --- Frames, blocking -------------------------------------------------------------------------------------------------


def receive(connection: socket.socket) -> tuple[dict[str, Any], Memory] | None:
    """The next frame's header and memory, or None where the parent has closed the connection.

    The memory's descriptor comes with the first bytes of the frame: a read that asks for no more than the rest of a
    frame gets none of the next.
    """
    prefix, descriptors, _, _ = socket.recv_fds(connection, PREFIX.size, 1)
    rest = bytearray(PREFIX.size - len(prefix))
    if not prefix or not _fill(connection, memoryview(rest)):
        return None
    header_bytes, _ = parse_prefix(prefix + rest)
    text = bytearray(header_bytes)
    if not _fill(connection, memoryview(text)):
        return None
    header = parse_header(text)
    return header, Memory(header["tensors"], header["times"], *descriptors)


def _fill(connection: socket.socket, buffer: memoryview) -> bool:
    while buffer:
        received = connection.recv_into(buffer)
        if received == 0:
            return False
        buffer = buffer[received:]
    return True


# --- One call, or several equal ones ----------------------------------------------------------------------------------


def answers(backend: Backend, header: dict[str, Any], memory: Memory) -> Iterator[bytes]:
    """The frames of the replies to equal calls, each of which has memory of its own. What one returned is held while
    the next is made, as a caller may hold it."""
    held: list[torch.Tensor] = []
    for turn in range(header["times"]):
        yield answer(backend, header, memory, turn, held)


def answer(backend: Backend, header: dict[str, Any], memory: Memory, turn: int, held: list[torch.Tensor]) -> bytes:
    """The frame of the reply: the result, or how the call failed, and what became of the inputs. `held` are the tensors
    of the result before, whose place those of this one take."""
    reply: dict[str, Any] = {"call": header["call"]}
    contents: list[bytes] = []
    try:
        result = run(backend, header, memory.tensors(turn))
    except Exception as error:
        reply |= _failure(error)
    else:
        try:
            contents = _add_result(reply, result, partial(memory.behind, turn=turn), backend.views_share_memory)
            _take_the_place(held, [one for one in leaves(result) if isinstance(one, torch.Tensor)])
        except Exception as error:
            contents = []
            reply |= _unreadable(error)
    return frame(reply, payload_of(contents))


def _take_the_place(held: list[torch.Tensor], tensors: list[torch.Tensor]) -> None:
    """ValueError for a tensor in the memory of one that is held, and so overwritten."""
    taken = {one.untyped_storage().data_ptr() for one in held if one.device.type in _OF_POINTERS}
    for number, one in enumerate(tensors):
        if one.numel() and one.device.type in _OF_POINTERS and one.untyped_storage().data_ptr() in taken:
            raise ValueError(f"output {number} lies in the memory of the result before it, which is lost")
    held[:] = [one for one in tensors if one.numel()]


def _failure(error: Exception) -> dict[str, Any]:
    status, reason = classify(error)
    declared = isinstance(error, Unsupported)
    return {"status": status, "reason": reason, "declared": declared, "retire": device_is_lost(error)}


def _unreadable(error: Exception) -> dict[str, Any]:
    """The call was done, so whatever reading its result raises does not say that it is not supported."""
    failure = _failure(error)
    if failure["status"] in ("unsupported", "fallback"):
        failure["reason"] = f"the result cannot be read: {failure['reason']}"
    return {**failure, "status": "error", "declared": False}


def run(backend: Backend, header: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
    """What the backend returns for the call in `header` with these tensors."""
    for number in header["requires_grad"]:
        tensors[number].requires_grad_()
    args = [from_tree(tree, tensors, torch_object) for tree in header["args"]]
    kwargs = {name: from_tree(tree, tensors, torch_object) for name, tree in header["kwargs"].items()}
    if header["program"] is not None:
        return tuple(backend.run_program(header["program"], args))
    if (asked := header.get("gradients")) is not None:
        cotangents = [from_tree(tree, tensors) for tree in asked["cotangents"]]
        return tuple(backend.gradients(header["op"], args, kwargs, cotangents, asked["wanted"]))
    if header["module_path"] is None:
        return backend.run(header["op"], args, kwargs)
    module = _module(header["module_path"], tensors[-1])
    results = tuple(leaves(backend.run_module(module, args, kwargs)))
    return *results, *(getattr(module, "_orig_mod", module).get_buffer(name) for name in header["buffers"])


def _module(path: list[str], pickled: torch.Tensor) -> torch.nn.Module:
    """The parent's module, a copy for this call alone; Unsupported where its code cannot be imported here."""
    sys.path += [entry for entry in path if entry not in sys.path]
    try:
        module = pickle.loads(pickled.numpy().tobytes())
    except Exception as error:
        raise Unsupported(f"the module cannot be loaded in the worker: {type(error).__name__}: {error}") from None
    given.bring_home({one for part in module.modules() for one in type(part).__mro__})
    return module


def torch_object(kind: str, name: str) -> Any:
    """The torch.dtype, memory_format, layout or device of this name."""
    return torch.device(name) if kind == "device" else getattr(torch, name)


def _add_result(
    reply: dict[str, Any], result: Any, argument_behind: Callable[[torch.Tensor], int | None], are_all_told: bool
) -> list[bytes]:
    """Writes status, result, outputs and the argument that each shares memory with, or None, into `reply`; the outputs'
    bytes, brought to the CPU. Of one elsewhere than in the CPU's memory nothing is known, unless `are_all_told`."""
    tensors: list[torch.Tensor] = []

    def tensor_number(value: Any) -> int | None:
        if not isinstance(value, torch.Tensor):
            return None
        tensors.append(value)
        return len(tensors) - 1

    try:
        tree = to_tree(result, tensor_number)
    except TypeError as error:
        raise TypeError(f"run returned {error}; expected tensors, numbers, None, tuples and lists of these") from None
    outputs = [output_of(tensor, number) for number, tensor in enumerate(tensors)]
    told = [(number, one) for number, one in enumerate(tensors) if are_all_told or one.device.type == "cpu"]
    aliases = [[number, argument_behind(one)] for number, one in told]
    reply.update(status="ok", result=tree, outputs=[description for description, _ in outputs], aliases=aliases)
    return [content for _, content in outputs]
