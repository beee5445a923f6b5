"""What a golden costs: calls that would hold a check up for seconds are none of core; the suite `scale` has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from conform.domains.engine.meta_tuple import MetaTuple, results
from conform.domains.engine.op_spec import OpSpec
from conform.interp.semantics import traits_of

MOST_RESULTS = 2**25  # elements: what `Limits` allows a result
MOST_PRODUCTS = 2**25  # some seconds of one process


def is_affordable(spec: OpSpec, call: MetaTuple) -> bool:
    """Whether its results are few and, if they are sums of products, these."""
    shapes = [one.shape for one in results(spec, call.arguments) if one.type.is_tensor]
    counts = [prod(shape) for shape in shapes]
    products = traits_of(spec.name).products
    if products is not None:
        terms = _terms(call.arguments[products.factors[1]].shape, shapes[0])
        return counts[0] <= MOST_RESULTS and counts[0] * terms <= MOST_PRODUCTS
    return max(counts, default=0) <= MOST_RESULTS


def _terms(factor: Sequence[int], result: Sequence[int]) -> int:
    """Over how many elements of the second factor each sum goes: what is none of its sizes is none of the result's."""
    own = Counter(factor) - Counter(result)
    return prod(own.elements())
