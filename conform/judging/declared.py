"""What a backend's declared arithmetic admits beyond the op's own golden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conform.call.bound import Bound
from conform.contracts.arithmetic import Arithmetic
from conform.interp.golden import Outcome
from conform.interp.semantics import traits_of
from conform.judging.flushed import Flushed
from conform.judging.products import in_mode, products_of


def arithmetic_for(op: str, declared: Arithmetic) -> Arithmetic:
    """A compute mode holds for sums of products alone."""
    return declared if traits_of(op).products else declared.without_products()


def admitted(
    call: Bound, outcome: Outcome, arithmetic: Arithmetic, outputs: Sequence[Any], of_all: bool = True
) -> Outcome:
    """`outcome` for a backend of this arithmetic, which returned `outputs`: with what its conversions of factors lose,
    and with what is right where it flushes operands, intermediate results and results; all of them, unless `of_all` is
    False."""

    def with_mode(call: Bound, outcome: Outcome) -> Outcome:
        return outcome if arithmetic.compute == "ieee" else in_mode(outcome, products_of(call), arithmetic)

    own = with_mode(call, outcome)
    return Flushed(call, outputs, with_mode, of_all).admitted(own) if arithmetic.flushes_subnormals else own
