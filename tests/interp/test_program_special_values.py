"""At special values a program leaves open what the op by itself leaves open, and gives what that gives."""

from __future__ import annotations

import numpy as np
import pytest

import conform
from conform import ops
from conform.call.schemas import schema
from conform.errors import ConformError
from conform.interp import semantics
from conform.interp.program import rules
from conform.own_ops import op

pytestmark = pytest.mark.usefixtures("own_ops")

SPECIAL = np.float32([-np.inf, np.inf, np.nan, 0.0, -0.0, 1.5, -1.5, 3e38])
PAIRS = tuple(part.reshape(-1) for part in np.meshgrid(SPECIAL, SPECIAL))
PROGRAMS = {
    1: {"argument": lambda call: lambda x: call(x), "computed": lambda call: lambda x: call(x * 1.0)},
    2: {"argument": lambda call: lambda x, y: call(x, y), "computed": lambda call: lambda x, y: call(x * 1.0, y * 1.0)},
}


def operands_of(name: str) -> int:
    """How many float tensors an elementwise op asks for, 0 where it asks for anything else, or is none."""
    asked = [one for one in schema(name).arguments if not one.has_default]
    is_of_tensors = len(asked) in PROGRAMS and all(one.type == "Tensor" for one in asked)
    return len(asked) if semantics.find(name) and semantics.traits_of(name).pointwise and is_of_tensors else 0


def differs(name: str, how: str) -> bool | None:
    """Whether the program says more than the op alone, or something else; None where it cannot use the op."""
    operands = (SPECIAL,) if operands_of(name) == 1 else PAIRS
    program = PROGRAMS[len(operands)][how](getattr(ops, name.removeprefix("aten::").partition(".")[0]))
    try:
        (expected,) = conform.golden(name, *operands).outcome.goldens
        found = conform.golden(op("test::special", reference=program), *operands)
    except ConformError:
        return None
    (golden,) = found.outcome.goldens
    told = np.isfinite(found.bound_ulp) if golden.budget is not None else np.ones(expected.value.shape, bool)
    told = told if golden.open is None else told & ~golden.open
    left_open = np.zeros(told.shape, bool) if expected.open is None else expected.open
    values = [one[told & ~left_open].astype(np.float64) for one in (found.value, expected.value)]
    return bool((told & left_open).any()) or not np.array_equal(*values, equal_nan=True)


@pytest.mark.parametrize("how", PROGRAMS[2])
def test_a_floored_quotient_may_be_that_of_python(how: str) -> None:
    """-1.5 // inf is -1.0, and inf // 1.5 NaN, where the quotients are -0.0 and inf (P32)."""
    program = PROGRAMS[2][how](lambda x, y: ops.div(x, y, rounding_mode="floor"))
    truth = conform.golden(op("test::floored", reference=program), *PAIRS)
    usable = PAIRS[1] != 0
    of_python = np.float32([float(x) // float(y) if y else 0.0 for x, y in zip(*PAIRS, strict=True)])
    assert (truth.error_ulp(of_python) <= truth.bound_ulp)[usable].all()
    assert np.isfinite(truth.bound_ulp)[usable].any()


def test_a_program_says_no_more_than_the_op_and_nothing_else() -> None:
    asked = {(name, how): differs(name, how) for name in sorted(rules.names() | rules.composed())
             if operands_of(name) for how in PROGRAMS[1]}
    assert [key for key, one in asked.items() if one] == []
    assert sum(one is False for one in asked.values()) >= 140
