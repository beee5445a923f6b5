"""What a backend's declared arithmetic admits beyond the op's own golden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conform.call.bound import Bound
from conform.contracts import flushing
from conform.contracts.arithmetic import Arithmetic
from conform.errors import Unjudged
from conform.interp.blocks.blocks import everywhere
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Golden, Outcome
from conform.interp.semantics import traits_of
from conform.judging.products import in_mode, products_of
from conform.numerics.formats import format_of


def arithmetic_for(op: str, declared: Arithmetic) -> Arithmetic:
    """A compute mode holds for sums of products alone."""
    return declared if traits_of(op).products else declared.without_products()


def admitted(
    call: Bound, outcome: Outcome, arithmetic: Arithmetic, outputs: Sequence[Any]
) -> Outcome:
    """`outcome` for a backend of this arithmetic, which returned `outputs`: with what its conversions of factors lose,
    and with the results of flushed operands as right as the others, unless it kept subnormals."""
    if arithmetic.compute != "ieee":
        outcome = in_mode(outcome, products_of(call), arithmetic)
    if arithmetic.flushes_subnormals and any(map(_has_subnormals, call.tensors())):
        outcome = _with_flushed_operands(call, outcome, outputs)
    return outcome


def _has_subnormals(array: np.ndarray) -> bool:
    fmt = format_of(array)
    return flushing.flushes(fmt) and not everywhere(lambda some: ~flushing.subnormal(fmt, some), array)


def _with_flushed_operands(call: Bound, outcome: Outcome, outputs: Sequence[Any]) -> Outcome:
    try:
        flushed = evaluate_call(call.mapped(_flushed))
    except Unjudged:  # the kit cannot decide what zeros would give: the operands as they are alone are right
        return outcome
    triples = zip(outcome.goldens, flushed.goldens, outputs, strict=True)
    return replace(outcome, goldens=tuple(_either(*triple) for triple in triples))


def _either(golden: Golden, of_zeros: Golden, output: Any) -> Golden:
    """Rounded results and comparisons as they are or of flushed operands. Moves, negations and maxima keep subnormals
    (TOSA: exact), and who keeps some subnormal results keeps them all."""
    if golden.real is None and golden.format.is_float:
        return golden
    keeps = flushing.flushes(golden.format) and flushing.kept_some(golden, output.array)
    return golden if keeps else golden.or_else(of_zeros)


def _flushed(tensor: Any) -> Any:
    fmt = format_of(tensor)
    return flushing.flushed(fmt, tensor) if flushing.flushes(fmt) else tensor
