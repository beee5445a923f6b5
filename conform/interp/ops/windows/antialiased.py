"""Resizing of images by a filter that widens with the step, so that shrinking skips no element."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isfinite, prod

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import spans
from conform.interp.golden import Golden
from conform.interp.ops.windows.cells import COORDINATE_ROUNDINGS
from conform.interp.ops.windows.interpolation import CENTRE, resized, sizes_of
from conform.interp.semantics import semantics
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, compute_format, format_of
from conform.numerics.parts import parts_of, write
from conform.numerics.real import RAISE, Real, concatenate, where
from conform.numerics.rounding_errors import gamma, underflow
from conform.numerics.scaled import Scaled

SCALED_BY = 600  # the power of two over which tiny elements are filtered
Number = Fraction | Real


@dataclass(frozen=True)
class Filter:
    """A continuous function of the distance, by its parts from 0 to 1, from 1 to 2, ..., and 0 beyond them; `slope`
    bounds its derivative, and `roundings`, in units of the roundoff, what an implementation loses that evaluates it."""

    parts: tuple[Callable[[Number], Number], ...]
    slope: float
    roundings: int

    @property
    def reach(self) -> int:
        return len(self.parts)

    def weight(self, distance: Fraction) -> Fraction:
        return self.parts[floor(distance)](distance) if distance < self.reach else Fraction(0)

    def weights(self, distances: Real) -> Real:
        """Of distances next to an integer the part on either side will do: they meet there."""
        result = Real.exact(np.zeros(distances.shape))
        for end, part in reversed(list(enumerate(self.parts, 1))):
            result = where(distances.less(float(end))[0], part(distances), result)
        return result


LINEAR = Filter((lambda d: 1 - d,), slope=1.0, roundings=2)
# Keys' convolution (1981) with A = -1/2. Its derivative is largest at 5/9, 25/18; each step of Horner's rule rounds
# numbers of at most 12, and a division by 2 follows.
CUBIC = Filter(
    (lambda d: ((d * 3 - 5) * d * d + 2) / 2, lambda d: (((-d + 5) * d - 8) * d + 4) / 2), slope=25 / 18, roundings=24
)


def _real(number: Fraction) -> Real:
    real = Real.exact(np.zeros(1))
    write(real, 0, parts_of(number))
    return real[0]


def _distances(at: np.ndarray, centres: Sequence[Fraction]) -> Real:
    """[n, t]: from the middle of each element to the centre of its window."""
    own = Real.exact(np.zeros(len(centres)))
    for i, centre in enumerate(centres):
        write(own, i, parts_of(centre - CENTRE))
    return abs(own.reshape((-1, 1)) - at.astype(np.float64))


class FilteredWindows:
    """Of every result along one dim: which elements [n, t] it is a mean of, and where there are fewer than t; their
    weights, how far those of an implementation may be off together [n], and which elements it may leave out, or
    multiply with 0. The ends of the filter's support belong to it."""

    def __init__(self, size: int, count: int, step: Fraction, kernel: Filter, compute: Format) -> None:
        self.size, self.count, self.step, self.kernel = size, count, step, kernel
        self._known: dict[int, list[mpq]] = {}
        self.wide = max(step, Fraction(1))
        self.support = kernel.reach * self.wide
        centres = [(place + CENTRE) * step for place in range(count)]
        reach = np.array([float(c + self.support + 1) for c in centres])
        self.off = COORDINATE_ROUNDINGS * compute.unit_roundoff * reach  # how far a coordinate may be
        self.first = np.array([max(ceil(c - self.support - CENTRE), 0) for c in centres], np.int64)
        end = np.array([min(floor(c + self.support - CENTRE) + 1, size) for c in centres], np.int64)
        taps = np.arange((end - self.first).max(initial=1))
        at = self.first[:, None] + taps
        self.there = at < end[:, None]
        self.at = np.minimum(at, size - 1)
        distances = _distances(self.at, centres)
        values = where(self.there, kernel.weights(distances / _real(self.wide)), 0.0)
        total = values.sum(-1, keepdims=True)
        self.weights = values / total
        each = kernel.slope * self.off / float(self.wide) + kernel.roundings * compute.unit_roundoff
        self.error = self.there.sum(-1) * each / total.hi[:, 0]
        ends = np.abs(distances.hi - float(self.support)) <= 2 * self.off[:, None]
        self.doubtful = ends | (np.abs(values.hi) <= each[:, None])

    def exactly(self, place: int) -> list[mpq]:
        """The weights of the elements from `first` on. Results of one row and of one column have the same ones."""
        if place not in self._known:
            self._known[place] = self._exactly(place)
        return self._known[place]

    def _exactly(self, place: int) -> list[mpq]:
        centre = (place + CENTRE) * self.step
        own = self.at[place][self.there[place]].tolist()
        values = [self.kernel.weight(abs(at + CENTRE - centre) / self.wide) for at in own]
        total = sum(values)
        return [mpq(value / total) for value in values]

    def reached(self, some: slice) -> slice:
        """The elements that the results `some` are means of."""
        return slice(int(self.at[some].min(initial=0)), int(self.at[some].max(initial=-1)) + 1)


