"""I8: the interpreter against the independent references, op by op and dtype by dtype, counting what it compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conform.domains.specs import module_of, spec_of
from conform.interp import semantics
from conform.numerics.draws import Stream
from conform.refs import lookup
from conform.selftest.agreement.calls import Witness, derived
from conform.selftest.agreement.compare import compare
from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.patterns import patterns
from conform.selftest.agreement.show import shown

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
    def compared(self) -> int:
        """Elements that were witnessed; of an op of which chance, or nothing, determines them, also those left open."""
        return self.witnessed + (self.opened if semantics.traits_of(self.op).undetermined else 0)

    @property
    def holds(self) -> bool:
        """Whether nothing disagreed and enough elements were compared."""
        return self.disagreements == 0 and self.compared >= WITNESSED_ELEMENTS

    def __str__(self) -> str:
        counted = f"{self.witnessed} elements witnessed, {self.opened} open, {self.disagreements} disagreements"
        return f"I8 {self.op} {self.dtype}: {counted}" + (f"\n{self.first}" if self.first else "")


def ops_and_dtypes() -> list[tuple[str, str]]:
    """Every overload that has semantics, with every dtype of its spec."""
    return [(op, dtype) for op in semantics.names() for dtype in spec_of(op).dtypes]


def modules_of(op: str) -> list[str]:
    """Those in which the meaning of the overload `op`, its spec and its reference stand."""
    return sorted({semantics.find(op).function.__module__, module_of(op), lookup(op).__module__})


def agree(op: str, dtype: str, at_least: int = WITNESSED_ELEMENTS) -> Agreement:
    """Rounds of witnesses of the overload `op` until `at_least` elements were witnessed, or something disagreed."""
    total = Agreement(op, dtype)
    for round_ in range(MOST_ROUNDS):
        total = agree_on(total, witnesses(op, dtype, round_))
        if total.disagreements or total.compared >= at_least:
            break
    return total


def witnesses(op: str, dtype: str, round_: int) -> Iterator[Witness]:
    """The witnesses of one round, the same every time: derived from the spec, then what no spec can know."""
    yield from derived(op, dtype, round_)
    yield from map(Witness, patterns(op, dtype, Draw(Stream(0, f"i8 {op} {dtype}", round_, "patterns"))))


def agree_on(before: Agreement, some: Iterable[Witness]) -> Agreement:
    """What `before` and the witnesses `some` of the same op and dtype show together."""
    total, definition = before, semantics.find(before.op)
    for number, (call, is_valid) in enumerate(some):
        result = compare(total.op, call, is_valid)
        first = total.first
        if first is None and result.first is not None:
            first = f"in witness call {number}: {shown(call, result.first, definition.traits.pointwise)}"
        total = Agreement(
            total.op,
            total.dtype,
            witnessed=total.witnessed + result.witnessed,
            opened=total.opened + result.opened,
            refused=total.refused + result.refused,
            disagreements=total.disagreements + result.differences,
            first=first,
        )
    return total
