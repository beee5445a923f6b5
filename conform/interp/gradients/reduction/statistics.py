"""Gradients of variances, norms and logarithms of sums of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conform.interp.gradients.kinks import kinked
from conform.interp.gradients.kinks import zeros as zeros_of
from conform.interp.gradients.lines import axes_of, count_of, spread
from conform.interp.gradients.rules import gradient
from conform.interp.program.apply import apply
from conform.interp.program.number import Number

Dims = int | Sequence[int] | None


def centred(x: Number, dim: Dims) -> Number:
    """x less its mean over the dims."""
    return x - x.mean(axes_of(x, dim), True) if x.ndim else x - x


def _of_var(g: Number, x: Number, dim: Dims, correction: float | None) -> Number:
    freedom = count_of(x, dim) - (1 if correction is None else correction)
    if freedom <= 0:
        return kinked(zeros_of(x), np.ones(x.shape, bool))
    return spread(g, x, dim) * (2.0 / freedom) * centred(x, dim)


def _of_std(g: Number, x: Number, dim: Dims, correction: float | None, result: Number) -> Number:
    half = g / (result * 2)
    return _of_var(kinked(half, result.real.hi == 0), x, dim, correction)


@gradient("aten::var.correction")
def var(g: Number, self: Number, dim: Dims, correction: float | None) -> Number:
    """g 2 / (n - correction) (self - mean)"""
    return _of_var(g, self, dim, correction)


@gradient("aten::var")
def var_of_all(g: Number, self: Number, unbiased: bool) -> Number:
    """g 2 / (n - correction) (self - mean)"""
    return _of_var(g, self, None, int(unbiased))


@gradient("aten::var.dim")
def var_of_dims(g: Number, self: Number, dim: Dims, unbiased: bool) -> Number:
    """g 2 / (n - correction) (self - mean)"""
    return _of_var(g, self, dim, int(unbiased))


@gradient("aten::std.correction")
def std(g: Number, self: Number, dim: Dims, correction: float | None, result: Number) -> Number:
    """g / (result (n - correction)) (self - mean)"""
    return _of_std(g, self, dim, correction, result)


@gradient("aten::std")
def std_of_all(g: Number, self: Number, unbiased: bool, result: Number) -> Number:
    """g / (result (n - correction)) (self - mean)"""
    return _of_std(g, self, None, int(unbiased), result)


@gradient("aten::std.dim")
def std_of_dims(g: Number, self: Number, dim: Dims, unbiased: bool, result: Number) -> Number:
    """g / (result (n - correction)) (self - mean)"""
    return _of_std(g, self, dim, int(unbiased), result)


@gradient("aten::var_mean.correction")
def var_mean(g: Sequence[Number], self: Number, dim: Dims, correction: float | None) -> Number:
    """that of the variance, and g / n of the mean"""
    return _of_var(g[0], self, dim, correction) + spread(g[1], self, dim) / count_of(self, dim)


@gradient("aten::std_mean.correction")
def std_mean(
    g: Sequence[Number], self: Number, dim: Dims, correction: float | None, result: Sequence[Number]
) -> Number:
    """that of the standard deviation, and g / n of the mean"""
    of_mean = spread(g[1], self, dim) / count_of(self, dim)
    return _of_std(g[0], self, dim, correction, result[0]) + of_mean


@gradient("aten::logsumexp")
def logsumexp(g: Number, self: Number, dim: Dims, result: Number) -> Number:
    """g e^(self - result)"""
    return spread(g, self, dim) * (self - spread(result, self, dim)).exp()


# --- Norms ------------------------------------------------------------------------------------------------------------


def of_norm(g: Number, x: Number, ord: float, dim: Dims, result: Number) -> Number:
    """The gradient of (sum |x|^ord)^(1/ord) over the dims."""
    size, weight = spread(result, x, dim), spread(g, x, dim)
    at_zero = x.real.hi == 0
    if ord == 0:
        return kinked(zeros_of(x), at_zero)
    if ord == 2:
        return kinked(weight * (x / size), size.real.hi == 0)
    if np.isinf(ord):
        return _of_extreme(weight, x, ord, dim)
    power = 1.0 if ord == 1 else (x.abs() / size).pow(float(ord) - 1)
    signed = apply("aten::where.self", x.real.hi > 0, weight, -weight)
    return kinked(signed * power, at_zero if ord <= 1 else size.real.hi == 0)


def _of_extreme(weight: Number, x: Number, ord: float, dim: Dims) -> Number:
    """g with the sign of the element that is the norm, 0 of the others."""
    axes, size = axes_of(x, dim), np.abs(x.real.hi)
    extreme = (size.max if ord > 0 else size.min)(axis=axes, keepdims=True)
    is_extreme = size == extreme
    several = is_extreme.sum(axis=axes, keepdims=True) > 1
    signed = apply("aten::where.self", x.real.hi > 0, weight, -weight)
    found = apply("aten::where.self", is_extreme, signed, Number.exact(np.zeros((), weight.format.storage)))
    return kinked(found, is_extreme & (several | (size == 0)))


@gradient("aten::linalg_vector_norm")
def vector_norm(g: Number, self: Number, ord: float, dim: Dims, result: Number) -> Number:
    """g sign(self) (|self| / result)^(ord - 1)"""
    return of_norm(g, self, float(ord), dim, result)


@gradient("aten::norm.Scalar")
def norm(g: Number, self: Number, p: float, result: Number) -> Number:
    """g sign(self) (|self| / result)^(p - 1)"""
    return of_norm(g, self, float(p), None, result)


@gradient("aten::norm.ScalarOpt_dim")
def norm_of_dims(g: Number, self: Number, p: float | None, dim: Dims, result: Number) -> Any:
    """g sign(self) (|self| / result)^(p - 1)"""
    return of_norm(g, self, 2.0 if p is None else float(p), dim, result)
