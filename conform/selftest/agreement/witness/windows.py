"""Witness calls of pooling."""

from __future__ import annotations

from collections.abc import Iterator

from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witnesses import Call, witness

_VARIANTS: tuple[dict, ...] = (
    {"kernel_size": [2, 2]},
    {"kernel_size": [3]},
    {"kernel_size": [3, 2], "stride": [2, 1]},
    {"kernel_size": [2, 2], "stride": [1]},
    {"kernel_size": [3, 3], "stride": [2], "padding": [1]},
    {"kernel_size": [3, 4], "stride": [3, 2], "padding": [1, 2], "count_include_pad": False},
    {"kernel_size": [3, 2], "stride": [3, 3], "ceil_mode": True},
    {"kernel_size": [3, 3], "stride": [2, 3], "padding": [1, 1], "ceil_mode": True, "count_include_pad": False},
    {"kernel_size": [2, 2], "padding": [1, 1], "ceil_mode": True},
    {"kernel_size": [2, 3], "stride": [1, 1], "divisor_override": 5},
    {"kernel_size": [2, 2], "stride": [1, 2], "padding": [1, 0], "divisor_override": -3},
    {"kernel_size": [1, 1]},
)
_REFUSED: tuple[dict, ...] = (
    {"kernel_size": [2, 2], "padding": [2, 0]},
    {"kernel_size": [2, 2], "padding": [-1, 0]},
    {"kernel_size": [40, 2]},
    {"kernel_size": [2, 2], "divisor_override": 0},
    {"kernel_size": [2, 2], "stride": [0, 1]},
)


@witness("aten::avg_pool2d")
def avg_pool2d(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for variant in _VARIANTS:
        yield {"self": draw.sparse(dtype, 3, 14, 13), **variant}
        yield {"self": draw.sparse(dtype, 2, 2, 9, 11), **variant}
    yield {"self": draw.wild(dtype, 5, 20, 10), "kernel_size": [1, 2]}
    yield {"self": draw.tame(dtype, 0, 2, 5, 6), "kernel_size": [2, 2]}
    for variant in _REFUSED:
        yield {"self": draw.tame(dtype, 2, 9, 8), **variant}
    for shape in ((5, 6), (0, 5, 6), (2, 3, 0, 6)):
        yield {"self": draw.tame(dtype, *shape), "kernel_size": [2, 2]}
