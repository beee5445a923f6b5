"""Scaled dot product attention by kernels of their own name, of whose further results nothing is documented."""

from __future__ import annotations

from functools import partial

import numpy as np

from conform.interp.golden import Golden, Outcome
from conform.interp.ops.attention.scaled_dot_product import ATTENDS, rows_of_values, scaled_dot_product_attention
from conform.interp.semantics import semantics

_kernel = partial(semantics, attends=ATTENDS, elements=rows_of_values)


def _with_undocumented(own: Golden, count: int) -> tuple[Golden, ...]:
    """The output, and `count` results of which nothing is documented (P149)."""
    return (own, *[Golden.of_nothing_documented("P149")] * count)


def _of_device(own: Golden, count: int) -> Outcome:
    """As that, of a kernel that may refuse what scaled_dot_product_attention does not send it (P149)."""
    return Outcome(_with_undocumented(own, count), refusal="P149")


@_kernel("aten::_scaled_dot_product_attention_math")
def attention_math(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_mask: np.ndarray | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: np.ndarray | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Golden, ...]:
    """scaled_dot_product_attention without a dropout_mask, and the weights of the values (P149)"""
    own = scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    return _with_undocumented(own, 1)


@_kernel("aten::_scaled_dot_product_flash_attention_for_cpu")
def flash_attention_for_cpu(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    attn_mask: np.ndarray | None = None,
    scale: float | None = None,
) -> tuple[Golden, ...]:
    """scaled_dot_product_attention of [N, heads, *, E], and the logarithms of the sums that it divides by (P149)"""
    own = scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale)
    return _with_undocumented(own, 1)


@_kernel("aten::_scaled_dot_product_flash_attention", ignores=("return_debug_mask",))
def flash_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Outcome:
    """scaled_dot_product_attention of [N, heads, *, E], and eight results: the logarithms of the sums that it divides
    by, lengths of sequences, the state of the random numbers, a mask to look at (P149)"""
    return _of_device(scaled_dot_product_attention(query, key, value, None, dropout_p, is_causal, scale), 8)


@_kernel("aten::_scaled_dot_product_efficient_attention", ignores=("compute_log_sumexp",))
def efficient_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_bias: np.ndarray | None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Outcome:
    """scaled_dot_product_attention of [N, heads, *, E], and three results: the logarithms of the sums that it divides
    by, a seed and an offset of random numbers (P149)"""
    own = scaled_dot_product_attention(query, key, value, attn_bias, dropout_p, is_causal, scale)
    return _of_device(own, 3)


@_kernel("aten::_scaled_dot_product_cudnn_attention", ignores=("compute_log_sumexp", "return_debug_mask"))
def cudnn_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_bias: np.ndarray | None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Outcome:
    """scaled_dot_product_attention of [N, heads, *, E], and the eight further results of
    _scaled_dot_product_flash_attention (P149)"""
    own = scaled_dot_product_attention(query, key, value, attn_bias, dropout_p, is_causal, scale)
    return _of_device(own, 8)


@_kernel("aten::_scaled_dot_product_fused_attention_overrideable", ignores=("return_debug_mask",))
def overrideable_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_bias: np.ndarray | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Outcome:
    """scaled_dot_product_attention of [N, heads, *, E] by a device's own kernel, and the eight further results of
    _scaled_dot_product_flash_attention (P149)"""
    own = scaled_dot_product_attention(query, key, value, attn_bias, dropout_p, is_causal, scale)
    return _of_device(own, 8)
