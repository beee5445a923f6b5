"""The record of a sweep, sweep.json: the same bytes whatever the workers, the shards and the interruptions, but for
`environment`. docs/sweep.md says what its fields are."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from conform.contracts.tables import names
from conform.errors import KitDefect
from conform.foreign import line
from conform.numerics.formats import Format
from conform.report.numbers import element_json, json_value
from conform.report.record import (
    CONFORMANT,
    EXIT_CODES,
    NO_VERDICT,
    NOT_CONFORMANT,
    NOTHING_COMPARED,
    PARTIAL,
    environment,
    kit_changed,
    kit_version,
)
from conform.sweep.space import Codes
from conform.sweep.subject import Subject
from conform.sweep.tally import BINS, Count, Example, Lost, Standing, Tally
from conform.sweep.worker import DEFECT

FILE = "sweep.json"
SCHEMA = "conform.sweep/1"
NOT_RIGHT = ("fail", "error", "crash", "timeout")  # how codes are lost that count against the backend
SMALLEST_BIN = 1014  # errors up to 2^-9 ulp are one bin


def build(
    subject: Subject, total: Tally, header: Mapping[str, Any], *, codes: Codes, shard: str | None,
    asked: int, stopped: str | None, kit_digest_at_end: str, timings: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The dict of sweep.json. asked: how many inputs were to be judged; stopped: why they were not all."""
    write = Writer(subject)
    logs = {str(lost.codes): lost.log.splitlines() for lost in total.lost if lost.log}
    found = {
        "schema": SCHEMA,
        "kit": {
            "name": "conform", "version": kit_version(), "digest": header["kit"], "digest_at_end": kit_digest_at_end,
        },
        "op": subject.op, "dtype": subject.dtype, "operands": list(subject.operands),
        "keywords": dict(subject.keywords),
        "contract": header["contract"], "backend": header["backend"],
        "codes": [hex(codes.first), hex(codes.last)], "shard": shard,
        "inputs": asked, "swept": total.inputs, "stopped": stopped and line(stopped, None),
        "summary": _summary(total, header["contract"]),
        "max_error_ulp": None if total.worst is None else total.worst.error_ulp,
        "at_most_ulp": None if total.worst is None else total.at_most_ulp,
        "worst": write.example(total.worst),
        "histogram": histogram(total.histogram),
        "binades": {name: write.binades(each) for name, each in zip(subject.operands, total.binades, strict=True)},
        "tables": {name: write.standing(total.tables[name]) for name in _in_order(total.tables)},
        "wrong_classes": {name: write.count(each) for name, each in total.wrong_classes.items()},
        "lost": [_lost_json(lost) for lost in total.lost],
        "environment": {
            **environment(), "numerics": header["numerics"],
            "invocation": {"backend": header["named"]}, "timings": dict(timings), "logs": logs,
        },
    }  # fmt: skip
    written: dict[str, Any] = json_value(found)  # type: ignore[assignment]
    return written


def _output_format(subject: Subject) -> Format:
    """That of the results."""
    return subject.outcome(subject.call(Codes(0, 0))).goldens[0].format


def _in_order(tables: Mapping[str, Standing]) -> list[str]:
    """The shipped ones from strict to wide, then the user's own."""
    shipped = [name for name in names() if name in tables]
    return shipped + [name for name in tables if name not in shipped]


def _summary(total: Tally, contract: str) -> dict[str, Any]:
    lost: Counter[str] = Counter()
    for each in total.lost:
        lost[each.status] += len(each.codes)
    failed = total.tables[contract].failed.count if contract in total.tables else 0
    counts = {"compared": total.compared, "correctly_rounded": total.right, "open": total.open, "failed": failed}
    return {**counts, "lost": dict(sorted(lost.items()))}


