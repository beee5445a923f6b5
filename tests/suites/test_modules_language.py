"""What the language says of modules, from the file to the verdict: objects, exporting backends, devices, pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import conform
from conform.cli import main

pytestmark = pytest.mark.one_in(6)

OWN = """
import torch


class Options:
    def __init__(self, by, window=None):
        self.by, self.window = by, window

    def __call__(self):
        raise RuntimeError("an object is not called")


class Scaled(torch.nn.Module):
    def forward(self, x, options, *more, by=1.0):
        assert isinstance(options, Options)
        last = x if options.window is None else x[..., : options.window.size]
        for one in more:
            last = last + one[0] * one[1].by
        return last * options.by * by


class Clipped(torch.nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = torch.nn.Parameter(torch.tensor(slope))

    def forward(self, x):
        return torch.where(x > 0, x, x * 0.5)


class Named(torch.nn.Module):
    def __init__(self, slope):
        super().__init__()

    def forward(self, x):
        return torch.nn.functional.leaky_relu(x, 0.5)


class Other(Named):
    def forward(self, x):
        return torch.nn.functional.leaky_relu(x, 0.25)
"""

SHAPES = """
class Window:
    def __init__(self, size):
        self.size = size
"""

HEAD = """
dims: {N: 4}
presets:
  x: {type: tensor, shape: [3, N], dtype: float32, init: normal}
  options: {type: construct, path: "file:own.py::Options", args: [0.5]}
tests:
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("language")
    (path / "helpers").mkdir()
    (path / "own.py").write_text(OWN)
    (path / "helpers" / "shapes.py").write_text(SHAPES)
    return path


def run(directory: Path, text: str, backend: str = "cpu", **options: Any) -> list[dict[str, Any]]:
    (directory / "suite.yaml").write_text(HEAD + text)
    return conform.check([str(directory / "suite.yaml")], backend, **options).cases


def ends(cases: list[dict[str, Any]]) -> dict[str, tuple[str, str | None]]:
    return {case["test"]: (case["status"], case["reason"]) for case in cases}


# --- Constructed objects ----------------------------------------------------------------------------------------------

OBJECTS = """
- {id: of_a_preset, op: {type: module, path: "file:own.py::Scaled"}, in: [{ref: x}, {ref: options}]}
- id: nested
  op: {type: module, path: "file:own.py::Scaled"}
  in:
  - {ref: x}
  - type: construct
    path: file:own.py::Options
    args: [{type: const, value: 2.0}]
    kwargs: {window: {type: construct, path: "file:helpers/shapes.py::Window", args: [2]}}
- id: in_a_list
  op: {type: module, path: "file:own.py::Scaled"}
  in: [{ref: x}, {ref: options}, {type: tuple, elems: [{type: tensor, shape: [3, N], dtype: float32}, {ref: options}]}]
  kwargs: {by: {type: const, value: 3.0}}
- id: absent
  op: {type: module, path: "file:own.py::Scaled"}
  in: [{ref: x}, {type: construct, path: "file:own.py::Absent", args: []}]
- id: of_an_operator
  op: aten::neg
  in: [{ref: options}]
"""


def test_objects_among_the_inputs_of_a_module_are_constructed_and_not_called(directory: Path) -> None:
    for layouts in ("as-written", "all"):
        found = ends(run(directory, OBJECTS, layouts=layouts))
        why = "an argument is an object to be constructed; the kit has semantics for tensors and literals only"
        assert found.pop("of_an_operator") == ("unjudged", why)
        status, reason = found.pop("absent")
        assert status == "unjudged"
        assert reason.startswith("module file:own.py::Scaled, an object among its inputs, cannot be constructed: Attr")
        assert found == dict.fromkeys(["of_a_preset", "nested", "in_a_list"], ("pass", None))


def test_an_object_needs_its_arguments(directory: Path) -> None:
    with pytest.raises(conform.UsageError, match=r"in\[1\].args: the key 'args' is missing"):
        run(
            directory,
            """
- id: m
  op: {type: module, path: torch.nn.ReLU}
  in: [{ref: x}, {type: construct, path: "file:own.py::Options"}]
""",
        )


# --- Exporting backends, devices --------------------------------------------------------------------------------------

BACKENDS = """
from conform.backends import TorchDevice


class Exports(TorchDevice):
    name, exports = "exports", True

    def run_module(self, module, args, kwargs):
        assert args[1].shape == (1,) and kwargs["by"].shape == (1,), (args, kwargs)
        assert args[2].shape == () and args[3] == 2.0, args
        return super().run_module(module, args, kwargs)
"""

EXPORTED = """
- id: scalars
  op: {type: module, path: "file:sums.py::Sum"}
  in:
  - {ref: x}
  - {type: scalar, kind: float, value: 0.5}
  - {type: scalar_tensor, kind: float, init: normal}
  - {type: const, value: 2.0}
  kwargs: {by: {type: scalar, kind: float, low: 1, high: 2}}
"""


def test_an_exporting_backend_gets_a_module_s_scalars_as_tensors(directory: Path) -> None:
    (directory / "backends.py").write_text(BACKENDS)
    (directory / "sums.py").write_text("""
import torch


class Sum(torch.nn.Module):
    def forward(self, x, a, b, c, *, by):
        return (x + a + b + c) * by
""")
    for backend in ("cpu", f"{directory / 'backends.py'}::Exports"):
        assert ends(run(directory, EXPORTED, backend)) == {"scalars": ("pass", None)}


def test_a_device_restricts_a_module_s_test(directory: Path) -> None:
    text = "- {id: m, op: {type: module, path: torch.nn.ReLU}, in: [{ref: x}], device: cuda}"
    assert ends(run(directory, text)) == {
        "m": ("unsupported", "the test is for device cuda, the backend runs on cpu")
    }  # fmt: skip


# --- Template modules -------------------------------------------------------------------------------------------------


def test_a_template_s_variables_reach_constructor_and_inputs(directory: Path) -> None:
    found = run(
        directory,
        """
- id: t
  op:
    type: template_module
    path: "torch.nn.{c}"
    vars: {c: [Linear, Bilinear], n: [N], m: [2, 3], bias: [true, false]}
    cases: [{c: Linear, m: 3}]
    args: [{var: n}, {var: m}]
    kwargs: {bias: {var: bias}}
  in: [{ref: x}]
""",
    )
    assert ends(found) == {
        f"t__c=Linear,n=N,m=3,bias={bias}": ("pass", None) for bias in ("true", "false")
    }  # fmt: skip
    assert {case["compared"] for case in found} == {9}


# --- Compare pairs ----------------------------------------------------------------------------------------------------

PAIR = """
- id: pair
  op:
    type: template_compare_pair
    vars: {{s: [0.5]}}
    common: {{args: [{{var: s}}]}}
    a: {{impl: mine, type: module, path: "file:own.py::Clipped"}}
    b: {{impl: theirs, type: module, path: "file:own.py::{b}"}}
  in: [{{ref: x}}]
"""

WRONG = """
from conform.backends import TorchDevice


class Wrong(TorchDevice):
    name = "wrong"

    def run_module(self, module, args, kwargs):
        result = super().run_module(module, args, kwargs)
        return result * (1 + 2.0**-20) if type(module).__name__ == "Clipped" else result
"""


def pair(cases: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    a, b = cases
    assert "elements" not in a["pair"]
    return b["pair"], [a["status"], b["status"]]


def test_the_sides_of_a_pair_are_compared_with_each_other_too(directory: Path) -> None:
    told, statuses = pair(run(directory, PAIR.format(b="Named")))
    assert statuses == ["pass", "pass"]
    assert told == {
        "group": "pair__s=0.5", "side": "b", "impl": "theirs", "elements": 12, "equal": 12, "apart_ulp": None,
        "truths_apart_ulp": None, "errors_ulp": [0.0, 0.0], "further": None, "other_impl": "mine",
    }  # fmt: skip


def test_which_side_is_further_from_the_truth_is_told(directory: Path) -> None:
    (directory / "wrong.py").write_text(WRONG)
    told, statuses = pair(run(directory, PAIR.format(b="Named"), f"{directory / 'wrong.py'}::Wrong"))
    assert statuses == ["fail", "pass"]
    assert (told["further"], told["equal"]) == ("a", 0)
    assert 8 <= told["apart_ulp"] <= 16  # 2^-20 of a number, in float32
    assert (told["errors_ulp"][0], told["errors_ulp"][1]) == (pytest.approx(told["apart_ulp"], rel=0.2), 0.0)


def test_sides_that_mean_different_things_are_both_right(directory: Path) -> None:
    told, statuses = pair(run(directory, PAIR.format(b="Other")))
    assert statuses == ["pass", "pass"]
    assert told["truths_apart_ulp"] == told["apart_ulp"] > 1e6
    assert told["further"] is None


def test_a_report_has_the_pairs(directory: Path) -> None:
    (directory / "suite.yaml").write_text(HEAD + PAIR.format(b="Other"))
    for workers in ("1", "2"):
        words = ["check", str(directory / "suite.yaml"), "--backend", "cpu", "--workers", workers]
        shown = CliRunner().invoke(main, words).output
        assert "pairs, the sides beside each other and beside the truth:\n" in shown
        assert "pair__s=0.5/float32/typical/contiguous: a mine 0 ulp, b theirs 0 ulp from the truth, " in shown
        assert "; what they mean is " in shown


def test_a_side_without_an_answer_is_compared_with_nothing(directory: Path) -> None:
    told, statuses = pair(run(directory, PAIR.format(b="Absent")))
    assert statuses == ["pass", "unjudged"]
    assert told == {"group": "pair__s=0.5", "side": "b", "impl": "theirs"}
