"""From an op's name and arguments to its outcome: overloads, the readings of P30, and what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged, UsageError
from conform.interp.evaluate import WITHOUT_MEANING, evaluate
from conform.interp.golden import Golden

F32, BF16 = np.float32, ml_dtypes.bfloat16


def golden(op: str, *args: Any, **kwargs: Any) -> Golden:
    (only,) = evaluate(op, args, kwargs).goldens
    return only


def readings(op: str, *args: Any, **kwargs: Any) -> list[list[float]]:
    """The values of the golden and its alternatives, in order."""
    first = golden(op, *args, **kwargs)
    return [each.value.astype(np.float64).tolist() for each in (first, *first.alternatives)]


# --- P30 --------------------------------------------------------------------------------------------------------------


def test_a_python_float_is_read_as_the_double_or_in_float32() -> None:
    # 3 * 0.1 as a double is 0.30000000000000001665; float32's 0.1 is 0.100000001490116, whose triple rounds higher.
    assert readings("aten::mul", F32([3.0]), 0.1) == [[0.30000001192092896], [0.30000001192092896]]
    # 1 + 2^-24 is no float32: as a double it lies beyond the midpoint of 1 * x, in float32 it is 1.
    x, factor = F32([1 + 2.0**-23]), 1 + 2.0**-24
    assert readings("aten::mul", x, factor) == [[1 + 2.0**-22], [1 + 2.0**-23]]


def test_a_half_type_reads_it_in_float32_and_in_its_own_dtype() -> None:
    third = 1 / 3
    x = np.array([1.0], BF16)
    assert len(readings("aten::mul", x, third)) == 3
    # 3 * third - 1 shows which third it was: the double's, float32's or bfloat16's.
    float32_third, bfloat16_third = float(F32(third)), float(BF16(third))
    found = readings("aten::add", np.array([-1.0], BF16), np.array([3.0], BF16), alpha=third)
    assert found[0] == [-(2.0**-54)]
    expected = {float(BF16(3 * one - 1)) for one in (float32_third, bfloat16_third)}
    assert expected <= {value for (value,) in found}
    assert expected == {2.0**-25, 2.0**-9}


def test_a_number_that_the_dtype_holds_has_one_reading() -> None:
    assert readings("aten::mul", F32([3.0]), 0.5) == [[1.5]]
    assert readings("aten::mul", np.float64([3.0]), 0.1) == [[0.30000000000000004]]
    assert readings("aten::mul", np.array([3.0], BF16), np.inf) == [[np.inf]]


def test_a_wider_0d_tensor_is_read_like_a_number() -> None:
    x, factor = F32([1 + 2.0**-23]), 1 + 2.0**-24
    assert readings("aten::mul", x, np.asarray(factor)) == readings("aten::mul", x, factor)
    assert golden("aten::mul", x, np.asarray(factor)).format.name == "float32"
    assert readings("aten::mul", x, np.array([factor])) == [[(1 + 2.0**-23) * factor]]  # dimensions promote: float64


def test_numbers_and_wider_operands_are_read_apart() -> None:
    """Both in float32, the operand alone, the number alone; several numbers are read alike."""
    three, wide, number = F32([3.0]), np.asarray(1 + 2.0**-24), 1 + 2.0**-25
    assert len(readings("aten::addcmul", three, three, wide, value=number)) == 4
    assert len(readings("aten::addcmul", three, three, wide, value=1)) == 2
    assert len(readings("aten::addcmul", three, three, F32(1.0), value=number)) == 2
    assert len(readings("aten::elu", three, 0.1, 0.7, 0.3)) == 2
    assert len(readings("aten::elu", three.astype(BF16), 0.1, 0.7, 0.3)) == 3


def test_a_reading_that_the_op_refuses_is_none() -> None:
    assert readings("aten::arange", 0.0, 1e39, 1e39) == [[0.0]]  # in float32 the end would be infinite


def test_a_reading_of_another_shape_is_none() -> None:
    """0.1 in float32 is larger than the double: 10 of them reach beyond 1."""
    ours = golden("aten::arange", 0.0, 1.0, 1 / 3)
    assert ours.value.shape == (3,)
    assert all(other.value.shape == (3,) for other in ours.alternatives)


def test_a_number_beside_0d_tensors_is_read_in_their_common_dtype() -> None:
    third = 1 / 3
    found = readings("aten::add", np.array(-1.0, BF16), np.array(3.0, BF16), alpha=third)
    assert {value for value in found if isinstance(value, float)} >= {2.0**-25, 2.0**-9}
    wide = readings("aten::add", np.array(-1.0, BF16), np.array(3.0), alpha=third)
    assert len(wide) == len(readings("aten::add", np.array(-1.0), np.array(3.0), alpha=third))


# --- P84 --------------------------------------------------------------------------------------------------------------


def test_a_conversion_to_a_half_type_and_back_may_be_left_out() -> None:
    x = F32([1 + 2.0**-8, 1.0])  # 1 + 2^-8 is a tie of bfloat16, to 1
    assert readings("aten::sum", x - F32([0, 1]), dtype="bfloat16") == [1.0, 1.0]
    assert readings("aten::sum", F32([1 + 2.0**-8, -1.0]), dtype="bfloat16") == [0.0, 2.0**-8]
    assert readings("aten::mean", F32([1 + 2.0**-8, -1.0]), dtype="bfloat16") == [0.0, 2.0**-9]
    assert readings("aten::cumsum", F32([1 + 2.0**-8, -1.0]), 0, dtype="bfloat16") == [[1.0, 0.0], [1.0, 2.0**-8]]
    assert readings("aten::prod", F32([70000.0, 2.0**-4]), dtype="float16") == [np.inf, 4376.0]
    assert readings("aten::sum", np.array([2049, -2048]), dtype="float16") == [0.0, 1.0]


def test_integers_beside_a_half_type_may_be_read_in_the_compute_type() -> None:
    assert readings("aten::add", np.float16([-2048.0]), np.array([2049])) == [[0.0], [1.0]]
    assert readings("aten::mul", np.float16([0.5]), np.array([70000])) == [[np.inf], [35008.0]]
    assert readings("aten::outer", np.float16([0.5]), np.array([70000])) == [[[np.inf]], [[35008.0]]]
    assert readings("aten::kron", np.float16([0.5]), np.array([70000, 2])) == [[np.inf, 1.0], [35008.0, 1.0]]


def test_no_other_conversion_may_be_left_out() -> None:
    assert readings("aten::sum", np.array([1 + 2.0**-24, -1.0]), dtype="float32") == [0.0]
    assert readings("aten::add", F32([-(2.0**24)]), np.array([2**24 + 1])) == [[0.0]]
    assert readings("aten::sum", np.array([1.0, 2.0], BF16)) == [3.0]


# --- Arguments --------------------------------------------------------------------------------------------------------


def test_the_overload_follows_from_the_arguments_or_is_named() -> None:
    x = F32([[1.0, 2.0]])
    assert golden("aten::sum", x).value.shape == ()
    assert golden("aten::sum", x, [0]).value.tolist() == [1.0, 2.0]
    assert golden("aten::sum.dim_IntList", x, [1], True).value.tolist() == [[3.0]]
    assert golden("aten::add", x, 1).value.tolist() == golden("aten::add.Tensor", x, np.asarray(1)).value.tolist()


def test_numpy_scalars_are_0d_tensors_in_lists_too() -> None:
    assert golden("aten::add", np.float64(1.0), np.float32(2.0)).format.name == "float64"
    assert golden("aten::add", F32([1.0]), np.float64(2.0)).format.name == "float32"
    assert golden("aten::exp", BF16(0.0)).format.name == "bfloat16"
    rows = [F32([1.0]), F32([2.0])]
    indices = [np.int64(0)]
    assert golden("aten::cat", rows).value.tolist() == [1.0, 2.0]
    assert golden("aten::index_put", F32([1.0, 2.0]), indices, F32(5.0)).value.tolist() == [5.0, 2.0]


def test_arguments_that_only_say_where_a_result_lives_change_nothing() -> None:
    assert {"device", "layout", "pin_memory", "non_blocking", "memory_format"} <= WITHOUT_MEANING
    elsewhere = {"device": "cuda:1", "layout": "strided", "pin_memory": True}
    assert golden("aten::arange", 3, **elsewhere).value.tolist() == [0, 1, 2]
    x = F32([1.5])
    copied = golden(
        "aten::_to_copy", x, dtype="int32", device="meta", non_blocking=True, memory_format="preserve_format"
    )
    assert copied.value.tolist() == [1]


def test_signalling_nans_and_overflows_raise_no_warning() -> None:
    signalling = np.array([0x7F800001, 0x7F7FFFFF], np.uint32).view(F32)
    first, second = golden("aten::add", signalling, signalling).value
    assert np.isnan(first)
    assert second == np.inf


# --- Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "args", "error", "message"),
    [
        ("aten::linalg_svd", [F32([[1.0]])], Unjudged, "no semantics for aten::linalg_svd"),
        ("aten::nothing", [], UsageError, "aten::nothing"),
        ("aten::exp", [], UsageError, "aten::exp"),
        ("aten::exp", ["text"], UsageError, "aten::exp"),
        ("aten::sum", [F32([1.0]), [1]], InvalidArguments, r"dim: found \[1\], expected dim\[i\] < max\("),
        ("aten::mm", [F32([[1.0]]), F32([[1.0], [2.0]])], InvalidArguments, r"mat2: found float32\[2, 1\], "),
        ("aten::neg", [np.array([True])], InvalidArguments, r"self: found bool\[1\], expected dtype\(self\) != bool$"),
        ("aten::add", [np.int32([1]), np.int32([1]), 3], UsageError, "aten::add"),
    ],
)
def test_what_is_refused_and_how(op: str, args: list, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        evaluate(op, args, {})


def test_a_backend_may_refuse_a_negative_exponent_of_integers() -> None:
    outcome = evaluate("aten::pow", [np.int32([2, 2]), np.int32([-1, 2])], {})
    assert (outcome.refusal, outcome.goldens[0].open.tolist()) == ("P46", [True, False])
    assert evaluate("aten::pow", [np.int32([2]), np.int32([2])], {}).refusal is None


def test_a_backend_may_refuse_integer_division_by_zero() -> None:
    outcome = evaluate("aten::div", [np.int32([1, 4]), np.int32([0, 2])], {"rounding_mode": "trunc"})
    assert outcome.refusal == "P11, P12"
    assert outcome.goldens[0].open.tolist() == [True, False]
    assert evaluate("aten::div", [np.int32([4]), np.int32([2])], {"rounding_mode": "trunc"}).refusal is None
