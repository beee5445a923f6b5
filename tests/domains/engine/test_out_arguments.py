"""Specs of out variants: the results of a spec as arguments that have to hold them."""

from __future__ import annotations

import itertools

import pytest

from conform.call.variants import out_variant, plain_name, variant_of
from conform.domains.engine.meta_tuple import invalid_tuples, results, valid_tuples
from conform.domains.engine.out_arguments import CONVERTED, RESIZED, with_out_arguments
from conform.domains.specs import spec_of, variant_specs


@pytest.mark.parametrize(("plain", "variant"), [
    ("aten::exp", "aten::exp.out"),
    ("aten::sort.stable", "aten::sort.values_stable"),
    ("aten::sum.dim_IntList", "aten::sum.IntList_out"),
])  # fmt: skip
def test_the_variant_that_writes_the_results_of_an_overload(plain: str, variant: str) -> None:
    assert out_variant(plain).name == variant
    assert plain_name(variant) == plain
    assert out_variant(variant) is None
    assert variant_of(plain) is None
    assert variant in {one.name for one in variant_specs()}


@pytest.mark.parametrize("name", ["aten::permute", "aten::arange"])  # a view; arange.out takes no dtype
def test_an_overload_without_a_variant_of_its_arguments(name: str) -> None:
    assert out_variant(name) is None
    assert with_out_arguments(spec_of(name)) is None


def test_out_arguments_are_what_the_results_are() -> None:
    spec = spec_of("aten::sort.values")
    for one in itertools.islice(valid_tuples(spec, 0), 20):
        outs = [one.arguments[name] for name in ("values", "indices")]
        assert [(out.dtype, out.shape) for out in outs] == [
            (result.dtype, result.shape) for result in results(spec, one.arguments)
        ]
    assert spec.dtypes == spec_of("aten::sort").dtypes  # that of self, whatever indices has
    assert spec.index_arguments == ("values", "indices")


@pytest.mark.parametrize(("name", "held"), [
    ("aten::relu_", []),  # self has the rank, sizes and dtype of self
    ("aten::add_.Tensor", ["Rank", "Size", "Dtype"]),
])  # fmt: skip
def test_what_is_written_in_place_is_held_to_what_it_has_not_by_itself(name: str, held: list[str]) -> None:
    assert sorted(one.attribute for one in spec_of(name).holder.constraints) == sorted(held)


def test_what_an_out_argument_must_not_be() -> None:
    """An integer cannot hold floats, a bool nothing else; other dtypes and shapes torch converts to and resizes."""
    tuples = list(itertools.islice(invalid_tuples(spec_of("aten::exp.out"), 0), 90))
    found = {
        (one.arguments["out"].dtype in ("float16", "bfloat16", "float32", "float64"), one.lenience)
        for one in tuples
        if "dtype(out)" in str(one.broken) and one.arguments["self"].dtype == "float32"
    }
    assert found == {(True, CONVERTED), (False, CONVERTED), (False, None)}  # False, CONVERTED: complex numbers
    assert {one.lenience for one in tuples if "size(out" in str(one.broken)} == {RESIZED}
