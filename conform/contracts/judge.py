"""How far an output is from its golden, element by element, and whether that is within the contract.

One judge a kind of contract; each is a pure function of golden and actual values, and decides every element alone.
Classes come first: NaN, infinities that the op's meaning determines, and signs of zero are right or wrong, not near.
Large outputs are judged in blocks, whatever their kind; what an element's judgement needs of others is found first: of
an index whether it stands earlier in its row, of a zero whether the backend kept a subnormal anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from math import prod
from typing import Any

import numpy as np

from conform.contracts import accumulation, flushing, normwise, tosa
from conform.contracts.almost_eq import allowance, almost_eq
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.contracts.comparison import Comparison, same_special
from conform.contracts.indices import equal_rank, repeated
from conform.contracts.tables import NO_ROW, Row
from conform.interp.blocks.blocks import fits, spans
from conform.interp.golden import Golden
from conform.numerics.formats import compute_format
from conform.numerics.real import Real

Numbers = slice | np.ndarray  # which elements of an output, in C order; of complex numbers, which components


@dataclass(frozen=True)
class Elements:
    """The judgement of one output: arrays of its shape (complex outputs: with a last axis of two components); or of
    some of its elements, [n].

    `error_ulp` and `bound_ulp` are nan where no ulp is defined; `compared` is False where nothing was judged: the
    golden leaves it open, or `vacuous`: there is no bound, or the result is within one beyond WIDE of its scale.
    """

    ok: np.ndarray
    error_ulp: np.ndarray
    bound_ulp: np.ndarray
    compared: np.ndarray
    open: np.ndarray
    vacuous: np.ndarray
    wrong_class: np.ndarray

    def reshaped(self, *shape: int) -> Elements:
        return Elements(**{name: array.reshape(shape) for name, array in vars(self).items()})


FIGURES = ("error_ulp", "bound_ulp")  # the others are masks


@np.errstate(all="ignore")  # what IEEE 754 flags, signalling NaNs too, are results here
def judge(
    golden: Golden,
    actual: np.ndarray,
    row: Row,
    operands: Mapping[str, Any] | None = None,
    arithmetic: Arithmetic = IEEE,
) -> Elements:
    """`actual` (of the golden's shape and format) against the golden; where it fails, against the alternatives."""
    comparison = Comparison(golden, actual, operands or {}, arithmetic)
    shape = judged_shape(comparison)
    size = prod(shape)
    whole = {each.name: np.empty(size, np.float64 if each.name in FIGURES else bool) for each in fields(Elements)}
    for numbers, elements in judged(comparison, row):
        for name, array in vars(elements).items():
            whole[name][numbers] = array
    return Elements(**whole).reshaped(*shape)


@np.errstate(all="ignore")
def bounds_ulp(golden: Golden, row: Row, operands: Mapping[str, Any]) -> np.ndarray:
    """How far off each element may be by its first reading, in ulps of the exact result; of complex numbers each part.

    0 where it must be equal, inf where nothing is judged, nan beside a float64 zero, where ulps cannot be counted.
    """
    first = replace(golden, alternatives=())
    elements = judge(first, golden.value, row, operands)  # the bound does not depend on what is judged
    comparison = Comparison(first, golden.value)
    fmt, is_exact = golden.format, golden.real is None and row.kind == "exact"
    equal = (comparison.parts if fmt.is_complex else comparison).determined if fmt.is_float or fmt.is_complex else True
    bounded = elements.compared | (elements.vacuous & np.isfinite(elements.bound_ulp))
    return np.where(bounded, np.where(is_exact | np.asarray(equal), 0.0, elements.bound_ulp), np.inf)


@np.errstate(all="ignore")
def allowances(golden: Golden, row: Row) -> np.ndarray | None:
    """The bound of each element as an absolute error, of complex numbers of each part, where it is made of one; None
    where it is not."""
    comparison = Comparison(golden, golden.value)
    comparison = comparison.parts if golden.format.is_complex else comparison
    kind = possible_kind(golden, row) if row.excluded is None else row.inside
    if kind not in _ALLOWANCES or golden.budget is None and row.excluded is not None:
        return None
    allowed = np.broadcast_to(_ALLOWANCES[kind](comparison.golden, comparison.real, IEEE), comparison.real.shape)
    return normwise.size(allowed) if golden.normwise else allowed


def judged_shape(comparison: Comparison) -> tuple[int, ...]:
    """The shape of what is judged: the output's, of complex numbers with a last axis of two components."""
    golden = comparison.golden
    return (*golden.value.shape, 2) if golden.format.is_complex else golden.value.shape


def judged(comparison: Comparison, row: Row) -> Iterator[tuple[Numbers, Elements]]:
    """(the numbers of some elements, their judgement), every element once: a block at a time, so that what is computed
    on the way stays small whatever the tensor's size."""
    size = comparison.golden.value.size
    if comparison.golden.ties is not None and not comparison.golden.ties.repeated:
        yield from _among_ties(comparison, row)
    elif fits(size):
        yield slice(0, prod(judged_shape(comparison))), by_any(comparison.readings(), row).reshaped(-1)
    else:
        readings, broadcast = list(comparison.readings()), _broadcast(comparison, row)
        parts = 2 if comparison.golden.format.is_complex else 1
        for place in spans(size):
            elements = by_any((reading.block(place, broadcast) for reading in readings), row)
            yield slice(parts * place.start, parts * place.stop), elements.reshaped(-1)


def _among_ties(comparison: Comparison, row: Row) -> Iterator[tuple[np.ndarray, Elements]]:
    """Every index is judged alone but for those that stand earlier along the dim: these are wrong."""
    readings = list(comparison.readings())
    for numbers, again in repeated(comparison.actual, comparison.golden.ties):
        elements = by_any((reading.block(numbers) for reading in readings), row)
        wrong = again & elements.compared
        yield numbers, replace(elements, ok=elements.ok & ~wrong, wrong_class=elements.wrong_class | wrong)


def by_any(readings: Iterator[Comparison], row: Row) -> Elements:
    """By the first reading, and where that fails by the next: an alternative that nothing needs is not even cut out."""
    elements = _judge_one(next(readings), row)
    while not elements.ok.all() and (alternative := next(readings, None)):
        elements = _better(elements, _judge_one(alternative, row))
    return elements


def _better(first: Elements, second: Elements) -> Elements:
    """Element by element, what the alternative accepts and the first reading does not."""
    take = second.ok & ~first.ok
    if not take.any():
        return first
    return Elements(**{name: np.where(take, getattr(second, name), getattr(first, name)) for name in vars(first)})


def _judge_one(comparison: Comparison, row: Row) -> Elements:
    fmt = comparison.golden.format
    if fmt.kind == "complex":
        return _floating(comparison.parts, row)
    return _floating(comparison, row) if fmt.is_float else _discrete(comparison.golden, comparison.actual)


# Integers, bools and indices


def _discrete(golden: Golden, actual: np.ndarray) -> Elements:
    ok = actual == golden.value if golden.ties is None else equal_rank(golden.value, actual, golden.ties)
    nan = np.full(golden.value.shape, np.nan)
    none = np.zeros(golden.value.shape, bool)
    open_ = none if golden.open is None else golden.open
    return Elements(ok | open_, nan, bound_ulp=nan, compared=~open_, open=open_, vacuous=none, wrong_class=~ok & ~open_)


# Floats


def _floating(comparison: Comparison, row: Row) -> Elements:
    golden, actual, real = comparison.golden, comparison.actual, comparison.real
    kind = possible_kind(golden, row)
    determined, open_ = comparison.determined, comparison.open
    with np.errstate(all="ignore"):
        near, error, bound, unbounded = _nearness(comparison, row, kind)
        if _flushes(comparison):
            near = near | flushing.allowed(golden, actual, real, bound, sign_counts=kind not in _ALLOWANCES)
        wide = _is_wide(comparison, bound)
    vacuous = unbounded & ~determined
    if kind in ("derived", "statistical"):
        # An honest implementation may have overflowed on the way to a result that is special anyway.
        vacuous |= np.isinf(golden.budget)
    if kind == "tosa":
        vacuous |= tosa.undefined(row.formula, _tosa_call(comparison))
    same_class = comparison.same_class & (kind in _SIGN_BLIND or _zero_sign(comparison, kind))
    right = same_class & (near | determined)
    if vacuous.any():
        bound = np.where(vacuous, np.inf, bound)
    vacuous = (vacuous | (wide & right & ~determined)) & ~open_
    compared = ~(open_ | vacuous)
    if determined.any():
        error, bound = (np.where(determined, np.nan, figure) for figure in (error, bound))
    return Elements(
        right | ~compared,
        error,
        bound_ulp=bound,
        compared=compared,
        open=open_,
        vacuous=vacuous,
        wrong_class=compared & ~same_class,
    )


WIDE = 1e-2  # of its scale: a bound that is wider says nothing of a result
COARSE_ULPS = 16.0  # but no bound so narrow is wide, however coarse the format: OpenCL's widest figure, of pow and erf


def _is_wide(comparison: Comparison, bound_ulp: np.ndarray) -> np.ndarray:
    """Where a bound is beyond WIDE of the scale, and beyond COARSE_ULPS: results anywhere in it say nothing."""
    coarse = bound_ulp > COARSE_ULPS
    return coarse & (bound_ulp * comparison.unit > WIDE * _scale(comparison)) if coarse.any() else coarse


def _scale(comparison: Comparison) -> np.ndarray:
    """What a bound is narrow or wide beside: the magnitude of the terms where they are added, else of the result; of
    complex numbers, that of the number; and no less than the smallest normal number (as TOSA has it)."""
    golden, size = comparison.golden, np.abs(comparison.real.hi)
    if comparison.numbers is not None:
        size = np.hypot(size[..., :1], size[..., 1:])
    terms = [each for each in (golden.magnitude, golden.scale) if each is not None]
    return reduce(np.maximum, terms, np.maximum(size, golden.format.min_normal))


def _flushes(comparison: Comparison) -> bool:
    """Whether results may be zeros instead of subnormals: all of them or none."""
    may_flush = comparison.arithmetic.flushes_subnormals and flushing.concerns(comparison.golden)
    return may_flush and not comparison.kept_subnormals


def has_bound(golden: Golden, row: Row) -> bool:
    """Whether the row and the golden together say how far off a result may be."""
    return golden.real is None or not golden.format.is_float or possible_kind(golden, row) != "unbounded"


def possible_kind(golden: Golden, row: Row) -> str:
    """The row's kind, or another that the golden allows. Without a budget or magnitude nothing bounds a derived
    error: only what the golden determines, NaN and infinities, is judged."""
    if golden.real is None:
        return "almost_eq" if row.kind == "almost_eq" else "exact"
    if row.kind == "derived" and golden.budget is None:
        return "accumulation" if golden.magnitude is not None else "unbounded"
    if row.kind == "tosa" and row.formula == "DOT_PRODUCT" and golden.magnitude is None:
        return "derived" if golden.budget is not None else "unbounded"
    if row.kind == "accumulation" and golden.magnitude is None:
        return "derived" if golden.budget is not None else "ulp"
    return row.kind


def _zero_sign(comparison: Comparison, kind: str) -> np.ndarray | bool:
    """Where expected and actual are both zero, the sign must be the expected one, unless it is free."""
    if comparison.is_the_golden:
        return True
    golden, actual = comparison.golden, comparison.actual
    both_zero = (actual == 0) & (golden.value == 0)
    if not both_zero.any():
        return ~both_zero
    same_sign = np.signbit(actual) == np.signbit(golden.value)
    return ~both_zero | same_sign | zero_sign_is_free(golden, comparison.real, kind)


def zero_sign_is_free(golden: Golden, real: Real, kind: str) -> np.ndarray:
    """Where a zero may have either sign: where the op leaves it open, and where an error bound reaches across 0.

    A number that underflows keeps its sign when it is rounded correctly or to a few ulps.
    """
    free = np.asarray(golden.zero_sign_free)
    return free | (real.hi != 0) | (real.radius != 0) if kind in _ALLOWANCES else free


def _broadcast(comparison: Comparison, row: Row) -> tuple[str, ...]:
    """The operands that the row's bound reads beside each element."""
    of_budget = tosa.broadcast(row.formula) if row.kind == "tosa" else ()
    return of_budget if row.excluded is None else (*of_budget, next(iter(comparison.operands)))


def without_exclusion(comparison: Comparison, row: Row) -> Row:
    """The row as one with a bound everywhere, where no operand lies in the interval for which its source gives none."""
    return row if row.excluded is None or _is_excluded(comparison, row).any() else replace(row, excluded=None)


def _is_excluded(comparison: Comparison, row: Row) -> np.ndarray:
    """Where the first operand lies in the interval for which the row's source gives no bound."""
    low, high = row.excluded
    operand = np.asarray(next(iter(comparison.operands.values()))).astype(np.float64)
    return np.broadcast_to((low <= operand) & (operand <= high), comparison.golden.value.shape)


Nearness = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _nearness(comparison: Comparison, row: Row, kind: str) -> Nearness:
    """Which elements are near enough, their errors and bounds in ulps, and where there is no bound."""
    row = without_exclusion(comparison, row)
    if row.excluded is not None:
        return _by_place(comparison, row, kind)
    error = comparison.error_ulp
    if kind == "unbounded":
        everywhere = np.ones(error.shape, bool)
        return everywhere, error, np.full(error.shape, np.inf), everywhere
    if kind in ("exact", "ulp", "ulp_of_rounded"):
        return _within_ulps(comparison, row, kind)
    if kind == "almost_eq":
        return _almost_equal(comparison, row)
    if kind == "tosa":
        return _within_tosa(comparison, row)
    return _within_allowance(comparison, _ALLOWANCES[kind](comparison.golden, comparison.real, comparison.arithmetic))


def _by_place(comparison: Comparison, row: Row, kind: str) -> Nearness:
    """By the row, but where its source gives no bound by what the row names in its place."""
    inside, outside = _is_excluded(comparison, row), _nearness(comparison, replace(row, excluded=None), kind)
    instead = row.inside if comparison.golden.budget is not None and row.inside else "unbounded"
    return tuple(map(partial(np.where, inside), _nearness(comparison, NO_ROW, instead), outside))


def _within_ulps(comparison: Comparison, row: Row, kind: str) -> Nearness:
    error, bounded = comparison.error_ulp, np.zeros(comparison.error_ulp.shape, bool)
    # Half an ulp means correctly rounded: of a tie's two neighbours only the even one, the expected value.
    limit = 0.5 if row.bound is None else row.bound
    if kind == "exact" or (kind == "ulp" and limit <= 0.5):
        near = same_special(comparison.actual, comparison.golden.value)
    else:
        near = (error if kind == "ulp" else comparison.rounded_error_ulp) <= limit
    # What is within k ulps of the rounded result is within k + 1/2 of the exact one.
    return near, error, np.full(error.shape, limit + 0.5 if kind == "ulp_of_rounded" else limit), bounded


def _within_allowance(comparison: Comparison, allowed: np.ndarray | float) -> Nearness:
    real = comparison.real
    allowed = np.broadcast_to(allowed, comparison.error_ulp.shape)
    allowed = normwise.size(allowed) if comparison.golden.normwise else allowed
    error, bound = _in_ulps(comparison, allowed)
    near, unbounded = error <= bound, ~np.isfinite(bound)
    if unbounded.any():
        unbounded = ~np.isfinite(allowed)
        uncountable = np.isnan(bound) & ~unbounded
        near = np.where(uncountable, np.abs((comparison.actual - real.hi) - real.lo) <= allowed, near)
    if not near.all():
        # The correctly rounded result is right by every bound, of 0 too, though the real is known to its radius alone.
        near = near | same_special(comparison.actual, comparison.golden.value)
    return near, error, bound, unbounded


def _almost_equal(comparison: Comparison, row: Row) -> Nearness:
    """By the rule of the table's source, on the expected value: the exact number is not known to those who wrote it."""
    by_modulus = comparison.numbers is not None and row.tolerance.modulus
    compared = comparison.numbers if by_modulus else comparison
    expected, actual = compared.golden.value, compared.actual
    allowed = allowance(expected, row.tolerance)
    near = almost_eq(expected, actual, row.tolerance, allowed)
    if row.tolerance.same_sign:  # of a zero whose sign is free the other one is as right
        free = (expected == 0) & compared.golden.zero_sign_free
        if free.any():
            near |= free & almost_eq(-expected, actual, row.tolerance, allowed)
    if by_modulus:
        near, allowed = (np.broadcast_to(array[..., None], comparison.golden.value.shape) for array in (near, allowed))
    error, bound = _in_ulps(comparison, allowed)
    # What is that near to the rounded result may be half an ulp farther from the exact one.
    return near, error, bound + 0.5, np.zeros(error.shape, bool)


def _within_tosa(comparison: Comparison, row: Row) -> Nearness:
    below, above = tosa.bounds(row.formula, _tosa_call(comparison))
    near = tosa.within(comparison.golden.format, comparison.actual, comparison.real.hi, below, above)
    allowed = np.broadcast_to(np.maximum(below, above), near.shape)
    error, bound = _in_ulps(comparison, allowed)
    return near, error, bound, ~np.isfinite(allowed)


def _tosa_call(comparison: Comparison) -> tosa.Call:
    return tosa.Call(comparison.golden, comparison.operands, comparison.results)


def _in_ulps(comparison: Comparison, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Error and allowance in ulps; NaN around a float64 zero, where their number is beyond float64 itself."""
    bound = allowed / comparison.unit
    uncountable = np.isinf(bound)
    if not uncountable.any() or not (uncountable := uncountable & np.isfinite(allowed)).any():
        return comparison.error_ulp, bound
    return np.where(uncountable, np.nan, comparison.error_ulp), np.where(uncountable, np.nan, bound)


def _derived_allowance(golden: Golden, real: Real, _: Arithmetic) -> np.ndarray:
    """The budget of the running error analysis, and the rounding into a narrower result."""
    return golden.budget + accumulation.final_rounding(golden, compute_format(golden.format), real, golden.budget)


# Rules that compare numbers, to which both zeros are one.
_SIGN_BLIND = ("almost_eq", "tosa")
# Bounds that are absolute errors against the exact result.
_ALLOWANCES: dict[str, Callable[[Golden, Real, Arithmetic], np.ndarray]] = {
    "accumulation": accumulation.allowance,
    "derived": _derived_allowance,
    "statistical": _derived_allowance,
}
