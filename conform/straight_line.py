"""The straight line: suite -> cases -> inputs -> golden and actual -> contract -> verdict -> run record."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conform import kit, time_limit
from conform.backends.base import Backend
from conform.backends.client import BackendProcess
from conform.backends.given import Given, given
from conform.backends.jail import jail_for
from conform.backends.launcher import Template
from conform.backends.names import holds_kernels
from conform.collector import frozen, paused, resumed
from conform.contracts.tables import Table, contract_table
from conform.errors import UsageError
from conform.interp import semantics
from conform.judging.checks import chosen, selected
from conform.judging.verdict import Verdict
from conform.manifest.language import read as manifest_of
from conform.operators import check_is_no_class, is_called_alone, op_globs
from conform.report import record
from conform.report.record import Run
from conform.report.schema import MAX_THREADS
from conform.report.write import paths
from conform.running import journal, order
from conform.running.answers import Keeper
from conform.running.head import Shard
from conform.running.known import Known
from conform.running.order import Group
from conform.running.pool import Alone, Judged, Pool, as_told, cores, worth_while
from conform.running.truth import INTERP, ORACLES, REFS
from conform.running.underway import Asked, Underway
from conform.running.verdicts import verdicts_of
from conform.running.waivers import Waivers
from conform.running.waivers import read as waivers_of
from conform.suites import Suite, load
from conform.suites.builtin import PROGRAMS, is_of_programs, limits_of
from conform.suites.cases import Case, Selection
from conform.suites.select import select

if TYPE_CHECKING:  # torch is imported for modules alone
    from torch.nn import Module

TIMEOUT_S = 30.0  # for one call of the backend
MAX_TIMEOUT_S = 86400.0  # a day; poll(2) takes milliseconds as an int, so it could wait no longer than 24
MIN_COVERAGE = 0.5
OF_AUTOGRAD = "torch.fx.experimental.symbolic_shapes"  # which torch.autograd.grad imports, and sympy with it
CHECKS = "checks"  # the contract of a program's own checks


@paused()
def check(
    suites: str | Sequence[str] | Module = ("core",),
    *rest: Any,
    backend: str | type[Backend] | Backend | Callable | None = None,
    ops: str | Callable | Sequence[str | Callable] = (),
    dtypes: Sequence[str] = (),
    ids: Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    checks: str | Sequence[str] | None = None,
    seed: int = 0,
    samples: int = 1,
    values: str | None = None,
    layouts: str | None = None,
    arguments: Path | None = None,
    contract: str = "opencl",
    timeout_s: float = TIMEOUT_S,
    golden_timeout_s: float = time_limit.GOLDEN_TIMEOUT_S,
    min_coverage: float = MIN_COVERAGE,
    jail: bool = False,
    imports: Sequence[str] = (),
    waivers: str | Waivers | None = None,
    manifest: str | None = None,
    oracle: str = INTERP,
    out: Path | None = None,
    resume: Path | None = None,
    shard: str | None = None,
    workers: int | None = 1,
    threads: int = 1,
    budget_s: float | None = None,
    determinism: int = 1,
    gradients: bool = False,
    fail_fast: bool = False,
    full_record: bool = False,
    known: Path | None = None,
    keeper: Keeper | None = None,
    on_verdict: Callable[[Verdict, int], None] | None = None,
    on_end: Callable[[], None] | None = None,
) -> Run:
    """Run suites on a backend and judge every case; the arguments are the command's options.

    `check(suites, backend)`, or `check(module, inputs, backend=...)`: one call of a torch module on a tuple or list of
    tensors and Python values (a tensor alone stands for itself), judged as an operator is; keyword arguments are a dict
    behind the inputs. A function that returns the inputs is called once a sample, torch's generator seeded by seed and
    sample. Parameters are those that it has; its mode (training or evaluation) is that which it is in. A
    function of torch, `check(torch.nn.functional.normalize, x, backend=...)`, is judged as a module that calls it.

    Suites that end in `.mlir` are files of StableHLO programs (docs/stablehlo.md): their functions are judged, on
    inputs that are drawn by their types or are those in the npz file `arguments`.

    The backend is a name, a subclass of Backend (which the worker creates), an instance of one, or a function
    run(op, args, kwargs); what is no name is pickled, and runs in a process of its own all the same. `ops` are globs,
    names of operators as torch writes them (`exp`, `torch.exp`), or functions of torch; `exclude` are globs over ops
    and ids. `checks` names what counts (`judging.checks.chosen`): by default everything, of kernels (a class in a file,
    a folder, a Python object) all but refusals, which are shown. With `jail` the backend is confined, and sees nothing
    of `out`, where the caller will write the record. Modules of `imports` are imported where the backend runs, before
    it is looked for.

    In `out`, a directory that exists, every verdict is noted as it comes; `resume`, one in which a run ended early,
    goes on with that. `shard` "2/3" is the second third of the cases. `workers` processes of the kit judge, by default
    this one; None: as many as there are cores for. torch has so many intra-op `threads` in each of the backend's
    processes. After `budget_s` the cases end, of which those come first that show the
    most. A few cases of every op are asked `determinism` times, and their answers compared byte by byte; by default
    none. With `gradients` the gradients of plain calls are asked for, too. `waivers` is a file of known failures, the
    name of one that comes with the kit, or what was read of one; `manifest` one of what the backend claims to do: the
    rest is not asked. With the `oracle` "refs" nothing is judged of which the slow references do not give the same
    result. Unless it is to be a `full_record`, operands of worst elements stand with cases alone that did not pass.
    An answer that is byte for byte one of those whose judgements are `known`, a directory that is made where it is
    missing, is not judged again; others are added. `keeper` gets every answer. `on_verdict` is called with each verdict
    and the number of cases asked, for a case twice if its worker dies of it after it answered; `on_end` before the
    record is made, unless Ctrl-C is why that is done.

    Raises UsageError for bad input, BackendUnavailable where the backend does not start, JailUnavailable where it
    cannot be confined. What ends a run that has begun is raised as record.Interrupted (Ctrl-C) or record.Stopped, with
    the run of the cases before.
    """
    kit.load()
    _check_limits(timeout_s, golden_timeout_s, budget_s, min_coverage, oracle, workers, threads)
    backend = _backend(suites, rest, backend)
    of_kernels = not isinstance(backend, str) or holds_kernels(backend)
    counting, usual = chosen(checks, of_kernels), chosen(None, of_kernels)
    selection = Selection(
        op_globs(ops), dtypes, ids=ids, exclude=exclude, seed=seed, samples=samples, values=values, layouts=layouts,
        determinism=determinism, gradients=gradients,
    )  # fmt: skip
    part = None if shard is None else Shard.written_as(shard)
    suite = _suite(suites, rest, selection, cores() if workers is None else workers, contract, arguments)
    tested = backend if isinstance(backend, str) else given(backend)
    hidden = _hidden(suite, contract, out or resume, known)
    jailed = jail_for(backend if tested is backend else "", hidden) if jail else None
    asked = Asked(
        suite=suite, table=contract_of(contract, suite), contract=contract, selection=selection, backend=backend,
        jail=jailed, part=part, is_by_coverage=budget_s is not None, timeout_s=timeout_s,
        golden_timeout_s=golden_timeout_s, min_coverage=min_coverage, imports=tuple(imports), of_kernels=of_kernels,
        checks=counting, are_usual=counting == usual,
        waivers=waivers_of(waivers) if isinstance(waivers, str) else waivers,
        manifest=None if manifest is None else manifest_of(manifest), manifest_name=manifest, oracle=oracle,
        full_record=full_record, arguments=arguments, threads=threads,
    )  # fmt: skip
    return _run(
        asked, tested, out=out, resume=resume, workers=workers, budget_s=budget_s, fail_fast=fail_fast, keeper=keeper,
        known=None if known is None else Known.of(Path(known), asked.question()),
        on_verdict=on_verdict, on_end=on_end or (lambda: None),
    )  # fmt: skip


def _run(
    asked: Asked, tested: str | Given, *, out: Path | None, resume: Path | None, workers: int | None,
    budget_s: float | None, fail_fast: bool, keeper: Keeper | None, known: Known | None,
    on_verdict: Callable[[Verdict, int], None] | None, on_end: Callable[[], None],
) -> Run:  # fmt: skip
    """What is asked, run: all of it, or what is left of the run in `resume`."""
    groups = _groups(asked)
    before = journal.read(resume) if resume else None
    left = order.without(groups, before.verdicts if before else ())
    _load_for(groups, asked.oracle)
    judged = partial(
        verdicts_of, table=asked.table, golden_timeout_s=asked.golden_timeout_s, limits=limits_of(asked.suite.names),
        checks=asked.checks, manifest=asked.manifest, keeper=keeper, known=known, oracle=asked.oracle,
        full=asked.full_record,
    )  # fmt: skip
    process = partial(
        BackendProcess, tested, timeout_s=asked.timeout_s, threads=asked.threads, jail=asked.jail, imports=asked.imports
    )
    count = 1 if fail_fast else worth_while(sum(map(len, left)), workers, asked.threads)
    with frozen(), resumed() if count == 1 else contextlib.nullcontext():  # with workers it only keeps verdicts
        template = None if asked.jail else Template(preloaded=_preloaded(left))
        with contextlib.ExitStack() as refused:  # what names no backend, before anything is entered that would end it
            if template is not None:
                refused.callback(template.close)
            bench = _bench(count, left, process, judged, asked.checks, template)
            underway = Underway(asked, groups, bench, on_verdict)
            refused.pop_all()

        def run() -> None:
            underway.begin(bench.describe(), out, before)
            for verdict in bench.verdicts(underway.numbers(left, budget_s)):
                underway.take(verdict)
                if fail_fast and underway.is_failure(verdict):
                    break

        return _ended(underway, bench, run, on_end)


def _groups(asked: Asked) -> list[Group]:
    """The cases that are asked, numbered, in the order in which they run."""
    cases = select(asked.suite, asked.selection)
    cases = cases if asked.are_usual else selected(cases, asked.checks)
    return order.of_shard(order.numbered(order.by_coverage(cases) if asked.is_by_coverage else cases), asked.part)


def _check_limits(
    timeout_s: float, golden_timeout_s: float, budget_s: float | None, min_coverage: float, oracle: str,
    workers: int | None, threads: int,
) -> None:  # fmt: skip
    if workers is not None and (type(workers) is not int or workers < 1):
        raise UsageError(f"workers: expected an integer >= 1, or None, got {workers!r}")
    if type(threads) is not int or not 1 <= threads <= MAX_THREADS:
        raise UsageError(f"threads: expected an integer from 1 to {MAX_THREADS}, got {threads!r}")
    if oracle not in ORACLES:
        raise UsageError(f"oracle: expected one of {', '.join(ORACLES)}, got {oracle!r}")
    check_timeout("timeout", timeout_s)
    check_timeout("golden timeout", golden_timeout_s)
    if budget_s is not None:
        check_timeout("budget", budget_s)
    _check_fraction("min_coverage", min_coverage)


def _load_for(groups: Sequence[Group], oracle: str) -> None:
    """What the cases need is loaded before the backend runs, and before a time limit could interrupt that."""
    if any(_is_to_construct(case) for group in groups for _, case in group[:1]):
        importlib.import_module("conform.frontends.construction")  # with torch
    if oracle == REFS:
        importlib.import_module("conform.selftest.agreement.oracle").load()
    semantics.names()


def _preloaded(groups: Sequence[Group]) -> list[str]:
    """What torch imports in each worker that is asked for gradients."""
    return [OF_AUTOGRAD] if any(case.of_gradients for group in groups for _, case in group) else []


def _is_to_construct(case: Case) -> bool:
    test = case.draw.test
    return test.is_module and test.op.given is None


def _ended(underway: Underway, bench: Alone | Pool, run: Callable[[], None], on_end: Callable[[], None]) -> Run:
    """The run as it is when `run` has ended; what ended it early is raised with the run of the cases before."""
    try:
        with bench:
            run()
            on_end()
    except KeyboardInterrupt as interruption:
        if not underway.has_begun:
            raise
        raise record.Interrupted(underway.ended("interrupted"), interruption) from None
    except Exception as error:
        on_end()
        if not underway.has_begun:
            raise
        reason = as_told(error)
        raise record.Stopped(underway.ended(str(reason)), reason) from error
    return underway.ended()


def _bench(
    count: int, groups: Sequence[Group], process: Callable[..., BackendProcess], judged: Judged,
    checks: Collection[str], template: Template | None,
) -> Alone | Pool:  # fmt: skip
    """Where so many processes of the kit judge the groups: this one, or others."""
    cases = [[case for _, case in group] for group in groups]
    if count == 1:
        return Alone(process, cases, judged, template)
    return Pool(count, cases, process, judged, checks, template)


def contract_of(contract: str, suite: Suite) -> Table:
    """The contract; that of StableHLO programs may be their own checks."""
    if contract != CHECKS:
        return contract_table(contract)
    from conform.frontends.stablehlo_checks import table_of

    return table_of(suite)


def _suite(
    what: Any, rest: Sequence[Any], selection: Selection, processes: int, contract: str, arguments: Path | None
) -> Suite:
    """The suites of these names, or the call of a torch module or function on `rest`, as one test; of files of
    StableHLO programs their functions, which get `arguments`."""
    if is_called_alone(what):
        from conform.given_module import suite_of

        if len(rest) not in (1, 2) or (len(rest) == 2 and not isinstance(rest[1], dict)):
            found = ", ".join(type(one).__name__ for one in rest) or "nothing"
            raise UsageError(f"check(module, inputs, kwargs): found {found} behind the module, expected its inputs, "
                             "and where it takes some a dict of keyword arguments")  # fmt: skip
        return suite_of(what, *rest, selection=selection)
    names = [what] if isinstance(what, str) else what
    if not isinstance(names, list | tuple) or not names or not all(isinstance(one, str | Path) for one in names):
        raise UsageError(f"check: found {what!r}, expected names of suites, a torch module or a function of torch")
    names = list(map(str, names))
    if any(map(is_of_programs, names)):
        return _programs(names, contract, arguments)
    if arguments is not None:
        raise UsageError(f"--args is what a StableHLO program gets; there is no {PROGRAMS} file among the suites")
    return load(names, seed=selection.seed, ops=selection.ops, ids=selection.ids, processes=processes)


def _programs(names: Sequence[str], contract: str, arguments: Path | None) -> Suite:
    from conform.frontends.stablehlo_suite import suite_of

    if others := [name for name in names if not is_of_programs(name)]:
        raise UsageError(f"StableHLO programs make a run of their own: found {', '.join(others)} beside them")
    return suite_of(names, contract, arguments)


def _backend(what: Any, rest: Sequence[Any], backend: Any) -> Any:
    """The backend, which may stand behind suites."""
    if is_called_alone(what) or not rest:
        return "cpu" if backend is None else backend
    check_is_no_class(what)
    if len(rest) > 1 or backend is not None:
        raise UsageError(f"check(suites, backend): found {len(rest) + (backend is not None)} backends, expected one")
    return rest[0]


def _hidden(suite: Suite, contract: str, out: Path | None, known: Path | None) -> Iterator[Path]:
    """The files of a run that no backend may read or change: they tell its inputs, or how far it may be off."""
    yield from (Path(name) for name in suite.names)
    written = (test.location for test in suite.tests if not test.builtin and test.location)
    yield from {Path(location.rpartition(":")[0]) for location in written}  # included ones
    yield Path(contract)
    if known is not None:
        yield Path(known)
    if out is not None:
        yield from (out, *paths(out))  # where it holds the backend as well, what was written there


def check_timeout(name: str, timeout_s: object) -> None:
    """UsageError for what is no number of seconds that something may take."""
    if type(timeout_s) not in (int, float) or not 0 < timeout_s <= MAX_TIMEOUT_S:  # refuses NaN
        raise UsageError(f"{name}: expected seconds > 0 and <= {MAX_TIMEOUT_S:g}, got {timeout_s!r}")


def _check_fraction(name: str, fraction: object) -> None:
    if type(fraction) not in (int, float) or not 0 <= fraction <= 1:
        raise UsageError(f"{name}: expected a fraction from 0 to 1, got {fraction!r}")
