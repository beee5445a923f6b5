"""Value classes: which tensors of a call take special values, and where.

`typical`: as drawn. `special`: every eligible tensor takes special values and the op's domain edges throughout.
`special.K`: about one element in six of tensor K, the rest typical, so that sums and products do not turn to NaN
everywhere. `ties` (of ops that compare): few values, again and again. `ascending` (of those that compare along a line):
the last element is the largest. `conditioned` (of ops that accumulate): sums that lose digits. `exact`, `one_hot`,
`structured`, `shifted`: probes, on which errors show that bounds over many terms hide (probes.py). `graded`,
`singular`, `hilbert`, `permuted`: matrices that are hard for what solves systems (matrices.py). Eligible are the
tensors with elements of their own choosing: no bools, no indices or masks, no values that the test wrote out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from conform.call.arguments import Arguments, map_tensors, tensors
from conform.domains.specs import OpSpec
from conform.errors import UsageError, did_you_mean
from conform.inputs import matrices, probes
from conform.inputs.allowed import edge_columns, numbers_of, settings_of, special_domains
from conform.inputs.conditioned import conditioned, patterns_of
from conform.inputs.specials import CORE_COUNT
from conform.inputs.ties import ascending, tied
from conform.interp.semantics import traits_of
from conform.numerics.draws import Stream
from conform.numerics.formats import format_of

_EPS = "eps"  # what normalizations add to a variance
_TYPICAL_PER_SPECIAL = 6
_SPECIAL_PER_EDGE = 4
_CROSSED = 4  # tensors of one cross product; more would leave int64, and no case has so many elements


def value_classes(arguments: Arguments, spec: OpSpec | None) -> list[str]:
    """"typical", "special", one "special.K" for each eligible tensor K, then "ties", "ascending", "conditioned" and the
    probes where they apply.

    Without a spec only "typical": which arguments are indices is not known then.
    """
    numbers = eligible_tensors(arguments, spec) if spec else []
    if not numbers:
        return ["typical"]
    classes = ["typical", "special", *(f"special.{number}" for number in numbers)]
    traits = traits_of(spec.name)
    if traits.compares and any(tensors(arguments)[k].dtype.kind != "c" for k in numbers):
        classes += ["ties", "ascending"] if traits.along else ["ties"]
    if _summands(arguments, spec):
        classes.append("conditioned")
    if _square(arguments, spec):
        classes += matrices.classes_of(traits)
    return [*classes, *probe_classes(arguments, spec)]


def eligible_tensors(arguments: Arguments, spec: OpSpec) -> list[int]:
    """Numbers of the tensors that may take special values."""
    barred = arguments.literal | numbers_of(arguments, spec, spec.index_arguments)
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
    elif value_class == "ties":
        new = {k: tied(tensor, stream) for k, tensor in _eligible(arguments, spec).items() if tensor.dtype.kind != "c"}
    elif value_class == "ascending":
        new = {k: ascending(tensor) for k, tensor in _eligible(arguments, spec).items()}
    elif value_class == "conditioned":
        new = _conditioned(arguments, stream, spec)
    elif value_class in matrices.classes_of(traits_of(spec.name)):
        kind = traits_of(spec.name).matrices.kind
        every = _square(arguments, spec)
        new = {k: matrices.of_class(value_class, kind, tensor, stream) for k, tensor in every.items()}
    elif value_class in probes.KINDS:
        new = _probed(arguments, value_class, stream, spec)
    else:
        number = int(value_class.removeprefix("special."))
        new = {number: _sprinkled(arguments, number, stream, spec)}
    return map_tensors(arguments, lambda k, tensor: new.get(k, tensor))


def _eligible(arguments: Arguments, spec: OpSpec) -> dict[int, np.ndarray]:
    every = tensors(arguments)
    return {number: every[number] for number in eligible_tensors(arguments, spec)}


# --- Sums -------------------------------------------------------------------------------------------------------------


def _summands(arguments: Arguments, spec: OpSpec) -> frozenset[int]:
    """Numbers of the eligible float tensors whose elements the op adds up."""
    summands = traits_of(spec.name).accumulates
    if summands is None:
        return frozenset()
    return numbers_of(arguments, spec, [summands]) & _eligible_floats(arguments, spec).keys()


def _conditioned(arguments: Arguments, stream: Stream, spec: OpSpec) -> dict[int, np.ndarray]:
    patterns = patterns_of(traits_of(spec.name))
    return conditioned(_eligible_floats(arguments, spec), _summands(arguments, spec), patterns, stream)


def probe_classes(arguments: Arguments, spec: OpSpec) -> tuple[str, ...]:
    """The classes of probes that the call can take: what its op accumulates, or attends to, is of floats and may be
    chosen."""
    traits = traits_of(spec.name)
    roles = (traits.accumulates,) if traits.attends is None else traits.attends
    floats = _eligible_floats(arguments, spec).keys()
    if not all(numbers_of(arguments, spec, [name]) & floats for name in roles if name) or not any(roles):
        return ()
    return probes.kinds_of(traits, _EPS in {one.name for one in spec.arguments})


def _probed(arguments: Arguments, kind: str, stream: Stream, spec: OpSpec) -> dict[int, np.ndarray]:
    traits, every = traits_of(spec.name), _eligible_floats(arguments, spec)
    if kind == "exact":
        return probes.integers(every, stream)
    if kind == "one_hot":
        hot, others = (numbers_of(arguments, spec, [name]) for name in traits.products.factors)
        return probes.one_hot(every, hot, others, traits.products.terms, stream)
    if traits.attends is not None:
        roles = tuple(min(numbers_of(arguments, spec, [name])) for name in traits.attends)
        return probes.attended(every, roles, stream)
    summands = _summands(arguments, spec)
    if kind == "shifted":
        return probes.shifted(every, summands, stream)
    if traits.exponentials:
        return probes.level(every, summands)
    has_eps = _EPS in {one.name for one in spec.arguments}
    (eps,) = settings_of(arguments, spec, [_EPS]) if has_eps else (None,)
    return probes.deviations(every, summands, 0.0 if eps is None else float(eps), stream)


def _eligible_floats(arguments: Arguments, spec: OpSpec) -> dict[int, np.ndarray]:
    return {k: tensor for k, tensor in _eligible(arguments, spec).items() if format_of(tensor.dtype).is_float}


# --- Matrices ---------------------------------------------------------------------------------------------------------


def _square(arguments: Arguments, spec: OpSpec) -> dict[int, np.ndarray]:
    """The eligible tensors, by number, that are the stacks of square matrices of the op."""
    traits = traits_of(spec.name)
    if traits.matrices is None:
        return {}
    numbers = numbers_of(arguments, spec, traits.matrices.arguments)
    every = {k: tensor for k, tensor in _eligible(arguments, spec).items() if k in numbers and tensor.ndim > 1}
    return {k: tensor for k, tensor in every.items() if tensor.shape[-1] == tensor.shape[-2]}


# --- Special values ---------------------------------------------------------------------------------------------------


def _crossed(arguments: Arguments, stream: Stream, spec: OpSpec) -> dict[int, np.ndarray]:
    """New values by tensor number: the cross product of the tensors' lists, as far as their sizes go."""
    every, numbers = tensors(arguments), eligible_tensors(arguments, spec)
    domains = special_domains(arguments, frozenset(numbers), spec)
    new: dict[int, np.ndarray] = {}
    for start in range(0, len(numbers), _CROSSED):
        group = numbers[start : start + _CROSSED]
        counts = [every[k].size for k in group]
        chosen = _cross_product([len(domains[k]) for k in group], counts, stream)
        new |= {k: domains[k][index] for k, index in zip(group, chosen, strict=True)}
    _end_with_edges(new, edge_columns(arguments, frozenset(numbers), spec), stream)
    return {k: values.reshape(every[k].shape) for k, values in new.items()}


