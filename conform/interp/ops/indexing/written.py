"""What writes make of a tensor: replaced elements, and sums and other reductions of all that an element gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import Assembly, assembled
from conform.interp.blocks.blocks import Pieces, fits, flat, spans
from conform.interp.blocks.rows import Rows
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.indexing.places import Writes, width_of
from conform.interp.ops.reduction.sums import overflowing
from conform.numerics import accumulate as sums
from conform.numerics.digits import Digits, decide_digits, single_at
from conform.numerics.formats import Format
from conform.numerics.real import where

SHARE = 16  # blocks of elements, of which writes are counted at a time in a byte each
LOOKED_UP = 4  # blocks of writes that are looked up together


def filled(self: np.ndarray, fmt: Format, writes: Writes) -> Golden:
    """self with the values in their places; of several for one element the last."""
    result = self.copy().reshape(-1)
    for places, values in writes.blocks():
        result[places] = values
    return exact(result.reshape(self.shape), fmt)


def replaced(self: np.ndarray, fmt: Format, writes: Writes) -> Golden:
    """self with the values in their places; elements that are written to twice are open (P25)."""
    golden = filled(self, fmt, writes)
    repeated = _repeated(writes, self.size)
    return golden if repeated is None else golden.opened(repeated.reshape(self.shape), "P25")


def _repeated(writes: Writes, size: int) -> np.ndarray | None:
    """[size]: which elements are written to twice; None: no one. All writes are gone through for every share of the
    elements, which is as large as the byte for each of them lets it be."""
    repeated = None
    for block in spans(-(-size // SHARE)):
        share = slice(block.start * SHARE, min(block.stop * SHARE, size))
        times = np.zeros(width_of(share), np.uint8)  # how often an element was written to, 2 for more
        for places, _ in writes.blocks():
            inside = places[(places >= share.start) & (places < share.stop)] - share.start
            times[inside] = np.minimum(times[inside] + 1, 2)
            ordered = np.sort(inside)
            times[ordered[1:][ordered[1:] == ordered[:-1]]] = 2
        if (times > 1).any():
            repeated = np.zeros(size, bool) if repeated is None else repeated
            repeated[share] = times > 1
    return repeated


def joined(self: np.ndarray, fmt: Format, writes: Writes, operation: np.ufunc, first: Any = None) -> Golden:
    """Every write joined to its element, or to `first`, by an operation that needs no rounding; integers wrap."""
    result = self.copy().reshape(-1)
    for places, _ in () if first is None else writes.blocks():
        result[places] = first
    for places, values in writes.blocks():
        with np.errstate(over="ignore", invalid="ignore"):
            operation.at(result, places, values)
    return exact(result.reshape(self.shape), fmt)


def sums_of_writes(self: np.ndarray, fmt: Format, writes: Writes, first: Any = None) -> Golden:
    """Every write added to its element, or to `first`: integers wrap, of bools or, of floats a real sum per element,
    rounded once."""
    if not fmt.is_float:
        return joined(self, fmt, writes, np.logical_or if fmt.kind == "bool" else np.add, first)
    golden = assembled(_parts(self, fmt, writes, first), self.size)
    return golden.rearranged(lambda part: part.reshape(self.shape))


def counted_shares(writes: Writes, size: int) -> Iterator[tuple[slice, np.ndarray]]:
    """(some elements, how many writes each of them gets), of all in order: so many that their writes are looked up
    together, or a single one."""
    for block in spans(-(-size // LOOKED_UP)):
        several = slice(block.start * LOOKED_UP, min(block.stop * LOOKED_UP, size))
        counts = writes.counts(several)
        for some in halved(slice(0, width_of(several)), lambda some, counts=counts: are_looked_up(counts[some])):
            yield slice(several.start + some.start, several.start + some.stop), counts[some]


def _parts(self: np.ndarray, fmt: Format, writes: Writes, first: Any) -> Iterator[tuple[slice, Golden]]:
    """(some elements in order, the golden of their sums)."""
    for share, counts in counted_shares(writes, self.size):
        if not are_looked_up(counts):
            yield share, _sums(fmt, flat(self, share), counts, first, writes.to_element(share.start))
            continue
        numbers, done = writes.numbers(share, int(counts.sum())), 0
        for block in spans(width_of(share)):
            some, own = slice(share.start + block.start, share.start + block.stop), counts[block]
            ours = numbers[done : done + int(own.sum())]
            done += ours.size
            places = np.repeat(np.arange(own.size), own)
            yield some, _sums(fmt, flat(self, some), own, first, looked_up(places, writes.values, ours))


def are_looked_up(counts: np.ndarray) -> bool:
    """Whether so many writes are few enough to be looked up together, for which all writes are gone through: as many
    as take about the memory of other blocks."""
    return fits(int(counts.sum()) // LOOKED_UP)


def looked_up(places: np.ndarray, values: np.ndarray, numbers: np.ndarray) -> Pieces:
    """(places, values) of the writes `numbers`, which go to `places`."""
    return Pieces(
        lambda: ((places[some], values.flat[numbers[some]]) for some in spans(numbers.size)),
        are_many=not fits(numbers.size),
    )


def halved(whole: slice, suits: Callable[[slice], bool]) -> Iterator[slice]:
    """Parts of `whole` in order: halves of halves until one suits or is a single element."""
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        if width_of(part) <= 1 or suits(part):
            yield part
        else:
            middle = part.start + width_of(part) // 2
            waiting += [slice(middle, part.stop), slice(part.start, middle)]


def _sums(fmt: Format, elements: np.ndarray, counts: np.ndarray, first: Any, writes: Pieces) -> Golden:
    """Each element, or `first`, with the writes to its place added; one without writes is itself, -0 and NaN too."""
    written = counts > 0
    start = elements if first is None else np.where(written, first, elements)

    def pieces() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        yield np.arange(start.size), start.astype(np.float64)
        yield from ((places, values.astype(np.float64)) for places, values in writes)

    def exactly(index: Sequence[np.ndarray]) -> Digits:
        (wanted,) = index  # in order
        added = ((places, terms, np.isin(places, wanted)) for places, terms in pieces())
        chosen = ((np.searchsorted(wanted, places[some]), terms[some]) for places, terms, some in added)
        return reduce(add, (single_at(*each, wanted.size) for each in chosen))

    total = sums.total_at(Pieces(pieces, are_many=True), start.size)
    value, real = decide_digits(fmt, total.real, int(np.max(total.terms, initial=1)), exactly)
    value, real = np.where(written, value, elements), where(written, real, elements.astype(np.float64))
    golden = Golden(fmt, value, real, counts, total.magnitude, zero_sign_free=written)
    return golden.opened(overflowing(fmt, total), "P35")


def reduced_rows(self: np.ndarray, writes: Writes, with_self: bool, of_rows: Callable[[Rows], Golden]) -> Golden:
    """`of_rows` of what each element gets: a row of itself, if `with_self` or nothing is written to it, and of its
    writes; what nothing is written to stays. Rows of one length come together, in blocks."""
    if not self.size:
        return of_rows(Rows(np.empty((0, 1)), 0, 1)).rearranged(lambda part: part.reshape(self.shape))
    whole = Assembly(self.size)
    for share, own in counted_shares(writes, self.size):
        numbers = writes.numbers(share, int(own.sum()))
        starts = np.cumsum(own) - own
        for count in np.unique(own):
            elements = np.flatnonzero(own == count)
            for block in spans(elements.size, int(count) + 1):
                some = elements[block]
                values = writes.values.flat[numbers[starts[some][:, None] + np.arange(count)]].reshape(some.size, count)
                first = [flat(self, share.start + some)[:, None]] if with_self or not count else []
                rows = np.concatenate([*first, values], axis=1, dtype=np.float64)
                part = of_rows(Rows(rows, *rows.shape))
                whole.fill(share.start + some, part if count else replace(part, open=None, open_rule=None))
    return whole.golden().rearranged(lambda part: part.reshape(self.shape))
