"""What a case asked, without the elements of its tensors: the facts by which failing cases may differ from passing
ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conform.call.bound import Bound
from conform.interp.golden import Outcome
from conform.judging.evidence import Asked, Given, Plain, TensorMeta
from conform.judging.marks import marks_in
from conform.numerics.formats import format_of
from conform.suites.cases import Case


def asked_of(case: Case, call: Bound, outcome: Outcome | Exception) -> Asked:
    """The call of a case; `outcome` has the expected results, if there are any."""
    arguments = {name: _described(value) for name, value in call.arguments.items()}
    goldens = outcome.goldens if isinstance(outcome, Outcome) else ()
    results = tuple(TensorMeta(each.format.name, np.shape(each.value)) for each in goldens if not each.is_none)
    holds = tuple((name, mark) for name, tensor in _tensors(call) for mark in marks_in(tensor))
    return Asked(arguments, results, placed(case, call), tuple(dict.fromkeys(holds)))


def _described(value: Any) -> Given:
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return _plain(value)


def _plain(value: Any) -> Plain:
    if isinstance(value, np.ndarray):
        return TensorMeta(format_of(value).name, value.shape)
    return value if value is None or isinstance(value, bool | int | float | complex | str) else str(value)


def _tensors(call: Bound) -> Iterator[tuple[str, np.ndarray]]:
    """Every tensor with the name of its argument."""
    for name, value in call.arguments.items():
        items = value if isinstance(value, list | tuple) else [value]
        yield from ((name, item) for item in items if isinstance(item, np.ndarray))


def placed(case: Case, call: Bound) -> str | None:
    """The argument that the case's layout `NAME.K` speaks of: tensors are numbered in the order in which the test gives
    them, positional ones first."""
    _, _, number = case.layout.partition(".")
    if not number.isdecimal():
        return None
    test = case.draw.test
    named = {argument: [] for argument in (*list(call.arguments)[: len(test.inputs)], *test.kwargs)}
    for name, _ in _tensors(call):
        named.setdefault(name, []).append(name)
    return [name for names in named.values() for name in names][int(number)]
