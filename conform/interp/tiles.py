"""Goldens of matrices, tile by tile."""

from __future__ import annotations

from collections.abc import Callable

from conform.interp.assembly import Assembly
from conform.interp.blocks import fits, spans
from conform.interp.golden import Golden

ROWS = 256  # of a tile, where there are so many: what has to be done for a column is done once for all of them


def by_tiles(function: Callable[[slice, slice], Golden], shape: tuple[int, int], width: int = 1) -> Golden:
    """The golden [m, n] of which `function` gives that of some rows and columns, `width` elements being worked on for
    each row where those are more than its columns."""
    count, columns = shape
    if fits(count * max(columns, width)):
        return function(slice(0, count), slice(0, columns))
    whole, at_once = Assembly(count, columns), min(next(spans(count, width)).stop, ROWS)
    for some in spans(columns, at_once):
        for rows in spans(count, max(some.stop - some.start, width)):
            whole.fill((rows, some), function(rows, some))
    return whole.golden()
