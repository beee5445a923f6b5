"""Complex arithmetic, componentwise on the real numbers."""

from __future__ import annotations

import numpy as np

from conform.interp.golden import Golden
from conform.numerics import accumulate
from conform.numerics.digits import decide_digits, dots
from conform.numerics.formats import Format
from conform.numerics.rounding import round_to


def components(array: np.ndarray) -> np.ndarray:
    """A complex array as float64 numbers with a last axis of (real, imaginary)."""
    return np.stack([array.real, array.imag], axis=-1).astype(np.float64)


def joined(fmt: Format, parts: np.ndarray) -> np.ndarray:
    """The inverse of `components`, for parts in the storage dtype of the component format."""
    return np.ascontiguousarray(parts).view(fmt.storage)[..., 0]


def sum_of_products(fmt: Format, *pairs: tuple[np.ndarray, np.ndarray]) -> Golden:
    """The complex number a0*b0 + a1*b1 + ...: each component a sum of real products, rounded once.

    P8: where a part is not finite, or a partial product overflows the component format, the element is open.
    """
    lefts, rights = [], []
    for a, b in pairs:
        a, b = np.broadcast_arrays(components(np.asarray(a)), components(np.asarray(b)))
        lefts += [np.stack([a[..., 0], a[..., 0]], -1), np.stack([-a[..., 1], a[..., 1]], -1)]
        rights += [b, b[..., ::-1]]
    left, right = (np.stack(np.broadcast_arrays(*side)) for side in (lefts, rights))
    total = accumulate.dot(left, right, axis=0)
    exact = lambda index: dots([(left[(slice(None), *index)], right[(slice(None), *index)])])  # noqa: E731
    value, real = decide_digits(fmt.component, total.real, total.terms, exact)
    golden = Golden(fmt, joined(fmt, value), real, total.terms, total.magnitude, zero_sign_free=True)
    products = round_to(fmt.component, left * right)
    return golden.opened(~np.isfinite(products).all(axis=(0, -1)), "P8")
