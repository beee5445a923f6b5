"""What a backend's declared arithmetic admits beyond the op's own golden."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from conform.call.bound import Bound
from conform.contracts import flushing
from conform.contracts.arithmetic import Arithmetic
from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import element_format, evaluate_call
from conform.interp.golden import Golden, Outcome
from conform.interp.operands import steps_of
from conform.interp.semantics import traits_of
from conform.judging.products import in_mode, products_of
from conform.numerics.ball import flushed_intermediates
from conform.numerics.formats import Format, compute_format, format_of

Change = Callable[[Any], Any]


def arithmetic_for(op: str, declared: Arithmetic) -> Arithmetic:
    """A compute mode holds for sums of products alone."""
    return declared if traits_of(op).products else declared.without_products()


def admitted(call: Bound, outcome: Outcome, arithmetic: Arithmetic, outputs: Sequence[Any]) -> Outcome:
    """`outcome` for a backend of this arithmetic, which returned `outputs`: with what its conversions of factors lose,
    and with what is right where it flushes operands, intermediate results and results."""
    admitted_outcome = _in_mode(call, outcome, arithmetic)
    if arithmetic.flushes_subnormals:
        return _flushed(call, admitted_outcome, arithmetic, outputs)
    return admitted_outcome


def _in_mode(call: Bound, outcome: Outcome, arithmetic: Arithmetic) -> Outcome:
    return outcome if arithmetic.compute == "ieee" else in_mode(outcome, products_of(call), arithmetic)


# -- Flushing ----------------------------------------------------------------------------------------------------------


def _flushed(call: Bound, outcome: Outcome, arithmetic: Arithmetic, outputs: Sequence[Any]) -> Outcome:
    """`outcome` with what flushing makes of each golden. Moves and negations have no arithmetic: only what they convert
    to another format may be flushed. Comparisons take subnormals for zeros, and move what they choose. All else may be
    computed from flushed operands or from those as they are, unless it kept subnormal results."""
    of_zeros = list(_outcomes(call, arithmetic, _readings(call)))
    goldens = []
    for number, (golden, output) in enumerate(zip(outcome.goldens, outputs, strict=True)):
        others = [each.goldens[number] for each in of_zeros]
        if golden.real is None and golden.format.is_float and traits_of(call.op).compares:
            others += [_chosen(other, call, output.array, outputs) for other in others]
        elif golden.real is None and flushing.flushes(golden.format):
            conversions = [call.mapped(partial(_if_converted, golden.format))]
            others = [each.goldens[number] for each in _outcomes(call, arithmetic, conversions)]
        elif flushing.concerns(golden) and flushing.kept_some(golden, output.array, call.arguments.values()):
            others = []
        goldens.append(golden.or_else(*others))
    return replace(outcome, goldens=tuple(goldens))


def _outcomes(call: Bound, arithmetic: Arithmetic, readings: Sequence[Bound]) -> Iterator[Outcome]:
    """Those of the readings of the call that the kit can decide, and that are in the op's domain."""
    for reading in readings:
        try:
            with flushed_intermediates():
                yield _in_mode(reading, evaluate_call(reading), arithmetic)
        except (Unjudged, InvalidArguments):
            continue  # the other readings are as right


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
    """A contraction whose scale is multiplied into one of its factors first (P35): what becomes subnormal is flushed."""
    products = traits_of(call.op).products
    if products is None or products.scale is None:
        return []
    change = partial(_flushed_beside, number=call.arguments[products.scale])
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
    """The argument, flushed if it is a tensor that is converted to `fmt`."""
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


def _chosen(of_zeros: Golden, call: Bound, actual: np.ndarray, outputs: Sequence[Any]) -> Golden:
    """What comparisons of flushed operands choose, moved unchanged. Where the op says which elements it chose, these
    are right; else any subnormal of an operand, where a zero is chosen."""
    along, indices = traits_of(call.op).along, outputs[-1].array
    if along is not None and len(outputs) == 2 and indices.dtype == np.int64 and indices.shape == of_zeros.value.shape:
        moved = _moved(next(call.tensors()), indices, call.arguments[along])
        right = flushing.flushed(moved) == of_zeros.value
    else:
        moved = actual
        right = (of_zeros.value == 0) & flushing.are_subnormals_of(actual, call.arguments.values())
    return replace(of_zeros, value=np.where(right, moved, of_zeros.value), alternatives=())


def _moved(tensor: np.ndarray, indices: np.ndarray, dim: int) -> np.ndarray:
    """The elements of the tensor at the indices along `dim`; of indices outside of it any."""
    if not tensor.size or not tensor.ndim:
        return tensor
    return np.take_along_axis(tensor, np.clip(indices, 0, tensor.shape[dim] - 1), dim)
