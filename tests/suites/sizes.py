"""Which sizes the spec of an op allows its tensors, whatever else a call has."""

from __future__ import annotations

from collections.abc import Iterable

from conform.domains.engine.arguments import Argument
from conform.domains.engine.constraints import Constraint
from conform.domains.engine.spaces import INTEGERS


def admits(tensor: Argument, size: int, ranks: Iterable[int] = ()) -> bool:
    """Whether the constraints on every size of the tensor, which depend on nothing, all hold for this one; and of one
    of the `ranks`, if any, those of its last dim that depend on nothing but its place."""
    stated = [one for one in tensor.constraints_on("Size") if one.suffix not in ("Be", "Gen")]
    constant = [(one.suffix, one.value) for one in stated if one.is_constant]
    placed = [one for one in stated if not one.is_constant and set(one.parameters) <= {"d", "rank"}]
    of_ranks = [[(one.suffix, one.value(*_place(one, rank))) for one in placed] for rank in ranks] or [[]]
    return any(all(size in INTEGERS.narrowed(*each) for each in (*constant, *some)) for some in of_ranks)


def _place(constraint: Constraint, rank: int) -> list[int]:
    """That of the last dim, as far as the constraint asks for it."""
    return [{"d": rank - 1, "rank": rank}[name] for name in constraint.parameters]
