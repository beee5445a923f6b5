"""StableHLO's collectives, element by element from the specification's text, on processes (replica, partition).

A tensor is its shape and a dict from indices to elements. Independent of the interpreter: no code is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

Process = tuple[int, int]
Array = tuple[tuple[int, ...], dict[tuple[int, ...], int]]
Operands = dict[Process, Array]


def peers(process: Process, rows: list[list[int]], strategy: str, partitions: int) -> list[Process]:
    """The process group of a process by a strategy's name; empty where it is in none."""
    replica, partition = process
    if strategy == "flattened_ids":
        own = replica * partitions + partition
        return [(one // partitions, one % partitions) for row in rows if own in row for one in row]
    if strategy == "cross_partition":
        return [(replica, one) for row in rows if partition in row for one in row]
    if strategy == "cross_replica":
        return [(one, partition) for row in rows if replica in row for one in row]
    return [(one, each) for row in rows if replica in row for each in range(partitions) for one in row]


def _indices(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return product(*map(range, shape))


def _sized(shape: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    return (*shape[:dim], size, *shape[dim + 1 :])


def all_gather(operands: Operands, group: list[Process], dim: int) -> Array:
    """Element i along dim is element i % n of the process i // n of the group."""
    old = operands[group[0]][0]
    shape = _sized(old, dim, old[dim] * len(group))
    found = {}
    for index in _indices(shape):
        sender, at = divmod(index[dim], old[dim])
        found[index] = operands[group[sender]][1][_sized(index, dim, at)]
    return shape, found


def all_reduce(operands: Operands, group: list[Process], combine: Callable[[int, int], int]) -> Array:
    """The elements of the group at one index, from the first to the last."""
    shape, found = operands[group[0]][0], {}
    for index in _indices(shape):
        found[index] = operands[group[0]][1][index]
        for process in group[1:]:
            found[index] = combine(found[index], operands[process][1][index])
    return shape, found


def reduce_scatter(
    operands: Operands, group: list[Process], combine: Callable[[int, int], int], process: Process, dim: int
) -> Array:
    """The part of all_reduce whose number is the place of the process in its group."""
    whole, values = all_reduce(operands, group, combine)
    size = whole[dim] // len(group)
    first = group.index(process) * size
    shape = _sized(whole, dim, size)
    return shape, {index: values[_sized(index, dim, first + index[dim])] for index in _indices(shape)}


def all_to_all(operands: Operands, group: list[Process], process: Process, split: int, concat: int) -> Array:
    """Of each process of the group, in order along concat, the part that is for this one's place along split."""
    old, place = operands[group[0]][0], group.index(process)
    part = _sized(old, split, old[split] // len(group))
    shape, found = _sized(part, concat, part[concat] * len(group)), {}
    for index in _indices(shape):
        sender, at = divmod(index[concat], part[concat])
        inside = _sized(index, concat, at)
        found[index] = operands[group[sender]][1][_sized(inside, split, inside[split] + place * part[split])]
    return shape, found


def from_one(operands: Operands, source: Process | None, process: Process) -> Array:
    """What the source has, or zeros where there is none."""
    shape, _ = operands[process]
    return shape, {index: operands[source][1][index] if source else 0 for index in _indices(shape)}
