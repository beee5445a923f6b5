"""I8: the interpreter against the independent references, op by op and dtype by dtype, with a count of what was compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from conform.agreement.compare import compare
from conform.agreement.draw import Draw
from conform.agreement.registry import Call, family_of, witnesses
from conform.agreement.show import shown

WITNESSED_ELEMENTS = 10_000  # at least, for each overload and dtype
MOST_ROUNDS = 60  # of one op and dtype; an op whose rounds witness too little is found out, not waited for


@dataclass(frozen=True)
class Agreement:
    """What comparing one overload on one dtype showed.

    `witnessed` elements were equal bit for bit; `refused` calls were refused by both sides. `first` tells the first
    disagreement in full: the call, its inputs in decimal and hex, and both results.
    """

    op: str
    dtype: str
    witnessed: int
    refused: int
    disagreements: int
    first: str | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing disagreed and enough elements were compared."""
        return self.disagreements == 0 and self.witnessed >= WITNESSED_ELEMENTS

    def __str__(self) -> str:
        counted = f"I8 {self.op} {self.dtype}: {self.witnessed} elements witnessed, {self.disagreements} disagreements"
        return f"{counted}\n{self.first}" if self.first else counted


def agree(op: str, dtype: str, at_least: int = WITNESSED_ELEMENTS) -> Agreement:
    """Rounds of witness calls of the overload `op` until `at_least` elements were witnessed, or something disagreed."""
    total = Agreement(op, dtype, 0, 0, 0)
    for round_ in range(MOST_ROUNDS):
        total = agree_on(op, dtype, calls(op, dtype, round_), total)
        if total.disagreements or total.witnessed >= at_least:
            break
    return total


def calls(op: str, dtype: str, round_: int) -> Iterator[Call]:
    """The witness calls of one round, the same every time."""
    return witnesses()[op](op, dtype, Draw(op, dtype, round_))


def agree_on(op: str, dtype: str, some: Iterable[Call], before: Agreement | None = None) -> Agreement:
    """What `before` (by default nothing) and the calls `some` show together."""
    total = before or Agreement(op, dtype, 0, 0, 0)
    for number, call in zip(count(), some):
        result = compare(op, call)
        first = total.first
        if first is None and result.first is not None:
            first = f"in witness call {number}: {shown(call, result.first, pointwise=family_of(op) == 'elementwise')}"
        total = Agreement(
            op, dtype, total.witnessed + result.witnessed, total.refused + result.refused,
            total.disagreements + result.differences, first,
        )  # fmt: skip
    return total
