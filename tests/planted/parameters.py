"""Parameters and indices: attributes ignored or swapped, updates lost."""

from __future__ import annotations

from typing import Any

import torch

from conform import schema
from planting import Planted


class DropsArgument(Planted):
    """Resets one argument to its default, or to that of `instead` (executorch#11683, tt-metal#27001)."""

    bug = "M37"
    argument = ""
    instead: Any = None

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        bound = schema.bind(schema.schema(op), args, kwargs, lambda value: isinstance(value, torch.Tensor))
        known = {one.name: one for one in schema.schema(op).arguments}
        bound[self.argument] = known[self.argument].default if self.instead is None else self.instead
        positional = [value for name, value in bound.items() if not known[name].kwarg_only]
        keywords = {name: value for name, value in bound.items() if known[name].kwarg_only and value is not None}
        return self.honest(op, positional, keywords)


def _dropping(op: str, argument: str, instead: Any = None) -> type[DropsArgument]:
    return type(f"Drops_{argument}", (DropsArgument,), {"ops": (op,), "argument": argument, "instead": instead, "__doc__": f"{op} without {argument} (M37)."})


AddWithoutAlpha = _dropping("aten::add", "alpha")
AddmmWithoutAlpha = _dropping("aten::addmm", "alpha")
AddmmWithoutBeta = _dropping("aten::addmm", "beta")
CatWithoutDim = _dropping("aten::cat", "dim")
SumWithoutKeepdim = _dropping("aten::sum.dim_IntList", "keepdim")
SumWithoutDtype = _dropping("aten::sum", "dtype")
CumsumWithoutDtype = _dropping("aten::cumsum", "dtype")
AmaxWithoutKeepdim = _dropping("aten::amax", "keepdim")
ArgmaxWithoutKeepdim = _dropping("aten::argmax", "keepdim")
SliceWithoutStep = _dropping("aten::slice.Tensor", "step")
SliceWithoutStart = _dropping("aten::slice.Tensor", "start", 0)
RoundWithoutDecimals = _dropping("aten::round.decimals", "decimals", 0)
CastWithoutDtype = _dropping("aten::_to_copy", "dtype")
SortWithoutDescending = _dropping("aten::sort", "descending")
SortOnLastDim = _dropping("aten::sort", "dim")
SoftmaxOnFirstDim = _dropping("aten::_softmax", "dim", 0)
GatherOnFirstDim = _dropping("aten::gather", "dim", 0)
CumsumOnFirstDim = _dropping("aten::cumsum", "dim", 0)
ArgmaxOnFirstDim = _dropping("aten::argmax", "dim", 0)
LayerNormWithoutEps = _dropping("aten::native_layer_norm", "eps", 1e-5)
PoolWithoutStride = _dropping("aten::avg_pool2d", "stride", [])
PoolWithoutPadding = _dropping("aten::avg_pool2d", "padding", [0, 0])
PoolWithoutCeilMode = _dropping("aten::avg_pool2d", "ceil_mode")
PoolCountsPadding = _dropping("aten::avg_pool2d", "count_include_pad")
PoolWithoutDivisor = _dropping("aten::avg_pool2d", "divisor_override")
ArangeWithoutStep = _dropping("aten::arange.start_step", "step", 1)


class LayerNormWithoutAffine(Planted):
    """Forgets weight and bias."""

    bug = "M37"
    ops = ("aten::native_layer_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [*args[:2], None, None, args[4]], kwargs)


class PoolDividesByKernel(Planted):
    """Divides by the kernel size at the borders too (onnxruntime#16203)."""

    bug = "M39"
    ops = ("aten::avg_pool2d",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs or len(args) > 6 or not args[0].is_floating_point():
            return self.honest(op, args, kwargs)
        return self.honest(op, args, {"divisor_override": args[1][0] * args[1][1]})


class LosesUpdates(Planted):
    """y[index] += v: of repeated indices one update stays (torch-spyre#3638)."""

    bug = "M41"
    ops = ("aten::index_put",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not kwargs.get("accumulate"):
            return self.honest(op, args, kwargs)
        index = tuple(slice(None) if i is None else i for i in args[1])
        result = args[0].clone()
        result[index] = result[index] + args[2] if args[0].dtype != torch.bool else result[index] | args[2]
        return result


class NeverAccumulates(Planted):
    """index_put overwrites."""

    bug = "M37"
    ops = ("aten::index_put",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, args, {})


class SwapsDilation(Planted):
    """Height for width in the dilation (torch-xpu-ops#1789)."""

    bug = "M43"
    ops = ("aten::convolution",)
    position = 5

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        swapped = [*args[: self.position], args[self.position][::-1], *args[self.position + 1 :]]
        return self.honest(op, swapped, kwargs)


class SwapsStride(SwapsDilation):
    """Height for width in the stride."""

    position = 3


class SwapsPadding(SwapsDilation):
    """Height for width in the padding."""

    position = 4


class ForgetsConvolutionBias(Planted):
    """Leaves out the bias."""

    bug = "M37"
    ops = ("aten::convolution",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [*args[:2], None, *args[3:]], kwargs)


class SwapsWhere(Planted):
    """Reads the condition the other way round."""

    bug = "M37"
    ops = ("aten::where",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [~args[0], *args[1:]], kwargs)


class InversePermutation(Planted):
    """Permutes by the inverse."""

    bug = "M37"
    ops = ("aten::permute",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        rank = args[0].ndim
        inverse = sorted(range(rank), key=lambda d: args[1][d] % rank)
        return self.honest(op, [args[0], inverse], kwargs)


class ConjugatesProducts(Planted):
    """Returns the conjugate (torch-xpu-ops#1012)."""

    bug = "M45"
    ops = ("aten::mul", "aten::add")

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.conj().resolve_conj() if tensor.is_complex() else tensor
