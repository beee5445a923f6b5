"""Overloads that write their results into arguments, and those that return the same."""

from __future__ import annotations

import numpy as np
import pytest

from conform.call.aliases import canonical
from conform.call.bound import bound_call
from conform.call.variants import in_place_variant, out_variant, plain_name, variant_of


@pytest.mark.parametrize(("name", "plain", "into", "in_place"), [
    ("aten::add_.Tensor", "aten::add.Tensor", ("self",), True),
    ("aten::add.out", "aten::add.Tensor", ("out",), False),
    ("aten::pow_.Tensor", "aten::pow.Tensor_Tensor", ("self",), True),  # overloads of other names
    ("aten::sort.values_stable", "aten::sort.stable", ("values", "indices"), False),
    ("aten::sum.IntList_out", "aten::sum.dim_IntList", ("out",), False),
    ("aten::index_put_", "aten::index_put", ("self",), True),
    ("aten::_fused_sgd_", "aten::_fused_sgd", ("self", "grads", "momentum_buffer_list"), True),  # and returns nothing
    ("aten::_amp_update_scale_", "aten::_amp_update_scale", ("self", "growth_tracker"), True),  # and returns the first
    ("aten::unbind_copy.int_out", "aten::unbind_copy.int", ("out",), False),  # a list
])  # fmt: skip
def test_what_a_variant_writes_another_overload_returns(
    name: str, plain: str, into: tuple[str, ...], in_place: bool
) -> None:
    found = variant_of(name)
    assert (found.plain.name, found.into, found.in_place) == (plain, into, in_place)
    assert (in_place_variant if in_place else out_variant)(plain).name == name
    assert plain_name(name) == plain
    assert canonical(name) == canonical(plain)


@pytest.mark.parametrize("name", [
    "aten::add.Tensor",  # returns
    "aten::t_",  # gives a tensor another shape, and writes nothing
    "aten::arange.out",  # takes its dtype from the tensor, and so other arguments
    "aten::native_batch_norm",  # writes beside what it returns
    "aten::_fused_sgd.out",  # writes beside `out`
    "aten::add",  # no overload
    "mine::add_",
])  # fmt: skip
def test_no_variant(name: str) -> None:
    assert variant_of(name) is None
    assert plain_name(name) == name


def test_what_lists_hold_has_names_and_numbers() -> None:
    one, other, third = (np.full(1, float(value)) for value in range(3))
    variant = variant_of("aten::_fused_sgd_")
    given = {"self": [one, other], "grads": [third], "momentum_buffer_list": []}
    assert [name for name, _ in variant.held_by(given)] == ["self[0]", "self[1]", "grads[0]"]
    found = variant.written_in([[one, other], [third]], {"momentum_buffer_list": []})
    assert [(number, tensor.item()) for number, tensor in found] == [(0, 0.0), (1, 1.0), (2, 2.0)]


def test_an_alias_has_variants_as_well() -> None:
    assert canonical("aten::greater_.Tensor") == "aten::gt.Tensor"
    assert plain_name("aten::greater_.Tensor") == "aten::greater.Tensor"
    assert canonical("aten::unbind_copy.int_out") == "aten::unbind.int"
    assert plain_name("aten::unbind_copy.int_out") == "aten::unbind_copy.int"


def test_a_bound_call_and_the_one_that_returns_the_same() -> None:
    call = bound_call("aten::sub.out", [1, 2], {"out": 3, "alpha": 4}, is_tensor=lambda value: value < 4)
    assert call.returning.op == "aten::sub.Tensor"
    assert call.returning.arguments == {"self": 1, "other": 2, "alpha": 4}
    returning = call.returning
    assert returning.returning is returning
