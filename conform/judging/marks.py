"""What the wrong and the right elements of an output have in common: gathered block by block, for pass and fail alike.

An element has marks by the number that is expected of it and, of an elementwise op, by the operands beside it (NaN,
negative, subnormal, ...), and by its place. Measures are figures of which the least and the most are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from conform.contracts.components import components
from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.judging.evidence import (
    ANY,
    BEYOND,
    COLUMN,
    INFINITE,
    NAN,
    NEGATIVE,
    NEGATIVE_ZERO,
    NOT_FINITE,
    NOTHING,
    OUTPUT,
    PLACE,
    RESULT,
    SIZE,
    SUBNORMAL,
    TAIL,
    TRUE,
    ZERO,
    Marks,
    Span,
)
from conform.numerics.formats import Format, format_of

HELD = (NAN, INFINITE, NEGATIVE_ZERO, SUBNORMAL)  # what a call's tensors have somewhere, or do not
TAILS = (4, 8, 16, 32, 64, 128)  # elements that an implementation may take at a time


def marks_in(tensor: np.ndarray) -> list[str]:
    """The special marks that some element of the tensor has."""
    fmt = format_of(tensor)
    found: set[str] = set()
    for place in spans(tensor.size) if fmt.is_float or fmt.is_complex else ():
        array, part = _parts(fmt, flat(tensor, place))
        masks = _masks(part, _Values.of(array))
        found |= {mark for mark, mask in masks if mark in HELD and mask.any()}
    return [mark for mark in HELD if mark in found]


class Marking:
    """Gathers the marks of one output; operands: those of an elementwise op by name, none of any other op.

    number: of the output among `outputs`, which is a mark of its own where there are several.
    """

    def __init__(self, golden: Golden, operands: Mapping[str, np.ndarray], number: int = 0, outputs: int = 1) -> None:
        self.golden, self.operands = golden, operands
        self.outputs = {f"{OUTPUT}{number}"} if outputs > 1 else set()
        self.wrong = self.right = 0
        self.counts: dict[str, dict[str, tuple[int, int]]] = {}
        self.spans: dict[str, dict[str, tuple[Span, Span]]] = {}

    @cached_property
    def _broadcast(self) -> dict[str, np.ndarray]:
        shape = self.golden.value.shape
        return {name: np.broadcast_to(operand, shape) for name, operand in self.operands.items()}

    def add(self, numbers: slice | np.ndarray, right: np.ndarray, compared: np.ndarray) -> None:
        """Take in elements [n], of complex numbers components, that were compared and are right, or are not."""
        split = _Split.of(compared & ~right, compared & right)
        self.wrong, self.right = self.wrong + split.wrong_count, self.right + split.right_count
        of_any: dict[str, np.ndarray] = {}
        for view, fmt, array in self._views(numbers):
            values = _Values.of(array)
            for mark, mask in _marked(fmt, values):
                if view == RESULT and mark == NEGATIVE_ZERO:
                    mask = mask & self._has_sign_of_zero(numbers)
                self._count(view, mark, split.counts(mask))
                if view != RESULT:
                    of_any[mark] = of_any[mark] | mask if mark in of_any else mask
            self._span(view, SIZE, split.spans(values.size, values.least, values.most))
        if len(self.operands) > 1:
            for mark, mask in of_any.items():
                self._count(ANY, mark, split.counts(mask))
        for mark in self.outputs:
            self._count(RESULT, mark, (split.wrong_count, split.right_count))
        self._add_places(numbers, split)

    def _has_sign_of_zero(self, numbers: slice | np.ndarray) -> np.ndarray | bool:
        """Which zeros that are expected must have their sign; of those of complex results that is not known here."""
        free = self.golden.zero_sign_free
        if self.golden.format.is_complex or isinstance(free, bool):
            return not free and not self.golden.format.is_complex
        return ~flat(np.broadcast_to(free, self.golden.value.shape), numbers)

    def _views(self, numbers: slice | np.ndarray) -> Iterator[tuple[str, Format, np.ndarray]]:
        """The numbers beside which each element stands: what is expected, and the operands, which a complex result has
        none of."""
        fmt = self.golden.format
        if not fmt.is_complex:
            yield RESULT, fmt, flat(self.golden.value, numbers)
            for name, operand in self._broadcast.items():
                if not format_of(operand).is_complex:
                    yield name, format_of(operand), flat(operand, numbers)
        else:
            place = slice(numbers.start // 2, numbers.stop // 2)  # type: ignore[union-attr]
            parts, component = _parts(fmt, flat(self.golden.value, place))
            yield RESULT, component, parts

    def _count(self, view: str, mark: str, found: tuple[int, int]) -> None:
        if any(found):
            known = self.counts.setdefault(view, {})
            before = known.get(mark, (0, 0))
            known[mark] = before[0] + found[0], before[1] + found[1]

    def _span(self, view: str, measure: str, found: tuple[Span, Span]) -> None:
        known = self.spans.setdefault(view, {})
        before = known.get(measure)
        known[measure] = found if before is None else (before[0].joined(found[0]), before[1].joined(found[1]))

    def _add_places(self, numbers: slice | np.ndarray, split: _Split) -> None:
        """Where the elements stand: in C order, in their row, behind the last whole vector. One of several outputs that
        is smaller than a vector is nothing but tail: that it is wrong says nothing of tails."""
        shape, count = self.golden.value.shape, self.golden.value.size
        places = np.arange(numbers.start, numbers.stop) if isinstance(numbers, slice) else numbers
        places = places // 2 if self.golden.format.is_complex else places
        last = places.max(initial=-1)
        self._span(RESULT, PLACE, split.spans(places, places.min(initial=count), last))
        if len(shape) > 1:
            columns = places % max(shape[-1], 1)
            self._span(RESULT, COLUMN, split.spans(columns, columns.min(initial=count), columns.max(initial=-1)))
        for width in TAILS if last >= count - count % max(TAILS) else ():
            if count % width and not (self.outputs and count < width):
                self._count(RESULT, f"{TAIL}{width}", split.counts(places >= count - count % width))

    def marks(self) -> Marks:
        """What was gathered."""
        counts = {view: dict(sorted(marks.items())) for view, marks in sorted(self.counts.items())}
        return Marks(self.wrong, self.right, counts, self.spans)


def _parts(fmt: Format, array: np.ndarray) -> tuple[np.ndarray, Format]:
    """The array, or of complex numbers their parts, [2 n]."""
    return (components(fmt, array).reshape(-1), fmt.component) if fmt.is_complex else (array, fmt)


class _Split(NamedTuple):
    """Some elements, and which of them are wrong and which are right."""

    wrong: np.ndarray
    right: np.ndarray
    wrong_count: int
    right_count: int

    @classmethod
    def of(cls, wrong: np.ndarray, right: np.ndarray) -> _Split:
        return cls(wrong, right, int(np.count_nonzero(wrong)), int(np.count_nonzero(right)))

    def counts(self, mask: np.ndarray) -> tuple[int, int]:
        """How many wrong and how many right elements the mask has."""
        return _count_of(mask, self.wrong, self.wrong_count), _count_of(mask, self.right, self.right_count)

    def spans(self, figures: np.ndarray, least: float, most: float) -> tuple[Span, Span]:
        """Those of the figures of wrong and of right elements; `least` and `most` are those of all of them."""
        sides = (self.wrong, self.wrong_count), (self.right, self.right_count)
        wrong, right = (_span_of(figures, least, most, *side) for side in sides)
        return wrong, right


def _count_of(mask: np.ndarray, chosen: np.ndarray, count: int) -> int:
    """How many of those chosen, `count` of them, the mask has."""
    if not count:
        return 0
    return int(np.count_nonzero(mask if count == mask.size else mask & chosen))


class _Values(NamedTuple):
    """Some numbers as float64 [n], their magnitudes, and the least and the most of these: NaN where one is."""

    values: np.ndarray
    size: np.ndarray
    least: float
    most: float

    @classmethod
    def of(cls, array: np.ndarray) -> _Values:
        values = array.astype(np.float64)
        size = np.abs(values)
        return cls(values, size, float(size.min(initial=np.inf)), float(size.max(initial=0.0)))


def _marked(fmt: Format, values: _Values) -> Iterator[tuple[str, np.ndarray]]:
    """Every mark that some of the numbers of the format have, with those that have it."""
    return ((mark, mask) for mark, mask in _masks(fmt, values) if mask.any())


def _masks(fmt: Format, of: _Values) -> Iterator[tuple[str, np.ndarray]]:
    """Marks with those that have them; those that none can have, by the least and the most magnitude, are left out."""
    values, size, least, most = of
    if fmt.kind == "bool":
        yield TRUE, values != 0
        return
    zero = values == 0 if not least > 0 else None
    if zero is not None:
        yield ZERO, zero
    yield NEGATIVE, values < 0
    if fmt.is_integer and fmt.bits >= 32:
        yield from ((mark, size > 2.0**bits) for bits, mark in BEYOND.items() if most > 2.0**bits)
    if not fmt.is_float:
        return
    if zero is not None:
        yield NEGATIVE_ZERO, zero & np.signbit(values)
    if not least >= fmt.min_normal:
        yield SUBNORMAL, (size < fmt.min_normal) & (size != 0)
    if not most < np.inf:
        yield NAN, np.isnan(values)
        yield INFINITE, np.isinf(values)
        yield NOT_FINITE, ~np.isfinite(values)


def _span_of(figures: np.ndarray, least: float, most: float, chosen: np.ndarray, count: int) -> Span:
    """Over those chosen, `count` of them, that are no NaN; `least` and `most` of all figures are those of a choice of
    all."""
    if not count:
        return NOTHING
    numbers = figures
    if count < figures.size:
        numbers = figures[chosen]
        least, most = numbers.min(), numbers.max()
    if least == least:
        return Span(float(least), float(most), count)
    numbers = numbers[~np.isnan(numbers)]
    return Span(float(numbers.min()), float(numbers.max()), numbers.size) if numbers.size else NOTHING
