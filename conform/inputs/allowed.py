"""Which special values and which domain edges each tensor of a call may take."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from conform.call import binding
from conform.call.arguments import Arguments, is_tensor, tensors
from conform.domains.specs import OpSpec
from conform.inputs.edges.rows import edge_rows, edges_of
from conform.inputs.specials import special_values, without_duplicates
from conform.numerics.formats import Format, format_of


def special_domains(arguments: Arguments, taking: frozenset[int], spec: OpSpec) -> dict[int, np.ndarray]:
    """By tensor number: the special values of its format that a tensor of `taking` may take."""
    barred = _barred(arguments, taking, spec)
    return {k: _special_values_but(fmt.name, barred.get(k, ())) for k, fmt in _formats(arguments, taking).items()}


def edge_columns(arguments: Arguments, taking: frozenset[int], spec: OpSpec) -> dict[int, np.ndarray]:
    """By tensor number: the edges of the op for it, one-dimensional; none for the tensors that have none.

    In tensors of one format, values at the same place belong together; a tensor alone has no value twice.
    """
    edges = edges_of(spec.name)
    if edges is None:
        return {}
    settings = settings_of(arguments, spec, edges.settings)
    if any(isinstance(setting, complex) for setting in settings):  # to be refused
        return {}
    formats, barred = _formats(arguments, taking), _barred(arguments, taking, spec)
    operands = [numbers_of(arguments, spec, [name]) & taking for name in edges.operands]
    columns = {}
    for k, fmt in formats.items():
        column = next((at for at, numbers in enumerate(operands) if k in numbers), None)
        rows = edge_rows(spec.name, fmt.name, settings)
        allowed = [~np.isin(rows[:, at], barred[n]) for at, ns in enumerate(operands) for n in ns if n in barred]
        kept = rows[np.logical_and.reduce(allowed)] if allowed else rows
        if column is not None and len(kept):
            columns[k] = np.ascontiguousarray(kept[:, column])
    return columns if len(columns) > 1 else {k: without_duplicates(column) for k, column in columns.items()}


def _formats(arguments: Arguments, taking: frozenset[int]) -> dict[int, Format]:
    return {k: format_of(tensor.dtype) for k, tensor in enumerate(tensors(arguments)) if k in taking}


def settings_of(arguments: Arguments, spec: OpSpec, names: Sequence[str]) -> tuple[object, ...]:
    """The values of the arguments of these names, defaults filled in; 0-d tensors as numbers."""
    if not names:
        return ()
    overload = binding.resolve(spec.name, arguments.args, arguments.kwargs, is_tensor)
    bound = binding.bind(overload, arguments.args, arguments.kwargs, is_tensor)
    return tuple(bound[name].item() if isinstance(bound[name], np.ndarray) else bound[name] for name in names)


# --- Integer division -------------------------------------------------------------------------------------------------


def _barred(arguments: Arguments, taking: frozenset[int], spec: OpSpec) -> dict[int, tuple[int, ...]]:
    """By number: the integers that a tensor of `taking` must not take beside what the other tensors hold."""
    if not spec.nonzero_integers or _has_float_operand(arguments):
        return {}
    divisors = numbers_of(arguments, spec, spec.nonzero_integers)
    kept_divisors, kept_dividends = _kept_operands(arguments, taking, divisors, spec)
    meets_smallest = bool((kept_dividends[:, None] == _SMALLEST).any())
    meets_minus_one = bool(taking & divisors) or bool((kept_divisors == -1).any())
    barred = {}
    for k, fmt in _formats(arguments, taking).items():
        if k in divisors:
            barred[k] = (0, -1) if meets_smallest else (0,)
        elif fmt.kind == "int" and meets_minus_one:
            barred[k] = (fmt.min_value,)
    return barred


_SMALLEST = np.array([-(2**7), -(2**15), -(2**31), -(2**63)])


def _has_float_operand(arguments: Arguments) -> bool:
    """Whether type promotion makes the division one of floats or complex numbers, where no divisor is barred."""
    formats = [format_of(tensor.dtype) for tensor in tensors(arguments)]
    scalars = (*arguments.args, *arguments.kwargs.values())
    inexact = (float, complex)
    return any(fmt.is_float or fmt.is_complex for fmt in formats) or any(isinstance(one, inexact) for one in scalars)


def _kept_operands(
    arguments: Arguments, taking: frozenset[int], divisors: frozenset[int], spec: OpSpec
) -> tuple[np.ndarray, np.ndarray]:
    """All values of the divisors and of the dividends that stay as they are, Python numbers included: int64 each."""
    kept: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for k, tensor in enumerate(tensors(arguments)):
        if k not in taking:
            kept[k not in divisors].append(tensor.reshape(-1).astype(np.int64))
    divisor_places = _places(spec, spec.nonzero_integers)
    for place, value in (*enumerate(arguments.args), *arguments.kwargs.items()):
        if isinstance(value, int):
            kept[place not in divisor_places].append(np.array([value]))
    return np.concatenate([*kept[0], _NO_VALUES]), np.concatenate([*kept[1], _NO_VALUES])


_NO_VALUES = np.empty(0, dtype=np.int64)


@functools.cache
def _special_values_but(format_name: str, barred: tuple[int, ...]) -> np.ndarray:
    values = special_values(format_name)
    return values[~np.isin(values.astype(np.int64), barred)] if barred else values


def numbers_of(arguments: Arguments, spec: OpSpec, names: Sequence[str]) -> frozenset[int]:
    """Numbers of the tensors within the arguments of these names."""
    if not names:
        return frozenset()
    places = _places(spec, names)
    numbers: set[int] = set()
    next_number = 0
    for place, value in (*enumerate(arguments.args), *arguments.kwargs.items()):
        first, next_number = next_number, next_number + len(tensors(Arguments([value])))
        if place in places:
            numbers.update(range(first, next_number))
    return frozenset(numbers)


def _places(spec: OpSpec, names: Sequence[str]) -> set[int | str]:
    """How arguments of these names may stand in a call: at their positions, or by name."""
    return {*names, *(at for at, one in enumerate(spec.schema.arguments) if one.name in names)}
