"""What the kit has of each op: semantics, reference, input spec, tests and contract, and where something is missing."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tabulate import tabulate

from conform import refs
from conform.call.variants import plain_name
from conform.contracts.tables import contract_table
from conform.domains.engine.attribute import Draft
from conform.domains.engine.coverage import Coverage
from conform.domains.engine.dtypes import ALL
from conform.domains.engine.meta_tuple import results
from conform.domains.specs import OpSpec, spec_of, specs
from conform.interp import semantics
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS
from conform.suites import load
from conform.suites.filters import matches_op

DTYPE_GROUPS = {
    "integers": ("uint8", "int8", "int16", "int32", "int64"),
    "floats": ("float16", "bfloat16", "float32", "float64"),
    "complexes": ("complex64", "complex128"),
}

NO_BOUND = "none"  # as a contract: the row gives no bound
CALLS = 6  # of a dtype: enough for every value of a keyword that may decide the dtype of the result


@dataclass(frozen=True)
class Entry:
    """One op, `aten::add`, with all its overloads that any room knows.

    dtypes: of its data; contracts: the kinds of rows that hold for its results; without_bound: dtypes of results for
    which the contract has a row without a bound.
    """

    op: str
    overloads: tuple[str, ...]
    dtypes: tuple[str, ...]
    without_semantics: tuple[str, ...]
    without_reference: tuple[str, ...]
    has_spec: bool
    tests: int
    contracts: tuple[str, ...]
    without_bound: tuple[str, ...] = ()

    @property
    def holes(self) -> list[str]:
        """What is missing, in words; empty for an op that is complete."""
        found = [f"semantics of {name}" for name in self.without_semantics]
        found += [f"reference of {name}" for name in self.without_reference]
        found += [] if self.has_spec else ["input spec"]
        found += [] if self.tests else ["tests in the suite"]
        found += [f"bound of {' '.join(self.without_bound)} in the contract"] if self.without_bound else []
        return found


def inventory(
    suites: Sequence[str] = ("core",), contract: str = "opencl", ops: Sequence[str] = (), processes: int = 1
) -> list[Entry]:
    """An entry for every op that has semantics, a reference, a spec or a test, by name, of those that the globs `ops`
    match if there are any; so many `processes` make the tests."""
    defined, references = set(semantics.names()), set(refs.names())
    suite = load(suites, ops=ops, processes=processes)
    tests = Counter(packet(test.op) for test in suite.tests if isinstance(test.op, str))
    by_op: dict[str, set[str]] = {packet(spec.name): set() for spec in specs()} | {op: set() for op in tests}
    for name in defined | references:
        by_op.setdefault(packet(name), set()).add(name)
    return [
        _entry(op, tuple(sorted(overloads)), defined=defined, references=references, tests=tests[op], contract=contract)
        for op, overloads in sorted(by_op.items())
        if not ops or any(matches_op(name, glob) for name in (op, *overloads) for glob in ops)
    ]


def packet(name: str) -> str:
    """`aten::add` of `aten::add.Tensor`."""
    return name.partition(".")[0]


def _entry(
    op: str, overloads: tuple[str, ...], defined: set[str], references: set[str], tests: int, contract: str
) -> Entry:
    spec = spec_of(op)
    dtypes = tuple(spec.dtypes) if spec else ()
    rows = [
        (dtype, contract_table(contract).row(name, dtype))
        for name in overloads or (op,)
        for dtype in result_dtypes(name)
    ]
    return Entry(
        op=op,
        overloads=overloads,
        dtypes=dtypes,
        without_semantics=tuple(name for name in overloads if name not in defined),
        without_reference=tuple(name for name in overloads if name not in references),
        has_spec=spec is not None,
        tests=tests,
        contracts=tuple(sorted({NO_BOUND if row.kind == "unbounded" else row.kind for _, row in rows})),
        without_bound=tuple(dict.fromkeys(dtype for dtype, row in rows if row.kind == "unbounded")),
    )


@functools.cache
def result_dtypes(name: str) -> tuple[str, ...]:
    """What an overload's first result can be."""
    spec = spec_of(plain_name(name))
    if spec is None:
        return ()
    coverage = Coverage()
    calls = 1 if all(one.type.is_tensor or one.type.is_number for one in spec.arguments) else CALLS
    found = {_result_dtype(spec, dtype, number, coverage) for dtype in spec.dtypes for number in range(calls)}
    return tuple(dtype for dtype in ALL if dtype in found & FORMATS.keys())


def _result_dtype(spec: OpSpec, dtype: str, number: int, coverage: Coverage) -> str:
    """The first result's dtype in one valid call with all data in `dtype`."""
    draft = Draft(coverage, lambda label: Stream(0, spec.name, number, f"{dtype}.{label}"))
    draft.pins = spec.pins(dtype, every=True)
    return results(spec, spec.generate(draft))[0].dtype


def render(entries: Sequence[Entry]) -> str:
    """The table of `conform ops`, and every hole by name."""
    rows = [
        [
            entry.op,
            " ".join(name.removeprefix(entry.op) or "-" for name in entry.overloads),
            _mark(entry.overloads, entry.without_semantics),
            _mark(entry.overloads, entry.without_reference),
            "yes" if entry.has_spec else "no",
            entry.tests or "no",
            " ".join(entry.contracts),
            _dtypes(entry.dtypes),
        ]
        for entry in entries
    ]
    headers = ["op", "overloads", "semantics", "reference", "spec", "tests", "contract", "dtypes"]
    text = tabulate(rows, headers=headers, disable_numparse=True)
    holes = [f"{entry.op}: no {hole}" for entry in entries for hole in entry.holes]
    groups = [f"{name}: {' '.join(members)}" for name, members in DTYPE_GROUPS.items()]
    whole = ["no holes: every op has semantics, reference, spec, tests and bound"]
    return "\n".join([text, "", *groups, *(holes or whole)])


def _dtypes(dtypes: Sequence[str]) -> str:
    """The names, a whole group by the group's."""
    left = " ".join(dtypes)
    for name, members in DTYPE_GROUPS.items():
        left = left.replace(" ".join(members), name)
    return left


def _mark(overloads: Sequence[str], missing: Sequence[str]) -> str:
    if not overloads or len(missing) == len(overloads):
        return "no"
    return "yes" if not missing else f"{len(overloads) - len(missing)} of {len(overloads)}"
