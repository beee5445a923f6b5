"""I8: the interpreter against the independent references, op by op and dtype by dtype, counting what it compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conform.domains.specs import spec_of
from conform.selftest.agreement.compare import compare
from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.show import shown
from conform.selftest.agreement.witnesses import Call, family_of, witnesses

WITNESSED_ELEMENTS = 10_000  # at least, for each overload and dtype
MOST_ROUNDS = 60  # of one op and dtype; an op whose rounds witness too little is found out, not waited for


@dataclass(frozen=True)
class Agreement:
    """What comparing one overload on one dtype showed.

    `witnessed` elements were equal bit for bit, `opened` ones are left open by the policy on both sides (or on the one
    that can know); `refused` calls were refused by both. `first` tells the first disagreement in full: the call, its
    inputs in decimal and hex, and both results.
    """

    op: str
    dtype: str
    witnessed: int = 0
    opened: int = 0
    refused: int = 0
    disagreements: int = 0
    first: str | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing disagreed and enough elements were compared."""
        return self.disagreements == 0 and self.witnessed >= WITNESSED_ELEMENTS

    def __str__(self) -> str:
        counted = f"{self.witnessed} elements witnessed, {self.opened} open, {self.disagreements} disagreements"
        return f"I8 {self.op} {self.dtype}: {counted}" + (f"\n{self.first}" if self.first else "")


def ops_and_dtypes() -> list[tuple[str, str]]:
    """Every overload that has witness calls, with every dtype of its spec."""
    return [(op, dtype) for op in witnesses() for dtype in spec_of(op).dtypes]


def agree(op: str, dtype: str, at_least: int = WITNESSED_ELEMENTS) -> Agreement:
    """Rounds of witness calls of the overload `op` until `at_least` elements were witnessed, or something disagreed."""
    total = Agreement(op, dtype)
    for round_ in range(MOST_ROUNDS):
        total = agree_on(total, calls(op, dtype, round_))
        if total.disagreements or total.witnessed >= at_least:
            break
    return total


def calls(op: str, dtype: str, round_: int) -> Iterator[Call]:
    """The witness calls of one round, the same every time."""
    return witnesses()[op](op, dtype, Draw(op, dtype, round_))


def agree_on(before: Agreement, some: Iterable[Call]) -> Agreement:
    """What `before` and the calls `some` of the same op and dtype show together."""
    total = before
    for number, call in enumerate(some):
        result = compare(total.op, call)
        first = total.first
        if first is None and result.first is not None:
            first = f"in witness call {number}: {shown(call, result.first, family_of(total.op) == 'elementwise')}"
        total = Agreement(
            total.op,
            total.dtype,
            total.witnessed + result.witnessed,
            total.opened + result.opened,
            total.refused + result.refused,
            total.disagreements + result.differences,
            first,
        )
    return total
