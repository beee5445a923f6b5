"""Integers of any width as codes in uint64, and back."""

from __future__ import annotations

import numpy as np

from conform.numerics.formats import Format

Array = np.ndarray


def codes_of(x: Array, fmt: Format) -> Array:
    """Two's complement in uint64."""
    return (
        x.astype(np.int64).astype(np.uint64) & np.uint64(2**fmt.bits - 1) if fmt.kind == "int" else x.astype(np.uint64)
    )


def reread(x: Array, source: Format, fmt: Format) -> Array:
    """The integers of `fmt` with the bits that those of `source` have."""
    return of_codes(codes_of(x, source), fmt)


def of_codes(codes: Array, fmt: Format) -> Array:
    """The integers of `fmt` whose low bits these are."""
    low = codes & np.uint64(2**fmt.bits - 1)
    if fmt.kind == "uint":
        return low.astype(fmt.storage)
    shift = np.int64(64 - fmt.bits)
    return ((low.view(np.int64) << shift) >> shift).astype(fmt.storage)
