"""The tensors of a program: exact real numbers, and how far an honest implementation's may lie from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conform.interp.operands import converted
from conform.interp.program.syntax import Syntax
from conform.numerics.ball import Ball
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real


@dataclass(frozen=True, eq=False, repr=False)
class Number(Syntax):
    """A tensor that a program computes with.

    format    the dtype that torch would give it; steps are taken in its compute type, and nothing is rounded to it
    real      the exact numbers that the program's definition makes of its exact operands
    rad       how far from them the numbers of an honest implementation may lie, inf where nothing bounds that
    array     the elements, in the storage of `format`, where these are the numbers: of arguments, and of what is moved
    may_round whether an implementation may have rounded the numbers to `format`, which `rad` does not allow for yet
    allowed   the arrays of right ones (`choice.py`) of integers and bools that hang on choices, and of elements that an
              op selects, where an implementation may select others; else nothing
    are_orders
              whether each array of `allowed` is right as a whole, too: of places, of which none comes twice in a line,
              and what stands at one of them is told by one of the arrays, whatever order an implementation has
    """

    format: Format
    real: Real
    rad: np.ndarray
    array: np.ndarray | None = None
    may_round: bool = False
    allowed: tuple[np.ndarray, ...] = ()
    are_orders: bool = False

    @staticmethod
    def exact(array: np.ndarray) -> Number:
        """An argument of the program, or a constant, of any dtype."""
        array = np.asarray(array)
        fmt = format_of(array)
        real = Real.exact(array.astype(np.float64)) if fmt.is_float else Real.exact(np.zeros(array.shape))
        return Number(fmt, real, np.zeros(array.shape), array)

    def __repr__(self) -> str:
        return f"{self.format.name}{list(self.shape)}"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.real.shape

    @property
    def dtype(self) -> str:
        return self.format.name

    def ball(self, compute: Format) -> Ball:
        """What an implementation has of the numbers where it computes in `compute`."""
        return Ball(self.real.hi, np.broadcast_to(self.rad, self.shape), compute)

    def held_in(self, fmt: Format) -> Number:
        """The numbers as an operand of an op in the float format `fmt`: rounded to it where it is the narrower one and
        the elements are known; of a computed 0-d tensor, which may be of a wider dtype, an implementation's are. Of an
        integer or bool that hangs on a choice nothing is known."""
        if self.format is fmt:
            return self
        if self.array is not None and (self.ndim or not self.format.is_float):
            return Number.exact(converted(self.array, fmt))
        narrowed = (fmt.bits < self.format.bits) & np.isfinite(self.real.hi)
        rounding = np.where(narrowed, np.abs(self.real.hi) * fmt.unit_roundoff + fmt.min_subnormal, 0.0)
        rad = np.where(self.rad > 0, np.inf, 0.0) if self.allowed and not self.format.is_float else self.rad + rounding
        return replace(self, format=fmt, rad=rad, array=None, allowed=())

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Number:
        """The number with `move`, which only arranges elements, applied to all that it holds."""
        array = None if self.array is None else move(self.array)
        rad = move(np.broadcast_to(self.rad, self.shape))
        allowed = tuple(map(move, self.allowed))
        return replace(self, real=self.real.map_parts(move), rad=rad, array=array, allowed=allowed)


def as_numbers(value: Any) -> Any:
    """`value` with every array, in lists too, as the tensor that it stands for."""
    if isinstance(value, np.ndarray):
        return Number.exact(value)
    return [as_numbers(item) for item in value] if isinstance(value, list | tuple) else value
