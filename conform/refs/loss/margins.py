"""Losses of margins, counts and distances: the documented formula exactly, rounded once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import copysign, inf, isfinite, isinf, isnan, nan, prod

from flint import arb

from conform.refs.exact.exponentials import LEAST_EXPONENT
from conform.refs.exact.linear_forms import Form, Value, exp_form, log_form, log_sum_exp_form, times, total, value_of
from conform.refs.exact.promotion import FLOAT, Scalar, category, common_operands
from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio, round_sqrt
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, lines, reduced_shape, wrap_dim
from conform.refs.loss.classes import check_weight, classes_of, nll_loss, weighted_mean_or_sum
from conform.refs.loss.elements import MEAN, NONE, reduced
from conform.refs.references import reference


def _mapped(op: str, operands: list[RefTensor], reduction: int, loss: Callable[..., Value]) -> RefTensor:
    """`loss` of the elements of the broadcast floats."""
    dtype, shape, columns = common_operands(*operands)
    if category(dtype) != FLOAT:
        raise ValueError(f"{op} is not defined for {dtype}")
    return reduced(dtype, shape, [loss(*row) for row in zip(*columns, strict=True)], reduction)


def _or_zero(value: Value) -> Value:
    """max(0, value) of a rational number, an infinity or NaN, which stays."""
    if isinstance(value, Form):
        return value if value.rational > 0 else Form()
    return Form() if value == -inf else value


@reference("aten::soft_margin_loss")
def soft_margin_loss(self: RefTensor, target: RefTensor, reduction: int = MEAN) -> RefTensor:
    """log(1 + e^(-target self))."""
    if self.shape != target.shape:
        raise NotImplementedError(f"the reference takes one shape, found {self.shape} and {target.shape}")
    return _mapped("soft_margin_loss", [self, target], reduction, _soft_margin)


def _soft_margin(x: float, y: float) -> Value:
    if not isfinite(x) or not isfinite(y):
        product = x * y
        return product if isnan(product) else Form() if product > 0 else inf
    return log_sum_exp_form([0, -Fraction(x) * Fraction(y)])


@reference("aten::hinge_embedding_loss")
def hinge_embedding_loss(
    self: RefTensor, target: RefTensor, margin: float = 1.0, reduction: int = MEAN
) -> RefTensor:
    """self where target is 1, max(0, margin - self) where it is -1; open elsewhere."""

    def loss(x: float, y: float) -> Value:
        if y not in (1, -1):
            return UNSPECIFIED
        return value_of(x) if y == 1 else _or_zero(total([value_of(margin), value_of(-x)]))

    return _mapped("hinge_embedding_loss", [self, target], reduction, loss)


@reference("aten::margin_ranking_loss")
def margin_ranking_loss(
    input1: RefTensor, input2: RefTensor, target: RefTensor, margin: float = 0.0, reduction: int = MEAN
) -> RefTensor:
    """max(0, -target (input1 - input2) + margin)."""

    def loss(x1: float, x2: float, y: float) -> Value:
        difference = total([value_of(x1), value_of(-x2)])
        factor = Fraction(-y) if isfinite(y) else -y
        return _or_zero(total([times(difference, factor), value_of(margin)]))

    return _mapped("margin_ranking_loss", [input1, input2, target], reduction, loss)


# ---- counts ------------------------------------------------------------------------------------------------------


@reference("aten::poisson_nll_loss")
def poisson_nll_loss(
    input: RefTensor, target: RefTensor, log_input: bool, full: bool, eps: float, reduction: int
) -> RefTensor:
    """e^input - target input by log_input, else input - target log(input + eps).

    full adds target log(target) - target + log(2 pi target) / 2 where target > 1. Open beside an infinity.
    """

    def loss(x: float, y: float) -> Value:
        if isnan(x) or isnan(y) or isinf(x) or isinf(y):
            return nan if isnan(x) or isnan(y) else UNSPECIFIED
        x, y = Fraction(x), Fraction(y)
        own = _of_log_rate(x, y) if log_input else _of_rate(x, y, Fraction(eps))
        return total([own, _stirling(y)]) if full and y > 1 else own

    return _mapped("poisson_nll_loss", [input, target], reduction, loss)


def _of_log_rate(x: Fraction, y: Fraction) -> Value:
    if x > 2048:  # e^2048 > 2^2900: beyond every format's range, whatever is added
        return inf
    return total([exp_form(max(x, Fraction(LEAST_EXPONENT))), Form(-y * x)])


def _of_rate(x: Fraction, y: Fraction, eps: Fraction) -> Value:
    rate = x + eps
    log = log_form(rate) if rate > 0 else -inf if rate == 0 else nan
    return total([Form(x), times(log, -y)])


def _stirling(y: Fraction) -> Value:
    half_log = times(total([log_form(y), Form(terms={(_log_two_pi, 0): Fraction(1)})]), Fraction(1, 2))
    return total([times(log_form(y), y), Form(-y), half_log])


def _log_two_pi(_: int) -> arb:
    return (2 * arb.pi()).log()


# ---- classes -----------------------------------------------------------------------------------------------------


@reference("aten::nll_loss2d_forward")
def nll_loss2d_forward(
    self: RefTensor, target: RefTensor, weight: RefTensor | None, reduction: int, ignore_index: int
) -> tuple[RefTensor, RefTensor]:
    """nll_loss_forward of (N, C, H, W) and targets (N, H, W): -weight[t] self[t], and the sum of the weights (P67)."""
    if self.dtype not in FLOAT_FORMATS or len(self.shape) != 4 or target.shape != (self.shape[0], *self.shape[2:]):
        raise ValueError(f"nll_loss2d of {self.dtype} {self.shape} and a target of {target.shape}")
    count = self.shape[1]
    weights, targets = check_weight(weight, count, self.dtype), classes_of(target, count, ignore_index)
    losses = [
        Form() if index is None else times(value_of(self.data[line[index]]), -weights[index])
        for line, index in zip(lines(self.shape, 1), targets, strict=True)
    ]
    total_weight = total(value_of(weights[index]) for index in targets if index is not None)
    output = weighted_mean_or_sum(self.dtype, target.shape, losses, total_weight, reduction)
    rounded = UNSPECIFIED if reduction == NONE else reduced(self.dtype, (), [total_weight], NONE).data[0]
    return output, RefTensor(self.dtype, (), [rounded])


@reference("aten::nll_loss2d")
def nll_loss2d(
    self: RefTensor, target: RefTensor, weight: RefTensor | None = None, reduction: int = MEAN, ignore_index: int = -100
) -> RefTensor:
    """The first result of nll_loss2d_forward."""
    return nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]


@reference("aten::nll_loss_nd")
def nll_loss_nd(
    self: RefTensor, target: RefTensor, weight: RefTensor | None = None, reduction: int = MEAN, ignore_index: int = -100
) -> RefTensor:
    """nll_loss of (C) and (N, C), and of (N, C, ...) with targets (N, ...)."""
    if len(self.shape) <= 2:
        return nll_loss(self, target, weight, reduction, ignore_index)
    if target.shape != (self.shape[0], *self.shape[2:]):
        raise ValueError(f"nll_loss_nd of {self.shape} and a target of {target.shape}")
    count, classes, *places = self.shape
    images = RefTensor(self.dtype, (count, classes, 1, prod(places)), self.data)
    pixels = RefTensor(target.dtype, (count, 1, prod(places)), target.data)
    loss = nll_loss2d(images, pixels, weight, reduction, ignore_index)
    return RefTensor(loss.dtype, target.shape, loss.data) if reduction == NONE else loss


@reference("aten::multi_margin_loss")
def multi_margin_loss(
    self: RefTensor,
    target: RefTensor,
    p: Scalar = 1,
    margin: Scalar = 1,
    weight: RefTensor | None = None,
    reduction: int = MEAN,
) -> RefTensor:
    """sum over i != t of weight[t] max(0, margin - x[t] + x[i])^p / C for each row x with target t.

    Open where the row is not finite, and where weight[t] may stand inside of the maximum and the power or not.
    """
    rows = _rows("multi_margin_loss", self)
    if isinstance(margin, complex):
        raise ValueError(f"a margin is real, found {margin}")
    if p not in (1, 2) or target.dtype != "int64" or target.shape not in (self.shape[:-1], (len(rows),)):
        raise ValueError(f"multi_margin_loss with p={p} and a target of {target.dtype} {target.shape}")
    count = self.shape[-1]
    weights, targets = check_weight(weight, count, self.dtype), classes_of(target, count, -1 - count)

    def loss(row: list[float], t: int) -> Value:
        w = weights[t]
        if not all(map(isfinite, (*row, w))) or w < 0 or (p == 2 and w not in (0, 1)):
            return UNSPECIFIED
        margins = (Fraction(margin) - Fraction(row[t]) + Fraction(x) for i, x in enumerate(row) if i != t)
        return Form(sum((Fraction(w) * max(Fraction(0), m) ** int(p) for m in margins), Fraction(0)) / count)

    losses = [loss(row, t) for row, t in zip(rows, targets, strict=True)]
    return reduced(self.dtype, self.shape[:-1], losses, reduction)


@reference("aten::multilabel_margin_loss")
def multilabel_margin_loss(self: RefTensor, target: RefTensor, reduction: int = MEAN) -> RefTensor:
    """sum of max(0, 1 - x[t] + x[i]) / C over the targets t, those before the first -1, and the i that are none."""
    rows, count = _rows("multilabel_margin_loss", self), self.shape[-1]
    if target.dtype != "int64" or target.shape != self.shape or not all(-1 <= t < count for t in target.data):
        raise ValueError(f"multilabel_margin_loss of {self.shape} and a target of {target.dtype} {target.shape}")

    def loss(row: list[float], listed: list[int]) -> Value:
        if not all(map(isfinite, row)):
            return UNSPECIFIED
        targets = listed[: listed.index(-1)] if -1 in listed else listed
        xs = list(map(Fraction, row))
        margins = (1 - xs[t] + x for t in targets for i, x in enumerate(xs) if i not in targets)
        return Form(sum((max(Fraction(0), m) for m in margins), Fraction(0)) / count)

    own = [target.data[i * count : (i + 1) * count] for i in range(len(rows))]
    losses = [loss(row, listed) for row, listed in zip(rows, own, strict=True)]
    return reduced(self.dtype, self.shape[:-1], losses, reduction)


def _rows(op: str, self: RefTensor) -> list[list[float]]:
    if self.dtype not in FLOAT_FORMATS or len(self.shape) not in (1, 2) or self.shape[-1] == 0:
        raise ValueError(f"{op} needs floats (N, C) or (C,) with classes, found {self.dtype} {self.shape}")
    return [[self.data[i] for i in line] for line in lines(self.shape, len(self.shape) - 1)]


# ---- distances ---------------------------------------------------------------------------------------------------


def _along(op: str, x1: RefTensor, x2: RefTensor, dim: int, keepdim: bool, line: Callable) -> RefTensor:
    """`line(dtype, first, second)` of the elements of the broadcast floats along the dim."""
    dtype, shape, (first, second) = common_operands(x1, x2)
    if category(dtype) != FLOAT:
        raise ValueError(f"{op} is not defined for {dtype}")
    dim = wrap_dim(dim, len(shape))
    data = [line(dtype, [first[i] for i in own], [second[i] for i in own]) for own in lines(shape, dim)]
    return RefTensor(dtype, reduced_shape(shape, [dim] if shape else [], keepdim), data)


@reference("aten::cosine_similarity")
def cosine_similarity(x1: RefTensor, x2: RefTensor, dim: int = 1, eps: float = 1e-8) -> RefTensor:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)); open beside an infinity, and where that is 0 / 0."""
    least = Fraction(eps) ** 2

    def line(dtype: str, xs: list[float], ys: list[float]) -> float | Unspecified:
        if not all(map(isfinite, (*xs, *ys))):
            return nan if any(map(isnan, (*xs, *ys))) else UNSPECIFIED
        dot = sum((Fraction(x) * Fraction(y) for x, y in zip(xs, ys, strict=True)), Fraction(0))
        squares = (sum((Fraction(x) ** 2 for x in values), Fraction(0)) for values in (xs, ys))
        first, second = (max(square, least) for square in squares)
        if first * second == 0:
            return UNSPECIFIED
        square = dot * dot / (first * second)
        return copysign(round_sqrt(dtype, square.numerator, square.denominator), 1 if dot > 0 else -1) if dot else 0.0

    return _along("cosine_similarity", x1, x2, dim, keepdim=False, line=line)


