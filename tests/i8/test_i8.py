"""I8: the interpreter agrees with the references bit for bit, on at least 10,000 elements of every op and dtype.

What is marked `rotating` runs in `make test` a share at a time; --seed names the share.
"""

from __future__ import annotations

import numpy as np
import pytest

from conform.domains.engine.dtypes import ALL
from conform.domains.specs import spec_of
from conform.interp import semantics
from conform.interp.evaluate import evaluate
from conform.numerics.formats import FORMATS
from conform.refs.exact.small_floats import SATURATING, round_small
from conform.selftest.agreement.agreement import WITNESSED_ELEMENTS, agree
from conform.selftest.agreement.exhaustion import (
    HALVES,
    agree_on_all_codes,
    agree_on_all_inputs,
    agree_on_all_midpoints,
    exhausted_ops,
)
from conform.selftest.agreement.patterns import SMALL_FLOATS, every_code


@pytest.mark.rotating
@pytest.mark.parametrize("third", range(3))
@pytest.mark.parametrize("op", semantics.names())
def test_every_op_and_dtype_agrees(op: str, third: int) -> None:
    """By thirds of the dtypes, for several processes: which there are would take seconds to tell in each of them."""
    for dtype in spec_of(op).dtypes[third::3]:
        agreement = agree(op, dtype)
        assert agreement.disagreements == 0, str(agreement)
        assert agreement.compared >= WITNESSED_ELEMENTS, str(agreement)


@pytest.mark.rotating
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("op", exhausted_ops())
def test_every_input_of_a_16_bit_format_agrees(op: str, dtype: str) -> None:
    agreement = agree_on_all_inputs(op, dtype)
    assert agreement.disagreements == 0, str(agreement)
    assert agreement.witnessed + agreement.opened == 2**16 * len(exhausted_ops()[op]), str(agreement)


@pytest.mark.parametrize("source", [*SMALL_FLOATS, *HALVES])
def test_every_code_of_8_and_16_bits_converts_alike(source: str) -> None:
    agreement = agree_on_all_codes(source)
    assert agreement.disagreements == 0, str(agreement)
    expected = 2 ** FORMATS[source].bits * len(ALL + SMALL_FLOATS)
    assert agreement.witnessed + agreement.opened == expected, str(agreement)


@pytest.mark.parametrize("target", SMALL_FLOATS[:-1])
def test_the_other_way_beyond_the_range_agrees(target: str) -> None:
    """P80, of every bfloat16: I8 compares the golden itself, which saturates or does not."""
    codes = every_code("bfloat16")
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


def test_what_i8_compares_with_every_input_of_the_16_bit_formats() -> None:
    names = {op.removeprefix("aten::") for op in exhausted_ops()}
    at_least = (
        "_to_copy abs acos acosh angle asin asinh atan atanh cbrt ceil celu cos cosh digamma elu erf erfc "
        "erfinv exp exp2 expm1 floor gelu hardswish i0 isnan leaky_relu lgamma log log10 log1p log2 "
        "log_sigmoid mish neg reciprocal relu round rsqrt selu sigmoid silu sin sinc sinh softplus special_i1 "
        "special_ndtr special_ndtri sqrt tan tanh"
    )
    assert names >= set(at_least.split())
    assert not names & {"add.Tensor", "sum", "permute"}  # of two operands, or not element by element
    assert exhausted_ops()["aten::gelu"] == ({"approximate": "none"}, {"approximate": "tanh"})
    assert exhausted_ops()["aten::softplus"] == ({"beta": 1, "threshold": 20},)
