"""The specification's own interpreter gives the same results on generated programs, but where DIFFERENCES says why."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.frontends.stablehlo import parse
from conform.frontends.stablehlo_attributes import attribute
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.values import Tensor
from conform.numerics.real import Real
from conform.numerics.ulp import error_ulp
from tests.interp.stablehlo import generated, peer
from tests.interp.stablehlo.generated import Case
from tests.interp.stablehlo.generated_quantized import quantized

Excused = Callable[[Tensor, Tensor], np.ndarray]  # where the two may differ


def anywhere(mine: Tensor, its: Tensor) -> np.ndarray:
    return np.ones(mine.shape, bool)


def within(bound_ulp: float) -> Excused:
    def excused(mine: Tensor, its: Tensor) -> np.ndarray:
        numbers = mine.array.astype(np.float64)
        return error_ulp(its.format, its.array, Real.exact(numbers)) <= bound_ulp

    return excused


def near_or_special(mine: Tensor, its: Tensor) -> np.ndarray:
    """Within 2^-20 of the result, or of 1, or where one of them is not finite."""
    x, y = mine.array.astype(np.float64), its.array.astype(np.float64)
    with np.errstate(all="ignore"):
        return ~(np.isfinite(x) & np.isfinite(y)) | (np.abs(x - y) <= 2.0**-20 * np.maximum(np.abs(x), 1))


def opposite(mine: Tensor, its: Tensor) -> np.ndarray:
    return mine.array == -its.array


def tolerated(mine: Tensor, its: Tensor) -> np.ndarray:
    """Within what the specification's own tests allow (its guideline G6), 1e-4 of the result or of 1, or an ulp."""
    x, y = mine.array.astype(np.float64), its.array.astype(np.float64)
    with np.errstate(all="ignore"):
        return (np.abs(x - y) <= 1e-4 * np.maximum(np.abs(x), 1)) | within(1)(mine, its)


def of_no_digits(mine: Tensor, its: Tensor) -> np.ndarray:
    x, y = mine.array.astype(np.float64), its.array.astype(np.float64)
    return np.isnan(x) | (np.abs(x) == 2 * np.abs(y))


def one_apart(mine: Tensor, its: Tensor) -> np.ndarray:
    return np.abs(mine.array.astype(np.int64) - its.array.astype(np.int64)) <= 1


def at_nan(mine: Tensor, its: Tensor) -> np.ndarray:
    return np.isinf(mine.array.astype(np.float64)) & np.isnan(its.array.astype(np.float64))


def of_subnormal(mine: Tensor, its: Tensor) -> np.ndarray:
    """By log(pi / 3), where the logarithm is that of a subnormal: pi times the smallest one is rounded to three."""
    with np.errstate(all="ignore"):
        x, y = mine.array.astype(np.float64), its.array.astype(np.float64)
        return (x >= -np.log(mine.format.min_normal)) & (np.abs(x - y) <= np.log(np.pi / 3) + 1e-4)


def of_complex(mine: Tensor, its: Tensor) -> np.ndarray:
    return tolerated(mine, its) | near_or_special(mine, its) | near_or_special(Tensor(-mine.array), its)


class Difference(NamedTuple):
    """Where the two differ, by patterns of op and dtype, and why."""

    op: str
    dtype: str
    excused: Excused
    reason: str


