"""Sentences of the specification that only a run shows: what a backend gets, and how tests end."""

from __future__ import annotations

from pathlib import Path

import pytest

import conform
from conform.call.schemas import schema
from conform.errors import UsageError
from conform.judging.case import cannot_run
from conform.suites import load
from conform.suites.cases import Selection
from conform.suites.select import select

SUITE = """
presets:
  x: {type: tensor, shape: [2, 3], dtype: float32}
  images: {type: tensor, shape: [1, 2, 3, 4], dtype: float32}
tests:
- {id: dtype, op: aten::sum, in: [{ref: x}], kwargs: {dtype: {type: const, value: float64}}}
- id: all_four
  op: aten::_to_copy
  in: [{ref: images}]
  kwargs:
    dtype: {type: const, value: bfloat16}
    layout: {type: const, value: strided}
    device: {type: const, value: cpu}
    memory_format: {type: const, value: channels_last}
- {id: list, op: aten::cat, in: [{type: list, len: 3, elem: {ref: x}}, {type: const, value: -1}]}
- {id: tuple, op: aten::cat, in: [{type: tuple, elems: [{ref: x}, {ref: x}]}]}
- {id: scalar, op: aten::add, in: [{ref: x}, {type: scalar, kind: float, low: -1, high: 1}]}
- {id: scalar_tensor, op: aten::add, in: [{ref: x}, {type: scalar_tensor, kind: float}]}
- {id: none, op: aten::sum, in: [{ref: x}, {type: const, value: null}]}
- {id: empty, op: aten::neg, in: [{type: tensor, shape: [0, 3], dtype: float32}]}
- {id: gradient, op: aten::exp, in: [{type: tensor, shape: [3], dtype: float32, requires_grad: true}]}
- {id: cast, op: aten::mul, cast_input0_to_complex: true, in: [{type: tensor, shape: [3, 2], kind: float},
                                                               {type: scalar, kind: float, value: 2.0}]}
- {id: cpu, op: aten::neg, device: cpu, in: [{ref: x}]}
- {id: cuda, op: aten::neg, device: cuda, in: [{ref: x}]}
- {id: mps, op: aten::neg, device: mps, in: [{ref: x}]}
- {id: gpu, op: aten::neg, device: gpu, in: [{ref: x}]}
- {id: lacking, op: aten::poisson, in: [{ref: x}]}
- {id: module, op: {type: module, path: "no.such.Module"}, in: [{type: construct, path: no.such.Thing, args: []}]}
- {id: object, op: aten::neg, in: [{type: list, len: 1, elem: {type: construct, path: no.such.Thing, args: []}}]}
- {id: complex_abs, op: aten::abs, in: [{type: tensor, shape: [2], dtype: complex64}]}
"""

BACKEND = """
import torch
from conform.backends import TorchDevice

class Strict(TorchDevice):
    name = "strict"

    def run(self, op, args, kwargs):
        if op == "aten::_to_copy":
            assert kwargs == {"dtype": torch.bfloat16, "layout": torch.strided, "device": torch.device("cpu"),
                              "memory_format": torch.channels_last}
        if op == "aten::mul.Scalar":
            assert args[0].dtype == torch.complex64 and args[0].shape == (3,)
        for argument in args:
            if isinstance(argument, torch.Tensor):
                assert argument.requires_grad == (op == "aten::exp")
        return super().run(op, args, kwargs)
"""


ABSENT = "cannot be constructed: ModuleNotFoundError: No module named 'no'"
ONLY = "the kit has semantics for tensors and literals only"


def run(directory: Path, **selection: object) -> dict[str, tuple[str, str | None]]:
    (directory / "suite.yaml").write_text(SUITE)
    (directory / "backend.py").write_text(BACKEND)
    found = conform.check([str(directory / "suite.yaml")], f"{directory / 'backend.py'}::Strict", **selection)
    return {case["id"]: (case["status"], case["reason"]) for case in found.cases}


def test_how_each_test_ends_on_a_cpu(tmp_path: Path) -> None:
    found = run(tmp_path)
    assert len(found) == 18
    assert {name.partition("/")[0]: end for name, end in found.items() if end != ("pass", None)} == {
        "cuda": ("unsupported", "the test is for device cuda, the backend runs on cpu"),
        "mps": ("unsupported", "the test is for device mps, the backend runs on cpu"),
        "gpu": ("unsupported", "the test is for device gpu, the backend runs on cpu"),
        "lacking": ("unjudged", "no semantics for aten::poisson"),
        "module": ("unjudged", f"module no.such.Module {ABSENT}"),
        "object": ("unjudged", f"an argument is an object to be constructed; {ONLY}"),
    }


