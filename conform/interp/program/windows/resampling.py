"""Rules of resampling: sums of few elements, with weights that the op's own semantics gives to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conform.interp.program.apply import apply
from conform.interp.program.contraction.matrices import weighted
from conform.interp.program.number import Number
from conform.interp.program.rules import rule, unbounded_where
from conform.numerics.formats import compute_format

OF_ONE = 1.5  # a scale by which one element stays one


def _define_resampling(op: str, rank: int, taps: int) -> None:
    def resampled(
        input: Number,
        output_size: Sequence[int] | None,
        align_corners: bool | None = None,
        scale_factors: Sequence[float] | None = None,
    ) -> Any:
        """One dim after the other, each with the weights that the op gives to single elements there."""
        if input.array is not None:
            return NotImplemented
        result = input
        for dim in range(rank):
            weights = _weights(op, rank, dim, result, output_size, align_corners, scale_factors)
            weights = weights if taps == 1 else _beside(weights)
            result = _along(result, 2 + dim, weights, taps)
        return result

    rule(f"{op}.vec", selects=taps == 1)(resampled)


for _rank, _linear in ((1, "linear1d"), (2, "bilinear2d"), (3, "trilinear3d")):
    _define_resampling(f"aten::upsample_{_linear}", _rank, taps=2)
    _define_resampling(f"aten::upsample_nearest{_rank}d", _rank, taps=1)
    _define_resampling(f"aten::_upsample_nearest_exact{_rank}d", _rank, taps=1)


def _weights(
    op: str, rank: int, dim: int, input: Number, output_size: Sequence[int] | None, align_corners: bool | None,
    scale_factors: Sequence[float] | None,
) -> Number:  # fmt: skip
    """[size, size of the result] of one dim: what the op makes of one element that is 1, where all other dims have a
    single one."""

    def alone(values: Sequence[Any] | None, other: Any) -> list[Any] | None:
        return None if values is None else [value if at == dim else other for at, value in enumerate(values)]

    size = input.shape[2 + dim]
    shape = [size, 1, *(size if at == dim else 1 for at in range(rank))]
    ones = np.eye(size, dtype=compute_format(input.format).storage).reshape(shape)
    given = {} if align_corners is None else {"align_corners": align_corners}
    found = apply(f"{op}.vec", ones, alone(output_size, 1), scale_factors=alone(scale_factors, OF_ONE), **given)
    return found.moved(lambda part: part.reshape(size, -1))


def _beside(weights: Number) -> Number:
    """The weights, where a place that falls on an element may come out on either side of it: what the others lose, the
    elements beside them may get."""
    near = np.pad(weights.real.hi != 0, ((1, 1), (0, 0)))
    near = near[:-2] | near[1:-1] | near[2:]
    largest = weights.rad.max(axis=0, initial=0.0)
    return replace(weights, rad=np.where(near, np.maximum(weights.rad, largest), weights.rad), array=None)


def _along(input: Number, axis: int, weights: Number, taps: int) -> Number:
    """The sums along one dim. Of an infinity or NaN nothing is said: what has no weight is not read."""
    rows = input.moved(lambda part: np.moveaxis(part, axis, -1).reshape(-1, part.shape[axis]))
    special = ~np.isfinite(rows.real.hi).all(1, keepdims=True)
    roundings = taps + 1  # where the weights of several dims are multiplied first, one more each
    sums = unbounded_where(special, weighted(rows, weights, roundings))
    others = [size for at, size in enumerate(input.shape) if at != axis]
    return sums.moved(lambda part: np.moveaxis(part.reshape(*others, -1), -1, axis))
