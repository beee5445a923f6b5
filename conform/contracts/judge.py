"""How far an output is from its golden, element by element, and whether that is within the contract.

One judge a kind of contract; each is a pure function of golden and actual values, and decides every element alone.
Classes come first: NaN, infinities that the op's meaning determines, and signs of zero are right or wrong, not near.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from conform.contracts import accumulation, flushing, normwise, tosa
from conform.contracts.almost_eq import allowance, almost_eq
from conform.contracts.arithmetic import IEEE, Arithmetic, compute_of
from conform.contracts.tables import Row
from conform.interp.golden import Golden, Ties
from conform.interp.numerics.formats import Format
from conform.interp.numerics.real import Real
from conform.interp.numerics.ulp import error_ulp, ulp

BLOCK = 1 << 16  # elements judged at a time


@dataclass(frozen=True)
class Elements:
    """The judgement of one output: arrays of its shape (complex outputs: with a last axis of two components).

    `error_ulp` and `bound_ulp` are nan where no ulp is defined; `compared` is False where nothing was judged: the
    golden leaves it open, or the bound is vacuous.
    """

    ok: np.ndarray
    error_ulp: np.ndarray
    bound_ulp: np.ndarray
    compared: np.ndarray
    open: np.ndarray
    vacuous: np.ndarray
    wrong_class: np.ndarray


@dataclass(frozen=True)
class Comparison:
    """An actual output (of the golden's shape and format) beside its golden, and what every row asks of the two.

    `operands`: the call's arguments by the names of the schema, for rows whose bound depends on them. `arithmetic`:
    what the backend declares. `whole`: the complex comparison that this one holds the parts of.
    """

    golden: Golden
    actual: np.ndarray
    operands: Mapping[str, Any] = field(default_factory=dict)
    arithmetic: Arithmetic = IEEE
    whole: Comparison | None = None

    @cached_property
    def real(self) -> Real:
        """The exact result; that of a golden without a real number is its value."""
        golden = self.golden
        return golden.real if golden.real is not None else Real.exact(golden.value.astype(np.float64))

    @cached_property
    def error_ulp(self) -> np.ndarray:
        return self._error_ulp(self.real)

    def _error_ulp(self, real: Real) -> np.ndarray:
        error = error_ulp(self.golden.format, self.actual, real)
        return normwise.error_ulp(self.golden.format, error, real) if self.golden.normwise else error

    @cached_property
    def rounded_error_ulp(self) -> np.ndarray:
        """|actual - expected| in ulps of the expected value, the correctly rounded one."""
        expected = self.golden.value.astype(np.float64)
        overflow = np.isinf(expected) & np.isfinite(self.real.hi)
        edge = np.copysign(np.ldexp(1.0, self.golden.format.emax + 1), expected)
        hi = np.where(overflow, edge, expected)
        radius = np.where(overflow & np.isinf(hi), np.inf, 0.0)
        return self._error_ulp(Real(hi, np.zeros_like(hi), radius))

    @cached_property
    def determined(self) -> np.ndarray:
        """Where the meaning of the op determines NaN or an infinity."""
        return ~np.isfinite(self.real.hi)

    @cached_property
    def same_class(self) -> np.ndarray:
        """A determined NaN or infinity is the expected one, and no number is NaN. A format without infinity may round a
        finite number to NaN: its overflow."""
        no_other_nan = ~np.isnan(self.actual) | np.isnan(self.golden.value)
        return np.where(self.determined, _same_special(self.actual, self.golden.value), no_other_nan)

    @cached_property
    def open(self) -> np.ndarray:
        golden = self.golden
        return np.zeros(golden.value.shape, bool) if golden.open is None else golden.open

    @cached_property
    def unit(self) -> np.ndarray:
        """The ulp of the exact result."""
        fmt = self.golden.format
        return normwise.unit(fmt, self.real) if self.golden.normwise else ulp(fmt, self.real.hi)

    @property
    def elements_stand_alone(self) -> bool:
        """Whether no element's judgement depends on another: not so of ties, and where flushing is all or none."""
        is_plain = self.golden.format.is_float and self.golden.ties is None and not self.golden.normwise
        return is_plain and not self.arithmetic.flushes_subnormals

    @cached_property
    def parts(self) -> Comparison:
        """Of complex numbers: real and imaginary parts, in a last axis."""
        parts = _components(self.golden.format, self.actual)
        return Comparison(_as_components(self.golden), parts, self.operands, self.arithmetic, self)

    @cached_property
    def alternatives(self) -> tuple[Comparison, ...]:
        """The same output beside the other goldens of its format."""
        others = (other for other in self.golden.alternatives if other.format == self.golden.format)
        return tuple(Comparison(other, self.actual, self.operands, self.arithmetic) for other in others)


def judge(
    golden: Golden,
    actual: np.ndarray,
    row: Row,
    operands: Mapping[str, Any] | None = None,
    arithmetic: Arithmetic = IEEE,
) -> Elements:
    """`actual` (of the golden's shape and format) against the golden; where it fails, against the alternatives."""
    return elements_of(Comparison(golden, actual, operands or {}, arithmetic), row)


def elements_of(comparison: Comparison, row: Row) -> Elements:
    """As `judge`; the comparison may be judged by several rows."""
    if comparison.golden.value.size > BLOCK and comparison.elements_stand_alone and not row.reads_operands:
        return _in_blocks(comparison, row)
    return _whole(comparison, row)


def _in_blocks(comparison: Comparison, row: Row) -> Elements:
    """A block at a time, so that what is computed on the way stays small whatever the tensor's size."""
    golden, actual = comparison.golden, comparison.actual.reshape(-1)
    figures = {name: np.empty(actual.size) for name in ("error_ulp", "bound_ulp")}
    masks = {each.name: np.empty(actual.size, bool) for each in fields(Elements) if each.name not in figures}
    whole = Elements(**figures, **masks)
    for start in range(0, actual.size, BLOCK):
        block = slice(start, start + BLOCK)
        part = golden.rearranged(lambda array: array.reshape(-1)[block])  # noqa: B023 - used at once
        elements = _whole(Comparison(part, actual[block], {}, comparison.arithmetic), row)
        for name, array in vars(elements).items():
            getattr(whole, name)[block] = array
    return Elements(**{name: array.reshape(golden.value.shape) for name, array in vars(whole).items()})


def _whole(comparison: Comparison, row: Row) -> Elements:
    elements = _judge_one(comparison, row)
    for alternative in comparison.alternatives:
        if elements.ok.all():
            break
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


def _components(fmt: Format, array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array)[..., None].view(fmt.component.storage)


def _as_components(golden: Golden) -> Golden:
    open_ = None if golden.open is None else np.broadcast_to(golden.open[..., None], (*golden.value.shape, 2))
    return replace(
        golden,
        format=golden.format.component,
        value=_components(golden.format, golden.value),
        open=open_,
        alternatives=(),
    )


# Integers, bools and indices


def _discrete(golden: Golden, actual: np.ndarray) -> Elements:
    ok = actual == golden.value if golden.ties is None else _equal_rank(golden.value, actual, golden.ties)
    nan = np.full(golden.value.shape, np.nan)
    none = np.zeros(golden.value.shape, bool)
    open_ = none if golden.open is None else golden.open
    return Elements(ok | open_, nan, nan, ~open_, open_, none, ~ok & ~open_)


def _equal_rank(expected: np.ndarray, actual: np.ndarray, ties: Ties) -> np.ndarray:
    """Whether each actual index points at an element equal to the expected one's, and none is given twice along dim."""
    expected, actual, ranks = (np.atleast_1d(array) for array in (expected, actual, ties.ranks))
    extent = ranks.shape[ties.dim]
    inside = (actual >= 0) & (actual < extent)
    places = np.where(inside, actual, 0)
    equal = np.take_along_axis(ranks, places, ties.dim) == np.take_along_axis(ranks, expected, ties.dim)
    return (inside & equal & ~_repeated(actual, ties.dim)).reshape(ties.ranks.shape)


def _repeated(indices: np.ndarray, dim: int) -> np.ndarray:
    """Whether the same index stands earlier along dim."""
    order = np.argsort(indices, axis=dim, kind="stable")
    ordered = np.take_along_axis(indices, order, dim)
    again = np.zeros(indices.shape, bool)
    later, earlier = [slice(None)] * indices.ndim, [slice(None)] * indices.ndim
    later[dim], earlier[dim] = slice(1, None), slice(None, -1)
    again[tuple(later)] = ordered[tuple(later)] == ordered[tuple(earlier)]
    repeated = np.empty_like(again)
    np.put_along_axis(repeated, order, again, dim)
    return repeated


# Floats


def _floating(comparison: Comparison, row: Row) -> Elements:
    golden, actual, real = comparison.golden, comparison.actual, comparison.real
    kind = _possible_kind(golden, row)
    determined, open_ = comparison.determined, comparison.open
    with np.errstate(all="ignore"):
        near, error, bound, unbounded = _nearness(comparison, row, kind)
        unbounded = unbounded | _outside(comparison, row)
        if comparison.arithmetic.flushes_subnormals:
            near = near | flushing.allowed(golden, actual, real, bound, sign_counts=kind not in _ALLOWANCES)
    vacuous = unbounded & ~determined
    if kind == "derived":
        # An honest implementation may have overflowed on the way to a result that is special anyway.
        vacuous |= np.isinf(golden.budget)
    if kind == "tosa":
        vacuous |= tosa.undefined(row.formula, tosa.Call(golden, comparison.operands))
    same_class = comparison.same_class & (kind in _SIGN_BLIND or _zero_sign(golden, actual, real, kind))
    vacuous = vacuous & ~open_
    compared = ~(open_ | vacuous)
    right = same_class & (near | determined)
    if determined.any():
        error, bound = (np.where(determined, np.nan, figure) for figure in (error, bound))
    return Elements(right | ~compared, error, bound, compared, open_, vacuous, compared & ~same_class)


def has_bound(golden: Golden, row: Row) -> bool:
    """Whether the row and the golden together say how far off a result may be."""
    return golden.real is None or not golden.format.is_float or _possible_kind(golden, row) != "unbounded"


def _possible_kind(golden: Golden, row: Row) -> str:
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


def _same_special(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return (actual == expected) | (np.isnan(actual) & np.isnan(expected))


def _zero_sign(golden: Golden, actual: np.ndarray, real: Real, kind: str) -> np.ndarray:
    """Where expected and actual are both zero, the sign must be the expected one, unless the op leaves it free.

    A number that underflows keeps its sign when it is rounded correctly or to a few ulps; an error bound reaches
    across 0.
    """
    both_zero = (actual == 0) & (golden.value == 0)
    if kind in ("accumulation", "derived"):
        both_zero &= (real.hi == 0) & (real.radius == 0)
    return ~both_zero | (np.signbit(actual) == np.signbit(golden.value)) | np.asarray(golden.zero_sign_free)


def _outside(comparison: Comparison, row: Row) -> np.ndarray | bool:
    """Where the first operand lies in the interval for which the row's source gives no bound."""
    if row.excluded is None:
        return False
    low, high = row.excluded
    operand = np.asarray(next(iter(comparison.operands.values()))).astype(np.float64)
    return np.broadcast_to((low <= operand) & (operand <= high), comparison.golden.value.shape)


Nearness = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _nearness(comparison: Comparison, row: Row, kind: str) -> Nearness:
    """Which elements are near enough, their errors and bounds in ulps, and where there is no bound."""
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


def _within_ulps(comparison: Comparison, row: Row, kind: str) -> Nearness:
    error, bounded = comparison.error_ulp, np.zeros(comparison.error_ulp.shape, bool)
    # Half an ulp means correctly rounded: of a tie's two neighbours only the even one, the expected value.
    limit = 0.5 if row.bound is None else row.bound
    if kind == "exact" or (kind == "ulp" and limit <= 0.5):
        near = _same_special(comparison.actual, comparison.golden.value)
    else:
        near = (error if kind == "ulp" else comparison.rounded_error_ulp) <= limit
    # What is within k ulps of the rounded result is within k + 1/2 of the exact one.
    return near, error, np.full(error.shape, limit + 0.5 if kind == "ulp_of_rounded" else limit), bounded


def _within_allowance(comparison: Comparison, allowed: np.ndarray | float) -> Nearness:
    real = comparison.real
    allowed = np.broadcast_to(allowed, comparison.error_ulp.shape)
    allowed = normwise.size(allowed) if comparison.golden.normwise else allowed
    error, bound = _in_ulps(comparison, allowed)
    near = error <= bound
    uncountable = np.isnan(bound) & np.isfinite(allowed)
    if uncountable.any():
        near = np.where(uncountable, np.abs((comparison.actual - real.hi) - real.lo) <= allowed, near)
    return near, error, bound, ~np.isfinite(allowed)


def _almost_equal(comparison: Comparison, row: Row) -> Nearness:
    """By the rule of the table's source, on the expected value: the exact number is not known to those who wrote it."""
    whole = comparison.whole if comparison.whole is not None and row.tolerance.modulus else comparison
    near = almost_eq(whole.golden.value, whole.actual, row.tolerance)
    allowed = allowance(whole.golden.value, row.tolerance)
    if whole is not comparison:
        near, allowed = (np.broadcast_to(array[..., None], comparison.golden.value.shape) for array in (near, allowed))
    error, bound = _in_ulps(comparison, allowed)
    return near, error, bound, np.zeros(error.shape, bool)


def _within_tosa(comparison: Comparison, row: Row) -> Nearness:
    call = tosa.Call(comparison.golden, comparison.operands)
    below, above = tosa.bounds(row.formula, call)
    near = tosa.within(comparison.golden.format, comparison.actual, comparison.real.hi, below, above)
    allowed = np.broadcast_to(np.maximum(below, above), near.shape)
    error, bound = _in_ulps(comparison, allowed)
    return near, error, bound, ~np.isfinite(allowed)


def _in_ulps(comparison: Comparison, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Error and allowance in ulps; NaN around a float64 zero, where their number is beyond float64 itself."""
    bound = allowed / comparison.unit
    uncountable = np.isinf(bound) & np.isfinite(allowed)
    if not uncountable.any():
        return comparison.error_ulp, bound
    return np.where(uncountable, np.nan, comparison.error_ulp), np.where(uncountable, np.nan, bound)


def _derived_allowance(golden: Golden, real: Real, _: Arithmetic) -> np.ndarray:
    """The budget of the running error analysis, and the rounding into a narrower result."""
    return golden.budget + accumulation.final_rounding(golden, compute_of(golden.format), real, golden.budget)


# Rules that compare numbers, to which both zeros are one.
_SIGN_BLIND = ("almost_eq", "tosa")
# Bounds that are absolute errors against the exact result.
_ALLOWANCES: dict[str, Callable[[Golden, Real, Arithmetic], np.ndarray]] = {
    "accumulation": accumulation.allowance,
    "derived": _derived_allowance,
}
