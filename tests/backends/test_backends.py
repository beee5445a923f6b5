"""The backends themselves, in this process: torch's devices, the interpreter, and how names are listed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest
import torch

import conform.backends
from conform.backends import names
from conform.backends.interpreter import Interpreter, to_numpy, to_torch
from conform.backends.one_op import OneOp
from conform.backends.protocol import DTYPES
from conform.backends.torch_device import TorchDevice
from conform.errors import Unsupported

# torch keeps "cpu:0" apart from "cpu": tensors are copied to it as to an accelerator.
OTHER_DEVICE = "cpu:0"


@pytest.mark.parametrize("device", ["cpu", OTHER_DEVICE])
def test_torch_device_runs_overloads(device: str) -> None:
    backend = TorchDevice(device)
    x = torch.tensor([1.0, 2.0])
    assert backend.run("aten::add.Tensor", [x, x], {"alpha": 2}).tolist() == [3, 6]
    assert backend.run("aten::exp", [torch.zeros(())], {}).item() == 1
    assert backend.run("aten::cat", [[x, x]], {"dim": 0}).tolist() == [1, 2, 1, 2]
    assert backend.run("aten::arange", [3], {"dtype": torch.int64}).tolist() == [0, 1, 2]


def test_operator_that_torch_lacks_is_unsupported() -> None:
    with pytest.raises(Unsupported, match=r"has no operator aten::add\.Nowhere"):
        TorchDevice().run("aten::add.Nowhere", [], {})


class Recorder(TorchDevice):
    """Keeps the tensor that would go to the device."""

    def moved(self, tensor: torch.Tensor) -> torch.Tensor:
        return self._moved(tensor, [])


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((2, 3), (3, 1), 0),
        ((2, 3), (1, 2), 0),
        ((2, 3), (6, 2), 1),
        ((2, 3), (0, 1), 3),
        ((), (), 4),
        ((0, 3), (3, 1), 0),
    ],
)
def test_layouts_move_to_a_device_unchanged(shape: tuple, strides: tuple, offset: int) -> None:
    tensor = torch.arange(24.0).as_strided(shape, strides, offset)
    moved = Recorder(OTHER_DEVICE).moved(tensor)
    assert (moved.shape, moved.stride(), moved.storage_offset()) == (tensor.shape, strides, offset)
    assert moved.tolist() == tensor.tolist()
    assert moved.untyped_storage().nbytes() == tensor.untyped_storage().nbytes()


class Accelerator(TorchDevice):
    """A device with memory of its own, which CPU-only torch has not: copies."""

    def _moved(self, value: object, storages: list) -> object:
        moved = super()._moved(value, storages)
        if isinstance(moved, torch.Tensor):
            original, copy = storages[-1]
            storages[-1] = (original, copy.clone())
            return storages[-1][1].as_strided(moved.shape, moved.stride(), moved.storage_offset())
        return moved


def test_input_mutated_on_a_device_shows_on_the_cpu() -> None:
    x = torch.tensor([1.0, 2.0])
    Accelerator(OTHER_DEVICE).run("aten::add_.Tensor", [x, 5], {})
    assert x.tolist() == [6, 7]


class OwnKernel(TorchDevice):
    def kernel(self, op: str) -> Callable[..., Any]:
        return lambda *args, **kwargs: super(OwnKernel, self).kernel(op)(*args, **kwargs) + 100


class OwnRun(TorchDevice):
    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return super().run(op, args, kwargs) + 100


class OwnModules(OwnKernel):
    def of_module(self, module: torch.nn.Module) -> Callable[..., Any]:
        return lambda *args: module(*args) + 1


@pytest.mark.parametrize(
    ("backend", "result"), [(TorchDevice, 3.0), (OwnKernel, 103.0), (OwnRun, 103.0), (OwnModules, 4.0)]
)
def test_modules_run_by_kernels_of_ones_own(backend: type[TorchDevice], result: float) -> None:
    assert backend().run_module(OneOp("aten::abs"), [torch.tensor([-3.0])], {}).tolist() == [result]


def test_creation_happens_on_the_device() -> None:
    backend = TorchDevice(OTHER_DEVICE)
    backend.device = "meta"  # on which the result shows where it was made
    assert backend.run("aten::arange", [3], {}).device.type == "meta"
    assert backend.run("aten::arange", [3], {"device": torch.device("cpu")}).device.type == "cpu"


@pytest.mark.parametrize("name", DTYPES)
def test_interpreter_converts_every_dtype_bit_for_bit(name: str) -> None:
    codes = np.arange(16 * 6, dtype=np.uint8)
    raw = codes % 2 if name == "bool" else codes + 160  # wraps: 160..255, 0
    array = raw.view(DTYPES[name])[:6].reshape(2, 3)
    tensor = to_torch(array.T)
    assert tensor.dtype == getattr(torch, name)
    assert to_numpy(tensor.T).dtype == array.dtype
    assert to_numpy(tensor.T).tobytes() == array.tobytes()
    assert to_numpy(to_torch(array[:0])).shape == (0, 3)
    assert to_numpy(to_torch(array[0, 0].reshape(()))).tobytes() == array[0, 0].tobytes()


def test_interpreter_takes_torch_constants_by_name() -> None:
    values = [torch.float64, torch.channels_last, torch.strided, torch.device("cuda", 1), None, (2, [0.5])]
    assert to_numpy(values) == ["float64", "channels_last", "strided", "cuda:1", None, (2, [0.5])]


def test_interpreter_answers_with_the_golden() -> None:
    x = torch.tensor([3.0, 1.0, 2.0], dtype=torch.bfloat16)
    values, indices = Interpreter().run("aten::sort", [x], {})
    assert (values.dtype, values.tolist(), indices.tolist()) == (torch.bfloat16, [1, 2, 3], [1, 2, 0])
    with pytest.raises(Unsupported, match="no semantics"):
        Interpreter().run("aten::_fused_dropout", [x, 0.5], {})


def test_list_of_backends_says_what_is_there() -> None:
    listed = {name: (available, detail) for name, available, detail in names.backends()}
    assert listed["self"][0]
    assert listed["cpu"][0]
    assert listed["cpu"][1].startswith(f"torch {torch.__version__}, ")
    assert listed["cuda"][0] == torch.cuda.is_available()


def test_names_are_reachable_without_torch() -> None:
    script = "import sys, conform.backends, conform.backends.client; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert issubclass(conform.backends.TorchDevice, conform.backends.Backend)


def test_entry_points_are_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("vendor", "tests.backends.misbehaving:Sevens", names.ENTRY_POINT_GROUP)
    monkeypatch.setattr(names, "entry_points", lambda group: [point] if group == "conform.backends" else [])
    assert names.load("vendor").name == "sevens"
    assert ("vendor", True, "entry point tests.backends.misbehaving:Sevens") in names.backends()
