"""The interpreter's collectives against the reference, on drawn grids, groups and shapes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.frontends.stablehlo import parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo.op_set import StableHLO
from conform.refs.stablehlo import collectives as refs

OPS = ("all_gather", "all_reduce", "reduce_scatter", "all_to_all", "collective_broadcast", "collective_permute")
SUBTRACT = """ ({
    ^bb0(%a: tensor<i16>, %b: tensor<i16>):
      %d = stablehlo.subtract %a, %b : tensor<i16>
      stablehlo.return %d : tensor<i16>
  })"""


def wrapped_difference(x: int, y: int) -> int:
    return (x - y + 2**15) % 2**16 - 2**15


class Drawn:
    """A grid, its groups, and an operand for each of its processes."""

    def __init__(self, op: str, seed: int) -> None:
        draw = np.random.default_rng([20261123, OPS.index(op), seed])
        self.op = op
        self.replicas, self.partitions = (int(one) for one in draw.integers(1, 4, 2))
        of_three = op in ("all_gather", "all_reduce", "reduce_scatter")
        names = ("cross_replica", "cross_replica_and_partition", "flattened_ids") if of_three else (
            "cross_replica", "cross_partition")  # fmt: skip
        self.strategy = names[int(draw.integers(len(names)))]
        number = {"flattened_ids": self.replicas * self.partitions, "cross_partition": self.partitions}
        ids = draw.permutation(number.get(self.strategy, self.replicas))
        sizes = [size for size in range(1, len(ids) + 1) if len(ids) % size == 0]
        self.rows = ids.reshape(-1, int(draw.choice(sizes))).tolist()
        if op == "collective_broadcast":
            self.rows = self.rows[: int(draw.integers(1, len(self.rows) + 1))]
        if op == "collective_permute":
            targets = draw.permutation(len(ids))
            self.rows = np.stack([ids, targets], 1)[: int(draw.integers(1, len(ids) + 1))].tolist()
        self.processes = list(product(range(self.replicas), range(self.partitions)))
        self.size = len(self.peers(self.processes[0]) if op != "collective_permute" else [0]) or 1
        rank = int(draw.integers(1, 4))
        self.shape = tuple(int(one) * self.size for one in draw.integers(0 if seed % 5 == 0 else 1, 3, rank))
        if op in ("all_gather", "reduce_scatter"):  # of which the parser takes no empty dimension
            self.shape = tuple(max(size, self.size) for size in self.shape)
        self.dim, self.concat = (int(one) for one in draw.integers(0, rank, 2))
        self.arrays = {one: draw.integers(-(2**15), 2**15, self.shape).astype(np.int16) for one in self.processes}

    def peers(self, process: refs.Process) -> list[refs.Process]:
        return refs.peers(process, self.rows, self.strategy, self.partitions)

    def expected(self, process: refs.Process) -> refs.Array:
        given = {one: (self.shape, {at: int(array[at]) for at in np.ndindex(self.shape)})
                 for one, array in self.arrays.items()}  # fmt: skip
        group = self.peers(process)
        if self.op == "all_gather":
            return refs.all_gather(given, group, self.dim)
        if self.op == "all_reduce":
            return refs.all_reduce(given, group, wrapped_difference)
        if self.op == "reduce_scatter":
            return refs.reduce_scatter(given, group, wrapped_difference, process, self.dim)
        if self.op == "all_to_all":
            return refs.all_to_all(given, group, process, self.dim, self.concat)
        return refs.from_one(given, self.source(process, group), process)

    def source(self, process: refs.Process, group: list[refs.Process]) -> refs.Process | None:
        if self.op == "collective_broadcast":
            return group[0] if group else None
        replica, partition = process
        if self.strategy == "cross_replica":
            return next(((source, partition) for source, target in self.rows if target == replica), None)
        return next(((replica, source) for source, target in self.rows if target == partition), None)

    def attributes(self) -> str:
        listed = f"dense<{self.rows}> : tensor<{len(self.rows)}x{len(self.rows[0])}xi64>"
        name = "source_target_pairs" if self.op == "collective_permute" else "replica_groups"
        channel = 0 if self.strategy == "cross_replica" else 1
        found = [f"{name} = {listed}", f"channel_handle = #stablehlo.channel_handle<handle = {channel}, type = 0>"]
        found += ["use_global_device_ids"] * (self.strategy == "flattened_ids")
        return ", ".join(found + {
            "all_gather": [f"all_gather_dim = {self.dim} : i64"],
            "reduce_scatter": [f"scatter_dimension = {self.dim} : i64"],
            "all_to_all": [f"split_dimension = {self.dim} : i64", f"concat_dimension = {self.concat} : i64",
                           f"split_count = {self.size} : i64"],
        }.get(self.op, []))  # fmt: skip

    def program(self, result: tuple[int, ...]) -> str:
        operand, to = (f"tensor<{''.join(f'{size}x' for size in shape)}i16>" for shape in (self.shape, result))
        count = len(self.processes)
        names = ", ".join(f"%x{at}" for at in range(count))
        rows = ", ".join(f"[{', '.join(['@process'] * self.partitions)}]" for _ in range(self.replicas))
        body = SUBTRACT if self.op in ("all_reduce", "reduce_scatter") else ""
        taken = ", ".join(f"%x{at}: {operand}" for at in range(count))
        return f"""module {{
  func.func @process(%x: {operand}) -> {to} {{
    %y = "stablehlo.{self.op}"(%x){body} {{{self.attributes()}}} : ({operand}) -> {to}
    return %y : {to}
  }}
  func.func @main({taken}) -> ({", ".join([to] * count)}) {{
    %r:{count} = "interpreter.run_parallel"({names}) {{programs = [{rows}]}} :
        ({", ".join([operand] * count)}) -> ({", ".join([to] * count)})
    return {", ".join(f"%r#{at}" for at in range(count))} : {", ".join([to] * count)}
  }}
}}"""


@pytest.mark.parametrize("op", OPS)
def test_collectives_agree_with_the_reference(op: str) -> None:
    from conform.interp.stablehlo.values import Tensor

    compared = 0
    for seed in range(25):
        drawn = Drawn(op, seed)
        expected = [drawn.expected(one) for one in drawn.processes]
        function = parse(drawn.program(expected[0][0]), "x.mlir").functions["main"]
        results = evaluate(Program(function), StableHLO(), [Tensor(one) for one in drawn.arrays.values()])
        for found, (shape, elements) in zip(results, expected, strict=True):
            assert found.shape == shape
            assert {at: int(found.array[at]) for at in np.ndindex(shape)} == elements, drawn.program(shape)
            compared += len(elements)
    assert compared > 100
