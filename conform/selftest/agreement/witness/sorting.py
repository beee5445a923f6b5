"""Witness calls of sorting."""

from __future__ import annotations

from collections.abc import Iterator

from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witnesses import Call, witness


@witness("aten::sort", "aten::sort.stable")
def sort(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    stable: tuple[dict, ...] = (
        ({"stable": True}, {"stable": False}, {"stable": None}) if op == "aten::sort.stable" else ({},)
    )
    for descending in (False, True):
        for shape, dim in (
            ((30, 9), -1),
            ((8, 40), 0),
            ((3, 12, 5), 1),
            ((150,), 0),
            ((), 0),
            ((), -1),
            ((1, 4), 0),
            ((0, 3), 0),
            ((3, 0), 1),
        ):
            for keyword in stable:
                yield {"self": draw.wild(dtype, *shape), "dim": dim, "descending": descending, **keyword}
                yield {"self": draw.tame(dtype, *shape), "dim": dim, "descending": descending, **keyword}
    for dim in (2, -3):
        yield {"self": draw.tame(dtype, 2, 3), "dim": dim, **stable[0]}
