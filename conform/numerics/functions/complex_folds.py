"""How the operands of a complex function fold onto a half or a quarter of the plane, and the signs its parts then take.

Every function of one number has f(conj z) = conj f(z), on both sides of a branch cut too, where the sign of a zero part
names the side (C99 G.6): the parts are computed for an imaginary part >= 0, of odd and even functions in the first
quadrant, and take their signs afterwards. So no rung has to know of the cuts but through the limit from above.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.numerics.functions.dd import Array

Signs = tuple[Array | float, Array | float]
Fold = Callable[..., tuple[tuple[Array, ...], Signs]]


def _sign(x: Array) -> Array:
    return np.copysign(1.0, x)


def mirrored(x: Array, y: Array) -> tuple[tuple[Array, ...], Signs]:
    """f(conj z) = conj f(z)"""
    return (x, np.abs(y)), (1.0, _sign(y))


def odd(x: Array, y: Array) -> tuple[tuple[Array, ...], Signs]:
    return (np.abs(x), np.abs(y)), (_sign(x), _sign(y))


def even(x: Array, y: Array) -> tuple[tuple[Array, ...], Signs]:
    return (np.abs(x), np.abs(y)), (1.0, _sign(x) * _sign(y))


def mirrored_power(x: Array, y: Array, c: Array, d: Array) -> tuple[tuple[Array, ...], Signs]:
    return (x, np.abs(y), c, d * _sign(y)), (1.0, _sign(y))


def as_they_are(*operands: Array) -> tuple[tuple[Array, ...], Signs]:
    return operands, (1.0, 1.0)
