"""Interpolation between the elements around a place: weighted means, and what errors of coordinates make of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from math import floor, lcm, prod
from operator import add, mul

import numpy as np

from conform.interp.golden import Golden
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, compute_format
from conform.numerics.parts import parts_of, write
from conform.numerics.real import Real, joined, where
from conform.numerics.rounding_errors import gamma, underflow
from conform.numerics.scaled import Scaled

COORDINATE_ROUNDINGS = 4  # of the scale, of its reciprocal, of the product and of the difference
LARGE = 2**52  # more than the elements of a line, and than the places that reflection leaves open (P124)


@dataclass(frozen=True)
class Line:
    """Along one dim, for each of n places: which elements [t, n] it is a mean of, their weights, exactly too, and how
    far an implementation's coordinate may be off. Of linear interpolation there are two elements, and around [4, n]
    are those and their neighbours; of a cubic one, rounded [4, n] is how far each weight may be off by the rounding of
    its polynomial's steps, in units of roundoff."""

    at: np.ndarray
    weights: Real
    exact: Callable[[int], list[Fraction]]
    error: np.ndarray
    around: np.ndarray | None = None
    rounded: np.ndarray | None = None

    def __getitem__(self, index: np.ndarray) -> Line:
        around, rounded = (None if one is None else one[:, index] for one in (self.around, self.rounded))
        weights, exact = self.weights[:, index], lambda i: self.exact(int(index[i]))
        return Line(self.at[:, index], weights, exact, self.error[index], around, rounded)


def floored(place: Real, exact: Callable[[int], Fraction]) -> tuple[np.ndarray, Real]:
    """[n]: (the integer at or below each place, what the place is beyond it); exact: of a number, the place. Where the
    reals do not tell the integer, the place does."""
    with np.errstate(all="ignore"):
        low = np.floor(place.hi)
        low = low - (((place.hi - low) == 0) & (place.lo < 0))
        share = place - low
        ends = share.ends()
        known = (ends.hi[0] >= 0) & ((ends.hi[1] < 1) | ((ends.hi[1] == 1) & (ends.lo[1] < 0))) & (np.abs(low) < LARGE)
    low = np.where(known, low, 0.0).astype(np.int64)
    for i in np.flatnonzero(~known).tolist():
        number = exact(i)
        low[i] = min(max(floor(number), -LARGE), LARGE)
        write(share, i, parts_of(number - floor(number)))
    return low, share


def line_of(
    size: int, first: np.ndarray, share: Real, exact: Callable[[int], Fraction], scale: np.ndarray, compute: Format
) -> Line:
    """Between the elements at `first` and those behind, of 0 .. size - 1; share: of the way to these, exact: the
    share of a number, scale: what the rounding errors of the coordinates are relative to."""
    at = np.stack([first, first + 1])
    around = np.stack([first - 1, first, first + 1, first + 2])
    error = COORDINATE_ROUNDINGS * compute.unit_roundoff * scale
    clipped = [np.clip(each, 0, size - 1) for each in (at, around)]

    def weights(i: int) -> list[Fraction]:
        own = exact(i)
        return [1 - own, own]

    return Line(clipped[0], joined(np.stack, [1 - share, share]), weights, error, clipped[1])


