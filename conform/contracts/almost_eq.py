"""Two numbers that are "almost equal": within an absolute and a relative tolerance of the expected one.

|actual - expected| <= atol + rtol * |expected|, as torch.testing.assert_close and StableHLO's check.expect_almost_eq
have it. Both take equal numbers for equal before they subtract: infinities of one sign, zeros of both signs. NaN is
near NaN alone (so TestCase.assertEqual and expect_almost_eq have it; assert_close accepts no NaN but with
equal_nan=True). A finite number and an infinity are never near, whatever the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """`rtol` and `atol` of the rule.

    same_sign   numbers that are not equal must also have the same sign bit (StableHLO)
    modulus     complex numbers are compared by the modulus of their difference (torch), else part by part (StableHLO)
    """

    rtol: float
    atol: float
    same_sign: bool = False
    modulus: bool = False

    def __str__(self) -> str:
        """`1e-05 + 1.3e-06 * |expected|`."""
        return f"{self.atol:g} + {self.rtol:g} * |expected|" if self.rtol else f"{self.atol:g} (absolute)"

    @property
    def short(self) -> str:
        """`1e-05 + 1.3e-06|y|`."""
        return f"{self.atol:g} + {self.rtol:g}|y|" if self.rtol else f"{self.atol:g}"


def allowance(expected: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """atol + rtol * |expected| in float64; nothing beside an infinity, for which no number stands in."""
    magnitude = np.abs(_wide(expected))
    return np.where(np.isinf(magnitude), 0.0, tolerance.atol + tolerance.rtol * magnitude)


def almost_eq(
    expected: np.ndarray, actual: np.ndarray, tolerance: Tolerance, allowed: np.ndarray | None = None
) -> np.ndarray:
    """Element by element; `expected` and `actual` are arrays of one real or complex dtype and shape. `allowed`: their
    `allowance`, where that is known."""
    expected, actual = _wide(expected), _wide(actual)
    with np.errstate(all="ignore"):
        near = np.abs(actual - expected) <= (allowance(expected, tolerance) if allowed is None else allowed)
        if tolerance.same_sign:
            near &= np.signbit(actual) == np.signbit(expected)
        return (actual == expected) | near | (np.isnan(actual) & np.isnan(expected))


def _wide(array: np.ndarray) -> np.ndarray:
    """In float64 or complex128, where the difference of two numbers of a narrower dtype is exact or all but exact."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
