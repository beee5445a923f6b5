"""A torch module that was given in Python, on inputs that a function draws: several calls, layouts, equal calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import conform
from conform.errors import UsageError
from conform.given_module import suite_of
from conform.suites.cases import Selection


def drawn() -> list[torch.Tensor]:
    return [torch.rand(2, 3)]


def values(selection: Selection) -> list[list]:
    """What goes into each call."""
    return [test.inputs[0].value.tolist() for test in suite_of(nn.Tanh(), drawn, selection=selection).tests]


def statuses(run: Any) -> dict[str, str]:
    return {case["id"]: case["status"] for case in run.cases}


def test_a_function_of_inputs_is_asked_for_each_sample() -> None:
    run = conform.check(nn.Tanh(), drawn, backend="cpu", samples=3)
    assert statuses(run) == {
        "Tanh/float32/given/contiguous": "pass",
        "Tanh.1/float32/given/contiguous": "pass",
        "Tanh.2/float32/given/contiguous": "pass",
    }


def test_what_it_draws_hangs_on_seed_and_sample_alone() -> None:
    state = torch.get_rng_state()
    first, second = values(Selection(samples=2, seed=7))
    assert first != second
    assert values(Selection(samples=1, seed=8)) == [second]
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(7)
    assert drawn()[0].tolist() == first


def test_a_function_may_return_one_tensor_and_calls_need_not_have_the_same_shape() -> None:
    sizes = iter((2, 5))
    run = conform.check(nn.Tanh(), lambda: torch.ones(next(sizes)), backend="cpu", samples=2)
    assert [case["compared"] for case in run.cases] == [2, 5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 2}, "samples=2: the inputs are given, and the same in each; for other ones give a function"),
        ({"values": "all"}, "values='all': the numbers are those of the inputs that are given"),
    ],
)
def test_what_inputs_that_are_given_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        conform.check(nn.Tanh(), torch.ones(2, 3), backend="cpu", **options)


# --- Kernels that are right once --------------------------------------------------------------------------------------


class OfModules(conform.Backend):
    """Softmax of whole modules by `kernel`, a function of what it keeps and its argument."""

    name = "of modules"

    def __init__(self, kernel: Callable[[dict, Any], Any]) -> None:
        self.kernel, self.kept = kernel, {}

    def run_module(self, module: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.kernel(self.kept, args[0])


def honest(kept: dict, x: Any) -> Any:
    e = (x - x.amax(1, True)).exp()
    return e / e.sum(1, True)


def memoised_by_shape(kept: dict, x: Any) -> Any:
    return kept.setdefault(x.shape, x.softmax(1)).clone()


def into_one_buffer(kept: dict, x: Any) -> Any:
    return kept.setdefault(x.shape, x.new_empty(x.shape)).copy_(x.softmax(1))


def right_of_a_first_call(kept: dict, x: Any) -> Any:
    kept["calls"] = kept.get("calls", 0) + 1
    return x.softmax(1) if kept["calls"] == 1 else 0 * x


def of_contiguous_memory(kept: dict, x: Any) -> Any:
    return x.as_strided(x.shape, (x.shape[1], 1)).softmax(1)


def wrong_of(kernel: Callable[[dict, Any], Any], **options: Any) -> dict[str, str]:
    """The cases that do not pass, by the end of their ids, with their reasons."""
    run = conform.check(nn.Softmax(1), drawn, backend=OfModules(kernel), **options)
    return {case["id"].partition("given/")[2]: case["reason"] for case in run.cases if case["status"] != "pass"}


def test_an_honest_kernel_passes() -> None:
    assert wrong_of(honest, samples=3, layouts="all", determinism=3) == {}


def test_an_answer_that_is_kept_by_shape_fails_in_the_next_sample() -> None:
    assert wrong_of(memoised_by_shape) == {}
    assert wrong_of(memoised_by_shape, samples=2) == {"contiguous": "error above the bound"}


def test_equal_calls_show_one_buffer_and_what_is_right_once() -> None:
    assert wrong_of(into_one_buffer, samples=2) == {}
    (reason,) = wrong_of(into_one_buffer, determinism=3).values()
    assert reason.endswith("output 0 lies in the memory of the result before it, which is lost")
    assert list(wrong_of(right_of_a_first_call, determinism=2)) == ["contiguous/repeated"]


def test_the_first_call_and_the_largest_one_are_made_again() -> None:
    sizes = iter((3, 2, 7, 5))
    run = conform.check(nn.Tanh(), lambda: torch.ones(next(sizes)), backend="cpu", samples=4, determinism=2)
    assert [case["test"] for case in run.cases if case["check"] == "determinism"] == ["Tanh", "Tanh.2"]


def test_layouts_show_who_takes_all_memory_for_contiguous() -> None:
    assert wrong_of(of_contiguous_memory) == {}
    assert set(wrong_of(of_contiguous_memory, layouts="all")) == {"transposed.0", "strided.0", "expanded.0"}


# --- Modules that do not take every layout ----------------------------------------------------------------------------


class Flat(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0] * x.shape[1]) * 2


class OrSkewed(nn.Module):
    """Takes every layout, as `reshape` does."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0] * x.shape[1]) * 2


