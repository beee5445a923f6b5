"""Modules of test files: what is constructed, what a backend gets, how each test ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import conform
from conform.errors import NoGolden, UsageError
from conform.frontends.construction import module_of
from conform.suites import load
from conform.suites.cases import Selection, draws

pytestmark = pytest.mark.one_in(6)

OWN = """
import torch


class Normed(torch.nn.Module):
    def __init__(self, inner, width, table=None):
        super().__init__()
        self.inner, self.norm, self.table = inner, torch.nn.BatchNorm1d(width), table
        self.register_buffer("places", torch.arange(4.0))
        self.register_buffer("steps", torch.tensor(3))

    def forward(self, x, *, by=1.0):
        return self.norm(self.inner(x)) * by


class MyLinear(torch.nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(m))
        self.weight = torch.nn.Parameter(torch.randn(m, n))

    def forward(self, x):
        return (x[..., None, :] * self.weight).sum(-1) + self.bias


class Branch(torch.nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x
"""

SUITE = """
dims: {N: 6}
presets:
  x: {type: tensor, shape: [3, N], kind: float, init: normal}
tests:
- {id: linear, op: {type: module, path: torch.nn.Linear, args: [6, 4]}, in: [{ref: x}]}
- {id: softmax, op: {type: module, path: torch.nn.Softmax, kwargs: {dim: -1}}, in: [{ref: x}]}
- {id: gelu, op: {type: module, path: torch.nn.GELU}, in: [{ref: x}]}
- id: own
  op:
    type: module
    path: file:own.py::Normed
    args: [{type: construct, path: torch.nn.Linear, args: [6, 4]}, 4, {type: tensor, shape: [2], dtype: float32}]
  in: [{ref: x}]
  kwargs: {by: {type: const, value: 2.5}}
- id: norm
  op: {type: template_module, path: "torch.nn.{c}", vars: {c: [LayerNorm, RMSNorm]}, args: [6]}
  in: [{ref: x}]
- id: pair
  op:
    type: template_compare_pair
    vars: {m: [3]}
    common: {args: [6, {var: m}]}
    a: {impl: torch, type: module, path: torch.nn.Linear}
    b: {impl: own, type: module, path: file:own.py::MyLinear}
  in: [{ref: x}]
- {id: branch, op: {type: module, path: file:own.py::Branch}, in: [{ref: x}]}
- {id: absent, op: {type: module, path: torch.nn.Linea}, in: [{ref: x}]}
- {id: no_file_class, op: {type: module, path: file:own.py::Absent}, in: [{ref: x}]}
- {id: no_module, op: {type: module, path: collections.OrderedDict}, in: [{ref: x}]}
- {id: too_few, op: {type: module, path: torch.nn.Linear, args: [6]}, in: [{ref: x}]}
"""

BACKENDS = """
import os
import torch
import conform
from conform.backends import TorchDevice


class Wrong(TorchDevice):
    name = "wrong"

    def run_module(self, module, args, kwargs):
        assert not module.training
        kind = type(module).__name__
        if kind == "Linear":
            return super().run_module(module, args, kwargs) * 1.001
        if kind == "Softmax":
            os.abort()
        if kind == "GELU":
            return super().run_module(module, args, kwargs).mul_(1), args[0].mul_(1.5)
        if kind == "LayerNorm":
            raise conform.Unsupported("no norms of layers")
        if kind == "RMSNorm":
            return {"out": super().run_module(module, args, kwargs).double()}
        if kind == "MyLinear":
            raise RuntimeError("out of order")
        return [super().run_module(module, args, kwargs)]


class Own(TorchDevice):
    name = "own"

    def run(self, op, args, kwargs):
        return Kernels().run(op, args, kwargs)


class Kernels(conform.Backend):
    \"\"\"Operators of one's own; gelu is the other one.\"\"\"
    name = "kernels"

    def run(self, op, args, kwargs):
        if op == "aten::native_layer_norm":
            raise conform.Unsupported("no norms of layers")
        if op == "aten::gelu":
            return torch.ops.aten.gelu(*args, approximate="tanh")
        packet, _, overload = op.removeprefix("aten::").partition(".")
        return getattr(getattr(torch.ops.aten, packet), overload or "default")(*args, **kwargs)
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("modules")
    for name, text in (("own.py", OWN), ("suite.yaml", SUITE), ("backend.py", BACKENDS)):
        (path / name).write_text(text)
    return path


def ends(directory: Path, backend: str, **selection: Any) -> dict[str, tuple[str, str | None]]:
    run = conform.check([str(directory / "suite.yaml")], backend, **selection)
    return {case["test"]: (case["status"], case["reason"]) for case in run.cases}


PASSED = ["linear", "softmax", "gelu", "own", "norm__c=LayerNorm", "norm__c=RMSNorm", "pair__a__m=3", "pair__b__m=3"]
REASONS = {
    "branch": "module Branch cannot be exported: ",
    "absent": "module torch.nn.Linea cannot be constructed: AttributeError: module 'torch.nn' has no attribute 'Linea'",
    "no_file_class": "module file:own.py::Absent cannot be constructed: AttributeError",
    "no_module": "module collections.OrderedDict cannot be constructed: TypeError",
    "too_few": "module torch.nn.Linear cannot be constructed: TypeError: Linear.__init__() missing 1 required",
}


def test_modules_end_like_operators(directory: Path) -> None:
    run = conform.check([str(directory / "suite.yaml")], "cpu")
    found = {case["test"]: (case["status"], case["reason"]) for case in run.cases}
    pairs = {case["test"]: case["pair"] for case in run.cases if "pair" in case}
    assert {name: {key: pair[key] for key in ("group", "side", "impl")} for name, pair in pairs.items()} == {
        "pair__a__m=3": {"group": "pair__m=3", "side": "a", "impl": "torch"},
        "pair__b__m=3": {"group": "pair__m=3", "side": "b", "impl": "own"},
    }
    assert {name for name, end in found.items() if end == ("pass", None)} == set(PASSED)
    for name, reason in REASONS.items():
        assert found[name][0] == "unjudged"
        assert found[name][1].startswith(reason), found[name]


def test_what_a_backend_makes_of_modules_is_judged(directory: Path) -> None:
    found = ends(directory, f"{directory / 'backend.py'}::Wrong", ids=[f"{name}/*" for name in PASSED])
    assert found == {
        "linear": ("fail", "error above the bound"),
        "softmax": ("crash", "SIGABRT (Aborted)"),
        "gelu": ("fail", "the backend changed its input tensor 0"),
        "own": ("pass", None),
        "norm__c=LayerNorm": ("unsupported", "no norms of layers"),
        "norm__c=RMSNorm": ("fail", "output 0: dtype float64 instead of float32"),
        "pair__a__m=3": ("fail", "error above the bound"),
        "pair__b__m=3": ("error", "RuntimeError: out of order (in run_module, backend.py:25)"),
    }


@pytest.mark.parametrize("name", ["Kernels", "Own"])
def test_a_backend_of_operators_gets_those_of_a_module(directory: Path, name: str) -> None:
    found = ends(directory, f"{directory / 'backend.py'}::{name}", ids=[f"{name}/*" for name in PASSED])
    assert found.pop("gelu")[0] == "fail"
    assert found.pop("norm__c=LayerNorm") == ("unsupported", "no norms of layers")
    assert set(found.values()) == {("pass", None)}


def test_the_interpreter_passes_and_half_types_are_judged(directory: Path) -> None:
    chosen = [f"{name}/*" for name in ("linear", "own", "norm*")]
    assert set(ends(directory, "self", ids=chosen).values()) == {("pass", None)}
    run = conform.check([str(directory / "suite.yaml")], "cpu", ids=chosen, dtypes=["bfloat16"])
    assert {(case["dtype"], case["status"]) for case in run.cases} == {("bfloat16", "pass")}
    assert all(case["compared"] for case in run.cases)


# --- What is constructed ----------------------------------------------------------------------------------------------


def modules(directory: Path, name: str, seed: int = 0, dtype: str | None = None) -> nn.Module:
    suite = load([directory / "suite.yaml"])
    (test,) = (one for one in suite.tests if one.id == name)
    selection = Selection(seed=seed, dtypes=[dtype] if dtype else ())
    return module_of(next(draws(test, selection))).module


def test_parameters_hang_on_seed_and_name_alone(directory: Path) -> None:
    state = torch.get_rng_state()
    a, b = modules(directory, "pair__a__m=3"), modules(directory, "pair__b__m=3")
    assert torch.equal(a.weight, b.weight)
    assert torch.equal(a.bias, b.bias)
    torch.manual_seed(99)
    assert torch.equal(modules(directory, "pair__a__m=3").weight, a.weight)
    assert not torch.equal(modules(directory, "pair__a__m=3", seed=1).weight, a.weight)
    assert not torch.equal(modules(directory, "linear").weight[:3], a.weight)
    assert a.weight.abs().max() <= 6**-0.5
    assert a.weight.std() > 0.3 * 6**-0.5
    torch.set_rng_state(state)
    modules(directory, "linear")
    assert torch.equal(torch.get_rng_state(), state)


def test_what_a_constructor_sets_to_one_number_is_drawn_beside_it_and_tables_stay(directory: Path) -> None:
    own = modules(directory, "own")
    assert not own.training
    norm = own.norm
    for one, centre in ((norm.weight, 1.0), (norm.running_var, 1.0), (norm.bias, 0.0), (norm.running_mean, 0.0)):
        assert len(set(one.tolist())) == 4
        assert (one - centre).abs().max() <= 0.25
    assert own.places.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert (own.steps.item(), norm.num_batches_tracked.item()) == (3, 0)
    assert (type(own.inner), type(own.table), tuple(own.table.shape)) == (nn.Linear, torch.Tensor, (2,))


def test_a_module_has_the_dtype_of_inputs_that_leave_theirs_open(directory: Path) -> None:
    assert {one.dtype for one in modules(directory, "own", dtype="bfloat16").parameters()} == {torch.bfloat16}


def test_reasons_are_told_before_anything_runs(directory: Path) -> None:
    with pytest.raises(NoGolden, match=r"OrderedDict cannot be constructed: TypeError: found OrderedDict, expected"):
        modules(directory, "no_module")


# --- From Python ------------------------------------------------------------------------------------------------------


class Nest(nn.Module):
    def forward(self, x: torch.Tensor, options: dict[str, torch.Tensor], names: tuple = ()) -> dict[str, Any]:
        return {"b": x * options["by"], "a": (x + 1, None)}


def digest_of(module: nn.Module, x: torch.Tensor) -> str:
    from conform.given_module import suite_of

    return suite_of(module, [x]).digest


def test_one_call_of_a_module(tmp_path: Path) -> None:
    module, x = nn.Linear(6, 3), torch.randn(2, 6, generator=torch.Generator().manual_seed(0))
    run = conform.check(module, x, backend="cpu")
    (case,) = run.cases
    assert (case["id"], case["status"], case["compared"]) == ("Linear/float32/given/contiguous", "pass", 6)
    assert case["op"] == "torch.nn.modules.linear.Linear"
    assert run.record["suite"]["names"] == ["Linear"]
    other = conform.check(nn.Linear(6, 3), (x,), backend="cpu")
    assert other.record["suite"]["digest"] != run.record["suite"]["digest"] == digest_of(module, x)

    def run_halved(op: str, args: list, kwargs: dict) -> Any:
        import torch

        return torch.ops.aten.addmm(*args, **kwargs) / 2

    assert conform.check(module, [x], backend=run_halved).cases[0]["status"] == "fail"


def test_nests_of_tensors_travel() -> None:
    run = conform.check(Nest(), (torch.ones(2), {"by": np.float32([3.0])}, ("k", 1)), backend="cpu")
    assert [(case["status"], case["compared"]) for case in run.cases] == [("pass", 4)]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ((), {}, "found nothing behind the module, expected its inputs"),
        ((1, 2), {}, "found int, int behind the module, expected its inputs, and where it takes some a dict"),
        (((object(),),), {}, "inputs: found object, expected tensors"),
        ((torch.zeros(1, device="meta"),), {}, r"inputs\[0\]: found a tensor of shape \[1\] on the meta device"),
        ((torch.zeros(1),), {"ids": ["x"]}, "--id 'x' matches no case"),
    ],
)
def test_what_is_no_call_of_a_module(given: tuple, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        conform.check(nn.GELU(), *given, **options)


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor, *, by: torch.Tensor, shift: float = 0.0) -> torch.Tensor:
        return x * by + shift


