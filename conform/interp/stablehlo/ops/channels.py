"""Messages between processes, what is fed in from outside, and the ops of the interpreter's own dialect.

A send does not wait; what it sends waits for the one that receives it. There is no host beside the processes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.errors import InvalidArguments, Unjudged, UsageError
from conform.interp.stablehlo.groups import channel_of, checked_pairs, replicas_or_partitions, within_grid
from conform.interp.stablehlo.processes import Exchange, Process, ProcessId, placed
from conform.interp.stablehlo.quantized import AS_THEY_ARE
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import TOKEN, Tensor, Token

CHANNEL_TYPES = {1: "DEVICE_TO_DEVICE", 2: "DEVICE_TO_HOST", 3: "HOST_TO_DEVICE"}


def _ends_in_token(call: Call, constraint: str, values: tuple[Any, ...], what: str) -> None:
    is_token = bool(values) and values[-1].dtype == TOKEN
    call.require(constraint, is_token, f"{what} that do not end in a token")


def _payload_results(call: Call, some: str, tensors: str, token: str) -> None:
    """The results are tensors, and a token behind them."""
    call.require(some, len(call.results) > 0, "no results")
    plain = all(one.dtype != TOKEN and not one.dtype.startswith("tuple<") for one in call.results[:-1])
    call.require(tensors, plain, f"the results {', '.join(map(str, call.results))}")
    _ends_in_token(call, token, call.results, "results")


def _as_stated(call: Call, given: tuple[Any, ...], source: str) -> tuple[Any, ...]:
    stated = call.results[:-1]
    fits = len(given) == len(stated) and all(
        value.holds(one.dtype, one.shape) for value, one in zip(stated, given, strict=True)
    )
    if not fits:
        raise InvalidArguments(f"{call.op.name}: {source} gives {_listed(given)}, the results are {_listed(stated)}")
    return (*given, Token())


def _listed(values: tuple[Any, ...]) -> str:
    return ", ".join(map(str, values)) or "nothing"


# Channels


def _device_to_device(call: Call, host_type: int) -> None:
    """(C5) The type of the channel is that of is_host_transfer. Unjudged of transfers from and to a host."""
    of_host = bool(call.get("is_host_transfer", False))
    kind = int(call.get("channel_handle", {}).get("type", 1))
    expected = host_type if of_host else 1
    call.require("C5", kind == expected, f"a channel of the type {CHANNEL_TYPES.get(kind, kind)} with is_host_transfer "
                                         f"{str(of_host).lower()}, expected {CHANNEL_TYPES[expected]}")  # fmt: skip
    if of_host:
        raise Unjudged(f"{call.op.name}: a transfer {'to' if host_type == 2 else 'from'} the host, which a grid of "
                       f"processes does not have")  # fmt: skip


def _peer(call: Call, is_source: bool) -> ProcessId | None:
    """The other end of the channel by source_target_pairs; None where there are no pairs, and one process at each
    end."""
    pairs = checked_pairs(call, "C1", "C2", "C3") if "source_target_pairs" in call.attributes else np.zeros((0, 2))
    if not pairs.size:
        return None
    within_grid(call, "C4", "source_target_pairs", pairs)
    strategy, _ = replicas_or_partitions(call)
    for source, target in strategy(call.process.exchange, pairs):
        if (source if is_source else target) == call.process.id:
            return target if is_source else source
    raise InvalidArguments(f"{call.op.name}: process {call.process.id} is no {'source' if is_source else 'target'} in "
                           f"source_target_pairs {pairs.astype(int).tolist()}")  # fmt: skip


def _message(call: Call, is_source: bool) -> tuple[Any, ...]:
    """The key of the next message of this process in the channel."""
    process, exchange, channel = call.process, call.process.exchange, channel_of(call)
    peer = _peer(call, is_source)
    if peer is None:
        exchange.only("send to" if is_source else "receive from", f"channel {channel}", process.id)
        return exchange.occurrence(process.id, "send" if is_source else "recv", channel, None)[1:]
    ends = (process.id, peer) if is_source else (peer, process.id)
    return exchange.occurrence(process.id, "send" if is_source else "recv", channel, ends)[1:]


@meaning("stablehlo.send", quantized=AS_THEY_ARE)
def send(call: Call) -> Token:
    """The inputs, into a channel"""
    _ends_in_token(call, "I2", call.operands, "operands")
    _device_to_device(call, host_type=2)
    key, exchange = _message(call, is_source=True), call.process.exchange
    exchange.given["message", key] = call.operands[:-1]
    exchange.sent["message", key] = f"{placed(call.op)} of process {call.process.id} into channel {channel_of(call)}"
    return Token()


@meaning("stablehlo.recv", quantized=AS_THEY_ARE)
def recv(call: Call) -> tuple[Any, ...]:
    """What is sent into a channel, in the order in which it is sent"""
    _ends_in_token(call, "I1", call.operands, "operands")
    _payload_results(call, "C6", "C7", "C8")
    _device_to_device(call, host_type=3)
    key, exchange = ("message", _message(call, is_source=False)), call.process.exchange
    exchange.until(call.process.id, lambda: key in exchange.given, f"{placed(call.op)} for channel {channel_of(call)}")
    exchange.sent.pop(key)
    return _as_stated(call, exchange.given.pop(key), f"channel {channel_of(call)}")


# What is fed in and out


@meaning("stablehlo.infeed", quantized=AS_THEY_ARE)
def infeed(call: Call) -> tuple[Any, ...]:
    """What the next function of the infeed of run_parallel gives"""
    _payload_results(call, "C1", "C2", "C3")
    call.get("infeed_config", None), call.get("layout", None)
    process, exchange = call.process, call.process.exchange
    exchange.only("read", "infeed", process.id)
    if exchange.fed >= len(exchange.infeed):
        raise UsageError(f"{call.op.name}: the infeed has run dry: it had {len(exchange.infeed)} functions")
    exchange.fed += 1
    return _as_stated(call, exchange.infeed[exchange.fed - 1](), "the infeed")


@meaning("stablehlo.outfeed", quantized=AS_THEY_ARE)
def outfeed(call: Call) -> Token:
    """The inputs, to where nothing of a program reads them"""
    _ends_in_token(call, "I2", call.operands, "operands")
    call.get("outfeed_config", None)
    return Token()


# The interpreter's own dialect


@meaning("interpreter.run_parallel", quantized=AS_THEY_ARE)
def run_parallel(call: Call) -> tuple[Any, ...]:
    """programs[replica][partition] as the processes of a grid: each takes as many of the operands as it has arguments,
    and their results follow each other"""
    rows = call.attributes["programs"]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InvalidArguments(f"{call.op.name}: programs are rows of {[len(row) for row in rows]}, expected a grid")
    if call.process.evaluated is None:
        raise Unjudged(f"{call.op.name} in an interpreter that runs no processes")
    count = len(rows) * len(rows[0])
    fed = [lambda one=one: one() for one in call.regions[count:]]
    call.get("infeed", ())
    exchange = Exchange(len(rows), len(rows[0]), fed)
    results = exchange.run(_tasks(call, exchange, count))
    if exchange.sent:
        raise UsageError(f"{call.op.name}: nobody received what was sent by {'; '.join(exchange.sent.values())}")
    return tuple(one for each in results for one in each)


def _tasks(call: Call, exchange: Exchange, count: int) -> list[Any]:
    functions = [one.function for one in call.regions[:count]]
    taken = sum(len(one.arguments) for one in functions)
    if taken != len(call.operands):
        raise InvalidArguments(f"{call.op.name}: {len(call.operands)} operands, the programs take {taken}")
    tasks, at = [], 0
    for process, function in zip(exchange.ids, functions, strict=True):
        inputs = call.operands[at : at + len(function.arguments)]
        at += len(function.arguments)
        one = Process(process, exchange, call.process.evaluated, call.process.told)
        tasks.append(lambda function=function, inputs=inputs, one=one: one.evaluated(function, inputs, one))
    return tasks


@meaning("interpreter.print", quantized=AS_THEY_ARE)
def print_(call: Call) -> tuple[()]:
    """Nothing; the operand is shown"""
    call.process.told.printed.append((call.op.location, call.operands[0]))
    return ()


@meaning("interpreter.probe", quantized=AS_THEY_ARE)
def probe(call: Call) -> Tensor:
    """The operand, which is kept under probe_id"""
    if not isinstance(call.operands[0], Tensor):
        raise InvalidArguments(f"{call.op.name}: found {call.operands[0]}, expected a tensor")
    call.process.told.probed.setdefault(str(call.attributes["probe_id"]), []).append(call.operands[0])
    return call.operands[0]
