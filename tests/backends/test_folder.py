"""A folder with a kernel an operator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

import conform
from conform.backends.folder import Folder
from conform.cli import main
from conform.errors import Unsupported, UsageError

pytestmark = pytest.mark.one_in(6)

ADD = "import torch\n\ndef {name}(a, b, alpha=1):\n    return torch.add(a, b, alpha=alpha)\n"


def kernels(folder: Path, **files: str) -> Path:
    """Files by `add/add_implementation_v1` with their text."""
    for name, text in files.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("add/add_implementation_v1", "add_kernel_impl"),
        ("add__Tensor/add__Tensor_implementation_v1", "add__Tensor_kernel_impl"),
        ("add__Tensor/add__Tensor_implementation_v1", "add_kernel_impl"),
        ("add", "add"),
        ("add__Tensor", "add__Tensor"),
    ],
)
def test_where_a_kernel_may_stand(tmp_path: Path, file: str, function: str) -> None:
    backend = Folder(str(kernels(tmp_path, **{file: ADD.format(name=function)})))
    assert backend.run("aten::add.Tensor", [torch.ones(2), torch.ones(2)], {"alpha": 2}).tolist() == [3, 3]
    with pytest.raises(Unsupported, match="the folder has no mul"):
        backend.run("aten::mul.Tensor", [torch.ones(2), torch.ones(2)], {})


def test_an_overloads_own_kernel_comes_before_that_of_all(tmp_path: Path) -> None:
    constant = "def {}(*args, **kwargs):\n    return {}\n"
    files = {
        "sum/sum_implementation_v1": constant.format("sum_kernel_impl", 1),
        "sum__dim_IntList/sum__dim_IntList_implementation_v1": constant.format("sum__dim_IntList_kernel_impl", 2),
        "exp/exp_implementation_v10": constant.format("exp_kernel_impl", 10),
        "exp/exp_implementation_v9": constant.format("exp_kernel_impl", 9),
        "add_/add__implementation_v1": constant.format("add__kernel_impl", 3),
        "relu__default/relu__default_implementation_v1": constant.format("relu__default_kernel_impl", 4),
        "notes/readme": "",
        "helpers": "",
    }
    backend = Folder(str(kernels(tmp_path, **files)))
    ops = ("aten::sum", "aten::sum.dim_IntList", "aten::exp", "aten::add_.Tensor", "aten::relu")
    assert [backend.run(op, [], {}) for op in ops] == [1, 2, 9, 3, 4]
    with pytest.raises(Unsupported, match=r"no add$"):  # in place is another operator
        backend.run("aten::add.Tensor", [], {})


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "it has no kernels; expected NAME/NAME_implementation_v1.py or NAME.py"),
        ({"helpers": ""}, "it has no kernels"),
        ({"adn/adn_implementation_v1": ""}, "'adn' is no operator of torch; did you mean"),
        ({"add__Tenser/x_implementation_v1": ""}, "'add__Tenser' is no operator of torch"),
    ],
)
def test_a_folder_that_says_nothing_is_refused(tmp_path: Path, files: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Folder(str(kernels(tmp_path, **files)))


def test_without_a_folder() -> None:
    """The process from which workers are forked ends as well: what is left open would fail the test."""
    with pytest.raises(UsageError, match="there is no such folder"):
        conform.check("smoke", backend="folder:nowhere")


def test_a_run_on_a_folder(tmp_path: Path) -> None:
    """What it lacks is unsupported; a file that cannot be imported is an error of that operator alone."""
    broken = {"exp": "def exp(:\n", "maximum": "def nothing(): pass\n", "common": "N = 1\n"}
    folder = kernels(tmp_path / "kernels", add=ADD.format(name="add"), **broken)
    out = tmp_path / "out"
    words = ["check", "smoke", "core", "--op", "aten::add", "--op", "aten::exp", "--op", "aten::maximum", "--op"]
    words += ["aten::neg", "--dtype", "float32", "--values", "typical", "--quiet", "--out", str(out)]
    result = CliRunner().invoke(main, [*words, "--backend", f"folder:{folder}"])
    assert result.exit_code == 1, result.output
    record = json.loads((out / "run.json").read_text())
    reasons = {(case["op"], case["status"], case["reason"]) for case in record["cases"] if case["status"] != "pass"}
    valid = {one for one in reasons if "invalid arguments" not in str(one[2])}
    assert ("aten::neg", "unsupported", "the folder has no neg") in valid
    assert {op for op, status, _ in valid if status == "error"} == {"aten::exp", "aten::maximum"}
    assert any(reason.startswith("SyntaxError") for op, _, reason in valid if op == "aten::exp")
    assert any("maximum.py has no function 'maximum__default_kernel_impl'" in str(one[2]) or "has no function" in
               str(one[2]) for one in valid if one[0] == "aten::maximum")  # fmt: skip
    assert record["backend"]["source"] == "folder:kernels"
    assert record["backend"]["digest"].startswith("sha256:")
    assert record["required"]["of"] == "the cases of the ops of which any was judged"