def test_keyword_arguments_stand_behind_the_inputs() -> None:
    x, by = torch.ones(2), torch.tensor([3.0, 4.0])
    run = conform.check(Scaled(), (x,), {"by": by, "shift": 2.0}, backend="cpu")
    assert [(case["status"], case["compared"]) for case in run.cases] == [("pass", 2)]
    digests = {
        conform.check(Scaled(), (x,), named, backend="self").record["suite"]["digest"]
        for named in ({"by": by}, {"by": by, "shift": 2.0}, {"by": 2 * by})
    }
    assert len(digests) == 3


def test_a_class_is_no_module() -> None:
    with pytest.raises(UsageError, match=r"found the class Linear; expected an instance of it: Linear\(...\)"):
        conform.check(nn.Linear, (torch.ones(2),), backend="cpu")
    with pytest.raises(UsageError, match="found the class Linear; expected an instance of it"):
        conform.golden(nn.Linear, torch.ones(2))


def test_what_torch_compile_gives_is_judged_by_what_was_compiled() -> None:
    linear, x = nn.Linear(6, 3).eval(), torch.ones(2, 6)
    compiled = torch.compile(linear, backend="eager")
    with torch.no_grad():
        conform.assert_close(compiled, compiled(x), x)
    assert conform.golden(compiled, x).value.tolist() == conform.golden(linear, x).value.tolist()
    (case,) = conform.check(compiled, (x,), backend="cpu").cases
    assert (case["op"], case["status"]) == ("torch.nn.modules.linear.Linear", "pass")


def test_a_module_that_cannot_travel_has_a_golden_all_the_same() -> None:
    module, x = nn.utils.parametrizations.weight_norm(nn.Linear(6, 3)).eval(), torch.ones(2, 6)
    with torch.no_grad():
        conform.assert_close(module, module(x), x)
        before = conform.golden(module, x).value
        module.parametrizations.weight.original0.mul_(2)  # and it is not taken for the one of before
        conform.assert_close(module, module(x), x)
    assert (conform.golden(module, x).value != before).any()
    with pytest.raises(NoGolden, match=r"cannot be pickled, to be sent to a worker: .*assert_close judges what it"):
        conform.check(module, (x,), backend="cpu")


def test_two_backends_are_one_too_many() -> None:
    with pytest.raises(UsageError, match=r"check\(suites, backend\): found 2 backends, expected one"):
        conform.check("smoke", "cpu", backend="cpu")


def test_a_module_s_case_is_explained(directory: Path) -> None:
    command = [sys.executable, "-m", "conform", "explain", "linear/float32/typical/contiguous", "--suite"]
    done = subprocess.run([*command, str(directory / "suite.yaml")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "\ninput: float32 [" in done.stdout
    assert "\nexpected output 0: float32 [" in done.stdout
