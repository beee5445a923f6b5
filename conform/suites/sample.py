"""Values for the arguments of a test: numpy arrays, Python scalars and lists.

Each node draws from a stream of its own, labelled by its place ("in.0", "kwargs.weight", "in.1.2" inside a list), so
that an argument more changes no other. Draws are float64 or int64 and the same on every platform; the dtype of an array
only casts them. The defaults are documented in docs/yaml.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from conform.inputs import matrices
from conform.numerics.formats import Format, format_named
from conform.suites import nodes
from conform.suites.dtypes import DEFAULT_DTYPES
from conform.suites.nodes import Draw, Node
from conform.suites.test import Test
from conform.suites.variants import Variant

_PIECE = 2**20  # elements drawn together, so that the work space does not grow with the tensor


class Stream(Protocol):
    """The draws of one place: `conform.numerics.draws.Stream`."""

    def uniform(self, shape: tuple[int, ...]) -> np.ndarray: ...
    def normal(self, shape: tuple[int, ...]) -> np.ndarray: ...
    def integers(self, low: int, high_inclusive: int, shape: tuple[int, ...]) -> np.ndarray: ...
    def bernoulli(self, p: float, shape: tuple[int, ...]) -> np.ndarray: ...


Place = tuple[str | int, ...]  # of a node: ("in", 0), ("kwargs", "weight"), ("in", 1, 2) inside a list
StreamFactory = Callable[[str, int, str], Stream]  # test id, sample number, label


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call. Tensors are numbered in the order of `args`, then `kwargs`, lists flattened."""

    args: list[Any]
    kwargs: dict[str, Any]
    literal: frozenset[int]  # tensors whose elements the file gives
    requires_grad: frozenset[int]
    scalars: Mapping[Place, str]  # where `scalar` nodes stand, and the dtype of each


def sample(
    test: Test, variant: Variant, stream_factory: StreamFactory, sample: int, has_elements: bool = True
) -> Arguments:
    """Draw number `sample` of the test's arguments, with the dtypes of `variant` where a node leaves its dtype open.

    `stream_factory` is `functools.partial(Stream, seed)`. Tensors are C-contiguous arrays in the storage of their
    format; without `has_elements` zeros stand for those that would be drawn. An object to be constructed is the
    `nodes.Construct` that describes it: nothing is imported here.
    """
    sampler = _Sampler(test, variant, stream_factory, sample, has_elements)
    args = [sampler.value(node, ("in", at)) for at, node in enumerate(test.inputs)]
    kwargs = {key: sampler.value(node, ("kwargs", key)) for key, node in test.kwargs.items()}
    if test.cast_input0_to_complex and args[0].dtype.kind != "c":
        args[0] = args[0].view(f"complex{args[0].dtype.itemsize * 16}")[..., 0]
    return Arguments(args, kwargs, frozenset(sampler.literal), frozenset(sampler.requires_grad), sampler.scalars)


class _Sampler:
    """Walks the nodes in order, counting tensors."""

    def __init__(
        self, test: Test, variant: Variant, stream_factory: StreamFactory, sample: int, has_elements: bool
    ) -> None:
        self.test = test
        self.variant = variant
        self.stream_factory = stream_factory
        self.sample = sample
        self.has_elements = has_elements
        self.tensors = 0
        self.literal: set[int] = set()
        self.requires_grad: set[int] = set()
        self.scalars: dict[Place, str] = {}

    def stream(self, place: Place, suffix: str = "") -> Stream:
        return self.stream_factory(self.test.draw_id, self.sample, ".".join(map(str, place)) + suffix)

    def value(self, node: Node, place: Place) -> Any:
        match node:
            case nodes.Tensor():
                return self._tensor(node, place)
            case nodes.Const() | nodes.Given():
                return node.value
            case nodes.Scalar():
                self.scalars[place] = node.dtype or DEFAULT_DTYPES[node.kind]
                return node.value if node.draw is None else _scalar(node, node.draw, self.stream(place))
            case nodes.Repeated():
                return [self.value(node.element, (*place, at)) for at in range(node.length)]
            case nodes.Sequence():
                values = [self.value(part, (*place, at)) for at, part in enumerate(node.parts)]
                return tuple(values) if node.is_tuple else values
            case nodes.Optional():
                is_none = node.p_none > 0 and bool(self.stream(place, "?").bernoulli(node.p_none, ()))
                return None if is_none else self.value(node.element, place)
            case nodes.Mapping():
                return {key: self.value(entry, (*place, key)) for key, entry in node.entries.items()}
            case nodes.Construct():
                return node

    def _tensor(self, tensor: nodes.Tensor, place: Place) -> np.ndarray:
        number, self.tensors = self.tensors, self.tensors + 1
        fmt = format_named(tensor.dtype or self.variant[tensor.kind])
        if tensor.requires_grad:
            self.requires_grad.add(number)
        if tensor.draw is None:
            self.literal.add(number)
            return np.asarray(literal_array(tensor, fmt))
        if not self.has_elements:
            return np.zeros(tensor.shape, fmt.storage)
        return np.asarray(draw_array(tensor.draw, fmt, tensor.shape, self.stream(place)))


