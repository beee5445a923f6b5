"""Gradients of ops whose results are elements of their operands: each element gets the cotangents at the places to
which it went, added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.evaluate import evaluate
from conform.interp.gradients.kinks import kinked
from conform.interp.program.apply import apply
from conform.interp.program.number import Number
from conform.interp.program.shape import at_places, in_a_row
from conform.numerics.formats import format_of

if TYPE_CHECKING:
    from conform.interp.gradients.rules import Gradient

OF_PLACES = "of each element the sum of the cotangents at the places to which it goes; 0 of one that goes nowhere"
OF_ORDER = OF_PLACES + "; open between equal elements"
MOST = 2**24  # places in all, of an element as many as of the one that goes to the most


def of_places(op: str) -> Gradient:
    """The gradient of an op that moves elements as its other arguments say."""

    def of_operand(arguments: Mapping[str, Any], cotangents: Sequence[Number | None], _: Any, name: str) -> Any:
        plain, whole = _in_float64(_plain(op, arguments)), _listed(arguments[name])
        count = sum(one.real.size for one in whole)
        first, second = (_results(op, plain, name, start) for start in (1, count + 1))
        # What is an element of the operand moves with its numbers; what is anything else stays.
        went = [
            np.where((b - a == count) & (count > 0), a, 0).astype(np.int64) for a, b in zip(first, second, strict=True)
        ]
        return _like(arguments[name], _gathered(_sizes(whole), went, cotangents))

    return of_operand


def of_order(op: str) -> Gradient:
    """The gradient of an op that chooses elements by their order alone, of which ranks tell it as much as numbers."""

    def of_operand(arguments: Mapping[str, Any], cotangents: Sequence[Number | None], _: Any, name: str) -> Any:
        plain = _plain(op, arguments)
        names = [one for one in _operands(op) if isinstance(plain.get(one), np.ndarray)]
        values = np.concatenate([plain[one].astype(np.float64).reshape(-1) for one in names])
        if np.isnan(values).any():
            raise Unjudged(f"the gradient of {op} at NaN")
        first, *others = (_by_rank(op, plain, names, order) for order in _orders(values))
        differing = [np.any([a != other[at] for other in others], axis=0) for at, a in enumerate(first)]
        tied = np.isin(
            values, values[np.concatenate([(one[at] - 1) for one, at in zip(first, differing, strict=True)])]
        )
        start = sum(plain[one].size for one in names[: names.index(name)])
        went = [np.where((a > start) & (a <= start + plain[name].size), a - start, 0) for a in first]
        (found,) = _gathered([plain[name].shape], went, cotangents)
        return kinked(found, tied[start : start + plain[name].size].reshape(plain[name].shape))

    return of_operand


def _orders(values: np.ndarray) -> Iterator[np.ndarray]:
    """The numbers of the elements in ascending order, equal ones in several orders, so that what is chosen of them
    differs: forwards, backwards, the even numbers before the odd ones, and these before those; once where none are."""
    numbers = np.arange(values.size)
    yield np.lexsort((numbers, values))
    if np.unique(values).size < values.size:
        yield np.lexsort((-numbers, values))
        yield np.lexsort((numbers, numbers % 2, values))
        yield np.lexsort((numbers, -(numbers % 2), values))


def _operands(op: str) -> tuple[str, ...]:
    from conform.interp.gradients.rules import find  # which has this op by now

    rule = find(op)
    assert rule is not None, op
    return rule.operands


def _by_rank(op: str, plain: Mapping[str, Any], names: Sequence[str], order: np.ndarray) -> list[np.ndarray]:
    """Of each element of the float results the place of that of the operands, counted from 1; 0 of any other."""
    ranks = np.empty(order.size)
    ranks[order] = np.arange(1, order.size + 1)
    cuts = np.cumsum([plain[one].size for one in names])[:-1]
    ranked = {one: part.reshape(plain[one].shape) for one, part in zip(names, np.split(ranks, cuts), strict=True)}
    places = np.concatenate([[0], order + 1])
    found = []
    for golden in evaluate(op, (), {**_in_float64(plain), **ranked}).goldens:
        if golden.open is not None:
            raise Unjudged(f"the gradient of {op} where what it chooses is open ({golden.open_rule})")
        value = golden.value.astype(np.float64) if golden.format.is_float else np.zeros(golden.value.shape)
        is_rank = (value >= 1) & (value <= order.size)
        found.append(places[np.where(is_rank, value, 0).astype(np.int64)])
    return found


def _plain(op: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the semantics takes them, of which the kit knows every element."""

    def array(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [array(item) for item in value]
        if isinstance(value, Number) and value.array is None:
            raise Unjudged(f"the gradient of {op} of numbers that were computed")
        return value.array if isinstance(value, Number) else value

    return {name: array(value) for name, value in arguments.items()}


def _in_float64(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with all float tensors in float64, which holds the numbers of places."""

    def wide(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [wide(item) for item in value]
        return value.astype(np.float64) if isinstance(value, np.ndarray) and format_of(value).is_float else value

    return {name: wide(value) for name, value in plain.items()}


def _results(op: str, plain: Mapping[str, Any], name: str, start: int) -> list[np.ndarray]:
    """The op's results where its operand has the numbers from `start` on."""
    numbers, at = [], start
    for one in _listed(plain[name]):
        numbers.append((at + np.arange(one.size, dtype=np.float64)).reshape(one.shape))
        at += one.size
    given = {**plain, name: numbers if isinstance(plain[name], list) else numbers[0]}
    return [golden.value.astype(np.float64) for golden in evaluate(op, (), given).goldens]


def _gathered(
    shapes: Sequence[tuple[int, ...]], went: Sequence[np.ndarray], cotangents: Sequence[Number | None]
) -> list[Number]:
    """For tensors of these shapes, numbered through from 1, the sums of the cotangents where `went` has the number."""
    pairs = [(places, g) for places, g in zip(went, cotangents, strict=True) if g is not None]
    numbers = np.concatenate([places.reshape(-1) for places, _ in pairs])
    row = in_a_row([g for _, g in pairs])
    sizes = [int(np.prod(shape)) for shape in shapes]
    order = np.argsort(numbers, kind="stable")
    counts = np.bincount(numbers, minlength=sum(sizes) + 1)
    most = int(counts[1:].max(initial=0))
    if most * sum(sizes) > MOST:
        raise Unjudged(f"{most} places for each of {sum(sizes)} elements are more than the kit adds up")
    starts = np.cumsum(counts) - counts
    table = starts[1:, None] + np.arange(most)
    table = np.where(np.arange(most) < counts[1:, None], order[np.minimum(table, max(order.size - 1, 0))] + 1, 0)
    sums = at_places(row, table) if most else Number.exact(np.zeros((sum(sizes), 1), row.format.storage))
    flat = sums.moved(lambda part: part[:, 0]) if most <= 1 else apply("aten::sum.dim_IntList", sums, [1])
    cuts = np.cumsum([0, *sizes])
    return [
        flat.moved(lambda part, low=low, high=high, shape=shape: part[low:high].reshape(shape))
        for low, high, shape in zip(cuts[:-1], cuts[1:], shapes, strict=True)
    ]


def _sizes(numbers: Sequence[Any]) -> list[tuple[int, ...]]:
    return [one.shape for one in numbers]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _like(given: Any, found: list[Number]) -> Any:
    return found if isinstance(given, list | tuple) else found[0]
