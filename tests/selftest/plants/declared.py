"""Defects of matrix units that are declared: each class computes as the planted one it is derived from, and says so."""

from __future__ import annotations

from typing import Any

import torch

from conform.selftest.plants.accuracy import Bfloat16Inputs, HalfAccumulator, Tf32Inputs
from conform.selftest.plants.products import Bfloat16x3, Tf32RoundedInputs


class Tf32(Tf32Inputs):
    compute = "tf32"


class Tf32Rounded(Tf32RoundedInputs):
    compute = "tf32"


class ThreeBfloat16Products(Bfloat16x3):
    compute = "bf16x3"


class Float16Accumulator(HalfAccumulator):
    """Of products alone, and not where beta is 0."""

    compute = "f16acc"
    touches = Tf32Inputs.touches

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        touched = args[0].dtype == torch.float16 and kwargs.get("beta", 1)
        return super().wrong(op, args, kwargs) if touched else self.honest(op, args, kwargs)


class Bfloat16(Bfloat16Inputs):
    """Declares more than it holds."""

    compute = "tf32"
