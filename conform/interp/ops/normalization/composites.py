"""Softmax and the norms by the names that programs call: each means what the native op means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from conform.interp.golden import Golden, Outcome
from conform.interp.operands import converted
from conform.interp.ops.normalization import softmax as rows
from conform.interp.ops.normalization import standardization as channels
from conform.interp.semantics import semantics
from conform.numerics.formats import format_named, format_of
from conform.numerics.real import where

OF_EXPONENTIALS = {"along": "dim", "accumulates": "self", "centred": True, "exponentials": True}


@semantics("aten::softmax.int", **OF_EXPONENTIALS)
def softmax(self: np.ndarray, dim: int, dtype: str | None = None) -> Golden:
    """exp(x - max) / sum(exp(x - max)) along dim, of elements converted to dtype first"""
    return _converted_first(lambda x: rows.softmax(x, dim, False).goldens[0], self, dtype)


@semantics("aten::_safe_softmax", **OF_EXPONENTIALS)
def safe_softmax(self: np.ndarray, dim: int, dtype: str | None = None) -> Golden:
    """softmax along dim, of elements converted to dtype first, and +0 where all elements of a line of self are -inf
    (P216)"""
    golden = softmax(self, dim, dtype)
    if not self.size:
        return golden
    is_masked = self.max(axis=dim if self.ndim else None, keepdims=True) == -np.inf
    if not is_masked.any():
        return golden
    value = np.where(is_masked, golden.format.storage.type(0), golden.value)
    budget = np.where(is_masked, 0.0, golden.budget)
    return replace(golden, value=value, real=where(is_masked, 0.0, golden.real), budget=budget)


@semantics("aten::log_softmax.int", **OF_EXPONENTIALS)
def log_softmax(self: np.ndarray, dim: int, dtype: str | None = None) -> Golden:
    """(x - max) - log(sum(exp(x - max))) along dim, of elements converted to dtype first (P53, P54)"""
    return _converted_first(lambda x: rows.log_softmax(x, dim, False).goldens[0], self, dtype)


def _converted_first(function: Callable[[np.ndarray], Golden], self: np.ndarray, dtype: str | None) -> Golden:
    fmt = format_named(dtype) if dtype else format_of(self)
    return function(converted(self, fmt))


@semantics("aten::layer_norm", accumulates="input", centred=True)
def layer_norm(
    input: np.ndarray,
    normalized_shape: Sequence[int],
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    eps: float = 1e-5,
) -> Outcome:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions normalized_shape, with the biased variance
    (P54, P62)"""
    return _first(rows.native_layer_norm(input, normalized_shape, weight, bias, eps))


@semantics("aten::group_norm", accumulates="input", centred=True)
def group_norm(
    input: np.ndarray,
    num_groups: int,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    eps: float = 1e-5,
) -> Outcome:
    """(x - mean) / sqrt(var + eps) * weight + bias over num_groups groups of the channels, dim 1, of each sample, with
    the biased variance; weight and bias are per channel (P54, P62, P86)"""
    count, of, places = input.shape[0], input.shape[1], prod(input.shape[2:])
    return _first(channels.native_group_norm(input, weight, bias, N=count, C=of, HxW=places, group=num_groups, eps=eps))


def _first(outcome: Outcome) -> Outcome:
    """The outcome with its first output alone."""
    return replace(outcome, goldens=outcome.goldens[:1])
