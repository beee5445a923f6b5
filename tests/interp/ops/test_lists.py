"""Ops of lists: what they mean of what stands in each place, in literals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate
from tests.interp.ops.literal import boolean, check, f16, f32, f64, goldens, i64, u8

NAN, INF = math.nan, math.inf


def test_the_op_of_each_tensor() -> None:
    check("aten::_foreach_sqrt", [f32([4.0, 9.0]), f16([0.25])], gives=(f32([2.0, 3.0]), f16([0.5])))
    check("aten::_foreach_neg", [f32([]), i64(3)], gives=(f32([]), i64(-3)))
    check("aten::_foreach_max", [f32([1.0, NAN]), i64([[2, 5]])], gives=(f32(NAN), i64(5)))
    check("aten::_foreach_mm", [f32([[1.0, 2.0]])], [f32([[3.0], [4.0]])], gives=f32([[11.0]]))


def test_each_tensor_has_a_dtype_of_its_own() -> None:
    check("aten::_foreach_exp", [i64([0]), f64([0.0]), boolean([False])], gives=(f32([1.0]), f64([1.0]), f32([1.0])))
    check("aten::_foreach_add", [f32([1.0]), u8([1])], [i64([2]), f64([0.5])], gives=(f32([3.0]), f64([1.5])))


def test_a_list_goes_place_by_place_and_a_number_to_each() -> None:
    lists = [f32([1.0, 2.0]), f32([3.0])], [f32([10.0, 20.0]), f32([30.0])]
    check("aten::_foreach_add.List", *lists, alpha=2, gives=(f32([21.0, 42.0]), f32([63.0])))
    check("aten::_foreach_sub.Scalar", lists[0], 1, gives=(f32([0.0, 1.0]), f32([2.0])))
    check("aten::_foreach_mul.ScalarList", lists[0], [2, 0.5], gives=(f32([2.0, 4.0]), f32([1.5])))
    check("aten::_foreach_div.Tensor", lists[0], f32(2.0), gives=(f32([0.5, 1.0]), f32([1.5])))


def test_tensors_broadcast_with_those_in_their_places() -> None:
    found = (f32([[2.0, 3.0], [3.0, 4.0]]), f32([5.0, 5.0]))
    check("aten::_foreach_add.List", [f32([1.0, 2.0]), f32(2.0)], [f32([[1.0], [2.0]]), f32([3.0, 3.0])], gives=found)


def test_a_tensor_of_numbers_has_one_for_each_place() -> None:
    ones, twos = [f32([1.0]), f32([1.0, 2.0])], [f32([2.0]), f32([2.0, 2.0])]
    found = (f32([41.0]), f32([401.0, 402.0]))
    check("aten::_foreach_addcmul.Tensor", ones, twos, twos, f32([10.0, 100.0]), gives=found)
    check("aten::_foreach_addcmul.ScalarList", ones, twos, twos, [10, 100.0], gives=found)
    check("aten::_foreach_addcdiv.Scalar", ones, twos, twos, gives=(f32([2.0]), f32([2.0, 3.0])))
    weights = [f32([0.5]), f32([0.0, 1.0])]
    check("aten::_foreach_lerp.List", ones, twos, weights, gives=(f32([1.5]), f32([1.0, 2.0])))


def test_powers_of_lists_and_to_lists() -> None:
    check("aten::_foreach_pow.Scalar", [f32([3.0]), i64([-2])], 3, gives=(f32([27.0]), i64([-8])))
    check("aten::_foreach_pow.ScalarAndTensor", 2, [f32([3.0]), i64([4])], gives=(f32([8.0]), i64([16])))


def test_norms_of_whole_tensors() -> None:
    check("aten::_foreach_norm", [f32([3.0, -4.0]), f32([])], gives=(f32(5.0), f32(0.0)))
    check("aten::_foreach_norm", [f16([3.0, -4.0])], 1, "float32", gives=f32(7.0))


def test_a_bound_beside_nan_gives_nan_in_either_spelling() -> None:
    for op in ("aten::_foreach_clamp_min", "aten::_foreach_maximum"):
        check(op, [f32([NAN, -1.0, INF])], 2.0, gives=f32([NAN, 2.0, INF]))
        check(op, [f32([NAN, 1.0])], [f32([0.0, NAN])], gives=f32([NAN, NAN]))


def test_what_is_written_in_place_is_what_is_returned() -> None:
    check("aten::_foreach_copy_", [f32([1.0, 2.0])], [i64([7])], gives=f32([7.0, 7.0]))
    check("aten::_foreach_zero_", [f32([NAN]), i64([3])], gives=(f32([0.0]), i64([0])))
    with pytest.raises(InvalidArguments, match="_foreach_exp_"):
        goldens("aten::_foreach_exp_", [f32([1.0]), i64([1])])  # the second cannot hold e


def test_every_result_has_the_bound_of_its_op_of_one_tensor() -> None:
    assert [one.bounded_as for one in goldens("aten::_foreach_exp", [f32([1.0])] * 2)] == ["aten::exp"] * 2


@pytest.mark.parametrize("arguments", [
    ([f32([1.0])], [f32([1.0]), f32([1.0])]),
    ([f32([1.0])], [1.0, 2.0]),
    ([f32([1.0])], f32([1.0])),  # a tensor for each place is one without dims
    ([f32([1.0, 2.0])], [f32([1.0, 2.0, 3.0])]),
])  # fmt: skip
def test_what_does_not_stand_in_the_places_is_refused(arguments: tuple) -> None:
    with pytest.raises(InvalidArguments):
        evaluate("aten::_foreach_add", arguments, {})


def test_lists_without_tensors_are_not_judged() -> None:
    for arguments in (([],), ([], []), ([], 1.0)):
        with pytest.raises(Unjudged, match="P222"):
            evaluate("aten::_foreach_add" if len(arguments) > 1 else "aten::_foreach_exp", arguments, {})


def test_numpy_numbers_are_0d_tensors() -> None:
    check("aten::_foreach_mul", [f32([2.0])], np.float32(3.0), gives=f32([6.0]))
