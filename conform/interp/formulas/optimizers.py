"""A step of an optimizer: its documented formula on reals, and on the balls of what honest implementations have of it.

What a formula reads are the elements of a tensor and those of its state in the same places, by name; what it gives are
the elements that are left, by the names of the arguments that hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import prod

import numpy as np

from conform.interp.blocks.assembly import Assembly
from conform.interp.blocks.blocks import flat, spans
from conform.interp.formulas.number_kinds import Balls, Fractions, Kind, Number, Numbers, Reals
from conform.interp.golden import Golden
from conform.numerics.escalate import resolved
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format

Elements = Mapping[str, Number]
Formula = Callable[[Kind, Elements], dict[str, Number]]
Open = Callable[[Mapping[str, np.ndarray], Mapping[str, np.ndarray]], dict[str, np.ndarray]]


@dataclass(frozen=True)
class Step:
    """`formula`: what is left of the elements; `open_` says of which the documentation says nothing (P212), by the
    elements and what is left of them; scale: what the gradients are divided by before, or None."""

    formula: Formula
    open_: Open
    scale: float | None

    def left(self, tensors: Mapping[str, Sequence[np.ndarray]]) -> dict[str, list[Golden]]:
        """The goldens of what a step leaves of the tensors of parameters of one dtype, a list as of each name."""
        joined = {name: _joined(each) for name, each in tensors.items()}
        shapes, count, whole = [one.shape for one in tensors["self"]], joined["self"].size, {}
        for place in spans(count):
            for name, golden in self._block({name: flat(one, place) for name, one in joined.items()}).items():
                whole.setdefault(name, Assembly(count)).fill(place, golden)
        return {name: list(_parted(one.golden(), shapes)) for name, one in whole.items()}

    def _block(self, tensors: Mapping[str, np.ndarray]) -> dict[str, Golden]:
        fmt = format_of(tensors["self"])
        x = {name: one.astype(np.float64) for name, one in tensors.items()}
        if self.scale is None:
            return self._goldens(fmt, self.formula, x)
        goldens = self._goldens(fmt, partial(_of_scaled, self.formula, self.scale), x)
        if held_format(fmt) == fmt:
            return goldens
        # What is written back is rounded; a kernel may go on with that, or with the quotient (P213).
        x["grads"] = goldens["grads"].value.astype(np.float64)
        rounded = self._goldens(fmt, self.formula, x)
        return {name: golden.or_else(rounded[name]) if name in rounded else golden for name, golden in goldens.items()}

    def _goldens(self, fmt: Format, formula: Formula, x: Mapping[str, np.ndarray]) -> dict[str, Golden]:
        reals, balls = (formula(kind, _in(kind, x)) for kind in (Reals(), Balls(held_format(fmt))))
        count, goldens = x["self"].shape, {}
        for name, real in reals.items():

            def of_numbers(rows: np.ndarray, name: str = name) -> np.ndarray:
                some = {each: values[rows][:, None] for each, values in x.items()}
                return formula(Numbers(), _in(Numbers(), some))[name]

            real = _where_infinite(formula, x, name, real)
            rational = partial(_rational, formula, x, name)
            value, real = resolved(fmt, real.broadcast_to(count).reshape((-1, 1)), of_numbers, rational)
            value, real = value.reshape(count), real.reshape(count)
            goldens[name] = Golden.derived(fmt, value, real, balls[name], zero_sign_free=True)
        open_ = self.open_(x, {name: golden.value.astype(np.float64) for name, golden in goldens.items()})
        return {name: golden.opened(open_[name], "P212") if name in open_ else golden
                for name, golden in goldens.items()}  # fmt: skip


def _joined(tensors: Sequence[np.ndarray]) -> np.ndarray:
    """The elements of all, one tensor after the other; those of a single one as they lie."""
    return tensors[0] if len(tensors) == 1 else np.concatenate([tensor.reshape(-1) for tensor in tensors])


def _parted(golden: Golden, shapes: Sequence[tuple[int, ...]]) -> Iterator[Golden]:
    """The goldens of tensors of these shapes, whose elements are those of `golden`."""
    start = 0
    for shape in shapes:
        part = golden.block(slice(start, start + prod(shape)))
        start += prod(shape)
        yield _unless_closed(part).rearranged(lambda array, shape=shape: array.reshape(shape))


def _unless_closed(golden: Golden) -> Golden:
    """A golden of which nothing is open names no rule for that."""
    others = tuple(map(_unless_closed, golden.alternatives))
    is_closed = golden.open is None or not golden.open.any()
    return replace(golden, alternatives=others, **({"open": None, "open_rule": None} if is_closed else {}))


def _in(kind: Kind, x: Mapping[str, np.ndarray]) -> Elements:
    return {name: kind.elements(values) for name, values in x.items()}


def _where_infinite(formula: Formula, x: Mapping[str, np.ndarray], name: str, real: Real) -> Real:
    """The reals, of which those that leave float64's range beside an infinity are what 1 and -1 make beside it in the
    place of numbers, if that is no number."""
    unknown = np.isinf(real.radius) & ~np.logical_and.reduce([np.isfinite(values) for values in x.values()])
    if not unknown.any():
        return real
    signs = {each: np.where(np.isfinite(values), np.sign(values), values) for each, values in x.items()}
    of_signs = formula(Reals(), _in(Reals(), signs))[name]
    return where(unknown & ~np.isfinite(of_signs.hi), of_signs, real)


def _rational(formula: Formula, x: Mapping[str, np.ndarray], name: str, index: tuple[int, int]) -> Fraction | None:
    """What is left of one element, where that is a fraction of those of its operands that are."""
    left = formula(Fractions(), _in(Fractions(), {each: values[index[0]] for each, values in x.items()}))[name]
    return left if isinstance(left, Fraction) else None


def _of_scaled(formula: Formula, scale: float, kind: Kind, x: Elements) -> dict[str, Number]:
    unscaled = x["grads"] / kind.number(scale)
    return {**formula(kind, {**x, "grads": unscaled}), "grads": unscaled}


def _class(x: np.ndarray) -> np.ndarray:
    """Infinities and NaN as they are, which no number beside them changes."""
    return np.where(np.isfinite(x), 0.0, x)


# --- The algorithms ---------------------------------------------------------------------------------------------------


def _gradient(kind: Kind, x: Elements, weight_decay: float, maximize: bool) -> Number:
    """g <- -g where maximize, then g <- g + weight_decay * parameter where that is not 0."""
    gradient = -x["grads"] if maximize else x["grads"]
    return gradient + kind.number(weight_decay) * x["self"] if weight_decay else gradient


@dataclass(frozen=True)
class Adam:
    """torch.optim.Adam, or AdamW where weight decay is `decoupled`; `step` is the number of this step."""

    step: float
    lr: float
    beta1: float
    beta2: float
    weight_decay: float
    eps: float
    amsgrad: bool
    maximize: bool
    decoupled: bool

    def __call__(self, kind: Kind, x: Elements) -> dict[str, Number]:
        parameter, m, v = x["self"], x["exp_avgs"], x["exp_avg_sqs"]
        g = _gradient(kind, x, 0.0 if self.decoupled else self.weight_decay, self.maximize)
        if self.decoupled and self.weight_decay:
            parameter = self._decayed(kind, parameter)
        m, v = self._first_moment(kind, m, g), self._second_moment(kind, v, g)
        largest = kind.larger(x["max_exp_avg_sqs"], v) if self.amsgrad else v
        left = {"self": self._moved(kind, parameter, m, largest), "exp_avgs": m, "exp_avg_sqs": v}
        return {**left, "max_exp_avg_sqs": largest} if self.amsgrad else left

    def _decayed(self, kind: Kind, parameter: Number) -> Number:
        share = kind.number(self.lr) * kind.number(self.weight_decay)
        return kind.either(
            lambda: parameter - share * parameter,
            lambda: parameter * (kind.number(1.0) - share),
        )

    def _first_moment(self, kind: Kind, m: Number, g: Number) -> Number:
        beta = kind.number(self.beta1)
        share = kind.number(1.0) - beta
        return kind.either(
            lambda: beta * m + share * g,
            lambda: m + share * (g - m),
            lambda: g + beta * (m - g),
        )

    def _second_moment(self, kind: Kind, v: Number, g: Number) -> Number:
        beta = kind.number(self.beta2)
        share, g = kind.number(1.0) - beta, kind.beside(v, g)
        return kind.either(
            lambda: beta * v + share * (g * g),
            lambda: beta * v + share * g * g,
        )

    def _moved(self, kind: Kind, parameter: Number, m: Number, v: Number) -> Number:
        lr, eps = kind.number(self.lr), kind.number(self.eps)
        first, second = (kind.complement_of_power(beta, self.step) for beta in (self.beta1, self.beta2))

        def of_roots() -> tuple[Number, Number]:
            return lr / first, kind.root(v) / kind.root(second) + eps

        def product_first() -> Number:
            rate, divisor = of_roots()
            return parameter - rate * m / divisor

        def quotient_first() -> Number:
            rate, divisor = of_roots()
            return parameter - rate * (m / divisor)

        return kind.either(
            lambda: parameter - lr * (m / first) / (kind.root(v / second) + eps),
            product_first,
            quotient_first,
        )

    def open_(self, x: Mapping[str, np.ndarray], left: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Infinite moments and parameters, of which the ways to write an average or a decay make infinities or NaN;
        second moments below 0, which no step leaves; and the larger one of a number and NaN."""
        g = _class(x["grads"]) * (-1.0 if self.maximize else 1.0)
        if self.weight_decay and not self.decoupled:
            g = g + _class(x["self"])
        averages = (np.isinf(x["exp_avgs"]) | np.isinf(g)) & ~(np.isnan(x["exp_avgs"]) | np.isnan(g))
        parameters = np.isinf(x["exp_avgs"]) | (x["exp_avg_sqs"] < 0)
        if self.weight_decay and self.decoupled:
            parameters |= np.isinf(x["self"])
        found = {"exp_avgs": averages, "max_exp_avg_sqs": np.zeros(g.shape, bool)}
        if self.amsgrad:
            found["max_exp_avg_sqs"] = np.isnan(x["max_exp_avg_sqs"]) != np.isnan(left["exp_avg_sqs"])
            parameters = parameters | found["max_exp_avg_sqs"]
        found["self"] = parameters & ~(np.isnan(x["self"]) | np.isnan(x["exp_avgs"]) | np.isnan(g))
        return found


