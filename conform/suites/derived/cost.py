"""What a golden costs: calls that would hold a check up for seconds are none of core; the suite `scale` has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from conform.domains.engine.meta_argument import tensor_metas
from conform.domains.engine.meta_tuple import MetaTuple, results
from conform.domains.engine.op_spec import OpSpec
from conform.interp.semantics import find, traits_of

QUICK_RESULTS = 1_100_000  # elements: a second or two of one process, of the slowest ops
QUICK_TERMS = 2**27  # of transforms: a tenth of that
MOST_RESULTS = 2**22  # elements: more hold a check up, whatever their op
MOST_OPERANDS = 2**26  # elements of a tensor that is given: some hundred megabytes
MOST_ROWS = 40  # of matrices that are solved exactly: a few tenths of a second, of complex numbers a second
MOST_PRODUCTS = 2**25  # some seconds of one process
MOST_STEP_PRODUCTS = 2**24  # of recurrent layers: two seconds of one process


def is_affordable(spec: OpSpec, call: MetaTuple) -> bool:
    """Whether its operands fit into memory, and its results are few and, if they are sums of products or of a recurrent
    layer, the products; if they are of systems, their rows."""
    given = (one for meta in call.arguments.values() for one in tensor_metas(meta))
    if any(one.numel > MOST_OPERANDS for one in given):
        return False
    shapes = _shapes(spec, call)
    counts = [prod(shape) for shape in shapes]
    matrices = traits_of(spec.name).matrices
    if matrices is not None:
        return all(max(call.arguments[name].shape[-2:]) <= MOST_ROWS for name in matrices.arguments)
    if {"hx", "params"} <= set(call.arguments):
        return _step_products(call) <= MOST_STEP_PRODUCTS
    products = traits_of(spec.name).products
    if products is not None:
        terms = _terms(call.arguments[products.factors[1]].shape, shapes[0])
        return counts[0] <= MOST_RESULTS and counts[0] * terms <= MOST_PRODUCTS
    return max(counts, default=0) <= MOST_RESULTS


def is_quick(spec: OpSpec, call: MetaTuple) -> bool:
    """Whether many such calls fit into a check of core."""
    counts = [prod(shape) for shape in _shapes(spec, call)]
    if find(spec.name).family == "fft":  # each result is a sum over a line, with factors of its own
        line = max(meta.shape[-1] for meta in call.arguments.values() if meta.type.is_tensor and meta.shape)
        return counts[0] * line <= QUICK_TERMS
    return max(counts, default=0) <= QUICK_RESULTS


def _step_products(call: MetaTuple) -> int:
    """Of a recurrent layer: each step of each row of the batch takes every weight once."""
    return prod(call.arguments["input"].shape[:2]) * sum(one.numel for one in tensor_metas(call.arguments["params"]))


def _shapes(spec: OpSpec, call: MetaTuple) -> list[tuple[int, ...]]:
    """Those of the tensors among its results."""
    return [one.shape for one in results(spec, call.arguments) if one.type.is_tensor]


def _terms(factor: Sequence[int], result: Sequence[int]) -> int:
    """Over how many elements of the second factor each sum goes: what is none of its sizes is none of the result's."""
    own = Counter(factor) - Counter(result)
    return prod(own.elements())
