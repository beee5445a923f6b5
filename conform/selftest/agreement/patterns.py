"""Calls that no spec can know: numbers in the middle between two of a format, and the 8-bit floats, which only casts
take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from conform.domains.engine.dtypes import ALL, COMPLEX, FLOATS
from conform.numerics.formats import FORMATS
from conform.selftest.agreement.calls import Call
from conform.selftest.agreement.draw import Draw

SMALL_FLOATS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
TARGETS = (*ALL, *SMALL_FLOATS)  # of casts; specs leave complex numbers and the 8-bit floats out, the kit does not


def patterns(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    """The calls of the op in one round; of most ops none."""
    return _PATTERNS[op](dtype, draw) if op in _PATTERNS else iter(())


def every_code(format_name: str) -> np.ndarray:
    """All codes of a format of 8 or 16 bits, from 0 on."""
    fmt = FORMATS[format_name]
    return np.arange(2**fmt.bits).astype(fmt.code_storage).view(fmt.storage)


def _casts(dtype: str, draw: Draw) -> Iterator[Call]:
    for target in (*COMPLEX, *SMALL_FLOATS):
        yield {"self": draw.wild(dtype, 20, 10), "dtype": target}
    for target in FLOATS:
        yield {"self": _near_midpoints(dtype, target, draw), "dtype": target}
    for small in SMALL_FLOATS:
        yield {"self": _small_midpoints(dtype, small), "dtype": small}
        yield {"self": every_code(small), "dtype": dtype}


def _near_midpoints(source: str, target: str, draw: Draw) -> np.ndarray:
    """Midpoints of neighbours in `target` and the numbers of float64 next to them, as far as `source` holds them."""
    values = draw.wild(target, 40)
    with np.errstate(all="ignore"):
        above = np.nextafter(values, FORMATS[target].storage.type(np.inf))
        middle = values.astype(np.float64) / 2 + above.astype(np.float64) / 2
        return _in_source(with_neighbours(middle), source)


def _small_midpoints(source: str, target: str) -> np.ndarray:
    """Every midpoint of an 8-bit float and the numbers of float64 beside it, as far as `source` holds them.

    The last is that of the largest number and the one that would follow in its place.
    """
    codes = every_code(target).astype(np.float64)
    values = np.unique(codes[np.isfinite(codes)])
    following = 2 * values[-1] - values[-2] if target != "float8_e8m0fnu" else 2 * values[-1]
    middle = (values + np.append(values[1:], following)) / 2
    with np.errstate(over="ignore"):  # float16 is narrower than float8_e8m0fnu
        return _in_source(with_neighbours(middle), source)


def with_neighbours(numbers: np.ndarray) -> np.ndarray:
    """The numbers, then those next to each above, then below."""
    infinity = numbers.dtype.type(np.inf)
    return np.concatenate([numbers, np.nextafter(numbers, infinity), np.nextafter(numbers, -infinity)])


def _in_source(numbers: np.ndarray, source: str) -> np.ndarray:
    fmt = FORMATS[source]
    held = np.abs(numbers) < float(fmt.max_value) if fmt.is_integer else np.isfinite(numbers)
    return np.where(held, numbers, 0.0).astype(fmt.storage)


def _decimal_ties(dtype: str, draw: Draw) -> Iterator[Call]:
    """(k + 1/2) / 10^decimals as the dtype has it: the tie itself, or just beside it."""
    for decimals in (1, 2, 3, 0, -1, -2, 7, -5, 20):
        with np.errstate(over="ignore"):
            halves = (draw.integers(-400, 400, 60) + 0.5) / 10.0**decimals
            yield {"self": halves.astype(FORMATS[dtype].storage), "decimals": decimals}


def _saturated_units(dtype: str, draw: Draw) -> Iterator[Call]:
    """-alpha, to which the lower piece comes near, is a midpoint of the dtype: e^x decides, however small it is."""
    yield {"self": draw.wild(dtype, 20), "alpha": 1 + 2.0 ** -FORMATS[dtype].precision}


def _equal_but_for_nan(dtype: str, draw: Draw) -> Iterator[Call]:
    """Tensors that are close but for NaN in the same place, which `equal_nan` decides."""
    if dtype in FLOATS:
        numbers = draw.integers(-8, 8, 20).astype(FORMATS[dtype].storage)
        numbers[7] = np.nan
        for equal_nan in (True, False):
            yield {"self": numbers, "other": numbers.copy(), "equal_nan": equal_nan}


_PATTERNS: Mapping[str, Callable[[str, Draw], Iterator[Call]]] = {
    "aten::_to_copy": _casts,
    "aten::round.decimals": _decimal_ties,
    "aten::elu": _saturated_units,
    "aten::celu": _saturated_units,
    "aten::allclose": _equal_but_for_nan,
}
