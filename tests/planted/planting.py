"""What planted backends are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any

import torch

from conform.backends.torch_device import TorchDevice

HALVES = (torch.float16, torch.bfloat16)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)

BINARY = (
    "aten::add", "aten::mul", "aten::div", "aten::maximum", "aten::remainder", "aten::bitwise_and", "aten::eq",
)  # fmt: skip
UNARY = ("aten::neg", "aten::abs", "aten::round", "aten::exp", "aten::sqrt", "aten::sin", "aten::gelu")
MOVES = ("aten::where", "aten::cat", "aten::permute", "aten::slice", "aten::gather", "aten::index_put")


def _aten(names: str) -> tuple[str, ...]:
    return tuple(f"aten::{name}" for name in names.split())


FUNCTIONS = _aten(
    "exp2 special_exp2 expm1 special_expm1 log log2 log10 log1p special_log1p rsqrt reciprocal cos tan asin acos atan "
    "sinc special_sinc sinh cosh tanh asinh acosh atanh sigmoid erf special_erf erfc special_erfc erfinv "
    "special_erfinv special_ndtr special_ndtri lgamma digamma special_digamma i0 special_i0 special_i1 angle"
)  # of integers too, as floats
FLOAT_FUNCTIONS = ("aten::silu", "aten::mish", "aten::softplus")
FUNCTIONS_OF_TWO = (
    "aten::hypot", "aten::atan2", "aten::logaddexp", "aten::xlogy", "aten::special_xlogy", "aten::pow",
)  # fmt: skip
# Their overloads of two tensors; a plant with these leaves out special_xlogy.*, which are of a number.
PAIRS = (
    "aten::hypot", "aten::atan2", "aten::logaddexp", "aten::xlogy.Tensor", "aten::special_xlogy",
    "aten::pow.Tensor_Tensor",
)  # fmt: skip
# Nearly c * x near 0, so that -0 and subnormal operands have such results.
NEARLY_LINEAR = _aten(
    "expm1 special_expm1 log1p special_log1p tan asin atan sinh tanh asinh atanh erf special_erf erfinv special_erfinv "
    "special_i1 silu mish"
)
# Without a bound in the contract: only NaN and infinities are judged.
WITHOUT_BOUND = _aten("erfinv special_erfinv lgamma digamma special_digamma i0 special_i0 special_i1")


class Planted(TorchDevice):
    """torch on the CPU with one defect. A subclass overrides `wrong`, or `operand` or `result`.

    bug       its class in the tables of real backend bugs (M01 to M45, H1 to H8)
    ops       globs of the ops or overloads that it touches; `but_not` those of them where it cannot show
    remembers whether a result depends on the calls before it
    """

    name = "planted"
    bug = ""
    ops: tuple[str, ...] = ()
    but_not: tuple[str, ...] = ()
    remembers = False

    def __init__(self) -> None:
        super().__init__("cpu")

    @classmethod
    def touches(cls, op: str) -> bool:
        """Whether the defect can show in this overload."""
        return _matches(op, cls.ops) and not _matches(op, cls.but_not)

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.wrong(op, args, kwargs) if self.touches(op) else self.honest(op, args, kwargs)

    def honest(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What torch answers."""
        return super().run(op, args, kwargs)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The call with the defect: tensors go in through `operand` and come out through `result`."""
        args, kwargs = mapped(self.operand, args), mapped(self.operand, kwargs)
        return mapped(self.result, self.honest(op, args, kwargs))

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor


def _matches(op: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(op, glob) or fnmatchcase(op.partition(".")[0], glob) for glob in globs)


def base(op: str) -> str:
    """`op` without its overload."""
    return op.partition(".")[0]


def mapped(function: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    """`function` on every tensor of a value."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: mapped(function, item) for key, item in value.items()}
    if isinstance(value, list):
        return [mapped(function, item) for item in value]
    if isinstance(value, tuple):
        return tuple(mapped(function, item) for item in value)
    return value


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor of a value, in order."""
    found: list[torch.Tensor] = []
    mapped(lambda tensor: found.append(tensor) or tensor, value)
    return found


def in_dtypes_of(expected: Any, results: Any) -> Any:
    """`results` with each tensor in the dtype that the one in `expected` has."""
    dtypes = iter([tensor.dtype for tensor in tensors_in(expected)])
    return mapped(lambda tensor: tensor.to(next(dtypes)), results)


def lists_positions(index: torch.Tensor | None) -> bool:
    """Whether an index of index_put is a list of positions, neither a mask nor a whole dim."""
    return index is not None and index.dtype != torch.bool


def storage_of(tensor: torch.Tensor) -> torch.Tensor:
    """The whole storage as a flat tensor."""
    return torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
