"""Ways to take an argument wrongly, as they are enumerated."""

from __future__ import annotations

from typing import Any

import pytest

from conform.selftest.plants.alterations import alterations, same
from conform.selftest.plants.facts import op_of


def altered(op: str, what: str, given: Any) -> Any:
    """What the alteration of these words makes of a value."""
    return next(one for one in alterations(op_of(op)) if one.what == what).change(given)


@pytest.mark.parametrize(
    ("op", "what", "given", "expected"),
    [
        ("aten::sum.dim_IntList", "keepdim flipped", True, False),
        ("aten::sum.dim_IntList", "keepdim ignored", True, False),
        ("aten::sum.dim_IntList", "dim from the other end", [0, -1], [-1, 0]),
        ("aten::sum.dim_IntList", "dim without its last", [0, 1], [0]),
        ("aten::sum.dim_IntList", "dim without its last", [0], [0]),  # an empty list would mean all dims
        ("aten::sum.dim_IntList", "dim 0 where negative", [1, -1], [1, 0]),
        ("aten::sum.dim_IntList", "dtype ignored", "float64", None),
        ("aten::sum.dim_IntList", "dtype too narrow", "float64", "float32"),
        ("aten::cumsum", "dim off by one", 0, 1),
        ("aten::cumsum", "dim always the last", 0, -1),
        ("aten::permute", "dims inverted", [1, 2, 0], [2, 0, 1]),
        ("aten::permute", "dims in reverse", [1, 2, 0], [0, 2, 1]),
        ("aten::slice.Tensor", "start too large by one", 2, 3),
        ("aten::slice.Tensor", "start ignored", None, None),
        ("aten::convolution", "stride in reverse", [2, 3], [3, 2]),
        ("aten::convolution", "groups ignored", 4, 1),
        ("aten::add.Tensor", "alpha doubled", 1.5, 3.0),
        ("aten::add.Tensor", "alpha truncated", 1.5, 1),
        ("aten::add.Tensor", "alpha truncated", 1.5 + 2j, 1.5),
        ("aten::gelu", "approximate always tanh", "none", "tanh"),
        ("aten::native_layer_norm", "weight left out", "a tensor", None),
        ("aten::cat", "tensors in reverse", ["one", "other"], ["other", "one"]),
    ],
)
def test_what_a_defect_makes_of_an_argument(op: str, what: str, given: Any, expected: Any) -> None:
    found = altered(op, what, given)
    assert (found, type(found)) == (expected, type(expected))


def test_what_the_spec_fixes_is_not_altered() -> None:
    """dropout_p is 0 in every valid call."""
    names = {one.argument for one in alterations(op_of("aten::scaled_dot_product_attention"))}
    assert names == {"query", "key", "value", "attn_mask", "is_causal", "scale", "enable_gqa"}


def test_a_bool_is_no_number_when_values_are_compared() -> None:
    assert same(1, 1)
    assert same(float("nan"), float("nan"))
    assert not same(1, True)
    assert not same(1, 1.0)
    assert not same(None, 0)


def test_every_argument_with_a_meaning_is_taken_wrongly() -> None:
    altered_ones = {one.argument for one in alterations(op_of("aten::avg_pool2d"))}
    assert altered_ones == {
        "self", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override",
    }  # fmt: skip