@reference("aten::pairwise_distance")
def pairwise_distance(
    x1: RefTensor, x2: RefTensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> RefTensor:
    """The p-norm of x1 - x2 + eps along the last dim; the reference has the orders 0, 1, 2 and infinity."""
    if p not in (0, 1, 2, inf):
        raise NotImplementedError(f"the reference of pairwise_distance has no order {p}")

    def line(dtype: str, xs: list[float], ys: list[float]) -> float:
        differences = [x - y if not (isfinite(x) and isfinite(y)) else None for x, y in zip(xs, ys, strict=True)]
        special = [d for d in differences if d is not None]
        if special and p != 0:
            return nan if any(map(isnan, special)) else inf
        pairs = [(x, y) for x, y, d in zip(xs, ys, differences, strict=True) if d is None]
        finite = [Fraction(x) - Fraction(y) + Fraction(eps) for x, y in pairs]
        return _norm(dtype, finite, p, len(special))

    return _along("pairwise_distance", x1, x2, -1, keepdim, line)


def _norm(dtype: str, numbers: list[Fraction], p: float, specials: int) -> float:
    """Of finite numbers; of order 0, which counts what is not 0, there may be `specials` others."""
    if p == 0:
        return round_ratio(dtype, specials + sum(x != 0 for x in numbers), 1)
    if p == 2:
        square = sum((x * x for x in numbers), Fraction(0))
        return round_sqrt(dtype, square.numerator, square.denominator)
    norm = sum(map(abs, numbers), Fraction(0)) if p == 1 else max(map(abs, numbers), default=Fraction(0))
    return round_ratio(dtype, norm.numerator, norm.denominator)
