"""Ops that are sums of products over shared indices: which arguments are the factors, and the op of other factors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from conform.call.arguments import Arguments, is_tensor
from conform.call.binding import bind
from conform.call.schemas import schema
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.causes import Products, cut, halves
from conform.interp.blocks.converted import Change, Converted, unchanged
from conform.interp.blocks.tiles import Contraction
from conform.interp.golden import Golden, Outcome
from conform.interp.ops.contraction import SUMS
from conform.numerics.formats import FORMATS


@dataclass(frozen=True)
class _Operands:
    """Names in the op's schema."""

    factors: tuple[str, str]
    addend: str | None = None


# Every op of the family contraction; an op that is not here has no factors that a compute mode may convert.
PRODUCTS = {
    "aten::mm": _Operands(("self", "mat2")),
    "aten::addmm": _Operands(("mat1", "mat2"), "self"),
    "aten::convolution": _Operands(("input", "weight"), "bias"),
}


def products_of(op: str, arguments: Arguments) -> Products | None:
    """The op's sums of products of changed factors, without the addend; None if it is no such op."""
    name = op.partition(".")[0]
    operands = PRODUCTS.get(name)
    if operands is None:
        return None
    bound = bind(schema(op), arguments.args, arguments.kwargs, is_tensor)
    if operands.addend is not None and bound[operands.addend] is not None:
        bound[operands.addend] = np.zeros_like(bound[operands.addend], shape=np.shape(bound[operands.addend])[-1:])

    def sums(*changes: Change) -> Contraction:
        pairs = zip(operands.factors, changes, strict=True)
        changed = {factor: Converted(bound[factor], change) for factor, change in pairs}
        return SUMS[name](**{**bound, **changed})

    return sums


def in_mode(outcome: Outcome, products: Products, arithmetic: Arithmetic) -> Outcome:
    """The outcome for a backend that declares a compute mode: what a factor loses below the normal range, where the
    conversion error is no longer relative, joins the magnitudes. Where converted factors make an infinity or NaN of a
    number, or another of one (they overflow, an infinity has no second half, 0 times infinity), the sums are open, as
    they are where a narrower accumulator may overflow in some order."""
    (golden,) = outcome.goldens
    mode = arithmetic.mode(golden.format)
    if golden.magnitude is None:
        return outcome
    largest, bits, honest = FORMATS[mode.accumulator].max_finite, mode.factor_bits, products(unchanged, unchanged)
    made = [] if bits is None else _split(products, bits) if mode.parts > 1 else _converted(products, bits)
    lost = [] if bits is None else _lost(products, bits)
    magnitude, beyond = np.array(golden.magnitude), None
    with np.errstate(all="ignore"):
        for place in honest.tiles():
            expected, size = (honest.part(array, place) for array in (golden.value, golden.magnitude))
            changed = size > largest
            for sums in made:
                changed |= ~_same_class(sum(_values(one.tile(*place)) for one in sums), expected)
            if lost:
                more = sum(one.tile(*place).magnitude for one in lost)
                honest.put(magnitude, place, size + more / mode.product_error)
            if changed.any():
                beyond = np.zeros(golden.value.shape, bool) if beyond is None else beyond
                honest.put(beyond, place, changed)
    golden = replace(golden, magnitude=magnitude)
    return Outcome((golden if beyond is None else golden.opened(beyond, "P35"),), outcome.refusal)


def _converted(products: Products, bits: int) -> list[list[Contraction]]:
    """The sums of factors that are rounded, and of such that are truncated."""
    changes = [partial(cut, bits=bits, nearest=nearest) for nearest in (True, False)]
    return [[products(change, change)] for change in changes]


def _split(products: Products, bits: int) -> list[list[Contraction]]:
    """The three products of halves, which are added up."""
    first, second = (lambda x: halves(x, bits)[0]), (lambda x: halves(x, bits)[1])
    return [[products(first, first), products(first, second), products(second, first)]]


def _values(golden: Golden) -> np.ndarray:
    """NaN for what the op leaves open (padding beside a factor that became infinite)."""
    return golden.value if golden.open is None else np.where(golden.open, np.nan, golden.value)


def _same_class(value: np.ndarray, expected: np.ndarray) -> np.ndarray:
    finite = np.isfinite(value) & np.isfinite(expected)
    return finite | (value == expected) | (np.isnan(value) & np.isnan(expected))


def _lost(products: Products, bits: int) -> list[Contraction]:
    """Whose magnitudes are what the sums lose where converted factors, or the second halves of theirs, are subnormal:
    one step each."""
    step = np.float32(2.0 ** (FORMATS["float32"].emin - bits + 1))
    small = np.float32(FORMATS["float32"].min_normal * 2.0 ** (2 * bits))

    def size(x: np.ndarray) -> np.ndarray:
        return np.where(np.isfinite(x), np.abs(x), np.float32(0))

    def steps(x: np.ndarray) -> np.ndarray:
        return np.where((x != 0) & (size(x) < small) & np.isfinite(x), step, np.float32(0))

    return [products(steps, size), products(size, steps), products(steps, steps)]