@pytest.mark.parametrize(
    ("device", "allowed"), [("mps", {"mps", "gpu"}), ("cuda:1", {"cuda", "gpu"}), ("xpu", {"gpu"}), ("cpu", {"cpu"})]
)
def test_a_written_device_restricts_and_gpu_is_any_of_them(tmp_path: Path, device: str, allowed: set[str]) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    groups = select(load([path]), Selection(ids=["cpu/*", "cuda/*", "mps/*", "gpu/*"]))
    assert {case.draw.test.id for (case,) in groups if cannot_run(case, {"device": device}) is None} == allowed


def test_a_cast_input_counts_as_complex_where_a_dtype_is_asked_for(tmp_path: Path) -> None:
    assert run(tmp_path, dtypes=["complex64"], ops=["aten::mul"]) == {"cast/float32/typical/contiguous": ("pass", None)}
    with pytest.raises(UsageError, match="--op aten::mul --dtype float32 together"):
        run(tmp_path, dtypes=["float32"], ops=["aten::mul"])


def test_samples_are_cases_of_their_own(tmp_path: Path) -> None:
    found = run(tmp_path, samples=3, ids=["scalar/*"])
    assert list(found) == [f"scalar/float32/typical/contiguous{suffix}" for suffix in ("", "/1", "/2")]
    assert set(found.values()) == {("pass", None)}


def test_every_test_whose_arguments_do_not_fit_is_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("""\
tests:
- {id: a, op: aten::neg, in: [{type: const, value: a}]}
- {id: b, op: aten::cat, in: []}
""")
    with pytest.raises(UsageError) as error:
        conform.check([str(path)], "cpu")
    assert str(error.value).splitlines() == [
        f"{path}:2:30: test 'a': aten::neg: argument 'self': found 'a', expected Tensor",
        f"{path}:3:30: test 'b': aten::cat: argument 'tensors' (Tensor[]) is missing: {schema('aten::cat')}",
    ]


def test_a_file_without_tests_has_nothing_to_check(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("tests: []")
    with pytest.raises(UsageError, match=r"s\.yaml: no test, so no case to check$"):
        conform.check([str(path)], "cpu")


def test_scalars_are_exported_as_tensors_of_one_element(tmp_path: Path) -> None:
    """Export note: scalar nodes, nested or in kwargs, become (1,); scalar_tensor stays rank 0, const stays a number."""
    (tmp_path / "exporting.py").write_text(
        "import torch, conform\n"
        "class Exporting(conform.Backend):\n"
        "    name, exports = 'exporting', True\n"
        "    def run(self, op, args, kwargs):\n"
        "        other, alpha = args[1], kwargs['alpha']\n"
        "        shapes = [list(x.shape) if isinstance(x, torch.Tensor) else x for x in (other, alpha)]\n"
        "        if shapes != [EXPECTED[other.dtype], [1]]:\n"
        "            raise ValueError(f'{shapes} {other.dtype} {alpha}')\n"
        "        return torch.add(args[0], other, alpha=alpha.item())\n"
        "EXPECTED = {torch.float32: [1], torch.float64: []}\n"
    )
    suite = tmp_path / "scalars.yaml"
    suite.write_text(
        "tests:\n"
        "  - {id: scalar, op: aten::add, in: [{type: tensor, shape: [3], dtype: float32},"
        " {type: scalar, kind: float, value: 2.5}], kwargs: {alpha: {type: scalar, kind: int, value: 2}}}\n"
        "  - {id: scalar_tensor, op: aten::add, in: [{type: tensor, shape: [3], dtype: float64},"
        " {type: scalar_tensor, dtype: float64, value: 2.5}], kwargs: {alpha: {type: scalar, kind: int, value: 2}}}\n"
    )
    run = conform.check([str(suite)], backend=f"{tmp_path / 'exporting.py'}::Exporting")
    assert [(case["status"], case["reason"]) for case in run.cases] == [("pass", None)] * 2
