"""What is right of a backend that flushes subnormals: the call evaluated again, as such arithmetic has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np

from conform.call.bound import Bound
from conform.contracts import flushing
from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import element_format, evaluate_call
from conform.interp.golden import Given, Golden, Outcome
from conform.interp.operands import steps_of
from conform.interp.semantics import traits_of
from conform.numerics.formats import Format, compute_format, format_of
from conform.numerics.real import where
from conform.numerics.rounding_errors import flushed_intermediates

Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Flushed:
    """A call of which a flushing backend returned `outputs`; `in_mode` gives the outcome of a call in the backend's
    compute mode. Such a backend flushes all or nothing; one that only looks like it may have kept some (`of_all` is
    False)."""

    call: Bound
    outputs: Sequence[Any]
    in_mode: Callable[[Bound, Outcome], Outcome]
    of_all: bool = True

    def admitted(self, outcome: Outcome) -> Outcome:
        """`outcome` with what flushing makes of each golden, of those too that the outputs' chances give."""
        given = None
        if outcome.given is not None:
            given = partial(self._given, outcome.given)
        return replace(outcome, goldens=self._each(outcome.goldens), given=given)

    def _given(self, of_outputs: Callable[[Sequence[np.ndarray]], Given], outputs: Sequence[np.ndarray]) -> Given:
        told = of_outputs(outputs)
        return told._replace(goldens=self._each(told.goldens))

    def _each(self, goldens: Sequence[Golden]) -> tuple[Golden, ...]:
        return tuple(self._admitted(number, golden) for number, golden in enumerate(goldens))

    def _admitted(self, number: int, golden: Golden) -> Golden:
        """Comparisons take subnormals for zeros, and move what they choose; modules and programs may compare on their
        way. Other moves have no arithmetic: only what they convert to another format may be flushed. What is given
        another sign may be flushed, all or nothing. All else may be computed from flushed operands or from those as
        they are, unless it kept subnormal results."""
        actual, moves = self.outputs[number].array, golden.real is None and flushing.flushes(golden.format)
        if moves and (traits_of(self.call.op).compares or self.call.meaning is not None):
            return self._compared(number, golden)
        if moves:
            conversions = [self.call.mapped(partial(_if_converted, golden.format))]
            readings = [golden, *(each.goldens[number] for each in self._outcomes(conversions))]
            if traits_of(self.call.op).signs and not flushing.has_subnormals(actual):
                readings += [replace(each, value=flushing.flushed(each.value)) for each in readings]
            return golden.or_else(*readings[1:])
        is_asked = self.of_all and flushing.concerns(golden)
        if is_asked and flushing.kept_some(golden, actual, self.call.arguments.values()):
            return golden
        computed = [each.goldens[number] for each in self._computed]
        return golden.or_else(*computed, *self._moved_unchanged(computed, actual))

    def _moved_unchanged(self, of_zeros: Sequence[Golden], actual: np.ndarray) -> Iterator[Golden]:
        """What was taken for zero, and returned as it is: -x of remainder(-x, y), which is compared with 0 alone."""
        if flushing.has_subnormals(actual) and not np.iscomplexobj(actual):
            yield from (_chosen(each, actual, self.call.arguments.values()) for each in of_zeros)

    def _compared(self, number: int, golden: Golden) -> Golden:
        """The elements that are chosen, as they are or flushed. Where the op says which they are, those are right."""
        of_zeros = [each.goldens[number] for each in self._outcomes(_readings(self.call)[1:])]
        if not self._tells_indices:
            actual, operands = self.outputs[number].array, self.call.arguments.values()
            return golden.or_else(*of_zeros, *(_chosen(each, actual, operands) for each in of_zeros))
        moved = [_moved(each, self.call, self.outputs[1].array) for each in of_zeros]
        return moved[0].or_else(*moved[1:], *of_zeros) if moved else golden

    @property
    def _tells_indices(self) -> bool:
        """Whether the second output says where the elements of the first one stand along a dim."""
        dim = traits_of(self.call.op).along
        has_dim = dim is not None and isinstance(self.call.arguments[dim], int)
        return has_dim and len(self.outputs) == 2 and self.outputs[1].array.dtype == np.int64

    @cached_property
    def _computed(self) -> list[Outcome]:
        return list(self._outcomes(_readings(self.call)))

    def _outcomes(self, readings: Sequence[Bound]) -> Iterator[Outcome]:
        """Those of the readings of the call that the kit can decide, and that are in the op's domain."""
        for reading in readings:
            try:
                with flushed_intermediates():
                    outcome = evaluate_call(reading)
                    if self._is_alike(outcome):
                        yield self.in_mode(reading, self._of_chances(outcome))
            except (Unjudged, InvalidArguments):
                continue  # the other readings are as right

    def _is_alike(self, outcome: Outcome) -> bool:
        """Whether it has the shapes of the outputs: how many elements there are may depend on what is flushed."""
        pairs = zip(self.outputs, outcome.goldens, strict=True)
        settled = [(one, golden) for one, golden in pairs if not (golden.undocumented or golden.is_none)]
        return all(
            any(one.array.shape == reading.value.shape for reading in (golden, *golden.alternatives))
            for one, golden in settled
        )

    def _of_chances(self, outcome: Outcome) -> Outcome:
        """The outcome, had chance chosen as the outputs show, if they have its structure."""
        arrays = [output.array for output in self.outputs]
        fits = all(
            (one.dtype, one.shape) == (golden.value.dtype, golden.value.shape)
            for one, golden in zip(arrays, outcome.goldens, strict=True)
        )
        return replace(outcome, goldens=outcome.given(arrays).goldens) if outcome.given and fits else outcome


