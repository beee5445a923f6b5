"""The findings of a run as a person reads them: a line each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from conform.foreign import escaped
from conform.report.layout import hanging

TITLE = "What failures have in common"


def lines(record: Mapping, op: str | None = None) -> list[str]:
    """`aten::add.Tensor fails only where ...`, in the record's order; those of one op, or of all."""
    return [_line(one) for one in record["findings"] if op in (None, one["op"])]


def _line(finding: Mapping) -> str:
    return f"{escaped(finding['op'])} {predicate(finding)}"


def predicate(finding: Mapping) -> str:
    """The same without its subject, the op: `float32 fails only where ...`."""
    dtypes: Sequence[str] = finding["dtypes"]
    return escaped(f"{', '.join(dtypes)} {finding['text']}" if dtypes else finding["text"])


def of_op(record: Mapping, op: str) -> list[str]:
    """Those of one op, without their subject."""
    return [predicate(one) for one in record["findings"] if one["op"] == op]


def section(record: Mapping, width: int | None = None, but: Collection[str] = ()) -> str:
    """All under a headline, within `width` columns, `but` those of ops that were told already; empty if there is
    none."""
    left = [_line(one) for one in record["findings"] if one["op"] not in but]
    found = [part for one in left for part in hanging("  ", one, width)]
    return "\n".join([f"{TITLE}:", *found]) if found else ""
