"""Every rule beside difference quotients of the op's reference, on calls that its spec draws."""

from __future__ import annotations

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.interp.gradients import rules
from conform.interp.gradients.evaluation import Place
from conform.interp.gradients.rules import Rule
from tests.interp.gradients.quotients import calls, compared, quotient

CALLS = 8


@pytest.mark.rotating(24)
@pytest.mark.parametrize("op", rules.names())
def test_a_rule_gives_the_quotients_of_the_reference(op: str) -> None:
    found = [compared(*each) for each in calls(op, CALLS)]
    wrong = [one for _, those in found for one in those]
    assert not wrong, "\n".join(wrong)
    assert sum(count for count, _ in found) > 0, f"{op}: no element of any call was compared"


@pytest.mark.parametrize(
    ("op", "factor"), [("aten::mul.Tensor", -1.0), ("aten::exp", 1.0 + 2.0**-20), ("aten::amax", 0.0)]
)
def test_a_wrong_rule_is_noticed(op: str, factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    own = rules.find(op)

    def scaled(arguments, cotangents, results, name):  # type: ignore[no-untyped-def]
        return own.function(arguments, cotangents, results, name) * factor

    monkeypatch.setitem(rules._table, op, Rule(own.operands, own.outputs, scaled, own.text))
    assert any(compared(*each)[1] for each in calls(op, CALLS))


def test_the_quotient_is_that_of_the_reference() -> None:
    """d/dx of 3 x^2 at 2 is 12, and the error that is allowed says so."""
    call = bound_call("aten::square", [np.array([2.0])], {})
    found, error = quotient(call, [np.array([3.0])], Place("self"))
    assert abs(found[0] - 12) <= error[0] < 1e-8
