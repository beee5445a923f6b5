"""Every backend that is registered and available meets every invariant, with no edit of this file: each class of checks
on a few calls, and the equivalence with the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from click.testing import CliRunner

from conform.backends import names
from conform.cli import main
from conform.judging.verdict import CHECKS

pytestmark = pytest.mark.one_in(6)

SUITE = """tests:
- {id: neg, op: aten::neg, in: [{type: tensor, shape: [2, 3], dtype: float32}]}
- {id: refused, op: aten::neg, in: [{type: tensor, shape: [2], dtype: bool}]}
"""
PROGRAM = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.negate %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""
OF_PROGRAMS = [check for check in CHECKS if check not in ("special", "refusal")]  # nothing says what is an index there


def registered() -> list[str]:
    """The available ones, by name."""
    return [name for name, available, _ in names.backends() if available]


def faults(backends: Sequence[str], folder: Path, checks: Sequence[str] = CHECKS) -> list[str]:
    """What is wrong with these backends by the few calls; empty if nothing is."""
    path = folder / ("suite.yaml" if checks is CHECKS else "program.mlir")
    path.write_text(SUITE if checks is CHECKS else PROGRAM)
    words = [word for name in backends for word in ("--backend", name)]
    words += ["--checks", ",".join((*checks, "equivalence")), "--values", "all", "--layouts", "all", "--no-progress"]
    words += ["--id", "neg/*", "--id", "refused/*/typical/contiguous"] if checks is CHECKS else []
    result = CliRunner().invoke(main, ["check", str(path), *words, "--determinism", "2", "--out", str(folder / "out")])
    found = json.loads((folder / "out/equivalence.json").read_text())
    told = [f"{one['name']}: {one['verdict']}" for one in found["backends"] if one["verdict"] != "conformant"]
    told += [f"{name}: no run" for name in backends if name not in [one["name"] for one in found["backends"]]]
    for one in found["backends"]:
        counts = json.loads((folder / "out" / one["directory"] / "run.json").read_text())["checks"]["counts"]
        judged = {count["check"] for count in counts if count["judged"] == count["passed"] > 0}
        told += [f"{one['name']}: check {check} is not met" for check in checks if check not in judged]
    told += [f"{pair['backends']}: {one['reason']}" for pair in found["pairs"] for one in pair["failures"]]
    compared = sum(sum(pair["summary"].values()) - pair["summary"]["not compared"] for pair in found["pairs"])
    told += [] if compared else ["nothing compared"]
    return [*told, *([] if result.exit_code == 0 or told else [result.output])]


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.long)])
def test_every_registered_backend_meets_every_invariant(tmp_path: Path, compiled: bool) -> None:
    """Those that compile every call, for some ten seconds, with the long tests."""
    left_out = {*names.ENGINES, *(() if compiled else names.COMPILED)}
    found = [name for name in registered() if name not in left_out]
    if len(found) < 2:
        pytest.skip(f"equivalence needs two backends, there is {', '.join(found) or 'none'}")
    assert {"self", "cpu"} <= {*found}
    assert faults(found, tmp_path) == []


def test_every_engine_of_programs_meets_every_invariant(tmp_path: Path) -> None:
    pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")
    found = ["self", *(name for name in registered() if name in names.ENGINES)]
    assert faults(found, tmp_path, OF_PROGRAMS) == []


def test_a_new_entry_point_is_covered_and_what_is_wrong_with_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file stands for an installed package: an entry point that this process finds, the worker does not."""
    point = EntryPoint("vendor", "tests.equivalence.backends:OneElement", names.ENTRY_POINT_GROUP)
    monkeypatch.setattr(names, "entry_points", lambda group: [point])
    assert "vendor" in registered()
    wrong = f"{Path(__file__).with_name('backends.py')}::OneElement"
    found = faults(["cpu", wrong], tmp_path)
    assert f"{wrong}: not conformant" in found
    assert any("the answers differ" in one for one in found)
