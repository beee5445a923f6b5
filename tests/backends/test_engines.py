"""XLA and IREE as backends: a program goes in as text, tensors as they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from conform.backends import names
from conform.backends.base import Backend, BackendUnavailable
from conform.errors import Unsupported

pytestmark = pytest.mark.one_in(4)

NEEDED = {"xla": "jaxlib", "iree": "iree.compiler", "self": "jaxlib"}
ENGINES = [name for name in NEEDED if name != "self"]

SUM = """module {
  func.func public @main(%x: tensor<2x3xTYPE>, %y: tensor<2x3xTYPE>) -> (tensor<2x3xTYPE>, tensor<2x3xTYPE>) {
    %0 = stablehlo.add %x, %y : tensor<2x3xTYPE>
    return %0, %x : tensor<2x3xTYPE>, tensor<2x3xTYPE>
  }
}
"""
DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16,
          "i8": torch.int8, "i64": torch.int64, "ui16": torch.uint16, "complex<f32>": torch.complex64}  # fmt: skip


@pytest.fixture(params=NEEDED)
def backend(request: pytest.FixtureRequest) -> Backend:
    pytest.importorskip(NEEDED[request.param], reason=f"backend {request.param} needs it")
    return names.load(request.param)


@pytest.mark.parametrize("element", DTYPES)
def test_a_program_runs_on_tensors_of_every_dtype(backend: Backend, element: str) -> None:
    x = torch.arange(6).reshape(2, 3).to(DTYPES[element])
    total, same = backend.run_program(SUM.replace("TYPE", element), [x, x])
    assert (total.dtype, total.tolist()) == (x.dtype, [[0, 2, 4], [6, 8, 10]])
    assert torch.equal(same, x)


def test_bools(backend: Backend) -> None:
    x, text = torch.tensor([[True, False, True], [False, True, False]]), SUM.replace("TYPE", "i1")
    _, same = backend.run_program(text.replace("stablehlo.add", "stablehlo.and"), [x, x])
    assert torch.equal(same, x)


@pytest.mark.parametrize(
    "x", [torch.arange(6.0).reshape(3, 2).T, torch.arange(12.0)[::2].reshape(2, 3)], ids=["transposed", "with gaps"]
)
def test_whatever_the_layout_of_a_tensor(backend: Backend, x: torch.Tensor) -> None:
    kept = x.clone()
    total, _ = backend.run_program(SUM.replace("TYPE", "f32"), [x, x])
    assert total.tolist() == (2 * kept).tolist()
    assert torch.equal(x, kept)


def test_xla_tells_its_switches_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jaxlib", reason="backend xla needs it")
    xla = names.load("xla")
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    assert xla.numerics() == {"instructions": torch.backends.cpu.get_cpu_capability()}
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    assert xla.numerics()["XLA_FLAGS"] == "--xla_cpu_enable_fast_math=true"


def test_no_elements_and_no_dims(backend: Backend) -> None:
    text = """func.func public @main(%x: tensor<0x2xf32>, %y: tensor<f32>) -> (tensor<0x2xf32>, tensor<f32>) {
      return %x, %y : tensor<0x2xf32>, tensor<f32>
    }"""
    empty, scalar = backend.run_program(text, [torch.zeros(0, 2), torch.tensor(2.5)])
    assert (empty.shape, scalar.shape, scalar.item()) == ((0, 2), (), 2.5)


@pytest.mark.parametrize("name", ENGINES)
def test_operators_of_torch_are_none_of_theirs(name: str) -> None:
    pytest.importorskip(NEEDED[name])
    with pytest.raises(Unsupported, match="runs StableHLO programs"):
        names.load(name).run("aten::neg", [torch.ones(2)], {})


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_that_is_not_installed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, NEEDED[name], None)
    with pytest.raises(BackendUnavailable, match=rf"backend {name} needs .*pip install 'conform\["):
        names.load(name)


def test_a_backend_of_operators_runs_no_programs() -> None:
    with pytest.raises(Unsupported, match="cpu runs no StableHLO programs"):
        names.load("cpu").run_program(SUM, [])


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("present", [True, False])
def test_backends_are_listed_with_what_they_need(
    name: str, present: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Callable[[str], object | None] = lambda package: object() if present else None  # noqa: E731
    monkeypatch.setattr("importlib.util.find_spec", found)
    (row,) = [row for row in names.backends() if row[0] == name]
    assert row[1] is present
    assert ("StableHLO programs" if present else "is not installed") in row[2]


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_that_flushes_subnormals_declares_it(name: str) -> None:
    pytest.importorskip(NEEDED[name])
    engine, text = names.load(name), SUM.replace("TYPE", "f32").replace("stablehlo.add", "stablehlo.multiply")
    squares, same = engine.run_program(text, [torch.full((2, 3), 1e-20)] * 2)
    assert engine.flushes_subnormals == (not squares.any())
    assert same.all()
