"""What the wrong and the right elements of an output have in common: gathered block by block, for pass and fail alike.

An element has marks by the number that is expected of it and, of an elementwise op, by the operands beside it (NaN,
negative, subnormal, ...), and by its place. Measures are figures of which the least and the most are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

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
    found: dict[str, bool] = {}
    for place in spans(tensor.size):
        array, fmt = _parts(format_of(tensor), flat(tensor, place))
        if fmt.is_float:
            found |= {mark: True for mark, mask in _marked(fmt, array) if mark in HELD and mask.any()}
    return [mark for mark in HELD if mark in found]


class Marking:
    """Gathers the marks of one output; operands: those of an elementwise op by name, none of any other op.

    number: of the output among `outputs`, which is a mark of its own where there are several.
    """

    def __init__(self, golden: Golden, operands: Mapping[str, np.ndarray], number: int = 0, outputs: int = 1) -> None:
        self.golden, self.operands = golden, operands
        self.outputs = {f"{OUTPUT}{number}"} if outputs > 1 else set()
        self.wrong = self.right = 0
        self.counts: dict[str, dict[str, np.ndarray]] = {}
        self.spans: dict[str, dict[str, tuple[Span, Span]]] = {}

    @cached_property
    def _broadcast(self) -> dict[str, np.ndarray]:
        shape = self.golden.value.shape
        return {name: np.broadcast_to(operand, shape) for name, operand in self.operands.items()}

    def add(self, numbers: slice | np.ndarray, right: np.ndarray, compared: np.ndarray) -> None:
        """Take in elements [n], of complex numbers components, that were compared and are right, or are not."""
        wrong, right = compared & ~right, compared & right
        self.wrong, self.right = self.wrong + int(np.count_nonzero(wrong)), self.right + int(np.count_nonzero(right))
        of_any: dict[str, np.ndarray] = {}
        for view, fmt, array in self._views(numbers):
            for mark, mask in _marked(fmt, array):
                if view == RESULT and mark == NEGATIVE_ZERO:
                    mask = mask & self._has_sign_of_zero(numbers)
                self._count(view, mark, mask, wrong, right)
                if view != RESULT:
                    of_any[mark] = of_any[mark] | mask if mark in of_any else mask
            self._span(view, SIZE, np.abs(array.astype(np.float64)), wrong, right)
        if len(self.operands) > 1:
            for mark, mask in of_any.items():
                self._count(ANY, mark, mask, wrong, right)
        for mark in self.outputs:
            self._count(RESULT, mark, np.ones(wrong.shape, bool), wrong, right)
        self._add_places(numbers, wrong, right)

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

    def _count(self, view: str, mark: str, mask: np.ndarray, wrong: np.ndarray, right: np.ndarray) -> None:
        found = np.array([np.count_nonzero(mask & wrong), np.count_nonzero(mask & right)])
        if found.any():
            known = self.counts.setdefault(view, {})
            known[mark] = known.get(mark, 0) + found

    def _span(self, view: str, measure: str, figures: np.ndarray, wrong: np.ndarray, right: np.ndarray) -> None:
        known = self.spans.setdefault(view, {})
        before = known.get(measure, (NOTHING, NOTHING))
        known[measure] = before[0].joined(_span_of(figures[wrong])), before[1].joined(_span_of(figures[right]))

    def _add_places(self, numbers: slice | np.ndarray, wrong: np.ndarray, right: np.ndarray) -> None:
        """Where the elements stand: in C order, in their row, behind the last whole vector."""
        shape, count = self.golden.value.shape, self.golden.value.size
        places = np.arange(numbers.start, numbers.stop) if isinstance(numbers, slice) else numbers
        places = places // 2 if self.golden.format.is_complex else places
        self._span(RESULT, PLACE, places, wrong, right)
        if len(shape) > 1:
            self._span(RESULT, COLUMN, places % max(shape[-1], 1), wrong, right)
        for width in TAILS if places.size and places.max() >= count - count % max(TAILS) else ():
            self._count(RESULT, f"{TAIL}{width}", places >= count - count % width, wrong, right)

    def marks(self) -> Marks:
        """What was gathered."""
        counts = {
            view: {mark: (int(wrong), int(right)) for mark, (wrong, right) in sorted(marks.items())}
            for view, marks in sorted(self.counts.items())
        }
        return Marks(self.wrong, self.right, counts, self.spans)


def _parts(fmt: Format, array: np.ndarray) -> tuple[np.ndarray, Format]:
    """The array, or of complex numbers their parts, [2 n]."""
    return (components(fmt, array).reshape(-1), fmt.component) if fmt.is_complex else (array, fmt)


def _marked(fmt: Format, array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Every mark that numbers of the format may have, with the elements that have it."""
    if fmt.kind == "bool":
        yield TRUE, array
        return
    yield ZERO, array == 0
    yield NEGATIVE, array < 0
    if fmt.is_integer and fmt.bits >= 32:
        size = np.abs(array.astype(np.float64))
        yield from ((mark, size > 2.0**bits) for bits, mark in BEYOND.items())
    if fmt.is_float:
        size = np.abs(array)
        yield NAN, np.isnan(array)
        yield INFINITE, np.isinf(array)
        yield NOT_FINITE, ~np.isfinite(array)
        yield SUBNORMAL, (size < fmt.min_normal) & (size > 0)
        yield NEGATIVE_ZERO, (array == 0) & np.signbit(array)


def _span_of(figures: np.ndarray) -> Span:
    """Over those that are no NaN."""
    numbers = figures[~np.isnan(figures)]
    return Span(float(numbers.min()), float(numbers.max()), numbers.size) if numbers.size else NOTHING
