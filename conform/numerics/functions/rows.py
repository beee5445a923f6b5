"""What a row of the table of correctly rounded functions is, and the operands on which its first rung is checked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mpmath import mpf

from conform.numerics.functions import exact
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.ladder import Function
from conform.numerics.scaled import Scaled

NUMPY_ERROR = 2.0**-49
"""What is relied on of numpy's float64 functions: 8 ulp at worst. Its SIMD kernels promise 4 ulp, C libraries about 1;
the ladder checks 4 ulp on the sentinels. Operands have at most 24 bits there: cos(6381956970095103 * 2^797), the double
next to a multiple of pi/2, is off by 2^-49.1 in glibc 2.36; 16367173 * 2^72 is the closest of 24 bits."""
CLASS_ONLY = float("inf")
"""A float64 formula that is right about NaN and infinity alone."""

FAR, FAR_EXPONENT = 1000, 100_000
"""Where a computed argument of erfc or exp is cut off: its rounding error would count that often, and e^-100000 times
any double rounds to zero in every format."""

UNIT = tuple((s * x,) for x in (2.0**-30, 0.1, 0.4999, 0.7071, 0.9375, 1 - 2.0**-20) for s in (1.0, -1.0))
LINE = UNIT + tuple((s * x,) for x in (1.0, 1.5, 3.1, 7.3, 20.7, 85.5, 700.1) for s in (1.0, -1.0))
ANGLES = LINE + ((3.141592653589793,), (11.0,), (1.57079637,), (16367173 * 2.0**72,), (-(2.0**120),))
POSITIVE = tuple((x,) for x in (1e-300, 1e-38, 2.0**-30, 0.3, 0.99999, 1.00001, 1.4142, 2.5, 9.99, 1e10, 1e38, 1e300))
PAIRS = (
    (1.5, 2.5),
    (0.1, 30.3),
    (3.0, 4.00001),
    (1e-20, 1.25),
    (7.7, 0.3),
    (1e150, 1.9),
    (2.0**-30, 5.5),
    (0.99999, 777.7),
)


def at(*points: float) -> Callable[[Array], Array]:
    return lambda x: np.logical_or.reduce([x == point for point in points])


def define(
    rows: dict[str, Function],
    name: str,
    float64: Callable[..., Array],
    double_double: Callable[..., object],
    error_bound: float | None,
    mp: Callable[..., mpf],
    exact_cases: Callable[..., exact.Exact],
    sentinels: tuple[tuple[float, ...], ...],
    float64_error: float = NUMPY_ERROR,
    ends: Callable[..., Scaled] | None = None,
    poles: Callable[..., Array] | None = None,
    unsure: Callable[[Array], Array] | None = None,
) -> None:
    """Add a row to `rows`; `error_bound` None: the kernel returns its own beside the value. ends: the function where
    float64's range ends; poles: those at finite operands, None: a function of one operand has none; unsure: where
    float64_error is missed; None where there are none."""

    def with_bound(*operands: DD) -> tuple[DD, Array | float]:
        return double_double(*operands), error_bound

    rung = double_double if error_bound is None else with_bound
    if poles is None and len(sentinels[0]) == 1:
        poles = at()
    rows[name] = Function(name, float64, float64_error, rung, mp, exact_cases, sentinels, ends, poles, unsure)