SMALL = "float6_e2m3fn|float6_e3m2fn|float4_e2m1fn"
COMPLEX = "complex64|complex128"
DIFFERENCES = (
    Difference("exponential|exponential_minus_one|log|log_plus_one|cbrt|tan|tanh|cosine|sine", "float64", within(2),
               "the peer has the host's libm; the kit rounds correctly"),
    Difference("rsqrt", "float64", within(1.5), "the peer rounds the root and the quotient"),
    Difference("logistic", "float64", within(2), "both round each step; the peer's exp is the host's"),
    Difference("power|atan2", "float64", within(2), "the peer has the host's libm"),
    Difference("ceil|floor|round_nearest_afz|round_nearest_even", "float8_e3m4|float6_e2m3fn", anywhere,
               "the peer gives NaN or 0 for 1.0: its conversion to an integer overflows"),
    Difference("log|log_plus_one|logistic|rsqrt|sqrt|divide|remainder|power", SMALL, anywhere,
               "no NaN and no infinity: the kit has +0 and the largest number, the peer zeros"),
    Difference(f"convert to ({SMALL})", ".*", anywhere, "the same"),
    Difference("reduce_precision", "float8_e5m2", of_no_digits,
               "without mantissa bits neither neighbour is even: the kit takes the larger, the peer the even code; and "
               "the peer rounds NaN to infinity"),
    Difference("reduce_precision", f"float8_.*fn.*|{SMALL}", anywhere,
               "the peer takes the codes beyond the largest exponent for infinities, which these formats have not"),
    Difference("compare TOTALORDER", ".*", anywhere,
               "the peer takes both zeros for equal, and NaNs of formats without infinity for unordered"),
    Difference("chlo.(acos|acosh|asin|asinh|atanh|cosh|sinh|erf|erfc|erf_inv|digamma|lgamma|tan)", "bfloat16|float.*",
               tolerated, "the lowering has a formula of many rounded steps; the kit rounds once"),
    Difference("chlo.digamma", "bfloat16|float.*", at_nan, "at zeros the kit has the limit from the zero's side"),
    Difference("chlo.lgamma", "float32|float64", of_subnormal,
               "the lowering takes the logarithm of pi times a subnormal, which is rounded to a subnormal"),
    Difference("chlo.*", COMPLEX, of_complex,
               "on the branch cuts the kit has the side that the zero's sign names, the lowering one side"),
    Difference("convert to bool", COMPLEX, anywhere, "the peer looks at the real part alone"),
    Difference("uniform_quantize quantized", ".*", one_apart,
               "the lowering multiplies by the quotient of the scales, which it has rounded"),
    Difference(".*", "u8:.*", anywhere, "the lowering takes the integers of an unsigned storage for signed ones"),
    Difference("power", COMPLEX, anywhere, "the peer multiplies logarithms in double, and loses large angles"),
    Difference("log_plus_one|atan2", COMPLEX, opposite,
               "on the branch cut the kit has the side that the zero's sign names"),
    Difference(".*", COMPLEX, near_or_special,
               "the peer has the host's functions, and zeros of another sign; what is not finite is unspecified"),
)  # fmt: skip
# Cases that end the peer's process.
NO_PEER = (("compare FLOAT", COMPLEX), ("convolution", ".*"), ("convert to complex.*", ".*"))


def mine(case: Case) -> list[Tensor]:
    return list(evaluate(Program(parse(case.program, "x.mlir").functions["main"]), StableHLO(), []))


def same(lhs: Tensor, rhs: Tensor) -> np.ndarray:
    """By code, NaNs whatever theirs."""
    assert (lhs.dtype, lhs.shape) == (rhs.dtype, rhs.shape)
    x, y = (np.ascontiguousarray(one.array) for one in (lhs, rhs))
    return (x.view(lhs.format.code_storage) == y.view(lhs.format.code_storage)) | ((x != x) & (y != y))


def excused(case: Case, own: Tensor, its: Tensor) -> np.ndarray:
    where = np.zeros(own.shape, bool)
    for one in DIFFERENCES:
        if re.fullmatch(one.op, case.op) and re.fullmatch(one.dtype, case.dtype):
            where |= one.excused(own, its)
    return where


SHARES = {
    "unary": generated.unary, "binary": generated.binary, "comparisons": generated.comparisons,
    "precisions": generated.precisions, "conversions": generated.conversions,
    "movements": generated.movements, "reductions": generated.reductions,
    "indexing": generated.indexing, "contractions": generated.contractions, "convolutions": generated.convolutions,
    "chlo functions": generated.chlo_functions, "chlo": generated.chlo_others, "quantized": quantized,
}  # fmt: skip


LONG = [pytest.param(one, marks=pytest.mark.long) for one in SHARES]


@pytest.mark.parametrize("share", ["sorts", *LONG])
def test_the_peer_agrees(share: str) -> None:
    cases = list(SHARES.get(share, generated.sorts)())
    wrong, compared = [], 0
    for case, told in zip(cases, peer.results([case.program for case in cases]), strict=True):
        if told is None:
            known = any(re.fullmatch(op, case.op) and re.fullmatch(dtype, case.dtype) for op, dtype in NO_PEER)
            wrong += [] if known else [f"{case.op} {case.dtype}: the peer has no result"]
            continue
        for own, text in zip(mine(case), told, strict=True):
            its = Tensor(attribute(text))
            differs = (~same(own, its)).reshape(own.shape) & ~excused(case, own, its)
            compared += own.array.size
            for index in np.argwhere(differs)[:2]:
                at = tuple(map(int, index))
                wrong.append(f"{case.op} {case.dtype} {list(at)}: {own.array[at]!r}, the peer {its.array[at]!r}")
    assert not wrong, "\n".join(wrong[:40])
    assert compared > 500