def interpolated(
    fmt: Format,
    tensor: np.ndarray,
    batch: Sequence[np.ndarray],
    lines: Sequence[Line],
    are_finite: bool,
    there: Callable[[Sequence[np.ndarray]], np.ndarray] | None = None,
) -> Golden:
    """[m]: the sum of the elements around, each times its weights along every dim.

    The budget is the change that an error of the coordinates makes (the slopes of the cells they may lie in), and the
    rounding of weights, products and sums. An infinity or NaN with weight 0 is open (P123), and one whose weight that
    error may make 0, or not 0 (P126); of what is linear NaN is as right as an infinity (P123). are_finite: whether all
    of the tensor is. there: of coordinates, whether an element stands there; one that does not is 0.
    """
    compute, corners = compute_format(fmt), list(itertools.product(*(range(len(line.at)) for line in lines)))

    def read(places: Sequence[np.ndarray]) -> np.ndarray:
        sizes = tensor.shape[-len(places) :]
        inside = [np.minimum(np.maximum(place, 0), size - 1) for place, size in zip(places, sizes, strict=True)]
        found = tensor[(*batch, *inside)].astype(np.float64)
        return found if there is None else np.where(there(places), found, 0.0)

    elements = [read([line.at[tap] for line, tap in zip(lines, corner, strict=True)]) for corner in corners]
    weights = _products(lines)
    finite = elements if are_finite else [np.where(np.isfinite(x), x, 0.0) for x in elements]
    with np.errstate(all="ignore"):
        real = reduce(add, [Real.exact(x) * w for x, w in zip(finite, weights, strict=True)])
        special = np.zeros(real.shape) if are_finite else _specials(elements, weights)
        real = where(special != 0, special, real)

    def exactly(index: tuple[int]) -> Fraction:
        own = [line.exact(index[0]) for line in lines]
        return _mean([float(x[index]) for x in finite], corners, own)

    value, real = decide_exactly(fmt, real, exactly, lambda: _scaled_mean(finite, weights))
    sizes = list(map(np.abs, finite))
    magnitude = sum(size * np.abs(w.hi) for size, w in zip(sizes, weights, strict=True))
    roundings = len(corners) + 3 * len(lines)
    with np.errstate(all="ignore"):
        budget = gamma(roundings, compute.unit_roundoff) * magnitude
        budget = budget + compute.unit_roundoff * _of_weights(sizes, corners, lines)
        slopes = (_slope(read, lines, dim) if line.around is not None else _slope_of_cubic(elements)
                  for dim, line in enumerate(lines))  # fmt: skip
        budget = budget + sum(line.error * slope for line, slope in zip(lines, slopes, strict=True))
        budget = budget + roundings * underflow(compute)
    budget = np.where(np.isfinite(real.hi), budget, 0.0)
    golden = Golden(fmt, value, real, budget=budget, scale=magnitude, zero_sign_free=True)
    overflows = (sum(sizes) > compute.max_finite) & ~np.isnan(real.hi)
    if not are_finite:
        hidden = np.logical_or.reduce([~np.isfinite(x) & (w.hi == 0) for x, w in zip(elements, weights, strict=True)])
        golden = golden.opened(hidden, "P123").opened(_special_in_doubt(read, lines, compute), "P126")
    golden = golden.opened(overflows, "P35")
    is_linear = all(line.around is not None for line in lines)
    return nan_for_infinities(golden, np.isinf(special)) if is_linear else golden


def nan_for_infinities(golden: Golden, infinite: np.ndarray) -> Golden:
    """Where an infinity is interpolated, NaN is as right: a + t (b - a) is inf - inf."""
    if not infinite.any():
        return golden
    value = np.where(infinite, golden.format.storage.type(np.nan), golden.value)
    return golden.or_else(replace(golden, value=value, real=where(infinite, np.nan, golden.real)))


def _specials(elements: Sequence[np.ndarray], weights: Sequence[Real]) -> np.ndarray:
    """[m]: the sums of what is not finite, times the signs of the weights."""
    pairs = zip(elements, weights, strict=True)
    return sum(np.where(np.isfinite(x), 0.0, x * np.sign(w.hi)) for x, w in pairs)


def _products(lines: Sequence[Line]) -> list[Real]:
    """By corner the product of its weights along every dim."""
    first, *others = ([line.weights[tap] for tap in range(len(line.at))] for line in lines)
    return reduce(lambda made, more: [one * other for one in made for other in more], others, first)


Place = tuple[np.ndarray, np.ndarray, np.ndarray]  # [n]: an element, whether its weight is surely not 0, if reached