def _sprinkled(arguments: Arguments, number: int, stream: Stream, spec: OpSpec) -> np.ndarray:
    """Tensor `number` with special values at one position in six, at least one."""
    values = tensors(arguments)[number].copy()
    domain = special_domains(arguments, frozenset([number]), spec)[number]
    count = max(1, values.size // _TYPICAL_PER_SPECIAL)
    (chosen,) = _cross_product([len(domain)], [count], stream)
    places, new = stream.permutation(values.size)[:count], {number: domain[chosen]}
    _end_with_edges(new, edge_columns(arguments, frozenset([number]), spec), stream)
    values.reshape(-1)[places] = new[number]
    return values


def _end_with_edges(new: dict[int, np.ndarray], columns: Mapping[int, np.ndarray], stream: Stream) -> None:
    """Writes edges of the op into the last quarter of each tensor's new values, the same rows of them at the same ends.

    So operands of one shape meet edges as pairs, and operands that broadcast meet some.
    """
    if not columns:
        return
    offset, stride = (int(drawn) for drawn in stream.integers(0, 2**31, 2))
    for number, column in columns.items():
        count = new[number].size // _SPECIAL_PER_EDGE
        rows = _steps(len(column), offset, stride, count)
        new[number][new[number].size - count :] = column[rows][::-1]


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

    Offset and stride are drawn; P elements meet every combination.
    """
    product = math.prod(lengths)
    offset, stride = (int(drawn) for drawn in stream.integers(0, product - 1, 2))
    place_value = 1
    for length, count in zip(lengths, counts, strict=True):
        yield _steps(product, offset, stride, count) // place_value % length
        place_value *= length


def _steps(n: int, offset: int, stride: int, count: int) -> np.ndarray:
    """`count` numbers below n, `stride` or a little more apart, so that the first n of them differ."""
    while math.gcd(stride, n) != 1:
        stride += 1
    return (offset + stride * np.arange(count)) % n
