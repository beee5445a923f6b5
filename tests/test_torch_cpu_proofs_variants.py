"""The rows of docs/torch-cpu.md about results that are written into arguments: what is right, and what torch does.

What is right is the contract of torch's Out Notes and plain arithmetic: the numbers that are written, where the
tensor's strides say, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

aten = torch.ops.aten
LOGITS = torch.tensor([[0.0, 0.0], [0.0, 0.0]])
BUFFER = -1.0  # what stands beside the elements, and is nobody's result


def strided(*shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A tensor of every other element of a row of a buffer, and what lies between them."""
    whole = torch.full((*shape[:-1], 2 * shape[-1]), BUFFER)
    return whole[..., ::2], whole[..., 1::2]


WINDOW = torch.ones(1, 1, 2, 2, 2)
CASES: dict[str, tuple[Callable, tuple, tuple[int, ...]]] = {
    "_softmax": (aten._softmax.out, (LOGITS, 1, False), (2, 2)),
    "_log_softmax": (aten._log_softmax.out, (LOGITS, 1, False), (2, 2)),
    "_log_softmax_backward_data": (aten._log_softmax_backward_data.out, (LOGITS, LOGITS, 1, torch.float32), (2, 2)),
    "avg_pool3d": (aten.avg_pool3d.out, (WINDOW, [1, 1, 1]), (1, 1, 2, 2, 2)),
    "adaptive_avg_pool3d": (aten.adaptive_avg_pool3d.out, (WINDOW, [2, 2, 2]), (1, 1, 2, 2, 2)),
    "col2im": (aten.col2im.out, (torch.ones(1, 1, 4), [2, 2], [1, 1], [1, 1], [0, 0], [1, 1]), (1, 1, 2, 2)),
    "im2col": (aten.im2col.out, (torch.ones(1, 1, 2, 2), [1, 1], [1, 1], [0, 0], [1, 1]), (1, 1, 4)),
    "reflection_pad3d": (aten.reflection_pad3d.out, (WINDOW, [1, 0, 0, 0, 0, 0]), (1, 1, 2, 2, 3)),
    "replication_pad2d": (aten.replication_pad2d.out, (WINDOW[0], [1, 0, 0, 0]), (1, 2, 2, 3)),
    "replication_pad3d": (aten.replication_pad3d.out, (WINDOW, [1, 0, 0, 0, 0, 0]), (1, 1, 2, 2, 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_memory_between_the_elements_of_out_is_overwritten(name: str) -> None:
    """Whatever the numbers are, none belongs there."""
    write, arguments, shape = CASES[name]
    out, between = strided(*shape)
    write(*arguments, out=out)
    assert not bool((between == BUFFER).all())


def test_the_gradient_of_softmax_overwrites_it() -> None:
    grad_input, between = strided(2, 2)
    aten._softmax_backward_data.out(LOGITS, LOGITS, 1, torch.float32, grad_input=grad_input)
    assert not bool((between == BUFFER).all())


def test_adaptive_max_pool3d_overwrites_it_in_both_results() -> None:
    (out, between), indices = strided(1, 1, 2, 2, 2), torch.full((1, 1, 2, 2, 4), -1)
    aten.adaptive_max_pool3d.out(WINDOW, [2, 2, 2], out=out, indices=indices[..., ::2])
    assert not bool((between == BUFFER).all())
    assert not bool((indices[..., 1::2] == -1).all())


def test_the_numbers_stand_in_other_places() -> None:
    """e^0 / (e^0 + 3) = 1/4 in the first column of both rows; out has the strides of a transposed tensor."""
    logits = torch.tensor([[1.0, 3.0], [1.0, 3.0]]).log()
    out = torch.zeros(2, 2).t()
    aten._softmax.out(logits, 1, False, out=out)
    assert torch.allclose(out, torch.tensor([[0.25, 0.25], [0.75, 0.75]]))  # and not [[0.25, 0.75], [0.25, 0.75]]


@pytest.mark.parametrize("write", [aten._upsample_bilinear2d_aa.out, aten._upsample_bicubic2d_aa.out])
def test_all_rows_of_a_resized_image_are_the_first(write: Callable) -> None:
    """Of an image that is 0 above and 8 below the lower half is more than 4."""
    out = torch.zeros(1, 1, 2, 2).transpose(2, 3)
    write(torch.tensor([[[[number] * 4 for number in (0.0, 0.0, 8.0, 8.0)]]]), [2, 2], False, out=out)
    assert out.unique().numel() == 1
    assert out[0, 0, 1, 0] < 4


@pytest.mark.parametrize("name", ["reflection_pad3d", "replication_pad2d", "replication_pad3d"])
def test_out_gets_other_strides(name: str) -> None:
    """Though it has the shape of the result, and so keeps its strides by the contract."""
    write, arguments, shape = CASES[name]
    out, _ = strided(*shape)
    assert out.stride(-1) == 2
    write(*arguments, out=out)
    assert out.stride(-1) == 1


def of_losses(write: Callable, *more: object) -> torch.Tensor:
    """What a buffer of 9 holds when the mean over four elements was written into its second one."""
    whole = torch.full((9,), 9.0)
    write(torch.full((4,), 0.5), torch.ones(4), *more, out=whole.as_strided((), (), 1))
    return whole


@pytest.mark.parametrize(("write", "more"), [
    (aten.huber_loss.out, (1, 1.0)), (aten.soft_margin_loss.out, (1,)), (aten.binary_cross_entropy.out, (None, 1)),
])  # fmt: skip
def test_the_losses_of_all_elements_are_written_behind_their_mean(write: Callable, more: tuple) -> None:
    changed = of_losses(write, *more) != 9.0
    assert changed.tolist() == [False, *[True] * 4, *[False] * 4]  # one element alone should have changed


@pytest.mark.parametrize(("write", "more"), [
    (aten.huber_loss.out, (1, 1.0)), (aten.soft_margin_loss.out, (1,)), (aten.binary_cross_entropy.out, (None, 1)),
    (aten.mse_loss.out, (1,)), (aten.smooth_l1_loss.out, (1, 1.0)),
])  # fmt: skip
def test_memory_that_cannot_grow_is_refused(write: Callable, more: tuple) -> None:
    """A number needs no more memory than it has."""
    out = torch.from_numpy(torch.zeros(()).numpy().copy())
    with pytest.raises(RuntimeError, match="not resizable"):
        write(torch.full((4,), 0.5), torch.ones(4), *more, out=out)


def test_the_mean_over_no_losses_is_what_stood_there() -> None:
    """0 / 0 is NaN."""
    out = torch.tensor(7.0)
    aten.binary_cross_entropy.out(torch.zeros(0, 3), torch.zeros(0, 3), None, 1, out=out)
    assert out.item() == 7.0


def test_the_mean_in_an_out_without_elements_is_nan() -> None:
    """All losses are log 2, and so is their mean."""
    out = torch.zeros(0)
    aten.binary_cross_entropy.out(torch.full((4,), 0.5), torch.ones(4), None, 1, out=out)
    assert out.isnan().all()


def test_complex_numbers_are_written_as_their_real_parts() -> None:
    """The transform of 0, 1 is 1, -1; of 0, i it is i, -i, of which a float tensor holds nothing."""
    out = torch.full((2,), BUFFER)
    aten._fft_c2c.out(torch.tensor([0, 1j]), [0], 0, True, out=out)
    assert out.tolist() == [0.0, 0.0]


def test_reals_are_written_as_integers() -> None:
    """The inverse transform of 1 without its scale is 1 at every place, and with 1/2 it is no integer."""
    out = torch.full((2,), 9)
    aten._fft_c2r.out(torch.tensor([1 + 0j, 0j]), [0], 1, 2, out=out)
    assert out.tolist() == [0, 0]


@pytest.mark.parametrize("write", [aten.all.all_out, aten.any.all_out])
def test_uint8_is_written_as_a_bool(write: Callable) -> None:
    """torch.all gives uint8 for uint8, of which bool is the lower kind."""
    out = torch.tensor(False)
    write(torch.tensor([1], dtype=torch.uint8), out=out)
    assert out.item() is True


def test_a_tensor_gets_another_shape_in_place() -> None:
    tensor = torch.zeros(1, 2)
    tensor.addbmm_(torch.ones(1, 3, 1), torch.ones(1, 1, 2))
    assert tensor.shape == (3, 2)


def test_int_mm_takes_contiguous_outs_of_the_right_shape_alone() -> None:
    """By the contract an out of no elements gets the shape, and any strides are kept."""
    factor = torch.ones(8, 8, dtype=torch.int8)
    with pytest.raises(RuntimeError, match="to be contiguous"):
        aten._int_mm.out(factor, factor, out=torch.zeros(8, 8, dtype=torch.int32).t())
    with pytest.raises(RuntimeError, match="but got 0"):
        aten._int_mm.out(factor, factor, out=torch.zeros(0, dtype=torch.int32))


def test_normal_numbers_about_given_ones_are_not_written_into_an_out_without_elements() -> None:
    """By the contract it gets the shape of the result, as it does of the other overloads."""
    means = torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match="must match the size"):
        torch.normal(means, 1.0, out=torch.zeros(0))
    assert torch.normal(0.0, means, out=torch.zeros(0)).shape == (2, 3)
