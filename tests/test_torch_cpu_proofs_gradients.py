"""What docs/torch-cpu.md says of gradients of elements: each shown with exact numbers, without the kit."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

aten = torch.ops.aten
ONE, THREE = torch.tensor([1.0]).bfloat16(), torch.tensor(3.0).bfloat16()


def bf16(*values: float) -> torch.Tensor:
    return torch.tensor(values).bfloat16()


def is_nearer(exact: Fraction, nearest: float, found: float) -> bool:
    """Whether another bfloat16 than the one that was found is nearer to the exact number."""
    return abs(exact - Fraction(nearest)) < abs(exact - Fraction(found))


def test_sigmoid_backward_rounds_every_step_in_float16() -> None:
    grad, y = torch.tensor([-1.08203125]).half(), torch.tensor([-0.91748046875]).half()
    exact = Fraction(-1.08203125) * Fraction(-0.91748046875) * (1 + Fraction(0.91748046875))
    found = aten.sigmoid_backward(grad, y).item()
    assert found == 1.9052734375
    assert is_nearer(exact, 1.9033203125, found)


@pytest.mark.parametrize(
    ("name", "found", "nearest", "exact"),
    [
        ("logit", lambda: aten.logit_backward(ONE, bf16(0.009765625)), 103.5,
         1 / (Fraction(0.009765625) * (1 - Fraction(0.009765625)))),
        ("huber_loss", lambda: aten.huber_loss_backward(bf16(1.5703125), bf16(0.001953125), bf16(1.0078125), 0, 10.0),
         -1.578125, Fraction(1.5703125) * (Fraction(0.001953125) - Fraction(1.0078125))),
        ("mse_loss", lambda: aten.mse_loss_backward(THREE / 2, bf16(*[0.013671875] * 3), bf16(0, 0, 0), 1)[:1],
         0.013671875, Fraction(0.013671875)),
        ("binary_cross_entropy",
         lambda: aten.binary_cross_entropy_backward(ONE, bf16(0.01171875), bf16(0.0), None, 0),
         1.015625, 1 / (1 - Fraction(0.01171875))),
        ("nll_loss", lambda: aten.nll_loss_backward(THREE / THREE * 1.203125, torch.zeros(1, 1).bfloat16(),
                                                    torch.tensor([0]), bf16(0.296875), 1, -1, THREE),
         -0.119140625, -Fraction(1.203125) * Fraction(0.296875) / 3),
        ("nll_loss2d", lambda: aten.nll_loss2d_backward(THREE / THREE * 1.25, torch.zeros(1, 1, 1, 1).bfloat16(),
                                                        torch.zeros(1, 1, 1, dtype=torch.long), bf16(0.2421875), 1, -1,
                                                        THREE),
         -0.10107421875, -Fraction(1.25) * Fraction(0.2421875) / 3),
        # By mpmath: -0.1796875 / (1 + e^0.6953125), and 3 * 0.3203125 * s * (1 - s), s = 1 / (1 + e^-0.546875).
        ("soft_margin_loss",
         lambda: aten.soft_margin_loss_backward(bf16(0.1796875), bf16(0.6953125), bf16(1.0), 0),
         -0.059814453125, Fraction("-0.05980940215076017")),
        ("glu", lambda: aten.glu_backward(bf16(0.3203125), bf16(3.0, 0.546875), 0)[1:], 0.22265625,
         Fraction("0.22313132257879162")),
    ],
)  # fmt: skip
def test_steps_are_rounded_to_bfloat16(name: str, found: object, nearest: float, exact: Fraction) -> None:
    assert bf16(nearest).item() == nearest
    assert is_nearer(exact, nearest, found().item())


def test_hardsigmoid_backward_has_one_sixth_in_float32() -> None:
    found = aten.hardsigmoid_backward(torch.ones(1).double(), torch.zeros(1).double()).item()
    assert found == torch.tensor(1 / 6, dtype=torch.float32).item() != 1 / 6


def test_nll_loss2d_backward_refuses_strided_tensors() -> None:
    x, target = torch.zeros(1, 2, 2, 2).transpose(2, 3), torch.zeros(1, 2, 2, dtype=torch.long)
    with pytest.raises(RuntimeError, match="grad_input must be contiguous"):
        aten.nll_loss2d_backward(torch.tensor(1.0), x, target, None, 1, -100, torch.tensor(4.0))
