"""Complex functions: lost conjugates, wrong sides of branch cuts, overflow and cancellation on the way."""

from __future__ import annotations

from typing import Any

import torch

from conform.selftest.plants.base import Planted, in_dtypes_of, on_data
from conform.selftest.plants.facts import Op

WITH_A_CUT = "sqrt rsqrt log log2 log10 log1p special_log1p asin acos atan asinh acosh atanh angle pow.Tensor_Scalar"


class ConjugatesResults(Planted):
    """Returns the conjugate (torch-xpu-ops#1012)."""

    bug = "M45"
    about = ("dtype",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.gives_some("complex")

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.conj().resolve_conj() if tensor.is_complex() else tensor


class DropsImaginaryPart(Planted):
    """Computes complex numbers as real ones (torch-xpu-ops#184)."""

    bug = "M45"
    about = ("dtype",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.takes_some("complex")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def real(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.real if tensor.is_complex() else tensor

        result = self.honest(op, *on_data(op, args, kwargs, real))
        return in_dtypes_of(self.honest(op, args, kwargs), result)


class ForgetsTheSideOfTheCut(Planted):
    """Adds 0 to its operand, which turns the parts -0 into +0: the other side of a branch cut (torch-xpu-ops#1012)."""

    bug = "M45"

    ops = tuple(f"aten::{name}" for name in WITH_A_CUT.split())

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.complex(tensor.real + 0.0, tensor.imag + 0.0) if tensor.is_complex() else tensor


class AngleByQuotient(Planted):
    """atan(y / x), which knows no left half plane."""

    bug = "M45"
    ops = ("aten::angle",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        z = args[0]
        return (z.imag / z.real).atan() if z.is_complex() else self.honest(op, args, kwargs)


class MagnitudeBySquares(Planted):
    """sqrt(x^2 + y^2), which overflows or vanishes on the way (pytorch#158557)."""

    bug = "M33"
    ops = ("aten::abs",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        z = args[0]
        return (z.real.square() + z.imag.square()).sqrt() if z.is_complex() else self.honest(op, args, kwargs)


class RootByDifference(Planted):
    """sqrt((|z| + x)/2) + i sqrt((|z| - x)/2): near the real axis one of them cancels."""

    bug = "M33"
    ops = ("aten::sqrt",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        z = args[0]
        if not z.is_complex():
            return self.honest(op, args, kwargs)
        size = z.abs()
        imag = ((size - z.real) / 2).sqrt().copysign(z.imag)
        return torch.complex(((size + z.real) / 2).sqrt(), imag)


class InverseSineByLogarithm(Planted):
    """-i log(iz + sqrt(1 - z^2)) and its like, which cancel for small z and lose the side of the cut."""

    bug = "M32"
    ops = ("aten::asin", "aten::asinh", "aten::atanh")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        z = args[0]
        if not z.is_complex():
            return self.honest(op, args, kwargs)
        if op == "aten::atanh":
            return ((1 + z) / (1 - z)).log() / 2
        return (z + (1 + z * z).sqrt()).log() if op == "aten::asinh" else -1j * (1j * z + (1 - z * z).sqrt()).log()
