"""The interpreter as a backend passes everything: where it does not, the kit contradicts itself."""

from __future__ import annotations

import pytest

import conform

ALLOWED = ("pass", "unspecified")


SOME = ["bool", "int64", "float32", "complex64"]


@pytest.mark.whole_suite
@pytest.mark.parametrize(
    ("layouts", "dtypes"), [("as-written", SOME), pytest.param("all", [], marks=pytest.mark.long)]
)
def test_the_interpreter_passes_the_core_suite(layouts: str, dtypes: list[str]) -> None:
    """Layouts are left to the backends in the short run: the interpreter reads a tensor's elements, wherever they
    lie."""
    run = conform.check("core", backend="self", layouts=layouts, dtypes=dtypes)
    judged = [case for case in run.cases if case["rule"] not in ("no contract with a source", "vacuous bound")]
    others = [case for case in judged if case["status"] not in ALLOWED]
    assert [(case["id"], case["status"], case["reason"]) for case in others] == []
    assert run.summary["pass"] > 4_000
