"""Parameters and indices: arguments ignored, swapped or accepted, updates lost."""

from __future__ import annotations

from typing import Any

import torch
from planting import Planted, lists_positions, tensors_in

from conform.call import schemas
from conform.domains.functions import OF_ALL_NUMBERS


class ReplacesArgument(Planted):
    """Calls the op with one argument at its default, or at `instead` (executorch#11683, tt-metal#27001)."""

    bug = "M37"
    argument = ""
    instead: Any = None

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        known = {argument.name: argument for argument in schemas.schema(op).arguments}
        value = known[self.argument].default if self.instead is None else self.instead
        return self.honest(op, *replaced(args, kwargs, list(known).index(self.argument), self.argument, value))


def replaced(
    args: list[Any], kwargs: dict[str, Any], place: int, name: str, value: Any
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with another value for the one called `name`, which stands at `place` if it is positional."""
    if place < len(args):
        return [*args[:place], value, *args[place + 1 :]], kwargs
    return args, {**kwargs, name: value}


def _with(op: str, argument: str, instead: Any = None) -> type[ReplacesArgument]:
    members = {"__doc__": f"{op}: {argument} is always {instead or 'the default'}.", "__module__": __name__}
    return type("Replaces", (ReplacesArgument,), {**members, "ops": (op,), "argument": argument, "instead": instead})


AddWithoutAlpha = _with("aten::add", "alpha")
AddmmWithoutAlpha = _with("aten::addmm", "alpha")
AddmmWithoutBeta = _with("aten::addmm", "beta")
DivWithoutMode = _with("aten::div.Tensor_mode", "rounding_mode")
DivScalarWithoutMode = _with("aten::div.Scalar_mode", "rounding_mode")
RoundWithoutDecimals = _with("aten::round.decimals", "decimals", 0)
CastWithoutDtype = _with("aten::_to_copy", "dtype")
CatOnFirstDim = _with("aten::cat", "dim")
SliceOnFirstDim = _with("aten::slice.Tensor", "dim", 0)
SliceWithoutStart = _with("aten::slice.Tensor", "start")
SliceWithoutEnd = _with("aten::slice.Tensor", "end")
SliceWithoutStep = _with("aten::slice.Tensor", "step")
SumOfEverything = _with("aten::sum.dim_IntList", "dim", [])
SumWithoutKeepdim = _with("aten::sum.dim_IntList", "keepdim")
SumWithoutDtype = _with("aten::sum", "dtype")
CumsumWithoutDtype = _with("aten::cumsum", "dtype")
CumsumOnFirstDim = _with("aten::cumsum", "dim", 0)
AmaxOfEverything = _with("aten::amax", "dim")
AmaxWithoutKeepdim = _with("aten::amax", "keepdim")
ArgmaxOnFirstDim = _with("aten::argmax", "dim", 0)
ArgmaxWithoutKeepdim = _with("aten::argmax", "keepdim")
SortWithoutDescending = _with("aten::sort", "descending")
SortOnLastDim = _with("aten::sort", "dim", -1)
SoftmaxOnFirstDim = _with("aten::_softmax", "dim", 0)
GatherOnFirstDim = _with("aten::gather", "dim", 0)
IndexPutNeverAccumulates = _with("aten::index_put", "accumulate", False)
IndexPutAlwaysAccumulates = _with("aten::index_put", "accumulate", True)
LayerNormWithoutEps = _with("aten::native_layer_norm", "eps", 1e-5)
ConvolutionWithoutBias = _with("aten::convolution", "bias")
PoolWithoutStride = _with("aten::avg_pool2d", "stride", [])
PoolWithoutPadding = _with("aten::avg_pool2d", "padding", [0, 0])
PoolWithoutCeilMode = _with("aten::avg_pool2d", "ceil_mode")
PoolCountsPadding = _with("aten::avg_pool2d", "count_include_pad")
PoolWithoutDivisor = _with("aten::avg_pool2d", "divisor_override")
ArangeWithoutStep = _with("aten::arange.start_step", "step", 1)
ArangeWithoutDtype = _with("aten::arange", "dtype")


class AddmmAlphaScalesAll(Planted):
    """alpha * (beta * self + mat1 @ mat2)."""

    bug = "M37"
    ops = ("aten::addmm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [args[0] * kwargs.get("alpha", 1), *args[1:]], kwargs)


class AddmmBetaZeroPropagates(Planted):
    """Multiplies self by beta = 0, which lets its NaN and infinities through."""

    bug = "M12"
    ops = ("aten::addmm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        return result + (args[0] * 0).to(result.dtype) if kwargs.get("beta", 1) == 0 else result


class CatInReverse(Planted):
    """The last tensor first."""

    bug = "M37"
    ops = ("aten::cat",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [args[0][::-1], *args[1:]], kwargs)


class RunningSumsExclusive(Planted):
    """The sum of the elements before each one."""

    bug = "M37"
    ops = ("aten::cumsum",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        sums, dim = self.honest(op, args, kwargs), args[1]
        if sums.ndim == 0 or sums.shape[dim] == 0:
            return sums
        return sums.roll(1, dim).index_fill(dim, torch.tensor(0), 0)


class LayerNormWithoutBias(Planted):
    """Forgets the bias; LayerNormWithoutWeight the weight."""

    bug = "M37"
    ops = ("aten::native_layer_norm",)
    forgotten = 3

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [*args[: self.forgotten], None, *args[self.forgotten + 1 :]], kwargs)


class LayerNormWithoutWeight(LayerNormWithoutBias):
    """Forgets the weight."""

    forgotten = 2


class LayerNormReturnsVariance(Planted):
    """Returns the variance for its third output, the reciprocal standard deviation."""

    bug = "M37"
    ops = ("aten::native_layer_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result, mean, rstd = self.honest(op, args, kwargs)
        return result, mean, rstd.double().pow(-2).to(rstd.dtype)


class NegativeIndexIsZero(Planted):
    """Clamps indices at 0 instead of counting from the end."""

    bug = "M37"
    ops = ("aten::index_put", "aten::slice")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if op == "aten::index_put":
            clamped = [index.clamp(min=0) if lists_positions(index) else index for index in args[1]]
            return self.honest(op, [args[0], clamped, *args[2:]], kwargs)
        bounds = [max(bound, 0) if bound is not None else None for bound in args[2:4]]
        return self.honest(op, [*args[:2], *bounds, *args[4:]], kwargs)


class NegativeDimIsFirst(Planted):
    """Takes every negative dim for dim 0 (tt-metal#27001). Not permute: it would raise for the two dims 0."""

    bug = "M37"
    ops = (
        "aten::cat", "aten::slice", "aten::gather", "aten::sum.dim_IntList", "aten::amax", "aten::argmax",
        "aten::cumsum", "aten::sort", "aten::_softmax",
    )  # fmt: skip

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        names = [argument.name for argument in schemas.schema(op).arguments]
        place = names.index("dim")
        dims = args[place] if place < len(args) else kwargs.get("dim")
        if dims is None:
            return self.honest(op, args, kwargs)
        clamped = [max(dim, 0) for dim in dims] if isinstance(dims, list) else max(dims, 0)
        return self.honest(op, *replaced(args, kwargs, place, "dim", clamped))


class AcceptsInvalid(Planted):
    """Answers with its first tensor, or with an empty one, where torch raises (pytorch#169236, pytorch#197095).

    Not the overloads that take every argument of their types.
    """

    bug = "M38"
    ops = ("*",)
    but_not = (
        "aten::exp", "aten::sqrt", "aten::sin", "aten::angle", "aten::sinc", "aten::special_sinc", "aten::_to_copy",
        "aten::mul.Scalar", "aten::div.Scalar", "aten::eq.Scalar", "aten::sum", "aten::prod",
        "aten::_native_batch_norm_legit_no_training", "aten::pow.Scalar",
        *(f"aten::{name}" for name in OF_ALL_NUMBERS.split()),
    )  # fmt: skip

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return self.honest(op, args, kwargs)
        except (RuntimeError, IndexError, ValueError, TypeError):
            return [*tensors_in(args), torch.empty(0)][0].clone()
