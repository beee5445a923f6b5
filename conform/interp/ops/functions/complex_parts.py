"""Goldens of complex functions: both parts correctly rounded, what the policy leaves open, and the error allowed.

Poles, overflows and operands that are not finite are open (P70); branch cuts are those of C99 Annex G (P71).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.formulas.complexes import components, joined
from conform.interp.golden import Golden
from conform.interp.ops.functions.complex_budgets import budget_of, is_judged_in_norm
from conform.numerics import functions
from conform.numerics.formats import Format
from conform.numerics.functions import complex_parts
from conform.numerics.real import where


def is_complex_function(name: str) -> bool:
    """Whether the kit has the function `name` of complex numbers."""
    return name in complex_parts.names()


def complex_function(name: str, fmt: Format, *operands: np.ndarray) -> Golden:
    """A function of complex128 numbers of one shape, in the complex format `fmt`; 1 / (1 + e^-z), the sigmoid, is open
    where e^-z overflows (P73)."""
    parts, unfit = _finite_parts(*operands)
    result = complex_parts.apply(name, fmt.component, *parts)
    golden = Golden(
        fmt,
        joined(fmt, result.value),
        result.real,
        budget=budget_of(name, fmt.component, *parts),
        zero_sign_free=True,
        normwise=is_judged_in_norm(name),
    )
    golden = golden.opened(unfit | result.beyond, "P70")
    return golden.opened(_exp_overflows(fmt.component, -parts[0]), "P73") if name == "sigmoid" else golden


def _exp_overflows(component: Format, x: np.ndarray) -> np.ndarray:
    value, _ = functions.apply("exp", component, x)
    return np.isinf(value)


def _finite_parts(*operands: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The parts of all operands, 0.5 where one of them is not finite, and where that is."""
    parts = [np.asarray(part, np.float64) for operand in operands for part in (operand.real, operand.imag)]
    finite = np.logical_and.reduce([np.isfinite(part) for part in parts])
    return [np.where(finite, part, 0.5) for part in parts], ~finite


def absolute(fmt: Format, z: np.ndarray) -> Golden:
    """|z|, a real number: hypot of the parts, whose contract it is under."""
    (x, y), unfit = _finite_parts(z)
    value, real = functions.apply("hypot", fmt.component, x, y)
    return Golden(fmt.component, value, real, bounded_as="aten::hypot").opened(unfit | np.isinf(value), "P70")


def angle_of(fmt: Format, z: np.ndarray) -> Golden:
    """arg z, a real number (P74): atan2 of the parts, whose contract it is under."""
    (x, y), unfit = _finite_parts(z)
    value, real = functions.apply("atan2", fmt.component, y, x)
    return Golden(fmt.component, value, real, bounded_as="aten::atan2").opened(unfit, "P70")


def unit_of(fmt: Format, z: np.ndarray) -> Golden:
    """z / |z|, 0 of 0; open where |z| overflows (P207)."""
    is_zero = z == 0
    golden = complex_function("sgn", fmt, np.where(is_zero, 1.0, z))
    golden = golden.opened(np.isinf(absolute(fmt, z).value), "P207")
    if not is_zero.any():
        return golden
    return replace(
        golden,
        value=np.where(is_zero, 0.0, golden.value).astype(fmt.storage),
        real=where(is_zero[..., None], 0.0, golden.real),
        budget=np.where(is_zero[..., None], 0.0, golden.budget),
    )


def complex_power(fmt: Format, base: np.ndarray, exponent: np.ndarray) -> Golden:
    """e^(exponent log base), principal value. Of a zero base it is 1 or 0 where P72 says so."""
    settled = (base == 0) & np.isfinite(exponent) & ((exponent == 0) | (exponent.real > 0))
    golden = complex_function("pow", fmt, np.where(settled, 1.0, base), np.where(settled, 1.0, exponent))
    if not settled.any():
        return golden
    limit = (exponent == 0) * 1.0
    wanted = settled[..., None]
    return replace(
        golden,
        value=np.where(settled, limit, golden.value).astype(fmt.storage),
        real=where(wanted, components(limit), golden.real),
        budget=np.where(wanted, 0.0, golden.budget),
    )
