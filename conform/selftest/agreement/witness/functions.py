"""Witness calls of real functions: all codes, special values and short numbers; pairs of them; each keyword.

Integers and bools become float32 on both sides, so that their calls are pairs of promotions and small numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from conform.numerics.formats import FORMATS
from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witness.values import COMPLEX, REAL, is_complex, is_float, is_half_beside_complex
from conform.selftest.agreement.witnesses import Call, witness

UNARY = (
    "exp2 special_exp2 expm1 special_expm1 log log2 log10 log1p special_log1p rsqrt reciprocal cos tan asin acos atan "
    "sinc special_sinc sinh cosh tanh asinh acosh atanh sigmoid silu mish erf special_erf erfc special_erfc erfinv "
    "special_erfinv special_ndtr special_ndtri lgamma digamma special_digamma i0 special_i0 special_i1 angle cbrt"
)
_UNIT = ("asin", "acos", "atanh", "erfinv", "ndtri")  # undefined beyond 1
_NUMBERS = (True, 3, 0, -7, 2.5, 0.1, -0.0, 1e300, float("inf"), float("nan"))


@witness(*(f"aten::{name}" for name in UNARY.split()))
def unary(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    """Half of them wild; of integers fewer, as each distinct one is computed once and the moderate ones repeat."""
    few = not (is_float(dtype) or is_complex(dtype))
    for shape in ((3, 1, 4), (7,), (), (0,), (2, 0), (400,) if few else (90, 40)):
        yield {"self": draw.wild(dtype, *shape)}
    for shape in ((80, 40), (6700,) if few else (3400,)):
        values = draw.tame(dtype, *shape)
        if is_float(dtype) and op.rpartition("_")[2].removeprefix("aten::") in _UNIT:
            values = (values.astype(np.float64) / 16).astype(FORMATS[dtype].storage)
        yield {"self": values}


def _names(op: str) -> tuple[str, str]:
    return "self", "exponent" if op.startswith("aten::pow") else "other"


@witness("aten::pow.Tensor_Tensor", "aten::hypot", "aten::atan2", "aten::logaddexp", "aten::xlogy.Tensor",
         "aten::special_xlogy")  # fmt: skip
def pairs(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for calls in _pairs(dtype, draw, REAL + COMPLEX if op.startswith("aten::pow") else REAL):
        yield dict(zip(_names(op), calls, strict=True))


def _pairs(dtype: str, draw: Draw, others: Sequence[str]) -> Iterator[tuple[object, object]]:
    """Of the same dtype and of every other, with dimensions and 0-d, broadcast, empty, and shapes that do not fit."""
    shapes = (((12, 1), (1, 20)), ((7,), (5, 7)), ((), (9,)), ((), ()), ((0, 3), (3,)), ((2, 3), (4,)))
    for lhs, rhs in shapes:
        yield draw.wild(dtype, *lhs), draw.wild(dtype, *rhs)
    for other in others:
        yield draw.wild(dtype, 6, 9), draw.wild(other, 9)
        if is_half_beside_complex(dtype, other):
            continue
        yield draw.wild(dtype, 8), draw.wild(other)
        yield draw.wild(dtype), draw.wild(other, 8)
    yield draw.wild(dtype, 90, 40), draw.wild(dtype, 90, 40)
    yield draw.tame(dtype, 60, 40), draw.tame(dtype, 40)
    yield draw.tame(dtype, 80, 40), draw.wild(dtype, 80, 40)


@witness("aten::pow.Tensor_Scalar", "aten::xlogy.Scalar_Other", "aten::special_xlogy.other_scalar")
def tensor_and_number(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    first, second = _names(op)
    for number in (*_NUMBERS, 2, 0.5, -0.5, -3.0, draw.integer(0, 100), draw.integer(-(2**20), 2**20),
                   float(draw.wild("float64")), *_complex_numbers(op, dtype, draw)):  # fmt: skip
        yield {first: draw.wild(dtype, 20, 15), second: number}
        yield {first: draw.tame(dtype, 20, 15), second: number}
        yield {first: draw.wild(dtype), second: number}


def _complex_numbers(op: str, dtype: str, draw: Draw) -> tuple[complex, ...]:
    """For pow; beside float16 they make complex32, which neither side covers."""
    return (2 - 0.1j, 1j, complex(draw.tame("complex128"))) if op.startswith("aten::pow") and dtype != "float16" else ()


@witness("aten::pow.Scalar", "aten::xlogy.Scalar_Self", "aten::special_xlogy.self_scalar")
def number_and_tensor(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    first, second = _names(op)
    for call in tensor_and_number(op, dtype, draw):
        yield {first: call[second], second: call[first]}


@witness("aten::softplus")
def softplus(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield {"self": draw.wild(dtype, 60, 100)}
    for shape in ((3, 1, 4), (), (0,), (2, 0)):
        yield {"self": draw.wild(dtype, *shape)}
    drawn = float(draw.tame("float64"))
    for beta in (1, 2, 0.5, -1, 0.1, -2.5, 0, -0.0, drawn, float("inf"), float("nan")):
        for threshold in (20, 1.5, -3.0, 0.1, float("inf")):
            yield {"self": draw.wild(dtype, 40), "beta": beta, "threshold": threshold}
            yield {"self": draw.tame(dtype, 40), "beta": beta, "threshold": threshold}
    yield {"self": draw.tame(dtype, 60), "beta": 2j}
    yield {"self": draw.tame("int32", 3)}
