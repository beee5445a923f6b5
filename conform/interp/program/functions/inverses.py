"""Rules of the cube root, of sinh and cosh, and of inverse functions, on numbers that were computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.interp.program.functions.elementary import OTHER_ULPS, of_known
from conform.interp.program.number import Number
from conform.interp.program.rules import combined, common_format, operands, rule
from conform.interp.promotion import float_result
from conform.numerics.ball import ULPS, Ball
from conform.numerics.functions import inverses_of_reals as functions


def _define(name: str) -> None:
    real = functions.function(name)

    def ball(x: Ball) -> Ball:
        with np.errstate(all="ignore"):
            spread = functions.spread(name, x.mid, x.rad)
            image = x.rounded(functions.FLOAT64[name](x.mid), spread, ULPS[name])._determined(x)
            return image.but_exact(functions.outside(name, x.mid, x.rad))

    def function(self: Number) -> Any:
        """A function of numbers that are known, and that has no bound, is its semantics' to give."""
        if self.array is not None:
            return of_known(name, self) if name in OTHER_ULPS else NotImplemented
        (x,) = operands(float_result(self.format), self)
        flat = x.moved(lambda part: part.reshape(-1))  # the kernels take a row of numbers
        return combined(x.format, real, ball, flat).moved(lambda part: part.reshape(self.shape))

    rule(f"aten::{name}")(function)


for _name in functions.FLOAT64:
    _define(_name)


@rule("aten::atan2")
def atan2(self: Number, other: Number) -> Any:
    """The angle of (other, self)."""
    if self.array is not None and other.array is not None:
        return NotImplemented
    fmt = common_format(self, other)
    if not fmt.is_float:
        return NotImplemented
    y, x = operands(fmt, self, other)
    shape = np.broadcast_shapes(y.shape, x.shape)
    y, x = (one.moved(lambda part: np.broadcast_to(part, shape).reshape(-1)) for one in (y, x))
    return combined(fmt, functions.atan2, _angle, y, x).moved(lambda part: part.reshape(shape))


def _angle(y: Ball, x: Ball) -> Ball:
    with np.errstate(all="ignore"):
        spread = functions.atan2_spread(y.mid, y.rad, x.mid, x.rad)
        return y.rounded(np.arctan2(y.mid, x.mid), spread, ULPS["atan2"])._determined(y, x)