def word(record: Mapping[str, Any]) -> str:
    """The verdict in a word, as of a run: `partial` where the sweep ended early or inputs were not judged."""
    summary = record["summary"]
    if kit_changed(record):
        return NO_VERDICT
    if summary["failed"] or any(each["status"] in NOT_RIGHT for each in record["lost"]):
        return NOT_CONFORMANT
    if not summary["compared"]:
        return NOTHING_COMPARED
    return PARTIAL if record["stopped"] or record["lost"] else CONFORMANT


def exit_code(record: Mapping[str, Any]) -> int:
    """As of a check: 70 where the kit itself failed, else by the word."""
    if DEFECT in record["summary"]["lost"]:
        return KitDefect.exit_code
    return EXIT_CODES[word(record)]


def histogram(counts: np.ndarray) -> list[dict[str, Any]]:
    """Errors by size: each bin is above its lower end and up to its upper one."""
    gathered = np.array(counts)
    gathered[SMALLEST_BIN] += gathered[1:SMALLEST_BIN].sum()
    gathered[1:SMALLEST_BIN] = 0
    bins = []
    for k in np.flatnonzero(gathered).tolist():
        low = None if k == 0 else 0.0 if k == SMALLEST_BIN else math.ldexp(1.0, k - BINS // 2)
        high = 0.0 if k == 0 else math.ldexp(1.0, k + 1 - BINS // 2)
        bins.append({"above_ulp": low, "to_ulp": high, "count": int(gathered[k])})
    return bins


class Writer:
    """Writes codes as the numbers that they stand for."""

    def __init__(self, subject: Subject) -> None:
        self._subject, self._output = subject, _output_format(subject)

    def example(self, one: Example | None) -> dict[str, Any] | None:
        if one is None:
            return None
        space = self._subject.space
        operands = space.operands(np.array([one.code], np.uint64))
        inputs = [element_json(float(each[0]), space.fmt.name) for each in operands]
        found = {
            "code": hex(one.code), "inputs": dict(zip(self._subject.operands, inputs, strict=True)),
            "expected": self._result(one.expected), "actual": self._result(one.actual), "error_ulp": one.error_ulp,
        }  # fmt: skip
        return found | ({"radius_ulp": one.radius_ulp} if one.radius_ulp else {})

    def _result(self, code: int) -> object:
        fmt = self._output
        number = np.array([code], np.uint64).astype(fmt.code_storage).view(fmt.storage)[0]
        return element_json(number.item() if fmt.kind != "float" else float(number), fmt.name)

    def count(self, one: Count) -> dict[str, Any]:
        return {"count": one.count, "first": self.example(one.first)}

    def standing(self, one: Standing) -> dict[str, Any]:
        """None: the table bounds none of the results."""
        told = "fail" if one.failed.count else "pass" if one.judges else None
        return {"standing": told, "failed": one.failed.count, "first": self.example(one.failed.first)}

    def binades(self, largest: np.ndarray) -> list[dict[str, Any]]:
        """From the smallest number to the largest: a binade's least magnitude with its sign, and the largest error."""
        fmt = self._subject.space.fmt
        codes = np.arange(largest.size, dtype=np.uint64) << np.uint64(fmt.mantissa_bits)
        numbers = codes.astype(fmt.code_storage).view(fmt.storage).astype(np.float64)
        half = largest.size // 2
        order = [*range(largest.size - 1, half - 1, -1), *range(half)]
        return [
            {"from": float(numbers[at]).hex(), "max_error_ulp": float(f"{largest[at]:.6g}")}
            for at in order if largest[at] >= 0
        ]  # fmt: skip


def _lost_json(lost: Lost) -> dict[str, Any]:
    codes = [hex(lost.codes.first), hex(lost.codes.last)]
    return {"codes": codes, "inputs": len(lost.codes), "status": lost.status, "reason": line(lost.reason, None)}


def to_json(record: Mapping[str, Any]) -> str:
    """The text of sweep.json."""
    return json.dumps(record, indent=1, allow_nan=False) + "\n"
