"""Goldens of modules: against mpmath by hand, against honest implementations, and against defects planted in them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import pytest
import torch
from torch import nn

import conform
from conform.errors import Unjudged

F32 = np.float32
BF16 = ml_dtypes.bfloat16


def seeded(module: nn.Module, seed: int = 0) -> nn.Module:
    """The module in evaluation mode, no parameter or statistic at 0 or 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, one in [*module.named_parameters(), *module.named_buffers()]:
            if one.is_floating_point():
                drawn = torch.rand(one.shape, generator=generator)
                one.copy_(0.5 + drawn if "var" in name else (2 * drawn - 1) * (1.5 / max(one.shape[-1], 1)) ** 0.5)
    return module.eval()


def draw(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def output(module: nn.Module, *args: Any) -> Any:
    with torch.no_grad():
        return module(*args)


# --- By hand ----------------------------------------------------------------------------------------------------------


def by_hand(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """layer_norm(gelu(x @ weight^T + bias)) * scale + shift in mpmath, to 300 bits."""
    mp = np.vectorize(lambda one: mpmath.mpf(float(one)), otypes=[object])
    with mpmath.workprec(300):
        h = mp(x).dot(mp(weight).T) + mp(bias)
        h = np.vectorize(lambda t: t / 2 * (1 + mpmath.erf(t / mpmath.sqrt(2))), otypes=[object])(h)
        centred = h - h.sum(axis=1, keepdims=True) / h.shape[1]
        variance = (centred * centred).sum(axis=1, keepdims=True) / h.shape[1]
        root = np.vectorize(lambda t: mpmath.sqrt(t + mpmath.mpf(1e-5)), otypes=[object])(variance)
        return centred / root * mp(scale) + mp(shift)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(x))


def _huber(x: np.ndarray) -> np.ndarray:
    return np.mean(np.where(np.abs(x) <= 1, x * x / 2, np.abs(x) - 0.5))


F = nn.functional
IN_SEVERAL_STEPS: dict[str, tuple[Callable, Callable]] = {  # what torch takes apart, and what it means
    "softplus": (F.softplus, _softplus),
    "mish": (F.mish, lambda x: x * np.tanh(_softplus(x))),
    "celu": (F.celu, lambda x: np.maximum(x, 0) + np.minimum(np.expm1(x), 0)),
    "hardswish": (F.hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "logsumexp": (lambda x: x.logsumexp(-1), lambda x: np.log(np.exp(x).sum(-1))),
    "std": (lambda x: x.std(-1), lambda x: x.std(-1, ddof=1)),
    "lerp": (lambda x: torch.lerp(x, x * x, 0.3), lambda x: x + 0.3 * (x * x - x)),
    "mse_loss": (lambda x: F.mse_loss(x, torch.zeros_like(x)), lambda x: np.mean(x * x)),
    "huber_loss": (lambda x: F.huber_loss(x, torch.zeros_like(x)), _huber),
    "cross_entropy": (
        lambda x: F.cross_entropy(x, torch.tensor([1, 0])),
        lambda x: np.mean(np.log(np.exp(x).sum(-1)) - [x[0, 1], x[1, 0]]),
    ),
    "renorm": (lambda x: torch.renorm(x, 2, 0, 1.0), lambda x: x / np.maximum(np.sqrt((x * x).sum(1)[:, None]), 1)),
}


class _Between(nn.Module):
    def __init__(self, function: Callable) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x * 1.25) * 3.0


@pytest.mark.parametrize("name", IN_SEVERAL_STEPS)
def test_what_torch_takes_apart_is_rounded_at_the_end_alone(name: str) -> None:
    """torch's decompositions compute in float32 and convert to the half type amid the module; the numbers are
    those of the formula. A conversion that the module writes is meant."""
    function, formula = IN_SEVERAL_STEPS[name]
    x = torch.tensor([[0.25, -0.75, 1.5, 2.0], [0.125, 1.0, -0.5, 0.375]]).bfloat16()
    (found,) = conform.golden(_Between(function), x).outcome.goldens
    expected = 3 * formula(1.25 * x.double().numpy())
    guard = 1e-6 if name == "renorm" else 1e-14  # torch divides by the norm and 1e-7
    np.testing.assert_allclose(found.real.hi + found.real.lo, expected, rtol=guard)
    (rounded,) = conform.golden(_Between(lambda one: function(one).bfloat16().float()), x.float()).outcome.goldens
    assert (np.abs(rounded.real.hi / expected - 1) > 1e-5).any()


BLOCK = seeded(nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.LayerNorm(24)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_golden_is_that_of_mpmath_rounded_once(dtype: torch.dtype) -> None:
    block, x = copy.deepcopy(BLOCK).to(dtype), draw(5, 16).to(dtype)
    (found,) = conform.golden(block, x).outcome.goldens
    linear, norm = block[0], block[2]
    exact = by_hand(*(one.detach().double().numpy() for one in (x, linear.weight, linear.bias, norm.weight, norm.bias)))
    with mpmath.workprec(300):
        for index in np.ndindex(exact.shape):
            distance = abs(exact[index] - mpmath.mpf(found.real.hi[index]) - mpmath.mpf(found.real.lo[index]))
            assert distance <= found.real.radius[index] <= 2.0**-90
    assert found.value.dtype.name == str(dtype).removeprefix("torch.")
    nearest = np.abs(found.value.astype(float) - exact.astype(float))
    assert (nearest <= np.abs(exact.astype(float)) * found.format.unit_roundoff * 1.01).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_masked_weights_of_attention_are_those_of_mpmath(dtype: torch.dtype) -> None:
    """Whatever torch's own decomposition of a product with an addend rounds to bfloat16 on the way."""
    module = seeded(nn.MultiheadAttention(4, 1, batch_first=True)).to(dtype)
    x, mask = draw(2, 3, 4).to(dtype), torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
    found = conform.golden(module, x, x, x, attn_mask=mask).outcome.goldens[1]
    weight, bias = (one.detach().double().numpy() for one in (module.in_proj_weight, module.in_proj_bias))
    mp = np.vectorize(lambda one: mpmath.mpf(float(one)), otypes=[object])
    with mpmath.workprec(300):
        query, key = (mp(x.double().numpy()).dot(mp(weight[at : at + 4]).T) + mp(bias[at : at + 4]) for at in (0, 4))
        for batch, row, place in np.ndindex(2, 3, 3):
            powers = [mpmath.exp(query[batch, row].dot(key[batch, other]) / 2) for other in range(row + 1)]
            exact = powers[place] / sum(powers) if place <= row else 0
            real, index = found.real, (batch, row, place)
            assert abs(exact - mpmath.mpf(real.hi[index]) - mpmath.mpf(real.lo[index])) <= real.radius[index] < 2.0**-80


def test_intermediates_may_be_kept_or_rounded_to_their_dtype() -> None:
    """A fused kernel keeps float32, an eager one rounds each result to bfloat16; a third one loses a factor."""
    block, x = copy.deepcopy(BLOCK).bfloat16(), draw(64, 16).bfloat16()
    eager = output(block, x)
    fused = output(copy.deepcopy(block).float(), x.float()).bfloat16()
    assert not torch.equal(eager, fused)
    truth = conform.golden(block, x)
    assert truth.verdict(eager).status == "pass"
    assert truth.verdict(fused).status == "pass"
    assert truth.verdict((fused.float() * 1.25).bfloat16()).status == "fail"
    assert truth.rows[0].kind == "statistical"
    assert conform.golden(BLOCK, draw(64, 16)).rows[0].kind == "derived"


# --- Honest implementations pass, defects do not ----------------------------------------------------------------------


class Residual(nn.Module):
    """A transformer's feed-forward block."""

    def __init__(self, approximate: str = "none", eps: float = 1e-5, residual: bool = True) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16, eps=eps), nn.Linear(16, 32), nn.Linear(32, 16)
        self.approximate, self.residual = approximate, residual

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.down(nn.functional.gelu(self.up(self.norm(x)), approximate=self.approximate))
        return x + h if self.residual else h


class Attention(nn.Module):
    def __init__(self, scale: float = 1.0, causal: bool = True) -> None:
        super().__init__()
        self.qkv, self.out, self.norm = nn.Linear(16, 48), nn.Linear(16, 16), nn.RMSNorm(16, eps=1e-6)
        self.scale, self.causal = scale, causal

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4).unbind(0)
        mixed = nn.functional.scaled_dot_product_attention(self.scale * q, k, v, is_causal=self.causal)
        return x + self.out(mixed.transpose(1, 2).flatten(2))


