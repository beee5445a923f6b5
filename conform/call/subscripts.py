"""The equation of einsum: a label for every dimension of every operand, and those of the result.

https://docs.pytorch.org/docs/stable/generated/torch.einsum.html: letters label dimensions, "..." those that no letter
does; without "->" the result has the labels that occur once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Labels = list[str]  # a letter each, or "...0" for the last dimension of an ellipsis, "...1" for the one before, ...


@dataclass(frozen=True)
class Equation:
    """operands: the subscripts of each, without spaces; result: those behind the arrow, None without one."""

    operands: tuple[str, ...]
    result: str | None

    def letters(self, number: int) -> str:
        """Those of an operand."""
        return self.operands[number].replace("...", "")

    def has_ellipsis(self, number: int) -> bool:
        return "..." in self.operands[number]

    def labels(self, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
        """(those of each operand, of so many dimensions, those of the result)."""
        dots = [rank - len(self.letters(number)) for number, rank in enumerate(ranks)]
        of_operands = [_labels(*each) for each in zip(self.operands, dots, strict=True)]
        most = max((count for number, count in enumerate(dots) if self.has_ellipsis(number)), default=0)
        return of_operands, _labels("..." + self._once() if self.result is None else self.result, most)

    def _once(self) -> str:
        """The letters that occur once, in alphabetical order, upper case first."""
        every = "".join(self.letters(number) for number in range(len(self.operands)))
        return "".join(sorted(letter for letter in set(every) if every.count(letter) == 1))


def _labels(subscripts: str, dots: int) -> Labels:
    before, ellipsis, after = subscripts.partition("...")
    return [*before, *([f"...{i}" for i in reversed(range(dots))] if ellipsis else []), *after]


def equation(text: str) -> Equation | None:
    """What the text says; None where it is no equation: what is neither letters nor one ellipsis an operand, a letter
    twice in the result, or one that no operand has."""
    operands, arrow, result = text.replace(" ", "").partition("->")
    found = Equation(tuple(operands.split(",")), result if arrow else None)
    plain = [each.replace("...", "", 1) for each in (*found.operands, result)]
    if not all(each.isascii() and each.isalpha() for each in plain if each):
        return None
    named = plain[-1]
    is_known = set(named) <= set("".join(plain[:-1])) and len(set(named)) == len(named)
    return found if is_known else None
