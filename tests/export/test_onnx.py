"""Cases as models in ONNX, run by onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from conform.cli import main
from conform.errors import UsageError
from conform.export.case import exported
from conform.export.onnx import model

pytestmark = pytest.mark.one_in(6)

onnx = pytest.importorskip("onnx", reason="ONNX needs the extra conform[onnx]")
runtime = pytest.importorskip("onnxruntime")

SUITE = """tests:
- {id: exp, op: aten::exp, in: [{type: tensor, shape: [4, 9], dtype: float32}]}
- {id: norm, op: aten::native_layer_norm, in: [{type: tensor, shape: [3, 8], dtype: float32}, {type: int_list,
   elems: [8]}, {type: tensor, shape: [8], dtype: float32}, {type: tensor, shape: [8], dtype: float32}, {type: const,
   value: 1.0e-5}]}
- {id: floor, op: aten::floor, in: [{type: const_tensor, shape: [4], dtype: float32, value: [0.5, -0.0, -0.5, .nan]}]}
- {id: product, op: aten::mul.Tensor, in: [{type: tensor, shape: [3, 1], dtype: int32}, {type: tensor, shape: [4],
   dtype: int32}]}
- {id: halves, op: aten::add.Tensor, in: [{type: tensor, shape: [64], dtype: float16}, {type: tensor, shape: [64],
   dtype: float16}]}
- {id: less, op: aten::lt.Tensor, in: [{type: tensor, shape: [5], dtype: float64}, {type: tensor, shape: [5],
   dtype: float64}]}
- {id: bits, op: aten::bitwise_not, in: [{type: tensor, shape: [5], dtype: uint64}]}
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("onnx") / "suite.yaml"
    path.write_text(SUITE)
    return str(path)


def made(suite: str, case_id: str) -> Any:
    return onnx.load_from_string(model(exported(case_id, [suite], 0, "opencl")))


def counts(proto: Any) -> list[int]:
    """What onnxruntime gives for a model that is fed nothing."""
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [int(one) for one in session.run(None, {})]


@pytest.mark.parametrize(
    ("case_id", "outputs"),
    [
        ("exp/float32/typical/contiguous", 1),
        ("norm/float32/typical/contiguous", 3),
        ("floor/float32/typical/contiguous", 1),
        ("product/int32/typical/contiguous", 1),
        ("halves/float16/typical/contiguous", 1),
        ("less/float64/typical/contiguous", 1),
    ],
)
def test_onnxruntime_has_nothing_wrong(suite: str, case_id: str, outputs: int) -> None:
    assert counts(made(suite, case_id)) == [0] * outputs


def test_wrong_results_are_counted(suite: str) -> None:
    """Another op, other inputs, another sign of zero."""
    sine = made(suite, "exp/float32/typical/contiguous")
    (node,) = [one for one in sine.graph.node if one.op_type == "Exp"]
    node.op_type = "Sin"
    assert counts(sine)[0] == 36
    moved = made(suite, "exp/float32/typical/contiguous")
    (given,) = [one for one in moved.graph.initializer if one.name == moved.graph.input[0].name]
    array = np.frombuffer(given.raw_data, np.float32).copy()
    array[3] += np.float32(1e-5)
    given.raw_data = array.tobytes()
    assert counts(moved) == [1]
    zeros = made(suite, "floor/float32/typical/contiguous")
    (node,) = [one for one in zeros.graph.node if one.op_type == "Floor"]
    node.output[0], below = "positive", node.output[0]
    nothing = onnx.helper.make_tensor("nothing", onnx.TensorProto.FLOAT, [], [0.0])
    zeros.graph.initializer.append(nothing)
    zeros.graph.input.append(onnx.helper.make_tensor_value_info("nothing", onnx.TensorProto.FLOAT, []))
    at = list(zeros.graph.node).index(node) + 1
    zeros.graph.node.insert(at, onnx.helper.make_node("Add", ["positive", "nothing"], [below]))
    assert counts(zeros) == [1]  # -0 + 0 is +0


def test_inputs_are_no_constants(suite: str) -> None:
    """A runtime may be fed others, so it must not compute with these before it runs."""
    proto = made(suite, "exp/float32/typical/contiguous")
    defaults = {one.name for one in proto.graph.initializer}
    assert {one.name for one in proto.graph.input} <= defaults
    assert proto.doc_string == "exp/float32/typical/contiguous: aten::exp, contract opencl, seed 0"


def test_what_has_no_form_is_told(suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"aten::bitwise_not|uint64 is compared by no op of ONNX"):
        made(suite, "bits/uint64/typical/contiguous")
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(UsageError, match=r"pip install 'conform\[onnx\]'"):
        made(suite, "exp/float32/typical/contiguous")


def test_a_program_has_none(tmp_path: Path) -> None:
    pytest.importorskip("jaxlib")
    path = tmp_path / "x.mlir"
    path.write_text("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n")
    words = ["export", "x.mlir@main/float32/typical/contiguous", "--suite", str(path), "--to", "onnx"]
    found = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "x.onnx")])
    assert (found.exit_code, "a StableHLO program has no form in ONNX here" in found.output) == (2, True)


def test_the_file_is_written(suite: str, tmp_path: Path) -> None:
    words = ["export", "less/float64/typical/contiguous", "--suite", suite, "--to", "onnx", "--out"]
    found = CliRunner().invoke(main, [*words, str(tmp_path / "less.onnx")])
    assert (found.exit_code, found.stdout) == (0, f"written: {tmp_path / 'less.onnx'}\n"), found.output
    assert counts(onnx.load(tmp_path / "less.onnx")) == [0]
