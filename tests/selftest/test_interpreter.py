"""The interpreter as a backend passes everything: where it does not, the kit contradicts itself."""

from __future__ import annotations

import pytest

import conform
from conform.interp import semantics
from conform.judging.credit import NOT_CREDITED
from tests.conftest import ops_of_share

ALLOWED = ("pass", "unspecified")
NOT_JUDGED = ("no contract with a source", "vacuous bound", NOT_CREDITED)


@pytest.mark.whole_suite
@pytest.mark.parametrize("layouts", ["as-written", pytest.param("all", marks=pytest.mark.long)])
def test_the_interpreter_passes_the_core_suite(layouts: str, pytestconfig: pytest.Config) -> None:
    """Layouts are left to the backends in the short run: the interpreter reads a tensor's elements, wherever they
    lie. So are the ops of other shares."""
    ops = () if layouts == "all" else sorted(ops_of_share(pytestconfig))
    run = conform.check("core", backend="self", layouts=layouts, ops=ops)
    judged = [case for case in run.cases if case["rule"] not in NOT_JUDGED]
    others = [case for case in judged if case["status"] not in ALLOWED]
    assert [(case["id"], case["status"], case["reason"]) for case in others] == []
    passed = {case["op"] for case in run.cases if case["status"] == "pass"}
    asked = {name for name in semantics.names() if not ops or name.partition(".")[0] in ops}
    assert asked
    assert {name for name in asked if not semantics.traits_of(name).undetermined} <= passed
