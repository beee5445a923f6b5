"""Results of stacks of matrices: each matrix computed by itself, what came of all put together as one golden."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np

from conform.errors import Unjudged
from conform.interp.formulas.complexes import joined
from conform.interp.formulas.fractions_as_reals import as_real, rounded
from conform.interp.golden import Golden
from conform.numerics.formats import Format
from conform.numerics.real import Real

MOST_ROWS = 136  # of whose exact solution minors are computed: 2 to 6 s of real numbers, twice that of complex ones
Index = tuple[int, ...]
Parts = tuple[np.ndarray, ...]  # object arrays of fractions: a real matrix, or the real and the imaginary part


def refuse_large(op: str, rows: int, most: int = MOST_ROWS) -> None:
    """Unjudged of matrices of more than `most` rows."""
    if rows > most:
        raise Unjudged(f"{op} of {rows:,} rows: the kit solves systems of up to {most}")


def indices(*stacks: np.ndarray) -> Iterator[Index]:
    """Of each matrix of the stacks, which broadcast."""
    yield from np.ndindex(*np.broadcast_shapes(*(stack.shape[:-2] for stack in stacks)))


def broadcast(*stacks: np.ndarray) -> list[np.ndarray]:
    """The stacks as long as each other."""
    shape = np.broadcast_shapes(*(stack.shape[:-2] for stack in stacks))
    return [np.broadcast_to(stack, (*shape, *stack.shape[-2:])) for stack in stacks]


class Stack:
    """The golden of a stack of results of `shape`, matrix by matrix; what nothing was put in is 0, exactly."""

    def __init__(self, fmt: Format, shape: Index) -> None:
        self.format, self.shape = fmt, shape
        self.count = 2 if fmt.is_complex else 1
        component = fmt.component if fmt.is_complex else fmt
        self.values = np.zeros((*shape, self.count), component.storage)
        self.real = Real(*(np.zeros((*shape, self.count)) for _ in range(3)))
        self.budget, self.scale = np.zeros(shape), np.zeros(shape)
        self.opened: dict[str, np.ndarray] = {}

    def put(self, index: Index, parts: Parts, budget: np.ndarray, scale: np.ndarray) -> None:
        """The numbers of one matrix, with the absolute errors and the magnitude of their terms."""
        component = self.format.component if self.format.is_complex else self.format
        for at, part in enumerate(parts):
            self.values[(*index, ..., at)] = rounded(component, part)
            real = as_real(part)
            for mine, its in zip(self._parts(), (real.hi, real.lo, real.radius), strict=True):
                mine[(*index, ..., at)] = its
        self.budget[index] = np.where(np.isnan(budget), np.inf, budget)
        self.scale[index] = scale

    def put_exactly(self, index: Index, number: float) -> None:
        """One number, an infinity or NaN."""
        self.values[index] = self.real.hi[index] = number

    def _parts(self) -> Parts:
        return self.real.hi, self.real.lo, self.real.radius

    def open(self, index: Index | tuple, rule: str) -> None:
        """Leaves what `index` selects open by a rule."""
        self.opened.setdefault(rule, np.zeros(self.shape, bool))[index] = True

    def golden(self) -> Golden:
        """That of all of them."""
        if self.format.is_complex:
            value, real = joined(self.format, self.values), self.real
            budget, scale = (np.stack([each / sqrt(2)] * 2, axis=-1) for each in (self.budget, self.scale))
        else:
            value, real = self.values[..., 0], self.real[..., 0]
            budget, scale = self.budget, self.scale
        golden = Golden(self.format, value, real, budget=budget, scale=scale, zero_sign_free=True,
                        normwise=self.format.is_complex)  # fmt: skip
        for rule, mask in self.opened.items():
            golden = golden.opened(mask, rule)
        return golden

    def transposed(self) -> Golden:
        """That of their transposes."""
        rows = len(self.shape) - 2
        return self.golden().rearranged(lambda part: np.swapaxes(part, rows, rows + 1))

    def adjoint(self) -> Golden:
        """That of their conjugate transposes."""
        if self.format.is_complex:
            for part in (self.values, self.real.hi, self.real.lo):
                part[..., 1] *= -1
        return self.transposed()
