"""torch's other names of an op."""

from __future__ import annotations

from conform.call.aliases import aliases_of, canonical
from conform.contracts.tables import contract_table
from conform.domains.specs import spec_of
from conform.interp import semantics
from tests.interp.ops.literal import boolean, check, f32


def test_an_alias_is_the_op_overload_by_overload() -> None:
    assert canonical("aten::greater.Tensor") == "aten::gt.Tensor"
    assert canonical("aten::special_round") == "aten::round.decimals"
    assert canonical("aten::exp") == "aten::exp"
    assert list(aliases_of({"aten::gt.Scalar"})) == [("aten::greater.Scalar", "aten::gt.Scalar")]


def test_the_copy_of_a_view_is_that_view() -> None:
    assert canonical("aten::permute_copy") == canonical("aten::permute_copy.out") == "aten::permute"
    assert canonical("aten::slice_copy.Tensor") == "aten::slice.Tensor"
    assert canonical("aten::index_copy") == "aten::index_copy"
    assert canonical("aten::_to_copy") == "aten::_to_copy"


def test_every_room_knows_an_alias() -> None:
    check("aten::greater", f32([2.0]), f32([1.0]), gives=boolean([True]))
    assert semantics.find("aten::absolute") is semantics.find("aten::abs")
    assert spec_of("aten::clip.Tensor").arguments == spec_of("aten::clamp.Tensor").arguments
    table = contract_table("opencl")
    assert table.row("aten::arccos", "float32") == table.row("aten::acos", "float32")
