"""The findings of a run as a person reads them: a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def section(record: Mapping, width: int | None = None) -> str:
    """All of them under a headline, within `width` columns; empty if there is none."""
    found = [part for one in lines(record) for part in hanging("  ", one, width)]
    return "\n".join([f"{TITLE}:", *found]) if found else ""
