"""What a backend declares about its arithmetic: how it multiplies and accumulates, what it rounds on the way, and
whether it flushes subnormals.

A compute mode is data: what the factors of a product lose on their way into the multiplier, and what the products are
added up in. It holds for sums of products over shared indices (mm, addmm, convolution), by themselves and as steps of a
module; plain sums, elementwise and composite ops are held to IEEE arithmetic in every mode. What is rounded on the way,
to half types in place of float32, is declared op by op.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from conform.call.schemas import operator_names, unknown_operator
from conform.contracts.tables import contract_table
from conform.errors import UsageError, did_you_mean
from conform.numerics.converted_products import Products
from conform.numerics.formats import FORMATS, Format, compute_format
from conform.numerics.rounding_errors import underflow


@dataclass(frozen=True)
class ComputeMode:
    """How an element type is multiplied and added up, where that is not IEEE arithmetic in the compute type.

    product_error   |computed - a b| <= product_error |a b|, before anything is added up
    parts           how many products stand for a b in the sum, and `growth`: their magnitudes add up to at most
                    growth |a b|
    factor_bits     significant bits of a converted factor, with float32's exponents; None: it is not converted
    accumulator     the format that the products are added up in
    source          where the figures come from
    """

    product_error: float = 0.0
    parts: int = 1
    growth: float = 1.0
    factor_bits: int | None = None
    accumulator: str = "float32"
    source: str = ""

    def steps(self, fmt: Format) -> Products:
        """The same for products of `fmt` that a program adds up."""
        lost = 0.0 if self.factor_bits is None else fmt.min_normal * 2.0 ** (1 - self.factor_bits)
        return Products(self.product_error, self.parts, self.growth, lost, FORMATS[self.accumulator])


def _one_product(u: float) -> dict[str, float]:
    """Both factors rounded: |a' b' - a b| <= (2u + u^2) |a b|."""
    return {"product_error": 2 * u + u * u, "growth": (1 + u) ** 2}


def _split_in_two(u: float) -> dict[str, float]:
    """a = a1 + a2 + d with a1 = fl(a) and a2 = fl(a - a1): |a1| <= (1 + u) |a|, |a2| <= u (1 + u) |a|, |d| <= u^2 |a|.

    a b - (a1 b1 + a1 b2 + a2 b1) = a b - (a - d)(b - e) + a2 b2, of magnitude at most
    (2 u^2 + u^4 + u^2 (1 + u)^2) |a b|; the three products' magnitudes are at most (1 + u)^2 (1 + 2u) |a b|.
    """
    return {"product_error": 2 * u**2 + u**4 + (u + u * u) ** 2, "growth": (1 + u) ** 2 * (1 + 2 * u)}


# Mode -> element type -> what holds there; element types that a mode does not name are multiplied as in `ieee`.
COMPUTE_MODES: Mapping[str, Mapping[str, ComputeMode]] = {
    "ieee": {},
    "tf32": {
        "float32": ComputeMode(
            **_one_product(2.0**-10),
            factor_bits=11,
            source="NVIDIA's TF32: 10 mantissa bits; rounded or, as on AMD's gfx942 (rocm-libraries#9176), truncated: "
            "off by up to 2^-10 of the factor",
        )
    },
    "bf16x3": {
        "float32": ComputeMode(
            **_split_in_two(2.0**-8),
            parts=3,
            factor_bits=8,
            source="a b as three products of bfloat16 halves, the fourth left out: about 3 u^2, u = 2^-8 (TOSA 1.1 "
            "allows float32 products as several bfloat16 ones)",
        )
    },
    "f16acc": {"float16": ComputeMode(accumulator="float16", source="float16 products added up in float16")},
}


OF_OPS = ("rounds_intermediates", "accumulates_in_element_type")


@dataclass(frozen=True)
class Arithmetic:
    """A backend's declaration: `compute` names one of COMPUTE_MODES; `flushes_subnormals`: subnormal operands and
    results of arithmetic become zeros of their sign, all of them (P7). `rounds_intermediates` and
    `accumulates_in_element_type` name ops: each step of the formula, or partial sums and products too, are rounded."""

    compute: str = "ieee"
    flushes_subnormals: bool = False
    rounds_intermediates: tuple[str, ...] = ()
    accumulates_in_element_type: tuple[str, ...] = ()

    def of(self, op: str) -> Arithmetic:
        """What holds for the overload `op`, which then stands where it, or its bare name, does."""
        names = {op, op.partition(".")[0]}
        declared = {field: (op,) if names & set(getattr(self, field)) else () for field in OF_OPS}
        return replace(self, **declared)

    def exact_on_the_way(self) -> Arithmetic:
        """The same where nothing is rounded to a half type on the way."""
        return replace(self, **dict.fromkeys(OF_OPS, ())) if self.rounded_on_the_way else self

    @property
    def rounded_on_the_way(self) -> str | None:
        """Of an op's arithmetic, what is rounded to the element type; None if nothing is."""
        if self.accumulates_in_element_type:
            return "intermediates and partial sums"
        return "intermediates" if self.rounds_intermediates else None

    def without_products(self) -> Arithmetic:
        """What holds for ops that are no sums of products."""
        return replace(self, compute="ieee")

    def mode(self, fmt: Format) -> ComputeMode:
        """How elements of `fmt` are multiplied and added up."""
        accumulator = fmt if self.accumulates_in_element_type else compute_format(fmt)
        return COMPUTE_MODES[self.compute].get(fmt.name) or ComputeMode(accumulator=accumulator.name)

    def products(self) -> dict[str, Products]:
        """How products are made that are steps of a program, by the element types that the compute mode names."""
        return {name: mode.steps(FORMATS[name]) for name, mode in COMPUTE_MODES[self.compute].items()}

    def underflow(self, compute: Format) -> float:
        """What one operation may lose near 0: half the smallest subnormal; flushed, all below the smallest normal
        number (K min_normal for K operations)."""
        return compute.min_normal if self.flushes_subnormals else underflow(compute)


