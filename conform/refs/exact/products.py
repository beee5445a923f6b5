"""Incoming gradients times derivatives: of which elements, and what is common to all of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf, isfinite, isinf, isnan, nan

from flint import arb

from conform.refs.exact.reals import exact, multiply_exact, round_exact, round_real
from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified

Element = Callable[..., float | Unspecified]


def of_alike(op: str, *tensors: RefTensor) -> str:
    """The dtype, a float, of tensors that have it and their shape in common. ValueError for no floats,
    NotImplementedError where they differ, of which torch documents nothing."""
    dtype, shape = tensors[0].dtype, tensors[0].shape
    if any(tensor.dtype not in FLOAT_FORMATS for tensor in tensors):
        raise ValueError(f"{op} takes floats, found {[tensor.dtype for tensor in tensors]}")
    if any((tensor.dtype, tensor.shape) != (dtype, shape) for tensor in tensors):
        raise NotImplementedError(f"the reference of {op} is of tensors alike")
    return dtype


def each_alike(op: str, element: Element, *tensors: RefTensor) -> RefTensor:
    """`element(dtype, x, y, ...)` of what stands in the same places."""
    dtype = of_alike(op, *tensors)
    rows = zip(*(tensor.data for tensor in tensors), strict=True)
    return RefTensor(dtype, tensors[0].shape, [element(dtype, *row) for row in rows])


def special(*numbers: float) -> float | Unspecified | None:
    """NaN beside a NaN, open beside an infinity (P232), None of finite numbers."""
    if any(map(isnan, numbers)):
        return nan
    return UNSPECIFIED if any(map(isinf, numbers)) else None


def round_rational(dtype: str, number: Fraction) -> float:
    """A fraction rounded once."""
    return round_ratio(dtype, number.numerator, number.denominator) if number else 0.0


def round_product(dtype: str, x: float, y: float) -> float:
    """x * y rounded once; NaN of 0 and an infinity, as IEEE 754 has it."""
    if not (isfinite(x) and isfinite(y)):
        return nan if isnan(x) or isnan(y) or 0 in (x, y) else inf if (x > 0) == (y > 0) else -inf
    return round_exact(dtype, multiply_exact(exact(x), exact(y)))


def round_times(dtype: str, grad: float, derivative: Callable[[], arb]) -> float:
    """grad times a number that is not rational, rounded once."""
    return round_real(dtype, lambda: arb(grad) * derivative()) if grad else 0.0
