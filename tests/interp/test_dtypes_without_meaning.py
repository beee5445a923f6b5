"""Of complex numbers an op has no golden where its spec says that the kit has no semantics for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from conform.domains.specs import spec_of
from conform.errors import InvalidArguments, Unjudged
from conform.interp import semantics
from conform.interp.evaluate import evaluate
from conform.selftest.agreement.calls import derived

CALLS = 1  # of each op
MOVES = ("cat", "concat", "concatenate", "stack", "gather", "where", "index_put", "_to_copy")  # whatever the elements
EQUALS = ("eq", "ne", "not_equal")  # part by part
QUOTIENTS = ("div", "divide")  # without a rounding mode div.Tensor's, which is defined


def complex_calls(op: str) -> Iterator[dict[str, Any]]:
    for witness in islice(derived(op, "float32", 0), CALLS):
        yield {name: made_complex(value) for name, value in witness.call.items()}


def made_complex(value: Any) -> Any:
    if isinstance(value, list):
        return [made_complex(one) for one in value]
    is_float = isinstance(value, np.ndarray) and value.dtype == np.float32
    return value.astype(np.complex64) if is_float else value


def has_complex(call: dict[str, Any]) -> bool:
    parts = [one for value in call.values() for one in (value if isinstance(value, list) else [value])]
    return any(isinstance(one, np.ndarray) and one.dtype == np.complex64 for one in parts)


def is_refused(op: str, call: dict[str, Any]) -> bool:
    try:
        evaluate(op, (), call)
    except (InvalidArguments, Unjudged):
        return True
    return False


@pytest.mark.one_in(6)
def test_complex_numbers_without_semantics_are_not_judged() -> None:
    without = [op for op in sorted(semantics.names()) if (spec := spec_of(op)) and "float32" in spec.dtypes
               and "complex64" not in spec.dtypes]  # fmt: skip
    judged = {
        op.removeprefix("aten::").partition(".")[0]
        for op in without for call in complex_calls(op)
        if has_complex(call) and not is_refused(op, call)
    }  # fmt: skip
    assert judged <= {*MOVES, *EQUALS, *QUOTIENTS}
    assert len(without) > 200
