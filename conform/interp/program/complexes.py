"""Complex numbers of a program: two Numbers, each of which errs by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from conform.interp.formulas.complexes import joined as joined_parts
from conform.interp.golden import Golden
from conform.interp.program.number import Number
from conform.numerics.formats import FORMATS, Format
from conform.numerics.real import joined


@dataclass(frozen=True, eq=False, repr=False)
class Complex:
    """A complex tensor: the numbers of its parts, of one float format and shape."""

    re: Number
    im: Number

    def __repr__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"

    @property
    def format(self) -> Format:
        return FORMATS[f"complex{2 * self.re.format.bits}"]

    @property
    def dtype(self) -> str:
        return self.format.name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.re.shape

    @staticmethod
    def exact(array: np.ndarray) -> Complex:
        """An argument of the program, or a constant."""
        return Complex(Number.exact(np.asarray(array.real)), Number.exact(np.asarray(array.imag)))

    def golden(self, of_part: Callable[[Number], Golden]) -> Golden:
        """By the goldens of both parts, each with a bound of its own."""
        parts = [of_part(replace(one, array=None)) for one in (self.re, self.im)]
        value = joined_parts(self.format, np.stack([one.value for one in parts], -1))
        real = joined(lambda some: np.stack(some, -1), [one.real for one in parts])
        budget, scale = (np.stack([getattr(one, name) for one in parts], -1) for name in ("budget", "scale"))
        return Golden(self.format, value, real, budget=budget, scale=scale, zero_sign_free=True)