@dataclass(frozen=True)
class _Means:
    """Weighted means [rows, n], before the last filter or behind it: of the finite elements; of the infinities and NaNs
    (0 where there are none); whether there are some, and some whose weight may be 0; the sum of the magnitudes; the
    largest and the least element."""

    real: Real
    special: np.ndarray
    any_special: np.ndarray
    hidden: np.ndarray
    magnitude: np.ndarray
    largest: np.ndarray
    least: np.ndarray

    @staticmethod
    def of(elements: np.ndarray) -> _Means:
        """The elements themselves."""
        finite = np.isfinite(elements)
        x = np.where(finite, elements, 0.0)
        return _Means(
            real=Real.exact(x), special=np.where(finite, 0.0, elements), any_special=~finite,
            hidden=np.zeros(x.shape, bool), magnitude=np.abs(x), largest=np.where(finite, x, -np.inf),
            least=np.where(finite, x, np.inf),
        )  # fmt: skip

    def along(self, windows: FilteredWindows, some: slice, start: int) -> _Means:
        """The means over the last dim, in which the element `start` is the first; of the results `some`."""
        width = self.special.shape[0] * windows.at.shape[1]
        count = some.stop - some.start
        pieces = [self._filtered(windows, slice(some.start + one.start, some.start + one.stop), start)
                  for one in spans(count, width)]  # fmt: skip
        real, *arrays = zip(*([getattr(piece, name) for name in _Means.__dataclass_fields__] for piece in pieces),
                            strict=True)  # fmt: skip
        return _Means(concatenate(real, axis=1), *(np.concatenate(each, axis=1) for each in arrays))

    def _filtered(self, windows: FilteredWindows, some: slice, start: int) -> _Means:
        at, there = windows.at[some] - start, windows.there[some]
        weights, doubtful = windows.weights[some], windows.doubtful[some]
        special, any_special = self.special[:, at], self.any_special[:, at] & there
        return _Means(
            real=(self.real[:, at] * weights).sum(-1),
            special=np.where(any_special, special * np.sign(weights.hi), 0.0).sum(-1),
            any_special=any_special.any(-1),
            hidden=(self.hidden[:, at] & there | any_special & doubtful).any(-1),
            magnitude=(self.magnitude[:, at] * np.abs(weights.hi)).sum(-1),
            largest=np.where(there, self.largest[:, at], -np.inf).max(-1),
            least=np.where(there, self.least[:, at], np.inf).min(-1),
        )

    def transposed(self, rows: int) -> _Means:
        """[planes * rows, n] as [planes * n, rows]."""

        def move(array: np.ndarray) -> np.ndarray:
            planes, columns = len(array) // rows, array.shape[-1]
            return np.swapaxes(array.reshape(planes, rows, columns), 1, 2).reshape(planes * columns, rows)

        arrays = (move(getattr(self, name)) for name in list(_Means.__dataclass_fields__)[1:])
        return _Means(self.real.map_parts(move), *arrays)


def _filtered(
    kernel: Filter, self: np.ndarray, sizes: Sequence[int], steps: Sequence[Fraction], align_corners: bool
) -> Golden:
    """Along both of the last dims. With align_corners, which is defined for no filter, all is open (P145)."""
    fmt, shape = format_of(self), (*self.shape[:-2], *sizes)
    planes = self.reshape(-1, *self.shape[-2:])
    along = [FilteredWindows(*each, kernel, compute_format(fmt))
             for each in zip(self.shape[-2:], sizes, steps, strict=True)]  # fmt: skip
    parts = (
        (place, _block(fmt, planes[images], along, rows).opened(np.array(align_corners), "P145"))
        for place, images, rows in _blocks(len(planes), self.shape[-2:], sizes)
    )
    return assembled(parts, prod(shape)).rearranged(lambda part: part.reshape(shape))


def _blocks(planes: int, image: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[slice, slice, slice]]:
    """(the places of some results in C order, which images and which of their rows they are)."""
    height, width = sizes
    for images in spans(planes, prod(image) + height * width):
        several = images.stop - images.start != 1
        for rows in [slice(0, height)] if several else spans(height, image[1] + width):
            start = images.start * height * width
            stop = images.stop * height * width if several else start + rows.stop * width
            yield slice(start + rows.start * width, stop), images, rows


