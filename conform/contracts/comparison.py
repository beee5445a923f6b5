"""An actual output beside its golden, and what every judge asks of the two."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from conform.contracts import flushing, normwise
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.contracts.components import components
from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.numerics.formats import Format
from conform.numerics.real import Real
from conform.numerics.ulp import error_ulp, ulp


@dataclass(frozen=True)
class Comparison:
    """An actual output (of the golden's shape and format) beside its golden, and what every row asks of the two.

    `operands`: the call's arguments by the names of the schema, for rows whose bound depends on them. `arithmetic`:
    what the backend declares. `numbers`: the complex comparison that this one holds the parts of. `output`: that of the
    whole output, of which this one is a block. What is computed here is kept, so a large output is asked in blocks.
    """

    golden: Golden
    actual: np.ndarray
    operands: Mapping[str, Any] = field(default_factory=dict)
    arithmetic: Arithmetic = IEEE
    numbers: Comparison | None = None
    output: Comparison | None = None

    @cached_property
    def real(self) -> Real:
        """The exact result; that of a golden without a real number is its value."""
        golden = self.golden
        return golden.real if golden.real is not None else Real.exact(golden.value.astype(np.float64))

    @cached_property
    def is_the_golden(self) -> bool:
        """Whether the output is the correctly rounded result, bit for bit, but for what NaNs carry beside being NaN."""
        expected, actual = self.golden.value, self.actual
        pairs = ((flat(expected, place), flat(actual, place)) for place in spans(expected.size))
        return all(one.tobytes() == other.tobytes() or _are_one(self.golden.format, one, other) for one, other in pairs)

    @cached_property
    def error_ulp(self) -> np.ndarray:
        return self._error_ulp(self.real)

    def _error_ulp(self, real: Real) -> np.ndarray:
        if self._is_exactly(real):
            return np.zeros(self.actual.shape)
        error = error_ulp(self.golden.format, self.actual, real)
        return normwise.error_ulp(self.golden.format, self.actual, error, real) if self.golden.normwise else error

    def _is_exactly(self, real: Real) -> bool:
        """Whether every element is the real number itself, NaN or the infinity that it is: `error_ulp` says 0 of all.
        Where hi is infinite and the radius, too, a number is meant that hi is not."""
        if real.rest is not None or real.lo.any() or not np.isfinite(real.radius).all():
            return False
        return bool(same_special(self.actual.astype(np.float64), real.hi).all())

    @cached_property
    def rounded_error_ulp(self) -> np.ndarray:
        """|actual - expected| in ulps of the expected value, the correctly rounded one."""
        expected = self.golden.value.astype(np.float64)
        overflow = np.isinf(expected) & np.isfinite(self.real.hi)
        edge = np.copysign(np.ldexp(1.0, self.golden.format.emax + 1), expected)
        hi = np.where(overflow, edge, expected)
        radius = np.where(overflow & np.isinf(hi), np.inf, 0.0)
        return self._error_ulp(Real(hi, np.zeros_like(hi), radius))

    @cached_property
    def determined(self) -> np.ndarray:
        """Where the meaning of the op determines NaN or an infinity."""
        return ~np.isfinite(self.real.hi)

    @cached_property
    def same_class(self) -> np.ndarray:
        """A determined NaN or infinity is the expected one, and no number is NaN. A format without infinity may round a
        finite number to NaN: its overflow. The expected element itself is of its class."""
        if self.is_the_golden:
            return np.ones(self.actual.shape, bool)
        no_other_nan = ~np.isnan(self.actual) | np.isnan(self.golden.value)
        return np.where(self.determined, same_special(self.actual, self.golden.value), no_other_nan)

    @cached_property
    def open(self) -> np.ndarray:
        golden = self.golden
        return np.zeros(golden.value.shape, bool) if golden.open is None else golden.open

    @cached_property
    def unit(self) -> np.ndarray:
        """The ulp of the exact result."""
        fmt = self.golden.format
        return normwise.unit(fmt, self.real) if self.golden.normwise else ulp(fmt, self.real.hi)

    @cached_property
    def kept_subnormals(self) -> bool:
        """Whether somewhere in the output a subnormal number was computed."""
        whole = self.numbers or self.output
        if whole is not None:
            return whole.kept_subnormals
        return flushing.kept_some(self.golden, self.actual, self.operands.values())

    @property
    def results(self) -> int:
        """How many elements the whole output has."""
        return self.golden.value.size if self.output is None else self.output.golden.value.size

    @cached_property
    def parts(self) -> Comparison:
        """The comparison of real and imaginary parts, in a last axis, where the numbers are complex."""
        parts = components(self.golden.format, self.actual)
        numbers = replace(self)  # two that hold each other would outlive their use
        return Comparison(_as_components(self.golden), parts, self.operands, self.arithmetic, numbers=numbers)

    def readings(self) -> Iterator[Comparison]:
        """This comparison, then the alternatives."""
        yield self
        yield from self.alternatives

    @cached_property
    def alternatives(self) -> tuple[Comparison, ...]:
        """This output compared with each other golden of its format."""
        others = (other for other in self.golden.alternatives if other.format == self.golden.format)
        return tuple(Comparison(other, self.actual, self.operands, self.arithmetic) for other in others)

    def block(self, place: slice | np.ndarray, broadcast: Collection[str] = ()) -> Comparison:
        """The elements `place` in C order, by this reading alone, with as much of the operands `broadcast`, which have
        the output's shape or broadcast to it. Of complex numbers `place` is a slice."""
        golden = replace(self.golden, alternatives=()).block(place)
        shape = self.golden.value.shape
        cut = {name: flat(np.broadcast_to(self.operands[name], shape), place) for name in broadcast}
        return Comparison(golden, flat(self.actual, place), {**self.operands, **cut}, self.arithmetic, output=self)


def _are_one(fmt: Format, expected: np.ndarray, actual: np.ndarray) -> bool:
    """Whether two arrays that differ do so in their NaNs alone: of complex numbers in those of their parts."""
    if not (fmt.is_float or fmt.is_complex):
        return False
    if fmt.is_complex:
        fmt, expected, actual = fmt.component, components(fmt, expected), components(fmt, actual)
    are_nan = np.isnan(expected)
    codes = (array.view(fmt.code_storage) for array in (expected, actual))
    return bool(are_nan.any() and ((are_nan & np.isnan(actual)) | np.equal(*codes)).all())


def same_special(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Equal, or both NaN."""
    return (actual == expected) | (np.isnan(actual) & np.isnan(expected))


def _as_components(golden: Golden) -> Golden:
    open_ = None if golden.open is None else np.broadcast_to(golden.open[..., None], (*golden.value.shape, 2))
    return replace(
        golden,
        format=golden.format.component,
        value=components(golden.format, golden.value),
        open=open_,
        alternatives=(),
    )