def _special_in_doubt(
    read: Callable[[Sequence[np.ndarray]], np.ndarray], lines: Sequence[Line], compute: Format
) -> np.ndarray:
    """[m]: whether an infinity or NaN has a weight that the error of the coordinates makes 0 or not 0, beside no NaN
    that surely counts."""
    in_doubt, is_nan = np.False_, np.False_
    for corner in itertools.product(*map(partial(_reached, compute), lines)):
        at, counts, reached = zip(*corner, strict=True)
        sure, is_reached = np.logical_and.reduce(counts), np.logical_and.reduce(reached)
        if not is_reached.any():
            continue
        element = read(at)
        in_doubt = in_doubt | ~np.isfinite(element) & ~sure & is_reached
        is_nan = is_nan | np.isnan(element) & sure
    return in_doubt & ~is_nan


def _reached(compute: Format, line: Line) -> list[Place]:
    """What the line may be a mean of. A coordinate that is near an element may lie on it, and on its other side; a
    cubic weight has a slope of 3/2 at most, since those of all four add up to 0 and their magnitudes to less than 3."""
    weights, error = line.weights.hi, line.error
    if line.around is not None:
        near = list(np.abs(weights) <= error)
        last, never, always = len(weights) - 1, np.zeros_like(near[0]), np.ones_like(near[0])
        return [(line.around[0], never, near[last]), (line.around[1], ~near[0], always),
                (line.around[2], ~near[last], always), (line.around[3], never, near[0])]  # fmt: skip
    rounded = 0.0 if line.rounded is None else line.rounded * compute.unit_roundoff
    near = np.abs(weights) <= 1.5 * error + rounded
    on_second, on_third = near[2] & (weights[1] > 0.5), near[1] & (weights[2] > 0.5)
    never, always = np.zeros_like(on_second), np.ones_like(on_second)
    own = [(at, ~one, always) for at, one in zip(line.at, near, strict=True)]
    return [(line.at[0] - 1, never, on_second), *own, (line.at[3] + 1, never, on_third)]


def _of_weights(
    sizes: Sequence[np.ndarray], corners: Sequence[tuple[int, ...]], lines: Sequence[Line]
) -> np.ndarray:
    """[m], in units of roundoff: what the errors of the weights make of elements of these magnitudes. Of linear
    interpolation one weight along each dim is a difference."""
    if any(line.rounded is None for line in lines):
        return len(lines) * np.maximum.reduce(sizes)
    total = np.zeros_like(sizes[0])
    for dim, line in enumerate(lines):
        others = [np.abs(each.weights.hi) for each in lines]
        others[dim] = line.rounded
        for size, corner in zip(sizes, corners, strict=True):
            total += size * reduce(mul, [each[tap] for each, tap in zip(others, corner, strict=True)])
    return total


def _scaled_mean(elements: Sequence[np.ndarray], weights: Sequence[Real]) -> Scaled:
    """[m]: the sums of finite elements times their weights, with the largest element's exponent e held apart: times
    2^-e, which is exact, the sum keeps the radius that Real's arithmetic gives it, and that divided by |hi|, raised by
    a quarter for the rounding, is the relative error. Nothing is known where an element loses digits by 2^-e."""
    exponent = np.frexp(np.maximum.reduce(list(map(np.abs, elements))))[1]
    with np.errstate(all="ignore"):
        small = [np.ldexp(x, -exponent) for x in elements]
        kept = np.logical_and.reduce([np.ldexp(x, exponent) == whole for x, whole in zip(small, elements, strict=True)])
        total = reduce(add, [Real.exact(x) * w for x, w in zip(small, weights, strict=True)])
        return Scaled.of(total.hi, total.lo, 1.25 * total.radius / np.abs(total.hi), exponent).known_where(kept)


