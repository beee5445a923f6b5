"""The interpreter as a backend passes everything: where it does not, the kit contradicts itself."""

from __future__ import annotations

import conform


def test_the_interpreter_passes_the_core_suite() -> None:
    run = conform.check("core", backend="self")
    allowed = ("pass", "unspecified")
    others = [
        case for case in run.cases if case["status"] not in allowed and case["rule"] != "no contract with a source"
    ]
    assert [(case["id"], case["status"], case["reason"]) for case in others] == []
    assert run.summary["pass"] > 10_000
