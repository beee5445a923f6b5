"""What a judge accepts of an output, element by element, as the first and the last number of its format."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conform.contracts.judge import judge
from conform.contracts.tables import Row
from conform.errors import Unjudged
from conform.interp.golden import Golden
from conform.numerics.formats import Format


@dataclass(frozen=True)
class Allowed:
    """The numbers from `low` to `high`, -0 before +0, or where `nan` NaN; where `free` everything. Arrays of one shape,
    the first two in the storage of the format."""

    format: Format
    low: np.ndarray
    high: np.ndarray
    nan: np.ndarray
    free: np.ndarray


def allowed(golden: Golden, row: Row, operands: dict[str, object]) -> Allowed:
    """What the row accepts. Unjudged for an output that is no range of real numbers or integers by itself: of which
    readings are right that lie apart, or of which one element depends on another."""
    if golden.ties is not None or golden.undocumented or golden.is_none:
        raise Unjudged("several results are right, and what is right of one element hangs on others")
    if golden.format.is_complex:
        raise Unjudged("complex numbers are no range")
    value, free = np.asarray(golden.value), np.zeros(golden.value.shape, bool)
    if golden.open is not None:
        free = free | golden.open
    if not golden.format.is_float:
        _refuse_apart(golden, value, value, free)
        return Allowed(golden.format, value, value, np.zeros(value.shape, bool), free)
    free = free | ~judge(golden, value, row, operands).compared
    nan = np.isnan(value.astype(np.float64))
    low, high = (_furthest(golden, row, operands, direction, ~(free | nan)) for direction in (-1, 1))
    _refuse_apart(golden, low, high, free)
    return Allowed(golden.format, low, high, nan & ~free, free)


def _refuse_apart(golden: Golden, low: np.ndarray, high: np.ndarray, free: np.ndarray) -> None:
    """Unjudged where another reading of the shape that a file names lies outside: what is accepted is no range then."""
    for other in (one for one in golden.alternatives if one.value.shape == golden.value.shape):
        if other.format != golden.format:
            raise Unjudged(f"results of {golden.format.name} and of {other.format.name} are right")
        with np.errstate(invalid="ignore"):
            inside = (low <= other.value) & (other.value <= high) | (low != low) & (other.value != other.value)
        if not (inside | free).all():
            raise Unjudged("several results are right, and no range holds just these")


def _furthest(
    golden: Golden, row: Row, operands: dict[str, object], direction: int, judged: np.ndarray
) -> np.ndarray:
    """The last number in this direction that is accepted: by bisection, because what lies between is accepted as well.
    """
    fmt, shape = golden.format, golden.value.shape
    places = ordered(golden.value.reshape(-1), fmt)
    (end,) = ordered(np.array([direction * (np.inf if fmt.has_inf else fmt.max_finite)]).astype(fmt.storage), fmt)
    near, far = np.zeros(places.shape, object), np.where(judged.reshape(-1), np.abs(end - places), 0)
    while (far > near).any():
        middle = (near + far + 1) // 2
        actual = numbered(places + direction * middle, fmt).reshape(shape)
        ok = judge(golden, actual, row, operands).ok.reshape(-1)
        near, far = np.where(ok, middle, near), np.maximum(np.where(ok, far, middle - 1), np.where(ok, middle, near))
    return numbered(places + direction * near, fmt).reshape(shape)


def ordered(array: np.ndarray, fmt: Format) -> np.ndarray:
    """[n] numbers by their order, as Python's integers: -0 is -1, +0 is 0, what is beside a number is 1 away."""
    codes = np.ascontiguousarray(array).view(fmt.code_storage).astype(object)
    sign = 1 << (fmt.bits - 1)
    return np.where(codes >= sign, -(codes - sign) - 1, codes)


def numbered(places: np.ndarray, fmt: Format) -> np.ndarray:
    """The numbers at these places."""
    sign = 1 << (fmt.bits - 1)
    codes = np.where(places < 0, -(places + 1) + sign, places)
    return codes.astype(np.uint64).astype(fmt.code_storage).view(fmt.storage)
