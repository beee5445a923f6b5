"""Softmax and layer normalization: one formula each, on real numbers for the golden and on balls for the error
budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import isqrt

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.numerics import functions
from conform.interp.numerics.ball import Ball
from conform.interp.numerics.escalate import decided, mp_exp, mp_sqrt, to_mpf
from conform.interp.numerics.formats import FORMATS, Format, format_of
from conform.interp.numerics.real import Real
from conform.interp.numerics.rounding import decide, round_fraction
from conform.interp.operands import compute_format
from conform.interp.ops.elementwise import exact
from conform.interp.promotion import category
from conform.interp.registry import semantics


def resolved(fmt: Format, real: Real, formula: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, Real]:
    """`real` [rows, n] rounded to `fmt`; rows with undecided elements go through `formula(row numbers)` in mpmath."""
    value, undecided = decide(fmt, real)
    if undecided.any():
        rows = np.flatnonzero(undecided.any(axis=-1))
        rounded, hi, lo = decided(fmt, lambda: formula(rows), undecided[rows])
        value, hi_all, lo_all, radius = value.copy(), real.hi.copy(), real.lo.copy(), real.radius.copy()
        value[undecided], hi_all[undecided], lo_all[undecided], radius[undecided] = rounded, hi, lo, 0.0
        real = Real(hi_all, lo_all, radius)
    return value, real


# Softmax


def _softmax_formula(exp: Callable, x: object, largest: object) -> object:
    e = exp(x - largest)
    return e / e.sum(axis=-1, keepdims=True)


@semantics("aten::_softmax")
def softmax(self: np.ndarray, dim: int, half_to_float: bool) -> Golden:
    """exp(x - max) / sum(exp(x - max)) along dim; in float32 for half input with half_to_float"""
    source, axis = format_of(self), wrap_dim(dim, self.ndim)
    if not source.is_float:
        raise InvalidArguments(f"softmax is not defined for {source.name}")
    if half_to_float and source.name not in ("float16", "bfloat16"):
        raise InvalidArguments(f"half_to_float expects a half input, got {source.name}")
    fmt = FORMATS["float32"] if half_to_float else source
    last = np.moveaxis(self.reshape(1) if self.ndim == 0 else self, axis, -1).astype(np.float64)
    if last.size == 0:
        return exact(np.empty(self.shape, fmt.storage), fmt)
    rows = np.ascontiguousarray(last).reshape(-1, last.shape[-1])
    value, real, budget = _softmax_rows(fmt, rows)

    def back(array: np.ndarray) -> np.ndarray:
        return np.moveaxis(array.reshape(last.shape), -1, axis).reshape(self.shape)

    return Golden(fmt, back(value), real.map_parts(back), budget=back(budget))


def _softmax_rows(fmt: Format, rows: np.ndarray) -> tuple[np.ndarray, Real, np.ndarray]:
    with np.errstate(all="ignore"):
        largest = rows.max(axis=-1, keepdims=True)
        real = _softmax_formula(functions.exp, Real.exact(rows), Real.exact(largest))
    value, real = resolved(fmt, real, lambda some: _softmax_formula(mp_exp, to_mpf(rows[some]), to_mpf(largest[some])))
    compute = compute_format(fmt)
    budget = _softmax_formula(Ball.exp, Ball.exact(rows, compute), Ball.exact(largest, compute)).rad
    return value, real, budget


# Layer normalization


@semantics("aten::native_layer_norm")
def native_layer_norm(
    input: np.ndarray,
    normalized_shape: Sequence[int],
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    eps: float,
) -> tuple[Golden, Golden, Golden]:
    """((x - mean) * rstd * weight + bias, mean, rstd) over the last dimensions normalized_shape, with the biased
    variance and rstd = 1 / sqrt(var + eps); mean and rstd keep those dimensions as 1 (P36 for their dtype)"""
    fmt = format_of(input)
    _check_layer_norm(input, normalized_shape, weight, bias)
    leading = input.shape[: input.ndim - len(normalized_shape)]
    statistic_shape = (*leading, *[1] * len(normalized_shape))
    rows = input.reshape(int(np.prod(leading, dtype=int)), int(np.prod(normalized_shape, dtype=int))).astype(np.float64)
    scale, shift = (None if p is None else p.reshape(-1).astype(np.float64) for p in (weight, bias))
    statistics_formats = [compute_format(fmt), fmt] if compute_format(fmt) != fmt else [fmt]
    norm = _LayerNorm(rows, scale, shift, eps)
    output = norm.golden("output", fmt, input.shape)
    mean, rstd = (
        norm.golden(name, statistics_formats[0], statistic_shape).or_else(
            *(norm.golden(name, other, statistic_shape) for other in statistics_formats[1:])
        )
        for name in ("mean", "rstd")
    )
    infinite = np.isinf(rows).any(axis=-1).reshape(statistic_shape)
    return output, *(_opened(statistic, infinite) for statistic in (mean, rstd))


def _opened(statistic: Golden, infinite: np.ndarray) -> Golden:
    """P40, in the golden and its alternatives."""
    others = tuple(other.opened(infinite, "P40") for other in statistic.alternatives)
    return replace(statistic.opened(infinite, "P40"), alternatives=others)


def _check_layer_norm(
    input: np.ndarray, normalized_shape: Sequence[int], weight: np.ndarray | None, bias: np.ndarray | None
) -> None:
    shape = tuple(normalized_shape)
    if not format_of(input).is_float:
        raise InvalidArguments(f"layer norm is not defined for {format_of(input).name}")
    if not shape or input.shape[-len(shape) :] != shape:
        raise InvalidArguments(
            f"normalized_shape {list(shape)} is not the end of the input's shape {list(input.shape)}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != shape:
            raise InvalidArguments(f"{name} must have shape {list(shape)}, got {list(parameter.shape)}")
        if parameter is not None and category(format_of(parameter)) != 2:
            raise InvalidArguments(f"{name} must be floating point, got {format_of(parameter).name}")


def _statistics(x: object, n: object, eps: object, sqrt: Callable, one: object) -> tuple[object, object, object]:
    """The centred rows, their mean and 1 / sqrt(biased variance + eps)."""
    mean = x.sum(axis=-1, keepdims=True) / n
    centred = x - mean
    variance = (centred * centred).sum(axis=-1, keepdims=True) / n
    return centred, mean, one / sqrt(variance + eps)


class _LayerNorm:
    """The three outputs over `rows` [rows, n], each computed once per format."""

    def __init__(self, rows: np.ndarray, scale: np.ndarray | None, shift: np.ndarray | None, eps: float) -> None:
        self.rows, self.scale, self.shift, self.eps = rows, scale, shift, eps
        self.n = float(rows.shape[1])
        with np.errstate(all="ignore"):
            centred, mean, rstd = _statistics(
                Real.exact(rows),
                Real.exact(np.float64(self.n)),
                Real.exact(np.float64(eps)),
                Real.sqrt,
                Real.exact(np.float64(1)),
            )
            output = centred * rstd
            output = output if scale is None else output * Real.exact(scale)
            output = output if shift is None else output + Real.exact(shift)
        self.real = {"output": output, "mean": mean, "rstd": rstd}
        self.budget = cache(self._budgets)

    def golden(self, name: str, fmt: Format, shape: tuple[int, ...]) -> Golden:
        real = self.real[name]
        value, real = self._decided(name, fmt, real)
        budget = self.budget(compute_format(fmt))[name]
        return Golden(fmt, value.reshape(shape), real.reshape(shape), budget=budget.reshape(shape), zero_sign_free=True)

    def _decided(self, name: str, fmt: Format, real: Real) -> tuple[np.ndarray, Real]:
        value, undecided = decide(fmt, real)
        rational = {row: _rational_root(self.rows[row], self.eps) for row in np.flatnonzero(undecided.any(axis=-1))}
        value, real = value.copy(), real.map_parts(np.copy)
        for row, root in rational.items():
            if root is not None:
                self._fill_rational(name, fmt, row, root, value, real)
        return resolved(fmt, real, lambda some: self._with_mpmath(name, some))

    def _fill_rational(self, name: str, fmt: Format, row: int, root: Fraction, value: np.ndarray, real: Real) -> None:
        """A row whose var + eps is the square of a rational number is rational: exact fractions, midpoints included."""
        for column, number in enumerate(self._fractions(name, row, root)):
            real.radius[row, column] = 0.0
            if number is None:
                value[row, column] = real.hi[row, column] = np.nan if name == "output" else np.inf
                real.lo[row, column] = 0.0
            else:
                value[row, column] = round_fraction(fmt, number)
                hi = float(number)
                real.hi[row, column], real.lo[row, column] = hi, float(number - Fraction(hi))

    def _fractions(self, name: str, row: int, root: Fraction) -> list[Fraction | None]:
        x = [Fraction(v) for v in self.rows[row].tolist()]
        mean = sum(x) / len(x)
        if name == "mean":
            return [mean]
        if root == 0:
            return [None] * (1 if name == "rstd" else len(x))
        if name == "rstd":
            return [1 / root]
        scale = [1] * len(x) if self.scale is None else map(Fraction, self.scale.tolist())
        shift = [0] * len(x) if self.shift is None else map(Fraction, self.shift.tolist())
        return [(v - mean) / root * w + b for v, w, b in zip(x, scale, shift, strict=True)]

    def _with_mpmath(self, name: str, some: np.ndarray) -> np.ndarray:
        rows = to_mpf(self.rows[some])
        centred, mean, rstd = _statistics(rows, int(self.n), to_mpf(np.float64(self.eps)), mp_sqrt, 1)
        if name != "output":
            return mean if name == "mean" else rstd
        output = centred * rstd
        output = output if self.scale is None else output * to_mpf(self.scale)
        return output if self.shift is None else output + to_mpf(self.shift)

    def _budgets(self, compute: Format) -> dict[str, np.ndarray]:
        """Errors of two-pass or Welford statistics, and of (x - mean) * rstd or x * rstd - mean * rstd (ATen's CPU
        kernel).

        The mean's error is one number for the whole row: its first-order effect on the variance is 2 err sum(x -
        mean) / n = 0, and its square is what remains. Welford's updating formula loses n u kappa of the variance,
        kappa^2 = sum(x^2) / sum((x - mean)^2) (Chan, Golub and LeVeque, The American Statistician 37, 1983, table 1).
        """
        x = Ball.exact(self.rows, compute)
        with np.errstate(all="ignore"):
            mean = x.sum(-1) / self.n
            centred_mid = self.rows - mean.mid
            centred = x.rounded(centred_mid, 0.0)
            variance = (centred * centred).sum(-1) / self.n
            shared = mean.rad**2 + 2 * mean.rad * centred.rad.mean(-1, keepdims=True)
            square = (self.rows**2).mean(-1, keepdims=True)
            welford = self.n * compute.unit_roundoff * np.sqrt(square * variance.mid)
            variance = Ball(variance.mid, variance.rad + shared + welford, compute)
            rstd = Ball.exact(np.float64(1), compute) / (variance + self.eps).sqrt()
            reach = rstd.mid + rstd.rad
            spread = (
                np.abs(centred_mid) * rstd.rad
                + (mean.rad + 2 * compute.unit_roundoff * (np.abs(self.rows) + np.abs(mean.mid))) * reach
            )
            output = x.rounded(centred_mid * rstd.mid, spread)
            output = output if self.scale is None else output * Ball.exact(self.scale, compute)
            output = output if self.shift is None else output + Ball.exact(self.shift, compute)
        return {"output": output.rad, "mean": mean.rad, "rstd": rstd.rad}


def _rational_root(row: np.ndarray, eps: float) -> Fraction | None:
    """sqrt(var + eps) where it is rational, else None."""
    if not np.isfinite(row).all():
        return None
    x = [Fraction(v) for v in row.tolist()]
    mean = sum(x) / len(x)
    square = sum((v - mean) ** 2 for v in x) / len(x) + Fraction(eps)
    numerator, denominator = isqrt(square.numerator), isqrt(square.denominator)
    exact_root = numerator**2 == square.numerator and denominator**2 == square.denominator
    return Fraction(numerator, denominator) if exact_root else None
