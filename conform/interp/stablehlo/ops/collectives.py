"""What the processes of a group make together. Reductions take them in the order of the group, without an initial
value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.program.evaluation import Run
from conform.interp.stablehlo.dequantized import is_promotable, promoted, zeros
from conform.interp.stablehlo.groups import (
    channel_of,
    checked_groups,
    checked_pairs,
    covers_grid,
    own_group,
    replica_groups,
    replicas_or_partitions,
    within_grid,
)
from conform.interp.stablehlo.processes import ProcessId, placed
from conform.interp.stablehlo.quantized import PER_TENSOR, PER_TENSOR_INPUTS
from conform.interp.stablehlo.regions import on_elements, same_scalars
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor

Arrays = list[np.ndarray]


@meaning("stablehlo.partition_id")
def partition_id(call: Call) -> np.ndarray:
    """The place of the process in its row of the grid"""
    return np.asarray(call.process.id.partition, np.uint32)


@meaning("stablehlo.replica_id")
def replica_id(call: Call) -> np.ndarray:
    """The place of the process in its column of the grid"""
    return np.asarray(call.process.id.replica, np.uint32)


# Groups


def _states(call: Call, constraint: str, at: int, dtype: str, shape: Sequence[int]) -> None:
    result = call.results[at]
    call.require(constraint, result.holds(dtype, tuple(shape)),
                 f"the result {result}, expected {dtype}{list(shape)}")  # fmt: skip


def _scaled(shape: Sequence[int], dim: int, factor: int) -> tuple[int, ...]:
    return tuple(size * factor if at == dim else size for at, size in enumerate(shape))


def _as_many_results(call: Call, constraint: str) -> None:
    counts = len(call.operands), len(call.results)
    call.require(constraint, counts[0] == counts[1] >= 1, f"{counts[0]} operands and {counts[1]} results")


def _of_group(call: Call, group: Sequence[ProcessId]) -> list[tuple[Tensor, ...]]:
    """The operands of all processes of the group, which have one type."""
    given = call.process.collective(call.op, channel_of(call), group, call.operands)
    for process, operands in zip(group, given, strict=True):
        _same_types(call, call.operands, operands, process)
    return given


def _same_types(call: Call, own: Sequence[Tensor], other: Sequence[Tensor], process: ProcessId) -> None:
    if [str(one) for one in own] != [str(one) for one in other]:
        raise InvalidArguments(f"{call.op.name}: the operand of process {call.process.id} is {_listed(own)}, that of "
                               f"{process} {_listed(other)}: expected one type")  # fmt: skip


def _listed(tensors: Sequence[Tensor]) -> str:
    return ", ".join(map(str, tensors))


@meaning("stablehlo.all_gather", quantized=PER_TENSOR_INPUTS)
def all_gather(call: Call) -> Arrays:
    """The operands of all processes of a group, one behind the other along all_gather_dim"""
    _as_many_results(call, "C6")
    dim = int(call.attributes["all_gather_dim"])
    for one in call.operands:
        call.require("C1", 0 <= dim < one.rank, f"all_gather_dim {dim} of {one}")
    groups = checked_groups(call, "C2", "C4", "C5")
    size = len(groups[0]) if groups else 0
    for at, one in enumerate(call.operands):
        _states(call, "C6", at, one.dtype, _scaled(one.shape, dim, size))
    covers_grid(call, "C3")
    given = _of_group(call, own_group(call, groups))
    return [np.concatenate([one.array for one in each], dim) for each in zip(*given, strict=True)]


def _computation(call: Call, constraint: str, of_result: str) -> str:
    """The element type that the computation works in: that of the operands, or a wider one of its kind."""
    (body,) = call.regions
    taken = [one.dtype for one in body.function.arguments]
    call.require(constraint, len(taken) == 2, f"a computation of {len(taken)} arguments")
    name = taken[0]
    for one in call.operands:
        call.require(constraint, is_promotable(one, name), f"a computation of {name} for {one}")
    same_scalars(call, constraint, body, [name] * 2, [name])
    for result in call.results:
        call.require(of_result, result.dtype == name, f"the result {result} of a computation of {name}")
    return name


def _reduced(body: Run, dtype: str, given: Sequence[tuple[Tensor, ...]]) -> Arrays:
    """computation of the operands of all processes, one after the other."""
    wide = [[promoted(one, dtype) for one in each] for each in zip(*given, strict=True)]
    results = []
    for state, *others in wide:
        for other in others:
            (state,) = on_elements(body, state, other)
        results.append(state)
    return results


@meaning("stablehlo.all_reduce", quantized=PER_TENSOR_INPUTS)
def all_reduce(call: Call) -> Arrays:
    """computation of the operands of all processes of a group, element by element"""
    _as_many_results(call, "C6")
    groups = checked_groups(call, "C1", "C3", "C4")
    dtype = _computation(call, "C5", "C7")
    for at, one in enumerate(call.operands):
        _states(call, "C6", at, dtype, one.shape)
    covers_grid(call, "C2")
    return _reduced(call.regions[0], dtype, _of_group(call, own_group(call, groups)))


@meaning("stablehlo.reduce_scatter", quantized=PER_TENSOR_INPUTS)
def reduce_scatter(call: Call) -> np.ndarray:
    """Of what all_reduce gives, cut along scatter_dimension, each process the part of its place in the group"""
    (operand,) = call.operands
    dim = int(call.attributes["scatter_dimension"])
    call.require("C2", 0 <= dim < operand.rank, f"scatter_dimension {dim} of {operand}")
    groups = checked_groups(call, "C3", "C5", "C6")
    parts = len(groups[0]) if groups else 1
    call.require("C1", parts > 0 and operand.shape[dim] % parts == 0, f"{operand} for groups of {parts} processes")
    dtype = _computation(call, "C7", "C9")
    size = operand.shape[dim] // parts
    _states(call, "C8", 0, dtype, [size if at == dim else each for at, each in enumerate(operand.shape)])
    covers_grid(call, "C4")
    group = own_group(call, groups)
    (whole,) = _reduced(call.regions[0], dtype, _of_group(call, group))
    return np.split(whole, parts, dim)[group.index(call.process.id)]


@meaning("stablehlo.all_to_all", quantized=PER_TENSOR_INPUTS)
def all_to_all(call: Call) -> Arrays:
    """Each operand is cut along split_dimension, a part for each process of the group, which puts those that it gets
    one behind the other along concat_dimension"""
    split, concat, count = (
        int(call.attributes[name]) for name in ("split_dimension", "concat_dimension", "split_count")
    )
    _as_many_results(call, "C9")
    call.require("C4", count > 0, f"split_count {count}")
    for one in call.operands:
        call.require("C1", 0 <= split < one.rank, f"split_dimension {split} of {one}")
        call.require("C2", one.shape[split] % count == 0, f"split_count {count} of {one}")
        call.require("C3", 0 <= concat < one.rank, f"concat_dimension {concat} of {one}")
    ids = replica_groups(call)
    call.require("C5", len(set(ids.ravel().tolist())) == ids.size, f"replica_groups {ids.tolist()}")
    call.require("C7", bool(((ids >= 0) & (ids < ids.size)).all()), f"replica_groups {ids.tolist()}")
    call.require("C8", ids.shape[1] == count, f"replica_groups {ids.tolist()} with the split_count {count}")
    for at, one in enumerate(call.operands):
        parted = [size // count if at == split else size for at, size in enumerate(one.shape)]
        _states(call, "C9", at, one.dtype, _scaled(parted, concat, count))
    strategy, number = replicas_or_partitions(call)
    call.require("C6", ids.size == number, f"replica_groups {ids.tolist()} in a grid of {number}")
    group = own_group(call, strategy(call.process.exchange, ids))
    given, place = _of_group(call, group), group.index(call.process.id)
    return [
        np.concatenate([np.split(one.array, count, split)[place] for one in each], concat)
        for each in zip(*given, strict=True)
    ]


# From one process to others


def _from(call: Call, sources: dict[ProcessId, ProcessId]) -> np.ndarray:
    """What the source of the process, if it has one, gives at the same op; otherwise zeros. Who gives does not wait.
    `sources`: those of all processes that have one."""
    process, exchange = call.process, call.process.exchange
    key = exchange.occurrence(process.id, call.op.name, channel_of(call), tuple(sources.items()))
    takers = sum(source == process.id for source in sources.values())
    exchange.give(key, process.id, call.operands[0], takers)
    source = sources.get(process.id)
    if source is None:
        return zeros(call.operands[0])
    (found,) = exchange.take(key, [source], process.id, f"{placed(call.op)} for {source}")
    _same_types(call, call.operands, [found], source)
    return found.array


@meaning("stablehlo.collective_broadcast", quantized=PER_TENSOR)
def collective_broadcast(call: Call) -> np.ndarray:
    """The operand of the first process of a group, to all of it; zeros where a process is in no group"""
    (operand,) = call.operands
    ids = replica_groups(call)
    call.require("C1", len(set(ids.ravel().tolist())) == ids.size, f"replica_groups {ids.tolist()}")
    _states(call, "C3", 0, operand.dtype, operand.shape)
    within_grid(call, "C2", "replica_groups", ids)
    strategy, _ = replicas_or_partitions(call)
    groups = strategy(call.process.exchange, ids)
    return _from(call, {process: group[0] for group in groups for process in group})


@meaning("stablehlo.collective_permute", quantized=PER_TENSOR)
def collective_permute(call: Call) -> np.ndarray:
    """The operand of the process that has this one for its target in source_target_pairs; zeros where there is none"""
    (operand,) = call.operands
    pairs = checked_pairs(call, "C1", "C2", "C3")
    _states(call, "C5", 0, operand.dtype, operand.shape)
    within_grid(call, "C4", "source_target_pairs", pairs)
    strategy, _ = replicas_or_partitions(call)
    groups = strategy(call.process.exchange, pairs)
    return _from(call, {target: source for source, target in groups})
