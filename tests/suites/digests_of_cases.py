"""Prints a digest of what each small case of core is given, of the ops of a family, in the order of the suite or in the
opposite one: `python -m tests.suites.digests_of_cases FAMILY [reversed]`."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from functools import partial

from conform.call.arguments import tensors
from conform.documents.limits import Limits
from conform.errors import Unjudged
from conform.interp import semantics
from conform.running.sent import attempt, typical_of
from conform.suites import load
from conform.suites.cases import Case, Selection
from conform.suites.select import select

MOST = 2**12  # elements of a case's first tensor


def digests(family: str, is_reversed: bool) -> Iterator[tuple[str, str]]:
    """(id, digest) of the cases."""
    ops = [op for op in semantics.names() if semantics.find(op).family == family]
    groups = select(load(["core"], ops=ops), Selection(ops=ops, layouts="as-written"))
    cases = [case for group in groups for case in group]
    for case in reversed(cases) if is_reversed else cases:
        if case.times == 1 and is_small(case):
            typical = attempt(partial(typical_of, case, Limits()))
            if not isinstance(typical, Unjudged):
                given = case.arguments(typical)
                told = [(one.dtype.name, one.shape, one.tobytes()) for one in tensors(given)]
                yield case.id, hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def is_small(case: Case) -> bool:
    return all(one.size <= MOST for one in tensors(case.draw.outline()))


if __name__ == "__main__":
    print(json.dumps(dict(digests(sys.argv[1], "reversed" in sys.argv))))
