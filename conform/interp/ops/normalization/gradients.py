"""Gradients of the norms, from what the forward ops saved: rational functions of the operands.

Where a result depends on a NaN it is NaN, where it depends on an infinity it is open (P132). The budget is that of the
formula or of its terms taken apart, as kernels do, whichever errs more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.rows import Rows, by_elements_of_rows, by_rows
from conform.interp.golden import Golden, Outcome, wanted
from conform.interp.ops.normalization import gradients_by_constants
from conform.interp.ops.normalization.gradient_rows import (
    any_of,
    finite_part,
    in_any_order,
    of_finite,
    product_of,
    rows_beside,
    with_special,
    worse_of,
)
from conform.interp.ops.normalization.gradients_by_constants import Constants
from conform.interp.ops.normalization.softmax import per_column
from conform.interp.ops.normalization.standardization import as_input, channels_of, per_channel, per_group
from conform.interp.ops.reduction.sums import reshaped, sum_over
from conform.interp.semantics import semantics
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, compute_format, format_of
from conform.numerics.product import held_apart
from conform.numerics.real import Real
from conform.numerics.rounding_errors import held_format
from conform.numerics.scaled import Scaled

Parameter = Pieces[np.ndarray] | None


class _Rows:
    """Rows that one mean and one rstd standardized, [rows, 1] each: x, grad, and the weight beside them or None."""

    def __init__(self, x: Rows, grad: Rows, weight: Parameter, mean: np.ndarray, rstd: np.ndarray) -> None:
        ones = x.beside(lambda rows, columns: np.ones((1, 1)))
        self.x, self.grad, self.weight = x, grad, (weight or ones).map(np.atleast_2d)
        self.mean, self.rstd = finite_part(mean), finite_part(rstd)
        statistics = Pieces(lambda: [mean, rstd], are_many=False)
        operands = (x.pieces, grad.pieces, self.weight, statistics)
        self.nan, self.infinite = (
            any_of(lambda part: np.broadcast_to(holds(part), (x.count, part.shape[1])), *operands)  # noqa: B023
            for holds in (np.isnan, np.isinf)
        )
        self._exact: dict[int, tuple[mpq, mpq]] = {}

    def each(self, function: Callable[..., object]) -> Pieces:
        """function(x, grad, weight) of every piece, with 0 for what is not finite."""
        finite = lambda *parts: function(*map(finite_part, parts))  # noqa: E731
        return self.x.pieces.map(finite, self.grad.pieces, self.weight)

    def inputs(self, fmt: Format) -> Iterator[Golden]:
        """rstd * (g - mean(g) - z mean(g z)) of g = grad * weight, z = (x - mean) * rstd."""
        compute, n = held_format(fmt), float(self.x.terms)
        gs = self.each(lambda x, g, w: Real.exact(g) * Real.exact(w))
        zs = self.each(lambda x, g, w: (Real.exact(x) - Real.exact(self.mean)) * Real.exact(self.rstd))
        with np.errstate(all="ignore"):
            mean_g = Real.total(gs) / n
            mean_gz = Real.total(gs.map(lambda g, z: g * z, zs)) / n
        for g, z, ball, index in zip(gs, zs, self._balls(compute), self._numbers(), strict=True):
            with np.errstate(all="ignore"):
                centred = g - mean_g - z * mean_gz
                real = centred * Real.exact(self.rstd)
                value, real = decide_exactly(fmt, real, index, partial(self._scaled, centred))
            yield with_special(Golden.derived(fmt, value, real, ball, zero_sign_free=True), self.nan, self.infinite)

    def _scaled(self, centred: Real) -> Scaled:
        """Times rstd, which may take it beyond the range of float64."""
        rstd = Scaled.exact(self.rstd).broadcast_to(centred.shape)
        return held_apart(centred, np.zeros(centred.shape, int)).product(rstd)

    def _balls(self, compute: Format) -> Iterator[Ball]:
        """By the formula, with n taken out of the brackets (ATen's kernels for CUDA and its decomposition, in which n g
        may overflow), and as a g + b x + c of sums of g and g x (its kernel for CPUs). The weight, a factor of g, is
        multiplied in anywhere: for group norm to rstd, or to the sums over its channel."""
        n = float(self.x.terms)
        mean, rstd = Ball.exact(self.mean, compute), Ball.exact(self.rstd, compute)
        xs = self.each(lambda x, g, w: Ball.exact(x, compute))
        zs = xs.map(lambda x: (x - mean) * rstd)
        factors = self.each(lambda x, g, w: (Ball.exact(g, compute), Ball.exact(w, compute)))
        gs = factors.map(lambda pair: pair[0] * pair[1])
        total_z, total_x = (
            Ball.total(factors.map(lambda pair, other: in_any_order(*pair, other), each)) for each in (zs, xs)
        )
        total = Ball.total(gs)
        b = (total * mean - total_x) * (rstd * rstd * rstd) / n
        c = -b * mean - total * rstd / n
        for x, g, z, pair in zip(xs, gs, zs, factors, strict=True):
            by_means = rstd * (g - total / n - z * (total_z / n))
            by_sums = rstd / n * (g * n - total - z * total_z)
            yield worse_of(worse_of(by_means, by_sums), in_any_order(*pair, rstd) + b * x + c)

    def _numbers(self) -> Iterator[Callable[[tuple[int, int]], mpq]]:
        for x, g, w in self.each(lambda x, g, w: (x, g, np.broadcast_to(w, x.shape))):
            yield of_finite(partial(self._number, x, g, w), self.nan, self.infinite)

    def _number(self, x: np.ndarray, g: np.ndarray, w: np.ndarray, index: tuple[int, int]) -> mpq:
        mean, rstd = (mpq(float(each[index[0], 0])) for each in (self.mean, self.rstd))
        mean_g, mean_gz = self._means(index[0], mean, rstd)
        z = (mpq(x[index]) - mean) * rstd
        return rstd * (mpq(g[index]) * mpq(w[index]) - mean_g - z * mean_gz)

    def _means(self, row: int, mean: mpq, rstd: mpq) -> tuple[mpq, mpq]:
        if row not in self._exact:
            total = total_z = mpq(0)
            for x, g, w in self.each(lambda x, g, w: (x[row], g[row], np.broadcast_to(w, x.shape)[row])):
                for one, grad, weight in zip(*(part.tolist() for part in (x, g, w)), strict=True):
                    product = mpq(grad) * mpq(weight)
                    total += product
                    total_z += product * (mpq(one) - mean) * rstd
            self._exact[row] = total / self.x.terms, total_z / self.x.terms
        return self._exact[row]


def _of_weight(fmt: Format, grad: Rows, means: Parameter, rstds: Parameter, x: Rows) -> Golden:
    """[rows]: sum of grad * (x - mean) * rstd over each row, whose elements have a mean and a rstd each."""
    compute = held_format(fmt)
    operands = (x.pieces, grad.pieces, means, rstds)
    shaped = lambda part: np.broadcast_to(part, (x.count, part.shape[1]))  # noqa: E731
    nan, infinite = (any_of(lambda part: holds(shaped(part)), *operands) for holds in (np.isnan, np.isinf))  # noqa: B023

    def each(function: Callable[..., object]) -> Pieces:
        return x.pieces.map(lambda *parts: function(*map(finite_part, parts)), *operands[1:])

    def number(index: tuple[int, int]) -> mpq:
        row, total = index[0], mpq(0)
        for piece in each(lambda *parts: [np.broadcast_to(part, parts[0].shape)[row].tolist() for part in parts]):
            for one, g, mean, rstd in zip(*piece, strict=True):
                total += mpq(g) * (mpq(one) - mpq(mean)) * mpq(rstd)
        return total

    def balls(take: int) -> Ball:
        """The sums of grad * x * rstd, or of grad * mean * rstd."""
        grad_last = lambda *parts: product_of(compute, parts[take], parts[3], parts[1])  # noqa: E731
        grad_first = lambda *parts: product_of(compute, parts[1], parts[take], parts[3])  # noqa: E731
        return Ball.total(each(lambda *parts: worse_of(grad_last(*parts), grad_first(*parts))))

    terms = each(lambda x, g, mean, rstd: (Real.exact(x) - Real.exact(mean)) * Real.exact(rstd) * Real.exact(g))
    value, real = decide_exactly(fmt, Real.total(terms), of_finite(number, nan, infinite))
    golden = Golden.derived(fmt, value, real, balls(0) - balls(2), zero_sign_free=True)
    return with_special(golden, nan, infinite).rearranged(lambda part: part[:, 0])


REFUSAL = "P132"


def _refusal(fmt: Format) -> str | None:
    """By what rule a backend may refuse: forward ops of half inputs give statistics of either dtype, and a backend's
    gradients take what its own forward op gives."""
    return REFUSAL if compute_format(fmt) != fmt else None


@semantics("aten::native_layer_norm_backward", accumulates="grad_out")
def native_layer_norm_backward(
    grad_out: np.ndarray,
    input: np.ndarray,
    normalized_shape: Sequence[int],
    mean: np.ndarray,
    rstd: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    output_mask: Sequence[bool],
) -> Outcome:
    """The gradients of the input, weight and bias of native_layer_norm, of whose results the sum with grad_out is
    taken: rstd * (g - mean(g) - z * mean(g * z)) with g = grad_out * weight and z = (input - mean) * rstd, the means
    over the last dimensions normalized_shape; sum(grad_out * z) and sum(grad_out) over the others; None for what
    output_mask does not want (P54, P132, P134)"""
    fmt, terms = format_of(input), prod(normalized_shape)
    count = prod(input.shape[: input.ndim - len(normalized_shape)])
    means, rstds = (each.reshape(count, 1).astype(np.float64) for each in (mean, rstd))
    grads = Rows(grad_out, count, terms)

    def of_rows(some: Rows) -> Iterator[Golden]:
        parts = _Rows(
            some, rows_beside(some, grads), per_column(some, weight), means[some.place], rstds[some.place]
        )  # fmt: skip
        return parts.inputs(fmt)

    columns, of_columns = (Rows.over(each.reshape(count, terms), (0,)) for each in (input, grad_out))

    def of_weight(some: Rows) -> Golden:
        beside = (some.beside(lambda rows, places, each=each: each[places].T) for each in (means, rstds))
        return _of_weight(fmt, rows_beside(some, of_columns), *beside, some)

    gradients = wanted(
        output_mask,
        lambda: reshaped(by_elements_of_rows(of_rows, Rows(input, count, terms)), input.shape),
        lambda: reshaped(by_rows(of_weight, columns), tuple(normalized_shape)),
        lambda: reshaped(sum_over(grad_out.reshape(count, terms), [0]), tuple(normalized_shape)),
    )
    return Outcome(gradients, _refusal(fmt))


@semantics("aten::native_group_norm_backward", accumulates="grad_out")
def native_group_norm_backward(
    grad_out: np.ndarray,
    input: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    weight: np.ndarray | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> Outcome:
    """The gradients of the input, weight and bias of native_group_norm, as native_layer_norm_backward has them, over
    each group of channels; those of weight and bias for each channel (P54, P132, P134)"""
    fmt, terms = format_of(input), C // group * HxW
    means, rstds = (each.reshape(N * group, 1).astype(np.float64) for each in (mean, rstd))
    grads = Rows(grad_out, N * group, terms)

    def of_rows(some: Rows) -> Iterator[Golden]:
        own = per_group(some, weight, group, HxW)
        return _Rows(some, rows_beside(some, grads), own, means[some.place], rstds[some.place]).inputs(fmt)

    def of_channel(statistic: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
        samples = np.arange(columns.start, columns.stop) // HxW
        groups = np.arange(rows.start, rows.stop) // (C // group)
        return statistic.reshape(N, group)[samples[None, :], groups[:, None]]

    by_channel, of_channels = (Rows.over(each.reshape(N, C, HxW), (0, 2)) for each in (input, grad_out))

    def of_weight(some: Rows) -> Golden:
        beside = (some.beside(partial(of_channel, each)) for each in (means, rstds))
        return _of_weight(fmt, rows_beside(some, of_channels), *beside, some)

    gradients = wanted(
        output_mask,
        lambda: reshaped(by_elements_of_rows(of_rows, Rows(input, N * group, terms)), input.shape),
        lambda: by_rows(of_weight, by_channel),
        lambda: sum_over(grad_out.reshape(N, C, HxW), [0, 2]),
    )
    return Outcome(gradients, _refusal(fmt))


@semantics("aten::native_batch_norm_backward", accumulates="grad_out")
def native_batch_norm_backward(
    grad_out: np.ndarray,
    input: np.ndarray,
    weight: np.ndarray | None,
    running_mean: np.ndarray | None,
    running_var: np.ndarray | None,
    save_mean: np.ndarray | None,
    save_invstd: np.ndarray | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> Outcome:
    """The gradients of the input, weight and bias of batch norm, as native_layer_norm_backward has them, over each
    channel, dim 1. Without train the statistics are constants: grad_out * weight / sqrt(running_var + eps), and
    sum(grad_out * (input - running_mean)) / sqrt(running_var + eps); where the statistics that the forward op used are
    given too, save_mean and save_invstd, those are as right (P54, P63, P132, P134)"""
    fmt, rows, grads = format_of(input), channels_of(input), channels_of(grad_out)
    has_saved = save_mean is not None and save_invstd is not None
    saved = [Constants.of(save_mean, save_invstd, None)] if has_saved else []
    constants = [] if train else [Constants.of(running_mean, running_var, eps), *saved]

    def of_rows(some: Rows) -> Iterator[Golden]:
        own, grad = None if weight is None else per_channel(some, weight), rows_beside(some, grads)
        if not train:
            return gradients_by_constants.of_input(fmt, grad, own, [each.at(some.place) for each in constants])
        mine = saved[0].at(some.place)
        return _Rows(some, grad, own, mine.mean, mine.scale).inputs(fmt)

    def of_weight(some: Rows) -> Golden:
        grad = rows_beside(some, grads)
        if not train:
            return gradients_by_constants.of_weight(fmt, some, grad, [each.at(some.place) for each in constants])
        statistics = (saved[0].mean, saved[0].scale)
        beside = (some.beside(lambda place, columns, each=each: each[place]) for each in statistics)
        return _of_weight(fmt, grad, *beside, some)

    gradients = wanted(
        output_mask,
        lambda: as_input(by_elements_of_rows(of_rows, rows), input),
        lambda: by_rows(of_weight, rows),
        lambda: sum_over(grad_out, [0, *range(2, input.ndim)]),
    )
    return Outcome(gradients, _refusal(fmt) if train or has_saved else REFUSAL)