IEEE = Arithmetic()


def arithmetic_of(described: Mapping[str, Any], who: str | None = None) -> Arithmetic:
    """What a backend's description declares, or somebody else's (`who`); UsageError for a mode that is none."""
    who = who or f"backend {described.get('name')!r}"
    compute, flushes = described.get("compute", "ieee"), described.get("flushes_subnormals", False)
    if not isinstance(compute, str) or compute not in COMPUTE_MODES:
        known = f"expected one of {', '.join(COMPUTE_MODES)}{did_you_mean(str(compute), COMPUTE_MODES)}"
        raise UsageError(f"{who} declares compute = {compute!r}; {known}")
    if not isinstance(flushes, bool):
        raise UsageError(f"{who} declares flushes_subnormals = {flushes!r}; expected True or False")
    of_ops = {field: _ops(who, field, tuple(described.get(field, ()))) for field in OF_OPS}
    return Arithmetic(compute, flushes, **of_ops)


def _ops(who: str, field: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The declared ops; UsageError for one that torch does not have, or in which there is nothing to round."""
    for name in names:
        told = f"{who} declares {field} of {name!r}"
        if name not in operator_names():
            raise UsageError(f"{told}: {unknown_operator(name)}")
        kind = contract_table(DEFAULT).row(name, "float16").kind
        if kind not in HAVING[field]:
            raise UsageError(f"{told}, {LACKING[kind]}")
    return names


DEFAULT = "opencl"  # whose rows know which ops are judged by a formula, and which as sums
HAVING = {"rounds_intermediates": ("derived",), "accumulates_in_element_type": ("derived", "accumulation")}
LACKING = {
    "accumulation": "which adds up its terms and has no other intermediates: accumulates_in_element_type is for sums",
    "exact": "which rounds nothing",
    "ulp": "which is one function without intermediates",
    "ulp_of_rounded": "which is one function without intermediates",
}
