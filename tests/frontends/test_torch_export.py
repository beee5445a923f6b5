"""What torch.export makes of a module, in the kit's form; and which modules are refused, by name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from conform.errors import NoGolden, Unjudged
from conform.frontends import torch_export
from conform.frontends.modules import ModuleCall
from conform.frontends.torch_export import arrays_of, program_of
from conform.interp.program.form import Program, Value

F32 = np.float32
X = F32([[1.0, -2.0], [0.5, 3.0]])


def program(module: nn.Module, *args: Any, **kwargs: Any) -> Program:
    return program_of(module, ModuleCall.of(module).pickled, args, kwargs)


def of(forward: Any, **parts: Any) -> nn.Module:
    """A module with this forward and these parts."""

    class Written(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, part in parts.items():
                self.register_buffer(name, part) if type(part) is torch.Tensor else setattr(self, name, part)

    Written.forward = forward
    return Written().eval()


def test_parameters_are_constants_and_operators_steps() -> None:
    linear = nn.Linear(2, 3)
    found = program(nn.Sequential(linear, nn.GELU(approximate="tanh")), X)
    assert [str(one) for one in found.function.arguments] == ["float32[2, 2]"]
    weight, bias = found.constants.values()
    assert weight.tolist() == linear.weight.tolist()
    assert bias.tolist() == linear.bias.tolist()
    first, second = found.function.ops
    assert (first.name, first.attributes) == ("aten::linear.default", {})
    assert first.operands == (found.function.arguments[0].name, *found.constants)
    assert (second.name, second.attributes) == ("aten::gelu.default", {"approximate": "tanh"})
    assert second.results == (Value(found.function.results[0], "float32", (2, 3)),)
    assert "linear.py" in first.location


def test_an_export_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    program(nn.Sequential(nn.Linear(2, 5), nn.Tanh()), X)  # in nobody's cache
    assert caplog.records == []


def test_composites_without_a_rule_become_core_operators() -> None:
    names = [op.name for op in program(nn.Sequential(nn.Flatten(0), nn.Softmax(0), nn.Mish()), X).function.ops]
    assert {"aten::softmax.int", "aten::view.default", "aten::mul.Tensor", "aten::tanh.default"} <= set(names)
    assert "aten::mish.default" not in names


def test_shared_parameters_and_what_else_a_module_holds() -> None:
    one = nn.Linear(2, 2)
    found = program(nn.Sequential(one, one), X)
    for step in found.function.ops:
        held = [found.constants[name].tolist() for name in step.operands[1:]]
        assert held == [one.weight.tolist(), one.bias.tolist()]
    table = of(lambda self, x: x + self.table, table=torch.tensor([7.0, 8.0]))
    assert [one.tolist() for one in program(table, X).constants.values()] == [[7.0, 8.0]]
    inside = of(lambda self, x: x + torch.tensor([7.0, 8.0]))
    assert [one.tolist() for one in program(inside, X).constants.values()] == [[7.0, 8.0]]


def test_results_are_in_the_order_of_keys_and_an_argument_may_be_one() -> None:
    nested = of(lambda self, x, y: {"b": x * 2, "a": (y, [x - 1, None]), "c": x})
    found = program(nested, X, X)
    x, y = (one.name for one in found.function.arguments)
    named = {op.results[0].name: op.name for op in found.function.ops}
    assert [named.get(name, name) for name in found.function.results] == [y, "aten::sub.Tensor", "aten::mul.Tensor", x]


def test_arguments_may_stand_in_nests_and_numbers_are_part_of_the_program() -> None:
    mixed = of(lambda self, pair, factor, *, named: pair[0] * factor + pair[1]["k"] + named)
    args, kwargs = ([X, {"k": 2 * X}], 3.0), {"named": F32([1.0])}
    found = program(mixed, *args, **kwargs)
    assert [one.shape for one in found.function.arguments] == [(2, 2), (2, 2), (1,)]
    assert [one.tolist() for one in arrays_of(args, kwargs)] == [X.tolist(), (2 * X).tolist(), [1.0]]
    assert found.function.ops[0].attributes == {"other": 3.0}
    assert program(mixed, *(args[0], 4.0), **kwargs).function.ops[0].attributes == {"other": 4.0}


def test_programs_are_cached_by_what_the_module_holds_and_what_it_is_called_with(monkeypatch: Any) -> None:
    made = []
    exported = torch_export._exported
    monkeypatch.setattr(torch_export, "_exported", lambda *given: made.append(1) or exported(*given))
    module = nn.Linear(2, 2)
    first = program(module, X)
    assert program(module, 2 * X) is first
    assert made == [1]
    assert program(module, X[:1]).function.arguments[0].shape == (1, 2)
    assert program(module.double(), X.astype(np.float64)).function.arguments[0].dtype == "float64"
    with torch.no_grad():
        module.weight += 1
    program(module, X.astype(np.float64))
    assert made == [1] * 4


class Item(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.sum().item()


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen += 1
        return x + self.seen


REFUSED: dict[str, tuple[nn.Module, str]] = {
    "a branch on numbers": (Branch(), "module Branch cannot be exported: .*data-dependent"),
    "a number of a tensor": (Item(), "data-dependent|_local_scalar_dense|makes a Python number of a tensor"),
    "a written argument": (of(lambda self, x: x.add_(1) * 2), "writes to its argument 'x'"),
    "a written buffer": (Counter().eval(), "writes to its buffer 'seen', a part that is not in training mode: the kit"),
    "a returned number": (of(lambda self, x: (x, 3)), "the module returns 3; expected tensors"),
    "a shape that export alone makes": (
        of(lambda self, x: x[None] if torch.compiler.is_compiling() else x),
        r"exports the module with results of shapes \[\[1, 2, 2\]\], which are \[\[2, 2\]\]",
    ),
    "an exception": (of(lambda self, x: x @ torch.zeros(5)), "cannot be exported: RuntimeError"),
    "a shape of numbers": (of(lambda self, x: x[x > 0]), "cannot be exported|depends on the numbers|with a mask"),
    "no kernel of the kit": (of(lambda self, x: torch.linalg.svd(x)[1] * 1), "a program cannot use aten::"),
    "a branch of torch": (of(lambda self, x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))),
                          "has a get_attr of true_graph_0|cannot be exported"),
    "randomness": (of(lambda self, x: x + torch.rand_like(x)), "a program cannot use aten::rand"),
    "dropout in training": (nn.Dropout(0.5).train(), r"native_dropout: chance has a part .* call its eval\(\) first"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_program_or_no_meaning_is_refused_by_name(name: str, capfd: Any) -> None:
    module, message = REFUSED[name]
    call = ModuleCall.of(module)
    with pytest.raises(Unjudged, match=message) as error:
        call.meaning([X.copy()], {})
    assert isinstance(error.value, NoGolden)
    assert capfd.readouterr() == ("", "")  # torch's own remarks are not the kit's


def test_what_a_module_in_training_leaves_in_its_buffers() -> None:
    """0, 2, 4, 6 have the mean 3 and over n - 1 the variance 20/3: 3/4 of 8 and a quarter of these."""
    norm = nn.BatchNorm1d(1, eps=4.0, momentum=0.25, affine=False)
    norm.running_mean.fill_(8.0), norm.running_var.fill_(8.0)
    found = ModuleCall.of(nn.Sequential(norm, nn.Identity())).meaning([np.float32([[0], [2], [4], [6]])], {})
    assert {name: golden.value.tolist() for name, golden in found.left.items()} == {
        "0.running_mean": [6.75], "0.running_var": [7.666666507720947], "0.num_batches_tracked": 1
    }  # fmt: skip
    assert [norm.running_mean.item(), norm.running_var.item(), norm.num_batches_tracked.item()] == [8.0, 8.0, 0]


def test_a_buffer_that_a_module_in_training_does_not_write_stays() -> None:
    counter = Counter()
    counter.register_buffer("table", torch.ones(2))
    left = ModuleCall.of(counter).meaning([X.copy()], {}).left
    assert {name: golden.value.tolist() for name, golden in left.items()} == {"seen": 1.0, "table": [1.0, 1.0]}
    assert ModuleCall.of(Counter().eval()).buffers == ()


def test_what_is_taken_apart_writes_to_no_buffer() -> None:
    with pytest.raises(NoGolden, match=r"writes to its buffer 'running_mean': .* call its eval\(\) first"):
        ModuleCall.of(nn.BatchNorm1d(2)).program([X.copy()], {})


def test_a_module_that_a_worker_cannot_get_is_refused() -> None:
    module = nn.Linear(2, 2)
    module.lock = __import__("threading").Lock()
    with pytest.raises(NoGolden, match=r"module torch.nn.modules.linear.Linear cannot be pickled, .*lock"):
        ModuleCall.of(module)


def test_torch_is_imported_for_a_module_alone() -> None:
    statement = (
        "import sys, numpy, conform; conform.golden('aten::exp', numpy.float32([1.0])); import conform.straight_line;"
        "import conform.own_ops; from conform import ops; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", statement], check=True)