def of_a_view(kept: dict, x: Any) -> Any:
    return x.view(x.shape[0] * x.shape[1]) * 2


def test_a_layout_that_the_module_itself_does_not_take_is_not_judged() -> None:
    run = conform.check(Flat(), drawn, backend=OfModules(of_a_view), layouts="all")
    unjudged = {case["layout"]: case["reason"] for case in run.cases if case["status"] != "pass"}
    assert set(unjudged) == {"transposed.0", "expanded.0"}
    assert unjudged["transposed.0"].startswith("the module itself does not take this layout: ")
    assert run.summary["unjudged"] == 2


def test_who_does_not_take_a_layout_that_the_module_takes_fails() -> None:
    run = conform.check(OrSkewed(), drawn, backend=OfModules(of_a_view), layouts="all")
    assert statuses(run)["OrSkewed/float32/given/transposed.0"] == "error"


# --- Parameters -------------------------------------------------------------------------------------------------------


def test_parameters_drawn_anew_are_at_neither_0_nor_1_and_hang_on_the_seed() -> None:
    norm, same, other = (nn.BatchNorm1d(4) for _ in range(3))
    for module, seed in ((norm, 1), (same, 1), (other, 2)):
        conform.draw_parameters(module, seed)
    for one, centre in ((norm.weight, 1.0), (norm.running_var, 1.0), (norm.bias, 0.0), (norm.running_mean, 0.0)):
        assert len(set(one.tolist())) == 4
        assert 0 < (one - centre).abs().max() <= 0.25
    assert norm.state_dict()["weight"].tolist() == same.state_dict()["weight"].tolist() != other.weight.tolist()
    assert norm.num_batches_tracked.item() == 0


# --- What is told -----------------------------------------------------------------------------------------------------


def test_a_run_is_told_as_the_command_tells_it_without_a_command_that_repeats_what_stands_in_no_suite() -> None:
    run = conform.check(nn.Softmax(1), drawn, backend=OfModules(memoised_by_shape), samples=2)
    counts = "conformance 50.00 % (1 of 2 judged cases pass), coverage 100 % (2 of 2 asked are judged)"
    assert repr(run) == f"<Run: not conformant: {counts}; 12 elements compared>"
    told = str(run)
    assert "FAIL torch.nn.modules.activation.Softmax float32: error above the bound (1 of 2 cases)\n" in told
    assert "\n  case      Softmax.1/float32/given/contiguous\n" in told
    assert "\n  repeat " not in told
    assert f"\nnot conformant: {counts}" in told
    assert "\x1b" not in told
