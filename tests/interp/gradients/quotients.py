"""Difference quotients of the references: they know nothing of the kit's rules, of its semantics, or of torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from conform.call.bound import Bound, bound_call
from conform.domains.engine.argument_generator import arguments
from conform.domains.engine.generator import Limits
from conform.domains.engine.meta_tuple import MetaTuple, valid_tuples
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.variables import Contradiction
from conform.domains.specs import spec_of
from conform.errors import ConformError, Unjudged
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Outcome
from conform.interp.gradients.evaluation import Place, gradient_call, outputs_of, places_of
from conform.numerics.draws import Stream
from conform.refs import UNSPECIFIED
from conform.selftest.agreement.compare import reference_of

SMALL = Limits(numel=24, size_of_rank=(1, 12, 5, 4, 3, 2), short=4)
MOST, FEWEST = 12, 2  # elements of an operand that are moved, each by itself
NUMBERS = 1000  # of a reference's results, about, for all elements together: of large ones fewer elements are moved
STEP = 2.0**-17  # the quotient is off by its square times the third derivative, and by 2^-53 over it


def calls(op: str, count: int) -> Iterator[tuple[Bound, Outcome]]:
    """Valid calls of float64 numbers, drawn from the op's spec, with what they give; a call that has no golden, or may
    be refused for what is open, is none."""
    spec = spec_of(op)
    stream = Stream(0, f"gradients {op}", 0, "calls")
    found = 0
    for made in islice(_tuples(spec), 20 * count):
        kwarg_only = {one.name for one in spec.schema.arguments if one.kwarg_only}
        positional = [name for name in made.arguments if name not in made.omitted and name not in kwarg_only]
        drawn = arguments(spec, made, stream)
        call = bound_call(op, (), dict(zip(positional, drawn.args, strict=True)) | drawn.kwargs)
        try:
            outcome = evaluate_call(call)
        except ConformError:
            continue
        if (
            any(call.arguments.get(name) for name in ("scale_grad_by_freq",))
            or call.arguments.get("padding_idx", -1) != -1
        ):
            continue  # documented to change the gradient, and it alone
        have = outputs_of(call, outcome)
        are_fine = all(one.format.bits == 64 for one, has in zip(outcome.results, have, strict=True) if has)
        leaves_open = any(one.open is not None and one.open.any() for one in outcome.results)
        if not (outcome.refusal and leaves_open) and outcome.given is None and any(have) and are_fine:
            found += 1
            yield call, outcome
        if found == count:
            return


def _tuples(spec: OpSpec) -> Iterator[MetaTuple]:
    """With all data in float64, but of ops whose other operands cannot be."""
    try:
        yield from valid_tuples(spec, 7, dtype="float64", every=True, limits=SMALL)
    except Contradiction:
        yield from valid_tuples(spec, 7, dtype="float64", limits=SMALL)


def cotangents_of(call: Bound, outcome: Outcome) -> list[np.ndarray | None]:
    stream = Stream(0, f"gradients {call.op}", 0, "cotangents")
    pairs = zip(outputs_of(call, outcome), outcome.results, strict=True)
    return [stream.normal(one.value.shape).astype(one.format.storage) if has else None for has, one in pairs]


def quotient(call: Bound, cotangents: Sequence[np.ndarray | None], place: Place) -> tuple[np.ndarray, np.ndarray]:
    """(gradient, error): that of sum(cotangent * result) by the reference, and what the quotient may be off; NaN of
    what was not moved."""
    array = place.of(call.arguments)
    found, errors = np.full(array.shape, np.nan), np.zeros(array.shape)
    size = sum(g.size for g in cotangents if g is not None)
    count = max(FEWEST, min(MOST, NUMBERS // max(size, 1)))
    for number in Stream(0, f"gradients {call.op}", 0, "elements").permutation(array.size)[:count]:
        index = tuple(int(at) for at in np.unravel_index(number, array.shape))
        sides = [_weighed(call, cotangents, place, index, sign * STEP) for sign in (1, -1, 2, -2)]
        near, far = (sides[0][0] - sides[1][0]) / (2 * STEP), (sides[2][0] - sides[3][0]) / (4 * STEP)
        rounding = max(size for _, size in sides) * 2.0**-52 / STEP
        found[index], errors[index] = near, 2 * abs(near - far) + 4 * rounding + 1e-12
    return found, errors


def _weighed(
    call: Bound, cotangents: Sequence[np.ndarray | None], place: Place, index: tuple[int, ...], step: float
) -> tuple[float, float]:
    """sum(cotangent * result) with one element moved by `step`, and the sum of the magnitudes."""
    array = place.of(call.arguments).copy()
    array[index] += step
    results = reference_of(Bound(call.schema, moved(call.arguments, place, array)))
    if isinstance(results, Exception):
        raise results
    total = size = 0.0
    for g, result in zip(cotangents, results[: len(cotangents)], strict=True):  # but for what the call leaves behind
        if g is None:
            continue
        terms = [float(w) * _number(v) for w, v in zip(g.reshape(-1).tolist(), result.data, strict=True) if w]
        with np.errstate(invalid="ignore"):
            total, size = total + np.sum(terms), size + np.sum(np.abs(terms))
    return float(total), float(size)


def _number(value: Any) -> float:
    return np.nan if value is UNSPECIFIED else float(value)


def moved(arguments: Mapping[str, Any], place: Place, array: np.ndarray) -> dict[str, Any]:
    if place.item is None:
        return {**arguments, place.name: array}
    items = list(arguments[place.name])
    items[place.item] = array
    return {**arguments, place.name: items}


def compared(call: Bound, outcome: Outcome) -> tuple[int, list[str]]:
    """How many elements of the gradients of a call were compared, and what is wrong with them. Nothing is said of those
    that are open, or without a bound: of a 0 that digits do not tell from its neighbours the golden knows no rounding.
    """
    cotangents = cotangents_of(call, outcome)
    try:
        goldens = evaluate_call(gradient_call(call, cotangents)).goldens
    except Unjudged:
        return 0, []
    count, wrong = 0, []
    for place, golden in zip(places_of(call), goldens, strict=True):
        expected, error = quotient(call, cotangents, place)
        mine = golden.value.astype(np.float64)
        closed = ~np.isnan(expected) if golden.open is None else ~golden.open & ~np.isnan(expected)
        closed &= True if golden.budget is None else np.isfinite(golden.budget)
        with np.errstate(all="ignore"):
            off = closed & ~(np.abs(mine - expected) <= error + 1e-9 * np.abs(expected))
        count += int(closed.sum())
        for index in np.argwhere(off)[:2]:
            at = tuple(index)
            wrong.append(f"{call.op} of {place} at {at}: {mine[at]}, quotient {expected[at]} +- {error[at]:.1e}")
    return count, wrong
