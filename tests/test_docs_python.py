"""docs/python.md and docs/backends.md: what they show is what happens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

import conform
from conform.call import schemas
from conform.interp import semantics

DOCS = Path(__file__).parents[1] / "docs"


def _blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for of, block in found if of == language]


@pytest.fixture(scope="module")
def shown() -> Any:
    """The names that the page's Python blocks define, run one after the other."""
    names: dict[str, Any] = {}
    for block in _blocks("python.md", "python"):
        exec(compile(block, "docs/python.md", "exec"), names)
    yield names
    del semantics._own["mylib::add_rms_norm"], schemas._lines()["mylib::add_rms_norm"]
    schemas.operator_names.cache_clear()


def test_the_python_page_runs_and_prints_what_it_shows(shown: dict[str, Any]) -> None:
    golden, failure = _blocks("python.md", "")
    assert repr(shown["truth"]) == golden.rstrip()
    x = shown["x"][:2].clone()
    x[0] = 0.0
    wrong = conform.golden("aten::exp", x).value + [0, 2**-19]
    with pytest.raises(AssertionError) as raised:
        conform.assert_close("aten::exp", wrong.astype("float32"), x)
    assert str(raised.value) == failure.rstrip()
    shown["test_my_exp"]()


def test_a_wrong_fused_kernel_is_caught(shown: dict[str, Any]) -> None:
    a, b, w = shown["a"], shown["b"], shown["w"]
    unfused = ((a + b) * (a + b)).mean(-1, keepdim=True)  # rounded to bfloat16 in between
    wrong = ((a + b) * (unfused + 1e-6).rsqrt() * w, a + b)
    with pytest.raises(AssertionError, match="FAIL mylib::add_rms_norm bfloat16: error above the bound"):
        conform.assert_close(shown["ADD_RMS_NORM"], wrong, a, b, w, eps=1e-6)


def test_the_first_backend_of_the_page_is_one(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(_blocks("backends.md", "python")[0])
    run = conform.check("smoke", backend=f"{tmp_path}/mine.py::Mine", ops="exp", dtypes="float32")
    assert (run.record["backend"]["name"], run.record["backend"]["version"]) == ("mine", "1.2")
    assert run.summary["fail"] > 0


def test_the_compiling_backend_of_the_page_is_one(tmp_path: Path) -> None:
    (tmp_path / "compiled.py").write_text(_blocks("backends.md", "python")[1])
    rectifier = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    run = conform.check(rectifier, torch.ones(2, 3), backend=f"{tmp_path}/compiled.py::Compiled")
    assert [(case["status"], case["compared"]) for case in run.cases] == [("pass", 4)]


def test_the_vendors_class_runs_where_its_extension_is(tmp_path: Path) -> None:
    """With a module of the extension's name, and the CPU for its device."""
    (tmp_path / "torch_npu.py").write_text('__version__ = "2.1"\n')
    (tmp_path / "npu_backend.py").write_text(_blocks("backends.md", "python")[2].replace("npu:0", "cpu"))
    run = conform.check("smoke", backend=f"{tmp_path}/npu_backend.py::Npu", ops=["exp", "sort"], dtypes="float32")
    assert run.record["backend"]["version"] == "2.1"
    assert run.record["backend"]["compute"] == "tf32"
    assert {case["op"]: case["status"] for case in run.cases} == {"aten::exp": "pass", "aten::sort": "unsupported"}
