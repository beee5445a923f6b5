"""Quantized element types: `!quant.uniform<i8:f32, 0.5:3>`, as MLIR writes them and as the specification's section
"Types" has them.

An element is an integer i of the storage type between storage_min and storage_max, and stands for (i - zero_point) *
scale. There is one scale and zero point for the whole tensor, or one for each place along quantization_dimension.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.numerics.formats import FORMATS, Format, format_named
from conform.numerics.rounding import round_to

PREFIX = "!quant."
_TYPE = re.compile(r"!quant\.uniform<(\w+)(?:<(-?\d+):(-?\d+)>)?:(\w+)(?::(\d+))?,\s*(\{[^{}]*\}|[^{}]*)>")
_STORAGE = re.compile(r"(s?i|ui?)(\d+)")
_EXPRESSED = {fmt.stablehlo_name: fmt for fmt in FORMATS.values() if fmt.is_float}


@dataclass(frozen=True)
class Quantization:
    """A quantized element type. `text` is its spelling, by which types are told apart. `scales` are numbers of the
    expressed format, as many as `zero_points`; `dimension` is None where there is one of each for the whole tensor."""

    text: str
    storage: Format
    storage_min: int
    storage_max: int
    expressed: Format
    dimension: int | None
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]

    def __str__(self) -> str:
        return self.text

    @property
    def baseline(self) -> tuple[str, int, int, str, int | None]:
        """What the specification's `baseline_element_type` keeps: all but scales and zero points."""
        return (self.storage.name, self.storage_min, self.storage_max, self.expressed.name, self.dimension)

    def require_valid(self, shape: Sequence[int | None]) -> None:
        """InvalidArguments, which names the constraint of quantized types that this one breaks in a tensor of `shape`.
        (C1), (C2), (C4), (C8) to (C11) hold by the spelling."""
        low, high = self.storage.min_value, self.storage.max_value
        self._require("C3", low <= self.storage_min < self.storage_max <= high, "its storage range")
        self._require("C5", all(not one <= 0 for one in self.scales), "a scale that is not positive")
        self._require("C6", bool(np.isfinite(self.scales).all()), "a scale that is not finite")
        within = all(self.storage_min <= one <= self.storage_max for one in self.zero_points)
        self._require("C7", within, "a zero point outside its storage range")
        if self.dimension is not None:
            self._require("C12", self.dimension < len(shape), f"its dimension in a tensor of rank {len(shape)}")
            size = shape[self.dimension]
            self._require("C13", size in (None, len(self.scales)), f"as many scales in a dimension of the size {size}")

    def _require(self, constraint: str, holds: bool, found: str) -> None:
        if not holds:
            raise InvalidArguments(f"{self}: {found}, against constraint ({constraint}) of quantized types in the "
                                   f"specification")  # fmt: skip

    def spread(self, numbers: Sequence[float] | Sequence[int], shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """One of `numbers`, which are `scales` or `zero_points`, for each element of a tensor of `shape`."""
        places = [] if self.dimension is None else [-1 if at == self.dimension else 1 for at in range(len(shape))]
        return np.broadcast_to(np.array(numbers, dtype).reshape(places), shape)


@cache
def quantization_of(dtype: str) -> Quantization | None:
    """The quantized type that a dtype names; None for one that is not quantized. Unjudged for one that the
    specification does not have, such as sub-channel quantization, or with a storage that the kit does not have."""
    if not dtype.startswith(PREFIX):
        return None
    match = _TYPE.fullmatch(dtype)
    if match is None or match[4] not in _EXPRESSED:
        raise Unjudged(f"no meaning for the quantized type {dtype}")
    storage, expressed = _storage(match[1], dtype), _EXPRESSED[match[4]]
    parts = [part.strip().partition(":") for part in match[6].strip("{} ").split(",")]
    scales = round_to(expressed, np.array([_scale(scale) for scale, _, _ in parts])).astype(np.float64)
    return Quantization(
        dtype, storage,
        storage.min_value if match[2] is None else int(match[2]),
        storage.max_value if match[3] is None else int(match[3]),
        expressed,
        None if match[5] is None else int(match[5]),
        tuple(scales.tolist()),
        tuple(int(point or 0) for _, _, point in parts),
    )  # fmt: skip


def _storage(name: str, dtype: str) -> Format:
    match = _STORAGE.fullmatch(name)
    found = f"{'uint' if match[1].startswith('u') else 'int'}{match[2]}" if match else ""
    if found not in FORMATS:
        raise Unjudged(f"no meaning for the storage type {name} of {dtype}")
    return FORMATS[found]


def _scale(text: str) -> float:
    """A decimal number, or the bits of a float64."""
    return float(np.uint64(int(text, 16)).view(np.float64)) if text.startswith("0x") else float(text)


def format_held(dtype: str) -> Format:
    """The format in which a tensor of this dtype is held: of a quantized one that of its storage."""
    found = quantization_of(dtype)
    return format_named(dtype) if found is None else found.storage
