"""Backends given as objects: a class, an instance, a function, wherever they were written."""

from __future__ import annotations

import functools
import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import conform
from conform.backends import TorchDevice
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.given import _is_importable, given, origin
from conform.backends.launcher import Template
from conform.backends.reply import Reply
from conform.errors import UsageError
from conform.operators import op_globs
from conform.report import terminal
from conform.report.run_json import to_json
from conform.repro.command import repro
from conform.suites.filters import matches_op

pytestmark = pytest.mark.one_in(6)

X = np.float32([0.0, 1.0])


@pytest.fixture
def answer(template: Template) -> Callable[[Any], Reply]:
    """What a given backend answers to exp of 0 and 1."""

    def asked(backend: Any) -> Reply:
        with BackendProcess(given(backend), timeout_s=20.0, template=template) as process:
            process.submit(Call("aten::exp", [X]))
            return process.receive()

    return asked


class Scaled(conform.Backend):
    """exp, multiplied by what it was created with."""

    name = "scaled"

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return torch.exp(args[0]) * self.factor


def exponential(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return torch.exp(args[0])


def _local_class() -> type[conform.Backend]:
    class Local(conform.Backend):
        name = "local"

        def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
            return exponential(op, args, kwargs)

    return Local


def _closure() -> Callable:
    factor = torch.tensor(1.0)
    return lambda op, args, kwargs: torch.exp(args[0]) * factor


def test_classes_instances_and_functions_run(answer: Callable[[Any], Reply]) -> None:
    local, partial = _local_class(), functools.partial(exponential)
    for backend in (Scaled, Scaled(1.0), exponential, local, local(), _closure(), TorchDevice("cpu"), partial):
        (output,) = answer(backend).outputs
        assert output.array.tolist() == pytest.approx([1.0, math.e]), backend


def test_an_instance_keeps_its_state(answer: Callable[[Any], Reply]) -> None:
    assert answer(Scaled(2.0)).outputs[0].array[0] == 2.0


def test_whatever_a_function_returns_or_raises_is_told(answer: Callable[[Any], Reply]) -> None:
    def raises(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise ValueError("boom")

    def unsupported(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise conform.Unsupported("not on Sundays")

    assert len(answer(lambda op, args, kwargs: (torch.exp(args[0]),)).outputs) == 1
    assert len(answer(lambda op, args, kwargs: [args[0], None]).outputs) == 2
    assert answer(lambda op, args, kwargs: None).outputs == (None,)
    assert answer(lambda op, args, kwargs: {}).reason.startswith("TypeError: run returned builtins.dict; expected")
    assert answer(raises).reason.startswith("ValueError: boom (in raises, test_given.py:")
    assert answer(unsupported) == Reply("unsupported", "not on Sundays", declared=True)


def test_a_worker_that_died_is_replaced_by_one_with_the_same_backend(template: Template) -> None:
    def dies_of_neg(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if op == "aten::neg":
            os._exit(7)
        return args[0]

    with BackendProcess(given(dies_of_neg), timeout_s=20.0, template=template) as process:
        for op in ("aten::neg", "aten::exp"):
            process.submit(Call(op, [X]))
        assert [process.receive().status for _ in range(2)] == ["crash", "ok"]


def test_a_module_that_no_fresh_interpreter_finds_goes_by_value(
    answer: Callable[[Any], Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("written_nowhere")
    source = "import torch\ndef helper(x): return torch.exp(x)\ndef run(op, args, kwargs): return helper(args[0])"
    exec(source, vars(module))
    monkeypatch.setitem(sys.modules, "written_nowhere", module)
    assert answer(module.run).status == "ok"


def test_which_modules_a_fresh_interpreter_finds() -> None:
    made = ModuleType("made_here")
    modules = (os, sys, np.linalg, sys.modules["__main__"], made)
    assert [_is_importable(one) for one in modules] == [True, True, True, True, False]
    made.__file__ = os.__file__
    made.__name__ = "posixpath"  # which is found, but elsewhere
    assert not _is_importable(made)


def test_the_kit_is_found_wherever_it_is_called_from(tmp_path: Path) -> None:
    """Installed as editable it may be on no path."""
    asks = "import sys; from conform.backends import given, one_op; print(given._is_importable(one_op))"
    elsewhere = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", asks], cwd=tmp_path, env=elsewhere, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_class_that_needs_arguments_is_told_by_whoever_wrote_it(answer: Callable[[Any], Reply]) -> None:
    class Needs(Scaled):
        def __init__(self, what: str) -> None: ...

    with pytest.raises(UsageError, match=r"backend 'scaled': Needs: missing a required argument: 'what'"):
        answer(Needs)


def test_a_run_is_repeated_in_python(tmp_path: Path) -> None:
    """A backend without a name for the command line: `repeat` is a call, and `conform repro` says why it cannot."""
    test = "{id: t, op: aten::exp, in: [{type: tensor, shape: [3], dtype: float32}]}"
    (tmp_path / "s.yaml").write_text(f"tests: [{test}]")
    file = str(tmp_path / "s.yaml")
    run = conform.check(file, backend=Scaled(2.0))
    assert run.record["backend"]["name"] == "scaled"
    told = terminal.render(run.record, None, None)
    call = f"conform.check([{file!r}], backend=scaled, ids='t/float32/typical/contiguous', seed=0, dtypes='float32')"
    assert f"repeat    {call}\n" in told
    (tmp_path / "run.json").write_text(to_json(run.record))
    with pytest.raises(UsageError, match="given as a Python object, which no command can name"):
        repro("t/float32/typical/contiguous", tmp_path)


class Nameless(conform.Backend):
    pass


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        (3, "backend: found 3, expected a name, a subclass of conform.Backend, an instance of one or a function run"),
        (None, "backend: found None"),
        (int, "backend int is no subclass of conform.Backend"),
        (Nameless(), "backend Nameless: its name is not set"),
        (lambda x: x, r"found <lambda>\(x\), expected a function run\(op, args, kwargs\)"),
        (lambda: None, r"found <lambda>\(\), expected a function run"),
    ],
    ids=["number", "nothing", "class", "nameless", "one_parameter", "no_parameter"],
)
def test_what_is_no_backend_is_refused_before_anything_runs(backend: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        given(backend)


def test_what_cannot_be_sent_is_refused_with_a_way_out() -> None:
    lock = threading.Lock()

    def locked(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        with lock:
            return args[0]

    message = r"backend locked cannot be sent to its worker process: TypeError: cannot pickle .*; write it to a file"
    with pytest.raises(UsageError, match=message):
        given(locked)


def test_ops_are_selected_by_functions_and_names() -> None:
    assert op_globs(torch.exp) == op_globs("exp") == op_globs(["torch.exp"]) == ("aten::exp",)
    assert op_globs([torch.ops.aten.sum.default, "aten::s*", "torch.nn.Linear"]) == (
        "aten::sum.default", "aten::s*", "torch.nn.Linear",
    )  # fmt: skip
    assert matches_op("aten::sum", "aten::sum.default")
    assert not matches_op("aten::sum.dim_IntList", "aten::sum.default")
    with pytest.raises(UsageError, match=r"--op .epx. matches no case"):
        conform.check("smoke", backend="no backend", ops="epx")
    with pytest.raises(UsageError, match="ops: expected a str or a list of them, got"):
        conform.check("smoke", backend="no backend", ops=[3])


def test_the_record_says_which_object_it_was_whatever_that_calls_itself() -> None:
    class Mine(conform.Backend):
        name = "cpu"

    here = f"{__name__}.test_the_record_says_which_object_it_was_whatever_that_calls_itself.<locals>.Mine"
    assert origin(Mine) == origin(Mine()) == {"source": here}
    assert origin(origin) == {"source": "conform.backends.given.origin"}
