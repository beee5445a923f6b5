"""Composite ops: cancelling variances, exponentials without the shift, arguments of losses and attention ignored."""

from __future__ import annotations

import math
from typing import Any

import torch
from parameters import ReplacesArgument, replaced
from planting import HALVES, Planted, in_dtypes_of


class NaiveSpread(Planted):
    """E[x^2] - E[x]^2 times n / (n - correction) (burn#5607, tt-metal#25100)."""

    bug = "M31"
    ops = ("aten::var", "aten::std")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if not op.endswith(".dim") or args[0].dtype in HALVES or not args[0].numel():
            return self._by_correction(op, args, kwargs, expected)
        unbiased = args[2] if len(args) > 2 else kwargs.get("unbiased", True)
        keepdim = args[3] if len(args) > 3 else kwargs.get("keepdim", False)
        return self._spread(op, args[0], args[1], int(unbiased), keepdim)

    def _by_correction(self, op: str, args: list[Any], kwargs: dict[str, Any], expected: torch.Tensor) -> torch.Tensor:
        x = args[0].float() if args[0].dtype in HALVES else args[0]
        if op.endswith(".correction"):
            given = kwargs.get("correction")
            dim = args[1] if len(args) > 1 else None
            result = self._spread(op, x, dim, 1 if given is None else given, kwargs.get("keepdim", False))
        else:
            result = self._spread(op, x, None, int(args[1] if len(args) > 1 else True), False)
        return result.to(expected.dtype).reshape(expected.shape) if result.numel() == expected.numel() else expected

    @staticmethod
    def _spread(op: str, x: torch.Tensor, dim: list[int] | None, correction: float, keepdim: bool) -> torch.Tensor:
        dims = dim or list(range(x.ndim))
        count = math.prod(x.shape[d] for d in dims) if x.ndim else 1
        biased = (x * x).mean(dims, keepdim=keepdim) - x.mean(dims, keepdim=keepdim) ** 2
        variance = biased * count / max(0, count - correction) if count > correction else biased / 0
        return variance.sqrt() if op.startswith("aten::std") else variance


class UnshiftedExponentials(Planted):
    """log(sum(exp(x))) without taking out the largest element (pytorch#163932)."""

    bug = "M18"
    ops = ("aten::_log_softmax", "aten::logsumexp")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected, x = self.honest(op, args, kwargs), args[0].float() if args[0].dtype in HALVES else args[0]
        if not x.is_floating_point() or not x.numel():
            return expected
        dims = args[1] if isinstance(args[1], list) else [args[1]]
        total = x.exp().sum(dims, keepdim=True).log()
        return in_dtypes_of(expected, x - total if op == "aten::_log_softmax" else total.reshape(expected.shape))


class UnshiftedAttention(Planted):
    """exp(score) / sum(exp(score)) without taking out the largest score of a row."""

    bug = "M18"
    ops = ("aten::scaled_dot_product_attention",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if len(args) > 3 or kwargs or 0 in expected.shape:
            return expected
        query, key, value = (one.float() if one.dtype in HALVES else one for one in args)
        e = (query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])).exp()
        return (e / e.sum(-1, keepdim=True) @ value).to(expected.dtype)


class UnbiasedNorms(Planted):
    """Divides the squares by n - 1 in group and batch norm."""

    bug = "M31"
    ops = ("aten::native_group_norm", "aten::_native_batch_norm_legit.no_stats")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        x, plain = args[0], [args[0], None, None, *args[3:]]
        output, mean, rstd = self.honest(op, plain, kwargs)
        count = x.numel() // max(1, mean.numel())
        if count < 2:
            return self.honest(op, args, kwargs)
        weight, bias = (None if p is None else p.reshape(-1, *[1] * (x.ndim - 2)) for p in args[1:3])
        factor = math.sqrt((count - 1) / count)
        output = output * factor if weight is None else output * factor * weight
        return output if bias is None else output + bias, mean, rstd * factor


class MeanOverSamples(Planted):
    """Divides the sum of a loss by the number of samples, not by their weights."""

    bug = "M31"
    ops = ("aten::nll_loss_forward", "aten::nll_loss", "aten::cross_entropy_loss")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        mean, samples = 1, max(1, args[1].numel())
        if (args[3] if len(args) > 3 else kwargs.get("reduction", mean)) != mean or args[1].is_floating_point():
            return self.honest(op, args, kwargs)
        total = self.honest(op, *replaced(args, kwargs, 3, "reduction", 2))
        return (total[0] / samples, total[1]) if op == "aten::nll_loss_forward" else total / samples


class HalfSteps(Planted):
    """Rounds to the half type after every step, as HalfIntermediates does for other ops."""

    bug = "M35"
    ops = ("aten::silu", "aten::mish", "aten::var.correction", "aten::rms_norm", "aten::scaled_dot_product_attention")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if args[0].dtype not in HALVES or not args[0].numel() or kwargs:
            return expected
        result = HALF_STEPS[op](*args)
        return expected if result is None else result