@dataclass(frozen=True)
class SGD:
    """torch.optim.SGD."""

    weight_decay: float
    momentum: float
    lr: float
    dampening: float
    nesterov: bool
    maximize: bool
    is_first_step: bool

    def __call__(self, kind: Kind, x: Elements) -> dict[str, Number]:
        g, left = _gradient(kind, x, self.weight_decay, self.maximize), {}
        if self.momentum:
            momentum = kind.number(self.momentum)
            moved = g if self.is_first_step else self._moved(kind, momentum * x["momentum_buffer_list"], g)
            left["momentum_buffer_list"] = moved
            g = g + momentum * moved if self.nesterov else moved
        return {"self": x["self"] - kind.number(self.lr) * g, **left}

    def _moved(self, kind: Kind, kept: Number, g: Number) -> Number:
        return kept + (kind.number(1.0) - kind.number(self.dampening)) * g

    def open_(self, x: Mapping[str, np.ndarray], left: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Nothing: every way to write it makes the same infinities and NaN."""
        return {}


@dataclass(frozen=True)
class Adagrad:
    """torch.optim.Adagrad; `step` is the number of this step."""

    step: float
    lr: float
    lr_decay: float
    weight_decay: float
    eps: float
    maximize: bool

    def __call__(self, kind: Kind, x: Elements) -> dict[str, Number]:
        g = _gradient(kind, x, self.weight_decay, self.maximize)
        unseen = kind.beside(x["state_sums"], g)
        total = x["state_sums"] + unseen * unseen
        before = kind.number(self.step) - kind.number(1.0)
        rate = kind.number(self.lr) / (kind.number(1.0) + before * kind.number(self.lr_decay))
        divisor = kind.root(total) + kind.number(self.eps)
        moved = kind.either(lambda: rate * g / divisor, lambda: rate * (g / divisor))
        return {"self": x["self"] - moved, "state_sums": total}

    def open_(self, x: Mapping[str, np.ndarray], left: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Sums of squares below 0, which no step leaves."""
        return {"self": (x["state_sums"] < 0) & ~(np.isnan(x["self"]) | np.isnan(x["grads"]))}
