"""The sums of products of a call, of factors that are changed where they are read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from conform.call.bound import Bound, bound_call
from conform.interp import semantics
from conform.interp.blocks.converted import unchanged
from conform.interp.evaluate import evaluate
from conform.judging.products import products_of
from conform.suites import load
from conform.suites.cases import Selection
from conform.suites.select import select

pytestmark = pytest.mark.one_in(4)

OPS = sorted(name for name in semantics.names() if semantics.traits_of(name).products is not None)
MOST_ELEMENTS = 2**9


def calls(op: str) -> Iterator[Bound]:
    """The plain calls of core that are no refusals, small ones of floats."""
    suite = load(["core"], ops=[op])
    for group in select(suite, Selection([op], values="typical", layouts="as-written")):
        arguments, test = group[0].draw.arguments(), group[0].draw.test
        arrays = [one for one in (*arguments.args, *arguments.kwargs.values()) if isinstance(one, np.ndarray)]
        if test.domain is None and group[0].dtype == "float32" and all(one.size <= MOST_ELEMENTS for one in arrays):
            yield bound_call(op, arguments.args, arguments.kwargs)


@pytest.mark.parametrize("op", OPS)
def test_factors_that_are_not_changed_give_what_the_call_gives(op: str) -> None:
    """Without the addend, which is left out of both: whatever the keywords, alpha above all."""
    compared = 0
    for bound in calls(op):
        sums, addend = products_of(bound)(unchanged, unchanged), semantics.traits_of(op).products.addend
        plain = dict(bound.arguments)
        if addend is not None and plain[addend] is not None:
            plain[addend] = np.zeros_like(plain[addend], shape=np.shape(plain[addend])[-1:])
        (golden,) = evaluate(op, (), plain).goldens
        np.testing.assert_array_equal(sums.golden().value, golden.value, strict=True)
        compared += golden.value.size
    assert compared
