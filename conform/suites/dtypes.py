"""The dtypes that a test may name: torch's names, as far as the kit has a format for them."""

from __future__ import annotations

import functools
import math

from conform.call.binding import DTYPE_NAMES
from conform.errors import did_you_mean
from conform.numerics.formats import FORMATS, format_named

# The dtype that a kind means in a user's file, and the order in which a kind's dtypes are tried.
DEFAULT_DTYPES = {"float": "float32", "int": "int64", "bool": "bool"}
_ORDER = ("float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool")

_ALIASES = {
    "half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32", "long": "int64",
    "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip


@functools.cache
def dtype_names() -> tuple[str, ...]:
    """Every name that `dtype:` takes."""
    return tuple(name for name in FORMATS if name in DTYPE_NAMES)


COMMON_DTYPES = frozenset(_ORDER)


def kind_of(dtype: str) -> str:
    """ "float", "int", "bool" or "complex"."""
    kind = format_named(dtype).kind
    return "int" if kind == "uint" else kind


def in_order(dtypes: set[str]) -> list[str]:
    """The common dtypes first, by kind and size, then the others by name."""
    return [name for name in _ORDER if name in dtypes] + sorted(dtypes.difference(_ORDER))


def default_dtype(kind: str, dtype: str | None) -> str:
    """The dtype itself, or what its kind means in a user's file."""
    return dtype or DEFAULT_DTYPES[kind]


def holds(dtype: str, value: bool | int | float) -> bool:
    """Whether the dtype has this value, or for a finite one that is no integer, one near it."""
    fmt = format_named(dtype)
    fmt = fmt.component if fmt.is_complex else fmt
    if fmt.kind == "bool":
        return value in (0, 1)
    if fmt.is_integer:
        return fmt.min_value <= value <= fmt.max_value
    if isinstance(value, float) and math.isnan(value):
        return fmt.has_nan
    if isinstance(value, float) and math.isinf(value):
        return fmt.has_inf and (value > 0 or fmt.is_signed)
    return abs(value) <= fmt.max_finite and (value >= 0 or fmt.is_signed) and (value != 0 or fmt.has_zero)


def dtype_hint(value: object) -> str:
    """What may have been meant by a name that is no dtype, as the end of a message."""
    if not isinstance(value, str):
        return "; expected a name such as 'float32'"
    name = value.removeprefix("torch.")
    name = _ALIASES.get(name, name)
    if name in dtype_names():
        return f"; did you mean {name!r}?"
    if name in DTYPE_NAMES:
        return f"; torch has it, the kit has no number format for it. Known: {', '.join(dtype_names())}"
    return did_you_mean(name[:40], dtype_names()) or f"; known: {', '.join(dtype_names())}"
