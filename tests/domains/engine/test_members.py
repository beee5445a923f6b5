"""Specs of ops of lists: what the spec of a member says, of every place."""

from __future__ import annotations

import itertools

import pytest

from conform.domains.engine.members import joined
from conform.domains.engine.meta_tuple import results, valid_tuples
from conform.domains.engine.spaces import ANYTHING, REALS, Discrete
from conform.domains.specs import spec_of


def stated(op: str) -> list[str]:
    return [str(each) for one in spec_of(op).arguments for each in one.constraints]


def test_what_is_said_of_a_tensor_is_said_of_each() -> None:
    assert stated("aten::_foreach_neg") == ["1 <= length(self)", "dtype(self[i]) != bool"]
    assert stated("aten::_foreach_mul.List") == [
        "1 <= length(self)", "length(other) = length(self)",
        "dtype(other[i]) not in what makes complex32 with dtype(self[i])",
        "size(other[i], d) in {1, size(self[i], d)}",
    ]  # fmt: skip


def test_a_tensor_for_all_has_no_dims_and_one_of_numbers_a_number_for_each() -> None:
    assert "rank(other) = 0" in stated("aten::_foreach_add.Tensor")
    assert {"rank(scalars) = 1", "size(scalars, d) = length(self)"} <= {*stated("aten::_foreach_addcmul.Tensor")}


def test_results_are_those_of_each_place() -> None:
    spec = spec_of("aten::_foreach_div.List")
    for one in itertools.islice(valid_tuples(spec, 0), 20):
        member, given = spec_of("aten::div.Tensor"), one.arguments
        pairs = zip(given["self"].structure, given["other"].structure, strict=True)
        expected = [results(member, {"self": mine, "other": its})[0] for mine, its in pairs]
        found = results(spec, given)
        assert [(each.dtype, each.shape) for each in found] == [(each.dtype, each.shape) for each in expected]


@pytest.mark.parametrize(("suffix", "values", "together"), [
    ("In", [("a", "b"), ANYTHING, ("b", "c")], ("b",)),
    ("In", [REALS.within(0, 2), REALS.within(1, 3)], REALS.within(1, 2)),
    ("In", [], ANYTHING),
    ("NotIn", [("a",), (), ("b",)], ("a", "b")),
    ("Ge", [1, 3, 2], 3),
    ("Lt", [1, 3, 2], 1),
    ("Eq", [2, 2], 2),
])  # fmt: skip
def test_what_several_say_together(suffix: str, values: list, together: object) -> None:
    found = joined(suffix, values)
    assert (found.members if isinstance(found, Discrete) else found) == together


def test_what_any_of_several_intervals_has_is_in_none() -> None:
    found = joined("NotIn", [REALS.within(0, 1), (), REALS.within(3, 4)])
    assert (0.5 in found, 2 in found, 3.5 in found) == (True, False, True)


def test_what_nothing_satisfies() -> None:
    with pytest.raises(LookupError):
        joined("Eq", [1, 2])
