"""The comparison sees what it is for: each way two sides can part, planted in a reference, is a disagreement."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

import numpy as np
import pytest

from conform import refs
from conform.refs import UNSPECIFIED, RefTensor
from conform.refs.references import REFERENCES
from conform.selftest.agreement.agreement import WITNESSED_ELEMENTS, Agreement, agree, agree_on
from conform.selftest.agreement.calls import Witness
from conform.selftest.agreement.compare import compare

Plant = Callable[[str, Any], None]
OPERAND = np.array([0.0, 1.0, 2.0, nan], np.float32)


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Puts a result, or a function, in the place of an op's reference."""
    refs.names()  # all references are registered from here on

    def put(op: str, result: Any) -> None:
        monkeypatch.setitem(REFERENCES, op, result if callable(result) else lambda **_: result)

    return put


def neg(*data: object, dtype: str = "float32", shape: tuple[int, ...] = (4,)) -> RefTensor:
    return RefTensor(dtype, shape, list(data))


def test_equal_results_are_counted() -> None:
    result = compare("aten::neg", {"self": OPERAND})
    assert (result.witnessed, result.opened, result.differences, result.first) == (4, 0, 0, None)


@pytest.mark.parametrize(
    ("planted", "what"),
    [
        (neg(-0.0, -1.0, np.nextafter(np.float32(-2), np.float32(0)).item(), nan), "element"),
        (neg(0.0, -1.0, -2.0, nan), "element"),  # the sign of a zero
        (neg(-0.0, -1.0, -2.0, 0.0), "element"),
        (neg(nan, -1.0, -2.0, nan), "element"),
        (neg(-0.0, UNSPECIFIED, -2.0, nan), "open to one side alone (by the reference)"),
        (neg(-0.0, -1.0, -2.0, nan, dtype="float64"), "dtype and shape"),
        (neg(-0.0, -1.0, -2.0, nan, shape=(2, 2)), "dtype and shape"),
        (neg(-0.0, -1.0, -2.0000000001, nan), "the reference gives -2.0000000001 is not a number of float32"),
        (neg(-0.0, -1, -2.0, nan), "the reference gives float32 with elements of int"),
        ((neg(-0.0, -1.0, -2.0, nan), neg(0.0, 0.0, 0.0, 0.0)), "the interpreter gives 1 outputs, the reference 2"),
    ],
)
def test_a_difference_is_seen(plant: Plant, planted: object, what: str) -> None:
    plant("aten::neg", planted)
    result = compare("aten::neg", {"self": OPERAND})
    assert result.differences == 1
    assert what in result.first.what


def test_refusals_must_agree(plant: Plant) -> None:
    def refuse(**_: object) -> None:
        raise ValueError("no")

    of_bools = {"self": np.array([True])}
    assert compare("aten::neg", of_bools, is_valid=False).refused
    assert compare("aten::neg", of_bools).first.what.endswith("the spec takes the call")
    plant("aten::neg", refuse)
    told = "the interpreter gives a result; the reference raises ValueError: no; the spec takes the call"
    assert compare("aten::neg", {"self": OPERAND}).first.what == told
    plant("aten::neg", neg(True, dtype="bool", shape=(1,)))
    told = compare("aten::neg", of_bools, is_valid=False).first.what
    assert told.startswith("the interpreter raises InvalidArguments")
    assert told.endswith("the reference gives a result; the spec refuses the call")


def test_what_the_spec_refuses_must_not_have_a_result() -> None:
    told = compare("aten::neg", {"self": OPERAND}, is_valid=False).first.what
    assert told == "the interpreter gives a result; the reference gives a result; the spec refuses the call"


def test_where_a_side_may_refuse_only_results_are_compared(plant: Plant) -> None:
    assert compare("aten::neg", {"self": np.array([True])}, is_valid=None).refused
    assert compare("aten::neg", {"self": OPERAND}, is_valid=None).witnessed == 4
    plant("aten::neg", neg(-0.0, -1.0, -2.0, 0.0))
    assert compare("aten::neg", {"self": OPERAND}, is_valid=None).differences == 1


@pytest.mark.parametrize("is_valid", [True, False, None])
def test_a_defect_of_one_side_is_a_difference(plant: Plant, is_valid: bool | None) -> None:
    plant("aten::neg", lambda **_: 1 // 0)
    result = compare("aten::neg", {"self": OPERAND}, is_valid)
    assert result.differences == 1
    assert "ZeroDivisionError where there should be a result or a refusal" in result.first.what


def test_what_is_open_must_agree(plant: Plant) -> None:
    call = {"self": np.int8([5, 6]), "other": np.int8([0, 4]), "rounding_mode": "floor"}
    result = compare("aten::div.Tensor_mode", call)
    assert (result.witnessed, result.opened, result.differences) == (1, 1, 0)
    plant("aten::div.Tensor_mode", RefTensor("int8", (2,), [0, 1]))
    assert compare("aten::div.Tensor_mode", call).first.what == "open to one side alone (P11)"


def test_an_overflowing_sum_is_open_to_the_interpreter_alone() -> None:
    result = compare("aten::sum", {"self": np.float32([3e38, 3e38, -3e38])})
    assert (result.witnessed, result.opened, result.differences) == (0, 1, 0)


def test_a_free_zero_has_either_sign(plant: Plant) -> None:
    plant("aten::sum", RefTensor("float32", (), [-0.0]))
    assert compare("aten::sum", {"self": np.float32([1, -1])}).witnessed == 1


@pytest.mark.parametrize(
    ("indices", "differences"), [([1, 0, 2], 0), ([1, 2, 0], 0), ([0, 1, 2], 2), ([1, 0, 0], 3), ([1, 0, 3], 1)]
)
def test_indices_among_ties_are_compared_by_rank(plant: Plant, indices: list[int], differences: int) -> None:
    plant("aten::sort", (RefTensor("float32", (3,), [1.0, 2.0, 2.0]), RefTensor("int64", (3,), indices)))
    assert compare("aten::sort", {"self": np.float32([2, 1, 2])}).differences == differences


def test_a_disagreement_shows_both_sides_and_the_inputs_in_decimal_and_hex(plant: Plant) -> None:
    plant("aten::add.Tensor", RefTensor("float32", (2, 1), [1.25, 9.0]))
    call = {"self": np.float32([[1], [2]]), "other": np.float32([0.25]), "alpha": 0.5}
    shown = str(agree_on(Agreement("aten::add.Tensor", "float32"), [Witness(call)]))
    assert shown.splitlines() == [
        "I8 aten::add.Tensor float32: 0 elements witnessed, 0 open, 2 disagreements",
        "in witness call 0: element of output 0 at [0, 0]",
        "  interpreter: 1.125 (0x3f900000)",
        "  reference:   1.25 (0x3fa00000)",
        "  self = 1.0 (0x3f800000) of float32[2, 1]",
        "  other = 0.25 (0x3e800000) of float32[1]",
        "  alpha = 0.5 (0x1.0000000000000p-1)",
    ]


def test_an_agreement_holds_only_with_enough_witnesses() -> None:
    assert agree("aten::neg", "int8").holds
    assert not Agreement("aten::neg", "int8", witnessed=WITNESSED_ELEMENTS - 1).holds
    assert not Agreement("aten::neg", "int8", witnessed=WITNESSED_ELEMENTS, disagreements=1).holds


def test_a_planted_disagreement_ends_the_run(plant: Plant) -> None:
    plant("aten::abs", lambda self: RefTensor(self.dtype, self.shape, self.data))
    agreement = agree("aten::abs", "int8")
    assert agreement.disagreements > 0
    assert not agreement.holds
