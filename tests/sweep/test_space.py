"""Inputs by number: literals, then every block of every size holds each code once."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from conform.errors import Unjudged, UsageError
from conform.numerics.formats import FORMATS
from conform.sweep.space import Codes, Space
from conform.sweep.subject import keyword, subject_of

F32, F16, BF16 = (FORMATS[name] for name in ("float32", "float16", "bfloat16"))


def test_a_code_is_an_operand():
    (x,) = Space(F32, 1).operands(Codes(0x3F800000, 0x3F800001))
    np.testing.assert_array_equal(x, np.array([1.0, 1 + 2.0**-23], np.float32), strict=True)


def test_a_code_of_two_operands_has_the_first_one_in_its_upper_half():
    lhs, rhs = Space(F16, 2).operands(Codes(0x3C00FFFE, 0x3C010001))
    np.testing.assert_array_equal(lhs, np.array([1, 1, 1 + 2.0**-10, 1 + 2.0**-10], np.float16), strict=True)
    np.testing.assert_array_equal(rhs, np.array([np.nan, np.nan, 0.0, 2.0**-24], np.float16), strict=True)
    lhs, rhs = Space(BF16, 2).operands(np.array([0xFF803F80], np.uint64))
    assert (lhs.dtype, float(lhs[0]), float(rhs[0])) == (ml_dtypes.bfloat16, -np.inf, 1.0)


@pytest.mark.parametrize(("fmt", "count", "last"), [(F32, 1, 2**32 - 1), (F16, 1, 2**16 - 1), (BF16, 2, 2**32 - 1)])
def test_all_codes(fmt, count, last):
    assert Space(fmt, count).codes == Codes(0, last)


def test_parts_end_at_multiples():
    assert list(Codes(3, 9).cut(4)) == [Codes(3, 3), Codes(4, 7), Codes(8, 9)]
    assert [len(part) for part in Codes(0, 2**32 - 1).cut(2**31)] == [2**31, 2**31]


def test_runs_of_a_binade():
    """1.0 to 4.0, and a little of what is below: three binades, by sign and exponent field."""
    starts, binades = Space(F32, 1).runs(Codes(0x3F7FFFF0, 0x40800000 - 1), 0)
    assert (starts.tolist(), binades.tolist()) == ([0, 0x10, 0x800010], [126, 127, 128])


def test_runs_of_each_of_two_operands():
    space, codes = Space(F16, 2), Codes(0x3C000000, 0x3C00FFFF)
    starts, binades = space.runs(codes, 0)
    assert (starts.tolist(), binades.tolist()) == ([0], [15])
    starts, binades = space.runs(codes, 1)
    assert (starts.tolist(), binades.tolist()) == (list(range(0, 0x10000, 1024)), list(range(64)))


@pytest.mark.parametrize(
    ("op", "dtype", "keywords", "overload", "operands", "swept"),
    [
        ("exp", None, {}, "aten::exp", ("self",), "float32"),
        ("torch.exp", "bfloat16", {}, "aten::exp", ("self",), "bfloat16"),
        ("aten::pow", None, {}, "aten::pow.Tensor_Tensor", ("self", "exponent"), "float16"),
        ("aten::pow", None, {"exponent": 2}, "aten::pow.Tensor_Scalar", ("self",), "float32"),
        ("gelu", "float16", {"approximate": "tanh"}, "aten::gelu", ("self",), "float16"),
    ],
)
def test_what_is_swept(op, dtype, keywords, overload, operands, swept):
    subject = subject_of(op, dtype, keywords)
    assert (subject.op, subject.operands, subject.dtype) == (overload, operands, swept)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nonesuch",), "unknown operator 'nonesuch'"),
        (("aten::sum",), "does not work element by element"),
        (("exp", "float64"), "has 2\\^64 inputs"),
        (("atan2", "float32"), "has 2\\^64 inputs"),
        (("exp", "int8"), "expected a float dtype"),
        (("exp", "flaot32"), "did you mean 'float32'"),
        (("bitwise_and",), "argument self: found float16"),
        (("exp", "float32", {"base": 2}), "takes neither one tensor"),
        (("softplus", "float32", {"beta": "much"}), "takes neither one tensor"),
    ],
)
def test_what_is_no_sweep(arguments, told):
    with pytest.raises(UsageError, match=told):
        subject_of(*arguments)


def test_without_semantics():
    with pytest.raises(Unjudged, match="no semantics for aten::special_airy_ai"):
        subject_of("special_airy_ai")


@pytest.mark.parametrize(
    ("written", "value"),
    [("approximate=tanh", "tanh"), ("exponent=2", 2), ("beta=1e-5", 1e-5), ("x=-0.0", -0.0), ("dtype=None", None)],
)
def test_keywords(written, value):
    name, found = keyword(written)
    assert (name, repr(found)) == (written.partition("=")[0], repr(value))


@pytest.mark.parametrize("written", ["approximate", "=2", "a b=2", "x=[1]"])
def test_what_is_no_keyword(written):
    with pytest.raises(UsageError, match="--arg"):
        keyword(written)
