"""Between numpy arrays, which the interpreter takes and gives, and the references' plain lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conform.numerics.formats import FORMATS, Format, format_of
from conform.refs import UNSPECIFIED, RefTensor

_PYTHON_TYPES = {"bool": bool, "int": int, "uint": int, "float": float, "complex": complex}


class NotOfItsDtype(Exception):
    """A reference gave an element that its dtype does not hold."""


def for_reference(bound: Mapping[str, Any]) -> dict[str, Any]:
    """The bound arguments with every array as a RefTensor."""
    return {name: _listed(value) for name, value in bound.items()}


def _listed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return to_reference(value)
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value


def to_reference(array: np.ndarray) -> RefTensor:
    """The array as a RefTensor; every number of every format is a Python number."""
    fmt = format_of(array)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        exact = array.astype(np.float64) if fmt.is_float else array
    return RefTensor(fmt.name, array.shape, exact.ravel().tolist())


def from_reference(tensor: RefTensor) -> tuple[np.ndarray, np.ndarray]:
    """(values in the storage dtype, mask of the elements that the reference leaves open, whose values stand for none).

    Raises NotOfItsDtype where an element is not a number of the tensor's dtype.
    """
    fmt = FORMATS[tensor.dtype]
    open_ = np.array([element is UNSPECIFIED for element in tensor.data], bool)
    stand_in = _PYTHON_TYPES[fmt.kind](1)  # a number of every format
    data = [stand_in if element is UNSPECIFIED else element for element in tensor.data] if open_.any() else tensor.data
    found = set(map(type, data)) - {_PYTHON_TYPES[fmt.kind]}
    if found:
        raise NotOfItsDtype(f"{fmt.name} with elements of {', '.join(sorted(kind.__name__ for kind in found))}")
    return _stored(fmt, data).reshape(tensor.shape), open_.reshape(tensor.shape)


def _stored(fmt: Format, data: list) -> np.ndarray:
    if not (fmt.is_float or fmt.is_complex):
        return _stored_integers(fmt, data)
    wide = np.array(data, np.complex128 if fmt.is_complex else np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        stored = wide.astype(fmt.storage)
        kept = (stored.astype(wide.dtype) == wide) | (wide != wide)
    if not kept.all():
        raise NotOfItsDtype(f"{wide[~kept][0]} is not a number of {fmt.name}")
    return stored


def _stored_integers(fmt: Format, data: list) -> np.ndarray:
    try:
        return np.array(data, fmt.storage)
    except OverflowError as error:
        raise NotOfItsDtype(f"{fmt.name}: {error}") from None
