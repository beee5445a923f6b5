"""Domain edges: the operands at which one op goes wrong, beside the special values of its format.

An edge function takes a float format and, by name, those of the call's other arguments that move the edges; its
docstring says what changes there. `points` registers edges of one operand: real numbers, each of which stands for the
values of the format around it. `pairs` registers edges of two operands, which are what they are; `comparisons` those of
every op that compares its operands.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from conform.call.aliases import canonical
from conform.call.families import load_families
from conform.inputs.specials import is_value, rounded, with_neighbours, without_duplicates
from conform.interp.semantics import traits_of
from conform.numerics.formats import FORMATS, Format

Number = float | Decimal
Row = tuple[Number, ...]

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_INTEGERS_COMPUTE_IN = "float32"  # policy P18: real functions convert integers to it


@dataclass(frozen=True)
class Edges:
    """The edges of one op. `operands` names the arguments that take the columns of `rows(format, **settings)`.

    settings: names of the arguments that `rows` takes besides; they must be hashable.
    """

    operands: tuple[str, ...]
    rows: Callable[..., list[Row]]
    settings: tuple[str, ...]


_COMPARISONS = "pointwise comparisons"
_EDGES: dict[str, Edges] = {}  # by op, or by the trait that stands for several


def points(*ops: str, operand: str = "self") -> Callable:
    """Registers a function `(format, **settings) -> numbers` for ops of one operand."""

    def register(function: Callable[..., Iterable[Number]]) -> Callable[..., Iterable[Number]]:
        def rows(fmt: Format, **settings: object) -> list[Row]:
            scale = FORMATS[_INTEGERS_COMPUTE_IN] if fmt.is_integer else fmt
            return [(value,) for point in function(scale, **settings) for value in _around(fmt, point)]

        _register(ops, Edges((operand,), rows, _settings_of(function)))
        return function

    return register


def pairs(*ops: str, operands: tuple[str, str] = ("self", "other")) -> Callable:
    """Registers a function `(format, **settings) -> rows` for ops of two operands."""

    def register(function: Callable[..., list[Row]]) -> Callable[..., list[Row]]:
        _register(ops, Edges(operands, function, _settings_of(function)))
        return function

    return register


def comparisons(function: Callable[[Format], list[Row]]) -> Callable[[Format], list[Row]]:
    """Registers a function `format -> rows` for every pointwise op of two operands that compares them."""
    _register([_COMPARISONS], Edges(("self", "other"), function, ()))
    return function


def _settings_of(function: Callable) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)[1:]


def _register(ops: Sequence[str], edges: Edges) -> None:
    for op in ops:
        if op in _EDGES:
            raise ValueError(f"edges of {op}: registered twice")
        _EDGES[op] = edges


def _around(fmt: Format, point: Number) -> list[Number]:
    """The values of a float format next to a number, or the integers next to it."""
    if fmt.is_integer:
        return [math.ceil(point) - 1, math.floor(point), math.floor(point) + 1]
    return with_neighbours(fmt, float(point))


# --- What values.py asks ----------------------------------------------------------------------------------------------


def edges_of(op_name: str) -> Edges | None:
    """The edges of `aten::name.overload`: its own, else the ones of `aten::name`, else of what its traits say; None if
    there are none."""
    _load()
    op_name = canonical(op_name)
    if own := _EDGES.get(op_name) or _EDGES.get(op_name.partition(".")[0]):
        return own
    traits = traits_of(op_name)
    return _EDGES[_COMPARISONS] if traits.pointwise and traits.compares else None


def edged_ops() -> tuple[str, ...]:
    """The names under which edges are registered."""
    _load()
    return tuple(name for name in _EDGES if name != _COMPARISONS)


def edge_rows(op_name: str, format_name: str, settings: tuple[object, ...] = ()) -> np.ndarray:
    """The edges of an op in one format: shape (rows, operands), in its storage dtype, no row twice, read-only.

    `settings` are the values of `edges_of(op_name).settings`. Rows that the format cannot hold are left out. Only
    integers and the binary formats that torch computes in have edges.
    """
    return _edge_rows(op_name, format_name, settings, repr(settings))


@functools.cache
def _edge_rows(op_name: str, format_name: str, settings: tuple[object, ...], _: str) -> np.ndarray:
    """Kept by the text of the settings, too: 0, 0.0, -0.0 and False are equal, and have edges of their own."""
    fmt, edges = FORMATS[format_name], edges_of(op_name)
    empty = np.empty((0, len(edges.operands) if edges else 1), dtype=fmt.storage)
    if edges is None or not (fmt.is_integer or format_name in _FLOATS):
        return empty
    rows = edges.rows(fmt, **dict(zip(edges.settings, settings, strict=True)))
    kept = _integer_rows(fmt, rows) if fmt.is_integer else _float_rows(fmt, rows)
    values = without_duplicates(kept) if len(kept) else empty
    values.flags.writeable = False
    return values


def _float_rows(fmt: Format, rows: list[Row]) -> np.ndarray:
    nearest = [[rounded(fmt, float(number)) for number in row] for row in rows]
    return np.array([row for row in nearest if all(is_value(fmt, value) for value in row)]).astype(fmt.storage)


def _integer_rows(fmt: Format, rows: list[Row]) -> np.ndarray:
    whole = [row for row in rows if all(math.isfinite(number) and number == int(number) for number in row)]
    inside = [row for row in whole if all(fmt.min_value <= number <= fmt.max_value for number in row)]
    widest = np.int64 if fmt.kind == "int" else np.uint64
    return np.array([[int(number) for number in row] for row in inside], dtype=widest).astype(fmt.storage)


@functools.cache
def _load() -> None:
    load_families("conform.inputs.edges")
