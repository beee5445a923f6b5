"""Formulas that honest implementations write in several forms, of which each rounds otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.program.number import Number


def either_form(one: Number, other: Number) -> Number:
    """Of two forms of the same number the first, with the error of the one that may err more."""
    return replace(one, rad=np.maximum(one.rad, other.rad), may_round=one.may_round or other.may_round)
