"""Contract tables: YAML, one row a group of ops, each with its source."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from conform.errors import UsageError, did_you_mean
from conform.interp.numerics.formats import FORMATS
from conform.schema import operator_names, unknown_operator

KINDS = ("exact", "ulp", "accumulation", "derived")
DATA = Path(__file__).parent / "data"
KEYS = ("ops", "kind", "bound", "dtypes", "source")
EXACT_SOURCE = "integers and bools are exact: no rounding takes place"


@dataclass(frozen=True)
class Row:
    """What a table demands of one op and element type: `bound` in ULPs (kind ulp), else None; `formula` says it in
    words."""

    kind: str
    bound: float | None
    formula: str | None
    source: str


@dataclass(frozen=True)
class Table:
    """The rows of one contract, in order; the most specific name that matches an op holds (an overload before its
    op)."""

    name: str
    rows: dict[str, tuple[dict, ...]]

    def row(self, op: str, format_name: str) -> Row:
        """The row for an output of `format_name` of `op`; ops without one are `derived` from their documented
        formula."""
        fmt = FORMATS[format_name]
        if not (fmt.is_float or fmt.kind == "complex"):
            return Row("exact", None, None, EXACT_SOURCE)
        for name in (op, op.partition(".")[0]):
            for entry in self.rows.get(name, ()):
                if _covers(entry, format_name):
                    return _row(entry, format_name)
        return Row("derived", None, None, "no row: the running error of the op's documented formula, if the kit has it")


def _covers(entry: dict, format_name: str) -> bool:
    bound = entry.get("bound")
    if isinstance(bound, dict) and format_name not in bound:
        return False
    return format_name in entry.get("dtypes", (format_name,))


def _row(entry: dict, format_name: str) -> Row:
    bound = entry.get("bound")
    if entry["kind"] == "ulp":
        return Row("ulp", float(bound[format_name] if isinstance(bound, dict) else bound), None, entry["source"])
    return Row(entry["kind"], None, bound, entry["source"])


def names() -> list[str]:
    """The shipped tables."""
    return sorted(path.stem for path in DATA.glob("*.yaml"))


@cache
def contract_table(name: str) -> Table:
    """The shipped table `name`, or the one in the YAML file of that path; UsageError if there is none or it is
    invalid."""
    path = DATA / f"{name}.yaml" if name in names() else Path(name)
    if not path.is_file():
        known = f"expected one of {', '.join(names())} or a YAML file{did_you_mean(name, names())}"
        raise UsageError(f"no contract table {name!r}: {known}")
    try:
        document = yaml.safe_load(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not YAML: {error}") from None
    return Table(_text(document, "name", path), _rows(document, path))


def _rows(document: dict, path: Path) -> dict[str, tuple[dict, ...]]:
    rows: dict[str, tuple[dict, ...]] = {}
    entries = document.get("rows")
    if not isinstance(entries, list):
        raise UsageError(f"{path}: `rows` must be a list")
    for number, entry in enumerate(entries, 1):
        for op in _checked(entry, f"{path}: row {number}"):
            rows[op] = (*rows.get(op, ()), entry)
    return rows


def _checked(entry: object, place: str) -> list[str]:
    """The ops of a row, after every field was checked."""
    if not isinstance(entry, dict):
        raise UsageError(f"{place}: expected a mapping, got {entry!r}")
    for key in entry:
        if key not in KEYS:
            raise UsageError(f"{place}: unknown key {key!r}{did_you_mean(str(key), KEYS)}")
    if entry.get("kind") not in KINDS:
        raise UsageError(f"{place}: kind must be one of {', '.join(KINDS)}, got {entry.get('kind')!r}")
    _text(entry, "source", place)
    _check_bound(entry["kind"], entry.get("bound"), place)
    _check_dtypes(entry, place)
    if not isinstance(entry.get("ops"), list) or not entry["ops"]:
        raise UsageError(f"{place}: `ops` must be a list of operator names")
    return [_known_op(op, place) for op in entry["ops"]]


def _check_bound(kind: str, bound: object, place: str) -> None:
    if kind == "ulp":
        figures = list(bound.values()) if isinstance(bound, dict) else [bound]
        if not figures or not all(type(figure) in (int, float) and 0.5 <= figure < math.inf for figure in figures):
            wanted = "a number of ulps of at least 0.5, or one a dtype"
            raise UsageError(f"{place}: kind ulp needs `bound`, {wanted}, got {bound!r}")
    elif not isinstance(bound, str | None):
        raise UsageError(f"{place}: the `bound` of kind {kind} is its formula in words, got {bound!r}")


def _check_dtypes(entry: dict, place: str) -> None:
    dtypes, bound = entry.get("dtypes", []), entry.get("bound")
    if not isinstance(dtypes, list):
        raise UsageError(f"{place}: `dtypes` must be a list of dtype names, got {dtypes!r}")
    for name in [*dtypes, *(bound if isinstance(bound, dict) else ())]:
        if str(name) not in FORMATS:
            raise UsageError(f"{place}: unknown dtype {name!r}{did_you_mean(str(name), FORMATS)}")


def _known_op(op: object, place: str) -> str:
    if str(op) not in operator_names():
        raise UsageError(f"{place}: {unknown_operator(str(op))}")
    return str(op)


def _text(mapping: object, key: str, place: object) -> str:
    value = mapping.get(key) if isinstance(mapping, dict) else None
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{place}: `{key}` must be a text")
    return value
