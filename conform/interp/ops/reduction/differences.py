"""Differences of neighbours along a dim, once or again and again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np

from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact, sub
from conform.interp.semantics import semantics
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, where


@semantics("aten::diff")
def diff(
    self: np.ndarray, n: int = 1, dim: int = -1, prepend: np.ndarray | None = None, append: np.ndarray | None = None
) -> Golden:
    """result[i] = x[i + 1] - x[i] along dim, n times over, where x is prepend, self and append one behind the other;
    self for n = 0"""
    fmt, axis = format_of(self), wrap_dim(dim, self.ndim)
    if n == 0:
        return exact(self, fmt)
    x = np.concatenate([part for part in (prepend, self, append) if part is not None], axis=axis)
    if x.shape[axis] <= n:
        return exact(np.moveaxis(np.moveaxis(x, axis, 0)[:0], 0, axis), fmt)
    lines = np.moveaxis(x, axis, 0)
    if n == 1:
        golden = replace(sub(lines[1:], lines[:-1]), bounded_as="aten::sub")
    elif fmt.is_float:
        golden = _repeated(fmt, lines.astype(np.float64), n)
    else:
        refuse_complex(fmt, "differences of differences")
        golden = exact(np.diff(lines, n, axis=0), fmt)
    return golden.rearranged(lambda part: np.moveaxis(part, 0, axis))


def _repeated(fmt: Format, x: np.ndarray, n: int) -> Golden:
    """The sum of (-1)^(n - k) (n over k) x[i + k], which the recursion means; of infinities and NaN the recursion.
    It is one of torch.diff, so that each partial result is rounded to the element type."""
    finite = np.where(np.isfinite(x), x, 0.0)
    real, ball, special = Real.exact(finite), Ball.exact(finite, fmt), np.where(np.isfinite(x), 0.0, x)
    overflows = np.zeros(x.shape, bool)
    with np.errstate(all="ignore"):
        for _ in range(n):
            overflows |= ~(np.abs(real.hi) + ball.rad <= fmt.max_finite)
            overflows = overflows[1:] | overflows[:-1]
            real, ball, special = (part[1:] - part[:-1] for part in (real, ball, special))
    real = where(np.isfinite(special), real, special)

    def exactly(index: tuple[int, ...]) -> Fraction:
        neighbours = finite[(slice(index[0], index[0] + n + 1), *index[1:])].tolist()
        terms = (Fraction(y) * comb(n, k) * (-1) ** (n - k) for k, y in enumerate(neighbours))
        return sum(terms, Fraction(0))

    value, real = decide_exactly(fmt, real, exactly)
    golden = Golden.derived(fmt, value, real, ball.but_exact(~np.isfinite(special)), zero_sign_free=True)
    return golden.opened(overflows & ~np.isnan(special), "P35")