def _mean(elements: Sequence[float], corners: Sequence[tuple[int, ...]], weights: Sequence[list[Fraction]]) -> Fraction:
    """The exact sum of finite elements, each times the product of the weights at its corner: integers over one
    denominator, since a fraction would be reduced after every step."""
    bottoms = [lcm(*(weight.denominator for weight in line)) for line in weights]
    tops = [[weight.numerator * (bottom // weight.denominator) for weight in line]
            for line, bottom in zip(weights, bottoms, strict=True)]  # fmt: skip
    ratios = [x.as_integer_ratio() for x in elements]
    unit = max(bottom for _, bottom in ratios)  # powers of two
    total = 0
    for (top, bottom), corner in zip(ratios, corners, strict=True):
        total += top * (unit // bottom) * prod(line[tap] for line, tap in zip(tops, corner, strict=True))
    return Fraction(total, unit * prod(bottoms))


def _slope(read: Callable[[Sequence[np.ndarray]], np.ndarray], lines: Sequence[Line], dim: int) -> np.ndarray:
    """[m]: how steep the interpolation is along a dim at most, in the cells that the coordinate may lie in."""
    own, steepest = lines[dim], 0.0
    low = own.weights.hi[1] <= own.error
    high = own.weights.hi[0] <= own.error
    for pair, is_reached in ((0, low), (1, np.ones_like(low)), (2, high)):
        if not is_reached.any():
            continue
        for corner in itertools.product((0, 1), repeat=len(lines)):
            if corner[dim]:
                continue
            places = [line.at[tap] for line, tap in zip(lines, corner, strict=True)]
            ends = []
            for end in (pair, pair + 1):
                places[dim] = own.around[end]
                ends.append(read(places))
            with np.errstate(all="ignore"):
                change = np.abs(ends[1] - ends[0])
            steepest = np.maximum(steepest, np.where(is_reached & np.isfinite(change), change, 0.0))
    return steepest


def _slope_of_cubic(elements: Sequence[np.ndarray]) -> np.ndarray:
    """[m]: as `_slope`; the derivatives of the four weights add up to 0, and their magnitudes to less than 3, and the
    magnitudes of the weights along the other dim to less than 4/3."""
    finite = np.isfinite(elements)
    largest, least = np.where(finite, elements, -np.inf).max(0), np.where(finite, elements, np.inf).min(0)
    with np.errstate(all="ignore"):
        return np.where(finite.any(0), 2 * (largest - least), 0.0)


def cubic_weights(t: Fraction | Real) -> list:
    """Of the elements at -1, 0, 1 and 2 for a place t between the two in the middle, with A = -3/4 (Keys, 1981)."""

    def inner(x: Fraction | Real) -> Fraction | Real:
        return ((x * 5 - 9) * x * x + 4) / 4

    def outer(x: Fraction | Real) -> Fraction | Real:
        return (((x * -3 + 15) * x - 24) * x + 12) / 4

    return [outer(t + 1), inner(t), inner(1 - t), outer(2 - t)]


def cubic_roundings(t: np.ndarray) -> np.ndarray:
    """[4, n], in units of roundoff: the running error of each of `cubic_weights` by Horner's rule, and of the distance
    that it is given (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 5.1)."""
    inner, outer = (1.25, -2.25, 0.0, 1.0), (-0.75, 3.75, -6.0, 3.0)
    at = ((outer, t + 1), (inner, t), (inner, 1 - t), (outer, 2 - t))
    return np.stack([_of_horner(*each) for each in at])


def _of_horner(coefficients: Sequence[float], x: np.ndarray) -> np.ndarray:
    value, error, slope = np.full_like(x, coefficients[0]), np.zeros_like(x), np.zeros_like(x)
    for coefficient in coefficients[1:]:
        slope = slope * x + value
        product = value * x
        value = product + coefficient
        error = error * x + np.abs(product) + (np.abs(value) if coefficient else 0.0)
    return error + np.abs(slope * x)
