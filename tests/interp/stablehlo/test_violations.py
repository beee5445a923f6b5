"""A constraint of the specification that an op breaks is named, whether the parser refuses it or its meaning does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import ConformError
from conform.frontends.stablehlo import parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program, Value
from conform.interp.stablehlo import registry
from conform.interp.stablehlo.names import NAMES
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.ops import elementwise
from conform.interp.stablehlo.quantization import format_held, quantization_of
from conform.interp.stablehlo.registry import Call
from conform.interp.stablehlo.values import TOKEN, Tensor, Token
from conform.stablehlo.run import run_file
from tests.interp.stablehlo.generated_quantized import quantized
from tests.interp.stablehlo.violations import VIOLATIONS, Violation

PROGRAMS = sorted(Path(__file__).parent.glob("*/*.mlir"))


def zeros(value: Value) -> Tensor | Token:
    if value.dtype == TOKEN:
        return Token()
    return Tensor(np.zeros(value.shape, format_held(value.dtype).storage), quantization_of(value.dtype))


def numbered(value: Value, numbers: Sequence[int]) -> Tensor:
    shape = [-1 if size is None else size for size in value.shape]
    return Tensor(np.array(numbers, format_held(value.dtype).storage).reshape(shape))


Numbers = Mapping[int, Sequence[int]]


def refusal(program: str, numbers: Numbers | None = None) -> str:
    """What is said of a program that is parsed, and run on zeros, or `numbers` by the places of arguments."""
    with pytest.raises(ConformError) as found:
        run(program, numbers)
    assert found.value.exit_code == 2
    return str(found.value)


def run(program: str, numbers: Numbers | None = None) -> None:
    function = parse(program, "x.mlir").functions["main"]
    given = numbers or {}
    arguments = [
        numbered(one, given[at]) if at in given else zeros(one) for at, one in enumerate(function.arguments)
    ]
    evaluate(Program(function), StableHLO(), arguments)


@pytest.mark.parametrize("violation", VIOLATIONS, ids=lambda one: f"{one.op}-{one.constraint}")
def test_a_violated_constraint_is_named(violation: Violation) -> None:
    told = refusal(violation.program(), violation.numbers)
    assert f"stablehlo.{violation.op}: " in told
    assert f"({violation.constraint}) of its specification" in told
    assert "x.mlir:2" in told


# Of constraints that are asked for, why no program breaks them.
WITHOUT_A_PROGRAM = {("add", "I1"): "tensors of every kind are taken; how quantized ones, (C2) to (C7) say"}
BROKEN = {(one.op, one.constraint) for one in VIOLATIONS}


def test_no_constraint_between_others_is_left_out() -> None:
    """Those of the specification are counted from (C1) on, so one without a violation leaves a gap."""
    last: dict[str, int] = {}
    for op, name in BROKEN:
        if op in NAMES and name[0] == "C":
            last[op] = max(last.get(op, 0), int(name[1:]))
    assert {(op, f"C{at}") for op, count in last.items() for at in range(1, count)} <= BROKEN


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """What ops ask for under a name, from here on."""
    found: set[tuple[str, str]] = set()
    require, same_types = Call.require, elementwise.same_types

    def heard(call: Call, constraint: str, holds: bool, told: str) -> None:
        found.add((call.op.name.removeprefix("stablehlo."), constraint))
        require(call, constraint, holds, told)

    def heard_of_types(call: Call, constraint: str = "C1") -> tuple[np.ndarray, ...]:
        found.add((call.op.name.removeprefix("stablehlo."), constraint))
        return same_types(call, constraint)

    monkeypatch.setattr(Call, "require", heard)
    for module in registry.MODULES:  # it asks only for what does not hold
        monkeypatch.setattr(f"{registry.__package__}.ops.{module}.same_types", heard_of_types, raising=False)
    return found


def test_every_constraint_that_is_asked_for_is_broken(asked: set[tuple[str, str]]) -> None:
    """By the literal programs of every op, those of quantized types, and the violations."""
    for path in PROGRAMS:
        run_file(path, None, [])
    for case in quantized():
        run(case.program)
    for one in VIOLATIONS:
        refusal(one.program(), one.numbers)
    assert asked == BROKEN | set(WITHOUT_A_PROGRAM)


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
