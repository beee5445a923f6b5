"""Which op an op of lists means of each tensor."""

from __future__ import annotations

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.call.foreach import for_each, meant_by
from conform.interp import semantics


@pytest.mark.parametrize(("lists", "member", "places"), [
    ("exp", "exp", {}),
    ("add.Scalar", "add.Scalar", {"scalar": "other"}),
    ("clamp_max.ScalarList", "clamp_max", {"scalars": "max"}),
    ("maximum.List", "maximum", {}),
    ("maximum.Scalar", "clamp_min", {"scalar": "min"}),
    ("addcdiv.Tensor", "addcdiv", {"scalars": "value"}),
    ("lerp.List", "lerp.Tensor", {"tensors1": "end", "weights": "weight"}),
    ("pow.ScalarAndTensor", "pow.Scalar", {}),
    ("norm.Scalar", "linalg_vector_norm", {}),
])  # fmt: skip
def test_the_member_is_found_by_the_schemas(lists: str, member: str, places: dict[str, str]) -> None:
    found = for_each(f"aten::_foreach_{lists}")
    assert found.member.name == f"aten::{member}"
    assert {mine: its for mine, its in found.places.items() if mine != its} == places


@pytest.mark.parametrize("name", ["aten::_foreach_exp_", "aten::_foreach_exp.out", "aten::exp", "aten::_fused_adam",
                                  "aten::_foreach_powsum.Scalar", "aten::_foreach_nosuch"])  # fmt: skip
def test_what_means_no_known_op_of_each_tensor(name: str) -> None:
    assert for_each(name) is None


def test_every_op_of_lists_that_returns_is_known_but_sums_of_powers() -> None:
    known = {name for name in semantics.names() if name.startswith("aten::_foreach_")}
    assert len(known) == 76
    assert {name.partition(".")[0] for name in known}.isdisjoint({"aten::_foreach_powsum"})


def test_the_calls_that_a_call_of_lists_means() -> None:
    one, other = np.zeros(2, np.float32), np.zeros(3, np.float32)
    numbers = np.array([2.0, 4.0], np.float32)
    call = bound_call("aten::_foreach_addcmul_.Tensor", [[one, other], [one, other], [other, one], numbers], {})
    first, second = meant_by(call, 2)
    assert first.op == "aten::addcmul"
    assert [list(each.arguments) for each in (first, second)] == [["self", "tensor1", "tensor2", "value"]] * 2
    assert second.arguments["tensor2"] is one
    assert second.arguments["value"] == 4.0


def test_a_call_of_tensors_means_itself() -> None:
    call = bound_call("aten::exp", [np.zeros(2, np.float32)], {})
    assert meant_by(call, 1) == [call]
