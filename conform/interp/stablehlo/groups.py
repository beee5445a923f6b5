"""Which processes of a grid work together: the grouping strategies of the specification's part on execution."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from conform.errors import Unjudged
from conform.interp.stablehlo.processes import Exchange, ProcessId
from conform.interp.stablehlo.registry import Call

Groups = list[list[ProcessId]]


def cross_replica(grid: Exchange, ids: np.ndarray) -> Groups:
    """Of replicas, in each partition by itself."""
    return [[ProcessId(r, p) for r in row] for row in ids.tolist() for p in range(grid.partitions)]


def cross_partition(grid: Exchange, ids: np.ndarray) -> Groups:
    """Of partitions, in each replica by itself."""
    return [[ProcessId(r, p) for p in row] for row in ids.tolist() for r in range(grid.replicas)]


def cross_replica_and_partition(grid: Exchange, ids: np.ndarray) -> Groups:
    """Of replicas, with all their partitions."""
    return [[ProcessId(r, p) for p in range(grid.partitions) for r in row] for row in ids.tolist()]


def flattened_ids(grid: Exchange, ids: np.ndarray) -> Groups:
    """Of processes, which are numbered replica by replica."""
    return [[ProcessId(*divmod(each, grid.partitions)) for each in row] for row in ids.tolist()]


def channel_of(call: Call) -> int:
    """channel_id: the handle of channel_handle, 0 where there is none."""
    return int(call.get("channel_handle", {}).get("handle", 0))


def replica_groups(call: Call) -> np.ndarray:
    """The attribute [groups, size]."""
    ids = np.asarray(call.attributes["replica_groups"], np.int64)
    return ids if ids.ndim == 2 else ids.reshape(-1, 1)


def checked_groups(call: Call, unique: str, range_: str, device_ids: str) -> Groups:
    """The groups of all_gather, all_reduce and reduce_scatter; the arguments name the constraints of each op."""
    ids, channel = replica_groups(call), channel_of(call)
    by_device = bool(call.get("use_global_device_ids", False))
    call.require(unique, _is_unique(ids), f"replica_groups {ids.tolist()}")
    call.require(range_, _is_within(ids, ids.size), f"replica_groups {ids.tolist()}")
    call.require(device_ids, channel > 0 or not by_device, f"use_global_device_ids with the channel_id {channel}")
    of_replicas = cross_replica_and_partition if channel > 0 else cross_replica
    if channel > 0 and not by_device:
        _needs_grid(call)
    return (flattened_ids if by_device else of_replicas)(call.process.exchange, ids)


def covers_grid(call: Call, constraint: str) -> None:
    """The groups of these ops hold every process. What the grid is only running tells, so this is asked last."""
    _needs_grid(call)
    grid, ids = call.process.exchange, replica_groups(call)
    by_device = bool(call.get("use_global_device_ids", False))
    count, what = (grid.replicas * grid.partitions, "processes") if by_device else (grid.replicas, "replicas")
    call.require(constraint, ids.size == count, f"replica_groups {ids.tolist()} in a grid of {count} {what}")


def _needs_grid(call: Call) -> None:
    """Unjudged where an op is only read, and not run."""
    if call.process.evaluated is None:
        raise Unjudged(f"{call.op.name}: what the grid of its processes is, only running tells")


def _is_unique(ids: np.ndarray) -> bool:
    return len(set(ids.ravel().tolist())) == ids.size


def _is_within(ids: np.ndarray, count: int) -> bool:
    return bool(((ids >= 0) & (ids < count)).all())


def checked_pairs(call: Call, *constraints: str) -> np.ndarray:
    """source_target_pairs [n, 2]; `constraints`: of their size, sources and targets."""
    size, sources, targets = constraints
    pairs = np.asarray(call.attributes["source_target_pairs"], np.int64)
    if pairs.size == 0:
        return pairs.reshape(0, 2)
    call.require(size, pairs.ndim == 2 and pairs.shape[1] == 2, f"source_target_pairs of the shape {list(pairs.shape)}")
    call.require(sources, _is_unique(pairs[:, 0]), f"source_target_pairs {pairs.tolist()}")
    call.require(targets, _is_unique(pairs[:, 1]), f"source_target_pairs {pairs.tolist()}")
    return pairs


def within_grid(call: Call, constraint: str, name: str, ids: np.ndarray) -> None:
    """All ids are those of replicas, or of partitions, of the grid."""
    _, count = replicas_or_partitions(call)
    call.require(constraint, _is_within(ids, count), f"{name} {ids.tolist()} in a grid of {count}")


def replicas_or_partitions(call: Call) -> tuple[Callable[[Exchange, np.ndarray], Groups], int]:
    """The strategy of an op that has no use_global_device_ids, by its channel_id, and how many there are of what its
    groups are of."""
    _needs_grid(call)
    grid = call.process.exchange
    return (cross_partition, grid.partitions) if channel_of(call) > 0 else (cross_replica, grid.replicas)


def own_group(call: Call, groups: Groups) -> Sequence[ProcessId]:
    """That in which the process is."""
    return next(group for group in groups if call.process.id in group)