def _block(fmt: Format, images: np.ndarray, along: Sequence[FilteredWindows], rows: slice) -> Golden:
    """The golden, flat, of some rows of results; along: of the height and of the width."""
    down, across = along
    read = down.reached(rows)
    part = images[:, read].astype(np.float64)
    columns = slice(0, across.count)

    def means_of(part: np.ndarray) -> _Means:
        means = _Means.of(part.reshape(-1, part.shape[-1])).along(across, columns, 0)
        return means.transposed(part.shape[1]).along(down, rows, read.start).transposed(across.count)

    def scaled() -> Scaled:
        """Of tiny elements: no product of theirs underflows over this power of two."""
        real = means_of(np.ldexp(part, SCALED_BY)).real
        known = Scaled.of(real.hi, real.lo, real.radius / np.abs(real.hi) * RAISE, -SCALED_BY)
        return known.known_where(means.magnitude < 1)

    def exactly(index: tuple[int, int]) -> mpq:
        image, row = divmod(index[0], rows.stop - rows.start)
        return _mean(images[image], (down, rows.start + row), (across, index[1]))

    with np.errstate(all="ignore"):
        means = means_of(part)
        real = where(means.special != 0, means.special, means.real)
        value, real = decide_exactly(fmt, real, exactly, scaled)
    golden = Golden(fmt, value, real, zero_sign_free=True, scale=means.magnitude,
                    budget=_budget(compute_format(fmt), means, real, [down.error[rows][:, None], across.error], along))
    golden = golden.opened(means.hidden, "P145").opened(_may_overflow(compute_format(fmt), means, along), "P35")
    return golden.rearranged(lambda part: part.reshape(-1))


def _may_overflow(compute: Format, means: _Means, along: Sequence[FilteredWindows]) -> np.ndarray:
    """Where the sum along one dim may leave the range, in either order of the dims, before it is divided by that of the
    weights."""
    with np.errstate(all="ignore"):
        largest = np.maximum(np.abs(means.largest), np.abs(means.least))
        most = largest * max(windows.at.shape[1] for windows in along)
        return np.isfinite(largest) & (most > compute.max_finite) & ~np.isnan(means.special)


def _mean(image: np.ndarray, *result: tuple[FilteredWindows, int]) -> mpq:
    """The exact mean of the finite elements of one result, of which there is the place along each dim."""
    (top, down), (left, across) = ((windows.first[place], windows.exactly(place)) for windows, place in result)
    total = mpq(0)
    for at, weight in enumerate(down, top):
        pairs = zip(image[at, left : left + len(across)].astype(np.float64).tolist(), across, strict=True)
        total += weight * sum((mpq(x) * own for x, own in pairs if isfinite(x)), mpq(0))
    return total


def _budget(
    compute: Format, means: _Means, real: Real, errors: Sequence[np.ndarray], along: Sequence[FilteredWindows]
) -> np.ndarray:
    """What the weights' errors make of the range of the elements (the weights still add up to 1, and elsewhere have
    magnitudes of less than 3/2 together), and the rounding of the weights' sum, of quotients, products and sums."""
    taps = [windows.at.shape[1] for windows in along]
    images = means.magnitude.shape[0] // errors[0].shape[0]
    with np.errstate(all="ignore"):
        spread = np.maximum(means.largest - means.least, 0.0)
        moved = 2 * (np.tile(errors[0], (images, 1)) + errors[1]) * spread
        rounded = gamma(2 * sum(taps) + 4, compute.unit_roundoff) * means.magnitude
        budget = moved + rounded + (sum(taps) + 2) * underflow(compute)
    return np.where(np.isfinite(real.hi), budget, 0.0)


def _register(name: str, kernel: Filter) -> None:
    @semantics(f"aten::_upsample_{name}2d_aa", elements=resized("self", 2))
    def upsample(
        self: np.ndarray,
        output_size: Sequence[int],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> Golden:
        """The mean of the elements around the centre (i + 1/2) / scale of each place along the last two dims, weighted
        by a filter of the distance, which is divided by 1 / scale where that is more than 1: 1 - d, or Keys' cubic with
        A = -1/2; a scale says what an element stands for, else output size / input size does (P123, P145)"""
        sizes = sizes_of(self.shape, output_size, [scales_h, scales_w], 2)
        return _filtered(kernel, self, *sizes, align_corners)

    @semantics(f"aten::_upsample_{name}2d_aa.vec", elements=resized("input", 2))
    def upsample_by_sizes(
        input: np.ndarray, output_size: Sequence[int] | None, align_corners: bool, scale_factors: Sequence[float] | None
    ) -> Golden:
        """As the overload without .vec; sizes as those of upsample_nearest2d.vec"""
        return _filtered(kernel, input, *sizes_of(input.shape, output_size, scale_factors, 2), align_corners)


_register("bilinear", LINEAR)
_register("bicubic", CUBIC)
