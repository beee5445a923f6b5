"""torch's default decompositions, which are honest and none of torch's kernels: they fail where these do, and for the
reasons that docs/torch-decompositions.md has, of which each is proved here."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

import conform
from conform.selftest.instruction_sets import usual
from tests.conftest import ops_of_share
from tests.test_torch_cpu import CRASHES, ERROR, EVERYWHERE, FLOATS, ONLY_ON, failed_in, packet_of, pin, reason_of

BACKEND = f"{Path(__file__).parents[1] / 'examples' / 'decompositions.py'}::Decompositions"
# (op without overload, dtype, reason) beside those of eager torch.
BESIDE_EAGER = {
    *(("aten::isin", dtype, "wrong value") for dtype in ("float64", "int64")),
    *(("aten::smooth_l1_loss_backward", dtype, "a number where NaN is expected") for dtype in FLOATS),
    *(("aten::index_add", dtype, ERROR) for dtype in ("float16", "bfloat16")),
}
RAISE = {
    "aten::index_add", "aten::linspace", "aten::multi_margin_loss", "aten::nan_to_num", "aten::nll_loss_backward",
    "aten::nll_loss_forward", "aten::native_group_norm_backward", "aten::instance_norm",  # the last as in eager torch
}  # fmt: skip


@pytest.mark.one_in(4)
def test_a_share_of_the_ops_fails_for_known_reasons_only(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(usual(), monkeypatch)
    share = sorted(ops_of_share(pytestconfig))
    run = conform.check("core", backend=BACKEND, layouts="as-written", ops=share, checks=("accuracy", "special"))
    found = {(packet_of(case), case["dtype"], reason_of(case)) for case in failed_in(run) if case["status"] == "fail"}
    assert found <= EVERYWHERE | set(ONLY_ON) | BESIDE_EAGER
    ended = {(packet_of(case), case["status"]) for case in failed_in(run) if case["status"] != "fail"}
    assert ended <= {(op, "error") for op in RAISE} | {(op.partition(".")[0], "crash") for op in CRASHES}


table = cache(torch.export.default_decompositions)


def decomposed(name: str, *args: Any, **kwargs: Any) -> torch.Tensor:
    packet, _, overload = name.partition(".")
    return table()[getattr(getattr(torch.ops.aten, packet), overload or "default")](*args, **kwargs)


def test_a_number_is_compared_as_float32() -> None:
    assert not decomposed("isin.Scalar_Tensor", 0.1, torch.tensor([0.1], dtype=torch.float64))
    assert decomposed("isin.Scalar_Tensor", 2**24, torch.tensor([2**24 + 1]))


def test_the_sign_of_nan_is_0() -> None:
    args = torch.tensor(1.0), torch.tensor([torch.nan]), torch.tensor([0.0]), 0, 1.0
    assert decomposed("smooth_l1_loss_backward", *args).tolist() == [0.0]


def test_complex_numbers_have_no_infinity_below() -> None:
    with pytest.raises(RuntimeError, match="isneginf does not support complex"):
        decomposed("nan_to_num", torch.tensor([1j]))


def test_what_is_added_has_the_dtype_of_its_product() -> None:
    yes, first = torch.tensor([True]), torch.tensor([0])
    with pytest.raises(RuntimeError, match="source and destination dtypes match"):
        decomposed("index_add", yes, 0, first, yes, alpha=2)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("linspace", (True, False, 3)),
        ("multi_margin_loss", (torch.zeros(2, 3), torch.tensor([0, 1]), 1, True)),
    ],
)
def test_bools_are_subtracted(name: str, args: tuple) -> None:
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        decomposed(name, *args)


def test_gradients_are_not_converted_back() -> None:
    image, statistics = torch.zeros(1, 2, 3, dtype=torch.bfloat16), torch.ones(1, 2)
    args = image, image, statistics, statistics, None, 1, 2, 3, 2, [True, False, False]
    assert decomposed("native_group_norm_backward", *args)[0].dtype == torch.float32
    assert torch.ops.aten.native_group_norm_backward(*args)[0].dtype == torch.bfloat16


def test_an_ignored_sample_is_read_as_class_0() -> None:
    ignored = torch.tensor([-1])
    with pytest.raises(RuntimeError, match="index 0 is out of bounds"):
        decomposed("nll_loss_forward", torch.zeros(1, 0), ignored, None, 0, -1)
    with pytest.raises(RuntimeError, match="index 0 is out of bounds"):
        decomposed("nll_loss_backward", torch.ones(1), torch.zeros(1, 0), ignored, None, 0, -1, torch.tensor(1.0))


def test_a_target_of_one_element_is_none_of_a_line() -> None:
    line, target, one = torch.zeros(7), torch.tensor([3]), torch.tensor(1.0)
    with pytest.raises(RuntimeError, match="size mismatch"):
        decomposed("nll_loss_forward", line, target, None, 0, -1)
    with pytest.raises(AssertionError, match="size mismatch"):
        decomposed("nll_loss_backward", one, line, target, None, 0, -1, one)


def test_every_sum_is_rounded_to_the_half_type() -> None:
    row, ones = torch.tensor([[256.0]], dtype=torch.bfloat16), torch.ones(1, 2, dtype=torch.bfloat16)
    assert decomposed("index_add", row, 1, torch.tensor([0, 0]), ones).item() == 256
    assert torch.index_add(row, 1, torch.tensor([0, 0]), ones).item() == 258


def test_channels_that_are_not_contiguous_are_viewed() -> None:
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        decomposed("native_channel_shuffle", torch.zeros(2, 3, 5, 4).transpose(1, 3), 2)


@pytest.mark.parametrize(
    ("name", "operand", "other"),
    [
        ("channel_shuffle", torch.zeros(1, 4, 1, 1), 1),
        ("native_channel_shuffle", torch.zeros(1, 4, 1, 1), 1),
        ("take", torch.zeros(1), torch.tensor(0)),
    ],
)
def test_a_view_is_given_for_a_copy(name: str, operand: torch.Tensor, other: Any) -> None:
    found = decomposed(name, operand, other)
    assert found.untyped_storage().data_ptr() == operand.untyped_storage().data_ptr()
