"""TOSA's budgets: how far a result may be from the reference, by operator and operands, and its rule for "within".

Source: TOSA specification 1.0, the "Floating-point behavior" tables of each operator, the pseudocode library's
tosa_reference_check and numeric_accuracy_helpers. A budget is an absolute error; TOSA's names are kept. The reference
is the exact result as a float64: TOSA's own is the operator in float64, whose noise is far below half an ulp of
float32. TOSA has no float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS, Format

FLUSHING = ("float16", "bfloat16", "float32")  # a result below the smallest normal number may be 0; in fp8 it may not

PARTIAL = ("POW",)  # operators whose result is undefined for some operands

Budget = np.ndarray | tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Call:
    """What a budget is made from: the golden output, and the call's arguments by the names of torch's schema. Of a
    block of a large output: its golden, its part of what is `broadcast`, and how many `results` the whole has."""

    golden: Golden
    operands: Mapping[str, Any]
    results: int

    @property
    def fmt(self) -> Format:
        return self.golden.format

    @property
    def reference(self) -> np.ndarray:
        """The exact result as float64."""
        real = self.golden.real
        return self.golden.value.astype(np.float64) if real is None else real.hi

    def operand(self, name: str) -> np.ndarray:
        """The argument `name` as float64, to be broadcast to the result."""
        return np.asarray(self.operands[name]).astype(np.float64)

    @property
    def step(self) -> float:
        """2^-frac, the ulp of 1."""
        return 2.0**-self.fmt.mantissa_bits


def bounds(budget: str, call: Call) -> tuple[np.ndarray, np.ndarray]:
    """How far a result may be from the reference toward zero, and away from it; inf where anything will do."""
    with np.errstate(all="ignore"):
        found = BUDGETS[budget][0](call)
    return found if isinstance(found, tuple) else (found, found)


def undefined(budget: str, call: Call) -> np.ndarray | bool:
    """Where TOSA leaves the result open: POW of negative and special operands, and of 0 to powers not above 0."""
    if budget not in PARTIAL:
        return False
    x, y = call.operand("self"), call.operand("exponent")
    return (x < 0) | ~np.isfinite(x) | ~np.isfinite(y) | ((x == 0) & (y <= 0))


def within(fmt: Format, actual: np.ndarray, reference: np.ndarray, below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """TOSA's bound check, for a reference that is no NaN: between reference - below and reference + above, mirrored
    to a positive reference. An end beyond the largest number is infinity; 0 stands for what is below the normal
    numbers."""
    with np.errstate(all="ignore"):
        mirror = np.where(np.signbit(reference), -1.0, 1.0)
        result, reference = actual.astype(np.float64) * mirror, np.abs(reference)
        low, high = (_overflowed(fmt, end) for end in (reference - below, reference + above))
        near = (low <= result) & (result <= high)
        if fmt.name in FLUSHING:
            near |= (result == 0) & (low < fmt.min_normal)
        if not fmt.has_inf:
            near |= np.isnan(result) & np.isinf(high)
    return near | np.isinf(above)


def _overflowed(fmt: Format, end: np.ndarray) -> np.ndarray:
    return np.where(np.abs(end) > fmt.max_finite, np.copysign(np.inf, end), end)


# The two helpers of the specification


def _ulps(number: float) -> Callable[[Call], np.ndarray]:
    """`number` ulps of the reference; none where it is 0."""

    def budget(call: Call) -> np.ndarray:
        magnitude = np.maximum(_power_below(np.abs(call.reference)), call.fmt.min_normal)
        return np.where(call.reference == 0, 0.0, number * magnitude * call.step)

    return budget


def _power_below(magnitude: np.ndarray) -> np.ndarray:
    """2^floor(log2 magnitude); 0 of 0."""
    return np.where(magnitude > 0, np.ldexp(1.0, np.frexp(magnitude)[1] - 1), 0.0)


def _absolute(
    call: Call, magnitude: np.ndarray, base: np.ndarray | float, floor: float = 0.0, divisor: int = 1
) -> np.ndarray:
    """calcAbsErrorBound: 2^trunc(-frac / divisor) * base * max(magnitude, smallest normal, floor / base)."""
    value = np.maximum(np.abs(magnitude), call.fmt.min_normal)
    if floor:
        value = np.maximum(floor / base, value)
    return 2.0 ** int(-call.fmt.mantissa_bits / divisor) * value * base


# Operators


def _base(call: Call) -> float:
    return 3.0 if call.fmt.name == "float32" else 1.0


def _exp(call: Call) -> np.ndarray:
    return _absolute(call, call.reference, _base(call) + 2 * np.abs(call.operand("self")))


def _log(call: Call) -> np.ndarray:
    return _absolute(call, call.reference, 5.0, floor=0.5)


def _sigmoid(call: Call) -> np.ndarray:
    return _absolute(call, call.reference, 2 * (1 + np.abs(call.operand("self"))))


def _tanh(call: Call) -> np.ndarray:
    return _absolute(call, call.reference, 4 * (_base(call) + 2 * np.abs(call.operand("self"))), floor=0.5)


def _sin(call: Call) -> np.ndarray:
    return np.maximum(_absolute(call, call.operand("self"), 2.0, divisor=2), np.pi * call.fmt.min_normal)


def _cos(call: Call) -> np.ndarray:
    return _absolute(call, 1 + np.abs(call.operand("self")), 1.0, divisor=2)


def _pow(call: Call) -> np.ndarray:
    """x^y as exp(y log x): the product's error and the exponential's."""
    x, y = call.operand("self"), call.operand("exponent")
    logarithm = np.abs(np.where(x > 0, y * np.log(x), 0.0))
    product_error = call.step * np.maximum(5.5 * logarithm, 0.55 * np.abs(y))
    exponential_error = _absolute(call, call.reference, _base(call) + 2 * (logarithm + product_error))
    return np.where(x == 0, 0.0, np.abs(call.reference) * np.expm1(product_error) + exponential_error)


def _reduce_product(call: Call) -> np.ndarray:
    factors = np.asarray(call.operands["self"]).size // max(call.results, 1)
    return np.maximum(np.abs(call.reference), call.fmt.min_normal) * np.expm1(factors * np.log1p(call.step / 2))


def _dot_product(call: Call) -> np.ndarray:
    """2 ksb of bnd * 2^(-1-frac) per element, ksb = ceil(KS / 2^((frac_acc - frac) / 2)) with a float32 accumulator.

    bnd is the sum of magnitudes of the products; TOSA raises each factor to the smallest normal number first, so this
    is never wider. The rules over whole data sets (variance, bias) are judged elsewhere.
    """
    wider = FORMATS["float32"].mantissa_bits - call.fmt.mantissa_bits
    terms = np.ceil(np.asarray(call.golden.terms, np.float64) / 2.0 ** (wider / 2))
    magnitude = call.golden.magnitude
    budget = 2 * np.maximum(terms, 1.0) * np.maximum(magnitude * call.step / 2, call.fmt.min_normal)
    return np.where(magnitude == 0, 0.0, budget)


def _cast(call: Call) -> Budget:
    """The error of a cast: of floats, to nearest or toward zero, less than an ulp below and half an ulp above; of
    integers, to nearest."""
    half = _ulps(0.5)(call)
    of_floats = np.asarray(call.operands["self"]).dtype.kind not in "iub"
    return (2 * half, half) if of_floats else half


# The arguments in torch's schema that a budget reads.
READS = {
    **dict.fromkeys(("EXP", "SIGMOID", "TANH", "SIN", "COS", "CAST", "REDUCE_PRODUCT"), ("self",)),
    "POW": ("self", "exponent"),
}


def broadcast(budget: str) -> tuple[str, ...]:
    """The arguments that have a value beside each result; REDUCE_PRODUCT only counts its factors."""
    return () if budget == "REDUCE_PRODUCT" else READS.get(budget, ())


# By TOSA's name: the budget, and what it says in words.
BUDGETS: dict[str, tuple[Callable[[Call], Budget], str]] = {
    "ADD": (_ulps(0.5), "0.5 ulp, either neighbour of a tie"),
    "MUL": (_ulps(0.5), "0.5 ulp, either neighbour of a tie"),
    "RECIPROCAL": (_ulps(1.0), "1 ulp"),
    "RSQRT": (_ulps(2.0), "2 ulp"),
    "ERF": (_ulps(5.0), "5 ulp"),
    "CAST": (_cast, "0.5 ulp, toward zero less than 1 ulp"),
    "EXP": (_exp, "2^-frac (b + 2|x|) |result|, b = 3 for float32, else 1"),
    "LOG": (_log, "2^-frac max(5 |result|, 0.5)"),
    "SIGMOID": (_sigmoid, "2^-frac 2 (1 + |x|) |result|"),
    "TANH": (_tanh, "2^-frac max(4 (b + 2|x|) |result|, 0.5), b = 3 for float32, else 1"),
    "SIN": (_sin, "2^trunc(-frac/2) 2 |x|"),
    "COS": (_cos, "2^trunc(-frac/2) (1 + |x|)"),
    "POW": (
        _pow,
        "|result| expm1(e) + 2^-frac (b + 2 (|y ln x| + e)) |result|, e = 2^-frac max(5.5 |y ln x|, 0.55 |y|)",
    ),
    "REDUCE_PRODUCT": (_reduce_product, "|result| ((1 + 2^-(frac+1))^n - 1)"),
    "DOT_PRODUCT": (_dot_product, "2 ceil(KS / 2^((23-frac)/2)) 2^-(frac+1) sum |products|"),
}