def _moved(of_zeros: Golden, call: Bound, indices: np.ndarray) -> Golden:
    """The elements of the first tensor at the indices, moved unchanged, where flushed they are what is chosen of
    flushed operands."""
    tensor, dim = next(call.tensors()), call.arguments[traits_of(call.op).along]
    if not tensor.size or not tensor.ndim:
        return of_zeros
    within = np.clip(indices, 0, tensor.shape[dim] - 1)
    placed = within if within.ndim == tensor.ndim else np.expand_dims(within, dim)
    moved = np.take_along_axis(tensor, placed, dim).reshape(within.shape)
    right = flushing.flushed(moved) == of_zeros.value
    return replace(of_zeros, value=np.where(right, moved, of_zeros.value), alternatives=())


def _chosen(of_zeros: Golden, actual: np.ndarray, operands: Iterable[Any]) -> Golden:
    """`actual`, moved unchanged, where it is a subnormal of an operand and of flushed operands a zero is chosen."""
    right = (of_zeros.value == 0) & flushing.are_subnormals_of(actual, operands)
    real = of_zeros.real and where(right, actual.astype(np.float64), of_zeros.real)
    return replace(of_zeros, value=np.where(right, actual, of_zeros.value), real=real, alternatives=())


# -- The call with flushed operands ------------------------------------------------------------------------------------


def _readings(call: Bound) -> list[Bound]:
    """The call, and where something in it can be flushed, the call where it is: its tensors, or those of them that are
    subnormal in the compute type too (float16 is computed in float32), and its numbers, as one of the types that they
    may be read in (P30)."""
    element, given = element_format(call.arguments), [each for each in call.tensors() if flushing.has_subnormals(each)]
    of_tensors: list[Change] = [lambda tensor: tensor]
    of_tensors += [flushing.flushed] if given else []
    if len({_in_compute_type(tensor) is tensor for tensor in given}) == 2:
        of_tensors.append(_in_compute_type)
    of_numbers: list[Change] = [lambda number: number, *(partial(_flushed_number, step) for step in steps_of(element))]
    readings: list[Bound] = []
    for changes in product(of_tensors, of_numbers):
        reading = call.mapped(partial(_changed, element, *changes))
        if not any(map(partial(_same, reading), readings)):
            readings.append(reading)
    return [each for reading in readings for each in (reading, *_scaled(reading))]


def _scaled(call: Bound) -> list[Bound]:
    """A contraction whose scale is multiplied into one of its factors first (P35), which is flushed."""
    products = traits_of(call.op).products
    scale = 1 if products is None or products.scale is None else call.arguments[products.scale]
    if scale == 1:
        return []
    change = partial(_flushed_beside, number=scale)
    changed = [{**call.arguments, factor: change(call.arguments[factor])} for factor in products.factors]
    return [replace(call, arguments=each) for each in changed]


def _flushed_beside(tensor: np.ndarray, number: float) -> np.ndarray:
    """The tensor with zeros of their sign for elements whose product with the number is subnormal."""
    fmt = format_of(tensor)
    if not fmt.is_float:
        return tensor
    with np.errstate(all="ignore"):
        vanishes = np.abs(tensor.astype(np.float64) * number) < compute_format(fmt).min_normal
    return np.where(vanishes, np.copysign(tensor.dtype.type(0), tensor), tensor)


def _changed(element: Format, of_tensors: Change, of_numbers: Change, argument: Any) -> Any:
    """A tensor or number changed; a 0-d tensor of more bits than the element type is a number."""
    if not isinstance(argument, np.ndarray):
        return of_numbers(argument) if isinstance(argument, float | complex) else argument
    fmt = format_of(argument)
    is_number = argument.ndim == 0 and fmt.is_float and fmt.bits > element.bits
    return of_numbers(argument) if is_number else of_tensors(argument)


def _flushed_number(fmt: Format, number: Any) -> Any:
    """The float or complex number, or 0-d tensor, with zeros of their sign for parts that are subnormal in `fmt`."""
    parts = np.array([number.real, number.imag], np.float64)
    real, imaginary = np.where(np.abs(parts) < fmt.min_normal, np.copysign(0.0, parts), parts)
    if isinstance(number, np.ndarray):
        return np.asarray(real, number.dtype)
    return complex(real, imaginary) if isinstance(number, complex) else float(real)


def _in_compute_type(tensor: np.ndarray) -> np.ndarray:
    """The tensor, flushed unless its subnormals are normal numbers of the compute type."""
    fmt = format_of(tensor)
    return tensor if fmt.is_float and compute_format(fmt).emin < fmt.emin else flushing.flushed(tensor)


def _if_converted(fmt: Format, argument: Any) -> Any:
    """The argument, flushed if it is a number, or a tensor of another format, that is converted to `fmt`."""
    if isinstance(argument, float):
        return _flushed_number(fmt, argument)
    if not isinstance(argument, np.ndarray) or format_of(argument) == fmt:
        return argument
    return flushing.flushed(argument)


def _same(one: Bound, other: Bound) -> bool:
    """Whether no argument was changed in one alone."""
    return all(_leaves(one.arguments[name]) == _leaves(other.arguments[name]) for name in one.arguments)


def _leaves(argument: Any) -> list[Any]:
    """What tells an argument from a changed one: tensors by identity."""
    leaves = argument if isinstance(argument, list | tuple) else [argument]
    return [id(leaf) if isinstance(leaf, np.ndarray) else repr(leaf) for leaf in leaves]
