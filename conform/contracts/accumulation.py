"""How far off a sum may be: a bound per element, and rules for the errors of many sums together.

The bound holds for every order of summation, so it grows with the number of terms k, while honest errors grow with its
root at most. What it cannot see in long sums (factors rounded to TF32, additions that truncate) shows in the errors of
many sums: their mean square, and their mean. Figures of the TOSA specification, dot-product test:

    err_i = (actual_i - real_i) / max(u S_i, smallest normal number), u of the result's format, S_i its magnitudes' sum
    sum err_i^2 <= VAR T         VAR = 4 * 0.4 ksb, ksb = ceil(k / 2^((p_acc - p_out) / 2)), T the number of sums
    |sum err_i| <= sqrt(10 VAR T)

0.4 is 1/3, the variance of one rounding error in units of u, rounded up; 4 the square of TOSA's factor 2. One rounding
may be the same in all sums (an addend that all share leaves the same rest when it comes last): the mean may be u S
more.

The rules rest on rounding errors that are independent and centred. That is so where the digits which an addition cuts
off are random: for terms drawn independently from a wide range (`Case.has_independent_terms`), in sums that differ. Of
like terms every addition cuts off the same. How often the rules accuse an honest sum: one rounding errs by at most u S,
with a variance of at most a third of its square. So by Freedman's inequality (Annals of Probability 3, 1975) the mean
leaves its limit once in 5e8 outputs at most, 2 exp(-21), for T = 1000; by Hoeffding's lemma the mean square does with a
probability of at most (1.6 exp(-0.6))^(T / 2), 1e-28.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from conform.contracts.arithmetic import Arithmetic
from conform.interp.blocks.blocks import flat
from conform.interp.golden import Golden
from conform.numerics.ball import ULPS
from conform.numerics.formats import FORMATS, Format
from conform.numerics.grid import is_exact
from conform.numerics.real import Real
from conform.numerics.rounding_errors import CORRECTLY_ROUNDED, gamma
from conform.numerics.ulp import ulp

MIN_SUMS = 1000  # TOSA, appendix A: MIN_DOT_PRODUCTS
VARIANCE = 4 * 0.4
BIAS = 10.0
SHARED = 1.0  # one rounding, in units of u S
STATISTICS = "sum err^2 <= VAR T and |sum err| <= sqrt(10 VAR T) + T over T sums, VAR = 4 * 0.4 ksb, err in u S"
STATISTICS_SOURCE = "TOSA specification, dot-product test over data sets of at least 1000 products"


def allowance(golden: Golden, real: Real, arithmetic: Arithmetic) -> np.ndarray:
    """|error| <= (e + gamma_(m k)(u) g) S + m k eta a: S the sum of magnitudes, u and eta of the accumulator (Higham,
    theorem 3.1, and section 2.2 for what products lose near 0); a by how much that is amplified; e, m and g of the
    compute mode, 0, 1 and 1 in IEEE arithmetic. Infinite where m k u >= 1.

    Where a grid of the terms (`conform/numerics/grid.py`) makes every order of the sum exact, none but the division
    that may follow.
    """
    mode = arithmetic.mode(golden.format)
    accumulator = FORMATS[mode.accumulator]
    roundings = np.asarray(golden.terms, np.float64) * mode.parts
    share = mode.product_error + gamma(roundings, accumulator.unit_roundoff) * mode.growth
    spread = share * golden.magnitude + roundings * arithmetic.underflow(accumulator) * golden.amplified
    if golden.grid is not None and mode.factor_bits is None:
        divided = division(accumulator) * np.abs(real.hi) + arithmetic.underflow(accumulator) if golden.divided else 0.0
        least = accumulator.min_normal if arithmetic.flushes_subnormals else accumulator.min_subnormal
        is_kept = is_exact(accumulator, golden.grid, real.hi, golden.magnitude, least * golden.amplified)
        spread = np.where(is_kept, divided, spread)
    return spread + final_rounding(golden, accumulator, real, spread)


def division(compute: Format) -> float:
    """The relative error of a quotient: OpenCL's ulps, or two roundings where a kernel multiplies by the reciprocal."""
    return 2 * (ULPS["div"] if compute.bits <= 32 else 2 * CORRECTLY_ROUNDED) * compute.unit_roundoff


