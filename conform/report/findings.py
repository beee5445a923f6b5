"""The findings of a run as a person reads them: a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conform.foreign import escaped

TITLE = "What failures have in common"


def lines(record: Mapping, op: str | None = None) -> list[str]:
    """`aten::add.Tensor fails only where ...`, in the record's order; those of one op, or of all."""
    return [_line(one) for one in record["findings"] if op in (None, one["op"])]


def _line(finding: Mapping) -> str:
    dtypes: Sequence[str] = finding["dtypes"]
    whose = f"{finding['op']} {', '.join(dtypes)}" if dtypes else finding["op"]
    return escaped(f"{whose} {finding['text']}")


def section(record: Mapping) -> str:
    """All of them under a headline; empty if there is none."""
    found = lines(record)
    return "\n".join([f"{TITLE}:", *(f"  {one}" for one in found)]) if found else ""
