"""Sums of products over shared indices: those of a call, of other factors, and in a declared compute mode."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from conform.call.bound import Bound
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.causes import Products, cut, halves
from conform.interp.blocks.converted import Change, Converted, unchanged
from conform.interp.blocks.tiles import Contraction
from conform.interp.golden import Golden, Outcome
from conform.interp.semantics import traits_of
from conform.numerics.formats import FORMATS


def products_of(call: Bound) -> Products | None:
    """The call's sums of products of changed factors, without the addend; None if it is no contraction."""
    contraction = traits_of(call.op).products
    if contraction is None:
        return None
    plain, addend = dict(call.arguments), contraction.addend
    if addend is not None and plain[addend] is not None:
        plain[addend] = np.zeros_like(plain[addend], shape=np.shape(plain[addend])[-1:])

    def sums(*changes: Change) -> Contraction:
        pairs = zip(contraction.factors, changes, strict=True)
        changed = {factor: Converted(plain[factor], change) for factor, change in pairs}
        return contraction.sums(**{**plain, **changed})

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
    """Sums whose magnitudes are what is lost where converted factors, or the second halves of theirs, are subnormal:
    one step each."""
    step = np.float32(2.0 ** (FORMATS["float32"].emin - bits + 1))
    small = np.float32(FORMATS["float32"].min_normal * 2.0 ** (2 * bits))

    def size(x: np.ndarray) -> np.ndarray:
        return np.where(np.isfinite(x), np.abs(x), np.float32(0))

    def steps(x: np.ndarray) -> np.ndarray:
        return np.where((x != 0) & (size(x) < small) & np.isfinite(x), step, np.float32(0))

    return [products(steps, size), products(size, steps), products(steps, steps)]
