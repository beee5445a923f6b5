"""Losses of distances and angles between lines: exact squares, their roots as real numbers, rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite, isnan, isqrt, nan

from flint import arb

from conform.refs.exact.linear_forms import Form, Value, round_form, times, total
from conform.refs.exact.promotion import FLOAT, category, common_operands
from conform.refs.exact.reals import fraction_ball
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, expand, lines
from conform.refs.loss.elements import MEAN, reduced
from conform.refs.references import reference

SMALL = 1000  # squares of factors below it are taken out of a root, so that roots of one family cancel


@reference("aten::triplet_margin_loss")
def triplet_margin_loss(
    anchor: RefTensor,
    positive: RefTensor,
    negative: RefTensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = MEAN,
) -> RefTensor:
    """max(|a - p + eps| - |a - n + eps| + margin, 0) along the last dim; swap takes |p - n + eps| where it is less."""
    dtype, shape, columns = common_operands(anchor, positive, negative)
    if category(dtype) != FLOAT or len({len(one.shape) for one in (anchor, positive, negative)}) > 1 or not shape:
        raise ValueError(f"triplet_margin_loss of {dtype}, shapes {anchor.shape}, {positive.shape}, {negative.shape}")
    if p not in (1, 2, inf):
        raise NotImplementedError(f"the reference of triplet_margin_loss has no order {p}")

    def loss(a: list[float], near: list[float], far: list[float]) -> Value:
        own, *others = [_distance(x, y, p, eps) for x, y in ((a, near), (a, far), *([(near, far)] if swap else []))]
        other = _least(others)
        numbers = [own, times(other, Fraction(-1)), Form(Fraction(margin))]
        return _positive(total(numbers))

    rows = [[[column[i] for i in line] for column in columns] for line in lines(shape, len(shape) - 1)]
    return reduced(dtype, shape[:-1], [loss(*row) for row in rows], reduction)


def _distance(xs: Sequence[float], ys: Sequence[float], p: float, eps: float) -> Value:
    pairs = list(zip(xs, ys, strict=True))
    special = [x - y for x, y in pairs if not (isfinite(x) and isfinite(y))]
    if special:
        return nan if any(map(isnan, special)) else inf
    sizes = [abs(Fraction(x) - Fraction(y) + Fraction(eps)) for x, y in pairs]
    if p == 2:
        return root_form(sum((size * size for size in sizes), Fraction(0)))
    return Form(sum(sizes, Fraction(0)) if p == 1 else max(sizes, default=Fraction(0)))


def _least(values: list[Value]) -> Value:
    if any(isinstance(value, float) for value in values):
        special = [value for value in values if isinstance(value, float)]
        finite = [value for value in values if isinstance(value, Form)]
        return nan if any(map(isnan, special)) else finite[0] if finite else inf
    first, *others = values
    for other in others:
        first = other if _positive(total([other, times(first, Fraction(-1))])).is_zero() else first
    return first


def _positive(value: Value) -> Value:
    """max(value, 0)"""
    if isinstance(value, float):
        return value if isnan(value) or value > 0 else Form()
    return value if not value.is_zero() and round_form("float64", value) > 0 else Form()


def root_form(number: Fraction) -> Form:
    """The square root: a rational number, or a rational multiple of the root of an integer."""
    integer, outside = number.numerator * number.denominator, Fraction(1, number.denominator)
    if isqrt(integer) ** 2 == integer:
        return Form(isqrt(integer) * outside)
    for factor in (2, *range(3, SMALL, 2)):
        while integer % (factor * factor) == 0:
            integer, outside = integer // (factor * factor), outside * factor
    return Form(terms={(_root, Fraction(integer)): outside})


def _root(number: Fraction) -> arb:
    return fraction_ball(number).sqrt()


@reference("aten::cosine_embedding_loss")
def cosine_embedding_loss(
    input1: RefTensor, input2: RefTensor, target: RefTensor, margin: float = 0.0, reduction: int = MEAN
) -> RefTensor:
    """1 - cos(x1, x2) where target is 1, max(0, cos(x1, x2) - margin) where it is -1.

    Open beside an infinity, and of a line of zeros, which has no direction.
    """
    dtype, shape, (first, second) = common_operands(input1, input2)
    if category(dtype) != FLOAT or len(input1.shape) not in (1, 2) or len(target.shape) != len(input1.shape) - 1:
        raise ValueError(f"cosine_embedding_loss of {dtype}, shapes {input1.shape}, {input2.shape}, {target.shape}")
    signs = expand(target.data, target.shape, shape[:-1])
    losses = [
        _of_angle([first[i] for i in line], [second[i] for i in line], sign, margin)
        for line, sign in zip(lines(shape, len(shape) - 1), signs, strict=True)
    ]
    return reduced(dtype, target.shape, losses, reduction)


def _of_angle(xs: list[float], ys: list[float], sign: float, margin: float) -> Value:
    if not all(map(isfinite, (*xs, *ys))):
        return nan if any(map(isnan, (*xs, *ys))) else UNSPECIFIED
    if not any(xs) or not any(ys) or sign not in (1, -1):
        return UNSPECIFIED
    dot = sum((Fraction(x) * Fraction(y) for x, y in zip(xs, ys, strict=True)), Fraction(0))
    first, second = (sum((Fraction(x) ** 2 for x in values), Fraction(0)) for values in (xs, ys))
    cosine = times(root_form(dot * dot / (first * second)), Fraction(-1 if dot < 0 else 1))
    if sign == 1:
        return total([Form(Fraction(1)), times(cosine, Fraction(-1))])
    return _positive(total([cosine, Form(-Fraction(margin))]))
