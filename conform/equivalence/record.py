"""equivalence.json: every pair of backends, by op and dtype, and the cases in which they are not equivalent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from conform.equivalence.compare import KINDS, Failure, Pair, Row, Side
from conform.foreign import line
from conform.report.numbers import json_value
from conform.report.record import EXIT_CODES, word

SCHEMA = "conform.equivalence/1"
_ENTRIES = ("ops", "failures")  # an entry a line


def record_of(
    sides: Sequence[Side], directories: Mapping[str, str], pairs: Sequence[Pair], skipped: str | None, is_counted: bool
) -> dict[str, Any]:
    """What is written. directories: of each backend's run, by name; skipped: why nothing was compared; is_counted:
    whether the check `equivalence` counts."""
    first = sides[0].record if sides else {}
    return {
        "schema": SCHEMA,
        **{key: first.get(key) for key in ("kit", "suite", "contract", "seed", "shard")},
        "backends": [
            {
                "name": line(one.name, None), "directory": directories.get(one.name), "verdict": word(one.record),
                "exit_code": EXIT_CODES[word(one.record)], "backend": one.record["backend"],
            }
            for one in sides
        ],
        "is_counted": is_counted,
        "skipped": skipped and line(skipped, None),
        "pairs": [_pair_json(pair) for pair in pairs],
    }  # fmt: skip


def _pair_json(pair: Pair) -> dict[str, Any]:
    return {
        "backends": [line(name, None) for name in pair.names],
        "summary": {kind: pair.total(kind) for kind in KINDS},
        "ops": [_row_json(row) for row in pair.rows],
        "failures": [_failure_json(one) for one in pair.failures],
    }


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "op": row.op, "dtype": row.dtype, **row.kinds, "elements": row.elements, "equal_elements": row.equal,
        "worst_ulp": json_value(row.worst_ulp), "worst_case": row.worst_case, "further_from_truth": row.further,
        "max_error_ulp": json_value(row.max_error_ulp),
    }  # fmt: skip


def _failure_json(one: Failure) -> dict[str, Any]:
    distance = one.distance
    return {
        "id": one.id, "op": one.op, "dtype": one.dtype, "kind": one.kind, "reason": line(one.reason, None),
        "elements": distance.elements, "equal_elements": distance.equal, "worst_ulp": json_value(distance.worst_ulp),
        "at": one.values and {"output": distance.output, "index": list(distance.index), "values": list(one.values)},
    }  # fmt: skip


def to_json(record: Mapping[str, Any]) -> str:
    """The text of equivalence.json, an op and dtype, and a failure, a line."""
    head = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in record.items() if key != "pairs"]
    pairs = ",\n".join(_pair_text(pair) for pair in record["pairs"])
    return "{\n" + ",\n".join([*head, f'"pairs": [{pairs}]']) + "\n}\n"


def _pair_text(pair: Mapping[str, Any]) -> str:
    parts = []
    for key, value in pair.items():
        if key in _ENTRIES:
            entries = ",\n ".join(json.dumps(one, allow_nan=False) for one in value)
            parts.append(f"{json.dumps(key)}: [\n {entries}\n]" if value else f"{json.dumps(key)}: []")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{" + ",\n".join(parts) + "}"
