"""Calls on which interpreter and references once parted, or of which one had no answer: each is an agreement now."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from conform.selftest.agreement.compare import compare

ONE = np.ones((1, 1))
LARGEST = 1.7976931348623157e308
PLAIN = {"stride": [1], "padding": [1], "dilation": [1], "transposed": False, "output_padding": [0], "groups": 1}
OF_NONE = {"input": np.zeros((1, 0)), "normalized_shape": [0], "weight": None, "bias": None, "eps": 0.0}


@pytest.mark.parametrize(
    ("op", "call"),
    [
        ("aten::native_layer_norm", OF_NONE),  # P40
        ("aten::add.Scalar", {"self": np.array([0.0]), "other": 1, "alpha": 2**53 + 1}),  # read as a double
        ("aten::addmm", {"self": ONE, "mat1": ONE, "mat2": ONE, "beta": 2**53 + 1, "alpha": 1}),
        ("aten::std.correction", {"self": np.array([LARGEST, 1.0]), "dim": [0], "correction": -inf}),
        (
            "aten::binary_cross_entropy_with_logits",  # terms of M^2 cancel, and leave M and M / 2
            {
                "self": np.array([1.0, 0.5, -LARGEST, LARGEST]),
                "target": np.array([-LARGEST, LARGEST, LARGEST, LARGEST]),
                "reduction": 2,
            },
        ),
        (
            "aten::cross_entropy_loss",  # P68: an infinite weight of probabilities
            {"self": ONE.repeat(2, 1), "target": ONE.repeat(2, 1), "weight": np.array([inf, 1.0]), "reduction": 2},
        ),
        (
            "aten::cross_entropy_loss",  # the mean over the weights is inf / inf, whatever else is in the sum
            {
                "self": np.array([[1e308, -LARGEST, 0.0], [0.0, 1.0, 2.0]]),
                "target": np.array([1, 0]),
                "weight": np.array([inf, 4.5e15, nan]),
            },
        ),
        (
            "aten::scaled_dot_product_attention",  # P69: an infinite value leaves all outputs of the row open
            {"query": ONE, "key": ONE.repeat(2, 0), "value": np.array([[inf, 1.0], [2.0, 3.0]])},
        ),
        (
            "aten::scaled_dot_product_attention",  # scores of 1e308 that differ in their biases alone
            {
                "query": ONE * 1e300,
                "key": ONE.repeat(2, 0) * 1e8,
                "value": np.array([[8.0], [2.0]]),
                "attn_mask": np.array([[-1.0, -708.0]]),
            },
        ),
        (
            "aten::scaled_dot_product_attention",  # whatever the products are
            {"query": ONE * LARGEST, "key": np.array([[LARGEST], [-1.0]]), "value": np.ones((2, 1)), "scale": nan},
        ),
        (
            "aten::index_put",
            {"self": np.zeros((0, 4)), "indices": [np.zeros(0, np.int64)], "values": np.ones(1), "accumulate": True},
        ),
        ("aten::arange.start_step", {"start": 1.5, "end": 9.7, "step": 2.0, "dtype": "int64"}),  # P83
        ("aten::arange.start_step", {"start": -0.0, "end": -1.0, "step": -1.0}),
    ],
)
def test_both_give_the_same(op: str, call: dict[str, Any]) -> None:
    result = compare(op, call)
    assert result.differences == 0, result.first
    assert not result.refused


@pytest.mark.parametrize(
    ("op", "call"),
    [
        ("aten::arange", {"end": 2j}),
        ("aten::arange", {"end": inf, "dtype": "int64"}),
        ("aten::addmm", {"self": ONE, "mat1": ONE, "mat2": ONE, "beta": 1j}),
        ("aten::addmm", {"self": ONE, "mat1": ONE, "mat2": ONE, "alpha": 1j}),
        ("aten::convolution", {"input": np.ones((1, 1, 0)), "weight": np.ones((1, 1, 1)), "bias": None, **PLAIN}),
        ("aten::convolution", {"input": np.ones((1, 1, 2)), "weight": np.ones((1, 1, 0)), "bias": None, **PLAIN}),
        (
            "aten::native_layer_norm",
            {**OF_NONE, "input": ONE, "normalized_shape": [1], "weight": np.ones(1, np.int16)},
        ),
    ],
)
def test_both_refuse(op: str, call: dict[str, Any]) -> None:
    result = compare(op, call, is_valid=False)
    assert result.refused, result.first