def final_rounding(golden: Golden, compute: Format, real: Real, spread: np.ndarray) -> np.ndarray | float:
    """Half an ulp more where the result is narrower than what it was computed in."""
    if compute == golden.format:
        return 0.0
    return ulp(golden.format, np.abs(real.hi) + spread) / 2


# -- Many sums -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statistics:
    """The errors of `sums` sums, in units of u S: root mean square and mean, with the limits they are held to."""

    sums: int
    rms: float
    rms_limit: float
    mean: float
    mean_limit: float

    def violation(self) -> str | None:
        """What is wrong, in words; None if nothing is."""
        if self.rms > self.rms_limit:
            return f"root mean square of the errors {self.rms:.1f} u S, above {self.rms_limit:.1f} ({self.sums} sums)"
        if abs(self.mean) > self.mean_limit:
            return f"biased: mean of the errors {self.mean:+.2f} u S, beyond {self.mean_limit:.2f} ({self.sums} sums)"
        return None


class ErrorsOfSums:
    """The errors of an output's sums, which are added up block by block."""

    def __init__(self, golden: Golden, actual: np.ndarray) -> None:
        self.golden, self.actual = replace(golden, alternatives=()), actual
        self.count, self.errors, self.squares = 0, 0.0, 0.0
        self.different = np.empty(0)  # the sums, until they are enough

    @staticmethod
    def are_judged(golden: Golden) -> bool:
        """Whether the golden may hold MIN_SUMS different sums of one length."""
        is_sum = golden.magnitude is not None and golden.real is not None and isinstance(golden.terms, int)
        return is_sum and golden.value.size >= MIN_SUMS

    def add(self, place: slice, compared: np.ndarray) -> None:
        """Take in the errors of the `compared` elements [n] of `place`."""
        golden, actual = self.golden.block(place), flat(self.actual, place)
        with np.errstate(all="ignore"):
            used = compared & np.isfinite(golden.real.hi) & np.isfinite(actual) & (golden.magnitude > 0)
            if self.different.size < MIN_SUMS:
                self.different = np.unique(np.concatenate([self.different, golden.real.hi[used]]))
            errors = errors_in_units(golden, actual)[used]
            self.count += errors.size
            self.errors, self.squares = self.errors + float(errors.sum()), self.squares + float((errors**2).sum())

    def statistics(self, arithmetic: Arithmetic) -> Statistics | None:
        """Against the limits for a backend of this arithmetic; None of fewer than MIN_SUMS different sums.

        Limits are TOSA's; what may be the same in every sum adds to both: e / u for a compute mode's product error e,
        and the error of a division that follows.
        """
        if self.different.size < MIN_SUMS:
            return None
        golden, count, mode = self.golden, self.count, arithmetic.mode(self.golden.format)
        variance = VARIANCE * blocks(golden.terms * mode.parts, FORMATS[mode.accumulator], golden.format)
        shared = mode.product_error + (division(FORMATS[mode.accumulator]) if golden.divided else 0.0)
        systematic = shared / golden.format.unit_roundoff
        rms_limit = float(np.sqrt(variance)) + systematic
        mean_limit = float(np.sqrt(BIAS * variance / count)) + SHARED + systematic
        return Statistics(count, float(np.sqrt(self.squares / count)), rms_limit, self.errors / count, mean_limit)


def errors_in_units(golden: Golden, actual: np.ndarray) -> np.ndarray:
    """(actual - real) / (u S), u of the result's format; signed."""
    with np.errstate(all="ignore"):
        unit = np.maximum(golden.magnitude * golden.format.unit_roundoff, golden.format.min_normal)
        return ((actual.astype(np.float64) - golden.real.hi) - golden.real.lo) / unit


def blocks(terms: int, accumulator: Format, result: Format) -> int:
    """TOSA's ksb: the terms, fewer where the accumulator is more precise than the result."""
    return max(1, int(np.ceil(terms / 2 ** ((accumulator.precision - result.precision) / 2))))
