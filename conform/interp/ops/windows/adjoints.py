"""Adjoints of weighted means along each of the last dims: each element gets back the results that read it, times the
weights with which they do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from math import isfinite, prod

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import everywhere, spans
from conform.interp.golden import Golden
from conform.interp.ops.windows.cells import nan_for_infinities
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, compute_format, format_of
from conform.numerics.real import RAISE, Real, concatenate, where
from conform.numerics.rounding_errors import gamma, underflow
from conform.numerics.scaled import Scaled

SCALED_BY = 600  # the power of two over which tiny elements are added up


@dataclass(frozen=True)
class Reading:
    """What results read along one dim, [t, n]: elements, by which weights, how far those of an implementation may be
    off, and whether it is such an error alone that reads the element; where there are fewer than t, `there` is False.
    exact: of a result the weights [t]."""

    element: np.ndarray
    weight: Real
    error: np.ndarray
    there: np.ndarray
    beside: np.ndarray
    exact: Callable[[int], Sequence[Fraction | int]]

    def readers(self, size: int) -> Readers:
        """Of each of `size` elements the results that read it."""
        tap, result = np.nonzero(self.there)
        element = self.element[tap, result]
        order = np.argsort(element, kind="stable")
        tap, result, element = tap[order], result[order], element[order]
        counts = np.bincount(element, minlength=size)
        width = max(int(counts.max(initial=0)), 1)
        column = np.arange(element.size) - (np.cumsum(counts) - counts)[element]
        index = np.full((size, width), -1)
        index[element, column] = np.arange(element.size)
        there = index >= 0
        if not element.size:
            tap, result = np.zeros((2, 1), np.int64)
        tap, result = tap[index], result[index]
        return Readers(
            np.where(there, result, 0), tap, where(there, self.weight[tap, result], 0.0),
            np.where(there, self.error[tap, result], 0.0), there, there & self.beside[tap, result], self.exact,
        )  # fmt: skip


@dataclass(frozen=True)
class Readers:
    """The fields of Reading by element, [n, k]: the results that read it, and which of their taps does."""

    result: np.ndarray
    tap: np.ndarray
    weight: Real
    error: np.ndarray
    there: np.ndarray
    beside: np.ndarray
    exact: Callable[[int], Sequence[Fraction | int]]

    def exactly(self, element: int) -> list[tuple[int, mpq]]:
        """(result, weight) of each that reads the element."""
        there = self.there[element] & ~self.beside[element]
        pairs = zip(self.result[element][there].tolist(), self.tap[element][there].tolist(), strict=True)
        return [(result, mpq(self.exact(result)[tap])) for result, tap in pairs]

    def reached(self, some: slice) -> slice:
        """From the first to the last result that reads one of the elements `some`."""
        found = self.result[some][self.there[some]]
        return slice(int(found.min(initial=found.max(initial=0))), int(found.max(initial=0)) + 1)


@dataclass(frozen=True)
class _Sums:
    """Sums [planes, *n] so far, before the first dim or behind the last: of the finite elements; of their magnitudes,
    times those of the weights and by themselves, and what the errors of the weights make of these; None where all are
    finite, of infinities and NaNs their sum, whether some are read, whether some may be by an error, and whether it is
    open if some count, by a weight of 0 and by an error."""

    real: Real
    magnitude: np.ndarray
    size: np.ndarray
    moved: np.ndarray
    special: np.ndarray | None = None
    any_special: np.ndarray | None = None
    any_reached: np.ndarray | None = None
    hidden: np.ndarray | None = None
    doubted: np.ndarray | None = None

    @staticmethod
    def of(elements: np.ndarray, are_finite: bool) -> _Sums:
        """The elements themselves."""
        finite = np.isfinite(elements)
        x = elements if are_finite else np.where(finite, elements, 0.0)
        magnitude, nothing = np.abs(x), np.zeros(x.shape)
        own = _Sums(Real.exact(x), magnitude, magnitude, nothing)
        if are_finite:
            return own
        never = np.zeros(x.shape, bool)
        return _Sums(own.real, magnitude, magnitude, nothing, np.where(finite, 0.0, elements), ~finite, ~finite, never,
                     never)  # fmt: skip

    def along(self, axis: int, readers: Readers, some: slice, start: int) -> _Sums:
        """The sums along `axis` of the elements `some`, where the result `start` is the first."""
        width = readers.result.shape[1] * self.magnitude.size // max(self.magnitude.shape[axis], 1)
        own = self._moved(lambda part: np.moveaxis(part, axis, -1))
        pieces = [own._along(readers, slice(some.start + one.start, some.start + one.stop), start)
                  for one in spans(some.stop - some.start, width)]  # fmt: skip
        return _joined(pieces)._moved(lambda part: np.moveaxis(part, -1, axis))

    def _moved(self, move: Callable[[np.ndarray], np.ndarray]) -> _Sums:
        parts = (getattr(self, one.name) for one in fields(_Sums)[1:])
        return _Sums(self.real.map_parts(move), *(None if part is None else move(part) for part in parts))

    def _along(self, readers: Readers, some: slice, start: int) -> _Sums:
        there, weight, error = readers.there[some], readers.weight[some], readers.error[some]
        at = np.where(there, readers.result[some] - start, 0)
        share = np.abs(weight.hi)
        magnitude = self.magnitude[..., at]
        finite = _Sums(
            (self.real[..., at] * weight).sum(-1), (magnitude * share).sum(-1), (self.size[..., at] * there).sum(-1),
            (self.moved[..., at] * (share + error) + magnitude * error).sum(-1),
        )  # fmt: skip
        if self.special is None:
            return finite
        any_special, any_reached = self.any_special[..., at] & there, self.any_reached[..., at] & there
        plain = any_special & ~readers.beside[some]
        zero = there & (weight.hi == 0)
        return _Sums(
            finite.real, finite.magnitude, finite.size, finite.moved,
            np.where(plain & ~zero, self.special[..., at] * np.sign(weight.hi), 0.0).sum(-1),
            plain.any(-1), any_reached.any(-1),
            ((self.hidden[..., at] & there | any_special & zero) & ~readers.beside[some]).any(-1),
            (self.doubted[..., at] & there | any_reached & (share <= error)).any(-1),
        )  # fmt: skip


def _joined(pieces: Sequence[_Sums]) -> _Sums:
    if len(pieces) == 1:
        return pieces[0]
    reals, *others = zip(*([getattr(piece, one.name) for one in fields(_Sums)] for piece in pieces), strict=True)
    return _Sums(
        concatenate(reals, axis=reals[0].ndim - 1),
        *(None if part[0] is None else np.concatenate(part, axis=-1) for part in others),
    )


def weighted_back(
    grad: np.ndarray, shape: Sequence[int], readings: Sequence[Reading], is_linear: bool = False,
    rules: tuple[str, str] = ("P123", "P126"),
) -> Golden:  # fmt: skip
    """Of a tensor of `shape`: each element's sum of the elements of grad whose means read it, times the products of
    their weights along the last dims.

    The budget is what the errors of the weights make of the sum, and the rounding of products and sums in any order.
    An infinity or NaN whose weight is 0 is open by the first of the rules, and one whose weight an error may make 0, or
    not 0, by the second; where the interpolation is_linear, NaN is as right as an infinity: a kernel may take the share
    of the element beside from the whole, inf - inf, and the element beside may be the element itself (P240).
    """
    fmt, rank = format_of(grad), len(readings)
    readers = [one.readers(size) for one, size in zip(readings, shape[-rank:], strict=True)]
    planes = grad.reshape(prod(shape[:-rank]), *grad.shape[-rank:])
    own = _Adjoint(fmt, planes, tuple(shape[-rank:]), readers, everywhere(np.isfinite, grad), is_linear, rules)
    parts = ((place, own.block(images, rows)) for place, images, rows in own.blocks())
    return assembled(parts, prod(shape)).rearranged(lambda part: part.reshape(shape))


@dataclass(frozen=True)
class _Adjoint:
    """Planes of gradients, the sizes of planes of results, and who reads the elements of these along each dim."""

    fmt: Format
    planes: np.ndarray
    sizes: tuple[int, ...]
    readers: Sequence[Readers]
    are_finite: bool
    is_linear: bool
    rules: tuple[str, str]

    def blocks(self) -> Iterator[tuple[slice, slice, slice]]:
        """(the places of some results in C order, which planes and which of their rows they are)."""
        whole, row = prod(self.sizes), prod(self.sizes[1:])
        for images in spans(len(self.planes), prod(self.planes.shape[1:]) + whole):
            several = images.stop - images.start != 1
            rows = [slice(0, self.sizes[0])] if several else spans(self.sizes[0], self._width_of_a_row())
            for some in rows:
                start = images.start * whole + some.start * row
                yield slice(start, start + (images.stop - images.start) * (some.stop - some.start) * row), images, some

    def _width_of_a_row(self) -> int:
        """How many elements a row of results needs at once."""
        each = -(-self.planes.shape[1] // self.sizes[0])
        return prod(self.sizes[1:]) + each * prod(self.planes.shape[2:])

    def block(self, images: slice, rows: slice) -> Golden:
        """The golden, flat, of some rows of some planes."""
        read = self.readers[0].reached(rows)
        part = self.planes[images, read].astype(np.float64)
        compute = compute_format(self.fmt)
        with np.errstate(all="ignore"):
            sums = self._sums(part, rows, read.start, self.are_finite)
            real = sums.real if self.are_finite else where(sums.special != 0, sums.special, sums.real)
            exactly = lambda index: self._exactly(part, rows, read.start, index)  # noqa: E731
            value, real = decide_exactly(self.fmt, real, exactly, lambda: self._scaled(part, rows, read.start, sums))
            golden = self._golden(compute, value, real, sums)
        return golden.rearranged(lambda part: part.reshape(-1))

    def _sums(self, part: np.ndarray, rows: slice, start: int, are_finite: bool) -> _Sums:
        """Along the last dim first."""
        sums = _Sums.of(part, are_finite)
        for axis in range(len(self.sizes), 1, -1):
            sums = sums.along(axis, self.readers[axis - 1], slice(0, self.sizes[axis - 1]), 0)
        return sums.along(1, self.readers[0], rows, start)

    def _scaled(self, part: np.ndarray, rows: slice, start: int, sums: _Sums) -> Scaled:
        """Of tiny elements: no product of theirs underflows over this power of two."""
        finite = part if self.are_finite else np.where(np.isfinite(part), part, 0.0)
        real = self._sums(np.ldexp(finite, SCALED_BY), rows, start, are_finite=True).real
        known = Scaled.of(real.hi, real.lo, real.radius / np.abs(real.hi) * RAISE, -SCALED_BY)
        return known.known_where(sums.size < 1)

    def _exactly(self, part: np.ndarray, rows: slice, start: int, index: tuple[int, ...]) -> mpq:
        """The exact sum of one result, of finite elements."""
        image, row, *others = index
        along = [self.readers[0].exactly(rows.start + row)]
        along += [readers.exactly(place) for readers, place in zip(self.readers[1:], others, strict=True)]
        total = mpq(0)
        for each in itertools.product(*along):
            (first, *places), weights = zip(*each, strict=True)
            x = float(part[(image, first - start, *places)])
            total += mpq(x) * prod(weights, start=mpq(1)) if isfinite(x) else 0
        return total

    def _golden(self, compute: Format, value: np.ndarray, real: Real, sums: _Sums) -> Golden:
        count, rank = prod(readers.result.shape[1] for readers in self.readers), len(self.readers)
        rounded = gamma(count + 2 * rank, compute.unit_roundoff) * (sums.magnitude + sums.moved)
        budget = np.where(np.isfinite(real.hi), sums.moved + rounded + count * (rank + 1) * underflow(compute), 0.0)
        golden = Golden(self.fmt, value, real, budget=budget, scale=sums.magnitude, zero_sign_free=True)
        if not self.are_finite:
            golden = golden.opened(sums.hidden, self.rules[0]).opened(sums.doubted, self.rules[1])
        largest = np.maximum(sums.size, sums.magnitude + sums.moved)
        golden = golden.opened((largest > compute.max_finite) & ~np.isnan(real.hi), "P35")
        if self.are_finite or not self.is_linear:
            return golden
        return nan_for_infinities(golden, np.isinf(sums.special))
