"""Probes: operands on which what a bound over many terms hides is plain to see. Four value classes.

`exact`, of the ops that accumulate: small integers, none 0. Every sum of them, in any order, is exact in the compute
type (`conform/numerics/grid.py`), so that one term dropped, doubled or taken from elsewhere shows at any length.
`one_hot`, of sums of products: one 1 in every line of a factor, or a 1 and a -1, beside numbers that fill their
significands. Each result is one of those, or the difference of two: factors that are cut show, and misplaced ones.
`structured`, where deviations, exponentials or weights are added up: deviations as small as eps, whose mean is near 0;
equal numbers, whose exponentials are 1; keys of which few count, with weights that need all their digits.
`shifted`, where a mean is subtracted: numbers drawn about one that is so large that their squares keep few digits of
them. Its rounding errors are independent: what an addition cuts off is random, and as often positive as negative.

Patterns follow the sum of an element's indices, so that every line along every dim shows them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np

from conform.interp.traits import Traits
from conform.numerics.draws import Stream
from conform.numerics.formats import Format, compute_format, format_of

# Integers: small, so that the results that a term changes have room for them; larger in float16, whose own sums of
# small ones would be exact, too. 65,537 products of them add up to less than 2^24.
_LARGEST = {"float16": 12}
_LARGEST_OF_OTHERS = 3
_FAR = -2048.0  # of a key: e^(-2048 / sqrt(64)) is 0 in every format but float64, and e^-256 in that
_NEAR = (0.0, -1.25, -0.6875)  # of the first key, the middle one and the last


KINDS = ("exact", "one_hot", "structured", "shifted")


def kinds_of(traits: Traits, has_eps: bool) -> tuple[str, ...]:
    """The classes of probes that an op has; `has_eps`: one of its arguments is added to a variance or a mean square."""
    is_sum = traits.accumulates is not None and not traits.centred
    found = {"exact": is_sum, "one_hot": traits.products is not None}
    found["structured"] = traits.centred or traits.attends is not None or (is_sum and has_eps)
    found["shifted"] = traits.centred and not traits.exponentials
    return tuple(name for name, has in found.items() if has)


Tensors = Mapping[int, np.ndarray]  # by number; the float tensors of a call that may be chosen


def integers(every: Tensors, stream: Stream) -> dict[int, np.ndarray]:
    """New values for all of them: integers from 1 to 3 of either sign, of float16 to 12."""
    return {k: _as(tensor, _signs(tensor, stream) * _sizes(tensor, stream)) for k, tensor in every.items()}


def _sizes(tensor: np.ndarray, stream: Stream) -> np.ndarray:
    return 1 + _below(_LARGEST.get(format_of(tensor.dtype).name, _LARGEST_OF_OTHERS), tensor, stream)


def one_hot(
    every: Tensors, hot: Collection[int], filled: Collection[int], terms: int | None, stream: Stream
) -> dict[int, np.ndarray]:
    """New values: for the factors `hot` a 1 in every line along the dim `terms`, and in every other line a -1 half a
    line further, or nothing but 1 without such a dim; for the factors `filled` numbers from 1 to 2 with all their
    digits; 0 for what is added."""
    new = {k: np.zeros_like(tensor) for k, tensor in every.items()}
    new |= {k: _as(every[k], _hot(every[k], terms)) for k in hot & every.keys()}
    return new | {k: _as(every[k], _significands(every[k], stream)) for k in filled & every.keys()}


def _hot(tensor: np.ndarray, terms: int | None) -> np.ndarray:
    if terms is None or not -tensor.ndim <= terms < tensor.ndim:
        return np.ones(tensor.shape)
    place, count = np.indices(tensor.shape), tensor.shape[terms]
    line = place.sum(axis=0) - place[terms]
    minus = ((place[terms] + line + count // 2) % count == 0) & (line % 2 == 1) & (count > 1)
    return np.where((place[terms] + line) % count == 0, 1.0, np.where(minus, -1.0, 0.0))


def _significands(tensor: np.ndarray, stream: Stream) -> np.ndarray:
    """Odd multiples of the spacing of the format's numbers from 1 to 2."""
    precision = format_of(tensor.dtype).precision
    return 1.0 + (2 * _below(2 ** (precision - 2), tensor, stream) + 1) * 2.0 ** (1 - precision)


def deviations(every: Tensors, summands: Collection[int], eps: float, stream: Stream) -> dict[int, np.ndarray]:
    """New values for the summands: d and -d with d^2 next to eps; 1 and -1 where there is no such number."""
    return {k: _as(every[k], _signs(every[k], stream) * _root_of(eps, format_of(every[k].dtype))) for k in summands}


def _root_of(eps: float, fmt: Format) -> float:
    """The power of two next to the square root of eps, if that is positive, finite and far from the format's ends."""
    root = 2.0 ** round(math.log2(eps) / 2) if 0 < eps < math.inf else 1.0
    return root if fmt.min_normal <= root <= math.sqrt(fmt.max_finite) / 2 else 1.0


def shifted(every: Tensors, summands: Collection[int], stream: Stream) -> dict[int, np.ndarray]:
    """New values for the summands: the normal distribution about a power of two."""
    return {k: _as(every[k], stream.normal(every[k].shape) + _shift(format_of(every[k].dtype))) for k in summands}


def _shift(fmt: Format) -> float:
    """Its square takes all digits of the compute type, and its spacing is at most half a standard deviation."""
    return 2.0 ** min(compute_format(fmt).precision // 2, fmt.precision - 2)


def level(every: Tensors, summands: Collection[int]) -> dict[int, np.ndarray]:
    """New values for the summands: nothing but 1."""
    return {k: np.ones_like(every[k]) for k in summands}


def attended(every: Tensors, roles: tuple[int, ...], stream: Stream) -> dict[int, np.ndarray]:
    """New values for the tensors of these numbers: three keys count for queries of 1, one alone for queries of 64."""
    query, key, value = (every[k] for k in roles)
    first = np.zeros(query.shape)
    first[..., 0] = np.where(np.arange(first.shape[-2]) % 2, 64.0, 1.0)
    keys = np.zeros(key.shape)
    keys[..., 0] = _FAR
    for place, score in zip((0, keys.shape[-2] // 2, keys.shape[-2] - 1), _NEAR, strict=True):
        keys[..., place, 0] = score
    values = _signs(value, stream) * _significands(value, stream)
    filled = (_as(query, first), _as(key, keys), _as(value, values))
    return dict(zip(roles, filled, strict=True))


def _signs(tensor: np.ndarray, stream: Stream) -> np.ndarray:
    return 2.0 * _below(2, tensor, stream) - 1.0


def _below(count: int, tensor: np.ndarray, stream: Stream) -> np.ndarray:
    return stream.integers(0, count - 1, tensor.shape)


def _as(tensor: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.asarray(values).astype(tensor.dtype)
