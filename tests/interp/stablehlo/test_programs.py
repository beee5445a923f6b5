"""Literal programs, one file an op: their checks hold, and the table of the documentation is that of the registry."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Function, Op, Program, Value
from conform.interp.stablehlo.names import NAMES, SINCE
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.registry import table
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import format_named

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.mlir"))
UNDETERMINED = {"rng_bit_generator"}  # its bits are left to the implementation, whatever it is given
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_checks_of_a_program_hold(path: Path) -> None:
    pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")
    from conform.stablehlo.run import run_file

    file = run_file(path, None, [])
    assert not file.errors()
    assert file.ran
    assert [check for check in file.checks() if check.failure] == []
    assert all(ran.checks for ran in file.ran)
    assert f"stablehlo.{path.stem}" in path.read_text()


def test_every_op_with_a_meaning_has_a_program() -> None:
    known = {name.removeprefix("stablehlo.") for name in table()}
    assert {path.stem for path in PROGRAMS} == known & set(NAMES) - UNDETERMINED


def test_the_documentation_lists_the_ops() -> None:
    text = (ROOT / "docs/stablehlo.md").read_text()
    done = re.search(r"<!-- done -->\n(.*?)\n<!--", text, re.DOTALL)[1]
    known = {name.removeprefix("stablehlo.") for name in table()}
    assert set(re.findall(r"`(\w+)`", done)) == known & set(NAMES)
    assert f"{len(known & set(NAMES))} of its {len(NAMES)} ops" in text


def test_the_list_is_that_of_the_specification() -> None:
    assert len(set(NAMES)) == len(NAMES) == 96 + len(SINCE)
    assert set(SINCE) < set(NAMES)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)], ids=str)
def test_elementwise_ops_keep_the_shape(shape: tuple[int, ...]) -> None:
    """The evaluator refuses a result of another shape than the program states."""
    from tests.interp.stablehlo.generated import BINARY, UNARY

    for op, dtypes in {**UNARY, **BINARY}.items():
        operands = 1 if op in UNARY else 2
        for dtype in {dtypes[0], dtypes[-1], dtypes[len(dtypes) // 2]}:
            results = {
                "is_finite": "bool",
                "complex": dtype.replace("float64", "complex128").replace("float32", "complex64"),
            }
            part = dtype.replace("complex128", "float64") if op in ("abs", "real", "imag") else dtype
            array = np.ones(shape, format_named(dtype).storage)
            arguments = tuple(Value(f"x{at}", dtype, shape) for at in range(operands))
            result = Value("y", results.get(op, part), shape)
            step = Op(f"stablehlo.{op}", tuple(one.name for one in arguments), {}, (result,))
            program = Program(Function(arguments, (step,), ("y",)))
            (found,) = evaluate(program, StableHLO(), [Tensor(array)] * operands)
            assert found.shape == shape
