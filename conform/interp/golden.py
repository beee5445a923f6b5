"""What the interpreter says about one output of an op: the rounded value, the real number behind it, and its
freedoms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from conform.interp.blocks.blocks import flat
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.real import Real


@dataclass(frozen=True)
class Ties:
    """Index outputs whose choice among equal elements is free: index `i` along `dim` at a position is as right as the
    expected one if both carry the same rank, and unless it may be `repeated` no index occurs twice along `dim`; if it
    names an element `so_far`, none is beyond its own place. `ranks` has the shape of the tensor that is indexed, of
    which the output names `count` elements along `dim`, by default all; also where only the elements `numbers` of the
    output, [n] in C order, are meant."""

    dim: int
    ranks: np.ndarray
    numbers: np.ndarray | None = None
    count: int | None = None
    repeated: bool = False
    so_far: bool = False


@dataclass(frozen=True)
class Golden:
    """One output of an op.

    `value` is correctly rounded, in the storage dtype of `format`. `real` is the number before rounding (for complex
    formats with a last axis of two components), None where `value` is the exact answer. Accumulations carry `terms`
    (how many) and `magnitude` (the sum of their magnitudes), perhaps `grid` (a power of two of which all terms are
    multiples), are `divided` if a division follows, by whose divisor magnitude and grid are divided, too, and
    `amplified` by what may multiply a product that has lost digits near 0 already; composite ops
    carry `budget`, the absolute error that an honest implementation in the compute type may have (`statistical`
    where it holds of independent errors alone), and where terms cancel, `scale`: their magnitude, beside which a bound
    is wide or narrow (infinite: it is not known). `open` marks elements that the op's meaning leaves open, by
    `open_rule`. Of a complex number `normwise` says that its error is the magnitude of the difference, not that of each
    part. `bounded_as` names the op whose contract holds, where it is not the op's own. `strides`, in elements,
    are those of the output in memory, where the op's meaning says them. `undocumented`: any tensor is right, whatever
    its dtype and shape, which `format` and `value` do not tell, and None. `is_none`: nobody wants the output, which is
    None and no tensor (P134); `value` has no elements then.
    """

    format: Format
    value: np.ndarray
    real: Real | None = None
    terms: np.ndarray | int | None = None
    magnitude: np.ndarray | None = None
    grid: np.ndarray | None = None
    divided: bool = False
    amplified: np.ndarray | float = 1.0
    budget: np.ndarray | None = None
    scale: np.ndarray | None = None
    statistical: bool = False
    open: np.ndarray | None = None
    open_rule: str | None = None
    zero_sign_free: bool | np.ndarray = False
    ties: Ties | None = None
    normwise: bool = False
    is_none: bool = False
    bounded_as: str | None = None
    strides: tuple[int, ...] | None = None
    undocumented: bool = False
    alternatives: tuple[Golden, ...] = ()

    @staticmethod
    def none() -> Golden:
        """An output that nobody wants."""
        return Golden(FORMATS["float32"], np.empty(0, np.float32), is_none=True)

    @staticmethod
    def derived(fmt: Format, value: np.ndarray, real: Real, ball: Ball, **freedoms: Any) -> Golden:
        """A composite op's, of whose numbers an honest implementation has `ball`; `freedoms`: the other fields."""
        return Golden(fmt, value, real, **freedoms).but_derived(ball)

    @staticmethod
    def of_nothing_documented(rule: str) -> Golden:
        """An output that any tensor may be, by the policy rule `rule`: its dtype, shape and elements are left open."""
        return Golden(FORMATS["int64"], np.empty(0, np.int64), open_rule=rule, undocumented=True)

    def open_as(self, actual: np.ndarray) -> Golden:
        """An undocumented output's golden in the dtype and shape of an answer, all of which is open."""
        return replace(self, format=format_of(actual), value=actual, open=np.ones(actual.shape, bool))

    def but_derived(self, ball: Ball) -> Golden:
        """This golden, of whose numbers an honest implementation has `ball`."""
        scale = None if ball.cancelled is None else np.broadcast_to(ball.scale, ball.rad.shape)
        return replace(self, budget=ball.rad, scale=scale)

    def but_bounded_as(self, op: str) -> Golden:
        """This golden, and its alternatives, as results of `op`, but for what has the bound of another op already."""
        others = tuple(other.but_bounded_as(op) for other in self.alternatives)
        return replace(self, bounded_as=self.bounded_as or op, alternatives=others)

    def opened(self, mask: np.ndarray, rule: str) -> Golden:
        """This golden with the elements of `mask` left open by the policy rule `rule`."""
        if not mask.any():
            return self
        open_, rules = (mask, rule) if self.open is None else (self.open | mask, f"{self.open_rule}, {rule}")
        return replace(self, open=open_, open_rule=rules)

    def on_grid(self, grid: np.ndarray | None) -> Golden:
        """This golden of sums, the terms of which are multiples of `grid`, which broadcasts to it, if they have one."""
        return self if grid is None else replace(self, grid=np.broadcast_to(grid, self.value.shape))

    def rearranged(self, move: Callable[[np.ndarray], np.ndarray]) -> Golden:
        """This golden, and its alternatives, with `move`, which only rearranges elements, applied to every array."""
        names = ("value", "terms", "magnitude", "grid", "amplified", "budget", "scale", "open", "zero_sign_free")
        arrays = {name: getattr(self, name) for name in names if isinstance(getattr(self, name), np.ndarray)}
        moved = {name: move(part) for name, part in arrays.items() if part.ndim or name == "value"}
        real = None if self.real is None else self.real.map_parts(move)
        others = tuple(other.rearranged(move) for other in self.alternatives)
        return replace(self, **moved, real=real, alternatives=others)

    def block(self, place: slice | np.ndarray) -> Golden:
        """The golden of the elements `place` in C order, [n], with no copy of the others. Of complex numbers `place` is
        a slice."""

        def cut(array: np.ndarray) -> np.ndarray:
            parts = array.shape[self.value.ndim :]  # of complex numbers two, beside each value
            if not parts:
                return flat(array, place)
            count = math.prod(parts)
            return flat(array, slice(count * place.start, count * place.stop)).reshape(-1, *parts)

        ties = self.ties and replace(self.ties, numbers=_numbers(place))
        others = tuple(other.block(place) for other in self.alternatives)
        return replace(replace(self, alternatives=()).rearranged(cut), ties=ties, alternatives=others)

    def or_else(self, *others: Golden) -> Golden:
        """This golden, with `others` (and their own alternatives) accepted as well."""
        leaves = [leaf for other in others for leaf in (replace(other, alternatives=()), *other.alternatives)]
        return replace(self, alternatives=self.alternatives + tuple(leaves))


