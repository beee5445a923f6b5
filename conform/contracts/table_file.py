"""Reading a contract table: YAML 1.2, every field checked; a mistake is told with file, line and what was meant."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from conform.call.schemas import operator_names, overloads, schema, unknown_operator
from conform.contracts import tosa
from conform.documents.limits import Limits
from conform.documents.source import Map, Seq, SourceError, parse_yaml, position_of, read_text
from conform.errors import UsageError, did_you_mean
from conform.numerics.formats import FORMATS

KINDS = ("exact", "ulp", "ulp_of_rounded", "accumulation", "derived", "almost_eq", "tosa", "unbounded")
TABLE_KEYS = ("name", "base", "rows")
ROW_KEYS = ("ops", "kind", "bound", "dtypes", "excluded", "inside", "source")
TOLERANCE_KEYS = ("rtol", "atol", "same_sign", "modulus")
ANY_OP = "*"

Entry = Mapping[str, Any]  # a row as written, checked
Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class TableFile:
    """A checked file: the entries of each op it names, in order, and the shipped table whose rows stand behind them."""

    name: str
    base: str | None
    rows: Mapping[str, tuple[Entry, ...]]


def read(path: Path, shipped: Sequence[str]) -> TableFile:
    """The table in the file `path`; `shipped` are the names that `base` may have. UsageError for any mistake in it."""
    limits = Limits.from_environment()
    try:
        tree = parse_yaml(read_text(path, limits), limits)
    except SourceError as error:
        raise UsageError(f"{path}:{error.position.line}: {error.message}") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    return _Checker(path, tree, shipped).table()


def by_dtype(value: Any) -> bool:
    """Whether a field is given for each dtype apart: a mapping whose keys are none of a tolerance."""
    return isinstance(value, dict) and not set(value) & set(TOLERANCE_KEYS)


def of_dtype(value: Any, format_name: str) -> Any:
    """The field's value for a dtype; None where it has none."""
    return value.get(format_name) if by_dtype(value) else value


