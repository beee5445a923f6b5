"""Value classes: which tensors of a call take special values, and where.

`typical`: as drawn. `special`: every eligible tensor takes special values throughout. `special.K`: about one element in
six of tensor K, the rest typical, so that sums and products do not turn to NaN everywhere. Eligible are the tensors
with elements of their own choosing: no bools, no indices or masks, no values that the test wrote out.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from conform.errors import UsageError, did_you_mean
from conform.inputs.arguments import Arguments, map_tensors, tensors
from conform.inputs.draws import Stream
from conform.inputs.specials import CORE_COUNT, special_values
from conform.inputs.specs.registry import OpSpec, position
from conform.interp.numerics.formats import format_of

_TYPICAL_PER_SPECIAL = 6
_CROSSED = 4  # tensors of one cross product; more would leave int64, and no case has so many elements


def value_classes(arguments: Arguments, spec: OpSpec | None) -> list[str]:
    """"typical", "special" and one "special.K" for each eligible tensor K.

    Without a spec only "typical": which arguments are indices is not known then.
    """
    numbers = eligible_tensors(arguments, spec) if spec else []
    return ["typical", *["special"][: len(numbers)], *(f"special.{number}" for number in numbers)]


def eligible_tensors(arguments: Arguments, spec: OpSpec) -> list[int]:
    """Numbers of the tensors that may take special values."""
    barred = arguments.literal | _numbers_of(arguments, spec, spec.index_arguments)
    found = enumerate(tensors(arguments))
    return [k for k, tensor in found if k not in barred and tensor.size and tensor.dtype != np.bool_]


def with_values(arguments: Arguments, value_class: str, stream: Stream, spec: OpSpec | None) -> Arguments:
    """`arguments` with the special values of a class, drawn from `stream`, in new arrays; layouts come afterwards.

    UsageError if the class is none of `value_classes(arguments, spec)`.
    """
    if value_class == "typical":
        return arguments
    classes = value_classes(arguments, spec)
    if value_class not in classes or spec is None:
        raise UsageError(
            f"value class {value_class!r}: expected one of {', '.join(classes)}{did_you_mean(value_class, classes)}"
        )
    if value_class == "special":
        new = _crossed(arguments, stream, spec)
    else:
        number = int(value_class.removeprefix("special."))
        new = {number: _sprinkled(arguments, number, stream, spec)}
    return map_tensors(arguments, lambda k, tensor: new.get(k, tensor))


# --- The two classes --------------------------------------------------------------------------------------------------


def _crossed(arguments: Arguments, stream: Stream, spec: OpSpec) -> dict[int, np.ndarray]:
    """New values by tensor number: the cross product of the tensors' lists, as far as their sizes go."""
    every, numbers = tensors(arguments), eligible_tensors(arguments, spec)
    domains = _domains(arguments, frozenset(numbers), spec)
    new: dict[int, np.ndarray] = {}
    for start in range(0, len(numbers), _CROSSED):
        group = numbers[start : start + _CROSSED]
        counts = [every[k].size for k in group]
        chosen = _cross_product([len(domains[k]) for k in group], counts, stream)
        new |= {k: domains[k][index].reshape(every[k].shape) for k, index in zip(group, chosen, strict=True)}
    return new


def _sprinkled(arguments: Arguments, number: int, stream: Stream, spec: OpSpec) -> np.ndarray:
    """Tensor `number` with special values at one position in six, at least one."""
    values = tensors(arguments)[number].copy()
    domain = _domains(arguments, frozenset([number]), spec)[number]
    count = max(1, values.size // _TYPICAL_PER_SPECIAL)
    (chosen,) = _cross_product([len(domain)], [count], stream)
    values.reshape(-1)[stream.permutation(values.size)[:count]] = domain[chosen]
    return values


def _cross_product(lengths: Sequence[int], counts: Sequence[int], stream: Stream) -> list[np.ndarray]:
    """For each list, which of its values the elements of its tensor take; `counts` are the tensors' sizes.

    The first half of the elements walks through the product of the lists' cores, the rest through the product of the
    whole lists; so a small tensor meets the worst values, and the tests together meet all.
    """
    core_lengths = [min(length, CORE_COUNT) for length in lengths]
    core_counts = [min(count // 2, math.prod(core_lengths)) for count in counts]
    rest_counts = [count - core for count, core in zip(counts, core_counts, strict=True)]
    core, rest = _walk(core_lengths, core_counts, stream), _walk(lengths, rest_counts, stream)
    return [np.concatenate(pair) for pair in zip(core, rest, strict=True)]


def _walk(lengths: Sequence[int], counts: Sequence[int], stream: Stream) -> Iterator[np.ndarray]:
    """Element i of tensor j takes digit j of n(i) = (offset + i * stride) mod P, P the product of the lengths.

    Offset and stride are drawn; the stride has no divisor in common with P, so that P elements meet every combination.
    """
    product = math.prod(lengths)
    offset, stride = (int(drawn) for drawn in stream.integers(0, product - 1, 2))
    while math.gcd(stride, product) != 1:
        stride += 1
    place_value = 1
    for length, count in zip(lengths, counts, strict=True):
        yield (offset + stride * np.arange(count)) % product // place_value % length
        place_value *= length


# --- The domain of each tensor ----------------------------------------------------------------------------------------


def _domains(arguments: Arguments, taking: frozenset[int], spec: OpSpec) -> dict[int, np.ndarray]:
    """By tensor number: the special values that the tensors `taking` them may take."""
    formats = {k: format_of(tensor.dtype) for k, tensor in enumerate(tensors(arguments)) if k in taking}
    if not spec.nonzero_integers or _has_float_operand(arguments):
        return {k: special_values(fmt.name) for k, fmt in formats.items()}
    divisors = _numbers_of(arguments, spec, spec.nonzero_integers)
    kept_divisors, kept_dividends = _kept_operands(arguments, taking, divisors, spec)
    meets_smallest = bool((kept_dividends[:, None] == _SMALLEST).any())
    meets_minus_one = bool(taking & divisors) or bool((kept_divisors == -1).any())
    domains = {}
    for k, fmt in formats.items():
        if k in divisors:
            barred = (0, -1) if meets_smallest else (0,)
        else:
            barred = (fmt.min_value,) if fmt.kind == "int" and meets_minus_one else ()
        domains[k] = _special_integers_but(fmt.name, barred)
    return domains


_SMALLEST = np.array([-(2**7), -(2**15), -(2**31), -(2**63)])


def _has_float_operand(arguments: Arguments) -> bool:
    """Whether type promotion makes the division one of floats, where no divisor is barred."""
    formats = [format_of(tensor.dtype) for tensor in tensors(arguments)]
    scalars = (*arguments.args, *arguments.kwargs.values())
    return any(fmt.is_float for fmt in formats) or any(isinstance(value, float) for value in scalars)


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
def _special_integers_but(format_name: str, barred: tuple[int, ...]) -> np.ndarray:
    values = special_values(format_name)
    return values[~np.isin(values.astype(np.int64), barred)] if barred else values


def _numbers_of(arguments: Arguments, spec: OpSpec, names: Sequence[str]) -> frozenset[int]:
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
    return {*names, *(position(spec.name, name) for name in names)}
