"""Calls of the variants that write their results into arguments: in place, or into tensors that are given as `out`.

What such an op computes the overload shows that returns it, in the suite `core`. These calls show where it is written:
in each dtype, in every layout of each argument, over what stands there, over nothing, and what must not be written.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator

from conform.domains.engine.arguments import Argument
from conform.domains.engine.meta_tuple import MetaTuple
from conform.domains.engine.op_spec import OpSpec
from conform.suites.derived.plain import Plain
from conform.suites.derived.refusals import of_refusals
from conform.suites.derived.targets import Derived, met

IN_EVERY_LAYOUT = "float32"
SIZES = (5, 7, 3)
RANKS = (2, 3)  # the first in which the result fits
LONG = 1031
SHAPES = {"rank_0": (), "shape_0x7": (0, 7), f"size_{LONG}": (3, LONG)}


def of_writes(spec: OpSpec) -> Iterator[Derived]:
    """The targets of one variant."""
    widest = IN_EVERY_LAYOUT if IN_EVERY_LAYOUT in spec.dtypes else next(iter(spec.dtypes), None)
    for dtype in spec.dtypes:
        layouts = "all" if dtype == widest else "as-written"
        wishes = (Plain(spec, dtype, rank=rank, sizes=SIZES) for rank in RANKS)
        fitting = (one for wish in wishes for one in _met(spec, f"dtype_{dtype}", wish, layouts))
        yield from itertools.islice(fitting, 1)
    for name, shape in SHAPES.items():
        yield from _met(spec, name, Plain(spec, rank=len(shape), sizes=shape))
    outs = [one for one in spec.arguments if one.type.name == "Out"]
    if outs:
        yield from (_resized(one, outs) for one in _met(spec, "without_elements", Plain(spec, sizes=SIZES)))
    yield from of_refusals(spec, outs or ([spec.holder] if spec.holder else []))


def _met(spec: OpSpec, name: str, wish: Plain, layouts: str = "as-written") -> Iterator[Derived]:
    return met(spec, name, wish, lambda metas: True, layouts=layouts)


def _resized(one: Derived, outs: list[Argument]) -> Derived:
    """The call whose out arguments have no elements yet."""
    metas = dict(one.tuple_.arguments)
    for name in (argument.name for argument in outs):
        metas[name] = copy.copy(metas[name])
        metas[name].structure = (0,)
    return Derived(one.name, MetaTuple(one.tuple_.op, one.tuple_.number, metas, one.tuple_.omitted))
