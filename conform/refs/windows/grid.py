"""torch.nn.functional.grid_sample: elements at places that a grid names, by exact rational weights."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor, isfinite, prod

from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, strides_of
from conform.refs.references import reference
from conform.refs.windows.interpolation import HALF, cubic_weights
from conform.refs.windows.sliding import planes
from conform.refs.windows.sums import check_floats, weighted_sum

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)
Tap = tuple[Fraction, int | None]  # weight; index, None outside (zeros)


def _place(coordinate: float, size: int, align_corners: bool) -> Fraction:
    """Of -1 .. 1 to the elements' indices: the ends are the corner elements' centres, or their outer edges."""
    x = Fraction(coordinate)
    return (x + 1) / 2 * (size - 1) if align_corners else ((x + 1) * size - 1) / 2


def _reflected(place: Fraction, size: int, align_corners: bool) -> Fraction:
    """Reflected at the ends (0 and size - 1, or half an element farther out) until it lies between them."""
    low = Fraction(0) if align_corners else -HALF
    span = size - 1 if align_corners else size
    if span == 0:
        return Fraction(0)
    beyond = (place - low) % (2 * span)
    return low + min(beyond, 2 * span - beyond)


def _clipped(place: Fraction, size: int) -> Fraction:
    return min(max(place, Fraction(0)), Fraction(size - 1))


def _padded(place: Fraction, size: int, padding_mode: int, align_corners: bool) -> Fraction:
    """border: the nearest place inside; reflection: reflected, then so; zeros: itself."""
    if padding_mode == ZEROS:
        return place
    return _clipped(_reflected(place, size, align_corners) if padding_mode == REFLECTION else place, size)


def _inside(index: int, size: int) -> int | None:
    return index if 0 <= index < size else None


OVERFLOW = {24: 2**128, 53: 2**1024}  # by the precision of what places are computed in: float32, float64


def _taps(
    coordinate: float, size: int, mode: int, padding_mode: int, align_corners: bool, precision: int
) -> list[Tap] | None:
    """The elements and weights along one dim; None where they are open. A NaN coordinate counts as -1."""
    if coordinate != coordinate:
        coordinate = -1.0
    if padding_mode == REFLECTION and (abs(coordinate) + 1) * size >= 2.0 ** (precision - 5):
        return None  # P124: rounding alone moves the place by an element
    if not isfinite(coordinate) or (abs(Fraction(coordinate)) + 1) * size >= OVERFLOW[precision]:
        if padding_mode != BORDER or mode == BICUBIC:
            return None
        coordinate = 3.0 if coordinate > 0 else -3.0  # beyond the border, as an infinity is
    place = _place(coordinate, size, align_corners)
    if mode == BICUBIC:
        return _cubic_taps(place, size, padding_mode, align_corners)
    place = _padded(place, size, padding_mode, align_corners)
    low = floor(place)
    share = place - low
    if mode == BILINEAR:
        behind = low + 1 if padding_mode == ZEROS else min(low + 1, size - 1)  # of weight 0 where it is the border's
        return [(1 - share, _inside(low, size)), (share, _inside(behind, size))]
    nearest = [low, low + 1] if share == HALF else [low + (share > HALF)]
    return [(Fraction(1), _inside(index, size)) for index in nearest]


def _cubic_taps(place: Fraction, size: int, padding_mode: int, align_corners: bool) -> list[Tap]:
    """Four neighbours, of which each is padded by itself; the cubic's parameter is -3/4."""
    low = floor(place)
    indices = [_padded(Fraction(low + k), size, padding_mode, align_corners) for k in (-1, 0, 1, 2)]
    weights = cubic_weights(place - low, Fraction(-3, 4))
    return [(weight, _inside(floor(index), size)) for weight, index in zip(weights, indices, strict=True)]


def _sampled(
    dtype: str, plane: list[float], strides: tuple[int, ...], taps: list[list[Tap] | None], mode: int
) -> object:
    if any(each is None for each in taps):
        return UNSPECIFIED
    terms = []
    for chosen in product(*taps):
        if any(index is None for _, index in chosen):
            continue
        element = plane[sum(index * stride for (_, index), stride in zip(chosen, strides, strict=True))]
        terms.append((prod((weight for weight, _ in chosen), start=Fraction(1)), element))
    if mode != NEAREST:
        return weighted_sum(dtype, terms)
    # Which of two places as near is taken, one of them in the image, the documentation does not say.
    is_tie = any(len(each) > 1 for each in taps)
    return 0.0 if not terms else UNSPECIFIED if is_tie else terms[0][1]


def _grid_sampler(
    spatial: int, input: RefTensor, grid: RefTensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> RefTensor:
    op = f"grid_sampler_{spatial}d"
    dtype = check_floats(op, input, grid)
    if len(input.shape) != spatial + 2 or len(grid.shape) != spatial + 2 or 0 in input.shape[2:]:
        raise ValueError(f"{op} of input {input.shape} and grid {grid.shape}")
    if grid.shape[0] != input.shape[0] or grid.shape[-1] != spatial:
        raise ValueError(f"grid is (N, *, {spatial}) beside input (N, ...), found {grid.shape} beside {input.shape}")
    modes = (BILINEAR, NEAREST, BICUBIC) if spatial == 2 else (BILINEAR, NEAREST)
    if interpolation_mode not in modes or padding_mode not in (ZEROS, BORDER, REFLECTION):
        raise ValueError(f"{op} has no interpolation mode {interpolation_mode} or padding mode {padding_mode}")
    (batch, channels), sizes, outputs = input.shape[:2], input.shape[2:], grid.shape[1:-1]
    precision = 53 if dtype == "float64" else 24
    own, strides, data = planes(input, prod(sizes)), strides_of(sizes), []
    for n in range(batch):
        start = n * prod(outputs) * spatial
        taps = []
        for o in range(prod(outputs)):
            coordinates = grid.data[start + o * spatial : start + (o + 1) * spatial][::-1]  # the last dim's comes first
            taps.append([
                _taps(x, size, interpolation_mode, padding_mode, align_corners, precision)
                for x, size in zip(coordinates, sizes, strict=True)
            ])  # fmt: skip
        for c in range(channels):
            data += [_sampled(dtype, own[n * channels + c], strides, each, interpolation_mode) for each in taps]
    return RefTensor(dtype, (batch, channels, *outputs), data)


@reference("aten::grid_sampler_2d")
def grid_sampler_2d(
    input: RefTensor, grid: RefTensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> RefTensor:
    """(N, C, H, W) at the places grid[n, i, j] = (x, y), -1 to 1 across the width and the height.

    interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic; padding_mode of places outside: 0 zeros, 1 the border's, 2 the
    place reflected by the border. An infinity or NaN with weight 0, ties of nearest, and infinite places (but the
    border's) are open; a NaN place counts as -1.
    """
    return _grid_sampler(2, input, grid, interpolation_mode, padding_mode, align_corners)


@reference("aten::grid_sampler_3d")
def grid_sampler_3d(
    input: RefTensor, grid: RefTensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> RefTensor:
    """grid_sampler_2d with three dims, grid (x, y, z), without bicubic."""
    return _grid_sampler(3, input, grid, interpolation_mode, padding_mode, align_corners)