def literal_array(tensor: nodes.Tensor, fmt: Format) -> np.ndarray:
    """The array that a file writes out."""
    if fmt.is_complex:
        packed = np.array(tensor.value, np.float64).reshape(*tensor.shape, 2)
        return (packed.view(np.complex128)[..., 0]).astype(fmt.storage)
    exact = np.float64 if fmt.is_float else np.uint64 if fmt.kind == "uint" else np.int64
    return np.array(tensor.value, exact).reshape(tensor.shape).astype(fmt.storage)


def draw_array(draw: Draw, fmt: Format, shape: tuple[int, ...], stream: Stream) -> np.ndarray:
    """Drawn elements in the storage of a format; the parts of complex ones are drawn one after the other."""
    if draw.init in matrices.KINDS:
        return matrices.drawn(draw.init, fmt, shape, stream)
    if fmt.is_complex:
        real = draw_array(draw, fmt.component, shape, stream)
        imaginary = draw_array(draw, fmt.component, shape, stream)
        result = np.empty(shape, fmt.storage)
        result.real, result.imag = real, imaginary
        return result
    size = prod(shape)
    if size > _PIECE:  # whole blocks of the stream: the values are those of one draw
        pieces = (min(_PIECE, size - start) for start in range(0, size, _PIECE))
        return _assembled(fmt, shape, (draw_array(draw, fmt, (piece,), stream) for piece in pieces))
    match draw.init:
        case "zeros" | "ones":
            return np.full(shape, draw.init == "ones").astype(fmt.storage)
        case "bernoulli":
            return stream.bernoulli(draw.p, shape).astype(fmt.storage)
        case "normal":
            with np.errstate(over="ignore"):  # a wide normal leaves float16: the file asked for it
                return (draw.mean + draw.std * stream.normal(shape)).astype(fmt.storage)
        case "uniform" if fmt.is_float:
            low, high = (0.0, 1.0) if draw.low is None or draw.high is None else (float(draw.low), float(draw.high))
            return _within(low, high, fmt, _between(low, high, stream.uniform(shape)))
        case _:
            low, high = integer_bounds(draw, fmt)
            return stream.integers(low, high, shape).astype(fmt.storage)


def _assembled(fmt: Format, shape: tuple[int, ...], pieces: Iterable[np.ndarray]) -> np.ndarray:
    result = np.empty(prod(shape), fmt.storage)
    start = 0
    for piece in pieces:
        result[start : start + piece.size] = piece
        start += piece.size
    return result.reshape(shape)


def integer_bounds(draw: Draw, fmt: Format) -> tuple[int, int]:
    """The inclusive bounds of randint: those given, else -10..10, 0..20 for unsigned formats, within what there is."""
    if draw.low is not None and draw.high is not None:
        return int(draw.low), int(draw.high)
    if fmt.kind == "bool":
        return 0, 1
    if fmt.is_integer:
        low, high = (-10, 10) if fmt.is_signed else (0, 20)
        return max(low, fmt.min_value), min(high, fmt.max_value)
    reach = int(min(10, fmt.max_finite))
    return (-reach if fmt.is_signed else 0), reach


def _between(low: float, high: float, uniform: np.ndarray) -> np.ndarray:
    """low + (high - low) * uniform, in a form that cannot overflow. Rounding may pass an end by an ulp."""
    return low * (1.0 - uniform) + high * uniform


def _within(low: float, high: float, fmt: Format, values: np.ndarray) -> np.ndarray:
    """`values` cast to the format and kept within the bounds, as far as the format has a number there."""
    cast = np.clip(values, low, high).astype(fmt.storage)
    if fmt.name == "float64":
        return cast
    wide = cast.astype(np.float64)
    outside = (wide < low) | (wide > high)
    if not outside.any():
        return cast
    inside = np.nextafter(cast, np.array(0.5 * low + 0.5 * high).astype(fmt.storage))
    wide_inside = inside.astype(np.float64)
    return np.where(outside & (wide_inside >= low) & (wide_inside <= high), inside, cast)


def _scalar(scalar: nodes.Scalar, draw: Draw, stream: Stream) -> bool | int | float | complex:
    """A Python scalar; a written dtype rounds it."""
    match scalar.kind:
        case "bool":
            return bool(stream.bernoulli(draw.p, ()))
        case "int":
            return int(stream.integers(*integer_bounds(draw, format_named("int64")), ()))
        case _:
            fmt = format_named(scalar.dtype or "float64")
            drawn = draw_array(draw, fmt, (), stream)
            return complex(drawn) if fmt.is_complex else float(drawn)
