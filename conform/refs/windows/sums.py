"""Weighted sums of a few elements, exact and rounded once: what pooling and interpolation compute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite

from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified

Term = tuple[Fraction, float]  # weight, element


def weighted_sum(dtype: str, terms: Iterable[Term]) -> float | Unspecified:
    """The sum of weight * element; open where an infinity or NaN has the weight 0: 0 * inf, or no term at all."""
    terms = list(terms)
    special = [(weight, x) for weight, x in terms if not isfinite(x)]
    if any(weight == 0 for weight, _ in special):
        return UNSPECIFIED
    if special:
        return sum(x if weight > 0 else -x for weight, x in special)
    total = sum((weight * Fraction(x) for weight, x in terms), Fraction(0))
    return round_ratio(dtype, total.numerator, total.denominator)


def check_floats(op: str, *tensors: RefTensor) -> str:
    """The one dtype of the tensors, a float."""
    dtypes = {tensor.dtype for tensor in tensors}
    if len(dtypes) != 1 or not dtypes <= set(FLOAT_FORMATS):
        raise ValueError(f"{op} needs floats of one dtype, found {sorted(dtypes)}")
    return dtypes.pop()


def check_planes(op: str, shape: Sequence[int], spatial: int, batched: bool = False) -> None:
    """(N, C, *), or unless `batched` (C, *), with `spatial` dims, and no size 0 but N's."""
    if len(shape) != spatial + 2 and (batched or len(shape) != spatial + 1):
        raise ValueError(f"{op} takes (N, C, *){'' if batched else ' or (C, *)'} of {spatial} dims, found {shape}")
    if 0 in shape[-spatial - 1 :]:
        raise ValueError(f"{op} takes no size 0 but that of the batch, found {shape}")
