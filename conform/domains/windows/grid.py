"""Sampling at the places of a grid: the domain of its arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, integer, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.vocabulary import dtype_of, shaped, typically
from conform.domains.specs import FLOATS, spec

MODE = Value.In((0, 1, 2)).unjudged("grid_sampler checks it, torch's kernel does not")
spec(
    "aten::grid_sampler_2d",
    tensor(
        "input",
        Dtype.In(FLOATS).unjudged("torch needs no kernel: there are no results"),
        Rank.Eq(4),
        Size.Ge(lambda d: int(d > 1), text="1 where d > 1"),
    ),
    tensor(
        "grid",
        dtype_of("input"),
        Rank.Eq(4),
        Size.In(
            lambda input, d: (input.size(0),) if d == 0 else (2,) if d == 3 else ANYTHING,
            text="size(input, 0) where d = 0, 2 where d = 3",
        ),
        typically(-1.25, 1.25),
    ),
    integer("interpolation_mode", MODE),
    integer("padding_mode", MODE),
    boolean("align_corners"),
    result(dtype_of("input"), shaped(lambda input, grid: (*input.shape[:2], *grid.shape[1:3]))),
)
