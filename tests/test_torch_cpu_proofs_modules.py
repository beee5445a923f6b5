"""One element of each row of docs/torch-cpu.md that is of modules: what is right, and what torch's CPU returns.

Exact arithmetic (fractions, and one logarithm in mpmath) alone.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import torch
from torch.nn import functional

STEP = 2.0**-7  # of bfloat16 above 1
NEAR_ONE = 1 + STEP


def bfloat16(*shape: int, value: float) -> torch.Tensor:
    return torch.full(shape, value, dtype=torch.bfloat16)


def test_linear_rounds_the_product_before_the_bias_where_rows_are_not_contiguous() -> None:
    """(1 + 2^-7)^2 - (1 + 2^-6) = 2^-14, which bfloat16 holds."""
    exact = Fraction(NEAR_ONE) ** 2 - Fraction(1 + 2 * STEP)
    assert exact == Fraction(1, 2**14)
    x = bfloat16(2, 3, 2, value=NEAR_ONE)
    weight, bias = torch.tensor([[NEAR_ONE, 0]]).bfloat16(), bfloat16(1, value=-1 - 2 * STEP)
    assert functional.linear(x, weight, bias).unique().tolist() == [float(exact)]
    assert functional.linear(x.transpose(0, 1), weight, bias).unique().tolist() == [0.0]


def test_bilinear_rounds_its_product_before_the_bias() -> None:
    x, weight = bfloat16(1, 1, value=NEAR_ONE), bfloat16(1, 1, 1, value=1.0)
    found = functional.bilinear(x, x, weight, bfloat16(1, value=-1 - 2 * STEP))
    assert (found.item(), Fraction(NEAR_ONE) ** 2 - Fraction(1 + 2 * STEP)) == (0.0, Fraction(1, 2**14))


def test_soft_margin_loss_rounds_every_step() -> None:
    """log(1 + e^-0.5) = 0.47408 lies nearer to 0.474609375 than to 0.47265625, its neighbour in bfloat16."""
    with mpmath.workprec(100):
        exact = mpmath.log1p(mpmath.exp(mpmath.mpf(-0.5)))
        assert abs(exact - 0.474609375) < abs(exact - 0.47265625)
    one = bfloat16(1, value=1.0)
    assert functional.soft_margin_loss(one / 2, one, reduction="none").item() == 0.47265625


def test_a_transposed_convolution_adds_up_in_float16() -> None:
    """2048 + 1 + 1 = 2050, which float16 holds."""
    x, weight = torch.ones(1, 1, 4).half(), torch.tensor([[[2048.0, 1, 1, 1]]]).half()
    assert functional.conv_transpose1d(x, weight)[0, 0, 2].item() == 2048.0


def test_bicubic_weights_are_rounded_to_bfloat16() -> None:
    """The last of four elements resized to seven lies at 45/14: 23.04, which is nearer to 23 than to 23.125."""
    x = [1, -100, 100, 30]
    share, a = Fraction(45, 14) - 3, Fraction(-3, 4)

    def near(t: Fraction) -> Fraction:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1

    def far(t: Fraction) -> Fraction:
        return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a

    exact = far(1 + share) * x[2] + near(share) * x[3] + near(1 - share) * x[3] + far(2 - share) * x[3]
    assert abs(exact - 23) < abs(exact - Fraction(185, 8))
    found = functional.interpolate(torch.tensor([[[x]]]).bfloat16(), size=(1, 7), mode="bicubic")
    assert found.flatten()[-1].item() == 23.125
