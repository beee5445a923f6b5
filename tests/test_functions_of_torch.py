"""Functions of torch that are no operators: goldens and checks by the operators of which they consist."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import conform
from conform.errors import Unjudged, UsageError

SQUARE = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
THREE_FOUR = torch.tensor([[3.0, 4.0], [0.0, 0.0]])


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("function", "args", "kwargs", "expected"),
    [
        (functional.normalize, (THREE_FOUR,), {"p": 1.0}, [[3 / 7, 4 / 7], [0.0, 0.0]]),
        (functional.normalize, (torch.tensor([[3.0, 4.0]]),), {"dim": 0, "eps": 8.0}, [[0.375, 0.5]]),
        (functional.softmin, (torch.tensor([[5.0, 5.0]]),), {"dim": 1}, [[0.5, 0.5]]),
        (functional.tanhshrink, (torch.tensor([0.0, inf, nan]),), {}, [0.0, inf, nan]),
        (functional.softsign, (torch.tensor([3.0, -1.0]),), {}, [0.75, -0.5]),
        (functional.threshold, (torch.tensor([0.5, 2.0]), 1.0, 20.0), {}, [20.0, 2.0]),
        (functional.lp_pool1d, (torch.tensor([[[3.0, 4.0]]]), 2.0, 2), {}, [[[5.0]]]),
        (functional.lp_pool2d, (SQUARE, 1.0, 2), {}, [[[[10.0]]]]),
        (functional.local_response_norm, (SQUARE, 1, 1.0, 1.0, 0.0), {}, [[[[1.0, 0.5], [1 / 3, 0.25]]]]),
        (functional.kl_div, (torch.zeros(2, 3), torch.ones(2, 3)), {"reduction": "batchmean"}, 0.0),
        (functional.kl_div, (torch.tensor([[-1.0], [-3.0]]), torch.ones(2, 1)), {"reduction": "batchmean"}, 2.0),
        (torch.Tensor.__rsub__, (torch.tensor([3.0, -1.0]), 2), {}, [-1.0, 3.0]),
        (torch.Tensor.__floordiv__, (torch.tensor([7.0, -7.0]), 2), {}, [3.0, -4.0]),
        (torch.Tensor.__rdiv__, (), {"self": torch.tensor([4.0]), "other": 2}, [0.5]),
        (torch.Tensor.__pow__, (torch.tensor([3.0]), 2), {}, [9.0]),
        (functional.fold, (torch.tensor([[[1.0], [2.0], [3.0], [4.0]]]), (2, 2), 2), {}, SQUARE.tolist()),
        (functional.interpolate, (SQUARE,), {"size": 1, "mode": "nearest"}, [[[[1.0]]]]),
        (functional.max_pool2d, (SQUARE, 2), {}, [[[[4.0]]]]),
        (functional.embedding, (torch.tensor([1, 0]), torch.tensor([[5.0], [6.0]])), {}, [[6.0], [5.0]]),
        (functional.cross_entropy, (torch.tensor([[0.0, -inf]]), torch.tensor([0])), {}, 0.0),
        (functional.mse_loss, (torch.tensor([1.0, 3.0]), torch.zeros(2), False), {}, 10.0),
        (functional.multilabel_soft_margin_loss, (torch.tensor([[0.0]]), torch.tensor([[1.0]])), {}, np.log(2)),
        (functional.gaussian_nll_loss, (SQUARE, SQUARE, torch.full((1, 1, 2), 4.0)), {"reduction": "sum"},
         4 * np.log(2)),
        (functional.gaussian_nll_loss, (SQUARE, SQUARE - 2, 1e-9), {"eps": 0.25, "full": True},
         8 - np.log(2) + np.log(2 * np.pi) / 2),
        (functional.embedding_bag, (torch.tensor([[1, 0]]), torch.tensor([[5.0], [6.0]])), {"mode": "sum"}, [[11.0]]),
        (functional.interpolate, (SQUARE,), {"size": 1, "mode": "nearest-exact"}, [[[[4.0]]]]),
        (torch.unique, (torch.tensor([3.0, 1.0, 3.0]),), {}, [1.0, 3.0]),
        (functional.dropout2d, (SQUARE,), {"training": False}, SQUARE.tolist()),
        (functional.max_unpool1d, (torch.tensor([[[7.0]]]), torch.tensor([[[1]]]), 2), {}, [[[0.0, 7.0]]]),
        (torch.bilinear, (torch.tensor([2.0]), torch.tensor([3.0]), torch.tensor([[[4.0]]]), None), {}, [24.0]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_function_has_a_golden(function: Any, args: tuple, kwargs: dict, expected: Any) -> None:
    golden = conform.golden(function, *args, **kwargs)
    assert golden.call.op == f"{function.__module__ or 'torch'}.{function.__name__}"
    np.testing.assert_array_equal(golden.value, np.asarray(expected, golden.value.dtype))


@pytest.mark.parametrize(
    ("method", "args", "expected"),
    [
        (torch.Tensor.type_as, (torch.tensor([1.5]), torch.zeros(1, dtype=torch.float64)), np.float64([1.5])),
        (torch.Tensor.double, (torch.tensor([1.5]),), np.float64([1.5])),
        (torch.Tensor.__add__, (torch.tensor([1.5]), 1), np.float32([2.5])),
        (torch.Tensor.to, (torch.tensor([1.5]), torch.float64), np.float64([1.5])),
        (torch.Tensor.to, (torch.tensor([1.5]), "cpu", torch.int64), np.int64([1])),
        (torch.Tensor.type, (torch.tensor([1.5]), torch.float64), np.float64([1.5])),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_method_of_torchs_tensors_is_a_function(method: Any, args: tuple, expected: np.ndarray) -> None:
    golden = conform.golden(method, *args)
    assert golden.call.op == f"torch.Tensor.{method.__name__}"
    assert (golden.value.dtype, golden.value.tolist()) == (expected.dtype, expected.tolist())


def test_a_method_that_is_an_operator_can_be_checked() -> None:
    run = conform.check(torch.Tensor.view, (SQUARE, [4]), backend="cpu")
    assert (run.summary["pass"], run.cases[0]["op"]) == (1, "torch.Tensor.view")


def test_of_several_results_there_are_several_goldens() -> None:
    values, places = conform.golden(functional.max_pool2d, SQUARE, 2, return_indices=True).value
    assert (values.tolist(), places.tolist()) == ([[[[4.0]]]], [[[[3]]]])


def test_attention_of_several_heads() -> None:
    """Projections by ones and no bias: of one key the value is its sum, in every feature, projected again."""
    one, ones = torch.tensor([[[1.0, 2.0]]]), torch.ones(2, 2)
    given = (one, one, one, 2, 2, torch.ones(6, 2), None, None, None, False, 0.0, ones, None)
    output, weights = conform.golden(functional.multi_head_attention_forward, *given).value
    assert (output.tolist(), weights.tolist()) == ([[[6.0, 6.0]]], [[[1.0]]])


def _taxicab(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a - b).abs().sum(-1)


def test_what_is_no_tensor_and_no_number_goes_along() -> None:
    """A dtype, a function: |0 - 3| - |0 + 2| + 1."""
    half = conform.golden(functional.softmin, torch.tensor([[0.0, inf]]), 1, dtype=torch.float64).value
    assert (half.dtype, half.tolist()) == (np.float64, [[1.0, 0.0]])
    anchor, positive, negative = torch.tensor([[0.0]]), torch.tensor([[3.0]]), torch.tensor([[-2.0]])
    loss = conform.golden(
        functional.triplet_margin_with_distance_loss, anchor, positive, negative, distance_function=_taxicab
    )
    assert loss.value.tolist() == 2.0


def test_a_check_of_a_function_is_of_its_call() -> None:
    run = conform.check(functional.normalize, THREE_FOUR, backend="cpu")
    assert (run.summary["pass"], run.exit_code) == (1, 0)
    named = conform.check(functional.softmin, (THREE_FOUR,), {"dim": 0, "dtype": torch.float64}, backend="cpu")
    assert named.summary["pass"] == 1


class Wrong(conform.Backend):
    """Divides by the sum of squares, and not by its root."""

    name = "wrong"

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise conform.Unsupported(op)

    def run_module(self, module: torch.nn.Module, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return kwargs["input"] / (kwargs["input"] ** 2).sum(1, keepdim=True).clamp(min=1e-12)


def test_a_wrong_function_fails_and_is_told_by_its_name() -> None:
    run = conform.check(functional.normalize, THREE_FOUR, backend=Wrong)
    assert (run.summary["fail"], run.cases[0]["op"]) == (1, "torch.nn.functional.normalize")
    with pytest.raises(AssertionError, match=r"FAIL torch\.nn\.functional\.normalize float32"):
        conform.assert_close(functional.normalize, THREE_FOUR, THREE_FOUR)


@pytest.mark.parametrize(
    ("function", "args", "error", "message"),
    [
        (functional.normalize, (), UsageError, "torch.nn.functional.normalize: missing a required argument: 'input'"),
        (functional.normalize, (SQUARE.to("meta"),), UsageError, "argument .input.: found a tensor"),
        (functional.binary_cross_entropy, (THREE_FOUR / 5, THREE_FOUR[:1] / 5), Unjudged, "size .*different"),
        (functional.binary_cross_entropy_with_logits, (THREE_FOUR, THREE_FOUR[0]), Unjudged, "must be the same"),
        (torch.is_tensor, (SQUARE,), Unjudged, "the module returns True; expected tensors"),
        (torch.set_printoptions, (), Unjudged, "the module returns no tensor"),
        (torch.Tensor.size, (SQUARE,), Unjudged, "no semantics for aten::size"),
        (torch.Tensor.where, (), UsageError, "aten::where: no overload takes"),
        (functional.gaussian_nll_loss, (SQUARE, SQUARE, -SQUARE), Unjudged, "asserts what does not hold .*negative"),
        (functional.gaussian_nll_loss, (SQUARE, SQUARE, SQUARE[0]), Unjudged, "cannot be exported: .*incorrect size"),
        (functional.gumbel_softmax, (SQUARE,), Unjudged, "cannot use aten::exponential"),
        (functional.max_pool2d, (SQUARE,), Unjudged, "max_pool2d cannot be exported: TypeError: .*kernel_size"),
        (functional.celu, (SQUARE, 1.0, True), Unjudged, "the module writes to its argument 'input'"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_what_has_no_golden_is_told(function: Any, args: tuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        conform.golden(function, *args)


LOSSES = [
    functional.mse_loss, functional.l1_loss, functional.smooth_l1_loss, functional.huber_loss, functional.kl_div,
    functional.binary_cross_entropy, functional.soft_margin_loss, functional.hinge_embedding_loss,
    functional.cross_entropy,
]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_a_reduction_that_a_loss_does_not_have_is_told(loss: Any) -> None:
    message = rf"{loss.__name__}: argument 'reduction': found 'average', expected 'none', 'mean' or 'sum'"
    with pytest.raises(UsageError, match=message):
        conform.golden(loss, THREE_FOUR, THREE_FOUR, reduction="average")
    with pytest.raises(UsageError, match=message):
        conform.check(loss, (THREE_FOUR, THREE_FOUR), {"reduction": "average"}, backend="cpu")


def test_the_mean_of_a_batch_is_of_one_loss_alone() -> None:
    with pytest.raises(UsageError, match="mse_loss: argument 'reduction': found 'batchmean', expected"):
        conform.golden(functional.mse_loss, SQUARE, SQUARE, reduction="batchmean")
