"""Incoming gradients times the derivatives of elementwise ops: one formula for every kind of number, and its golden."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import flat, spans
from conform.interp.formulas.number_functions import Balls, Fractions, Functions, Number, Numbers, Reals
from conform.interp.golden import Golden
from conform.numerics.escalate import resolved
from conform.numerics.formats import Format
from conform.numerics.real import Real, where
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import held_format

Elements = Mapping[str, Number]
Operands = Mapping[str, np.ndarray]  # float64 elements, or the bools of a choice, of one shape
Formula = Callable[[Functions, Elements], Number]
GRADIENT = "grad"  # the operand in which a formula is linear
NOT_FINITE = "P232"


def gradient(fmt: Format, formula: Formula, operands: Operands, limit: np.ndarray | None = None) -> Golden:
    """The formula, rounded once; NaN beside a NaN, open beside an infinity and no NaN (P232).

    limit: the derivative where what is missing comes to less than 2^-8 of the smallest number; NaN elsewhere.
    """
    numbers = [x for x in operands.values() if x.dtype != bool]
    finite = np.logical_and.reduce([np.isfinite(x) for x in numbers])
    is_far = np.zeros(finite.shape, bool) if limit is None else ~np.isnan(limit) & finite
    with np.errstate(all="ignore"):
        value, real = _rounded(fmt, formula, _but_where(finite & ~is_far, operands))
        if is_far.any():
            product = np.where(is_far, limit, 0.0) * operands[GRADIENT]
            missing = np.full_like(product, max(fmt.min_subnormal / 256, 2.0**-1074))
            real = where(is_far, Real(product, np.zeros_like(product), missing), real)
            value = np.where(is_far, round_to(fmt, product), value)
        ball = formula(Balls(held_format(fmt)), _in(Balls(held_format(fmt)), _but_where(finite, operands)))
    value = np.where(finite, value, fmt.storage.type(np.nan))
    golden = Golden.derived(fmt, value, where(finite, real, np.nan), ball, zero_sign_free=True)
    golden = replace(golden, budget=np.where(finite, golden.budget, 0.0))
    is_nan = np.logical_or.reduce([np.isnan(x) for x in numbers])
    return golden.opened(~finite & ~is_nan, NOT_FINITE)


def far(fmt: Format, factors: int = 1) -> float:
    """e^-x, times x and `factors` numbers of the format, is below 2^-8 of the smallest one from here on."""
    return (factors * (fmt.emax + 1) - math.log2(fmt.min_subnormal) + 24) * math.log(2.0)


def in_blocks(of_block: Callable[..., Golden], *operands: np.ndarray) -> Golden:
    """of_block(*elements) of block after block of operands of one shape."""
    shape = operands[0].shape
    count = math.prod(shape)
    parts = ((place, of_block(*(flat(x, place) for x in operands))) for place in spans(count))
    return assembled(parts, count).rearranged(lambda part: part.reshape(shape))


def passed_on(fmt: Format, grad: np.ndarray) -> Golden:
    """The gradient as it is: the derivative is 1."""
    return Golden(fmt, grad, zero_sign_free=True)


def stopped(golden: Golden, mask: np.ndarray, grad: np.ndarray) -> Golden:
    """0 * grad where the mask holds, as the derivative is 0 there; or 0, whatever the gradient (P232)."""
    with np.errstate(all="ignore"):
        product = settled(golden, mask, 0.0 * grad)
    return product.or_else(settled(golden, mask, 0.0)) if (mask & ~np.isfinite(grad)).any() else product


def settled(golden: Golden, mask: np.ndarray, number: np.ndarray | float) -> Golden:
    """The golden, with exactly this number where the mask holds."""
    number = np.broadcast_to(np.float64(number), mask.shape)
    real = None if golden.real is None else where(mask, number, golden.real)
    value = np.where(mask, round_to(golden.format, number), golden.value)
    budget = None if golden.budget is None else np.where(mask, 0.0, golden.budget)
    is_open = None if golden.open is None else golden.open & ~mask
    rule = golden.open_rule if is_open is not None and is_open.any() else None
    return replace(golden, value=value, real=real, budget=budget, open=is_open if rule else None, open_rule=rule)


def of_any(choices: Sequence[np.ndarray], golden_of: Callable[[np.ndarray], Golden]) -> Golden:
    """What is made of the first of these masks, or of another one."""
    distinct = [mask for i, mask in enumerate(choices) if not any((mask == earlier).all() for earlier in choices[:i])]
    first, *others = map(golden_of, distinct)
    return first.or_else(*others)


def _but_where(kept: np.ndarray, operands: Operands) -> Operands:
    """The operands, with 1 for the elements that are not `kept`."""
    if kept.all():
        return operands
    return {name: x if x.dtype == bool else np.where(kept, x, 1.0) for name, x in operands.items()}


def _rounded(fmt: Format, formula: Formula, operands: Operands) -> tuple[np.ndarray, Real]:
    shape = operands[GRADIENT].shape
    lines = {name: x.reshape(-1) for name, x in operands.items()}
    columns = {name: x[:, None] for name, x in lines.items()}

    def of_numbers(rows: np.ndarray) -> np.ndarray:
        return formula(Numbers(), _in(Numbers(), {name: x[rows] for name, x in columns.items()}))

    def rational(index: tuple[int, int]) -> Fraction | None:
        if columns[GRADIENT][index] == 0:
            return Fraction(0)
        found = formula(Fractions(), _in(Fractions(), {name: x[index] for name, x in columns.items()}))
        return found if isinstance(found, Fraction) else None

    real = formula(Reals(), _in(Reals(), lines)).broadcast_to(lines[GRADIENT].shape)
    value, real = resolved(fmt, real.reshape((-1, 1)), of_numbers, rational)
    return value.reshape(shape), real.reshape(shape)


def _in(kind: Functions, operands: Operands) -> dict[str, Number]:
    return {name: x if x.dtype == bool else kind.elements(x) for name, x in operands.items()}
