"""Ops that are sums of products over shared indices: which arguments are the factors, and the op of other factors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from conform.contracts.arithmetic import Arithmetic
from conform.contracts.causes import Product, cut, halves
from conform.inputs.arguments import Arguments, is_tensor
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden, Outcome
from conform.interp.numerics.formats import FORMATS
from conform.schema import bind, schema


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


def product_of(op: str, arguments: Arguments) -> Product | None:
    """The op's factors and its sums of products without the addend, whose zeros go with any number of rows of the first
    factor; None if it is no such op, or of integers."""
    operands = PRODUCTS.get(op.partition(".")[0])
    if operands is None:
        return None
    bound = bind(schema(op), arguments.args, arguments.kwargs, is_tensor)
    lhs, rhs = (bound[name] for name in operands.factors)
    if operands.addend is not None and bound[operands.addend] is not None:
        bound[operands.addend] = np.zeros_like(bound[operands.addend], shape=np.shape(bound[operands.addend])[-1:])

    def sums(left: np.ndarray, right: np.ndarray) -> Golden:
        changed = {**bound, **dict(zip(operands.factors, (left, right), strict=True))}
        return evaluate(op, [], changed).goldens[0]

    return Product(lhs, rhs, sums)


def in_mode(outcome: Outcome, product: Product, arithmetic: Arithmetic) -> Outcome:
    """The outcome for a backend that declares a compute mode: what a factor loses below the normal range, where the
    conversion error is no longer relative, joins the magnitudes. Where converted factors make an infinity or NaN of a
    number, or another of one (they overflow, an infinity has no second half, 0 times infinity), the sums are open, as
    they are where a narrower accumulator may overflow in some order."""
    (golden,) = outcome.goldens
    mode = arithmetic.mode(golden.format)
    if golden.magnitude is None:
        return outcome
    golden = golden.opened(golden.magnitude > FORMATS[mode.accumulator].max_finite, "P35")
    if mode.factor_bits is None:
        return Outcome((golden,), outcome.refusal)
    with np.errstate(all="ignore"):
        made = _split(product, mode.factor_bits) if mode.parts > 1 else _converted(product, mode.factor_bits)
        changed = np.any([~_same_class(value, golden.value) for value in made], axis=0)
        magnitude = golden.magnitude + _lost(product, mode.factor_bits) / mode.product_error
    return Outcome((replace(golden, magnitude=magnitude).opened(changed, "P35"),), outcome.refusal)


def _converted(product: Product, bits: int) -> list[np.ndarray]:
    """The sums of factors that are rounded, and of such that are truncated."""
    factors = (product.lhs, product.rhs)
    return [_values(product.sums(*(cut(factor, bits, nearest) for factor in factors))) for nearest in (True, False)]


def _split(product: Product, bits: int) -> list[np.ndarray]:
    """The sum of the three products of halves."""
    (a1, a2), (b1, b2) = halves(product.lhs, bits), halves(product.rhs, bits)
    return [_values(product.sums(a1, b1)) + _values(product.sums(a1, b2)) + _values(product.sums(a2, b1))]


def _values(golden: Golden) -> np.ndarray:
    """NaN for what the op leaves open (padding beside a factor that became infinite)."""
    return golden.value if golden.open is None else np.where(golden.open, np.nan, golden.value)


def _same_class(value: np.ndarray, expected: np.ndarray) -> np.ndarray:
    finite = np.isfinite(value) & np.isfinite(expected)
    return finite | (value == expected) | (np.isnan(value) & np.isnan(expected))


def _lost(product: Product, bits: int) -> np.ndarray:
    """What the sums lose where converted factors, or the second halves of theirs, are subnormal: one step each."""
    step = np.float32(2.0 ** (FORMATS["float32"].emin - bits + 1))
    small = np.float32(FORMATS["float32"].min_normal * 2.0 ** (2 * bits))
    lhs, rhs = (np.where(np.isfinite(factor), np.abs(factor), np.float32(0)) for factor in (product.lhs, product.rhs))
    lost = [np.where((factor > 0) & (factor < small), step, np.float32(0)) for factor in (lhs, rhs)]
    return product.sums(lost[0], rhs).magnitude + product.sums(lhs, lost[1]).magnitude + product.sums(*lost).magnitude
