"""The suites that are made from the argument specs: `generated`, calls that are valid, and `negative`, that are not."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from conform.domains.engine.coverage import Coverage
from conform.domains.engine.meta_tuple import MetaTuple, invalid_tuples, valid_tuples
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import specs
from conform.numerics.draws import Stream
from conform.suites.filters import may_match_id, may_match_op
from conform.suites.generated.as_nodes import nodes_of
from conform.suites.test import Domain, Test

VALID, INVALID = "generated", "negative"
# A suite has of each op the tuples until this many in a row have covered nothing new ...
QUIET = 8
MOST = 128  # ... but no more: the last pairs of many keywords are rare
TIMES_BROKEN = 4  # how often each constraint is broken

_ROOT = Path(__file__).parents[2]
_SOURCES = (
    *("call/data/aten_schemas.txt", "call/data/kit_schemas.txt", "call/variants.py", "numerics/draws.py"),
    *("domains/**/*.py", "suites/generated/*.py", "suites/derived/*.py"),
)


def suite_tests(
    name: str, seed: int, ops: Sequence[str] = (), ids: Sequence[str] = (), is_told: bool = True
) -> Iterator[Test]:
    """The tests of a suite, op by op. `ops` and `ids` are globs over ops and case ids: ops of which no case can match
    are left out. If that leaves none and `is_told`, each op has its first test, so that who filters can say what there
    is."""
    every = specs()
    wanted = [one for one in every if may_match_op(one.name, ops) and may_match_id(f"{name}/{one.name}/", ids)]
    for spec in wanted or (every if is_told else ()):
        tuples = _covering_tuples(spec, seed) if name == VALID else _breaking_tuples(spec, seed)
        for one in tuples if wanted else itertools.islice(tuples, 1):
            yield as_test(spec, one, seed)


def as_test(spec: OpSpec, tuple_: MetaTuple, seed: int, label: str = "") -> Test:
    """The test of a tuple; a `label` in its id keeps tuples of a sequence that is not the suite's apart."""
    broken = tuple_.broken
    suite = INVALID if broken else VALID
    test_id = "/".join(part for part in (suite, spec.name, label, f"{tuple_.number:04d}") if part)
    inputs, kwargs = nodes_of(spec, tuple_, Stream(seed, test_id, 0, "written out"))
    domain = Domain(str(broken) if broken else None, tuple_.lenience)
    place = f"spec of {spec.name}"
    return Test(
        test_id, spec.name, inputs=inputs, kwargs=kwargs, device=None, cast_input0_to_complex=False, impl=None,
        pair=None, location=place, arguments_at=place, builtin=False, recorded_at=place, domain=domain,
    )  # fmt: skip


def digest() -> bytes:
    """SHA-256 of the sources that make the tests: together with the seed they decide every one of them."""
    found = hashlib.sha256()
    for pattern in _SOURCES:
        paths = sorted(_ROOT.glob(pattern))
        if not paths:
            raise FileNotFoundError(f"no source {pattern} of the suites made from specs")
        for path in paths:
            content = path.read_bytes()
            found.update(f"{path.name} {len(content)}:".encode() + content)
    return found.digest()


def _covering_tuples(spec: OpSpec, seed: int) -> Iterator[MetaTuple]:
    coverage, covered, last_new = Coverage(), 0, 0
    for one in valid_tuples(spec, seed, coverage=coverage):
        if coverage.count > covered:
            covered, last_new = coverage.count, one.number
        if one.number > last_new + QUIET or one.number == MOST:
            return
        yield one


def _breaking_tuples(spec: OpSpec, seed: int) -> Iterator[MetaTuple]:
    """Round after round through the constraints."""
    times: dict[int, int] = {}
    for one in invalid_tuples(spec, seed):
        times[id(one.broken)] = times.get(id(one.broken), 0) + 1
        if times[id(one.broken)] > TIMES_BROKEN:
            return
        yield one