class Swiglu(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up, self.down = (nn.Linear(*shape, bias=False) for shape in ((16, 32), (16, 32), (32, 16)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=2),
        nn.GroupNorm(2, 8), nn.SiLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(8, 4), nn.LogSoftmax(-1),
    )  # fmt: skip


class Tokens(nn.Module):
    """Embedding, positions, a head with tied weights."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(11, 16)
        self.head = nn.Linear(16, 11, bias=False)
        self.head.weight = self.table.weight
        self.register_buffer("angles", torch.arange(6)[:, None] / 10 ** torch.linspace(0, 1, 16))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        h = self.table(tokens) * torch.cos(self.angles) + torch.sin(self.angles)
        mask = torch.arange(6)[:, None] >= torch.arange(6)
        return self.head((h @ h.transpose(1, 2)).masked_fill(~mask, float("-inf")).softmax(-1) @ h)


IMAGES, ROWS, WORDS = draw(2, 3, 10, 10), draw(3, 6, 16), torch.arange(12).reshape(2, 6) % 11
MODULES: dict[str, tuple[Callable[[], nn.Module], torch.Tensor]] = {
    "linear": (lambda: nn.Linear(16, 8), ROWS),
    "residual": (Residual, ROWS),
    "attention": (Attention, ROWS),
    "swiglu": (Swiglu, ROWS),
    "convolutions": (convolutions, IMAGES),
    "tokens": (Tokens, WORDS),
    "encoder": (lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), ROWS),
    "lstm": (lambda: nn.Sequential(nn.LSTM(16, 8, batch_first=True)), ROWS),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", MODULES)
def test_eager_torch_passes_and_results_that_are_not_the_modules_fail(name: str) -> None:
    make, x = MODULES[name]
    module = seeded(make())
    truth, eager = conform.golden(module, x), output(module, x)
    assert truth.verdict(eager).status == "pass"
    first = eager[0] if isinstance(eager, tuple) else eager
    # A sanity check, no expectation: both would have to be wrong in the same way.
    sane = output(module.double(), x.double() if x.is_floating_point() else x)
    number = truth.outcome.goldens[0].real.hi
    assert np.allclose(number, (sane[0] if isinstance(sane, tuple) else sane).numpy(), rtol=1e-9, atol=1e-11)
    rest = truth.value[1:] if isinstance(truth.value, tuple) else ()
    for wrong in (torch.zeros_like(first), first * 1.02, first.flip(-1)):
        assert truth.verdict((wrong, *rest) if rest else wrong).status == "fail"


def _transposed(module: nn.Module) -> nn.Module:
    with torch.no_grad():
        module.up.weight.copy_(module.up.weight.reshape(16, 32).T.contiguous())
    return module


def _without_bias(module: nn.Module) -> nn.Module:
    with torch.no_grad():
        module.down.bias.zero_()
    return module


DEFECTS: dict[str, tuple[nn.Module, nn.Module]] = {
    "eps of another layer": (seeded(Residual()), seeded(Residual(eps=1e-3))),
    "tanh for erf": (seeded(Residual()), seeded(Residual(approximate="tanh"))),
    "no residual": (seeded(Residual()), seeded(Residual(residual=False))),
    "a transposed weight": (seeded(Residual()), _transposed(seeded(Residual()))),
    "no bias": (seeded(Residual()), _without_bias(seeded(Residual()))),
    "a wrong scale": (seeded(Attention()), seeded(Attention(scale=1.01))),
    "no mask": (seeded(Attention()), seeded(Attention(causal=False))),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_inside_is_caught(name: str) -> None:
    module, wrong = DEFECTS[name]
    truth = conform.golden(module, ROWS)
    assert truth.verdict(output(module, ROWS)).status == "pass"
    assert truth.verdict(output(wrong, ROWS)).status == "fail"


@pytest.mark.parametrize("name", ["no residual", "a transposed weight", "no mask", "no bias"])
def test_a_large_defect_inside_is_caught_in_bfloat16(name: str) -> None:
    module, wrong = (copy.deepcopy(one).bfloat16() for one in DEFECTS[name])
    truth = conform.golden(module, ROWS.bfloat16())
    assert truth.verdict(output(module, ROWS.bfloat16())).status == "pass"
    assert truth.verdict(output(wrong, ROWS.bfloat16())).status == "fail"


# --- What modules do otherwise ----------------------------------------------------------------------------------------


class Nest(nn.Module):
    def forward(self, x: torch.Tensor, options: dict[str, torch.Tensor], factor: int = 2) -> dict[str, Any]:
        return {"z": x * factor, "a": [options["shift"] + x, None], "i": x.argmax(-1)}


def test_nests_go_in_and_come_out_by_keys() -> None:
    x, options = F32([[1.0, 5.0]]), {"shift": F32([10.0])}
    truth = conform.golden(Nest(), x, options, factor=3)
    assert [one.tolist() for one in truth.value] == [[[11.0, 15.0]], [1], [[3.0, 15.0]]]
    right = {"i": np.array([1]), "z": 3 * x, "a": [10 + x, None]}
    conform.assert_close(Nest(), right, x, options, factor=3)
    with pytest.raises(AssertionError, match="Nest float32: error above the bound"):
        conform.assert_close(Nest(), {**right, "z": 2 * x}, x, options, factor=3)
    with pytest.raises(AssertionError, match="2 outputs instead of 3"):
        conform.assert_close(Nest(), {**right, "a": None}, x, options, factor=3)


def test_0d_empty_and_mixed_dtypes() -> None:
    linear = seeded(nn.Linear(4, 3))
    assert conform.golden(linear, torch.zeros(0, 4)).value.shape == (0, 3)
    assert conform.golden(linear, torch.zeros(4)).value.tolist() == linear.bias.tolist()

    class Mixed(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (x.sum(), x.double() * y, x.to(torch.bfloat16) + 1)

    x, y = torch.tensor([1.0, 2.0]), torch.tensor(0.5, dtype=torch.float64)
    total, product, half = conform.golden(Mixed(), x, y).value
    assert (total.shape, total.item()) == ((), 3.0)
    assert (product.dtype, product.tolist()) == (np.float64, [0.5, 1.0])
    assert (half.dtype, half.astype(float).tolist()) == (BF16, [2.0, 3.0])


def test_writes_into_what_a_module_made_itself_are_steps_like_others() -> None:
    class Writes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = x * 2
            h.add_(1).relu_()
            h[:, 1:].mul_(3)
            h[0, 0] = 7
            return nn.functional.pad(h, (1, 0), value=-1.0)

    x = F32([[1.0, 2.0, -3.0], [0.5, 0.0, 1.0]])
    assert conform.golden(Writes(), x).value.tolist() == [[-1.0, 7.0, 15.0, 0.0], [-1.0, 2.0, 3.0, 9.0]]


def test_a_step_that_an_error_may_turn_is_not_judged() -> None:
    class Threshold(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.where(x / 3 > x * (1 / 3), x, -x)

    x = torch.tensor([0.3, 5.0])
    truth = conform.golden(Threshold(), x)
    assert np.isinf(truth.bound_ulp).all()  # 5 / 3 as well
    with pytest.raises(Unjudged, match="the bound is vacuous"):
        conform.assert_close(Threshold(), Threshold()(x), x)


def test_arguments_that_are_the_results_and_views_of_them() -> None:
    class Same(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x, x.T, x[:1], x

    found = conform.golden(Same(), F32([[1.0, 2.0]]))
    assert [one.tolist() for one in found.value] == [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0]], [[1.0, 2.0]]]


# --- A user's own op --------------------------------------------------------------------------------------------------


class AddRmsNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, 16))

    def forward(self, x: torch.Tensor, residual: torch.Tensor, eps: float = 1e-6) -> tuple[torch.Tensor, torch.Tensor]:
        h = x + residual
        return h * torch.rsqrt((h * h).mean(-1, keepdim=True) + eps) * self.weight, h


def test_a_module_is_the_reference_of_a_users_op() -> None:
    module = AddRmsNorm()
    name = conform.op("test::add_rms_norm_of_module", reference=module)
    weight = module.weight.detach().numpy().copy()
    with torch.no_grad():
        module.weight.zero_()  # what is trained on changes nothing
    x, y = draw(4, 16).numpy(), draw(4, 16, seed=2).numpy()
    h = x + y
    for eps in (1e-6, 1e-2):
        honest = (h / np.sqrt((h * h).mean(-1, keepdims=True) + F32(eps)) * weight, h)
        conform.assert_close(name, honest, x, y, eps=eps)
        with pytest.raises(AssertionError, match="error above the bound"):
            conform.assert_close(name, (honest[0] * F32(1.0001), h), x, y, eps=eps)
    with pytest.raises(AssertionError, match="error above the bound"):
        conform.assert_close(name, honest, x, y)  # with eps 1e-6


def test_a_reference_that_is_no_program_is_told_when_it_is_asked() -> None:
    name = conform.op("test::branch_of_module", reference=nn.Sequential(nn.Dropout(0.5)).train())
    with pytest.raises(Unjudged, match="a program cannot use native_dropout: chance has a part in it"):
        conform.golden(name, F32([1.0]))
