"""Tensors as literals, and comparison by their written form: NaN equals NaN, -0.0 differs from 0.0, 1 from 1.0."""

from __future__ import annotations

import mpmath

from conform.refs import RefTensor, lookup
from conform.refs.exact.rounding import round_ratio


def tensor(dtype: str, nested: object) -> RefTensor:
    """A tensor from nested lists, such as tensor("int64", [[1, 2], [3, 4]])."""
    shape, data = [], [nested]
    while data and isinstance(data[0], list):
        shape.append(len(data[0]))
        data = [value for row in data for value in row]
    return RefTensor(dtype, tuple(shape), data)


def call(op: str, **arguments: object) -> RefTensor | tuple[RefTensor, ...]:
    """The reference of an overload, called by its schema's argument names."""
    return lookup(f"aten::{op}")(**arguments)


def same(actual: RefTensor, dtype: str, nested: object) -> None:
    """Assert dtype, shape and each element of the result."""
    expected = tensor(dtype, nested)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    assert list(map(repr, actual.data)) == list(map(repr, expected.data))


def same_number(actual: object, expected: object) -> None:
    """Assert that two elements are the same."""
    assert repr(actual) == repr(expected)


def rounded_mpf(dtype: str, value: mpmath.mpf) -> float:
    """A finite number of mpmath, rounded once to the format."""
    m, e = int(mpmath.sign(value) * value.man), int(value.exp)
    return round_ratio(dtype, m << max(e, 0), 1 << max(-e, 0))
