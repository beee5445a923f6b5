"""The references as the oracle of a run: a golden judges only where the reference gives the same, bit for bit.

So the truth of every judged element is that of `refs`, and no verdict rests on the interpreter alone. What the
references cannot say (how far off an honest result may be) stays the contract's.
"""

from __future__ import annotations

from conform import refs
from conform.call.bound import Bound
from conform.errors import InvalidArguments, KitDefect, Unjudged
from conform.interp.golden import Outcome
from conform.selftest.agreement.compare import compare_results, reference_of

MOST_ELEMENTS = 4096  # of all tensors of a call, operands and results: references take up to milliseconds an element


def load() -> None:
    """Reads the references, which takes a second, before a backend runs."""
    refs.names()


def confirmed(call: Bound, outcome: Outcome | InvalidArguments) -> Outcome | InvalidArguments:
    """`outcome`, where the reference gives it as well.

    Raises Unjudged where there is no reference, the call is too large, or one side alone refuses it; KitDefect where
    the two give different results, for then I8 does not hold.
    """
    if call.meaning is not None or call.op not in refs.names():
        raise Unjudged(f"there is no reference for {call.op}")
    if _elements(call, outcome) > MOST_ELEMENTS:
        raise Unjudged(f"more than {MOST_ELEMENTS:,} elements, which are too many for the references")
    expected = reference_of(call)
    if isinstance(outcome, InvalidArguments):
        if isinstance(expected, ValueError):
            return outcome
        raise Unjudged(f"the interpreter refuses the call, and the reference does not: {outcome}")
    if isinstance(expected, Exception):
        said = "refuses the call" if isinstance(expected, ValueError) else "does not cover the call"
        raise Unjudged(f"the reference {said}: {expected}")
    found = compare_results(outcome, expected)
    if found.differences:
        raise KitDefect(
            f"defect of the kit, please report it: interpreter and reference differ in {found.differences} elements: "
            f"{found.first.what}, output {found.first.output}, index {found.first.index}: "
            f"{found.first.interpreter!r} and {found.first.reference!r}"
        )
    return outcome


def _elements(call: Bound, outcome: Outcome | InvalidArguments) -> int:
    goldens = outcome.goldens if isinstance(outcome, Outcome) else ()
    return sum(tensor.size for tensor in call.tensors()) + sum(golden.value.size for golden in goldens)
