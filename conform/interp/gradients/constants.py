"""Irrational constants of formulas, to 106 bits, and products with them."""

from __future__ import annotations

from dataclasses import replace

from conform.interp.program.functions.elementary import by_constant, constant
from conform.interp.program.number import Number
from conform.interp.program.storage import stored
from conform.numerics.real import Real

LOG_2 = constant(0.6931471805599453, 2.3190468138462996e-17)
LOG_10 = constant(2.302585092994046, -2.1707562233822494e-16)
PI = constant(3.141592653589793, 1.2246467991473532e-16)
PI_OVER_180 = constant(0.017453292519943295, 2.9486522708701687e-19)
ONE_80_OVER_PI = constant(57.29577951308232, -1.9878495670576283e-15)
TWO_OVER_ROOT_PI = constant(1.1283791670955126, 1.533545961316588e-17)
ROOT_PI_OVER_2 = constant(0.886226925452758, -3.8332932499128993e-17)
OVER_ROOT_2_PI = constant(0.3989422804014327, -2.49232720227773e-17)
ROOT_OF_HALF = constant(0.7071067811865476, -4.833646656726457e-17)
ROOT_OF_2_OVER_PI = constant(0.7978845608028654, -4.98465440455546e-17)
OF_CUBE = constant(0.044715, 2.1960211427085595e-18)
SELU_SCALE = constant(1.0507009873554805, 3.9874847667154144e-17)
SELU_SCALE_ALPHA = constant(1.7580993408473768, 1.41535193800845e-17)  # torch.nn.SELU


def times(x: Number, factor: Real) -> Number:
    """x times a constant, as a step of its own."""
    return replace(by_constant(stored(x), factor), may_round=True)