def _half_silu(x: torch.Tensor) -> torch.Tensor:
    return x / (1 + (-x).exp())


def _half_mish(x: torch.Tensor) -> torch.Tensor:
    return x * (1 + x.exp()).log().tanh()


def _half_variance(x: torch.Tensor, dims: list[int] | None = None) -> torch.Tensor | None:
    if not dims:
        return None
    count = math.prod(x.shape[dim] for dim in dims)
    return ((x - x.mean(dims, keepdim=True)) ** 2).sum(dims) / max(0, count - 1)


def _half_rms_norm(
    x: torch.Tensor, shape: list[int], weight: torch.Tensor | None = None, eps: float | None = None
) -> torch.Tensor:
    square = (x * x).mean(tuple(range(-len(shape), 0)), keepdim=True)
    output = x * (square + (torch.finfo(x.dtype).eps if eps is None else eps)).rsqrt()
    return output if weight is None else output * weight


def _half_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *others: Any) -> torch.Tensor | None:
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    return None if others else scores.softmax(-1) @ value


HALF_STEPS = {
    "aten::silu": _half_silu, "aten::mish": _half_mish, "aten::var.correction": _half_variance,
    "aten::rms_norm": _half_rms_norm, "aten::scaled_dot_product_attention": _half_attention,
}  # fmt: skip


class RmsEpsOutsideRoot(Planted):
    """x / (sqrt(mean(x^2)) + eps) * weight."""

    bug = "M31"
    ops = ("aten::rms_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        x, shape, weight, eps = [*args, None, None][:4]
        wide = x.double()
        root = (wide * wide).mean(tuple(range(-len(shape), 0)), keepdim=True).sqrt()
        result = wide / (root + (torch.finfo(x.dtype).eps if eps is None else eps))
        return (result if weight is None else result * weight.double()).to(expected.dtype)


class CausalOffByOne(Planted):
    """Lets a row see the key after its own."""

    bug = "M37"
    ops = ("aten::scaled_dot_product_attention",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if len(args) < 6 or not args[5] or args[3] is not None:
            return self.honest(op, args, kwargs)
        kept = torch.ones(args[0].shape[-2], args[1].shape[-2], dtype=torch.bool).tril(1)
        return self.honest(op, [*args[:3], kept, args[4], False], kwargs)


def _with(op: str, argument: str, instead: Any = None) -> type[ReplacesArgument]:
    members = {"__doc__": f"{op}: {argument} is always {instead or 'the default'}.", "__module__": __name__}
    return type("Replaces", (ReplacesArgument,), {**members, "ops": (op,), "argument": argument, "instead": instead})


MeanOfEverything = _with("aten::mean.dim", "dim", [])
MeanWithoutDtype = _with("aten::mean", "dtype")
VarAlwaysUnbiased = _with("aten::var.dim", "unbiased")
VarWithoutCorrection = _with("aten::var.correction", "correction")
StdAlwaysBiased = _with("aten::std.dim", "unbiased", False)
VectorNormOfOrder2 = _with("aten::linalg_vector_norm", "ord", 2)
ProdWithoutDtype = _with("aten::prod", "dtype")
LogsumexpWithoutKeepdim = _with("aten::logsumexp", "keepdim")
LogSoftmaxOnFirstDim = _with("aten::_log_softmax", "dim", 0)
GroupNormOfOneGroup = _with("aten::native_group_norm", "group", 1)
GroupNormWithoutBias = _with("aten::native_group_norm", "bias")
BatchNormWithoutEps = _with("aten::_native_batch_norm_legit.no_stats", "eps", 1e-5)
BatchNormWithoutWeight = _with("aten::_native_batch_norm_legit_no_training", "weight")
MseLossAlwaysMean = _with("aten::mse_loss", "reduction")
SmoothL1LossWithoutBeta = _with("aten::smooth_l1_loss", "beta")
HuberLossWithoutDelta = _with("aten::huber_loss", "delta")
BinaryCrossEntropyWithoutWeight = _with("aten::binary_cross_entropy", "weight")
LogitsWithoutPosWeight = _with("aten::binary_cross_entropy_with_logits", "pos_weight")
DivergenceOfProbabilities = _with("aten::kl_div", "log_target")
NllLossWithoutIgnoring = _with("aten::nll_loss", "ignore_index")
NllLossWithoutWeight = _with("aten::nll_loss_forward", "weight")
CrossEntropyWithoutSmoothing = _with("aten::cross_entropy_loss", "label_smoothing")
CrossEntropyWithoutIgnoring = _with("aten::cross_entropy_loss", "ignore_index")
AttentionWithoutScale = _with("aten::scaled_dot_product_attention", "scale")
AttentionWithoutMask = _with("aten::scaled_dot_product_attention", "attn_mask")
AttentionWithoutCausality = _with("aten::scaled_dot_product_attention", "is_causal")
