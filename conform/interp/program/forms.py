"""Formulas that honest implementations write in several forms, of which each rounds otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.program.number import Number


def either_form(one: Number, other: Number) -> Number:
    """Of two forms of the same number the first, with the error of the one that may err more; nothing is said where
    they make different infinities, or NaN, of special operands."""
    alike = np.isfinite(one.real.hi) & np.isfinite(other.real.hi) | (one.real.hi == other.real.hi)
    alike |= np.isnan(one.real.hi) & np.isnan(other.real.hi)
    rad = np.where(alike, np.maximum(one.rad, other.rad), np.inf)
    return replace(one, rad=rad, may_round=one.may_round or other.may_round)
