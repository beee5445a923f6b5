"""One call on both sides: bit for bit, but for NaNs (one class), free zero signs, and what the policy leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform import refs
from conform.call.binding import bind
from conform.call.bound import Bound
from conform.call.schemas import schema
from conform.errors import InvalidArguments, Undecided, Unjudged
from conform.interp.evaluate import evaluate, is_array
from conform.interp.golden import Golden, Outcome, Ties
from conform.refs import UNSPECIFIED, RefTensor
from conform.refs.exact.tensor import Unspecified
from conform.selftest.agreement.tensors import NotOfItsDtype, for_reference, from_reference

# Rules by which the interpreter alone leaves elements open: a sum that overflows in some order is an exact sum to the
# reference (P35), and so are a distance whose square may overflow on the way (P114), the end of a filter's support
# (P145), an element at which an interpolation may lie (P126), and the border of what is close (P146), which a rounding
# may move; so are a matrix near one that is not definite (P203) or singular (P218, P219), and a choice between pivots
# that are nearly equal (P220). Where any other rule leaves an element open, both sides must.
INTERPRETER_ONLY = frozenset({"P35", "P114", "P126", "P145", "P146", "P203", "P218", "P219", "P220"})


Results = tuple[RefTensor | None, ...]


@dataclass(frozen=True)
class Difference:
    """Where the two sides part: in an element of output `output` at `index`, or (index None) in something else."""

    what: str
    output: int | None = None
    index: tuple[int, ...] | None = None
    interpreter: Any = None
    reference: Any = None


@dataclass(frozen=True)
class Comparison:
    """Elements that were compared and found `witnessed`, left `opened` by the policy, or in `differences`.

    `refused`: a side refused the call, as it may, or both did.
    """

    witnessed: int
    opened: int = 0
    differences: int = 0
    first: Difference | None = None
    refused: bool = False


def compare(op: str, kwargs: Mapping[str, Any], is_valid: bool | None = True) -> Comparison:
    """`op` (an overload) with `kwargs` (by the schema's names) through the interpreter and through the reference.

    is_valid: whether the op's spec has the call, so that both must give a result (True) or neither may (False); None
    where a side may refuse what the other takes, and only results are compared.
    """
    try:
        expected = reference_of(Bound(schema(op), bind(schema(op), (), kwargs, is_array)))
        actual = _interpreter(op, kwargs)
    except Exception as defect:  # of one side in one call: it is told as a disagreement, and no other call is lost
        return _one(Difference(f"{type(defect).__name__} where there should be a result or a refusal: {defect}"))
    if is_valid and isinstance(actual, Undecided) and not isinstance(expected, Exception):
        return Comparison(0, opened=1)  # no golden, and so no wrong one
    if is_valid is False or isinstance(expected, Exception) or isinstance(actual, Exception):
        return _compare_refusals(actual, expected, is_valid)
    return compare_results(actual, expected)


def compare_results(actual: Outcome, expected: Results) -> Comparison:
    """The results of both sides, output by output."""
    if len(actual.goldens) != len(expected):
        return _one(Difference(f"the interpreter gives {len(actual.goldens)} outputs, the reference {len(expected)}"))
    parts = [
        _compare_output(n, golden, tensor)
        for n, (golden, tensor) in enumerate(zip(actual.goldens, expected, strict=True))
    ]
    first = next((part.first for part in parts if part.first), None)
    counts = (sum(getattr(part, name) for part in parts) for name in ("witnessed", "opened", "differences"))
    return Comparison(*counts, first)


def reference_of(call: Bound) -> Results | ValueError | NotImplementedError:
    """What the reference of the op gives, or why it gives nothing. LookupError if there is none."""
    try:
        result = refs.lookup(call.op)(**for_reference(call.arguments))
    except (ValueError, NotImplementedError) as error:
        return error
    return result if isinstance(result, tuple) else (result,)


def _interpreter(op: str, kwargs: Mapping[str, Any]) -> Outcome | InvalidArguments | Unjudged:
    try:
        return evaluate(op, (), kwargs)
    except (InvalidArguments, Unjudged) as error:
        return error


def _one(difference: Difference) -> Comparison:
    return Comparison(0, 0, 1, difference)


def _compare_refusals(actual: object, expected: object, is_valid: bool | None) -> Comparison:
    """Arguments that the op's definition rejects, or that a side does not cover."""
    both = isinstance(actual, Exception) and isinstance(expected, Exception)
    if is_valid is None or (is_valid is False and both):
        return Comparison(0, refused=True)
    sides = (("interpreter", actual), ("reference", expected))
    answers = [f"the {side} {_answer(result)}" for side, result in sides]
    return _one(Difference("; ".join([*answers, f"the spec {'takes' if is_valid else 'refuses'} the call"])))


def _answer(result: object) -> str:
    return f"raises {type(result).__name__}: {result}" if isinstance(result, Exception) else "gives a result"


def _compare_output(output: int, golden: Golden, tensor: RefTensor | Unspecified | None) -> Comparison:
    if golden.undocumented or tensor is UNSPECIFIED:
        both = golden.undocumented and tensor is UNSPECIFIED
        return Comparison(0, opened=1) if both else _one(Difference("undocumented to one side alone", output))
    if golden.is_none or tensor is None:
        return _compare_none(output, golden.is_none, tensor is None)
    mine, its = (golden.format.name, golden.value.shape), (tensor.dtype, tensor.shape)
    if mine != its:
        return _one(Difference(f"dtype and shape: interpreter {mine}, reference {its}", output))
    if golden.value.dtype != golden.format.storage:
        return _one(Difference(f"the interpreter stores {golden.format.name} as {golden.value.dtype}", output))
    try:
        values, open_ = from_reference(tensor)
    except NotOfItsDtype as error:
        return _one(Difference(f"the reference gives {error}", output))
    skipped, opened_by_one = _openness(golden, open_)
    same = _equal_indices(golden, values) if golden.ties else _equal(golden, values)
    wrong = ~(same | skipped) | opened_by_one
    witnessed, opened, differences = (int(np.count_nonzero(mask)) for mask in (~(skipped | wrong), skipped, wrong))
    first = _first_difference(output, golden, values, opened_by_one, wrong) if differences else None
    return Comparison(witnessed, opened, differences, first)


def _compare_none(output: int, mine: bool, its: bool) -> Comparison:
    """Of an output that is None to one side or both."""
    if mine and its:
        return Comparison(0)
    sides = (("interpreter", mine), ("reference", its))
    told = (f"the {side} gives {'None' if is_none else 'a tensor'}" for side, is_none in sides)
    return _one(Difference("; ".join(told), output))


def _openness(golden: Golden, reference_open: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(open to one side with the right to it or to both, open to one side alone)."""
    if golden.open is None:
        return np.zeros_like(reference_open), reference_open
    may_be_alone = bool(INTERPRETER_ONLY & set(golden.open_rule.split(", ")))
    one_sided = reference_open & ~golden.open if may_be_alone else reference_open != golden.open
    return golden.open & ~one_sided, one_sided


def _equal(golden: Golden, values: np.ndarray) -> np.ndarray:
    if golden.format.is_complex:
        pairs = zip(_parts(golden.value), _parts(values), strict=True)
        real, imag = (_equal_reals(mine, its, golden.zero_sign_free) for mine, its in pairs)
        return real & imag
    if golden.format.is_float:
        return _equal_reals(golden.value, values, golden.zero_sign_free)
    return golden.value == values


def _parts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values.real, values.imag


def _equal_reals(mine: np.ndarray, its: np.ndarray, zero_sign_free: bool | np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        both_nan = (mine != mine) & (its != its)
        same_sign = np.signbit(mine) == np.signbit(its)
        return both_nan | (mine == its) & (same_sign | (mine == 0) & zero_sign_free)


def _equal_indices(golden: Golden, values: np.ndarray) -> np.ndarray:
    """Indices among equal elements: as right if the elements have the same rank and no index occurs twice."""
    ties: Ties = golden.ties
    ranks = np.atleast_1d(ties.ranks)
    width = ranks.shape[ties.dim] if ties.count is None else ties.count
    shape = (*ranks.shape[: ties.dim], width, *ranks.shape[ties.dim :][1:])
    mine, its = golden.value.reshape(shape), values.reshape(shape)
    inside = (its >= 0) & (its < ranks.shape[ties.dim])
    ordered = np.sort(its, axis=ties.dim)
    again = (np.diff(ordered, axis=ties.dim) == 0).any(axis=ties.dim, keepdims=True) & (not ties.repeated)
    rank_of = lambda index: np.take_along_axis(ranks, np.where(inside, index, 0), ties.dim)  # noqa: E731
    same_rank = rank_of(its) == np.take_along_axis(ranks, mine, ties.dim)
    places = np.arange(width).reshape([-1] + [1] * (len(shape) - ties.dim - 1))
    beyond = (its > places) & ties.so_far
    return (same_rank & inside & ~again & ~beyond).reshape(golden.value.shape)


def _first_difference(
    output: int, golden: Golden, values: np.ndarray, opened_by_one: np.ndarray, wrong: np.ndarray
) -> Difference:
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    mine, its = golden.value[index], values[index]
    if not opened_by_one[index]:
        return Difference("element", output, index, mine, its)
    by_interpreter = golden.open is not None and golden.open[index]
    what = f"open to one side alone ({golden.open_rule if by_interpreter else 'by the reference'})"
    return Difference(what, output, index, None if by_interpreter else mine, its if by_interpreter else None)
