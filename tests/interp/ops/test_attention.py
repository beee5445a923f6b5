"""Attention: which masks there are of scores that values broadcast further."""

from __future__ import annotations

import numpy as np
import pytest

from conform.errors import InvalidArguments
from conform.interp.evaluate import evaluate


def attend(mask: np.ndarray) -> np.ndarray:
    """Of one query and two keys, with two batches of values: scores of shape [1, 2]."""
    query, key = np.zeros((1, 1), np.float32), np.zeros((2, 1), np.float32)
    values = np.array([[[1], [2]], [[4], [8]]], np.float32)
    (golden,) = evaluate("aten::scaled_dot_product_attention", [query, key, values, mask], {}).goldens
    return golden.value


def test_a_mask_of_the_scores_serves_every_batch_of_values() -> None:
    assert attend(np.array([[True, False]])).tolist() == [[[1]], [[4]]]
    assert attend(np.array([[True, True]])).tolist() == [[[1.5]], [[6]]]


def test_a_mask_does_not_extend_the_scores() -> None:
    """It is added to them in place (torch.nn.functional.scaled_dot_product_attention: broadcastable to [..., L, S])."""
    with pytest.raises(InvalidArguments, match=r"attn_mask \[2, 1, 2\] does not broadcast to \[1, 2\]"):
        attend(np.ones((2, 1, 2), bool))
