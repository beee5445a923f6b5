"""Programs as users have them, of `examples/stablehlo`: an honest engine passes, a wrong one fails each, folding
changes nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.cli import main
from conform.folding import fold
from conform.frontends.stablehlo import parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import FORMATS
from conform.numerics.rounding import round_to

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "stablehlo").glob("*.mlir"))
WRONG = """import torch
from conform.backends.interpreter import Interpreter


class Wrong(Interpreter):
    name = "wrong"

    def run_program(self, text, args):
        return [~one if one.dtype == torch.bool else (one * 1.0625 + 0.0625).to(one.dtype)
                for one in super().run_program(text, args)]
"""


def check(*args: object) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, (*EXAMPLES, *args)), "--determinism", "1", "--workers", "1"])


@pytest.mark.one_in(6)
def test_they_pass_on_xla() -> None:
    found = check("--backend", "xla")
    assert found.exit_code == 0, found.output
    assert "coverage 100 %" in found.output


def test_an_engine_that_is_wrong_fails_each(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    found = check("--backend", f"{tmp_path / 'wrong.py'}::Wrong")
    assert all(f"FAIL {path.name}@main" in found.output for path in EXAMPLES), found.output


def drawn(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    fmt = FORMATS[dtype]
    if fmt.is_complex:
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(fmt.storage)
    if fmt.is_float:
        return np.asarray(round_to(fmt, rng.standard_normal(shape)))
    return rng.integers(0, 2, shape).astype(fmt.storage)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda one: one.stem)
def test_folding_changes_nothing(path: Path) -> None:
    text, results = path.read_text(encoding="utf-8"), []
    for one in (text, fold(text)):
        function, rng = parse(one, path.name).functions["main"], np.random.default_rng(0)
        inputs = [Tensor(drawn(value.dtype, value.shape, rng)) for value in function.arguments]
        results.append([each.array.tobytes() for each in evaluate(Program(function), StableHLO(), inputs)])
    assert results[0] == results[1]
