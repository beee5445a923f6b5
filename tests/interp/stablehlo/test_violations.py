"""A constraint of the specification that an op breaks is named, whether the parser refuses it or its meaning does."""

from __future__ import annotations

import re
from dataclasses import replace

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


DYNAMIC = {"gather": ("dynamic_gather", r"slice_sizes = array<i64: ([^>]*)>"),
           "convolution": ("dynamic_conv", r"padding = dense<0> : tensor<(\w+)xi64>")}  # fmt: skip
OF_SIZES = [("gather", "C9"), ("gather", "C12"), ("gather", "C21")]  # which zeros keep


@pytest.mark.parametrize("violation", [one for one in VIOLATIONS if one.op in DYNAMIC and one.constraint < "C28"
                                       and (one.op, one.constraint) not in OF_SIZES],
                         ids=lambda one: f"{one.op}-{one.constraint}")  # fmt: skip
def test_ops_of_dynamic_sizes_have_the_constraints_of_the_static_ones(violation: Violation) -> None:
    """What tells the sizes is an operand in the place of the attribute, here zeros."""
    name, attribute = DYNAMIC[violation.op]
    found = re.search(attribute, violation.attributes)
    if found is None:
        pytest.skip("a quantized one has no such attribute")
    of_sizes = f"{found[1].count(',') + 1}" if violation.op == "gather" else found[1]
    attributes = re.sub(rf"{re.escape(found[0])},? ?", "", violation.attributes).rstrip(", ")
    operands = (*violation.operands, f"tensor<{of_sizes}xi64>")
    told = refusal(replace(violation, op=name, operands=operands, attributes=attributes).program())
    assert f"stablehlo.{name}: " in told
    assert f"({violation.constraint}) of its specification" in told


# No program breaks these: of no operands at all the parser makes nothing.
WITHOUT_A_PROGRAM = {"map": [2], "sort": [1]}


def test_no_constraint_between_others_is_left_out() -> None:
    """They are counted from (C1) on, so one without a violation leaves a gap."""
    numbers: dict[str, list[int]] = {}
    for one in VIOLATIONS:
        numbers.setdefault(one.op, []).extend([int(one.constraint[1:])] if one.constraint[0] == "C" else [])
    gaps = {op: sorted(set(range(1, max(found, default=0))) - set(found)) for op, found in numbers.items()}
    assert {op: missing for op, missing in gaps.items() if missing} == WITHOUT_A_PROGRAM


_REDUCE = """"stablehlo.reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>"""
MALFORMED = {
    "no first value": (_REDUCE, "stablehlo.reduce: 1 operands, against constraint (C3)"),
    "a token": ('"stablehlo.abs"(%t) : (!stablehlo.token) -> tensor<f32>', "operand #0 must be"),
    "no tuple": ('"stablehlo.get_tuple_element"(%x) {index = 0 : i32} : (tensor<2xf32>) -> tensor<2xf32>',
                 "operand #0 must be"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_what_the_parser_ends_at_and_what_no_meaning_can_read(name: str) -> None:
    op, message = MALFORMED[name]
    told = refusal(f"func.func @main(%x: tensor<2xf32>, %t: !stablehlo.token) {{\n  %r = {op}\n  return\n}}")
    assert told.startswith("x.mlir:2: ")
    assert message in told


def test_no_violation_stands_twice() -> None:
    assert len({(one.op, one.constraint) for one in VIOLATIONS}) == len(VIOLATIONS)
