"""How far an output is from its golden, element by element, and whether that is within the contract.

One judge a kind of contract; each is a pure function of golden and actual values, and decides every element alone.
Classes come first: NaN, infinities that the op's meaning determines, and signs of zero are right or wrong, not near.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from conform.contracts.tables import Row
from conform.interp.golden import Golden, Ties
from conform.interp.numerics.ball import gamma, underflow
from conform.interp.numerics.formats import FORMATS, Format
from conform.interp.numerics.real import Real
from conform.interp.numerics.ulp import error_ulp, ulp


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


def judge(golden: Golden, actual: np.ndarray, row: Row) -> Elements:
    """`actual` (of the golden's shape and format) against the golden; where it fails, against the alternatives."""
    elements = _judge_one(golden, actual, row)
    for alternative in golden.alternatives:
        if elements.ok.all():
            break
        if alternative.format == golden.format:
            elements = _better(elements, _judge_one(alternative, actual, row))
    return elements


def _better(first: Elements, second: Elements) -> Elements:
    """Element by element, what the alternative accepts and the first reading does not."""
    take = second.ok & ~first.ok
    if not take.any():
        return first
    return Elements(**{name: np.where(take, getattr(second, name), getattr(first, name)) for name in vars(first)})


def _judge_one(golden: Golden, actual: np.ndarray, row: Row) -> Elements:
    if golden.format.kind == "complex":
        return _judge_one(_as_components(golden), _components(golden.format, actual), row)
    if not golden.format.is_float:
        return _discrete(golden, actual)
    return _floating(golden, actual, row)


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


def _floating(golden: Golden, actual: np.ndarray, row: Row) -> Elements:
    expected = golden.value
    real = golden.real if golden.real is not None else Real.exact(expected.astype(np.float64))
    kind = "exact" if golden.real is None else _possible_kind(golden, row)
    determined = ~np.isfinite(real.hi)
    with np.errstate(all="ignore"):
        near, error, bound, unbounded = _nearness(golden, actual, row, real, kind)
    vacuous = unbounded & ~determined
    if kind == "derived":
        # An honest implementation may have overflowed on the way to a result that is special anyway.
        vacuous |= np.isinf(golden.budget)
    # A format without infinity may round a finite number to NaN: its overflow.
    no_other_nan = ~np.isnan(actual) | np.isnan(expected)
    same_class = np.where(determined, _same_special(actual, expected), no_other_nan)
    sign = _zero_sign(golden, actual, real, kind)
    open_ = np.zeros(expected.shape, bool) if golden.open is None else golden.open
    vacuous = vacuous & ~open_
    compared = ~open_ & ~vacuous
    right = same_class & sign & (near | determined)
    error, bound = (np.where(determined, np.nan, figure) for figure in (error, bound))
    return Elements(right | ~compared, error, bound, compared, open_, vacuous, compared & ~(same_class & sign))


def has_bound(golden: Golden, row: Row) -> bool:
    """Whether the row and the golden together say how far off a result may be."""
    return golden.real is None or not golden.format.is_float or _possible_kind(golden, row) != "unbounded"


def _possible_kind(golden: Golden, row: Row) -> str:
    """The row's kind, or another that the golden allows. Without a budget or magnitude nothing bounds a derived
    error: only what the golden determines, NaN and infinities, is judged."""
    if row.kind == "derived" and golden.budget is None:
        return "accumulation" if golden.magnitude is not None else "unbounded"
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


def _nearness(
    golden: Golden, actual: np.ndarray, row: Row, real: Real, kind: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which elements are near enough, their errors and bounds in ulps, and where there is no bound."""
    error = error_ulp(golden.format, actual, real)
    if kind == "unbounded":
        everywhere = np.ones(error.shape, bool)
        return everywhere, error, np.full(error.shape, np.inf), everywhere
    if kind not in _ALLOWANCES:
        bound = np.full(error.shape, 0.5 if row.bound is None else row.bound)
        # Half an ulp means correctly rounded: of a tie's two neighbours only the even one, the expected value.
        rounded = np.full(error.shape, kind == "exact") | (bound <= 0.5)
        near = np.where(rounded, _same_special(actual, golden.value), error <= bound)
        return near, error, bound, np.zeros(error.shape, bool)
    allowance = np.broadcast_to(_ALLOWANCES[kind](golden, real), error.shape)
    bound = allowance / ulp(golden.format, real.hi)
    near = error <= bound
    uncountable = np.isinf(bound) & np.isfinite(allowance)  # in ulps of a float64 zero: beyond float64 itself
    if uncountable.any():
        near = np.where(uncountable, np.abs((actual - real.hi) - real.lo) <= allowance, near)
        error, bound = (np.where(uncountable, np.nan, figure) for figure in (error, bound))
    return near, error, bound, ~np.isfinite(allowance)


def _accumulation_allowance(golden: Golden, real: Real) -> np.ndarray:
    """|error| <= gamma_k(u) S + k eta, S the sum of magnitudes, u and eta of the compute type (Higham, theorem 3.1)."""
    compute = compute_of(golden.format)
    roundings = np.asarray(golden.terms, np.float64)
    spread = gamma(roundings, compute.unit_roundoff) * golden.magnitude + roundings * underflow(compute)
    return spread + _final_rounding(golden, compute, real, spread)


def _derived_allowance(golden: Golden, real: Real) -> np.ndarray:
    """The budget of the running error analysis, and the rounding into a narrower result."""
    return golden.budget + _final_rounding(golden, compute_of(golden.format), real, golden.budget)


def _final_rounding(golden: Golden, compute: Format, real: Real, spread: np.ndarray) -> np.ndarray | float:
    if compute == golden.format:
        return 0.0
    return ulp(golden.format, np.abs(real.hi) + spread) / 2


def compute_of(fmt: Format) -> Format:
    """The compute type a backend is held to unless it declares another: float32 for the half types, else the element
    type."""
    return FORMATS["float32"] if fmt.bits < 32 else fmt


# Bounds that are absolute errors; those of the other kinds are ulps.
_ALLOWANCES: dict[str, Callable[[Golden, Real], np.ndarray]] = {
    "accumulation": _accumulation_allowance,
    "derived": _derived_allowance,
}
