"""I8: the interpreter agrees with the references bit for bit, on at least 10,000 elements of every op and dtype."""

from __future__ import annotations

import pytest

from conform.agreement.agreement import WITNESSED_ELEMENTS, agree, ops_and_dtypes
from conform.agreement.exhaustion import KEYWORDS, agree_on_all_inputs, agree_on_all_midpoints
from conform.agreement.witness.values import HALVES


@pytest.mark.parametrize(("op", "dtype"), ops_and_dtypes())
def test_every_op_and_dtype_agrees(op: str, dtype: str) -> None:
    agreement = agree(op, dtype)
    assert agreement.disagreements == 0, str(agreement)
    assert agreement.witnessed >= WITNESSED_ELEMENTS, str(agreement)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("op", KEYWORDS)
def test_every_input_of_a_16_bit_format_agrees(op: str, dtype: str) -> None:
    agreement = agree_on_all_inputs(op, dtype)
    assert agreement.disagreements == 0, str(agreement)
    assert agreement.witnessed + agreement.opened == 2**16 * len(KEYWORDS[op]), str(agreement)


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_every_midpoint_of_a_16_bit_format_rounds_alike(source: str) -> None:
    agreement = agree_on_all_midpoints(source)
    assert agreement.disagreements == 0, str(agreement)
    # float16 has 2 * 31 * 1024 finite codes, bfloat16 2 * 255 * 128; -0 and +0 are one value; three numbers a midpoint.
    assert agreement.witnessed == 3 * (2 * 31 * 1024 - 2 + 2 * 255 * 128 - 2), str(agreement)
