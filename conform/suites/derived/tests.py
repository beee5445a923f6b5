"""The derived tests, op by op: targets that have become tests of the test language."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from conform.call.aliases import canonical
from conform.call.foreach import for_each
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import specs, variant_specs
from conform.numerics.draws import Stream
from conform.suites.derived import scale
from conform.suites.derived.cost import is_affordable
from conform.suites.derived.keywords import of_keywords
from conform.suites.derived.lists import list_count, on_fewer_axes
from conform.suites.derived.long import of_lengths
from conform.suites.derived.members import of_large_lists, of_members
from conform.suites.derived.refusals import of_refusals
from conform.suites.derived.rows import of_rows
from conform.suites.derived.targets import Derived, dtypes, of_tensors
from conform.suites.derived.values import typical
from conform.suites.derived.writes import of_writes
from conform.suites.filters import may_match_id, may_match_op
from conform.suites.generated.as_nodes import nodes_of
from conform.suites.test import Domain, Test

FEW = 40  # ops: so many are not worth another process


def derived_tests(
    seed: int, ops: Sequence[str] = (), ids: Sequence[str] = (), suite: str = "core", processes: int = 1,
    is_told: bool = True,
) -> Iterator[Test]:  # fmt: skip
    """The derived tests of a suite, op by op. `ops` and `ids` are globs over ops and case ids: ops of which no case can
    match are left out. If that leaves none and `is_told`, each op has its first test, so that who filters can say what
    there is. So many `processes`, forks of this one, derive those of many ops.

    What a test is does not depend on the seed, which draws the numbers alone.
    """
    every = variant_specs() if suite == "writes" else specs()
    wanted = [one for one in every if may_match_op(one.name, ops) and may_match_id(f"{short(one)}/", ids)]
    if processes > 1 and len(wanted) > FEW:
        yield from itertools.chain.from_iterable(_in_forks(partial(_tests_of, suite, seed), wanted, processes))
        return
    for spec in wanted or (every if is_told else ()):
        yield from itertools.islice(_each_of(suite, seed, spec), None if wanted else 1)


def _tests_of(suite: str, seed: int, spec: OpSpec) -> list[Test]:
    return list(_each_of(suite, seed, spec))


def _each_of(suite: str, seed: int, spec: OpSpec) -> Iterator[Test]:
    return derived_of(spec, seed) if suite == "core" else _targeted(suite, spec, seed)


Made = TypeVar("Made")
_forked: list[Callable[[int], Any]] = []  # what forks call, which they have from this process and nobody pickles


def _in_forks(make: Callable[[OpSpec], Made], specs: Sequence[OpSpec], processes: int) -> Iterator[Made]:
    """What `make` makes of each, in their order."""
    _forked.append(lambda number: make(specs[number]))
    try:
        with multiprocessing.get_context("fork").Pool(processes, _leave_signals) as pool:
            yield from pool.imap(_call_forked, range(len(specs)), chunksize=4)
    finally:
        _forked.pop()


def _call_forked(number: int) -> Any:
    return _forked[-1](number)


def _leave_signals() -> None:
    """A fork is ended by its parent, which hears of Ctrl-C, and of a terminal that was closed."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _targeted(suite: str, spec: OpSpec, seed: int) -> Iterator[Test]:
    targets = {"scale": scale.of_sizes, "huge": scale.of_huge_sizes, "writes": of_writes}[suite]
    if for_each(spec.name) is not None:
        targets = of_large_lists if suite == "scale" else lambda _: ()
    return (_test(spec, one, seed) for one in targets(spec))


def derived_of(spec: OpSpec, seed: int) -> Iterator[Test]:
    """The derived tests of one op in the core suite; of another name of an op those of its dtypes alone, and of an op
    of lists what these add to the op of one."""
    if canonical(spec.name) != spec.name:
        yield from (_test(spec, one, seed) for one in dtypes(spec))
        return
    if for_each(spec.name) is not None:
        yield from (_test(spec, one, seed) for one in of_members(spec))
        return
    for one in itertools.chain(of_tensors(spec), of_keywords(spec), of_lengths(spec), scale.in_core(spec)):
        if is_affordable(spec, one.tuple_):
            yield _test(spec, on_fewer_axes(spec, one) if list_count(spec) > 1 else one, seed)
    for name, plain, fill in of_rows(spec):
        yield _filled(_test(spec, Derived(name, plain), seed), spec, fill)
    for one in of_refusals(spec, spec.arguments):
        yield _test(spec, one, seed)


def short(spec: OpSpec) -> str:
    """ "add.Tensor" of aten::add.Tensor."""
    return spec.name.partition("::")[2]


def _test(spec: OpSpec, one: Derived, seed: int) -> Test:
    test_id, broken = f"{short(spec)}/{one.name}", one.tuple_.broken
    inputs, kwargs = nodes_of(spec, one.tuple_, Stream(seed, test_id, 0, "written out"))
    if broken is None:
        names = [each.name for each in spec.arguments]  # positional ones come first, in the order of the schema
        inputs = tuple(typical(spec, name, node) for name, node in zip(names, inputs, strict=False))
        kwargs = {name: typical(spec, name, node) for name, node in kwargs.items()}
    domain = Domain(str(broken), None) if broken else None
    place = f"target {one.name} of {spec.name}"
    return Test(
        test_id, spec.name, inputs=inputs, kwargs=kwargs, device=None, cast_input0_to_complex=False, impl=None,
        pair=None, location=place, arguments_at=place, builtin=True, recorded_at=place, domain=domain,
        values=one.values, layouts=one.layouts,
    )  # fmt: skip


def _filled(test: Test, spec: OpSpec, fill: float) -> Test:
    """The test with a data argument of nothing but `fill`."""
    at = [one.name for one in spec.schema.arguments].index(spec.data.name)
    inputs = list(test.inputs)
    inputs[at] = replace(inputs[at], draw=None, value=_nested(inputs[at].shape, fill))
    return replace(test, inputs=tuple(inputs))


def _nested(shape: tuple[int, ...], fill: float) -> Any:
    return [_nested(shape[1:], fill) for _ in range(shape[0])] if shape else fill
