"""I8: the interpreter agrees with the references bit for bit, on at least 10,000 elements of every op and dtype."""

from __future__ import annotations

import numpy as np
import pytest

from conform.interp import semantics
from conform.interp.evaluate import evaluate
from conform.numerics.formats import FORMATS
from conform.refs.exact.small_floats import SATURATING, round_small
from conform.selftest.agreement.agreement import WITNESSED_ELEMENTS, agree, ops_and_dtypes
from conform.selftest.agreement.exhaustion import (
    KEYWORDS,
    agree_on_all_codes,
    agree_on_all_inputs,
    agree_on_all_midpoints,
)
from conform.selftest.agreement.witness.values import COMPLEX, HALVES, REAL, SMALL_FLOATS

COMPLEX_FUNCTIONS = ("aten::div", "aten::exp", "aten::sqrt", "aten::sin")  # of the family elementwise
# One witnessed element a call: 10,000 calls. Their other overloads, over some dimensions, have many.
OF_WHOLE_TENSORS = ("aten::sum", "aten::mean", "aten::var", "aten::std", "aten::prod", "aten::norm.Scalar")
MOSTLY_REDUCED = ("aten::cross_entropy_loss",)
# One formula for all formats, and slow references: float32 in the short run.
COMPOSITE = (
    "statistics", "norms", "normalization", "standardization", "loss", "classification", "attention"
)  # fmt: skip


def family_of(op: str) -> str | None:
    found = semantics.find(op)
    return found.family if found else None


def is_long(op: str, dtype: str) -> bool:
    """Functions of integers and bools, which go through float32 (P18), of complex numbers, and of 16-bit formats, whose
    inputs are exhausted there, are witnessed in the long run; so are second names (special_...), what needs a call for
    each element, and composite ops in other formats than float32."""
    if FORMATS[dtype].is_complex and op.partition(".")[0] in COMPLEX_FUNCTIONS:
        return True
    if op in OF_WHOLE_TENSORS + MOSTLY_REDUCED:
        return True
    if family_of(op) in COMPOSITE:
        return dtype != "float32"
    return family_of(op) == "functions" and (dtype not in ("float32", "float64") or "::special_" in op)


PAIRS = [
    pytest.param(op, dtype, marks=pytest.mark.long) if is_long(op, dtype) else (op, dtype)
    for op, dtype in ops_and_dtypes()
]
EXHAUSTED = [pytest.param(op, marks=pytest.mark.long) if family_of(op) == "functions" else op for op in KEYWORDS]


@pytest.mark.parametrize(("op", "dtype"), PAIRS)
def test_every_op_and_dtype_agrees(op: str, dtype: str) -> None:
    agreement = agree(op, dtype)
    assert agreement.disagreements == 0, str(agreement)
    assert agreement.witnessed >= WITNESSED_ELEMENTS, str(agreement)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("op", EXHAUSTED)
def test_every_input_of_a_16_bit_format_agrees(op: str, dtype: str) -> None:
    agreement = agree_on_all_inputs(op, dtype)
    assert agreement.disagreements == 0, str(agreement)
    assert agreement.witnessed + agreement.opened == 2**16 * len(KEYWORDS[op]), str(agreement)


@pytest.mark.parametrize("source", SMALL_FLOATS)
def test_every_code_of_an_8_bit_float_converts_alike(source: str) -> None:
    agreement = agree_on_all_codes(source)
    assert agreement.disagreements == 0, str(agreement)
    assert agreement.witnessed + agreement.opened == 2**8 * len(REAL + COMPLEX + SMALL_FLOATS), str(agreement)


@pytest.mark.parametrize("target", SMALL_FLOATS[:-1])
def test_the_other_way_beyond_the_range_agrees(target: str) -> None:
    """P80, of every bfloat16: I8 compares the golden itself, which saturates or does not."""
    codes = np.arange(2**16, dtype=np.uint16).view(FORMATS["bfloat16"].storage)
    (golden,) = evaluate("aten::_to_copy", [codes], {"dtype": target}).goldens
    (other,) = (alternative.value.astype(np.float64) for alternative in golden.alternatives)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        numbers = codes.astype(np.float64).tolist()
    expected = [round_small(target, x, target not in SATURATING) for x in numbers]
    np.testing.assert_array_equal(other, expected)
    np.testing.assert_array_equal(np.signbit(other[other == 0]), np.signbit(expected)[other == 0])


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_every_midpoint_of_a_16_bit_format_rounds_alike(source: str) -> None:
    agreement = agree_on_all_midpoints(source)
    assert agreement.disagreements == 0, str(agreement)
    # float16 has 2 * 31 * 1024 finite codes, bfloat16 2 * 255 * 128; -0 and +0 are one value; three numbers a midpoint.
    assert agreement.witnessed == 3 * (2 * 31 * 1024 - 2 + 2 * 255 * 128 - 2), str(agreement)
