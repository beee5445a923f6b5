"""What differs between a set and what would be written now, in words: which element, by how many ulp."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.contracts.components import components
from conform.foreign import line
from conform.golden_files.entries import Tensor
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real
from conform.numerics.ulp import error_ulp
from conform.report.numbers import element_json, element_text, ulps

SAME_BOUND = 2.0**-20  # bounds, relative, and exact results, in ulps, that differ by less are the same: what numpy
# makes of float64 differs in the last bits from processor to processor, and bounds of composite ops are made of that
SHOWN_CHARACTERS = 60


@dataclass(frozen=True)
class Finding:
    """One thing that differs; `of` is a case or a file."""

    of: str
    what: str


def of_json(held: Any, now: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """(place, change) of everything that is not the same JSON; `held` is somebody else's."""
    if isinstance(held, dict) and isinstance(now, dict):
        for key in sorted(held.keys() | now.keys()):
            name = line(f"{place}.{key}".removeprefix("."))
            if key not in now:
                yield name, f"{_shown(held[key])} in the manifest, nothing now"
            elif key not in held:
                yield name, f"nothing in the manifest, {_shown(now[key])} now"
            else:
                yield from of_json(held[key], now[key], name)
    elif isinstance(held, list) and isinstance(now, list) and len(held) == len(now):
        for number, (one, other) in enumerate(zip(held, now, strict=True)):
            yield from of_json(one, other, f"{place}[{number}]")
    elif type(held) is not type(now) or held != now:
        yield place, f"{_shown(held)} in the manifest, {_shown(now)} now"


def _shown(value: Any) -> str:
    return line(json.dumps(value), SHOWN_CHARACTERS)


@np.errstate(all="ignore")
def of_array(tensor: Tensor, held: np.ndarray) -> str | None:
    """How `held` differs from the tensor, which has its shape and dtype: the element that does most; None where that
    does not count."""
    now = np.asarray(tensor.array)
    differs, size, unit = _differences(tensor, held, now)
    if not differs.any():
        return None
    worst = np.where(differs, size, -1.0)
    index = np.unravel_index(int(np.argmax(worst)), now.shape)  # of infinite ones the first
    place = "" if now.ndim == 0 else f"{[int(one) for one in index]}: "
    by = f", off by {ulps(float(size[index]))} {unit}" if unit else ""
    told = f"{place}{_number(held[index])} in the file, {_number(now[index])} now{by}"
    return f"{told} ({np.count_nonzero(differs)} of {now.size} elements)"


def _differences(tensor: Tensor, held: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    """Where they differ, by how much, and in which unit, if one is worth telling."""
    if tensor.part in ("bound", "absolute"):
        size = np.where(_same(held, now), 0.0, np.abs(held - now))
        size = np.where(np.isnan(size), np.inf, size)
        return size > SAME_BOUND * np.abs(np.where(np.isfinite(now), now, 0.0)), size, ""
    if tensor.unit is not None:
        size = np.where(_same(held, now), 0.0, np.abs(held - now) / tensor.unit)
        size = np.where(np.isnan(size), np.inf, size)
        return size > SAME_BOUND, size, "ulp"
    codes = _codes(held) != _codes(now)
    differs = codes.reshape(*now.shape, -1).any(axis=-1)
    fmt = format_of(now)
    if not (fmt.is_float or fmt.is_complex):
        return differs, differs.astype(np.float64), ""
    return differs, _distance_ulp(fmt, held, now), "ulp"


def _same(held: np.ndarray, now: np.ndarray) -> np.ndarray:
    return (held == now) | (np.isnan(held) & np.isnan(now))


def _codes(array: np.ndarray) -> np.ndarray:
    """The bytes of each element, in a last axis."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def _distance_ulp(fmt: Format, held: np.ndarray, now: np.ndarray) -> np.ndarray:
    """How far apart, in ulps of `now`; of complex numbers the part that is farther."""
    if fmt.is_complex:
        parts = _distance_ulp(fmt.component, components(fmt, held), components(fmt, now))
        return parts.max(axis=-1)
    return error_ulp(fmt, held, Real.exact(now.astype(np.float64)))


def _number(value: Any) -> str:
    """An element, in decimal and, of floats, in hexadecimal: two that differ are shown differently."""
    fmt = format_of(np.asarray(value))
    if fmt.is_complex:
        return element_text(element_json(complex(value), fmt.name))
    number = float(value) if fmt.is_float else int(value)
    return element_text(element_json(number, fmt.name)) if fmt.is_float else str(number)
