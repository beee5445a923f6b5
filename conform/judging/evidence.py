"""What a verdict remembers of its case beyond what is recorded: by this, failing cases are told from passing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """A tensor without its elements; dtype: torch's name."""

    dtype: str
    shape: tuple[int, ...]


Plain = TensorMeta | bool | int | float | complex | str | None
Given = Plain | tuple[Plain, ...]  # an argument


class Span(NamedTuple):
    """The least and the most of a measure over `count` elements; of none, inf and -inf."""

    least: float = float("inf")
    most: float = float("-inf")
    count: int = 0

    def joined(self, other: Span) -> Span:
        """Over the elements of both."""
        return Span(min(self.least, other.least), max(self.most, other.most), self.count + other.count)


NOTHING = Span()

# Marks of an element, and measures.
NAN, INFINITE, NOT_FINITE, ZERO, NEGATIVE_ZERO, SUBNORMAL, NEGATIVE, TRUE = (
    "NaN", "infinite", "NaN or infinite", "zero", "-0", "subnormal", "negative", "True",
)  # fmt: skip
BEYOND = {24: "beyond 2^24", 53: "beyond 2^53"}  # integers that float32, or float64, does not hold exactly
OUTPUT, TAIL = "output ", "tail of "  # with a number: that of its output; of elements that a whole vector has
SIZE, PLACE, COLUMN = "size", "place", "column"  # its magnitude; its number in C order, in the output and in its row
RESULT, ANY = "", "*"  # the views of the expected result, and of any one operand


Counts = Mapping[str, Mapping[str, tuple[int, int]]]
Spans = Mapping[str, Mapping[str, tuple[Span, Span]]]


@dataclass(frozen=True)
class Marks:
    """What the wrong and the right elements of a case's outputs have in common.

    wrong, right   how many elements were compared and found so
    counts         by view and mark: how many wrong and how many right elements have it. A view is RESULT, or of an
                   elementwise op the name of an argument, or ANY of them
    spans          by view and measure: that of the wrong, and that of the right elements, of those that have it
    """

    wrong: int = 0
    right: int = 0
    counts: Counts = field(default_factory=dict)
    spans: Spans = field(default_factory=dict)

    @staticmethod
    def joined(every: Sequence[Marks]) -> Marks:
        """Those of several outputs, or cases, as one."""
        if len(every) == 1:
            return every[0]
        counts: dict[str, dict[str, tuple[int, int]]] = {}
        spans: dict[str, dict[str, tuple[Span, Span]]] = {}
        for one in every:
            for view, marks in one.counts.items():
                known = counts.setdefault(view, {})
                for mark, (wrong, right) in marks.items():
                    before = known.get(mark, (0, 0))
                    known[mark] = (before[0] + wrong, before[1] + right)
            for view, measures in one.spans.items():
                met = spans.setdefault(view, {})
                for measure, both in measures.items():
                    least = met.get(measure, (NOTHING, NOTHING))
                    met[measure] = (least[0].joined(both[0]), least[1].joined(both[1]))
        return Marks(sum(one.wrong for one in every), sum(one.right for one in every), counts, spans)


@dataclass(frozen=True)
class Asked:
    """The call of a case without the elements of its tensors.

    arguments   by name, as the schema has them; of what is no plain value its text
    results     of each output that is expected; empty where the call has to be refused
    placed      the argument that has the case's layout, where that is not contiguous
    holds       (argument, mark): which tensors have an element with the mark
    """

    arguments: Mapping[str, Given]
    results: tuple[TensorMeta, ...]
    placed: str | None
    holds: tuple[tuple[str, str], ...]
