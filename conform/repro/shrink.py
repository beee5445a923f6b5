"""A smaller call that fails as a given one does: fewer elements and dimensions, plain values, default arguments.

Greedy: the moves below are tried in order, and again from the first, until none helps or the tries are used up. What
counts is whether the caller's `still_fails` says so of the changed call, so a move may well make a call that the op
does not take: that one does not fail as the original did, and is dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conform.call import schemas
from conform.call.arguments import Arguments, map_tensors, tensors
from conform.inputs.layouts import layouts_of, logical, with_layout
from conform.numerics.formats import format_of

MAX_TRIES = 400  # calls of the backend, one a candidate


@dataclass(frozen=True)
class Candidate:
    """A call of `op`: dense tensors, and the layout (an axis of the case) in which the backend gets them.

    focus: the index of an output element that is wrong, if one is known; cuts of a dimension try to keep it.
    """

    op: str
    arguments: Arguments
    layout: str = "contiguous"
    focus: tuple[int, ...] = ()

    def placed(self) -> Arguments:
        """The arguments as the backend gets them."""
        return with_layout(self.arguments, self.layout)

    def with_tensors(self, new: Mapping[int, np.ndarray]) -> Candidate:
        """This call with some of its tensors replaced, by number."""
        return replace(self, arguments=map_tensors(self.arguments, lambda k, tensor: new.get(k, tensor)))


@dataclass(frozen=True)
class Shrunk:
    """The smallest call found, and what was tried for it."""

    candidate: Candidate
    tries: int


Move = Callable[[Candidate], Iterator[Candidate]]
StillFails = Callable[[Candidate], "tuple[int, ...] | None"]


def shrink(
    original: Candidate, still_fails: StillFails, max_tries: int = MAX_TRIES, moves: Sequence[Move] | None = None
) -> Shrunk:
    """The smallest call found that `still_fails`, in at most `max_tries` calls of it; the original if there is none.
    `moves`: what is tried, by default MOVES.

    `still_fails` gives the index of a wrong element (empty if it knows none) of a call that fails as the original
    does, None of any other.
    """
    best, tries = original, 0
    progress = True
    while progress:
        progress = False
        for move in MOVES if moves is None else moves:
            moved = True
            while moved:
                moved = False
                for candidate in move(best):
                    if tries >= max_tries:
                        return Shrunk(best, tries)
                    if candidate.layout not in layouts_of(candidate.arguments):
                        continue
                    tries += 1
                    focus = still_fails(candidate)
                    if focus is not None:
                        best, moved, progress = replace(candidate, focus=focus), True, True
                        break
    return Shrunk(best, tries)


# --- Moves: each gives the calls that are one step simpler, the simplest first ----------------------------------------


def _plain_layout(call: Candidate) -> Iterator[Candidate]:
    if call.layout != "contiguous":
        expanded = logical(call.placed())  # an expanded tensor repeats its first elements
        yield replace(call, arguments=expanded, layout="contiguous")


def _default_arguments(call: Candidate) -> Iterator[Candidate]:
    """Without one keyword, or without the last positional argument, where the schema has a default."""
    given, declared = call.arguments, schemas.schema(call.op).arguments
    has_default = {one.name for one in declared if one.has_default}
    for name in given.kwargs:
        if name in has_default and not tensors(Arguments([given.kwargs[name]])):
            kept = {key: value for key, value in given.kwargs.items() if key != name}
            yield replace(call, arguments=replace(given, kwargs=kept))
    positional = [one for one in declared if not one.kwarg_only]
    last = len(given.args) - 1
    if last >= 0 and positional[last].has_default and not tensors(Arguments([given.args[last]])):
        yield replace(call, arguments=replace(given, args=given.args[:-1]))


def _smaller_sizes(call: Candidate) -> Iterator[Candidate]:
    """Every dimension of one size cut together, in all tensors and lists: sizes that agree mostly must."""
    every = tensors(call.arguments)
    for size in sorted({size for tensor in every for size in tensor.shape if size > 1}, reverse=True):
        for length in _shorter(size):
            for start in _starts(call, size, length):
                yield from _cut(call, size, slice(start, start + length))
    for number, tensor in enumerate(every):
        for axis, size in enumerate(tensor.shape):
            for length in _shorter(size) if size > 1 else ():
                yield call.with_tensors({number: np.ascontiguousarray(tensor.take(range(length), axis))})


def _shorter(size: int) -> list[int]:
    return sorted({1, 2, size // 2, size - 1} - {0, size})


def _starts(call: Candidate, size: int, length: int) -> list[int]:
    """Where a cut may begin: so that it holds the focus, at the front, at the end."""
    around = [min(at, size - length) for at in call.focus if at < size]
    return list(dict.fromkeys([*around, 0, size - length]))


def _cut(call: Candidate, size: int, kept: slice) -> Iterator[Candidate]:
    """All dimensions of `size` cut to `kept`, in lists of shapes too; then with what may be indices kept in range."""
    length = kept.stop - kept.start

    def cut(_: int, tensor: np.ndarray) -> np.ndarray:
        index = tuple(kept if extent == size else slice(None) for extent in tensor.shape)
        return np.array(tensor[index])

    def in_range(_: int, tensor: np.ndarray) -> np.ndarray:
        is_index = tensor.dtype == np.int64 and tensor.size and tensor.min() >= 0 and tensor.max() < size
        return np.minimum(tensor, length - 1) if is_index else tensor

    moved = map_tensors(call.arguments, cut)
    args = [_with_size(value, size, length) for value in moved.args]
    kwargs = {name: _with_size(value, size, length) for name, value in moved.kwargs.items()}
    moved = replace(moved, args=args, kwargs=kwargs)
    yield replace(call, arguments=moved)
    if any(tensor.dtype == np.int64 for tensor in tensors(moved)):
        yield replace(call, arguments=map_tensors(moved, in_range))


def _with_size(value: Any, size: int, length: int) -> Any:
    if isinstance(value, list) and value and all(type(item) is int for item in value):
        return [length if item == size else item for item in value]
    return value


def _fewer_dimensions(call: Candidate) -> Iterator[Candidate]:
    """Without a dimension of size 1: the first of all tensors of the largest rank, or one of one tensor."""
    every = tensors(call.arguments)
    largest = max((tensor.ndim for tensor in every), default=0)
    highest = [k for k, tensor in enumerate(every) if tensor.ndim == largest and tensor.shape[:1] == (1,)]
    if len(highest) > 1:
        yield call.with_tensors({k: np.asarray(every[k][0]) for k in highest})
    for number, tensor in enumerate(every):
        for axis in (axis for axis, size in enumerate(tensor.shape) if size == 1):
            yield call.with_tensors({number: tensor.squeeze(axis)})


def _plain_numbers(call: Candidate) -> Iterator[Candidate]:
    """Python numbers among the arguments: 0, 1, or less far from them."""
    given = call.arguments
    for place, value in enumerate(given.args):
        for plain in _plainer(value):
            args = [*given.args[:place], plain, *given.args[place + 1 :]]
            yield replace(call, arguments=replace(given, args=args))
    for name, value in given.kwargs.items():
        for plain in _plainer(value):
            yield replace(call, arguments=replace(given, kwargs={**given.kwargs, name: plain}))


def _plainer(value: Any) -> list[Any]:
    if type(value) not in (int, float):
        return []
    kind = type(value)
    candidates = [kind(0), kind(1), *([kind(int(value))] if abs(value) < 2**53 else [])]
    return [plain for plain in dict.fromkeys(candidates) if _plainness(plain) < _plainness(value)]


def _plain_tensors(call: Candidate) -> Iterator[Candidate]:
    """One tensor of ones, of zeros, or of its numbers cut to integers; then with one half, one quarter, ... of its
    elements so."""
    for number, tensor in enumerate(tensors(call.arguments)):
        flat = tensor.reshape(-1)
        for part in _parts(flat.size):
            for plain in _plainer_elements(flat[part]):
                new = flat.copy()
                new[part] = plain
                if new.tobytes() != flat.tobytes():
                    yield call.with_tensors({number: new.reshape(tensor.shape)})


def _parts(size: int) -> Iterator[slice]:
    length = size
    while length:
        yield from (slice(start, min(start + length, size)) for start in range(0, size, length))
        length //= 2


def _plainer_elements(elements: np.ndarray) -> Iterator[np.ndarray]:
    """The elements all 1, all 0, cut to integers and to few bits, where that is plainer for each of them."""
    fmt = format_of(elements)
    one, zero = np.ones_like(elements), np.zeros_like(elements)
    if fmt.is_integer or fmt.kind == "bool":
        candidates = [one, zero]
    else:
        with np.errstate(all="ignore"):
            wide = elements.astype(np.complex128 if fmt.is_complex else np.float64)
            candidates = [one, zero, *(_cut_to_bits(wide, bits).astype(fmt.storage) for bits in (1, 4, 8, 16))]
    for candidate in candidates:
        keys = zip(candidate.tolist(), elements.tolist(), strict=True)
        if all(_plainness(new) <= _plainness(old) for new, old in keys):
            yield candidate


def _cut_to_bits(numbers: np.ndarray, bits: int) -> np.ndarray:
    """The numbers with only the first bits of their significands; complex ones part by part."""
    if np.iscomplexobj(numbers):
        return _cut_to_bits(numbers.real, bits) + 1j * _cut_to_bits(numbers.imag, bits)
    mantissa, exponent = np.frexp(numbers)
    cut = np.ldexp(np.trunc(np.ldexp(mantissa, bits)), exponent - bits)
    return np.where(np.isfinite(numbers), cut, numbers)


def _plainness(value: complex) -> tuple[float, ...]:
    """Less is plainer: 1, then 0 (whose products hide things), integers, few bits, special values."""
    if isinstance(value, complex):
        return tuple(map(sum, itertools.zip_longest(_plainness(value.real), _plainness(value.imag), fillvalue=0)))
    if value in (0, 1) and not (isinstance(value, float) and value == 0 and np.signbit(value)):
        return (0, 0 if value == 1 else 1)
    if isinstance(value, int):
        return (1, abs(value) + (value < 0) / 2)
    if not np.isfinite(value):
        return (4, 0)
    numerator, denominator = float(value).as_integer_ratio()
    bits = abs(numerator).bit_length() + denominator.bit_length()
    return (1, abs(value) + (value < 0) / 2) if denominator == 1 and abs(value) < 1e6 else (2, bits)


MOVES: tuple[Move, ...] = (
    _plain_layout,
    _smaller_sizes,
    _fewer_dimensions,
    _default_arguments,
    _plain_numbers,
    _plain_tensors,
)

# Of a call of a module, whose every try takes an export: its class says which sizes it takes.
OF_MODULES: tuple[Move, ...] = (_plain_layout, _smaller_sizes, _fewer_dimensions)
