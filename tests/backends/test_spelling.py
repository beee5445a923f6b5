"""Names of backends, taken apart and put together."""

from __future__ import annotations

from pathlib import Path

import pytest

import conform
from conform.backends import names
from conform.backends.base import Backend, BackendUnavailable
from conform.backends.spelling import Spelling, spelt, with_options
from conform.errors import UsageError


@pytest.mark.parametrize(
    ("name", "plain", "options", "path", "class_name"),
    [
        ("cpu", "cpu", {}, None, ""),
        ("cuda:1", "cuda:1", {}, None, ""),
        ("k.py::Mine", "k.py::Mine", {}, "k.py", "Mine"),
        ("k.py::Mine(path='a(b)', n=-3)", "k.py::Mine", {"path": "a(b)", "n": -3}, "k.py", "Mine"),
        ("a(b)/k.py::Mine(n=[1, None])", "a(b)/k.py::Mine", {"n": [1, None]}, "a(b)/k.py", "Mine"),
        ("folder:my kernels (new)", "folder:my kernels (new)", {}, "my kernels (new)", ""),
        ("folder:k(device='cuda')", "folder:k", {"device": "cuda"}, "k", ""),
        ("k.py::Mine(f())", "k.py::Mine(f())", {}, "k.py", "Mine(f())"),
        ("k.py::Mine(n=f())", "k.py::Mine(n=f())", {}, "k.py", "Mine(n=f())"),
    ],
)
def test_parts_of_a_name(name: str, plain: str, options: dict, path: str | None, class_name: str) -> None:
    one = spelt(name)
    assert (one, one.path, one.class_name) == (Spelling(plain, options), path, class_name)
    assert spelt(str(one)) == one


def test_options_are_arguments_and_texts_where_they_are_no_literals() -> None:
    written = with_options("k.py::Mine(n=1)", ["n=2", "where=cuda:1", "on=True", "text='3'", "empty="])
    assert written == "k.py::Mine(n=2, where='cuda:1', on=True, text='3', empty='')"


@pytest.mark.parametrize("option", ["n", "=1", "a b=1", "1n=2"])
def test_what_is_no_option_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match="--backend-option: expected KEY=VALUE"):
        with_options("cpu", [option])


KERNELS = """
import conform

class Mine(conform.Backend):
    def __init__(self, scale=1.0):
        self.name = f"mine at {scale}"
"""


def test_a_class_gets_its_arguments(tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    loaded: Backend = names.load(f"{file}::Mine(scale=2.5)")
    assert loaded.name == "mine at 2.5"
    assert names.source(f"{file}::Mine(scale=2.5)")["source"] == "kernels.py::Mine(scale=2.5)"
    with pytest.raises(UsageError, match="Mine: got an unexpected keyword argument 'size'"):
        names.load(f"{file}::Mine(size=3)")


@pytest.mark.parametrize("name", ["cpu(n=1)", "self(n=1)"])
def test_what_takes_no_arguments_says_so(name: str) -> None:
    with pytest.raises(UsageError, match="takes no arguments"):
        names.load(name)


@pytest.mark.parametrize(
    ("name", "is_device"),
    [("cpu", True), ("cuda:1", True), ("self", False), ("inductor", False), ("k.py::M", False), ("folder:k", False),
     ("inductor(device='cuda')", False)],
)  # fmt: skip
def test_what_a_script_can_name_with_torch_alone(name: str, is_device: bool) -> None:
    assert names.is_device(name) is is_device


# --- Modules that make a device known ---------------------------------------------------------------------------------

NEEDS_THE_EXTENSION = """
import conform, torch

class Mine(conform.Backend):
    name = "mine"
    def __init__(self):
        self.negated = torch.vendors_negation  # the extension's
    def run(self, op, args, kwargs):
        return self.negated(*args)
"""


@pytest.mark.one_in(6)
def test_an_extension_is_imported_before_the_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vendors_extension.py").write_text("import torch\ntorch.vendors_negation = torch.neg\n")
    (tmp_path / "kernels.py").write_text(NEEDS_THE_EXTENSION)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    asked = {"backend": f"{tmp_path}/kernels.py::Mine", "ids": ["neg/rank_1/float32/typical/contiguous"]}
    run = conform.check("core", imports=["vendors_extension"], **asked)
    assert run.summary["pass"] == 1
    assert run.record["environment"]["invocation"]["imports"] == ["vendors_extension"]
    with pytest.raises(BackendUnavailable, match="vendors_negation"):
        conform.check("core", **asked)
    with pytest.raises(UsageError, match="--import nowhere_at_all: there is no such module"):
        conform.check("core", imports=["nowhere_at_all"], **asked)
