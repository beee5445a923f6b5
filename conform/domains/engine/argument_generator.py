"""The argument generator: from meta arguments to the values a backend gets."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection
from typing import Any

import numpy as np

from conform.call.arguments import Arguments
from conform.domains.engine.attribute import OWN, Scope
from conform.domains.engine.generator import TYPICAL_INTEGERS, TYPICAL_REALS
from conform.domains.engine.meta_argument import MetaArgument, MetaArgumentEngine, elements_of, tensor_metas
from conform.domains.engine.meta_tuple import MetaTuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import Discrete, Everything, Interval, Intervals, Space
from conform.numerics.draws import Stream
from conform.numerics.formats import Format, format_named

_STEPS = 128  # values that a bounded real interval is drawn from: few enough for every format to hold them


def arguments(spec: OpSpec, tuple_: MetaTuple, stream: Stream, unread: Collection[str] = ()) -> Arguments:
    """The call that a meta tuple stands for. Tensors are contiguous and typical, within their spaces; of arguments
    that are `unread` typical numbers are zeros.

    Tensors whose values a constraint speaks of are literal: special values would leave its space.
    """
    scope: Scope = {name: meta.view for name, meta in tuple_.arguments.items()}
    kwarg_only = {one.name for one in spec.schema.arguments if one.kwarg_only}
    args, kwargs, literal, count = [], {}, [], 0
    for name, meta in tuple_.arguments.items():
        if name in tuple_.omitted:
            continue
        value = _value(meta, spec.engines[name], _Unread(stream) if name in unread else stream, scope)
        for part in tensor_metas(meta):
            if part.value is not None and name not in spec.nonzero_integers:
                literal.append(count)
            count += 1
        if name in kwarg_only:
            kwargs[name] = value
        else:
            args.append(value)
    return Arguments(args, kwargs, frozenset(literal))


class _Unread:
    """A stream that makes no normal numbers, which take long to make, and goes on as if it had."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def normal(self, shape: tuple[int, ...]) -> np.ndarray:
        self._stream.skip(math.prod(shape))
        return np.zeros(shape)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _value(meta: MetaArgument, engine: MetaArgumentEngine, stream: Stream, scope: Scope) -> Any:
    if meta.optional:
        return None
    if meta.type.is_tensor_list:
        elements = []
        for number, element in enumerate(meta.structure):
            scope["#i"], scope["#length"] = number, len(meta.structure)
            scope["#previous"] = meta.structure[:number]
            elements.append(_value(element, engine, stream, scope))
        return elements
    if meta.type.is_tensor:
        return _tensor(meta, engine, stream, scope)
    if meta.type.is_number_list:
        return [one.value for one in meta.structure]
    found = meta.value if meta.is_number else meta.structure
    return list(found) if isinstance(found, tuple) else found


def _tensor(meta: MetaArgument, engine: MetaArgumentEngine, stream: Stream, scope: Scope) -> np.ndarray:
    fmt = _format(meta.dtype)
    values = engine.values
    if values.is_given:
        scope[OWN] = meta
        data = np.asarray(values.generated(stream, scope)).astype(fmt.storage, copy=False).reshape(meta.shape)
    else:
        data = np.asarray(draw(fmt, meta.shape, meta.value, stream))  # of 0-d arrays numpy makes scalars
    if meta.outside is not None:
        (at,) = stream.integers(0, meta.numel - 1, 1)
        with np.errstate(over="ignore"):  # an infinity is outside, too
            data.reshape(-1)[at] = draw(fmt, (1,), meta.outside, stream)[0]
    return data


_format = functools.cache(format_named)


def draw(fmt: Format, shape: tuple[int, ...], space: Space | None, stream: Stream) -> np.ndarray:
    """An array in the format's storage with elements of the space; None, or everything, gives typical values."""
    if space is None or isinstance(space, Everything) or space == elements_of(fmt.name):
        return _typical(fmt, shape, stream)
    if isinstance(space, Discrete):
        members = np.array(space.members).astype(fmt.storage)
        return members[stream.integers(0, len(members) - 1, shape)]
    if space.of_integers:
        return _integers(integer_ranges(space, fmt), fmt, shape, stream)
    return _reals(space, fmt, shape, stream)


def _typical(fmt: Format, shape: tuple[int, ...], stream: Stream) -> np.ndarray:
    """Standard normal floats; small integers, of both signs where there are two; fair bools."""
    if fmt.kind == "bool":
        return stream.bernoulli(0.5, shape)
    if fmt.is_integer:
        low, high = TYPICAL_INTEGERS if fmt.kind == "int" else (0, 2 * TYPICAL_INTEGERS[1])
        return stream.integers(low, high, shape).astype(fmt.storage)
    if fmt.is_complex:
        return stream.normal((*shape, 2)).astype(fmt.component.storage).view(fmt.storage)[..., 0]
    return stream.normal(shape).astype(fmt.storage)


@functools.lru_cache(maxsize=4096)
def integer_ranges(space: Intervals, fmt: Format) -> tuple[tuple[int, int], ...]:
    """Where integers of a space are drawn: its ranges within the typical ones; if it has none there, 17 at most near
    each end."""
    low, high = TYPICAL_INTEGERS if fmt.kind == "int" else (0, 2 * TYPICAL_INTEGERS[1])
    inside = space.within(low, high).intervals
    if inside and len(space.intervals) == len(inside) and all(one.high - one.low < 2**16 for one in space.intervals):
        inside = space.intervals  # short ranges as a whole: indices into a dimension
    if not inside:
        width = high - low
        inside = [one.intersection(type(one)(one.low, one.low + width)) for one in space.intervals]
    return tuple((int(one.low), int(one.high)) for one in inside)


def _integers(ranges: tuple[tuple[int, int], ...], fmt: Format, shape: tuple[int, ...], stream: Stream) -> np.ndarray:
    """Uniform over the integers of the ranges, which rise."""
    drawn = stream.integers(0, sum(high - low + 1 for low, high in ranges) - 1, shape)
    values, below = drawn + ranges[0][0], ranges[0][1] - ranges[0][0] + 1
    for low, high in ranges[1:]:
        values = np.where(drawn >= below, drawn - below + low, values)
        below += high - low + 1
    return values.astype(fmt.storage)


def _reals(space: Intervals, fmt: Format, shape: tuple[int, ...], stream: Stream) -> np.ndarray:
    """Equally spaced values of the intervals."""
    pieces = np.array(real_pieces(space))
    low, high = pieces[stream.integers(0, len(pieces) - 1, shape)].reshape(*shape, 2)[..., 0:2].T
    step = stream.integers(0, _STEPS - 1, shape).T + 0.5
    return (low + (high - low) * (step / _STEPS)).T.astype(fmt.storage)


def real_pieces(space: Intervals) -> tuple[tuple[float, float], ...]:
    """Where reals of a space are drawn: its intervals within the typical ones, else as they are, ends included."""
    inside = space.within(*TYPICAL_REALS).intervals or space.intervals
    return tuple(_closed(one) for one in inside)


def _closed(piece: Interval) -> tuple[float, float]:
    """The ends of a piece: one that is infinite 16 away from the other, one that is open left by half a step."""
    width = TYPICAL_REALS[1] - TYPICAL_REALS[0]
    low = piece.high - width if piece.low == -np.inf else piece.low
    high = piece.low + width if piece.high == np.inf else piece.high
    half_step = (high - low) / (2 * _STEPS)
    return (float(low + half_step * piece.low_open), float(high - half_step * piece.high_open))
