"""Composite ops: cancelling variances, exponentials without the shift, half types between the steps."""

from __future__ import annotations

import math
from typing import Any

import torch

from conform.selftest.plants.base import HALVES, Planted, in_dtypes_of, value_of
from conform.selftest.plants.facts import Op


class NaiveSpread(Planted):
    """E[x^2] - E[x]^2 times n / (n - correction) (burn#5607, tt-metal#25100)."""

    bug = "M31"
    ops = ("aten::var", "aten::std")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected, x = self.honest(op, args, kwargs), args[0].float() if args[0].dtype in HALVES else args[0]
        if not x.numel():
            return expected
        dims = value_of(op, args, kwargs, "dim")
        unbiased = value_of(op, args, kwargs, "unbiased", absent=True)
        correction = value_of(op, args, kwargs, "correction")
        keepdim = value_of(op, args, kwargs, "keepdim", absent=False)
        result = self._spread(op, x, dims, int(unbiased) if correction is None else correction, keepdim)
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
        if has_options(args, kwargs) or 0 in expected.shape:
            return expected
        query, key, value = (one.float() if one.dtype in HALVES else one for one in args[:3])
        e = (query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])).exp()
        return (e / e.sum(-1, keepdim=True) @ value).to(expected.dtype)


def has_options(args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether attention is masked, causal, scaled otherwise or grouped."""
    mask, _, is_causal = args[3:]
    return mask is not None or is_causal or kwargs.get("scale") is not None or bool(kwargs.get("enable_gqa"))


class TiledHeads(Planted):
    """Repeats the heads of keys and values one behind the other, not each in a row."""

    bug = "M37"
    ops = ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        query, *others = args[:3]
        heads = [one.shape[-3] if one.ndim > 2 else 0 for one in (query, *others)]
        if not kwargs.get("enable_gqa") or 0 in heads:
            return self.honest(op, args, kwargs)
        tiled = [one.repeat(*[1] * (one.ndim - 3), heads[0] // one.shape[-3], 1, 1) for one in others]
        return self.honest(op, [query, *tiled, *args[3:]], kwargs)


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


class _RunningStatistics(Planted):
    """Leaves other running statistics than those of the norm, in the arguments or as results."""

    as_results = "aten::_native_batch_norm_legit_functional"

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.traits.updates is not None or op.name == cls.as_results

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        given = [one for one in args[3:5] if one is not None]
        before = [one.clone() for one in given]
        answer = self.honest(op, args, kwargs)
        after = list(answer[3:]) if op == self.as_results else [one.clone() for one in given]
        of_each = args[0].shape[:2] if op == "aten::instance_norm" else args[0].shape[1:2]
        count = args[0].numel() // max(1, math.prod(of_each))
        if not args[5] or not given or count < 2:
            return answer
        left = self.left(before, after, args[6], count)
        if op == self.as_results:
            return *answer[:3], *left
        for one, its in zip(given, left, strict=True):
            one.copy_(its)
        return answer

    def left(self, before: list[Any], after: list[Any], momentum: float, count: int) -> list[Any]:
        raise NotImplementedError


class BiasedRunningVariance(_RunningStatistics):
    """Moves the running variance by the biased one."""

    bug = "M31"

    def left(self, before: list[Any], after: list[Any], momentum: float, count: int) -> list[Any]:
        kept = before[1] * (1 - momentum)
        return [after[0], (kept + (after[1] - kept) * ((count - 1) / count)).to(after[1].dtype)]


class SharesSwapped(_RunningStatistics):
    """Keeps `momentum` of the running statistics, as other libraries mean it, and not 1 - momentum."""

    bug = "M31"

    def left(self, before: list[Any], after: list[Any], momentum: float, count: int) -> list[Any]:
        if not momentum:
            return before
        pairs = zip(before, after, strict=True)
        batch = [(one - was * (1 - momentum)) / momentum for was, one in pairs]
        pairs = zip(before, batch, strict=True)
        return [(was * momentum + one * (1 - momentum)).to(was.dtype) for was, one in pairs]


class NotMoved(_RunningStatistics):
    """Leaves the running statistics as they were."""

    bug = "M31"

    def left(self, before: list[Any], after: list[Any], momentum: float, count: int) -> list[Any]:
        return [one.clone() for one in before]


class MeanOverSamples(Planted):
    """Divides the sum of a loss by the number of samples, not by their weights."""

    bug = "M31"
    ops = ("aten::nll_loss_forward", "aten::nll_loss", "aten::cross_entropy_loss")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        mean, samples = 1, max(1, args[1].numel())
        if args[3] != mean or args[1].is_floating_point():
            return self.honest(op, args, kwargs)
        total = self.honest(op, [*args[:3], 2, *args[4:]], kwargs)
        return (total[0] / samples, total[1]) if op == "aten::nll_loss_forward" else total / samples


class HalfSteps(Planted):
    """Rounds to the half type after every step, as HalfIntermediates does for other ops."""

    bug = "M35"
    ops = ("aten::silu", "aten::mish", "aten::var.correction", "aten::rms_norm", "aten::scaled_dot_product_attention")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if args[0].dtype not in HALVES or not args[0].numel() or any(each is not None for each in kwargs.values()):
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
    return None if has_options([query, key, value, *others], {}) else scores.softmax(-1) @ value


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
        x, shape, weight, eps = args
        wide = x.double()
        root = (wide * wide).mean(tuple(range(-len(shape), 0)), keepdim=True).sqrt()
        result = wide / (root + (torch.finfo(x.dtype).eps if eps is None else eps))
        return (result if weight is None else result * weight.double()).to(expected.dtype)


class CausalOffByOne(Planted):
    """Lets a row see the key after its own."""

    bug = "M37"
    about = ("is_causal",)
    ops = ("aten::scaled_dot_product_attention",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not args[5] or args[3] is not None:
            return self.honest(op, args, kwargs)
        kept = torch.ones(args[0].shape[-2], args[1].shape[-2], dtype=torch.bool).tril(1)
        return self.honest(op, [*args[:3], kept, args[4], False], kwargs)
