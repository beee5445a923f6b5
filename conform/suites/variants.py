"""The dtype axis of a test: which dtypes the tensors that leave theirs open take together."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator

from conform.suites.dtypes import COMMON_DTYPES, DEFAULT_DTYPES, holds, in_order, kind_of
from conform.suites.literals import elements
from conform.suites.nodes import Const, Tensor
from conform.suites.test import Test

Variant = dict[str, str]  # kind -> dtype

_COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}  # what an input of these parts is cast to


def kinds(test: Test) -> tuple[str, ...]:
    """The kinds ("float", "int", "bool") that tensors of the test leave open, in order of appearance."""
    return tuple(dict.fromkeys(tensor.kind for tensor in test.tensors if tensor.dtype is None))


def variants(test: Test, allowed: Collection[str] | None, requested: Collection[str] = ()) -> list[Variant]:
    """The assignments of a dtype to each open kind, in order.

    A test of a user's file has one, float32, int64 and bool, unless dtypes are requested. A built-in test, or one for
    which dtypes are requested, has every combination of the dtypes in `allowed` (the common ones if None), and of these
    the ones in which the first tensor's dtype is requested. A dtype that cannot hold a bound or value that a tensor of
    its kind is given, or the parts of an input cast to complex, is none of the test's.
    """
    found = kinds(test)
    if not test.builtin and not requested:
        return [{kind: DEFAULT_DTYPES[kind] for kind in found}]
    candidates = in_order(set(COMMON_DTYPES if allowed is None else allowed))
    choices = [[dtype for dtype in candidates if kind_of(dtype) == kind and _fits(test, kind, dtype)] for kind in found]
    products = [dict(zip(found, dtypes, strict=True)) for dtypes in itertools.product(*choices)]
    return [variant for variant in products if not requested or first_dtype(test, variant) in (None, *requested)]


def first_dtype(test: Test, variant: Variant) -> str | None:
    """The dtype of the first tensor that the operator gets (complex if it is cast); None if there is no tensor."""
    written = _written_dtype(test, variant)
    return _COMPLEX_OF.get(written, written) if test.cast_input0_to_complex else written


def _written_dtype(test: Test, variant: Variant) -> str | None:
    first = next(iter(test.tensors), None)
    return None if first is None else first.dtype or variant[first.kind]


def dtype_segment(test: Test, variant: Variant) -> str:
    """The DTYPE of a case id: the variant's dtypes, else the first tensor's as written, else the `dtype` argument, else
    "none"."""
    if variant:
        return "+".join(variant.values())
    argument = test.kwargs.get("dtype")
    named = argument.value if isinstance(argument, Const) and isinstance(argument.value, str) else "none"
    return _written_dtype(test, variant) or named


def _fits(test: Test, kind: str, dtype: str) -> bool:
    if test.cast_input0_to_complex and kind == "float" and dtype not in _COMPLEX_OF:
        first = test.inputs[0]
        if isinstance(first, Tensor) and first.dtype is None:
            return False
    return all(
        holds(dtype, number)
        for tensor in test.tensors
        if tensor.dtype is None and tensor.kind == kind
        for number in _numbers(tensor)
    )


def _numbers(tensor: Tensor) -> Iterator[bool | int | float]:
    """What the tensor's dtype must be able to hold: extremes of what is drawn, or the value."""
    if tensor.value is not None:
        yield from elements(tensor.value)
    elif tensor.draw and tensor.draw.low is not None and tensor.draw.high is not None:
        yield from (tensor.draw.low, tensor.draw.high)
