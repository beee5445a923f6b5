"""Sampling at the places of a grid: the domain of its arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, integer, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.vocabulary import dtype_of, shaped, typically
from conform.domains.specs import FLOATS, spec

NO_RESULTS = "torch needs no kernel: there are no results"
UNCHECKED = "grid_sampler checks it, torch's kernel does not"


def _sampler(rank: int, modes: tuple[int, ...]) -> None:
    spec(
        f"aten::grid_sampler_{rank}d",
        tensor(
            "input",
            Dtype.In(FLOATS).unjudged(NO_RESULTS),
            Rank.Eq(rank + 2),
            Size.Ge(lambda d: int(d > 1), text="1 where d > 1"),
        ),
        tensor(
            "grid",
            dtype_of("input").unjudged(NO_RESULTS, lambda input, grid: 0 in (input.numel, grid.numel)),
            Rank.Eq(rank + 2),
            Size.In(
                lambda input, d: (input.size(0),) if d == 0 else (rank,) if d == rank + 1 else ANYTHING,
                text=f"size(input, 0) where d = 0, {rank} where d = {rank + 1}",
            ),
            typically(-1.25, 1.25),
        ),
        integer("interpolation_mode", Value.In(modes).unjudged(UNCHECKED)),
        integer("padding_mode", Value.In((0, 1, 2)).unjudged(UNCHECKED)),
        boolean("align_corners"),
        result(dtype_of("input"), shaped(lambda input, grid: (*input.shape[:2], *grid.shape[1:-1]))),
    )


_sampler(2, (0, 1, 2))
_sampler(3, (0, 1))
