"""Stand-ins: dtypes that the engine generates, in place of formats that it does not.

Specs speak of `dtypes.ALL`. An op of small floats is one of floats, an op of uint16 one of integers: such a format is
judged as a dtype of its kind that the call does not have otherwise, so that formats that differ go on to differ.
"""

from __future__ import annotations

from collections.abc import Iterable

from conform.domains.engine.dtypes import ALL
from conform.numerics.formats import format_named

_FLOATS = ("float64", "bfloat16", "float32", "float16")  # what constraints name the least comes first
_INTEGERS = ("int16", "int32", "int64", "int8", "uint8")
NO_INDEX = "int16"  # what integers that are no indices to torch stand for as indices


def stand_ins(names: Iterable[str]) -> dict[str, str]:
    """For each format's name that is no dtype of the engine, a dtype of its kind that no other name has; the widest
    where all are taken."""
    given = dict.fromkeys(names)
    found: dict[str, str] = {}
    for name in given:
        if name not in ALL:
            free = [one for one in _candidates(name) if one not in given and one not in found.values()]
            found[name] = (*free, _candidates(name)[0])[0]
    return found


def _candidates(name: str) -> list[str]:
    """Dtypes of the kind of the format, first those that hold its integers."""
    fmt = format_named(name)
    if fmt.is_float:
        return list(_FLOATS)
    return sorted(_INTEGERS, key=lambda one: format_named(one).max_value < fmt.max_value)
