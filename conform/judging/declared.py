"""What a backend's declared arithmetic admits beyond the op's own golden."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from typing import Any

from conform.call.bound import Bound
from conform.contracts.arithmetic import Arithmetic
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Outcome
from conform.interp.semantics import find, traits_of
from conform.judging.flushed import Flushed
from conform.judging.products import in_mode, products_of
from conform.numerics.converted_products import converted_products
from conform.numerics.rounding_errors import rounded_intermediates


@cache
def arithmetic_for(op: str, declared: Arithmetic) -> Arithmetic:
    """A compute mode holds for sums of products alone, and for a module, which may have them among its steps; what is
    rounded on the way, for the ops that are named."""
    own = declared.of(op)
    return own if traits_of(op).products or find(op) is None else own.without_products()


def with_products(call: Bound, arithmetic: Arithmetic) -> AbstractContextManager[None]:
    """Within, the products among the steps of a module are made as the compute mode says."""
    return converted_products(arithmetic.products() if call.meaning else {})


def admitted(
    call: Bound, outcome: Outcome, arithmetic: Arithmetic, outputs: Sequence[Any], of_all: bool = True
) -> Outcome:
    """`outcome` for a backend of this arithmetic, which returned `outputs`: with what its conversions of factors lose,
    and with what is right where it flushes operands, intermediate results and results, or rounds those on the way: all
    of what is flushed, unless `of_all` is False."""
    with with_products(call, arithmetic):
        own = evaluate_call(call) if call.meaning and arithmetic.compute != "ieee" else outcome
        return _admitted(call, own, arithmetic, outputs, of_all)


def _admitted(
    call: Bound, outcome: Outcome, arithmetic: Arithmetic, outputs: Sequence[Any], of_all: bool
) -> Outcome:
    def with_mode(call: Bound, outcome: Outcome) -> Outcome:
        products = products_of(call)
        return outcome if arithmetic.compute == "ieee" or products is None else in_mode(outcome, products, arithmetic)

    def flushed(outcome: Outcome) -> Outcome:
        own = with_mode(call, outcome)
        return Flushed(call, outputs, with_mode, of_all).admitted(own) if arithmetic.flushes_subnormals else own

    if not arithmetic.rounded_on_the_way:
        return flushed(outcome)
    with rounded_intermediates(partial_sums=bool(arithmetic.accumulates_in_element_type)):
        wider = flushed(evaluate_call(call))
    pairs = zip(flushed(outcome).goldens, wider.goldens, strict=True)
    return replace(outcome, goldens=tuple(golden.or_else(other) for golden, other in pairs))