def wanted(output_mask: Sequence[bool], *gradients: Callable[[], Golden]) -> tuple[Golden, ...]:
    """Those of the gradients that output_mask wants; None in the places of the others."""
    pairs = zip(output_mask, gradients, strict=True)
    return tuple(gradient() if is_wanted else Golden.none() for is_wanted, gradient in pairs)


def _numbers(place: slice | np.ndarray) -> np.ndarray:
    return np.arange(place.start, place.stop) if isinstance(place, slice) else place


class Given(NamedTuple):
    """What outputs that chance has a part in should be, had it chosen as they show; and the fault of a whole output
    that hardly any honest draw has, None where there is none."""

    goldens: tuple[Golden, ...]
    fault: str | None


@dataclass(frozen=True)
class Outcome:
    """All outputs of an op; `refusal` names the policy rule by which a backend may raise instead of answering. `given`,
    of outputs of the goldens' dtypes and shapes, where chance has a part in them: what the goldens then are.
    `updated` names the arguments, of a module the buffers, of whose contents after the call the last goldens are."""

    goldens: tuple[Golden, ...]
    refusal: str | None = None
    given: Callable[[Sequence[np.ndarray]], Given] | None = None
    updated: tuple[str, ...] = ()

    @property
    def results(self) -> tuple[Golden, ...]:
        """The goldens of what the call returns."""
        return self.goldens[: len(self.goldens) - len(self.updated)]

    @property
    def left(self) -> dict[str, Golden]:
        """The goldens of what it updates, by name."""
        return dict(zip(self.updated, self.goldens[len(self.results) :], strict=True))

    def of_results(self) -> Outcome:
        """This outcome of what the call returns alone."""
        return replace(self, goldens=self.results, updated=())

    def holder_of(self, number: int) -> str | None:
        """The name of what holds the output of that number after the call; None of one that is returned."""
        return self.updated[number - len(self.results)] if number >= len(self.results) else None
