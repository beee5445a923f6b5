"""The interpreter as a backend passes everything: where it does not, the kit contradicts itself."""

from __future__ import annotations

import pytest

import conform
from conform.judging.credit import NOT_CREDITED
from tests.conftest import ops_of_share

ALLOWED = ("pass", "unspecified")
NOT_JUDGED = ("no contract with a source", "vacuous bound", NOT_CREDITED)  # refusals, of a dtype alone


OTHERS = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float64", "complex64", "complex128"]


@pytest.mark.whole_suite
@pytest.mark.parametrize(
    ("layouts", "dtypes"),
    [
        ("as-written", ["float32"]),
        *(pytest.param("as-written", [dtype], marks=pytest.mark.rotating) for dtype in OTHERS),
        pytest.param("all", [], marks=pytest.mark.long),
    ],
)
def test_the_interpreter_passes_the_core_suite(layouts: str, dtypes: list[str], pytestconfig: pytest.Config) -> None:
    """Layouts are left to the backends in the short run: the interpreter reads a tensor's elements, wherever they
    lie. So are the ops of other shares."""
    ops = () if layouts == "all" else sorted(ops_of_share(pytestconfig))
    run = conform.check("core", backend="self", layouts=layouts, dtypes=dtypes, ops=ops)
    judged = [case for case in run.cases if case["rule"] not in NOT_JUDGED]
    others = [case for case in judged if case["status"] not in ALLOWED]
    assert [(case["id"], case["status"], case["reason"]) for case in others] == []
    assert run.summary["pass"] > 150