class _Checker:
    """Checks a parsed file from top to bottom and stops at the first mistake, at its line."""

    def __init__(self, path: Path, tree: Any, shipped: Sequence[str]) -> None:
        self.path, self.tree, self.shipped = path, tree, shipped

    def fail(self, at: Path_, message: str, *, key: bool = False) -> NoReturn:
        row = f"row {at[1] + 1}: " if len(at) > 1 and isinstance(at[1], int) else ""
        raise UsageError(f"{self.path}:{position_of(self.tree, at, key=key).line}: {row}{message}")

    def table(self) -> TableFile:
        if not isinstance(self.tree, Map):
            self.fail((), f"expected a mapping with the keys {', '.join(TABLE_KEYS)}")
        self._keys((), self.tree, TABLE_KEYS)
        name, base = self._text((), self.tree, "name"), self.tree.get("base")
        if base is not None and base not in self.shipped:
            known = f"expected one of {', '.join(self.shipped)}{did_you_mean(str(base), self.shipped)}"
            self.fail(("base",), f"`base` is no shipped table: {base!r}; {known}")
        entries = self.tree.get("rows")
        if not isinstance(entries, Seq):
            self.fail(("rows",), "`rows` must be a list")
        rows: dict[str, tuple[Entry, ...]] = {}
        for number, entry in enumerate(entries):
            for op in self._row(("rows", number), entry):
                rows[op] = (*rows.get(op, ()), entry)
        return TableFile(name, base, rows)

    def _row(self, at: Path_, entry: Any) -> list[str]:
        """The ops of a row, after every field was checked."""
        if not isinstance(entry, Map):
            self.fail(at, f"expected a mapping, got {entry!r}")
        self._keys(at, entry, ROW_KEYS)
        if entry.get("kind") not in KINDS:
            near = did_you_mean(str(entry.get("kind")), KINDS)
            self.fail((*at, "kind"), f"`kind` must be one of {', '.join(KINDS)}, got {entry.get('kind')!r}{near}")
        self._text(at, entry, "source")
        self._bound(at, entry["kind"], entry.get("bound"))
        if "dtypes" in entry:
            self._dtypes((*at, "dtypes"), entry["dtypes"])
        if "excluded" in entry:
            self._each_dtype((*at, "excluded"), entry["excluded"], self._interval)
        if "inside" in entry:
            self._inside(at, entry)
        ops = self._ops((*at, "ops"), entry.get("ops"))
        if entry["kind"] == "tosa":
            self._operands((*at, "bound"), ops, entry["bound"])
        return ops

    def _ops(self, at: Path_, ops: Any) -> list[str]:
        if not isinstance(ops, Seq) or not ops:
            self.fail(at, f"`ops` must be a list of operator names, or of {ANY_OP!r} for all")
        for number, op in enumerate(ops):
            if op != ANY_OP and str(op) not in operator_names():
                self.fail((*at, number), unknown_operator(str(op)))
        return [str(op) for op in ops]

    def _bound(self, at: Path_, kind: str, bound: Any) -> None:
        at = (*at, "bound")
        if kind in ("ulp", "ulp_of_rounded"):
            self._each_dtype(at, bound, lambda where, value: self._ulps(where, value, 0.5 if kind == "ulp" else 0.0))
        elif kind == "almost_eq":
            self._each_dtype(at, bound, self._tolerance)
        elif kind == "tosa":
            if str(bound) not in tosa.BUDGETS:
                near = did_you_mean(str(bound), tosa.BUDGETS)
                self.fail(at, f"the `bound` of kind tosa is one of {', '.join(tosa.BUDGETS)}, got {bound!r}{near}")
        elif not isinstance(bound, str | None):
            self.fail(at, f"the `bound` of kind {kind} is its formula in words, got {bound!r}")

    def _operands(self, at: Path_, ops: Iterable[str], budget: str) -> None:
        """That every op of the row has the arguments its budget reads."""
        for op in ops:
            found = [] if op == ANY_OP else [schema(op)] if "." in op else overloads(op)
            for name in tosa.READS.get(budget, ()):
                if not found or any(name not in (argument.name for argument in one.arguments) for one in found):
                    self.fail(at, f"{budget} reads the argument `{name}`, which {op} does not always have")

    def _each_dtype(self, at: Path_, value: Any, check: Callable[[Path_, Any], None]) -> None:
        """`value` is one for every dtype, or a mapping from dtypes."""
        if not by_dtype(value) or not value:
            check(at, value)
            return
        for dtype, one in value.items():
            self._dtype((*at, dtype), dtype, key=True)
            check((*at, dtype), one)

    def _ulps(self, at: Path_, value: Any, least: float) -> None:
        if not _is_number(value) or value < least:
            self.fail(at, f"`bound` must be a number of ulps of at least {least:g}, or one a dtype, got {value!r}")

    def _tolerance(self, at: Path_, value: Any) -> None:
        if not isinstance(value, Map) or not {"rtol", "atol"} <= set(value):
            self.fail(at, f"`bound` of kind almost_eq needs `rtol` and `atol`, or both a dtype, got {value!r}")
        self._keys(at, value, TOLERANCE_KEYS)
        for key, figure in value.items():
            if key in ("rtol", "atol") and not (_is_number(figure) and figure >= 0):
                self.fail((*at, key), f"`{key}` must be a number of at least 0, got {figure!r}")
            if key in ("same_sign", "modulus") and not isinstance(figure, bool):
                self.fail((*at, key), f"`{key}` must be true or false, got {figure!r}")

    def _interval(self, at: Path_, value: Any) -> None:
        ends = value if isinstance(value, Seq) else ()
        if len(ends) != 2 or not all(map(_is_held, ends)):
            self.fail(at, f"`excluded` must be an interval [low, high] of the first operand, got {value!r}")
        if ends[0] > ends[1]:
            self.fail(at, f"`excluded` is an empty interval: {ends[0]!r} is above {ends[1]!r}")

    def _inside(self, at: Path_, entry: Map) -> None:
        if "excluded" not in entry or entry["kind"] not in ("ulp", "ulp_of_rounded"):
            where = "`inside` stands beside `excluded`, in rows of kind ulp or ulp_of_rounded"
            self.fail((*at, "inside"), where, key=True)
        if entry["inside"] != "derived":
            self.fail((*at, "inside"), f"`inside` must be derived, got {entry['inside']!r}")

    def _dtypes(self, at: Path_, names: Any) -> None:
        if not isinstance(names, Seq):
            self.fail(at, f"`dtypes` must be a list of dtype names, got {names!r}")
        for number, name in enumerate(names):
            self._dtype((*at, number), name)

    def _dtype(self, at: Path_, name: Any, *, key: bool = False) -> None:
        if not isinstance(name, str) or name not in FORMATS:
            self.fail(at, f"unknown dtype {name!r}{did_you_mean(str(name), FORMATS)}", key=key)

    def _keys(self, at: Path_, mapping: Map, known: Iterable[str]) -> None:
        for key in mapping:
            if key not in known:
                self.fail((*at, key), f"unknown key {key!r}{did_you_mean(key, known)}", key=True)

    def _text(self, at: Path_, mapping: Map, key: str) -> str:
        value = mapping.get(key)
        if not isinstance(value, str) or not value.strip():
            self.fail((*at, key), f"`{key}` must be a text, got {value!r}")
        return value


def _is_number(value: Any) -> bool:
    return _is_held(value) and math.isfinite(value)


def _is_held(value: Any) -> bool:
    """Whether it is a number, or an infinity, of float64."""
    if type(value) is int:
        return abs(value) <= sys.float_info.max
    return type(value) is float and not math.isnan(value)
