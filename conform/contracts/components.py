"""The parts of complex numbers as arrays of their own format."""

from __future__ import annotations

import numpy as np

from conform.numerics.formats import Format


def components(fmt: Format, array: np.ndarray) -> np.ndarray:
    """Real and imaginary parts of an array of the complex format `fmt`, in a last axis of two. A copy if the array is
    not contiguous."""
    return np.ascontiguousarray(array)[..., None].view(fmt.component.storage)
