"""A constraint of the specification that an op breaks is named, whether the parser refuses it or its meaning does."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import ConformError
from conform.frontends.stablehlo import parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program, Value
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.quantization import format_held, quantization_of
from conform.interp.stablehlo.values import TOKEN, Tensor, Token
from tests.interp.stablehlo.violations import VIOLATIONS, Violation


def zeros(value: Value) -> Tensor | Token:
    if value.dtype == TOKEN:
        return Token()
    return Tensor(np.zeros(value.shape, format_held(value.dtype).storage), quantization_of(value.dtype))


def refusal(program: str) -> str:
    """What is said of a program that is parsed, and run on zeros."""
    with pytest.raises(ConformError) as found:
        run_on_zeros(program)
    assert found.value.exit_code == 2
    return str(found.value)


def run_on_zeros(program: str) -> None:
    function = parse(program, "x.mlir").functions["main"]
    evaluate(Program(function), StableHLO(), [zeros(one) for one in function.arguments])


@pytest.mark.parametrize("violation", VIOLATIONS, ids=lambda one: f"{one.op}-{one.constraint}")
def test_a_violated_constraint_is_named(violation: Violation) -> None:
    told = refusal(violation.program())
    assert f"stablehlo.{violation.op}: " in told
    assert f"({violation.constraint}) of its specification" in told
    assert "x.mlir:2" in told


def test_no_violation_stands_twice() -> None:
    assert len({(one.op, one.constraint) for one in VIOLATIONS}) == len(VIOLATIONS)
