"""The interpreter as a backend passes everything: where it does not, the kit contradicts itself."""

from __future__ import annotations

import pytest

import conform

ALLOWED = ("pass", "unspecified")


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
def test_the_interpreter_passes_the_core_suite(layouts: str, dtypes: list[str]) -> None:
    """Layouts are left to the backends in the short run: the interpreter reads a tensor's elements, wherever they
    lie."""
    run = conform.check("core", backend="self", layouts=layouts, dtypes=dtypes)
    judged = [case for case in run.cases if case["rule"] not in ("no contract with a source", "vacuous bound")]
    others = [case for case in judged if case["status"] not in ALLOWED]
    assert [(case["id"], case["status"], case["reason"]) for case in others] == []
    assert run.summary["pass"] > 500
