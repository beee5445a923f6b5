"""The command line: one small function a verb, which imports what it needs itself, so that help answers at once."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conform import interrupt
from conform.errors import ConformError, KitDefect, Scarcity, UsageError
from conform.foreign import escaped
from conform.options import one_backend, tell
from conform.streams import require_files
from conform.sweep.command import sweep

if TYPE_CHECKING:
    from tqdm import tqdm

    from conform.judging.verdict import Verdict
    from conform.report.record import Run

DEFAULT_SUITE = ("core",)
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of a device or a disk that takes no more
BROKEN_PIPE = 141  # 128 + SIGPIPE
INTERNAL_ERROR = KitDefect.exit_code  # Python's own 1 would read as a verdict


def _silence_stdout() -> None:
    """Python flushes what it holds once more at its end, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Verbs(click.Group):
    """The verbs in the order of definition; a user's mistake ends in a message and its exit code, not a traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        try:
            return super().main(*args, **options)
        except OSError as error:
            if error.errno not in UNWRITABLE:
                raise
            _silence_stdout()
            click.echo(f"conform: the output cannot be written: {error.strerror}", err=True)
            sys.exit(UsageError.exit_code)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ConformError as error:
            tell(error)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt as interruption:
            click.echo(f"conform: {interrupt.name(interruption)}", err=True)
            ctx.exit(interrupt.exit_code(interruption))
        except BrokenPipeError:  # `conform list | head`
            _silence_stdout()
            ctx.exit(BROKEN_PIPE)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in UNWRITABLE:
                raise
            if scarcity := Scarcity.of(error):
                click.echo(f"conform: {scarcity}", err=True)
                ctx.exit(scarcity.exit_code)
            traceback.print_exc()
            click.echo("conform: this is a defect of conform itself, no verdict", err=True)
            ctx.exit(INTERNAL_ERROR)


def _show_version(ctx: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"conform {version('conform')}")
        ctx.exit()


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
              help="Print the version and exit.")  # fmt: skip
@click.pass_context
def main(ctx: click.Context) -> None:
    """Tells whether a tensor backend computes what it should, and how far off it is.

    \b
    conform check smoke --backend cpu                    a first look, in seconds
    conform check --backend cpu --op aten::exp           one op of the core suite
    conform explain aten::exp                            what it should compute, and how exactly
    """
    require_files()
    if os.environ.get("NO_COLOR"):  # no-color.org: any value but the empty one
        ctx.color = False


def _joined(ctx: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> str | None:
    """The names of every time that an option is given."""
    return ",".join(names) if names else None


@main.command()
@click.argument("suites", metavar="[SUITE ...]", nargs=-1)
@click.option("--backend", metavar="NAME", multiple=True, required=True, callback=one_backend,
              help="What is tested: see `conform backends`.")  # fmt: skip
@click.option("--backend-option", "options", metavar="KEY=VALUE", multiple=True,
              help="An argument for the backend's class. Repeatable.")  # fmt: skip
@click.option("--import", "imports", metavar="MODULE", multiple=True,
              help="Imported before the backend is: what makes a vendor's device known to torch. Repeatable.")
@click.option("--op", "ops", metavar="GLOB", multiple=True,
              help="Only ops like this; aten::add is every overload. Repeatable.")  # fmt: skip
@click.option("--dtype", "dtypes", metavar="NAME", multiple=True, help="Only cases of this dtype. Repeatable.")
@click.option("--id", "ids", metavar="GLOB", multiple=True, help="Only cases whose id is like this. Repeatable.")
@click.option("--exclude", metavar="GLOB", multiple=True, help="No ops and no ids like this. Repeatable.")
@click.option("--checks", metavar="NAME,...", multiple=True, callback=_joined, help="What counts: accuracy, "
              "special, layout, result, refusal, mutation, aliasing. Default: all; of kernels no refusal.")  # fmt: skip
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of every random draw.")
@click.option("--samples", metavar="N", type=click.IntRange(min=1), default=1, show_default=True,
              help="Draws of each case.")  # fmt: skip
@click.option("--values", type=click.Choice(["typical", "special", "all"]),
              help="Value classes. Default: all in built-in suites, typical in a YAML file.")  # fmt: skip
@click.option("--layouts", type=click.Choice(["as-written", "all"]),
              help="Memory layouts. Default: all in built-in suites, as-written in a YAML file.")  # fmt: skip
@click.option("--contract", metavar="NAME|FILE", default="opencl", show_default=True,
              help="The table of bounds: cr, cuda, opencl, tosa, torch, stablehlo, or a YAML file.")  # fmt: skip
@click.option("--waivers", metavar="FILE|NAME",
              help="Failures that are known, and do not count as long as they are as expected.")  # fmt: skip
@click.option("--timeout", "timeout_s", metavar="SECONDS", type=float, default=30.0, show_default=True,
              help="For one call of the backend, at most 86400. Its loading may always take 300.")  # fmt: skip
@click.option("--golden-timeout", "golden_timeout_s", metavar="SECONDS", type=float, default=60.0, show_default=True,
              help="For the kit's own golden or judgement of one case; one that takes longer is unjudged.")  # fmt: skip
@click.option("--min-coverage", metavar="FRACTION", type=float, default=0.5, show_default=True,
              help="Share of the cases that must be judged, without which the verdict is `partial`.")  # fmt: skip
@click.option("--jail", is_flag=True,
              help="Confine the backend: no network, no files but its own, limits (docs/security.md).")  # fmt: skip
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="Write run.json, junit.xml and report.md there; those of an earlier run get a ~.")  # fmt: skip
@click.option("--huge", is_flag=True, help="Also calls of more than 2^31 elements, which take about 16 GB of memory.")
@click.option("--workers", metavar="N", type=click.IntRange(min=1), show_default="cores",
              help="Processes of the kit, each with a backend of its own.")  # fmt: skip
@click.option("--shard", metavar="I/N", help="Only part I of N of the cases; see `conform merge`.")
@click.option("--resume", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="In the place of --out, with equal options: go on with a run that ended early.")  # fmt: skip
@click.option("--budget", "budget_s", metavar="SECONDS", type=float,
              help="End after that time; the cases that show the most come first.")  # fmt: skip
@click.option("--fail-fast", is_flag=True, help="Stop at the first case that counts and does not pass.")
@click.option("--quiet", is_flag=True, help="Print the summary line alone.")
@click.option("--no-progress", is_flag=True, help="No progress bar, or without a terminal no lines of progress.")
@click.option("--full-record", is_flag=True,
              help="All that is known of every case in run.json, not only of those that did not pass.")  # fmt: skip
@click.pass_context
def check(
    ctx: click.Context, suites: tuple[str, ...], backend: str, options: tuple[str, ...], huge: bool, out: Path | None,
    resume: Path | None, quiet: bool, no_progress: bool, full_record: bool, **selection: object,
) -> None:
    """Run SUITEs on a backend and judge every result.

    SUITE is a built-in name or a YAML file; the default is core. Built in are smoke and core, part of which is
    derived from the argument specs, scale (sizes of models, and around those of blocks), and, made from the specs at
    random, generated (valid calls) and negative (invalid ones, which a backend must refuse).

    \b
    conform check --backend cpu
    conform check smoke --backend cuda --dtype float16 --dtype bfloat16 --out results
    conform check mine.yaml --backend path/to/kernels.py::Kernels --values all
    conform check generated negative --backend cpu --op aten::add
    conform check scale --backend cuda --huge --timeout 300 --golden-timeout 600
    conform check --backend folder:kernels --backend-option device=cuda
    conform check --backend mps --budget 600 --out results
    conform check --backend cuda --shard 2/4 --out results-2

    The coverage that --min-coverage asks for is counted over all cases asked; of kernels in a file, over those of the
    ops of which any was judged. A refusal counts only beside a valid call of its op and dtype that passed.

    Exit code: 0 conformant; 1 some judged case did not pass, or partial; 2 usage, bad input or unwritable output; 3
    nothing could be judged or was compared; 70 a defect of the kit; 130 interrupted, 143 terminated: what ran is kept.
    """
    from conform.backends.spelling import with_options
    from conform.report import write
    from conform.report.progress import Progress
    from conform.report.record import Interrupted, Stopped
    from conform.straight_line import check as run_check

    interrupt.raise_instead()
    if out and resume:
        raise click.UsageError("--out begins a run, --resume goes on with one: name one of them")
    directory = write.prepare(out or resume, is_resumed=bool(resume)) if out or resume else None
    with Progress(enabled=not (quiet or no_progress), on_terminal=sys.stderr.isatty()) as progress:

        def on_verdict(verdict: Verdict, asked: int) -> None:
            interrupt.check()
            progress.count(verdict, asked)

        try:
            named = (*(suites or DEFAULT_SUITE), *(["huge"] if huge else []))
            run = run_check(
                named, backend=with_options(backend, options), on_verdict=on_verdict, on_end=interrupt.hold, out=out,
                resume=resume, **selection,
            )  # fmt: skip
            exit_code, message = run.exit_code, None
        except Interrupted as interruption:
            run, exit_code = interruption.run, interrupt.exit_code(interruption.reason)
            message = f"{interrupt.name(interruption.reason)}; this is what ran"
        except Stopped as end:
            run, exit_code, message = end.run, end.exit_code, f"{end}; this is what ran"
    interrupt.hold()
    try:
        written = write.write(run, directory, full_record) if directory else []
    except UsageError:
        _show(run, [], quiet)
        raise
    if message:
        tell(message)
    _show(run, written, quiet)
    ctx.exit(exit_code)


def _show(run: Run, written: Sequence[Path], quiet: bool) -> None:
    from conform.report import terminal

    if quiet:
        click.echo(terminal.quiet_line(run.record))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    report = next((str(path) for path in written if path.suffix == ".md"), None)
    click.echo(terminal.render(run.record, width, report))
    if written:
        click.echo(f"written: {' '.join(str(path) for path in written)}")


@main.command()
@click.argument("suites", metavar="SUITE ...", nargs=-1, required=True)
@click.pass_context
def validate(ctx: click.Context, suites: tuple[str, ...]) -> None:
    """Say whether suites are well-formed.

    Prints `ok` and the number of tests of every file, or every error.

    \b
    conform validate mine.yaml core
    """
    from conform.suites import validate as check_suite

    failed = False
    for name in suites:
        try:
            click.echo("\n".join(f"ok {line}" for line in check_suite([name])))
        except ConformError as error:
            failed = True
            tell(error)
    ctx.exit(2 if failed else 0)


@main.command("list")
@click.argument("suites", metavar="[SUITE ...]", nargs=-1)
def list_tests(suites: tuple[str, ...]) -> None:
    """Print the id of every test, one a line.

    The cases of a test (its dtypes, value classes, layouts and samples) have the ids TEST/DTYPE/VALUES/LAYOUT.
    """
    from conform.suites import list_ids

    for test in list_ids(suites or DEFAULT_SUITE):
        click.echo(test)


@main.command()
def ops() -> None:
    """List the ops and what the kit has of each.

    semantics: it can be judged; reference: an independent second definition; spec: what is valid input; suite: tests in
    the core suite; contract: a row in the default table (else the bound is derived from the documented formula).
    """
    from conform.explain.inventory import inventory, render

    click.echo(render(inventory()))


@main.command()
def backends() -> None:
    """List the backends, and why some are not available."""
    from tabulate import tabulate

    from conform.backends.names import backends as known

    rows = [[escaped(name), "yes" if available else "no", escaped(detail)] for name, available, detail in known()]
    click.echo(tabulate(rows, headers=["backend", "available", "version or reason"], disable_numparse=True))
    click.echo("\nalso any torch device string, path/to/file.py::ClassName, entry points of the group conform.backends")


@main.command()
@click.option("--op", "ops", metavar="GLOB", multiple=True,
              help="Only ops like this; aten::add is every overload. Repeatable.")  # fmt: skip
@click.option("--full", is_flag=True, help="Every op, dtype and defect: minutes. Default: a share, the same each time.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Chooses the share.")
@click.option("--no-progress", is_flag=True, help="No progress bar (there is none without a terminal anyway).")
@click.pass_context
def selftest(ctx: click.Context, ops: tuple[str, ...], full: bool, seed: int, no_progress: bool) -> None:
    """Let the kit prove itself: its truth against references, its judge against planted defects.

    Runs I8, the agreement of the interpreter with independent references bit for bit, and backends that are torch with
    one defect each, which the core suite must catch. Prints what was caught, by class of real bugs, and why the rest
    cannot be.

    \b
    conform selftest
    conform selftest --op aten::_softmax --op 'aten::*norm*'
    conform selftest --full

    Exit code: 0 I8 holds and every defect is caught or explained; 1 not; 2 usage, a glob that matches no op.
    """
    from tqdm import tqdm

    from conform.selftest.run import self_test
    from conform.selftest.table import render

    interrupt.raise_instead()
    shows = sys.stderr.isatty() and not no_progress
    with tqdm(desc="self-test", unit="step", file=sys.stderr, leave=False, disable=not shows) as bar:
        found = self_test(ops, full, seed, partial(_show_progress, bar))
    click.echo(render(found))
    ctx.exit(1 if found.problems else 0)


def _show_progress(bar: tqdm, done: int, of: int) -> None:
    bar.total = of
    bar.update(done - bar.n)


@main.command()
@click.argument("name", metavar="OP|CASE-ID")
@click.option("--suite", "suites", metavar="SUITE", multiple=True, help="Holds the tests; default core. Repeatable.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of the inputs of a case.")
@click.option("--golden-timeout", "golden_timeout_s", metavar="SECONDS", type=float, default=60.0, show_default=True,
              help="For the golden values of a case and their bounds.")  # fmt: skip
def explain(name: str, suites: tuple[str, ...], seed: int, golden_timeout_s: float) -> None:
    """Say what an op, or one case of it, should give.

    For an op: its schema, meaning, dtypes, bounds with their sources, policy rules and tests. For a case: its inputs,
    golden values and contract.

    \b
    conform explain aten::gelu
    conform explain exp_1d/float32/special/contiguous

    Exit code: 0; 2 usage; 3 the golden values took longer than --golden-timeout.
    """
    from conform.explain.case import explain_case
    from conform.explain.op import explain_op

    chosen = suites or DEFAULT_SUITE
    if name.startswith("aten::"):
        click.echo(explain_op(name, chosen))
    else:
        click.echo(explain_case(name, chosen, seed, golden_timeout_s=golden_timeout_s))


@main.command()
@click.argument("directories", metavar="DIR ...", nargs=-1, required=True,
                type=click.Path(path_type=Path, file_okay=False))  # fmt: skip
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path, file_okay=False), required=True,
              help="Where the files of the whole run go.")  # fmt: skip
@click.option("--quiet", is_flag=True, help="Print the summary line alone.")
@click.pass_context
def merge(ctx: click.Context, directories: tuple[Path, ...], out: Path, quiet: bool) -> None:
    """Put the shards of a run together: the record is that of the run in one piece.

    Each DIR is what `conform check --shard I/N --out DIR` wrote, all N of them. The exit code is that of the whole run;
    of a shard alone it says little, for refusals count only beside valid calls that pass.

    \b
    conform check --backend cpu --shard 1/2 --out part-1
    conform check --backend cpu --shard 2/2 --out part-2
    conform merge part-1 part-2 --out whole
    """
    from conform.report import write
    from conform.running.merge import merged

    run = merged(directories)
    _show(run, write.write(run, write.prepare(out)), quiet)
    ctx.exit(run.exit_code)


@main.command()
@click.argument("case_id", metavar="CASE-ID")
@click.option("--run", "directory", metavar="DIR", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="What `conform check --out DIR` wrote.")  # fmt: skip
@click.option("--backend", metavar="NAME", help="What runs the calls. Default: the run's, unless it is in a file.")
@click.option("--import", "imports", metavar="MODULE", multiple=True, help="As of `conform check`. Repeatable.")
@click.option("--golden-timeout", "golden_timeout_s", metavar="SECONDS", type=float, default=60.0, show_default=True,
              help="For the kit's own golden or judgement of one call.")  # fmt: skip
@click.option("--yaml", "as_yaml", is_flag=True, help="Print a suite file with the call as its test, not a script.")
def repro(
    case_id: str, directory: Path, backend: str | None, imports: tuple[str, ...], golden_timeout_s: float,
    as_yaml: bool,
) -> None:  # fmt: skip
    """Print a failing case of a run as a short script, or as a suite file.

    The call is made smaller as long as it fails in the same way: fewer elements and dimensions, plain values, default
    arguments, a contiguous layout. The script needs torch alone, shows expected against actual as hex, and ends with 1
    while the backend is wrong. A backend in a file is run only if --backend names it: anybody can write a run.json.

    \b
    conform check --backend cpu --out results
    conform repro cast_float_to_float16/float64/special/contiguous --run results > repro.py
    python repro.py

    Exit code: 0; 2 usage, or the case does not fail any more; 3 the kit cannot judge it (in time).
    """
    from tqdm import tqdm

    from conform.repro.command import repro as reduced

    with tqdm(desc="smaller calls tried", unit="", file=sys.stderr, disable=not sys.stderr.isatty()) as bar:
        text = reduced(
            case_id, directory, backend, on_try=lambda: bar.update(), imports=imports,
            golden_timeout_s=golden_timeout_s, as_yaml=as_yaml,
        )  # fmt: skip
    click.echo(text, nl=False)


@main.command()
@click.argument("op", metavar="OP")
@click.option("--n", "count", metavar="N", type=click.IntRange(min=1), default=8, show_default=True,
              help="Calls of each overload.")  # fmt: skip
@click.option("--invalid", is_flag=True, help="Calls that each break one constraint, which a comment names.")
@click.option("--dtype", metavar="NAME", help="Of the first tensor, or of the dtype argument.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of every random choice.")
@click.option("--out", "path", metavar="FILE.yaml", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the file there.")  # fmt: skip
def gen(op: str, count: int, invalid: bool, dtype: str | None, seed: int, path: Path | None) -> None:
    """Write calls of an op as a suite file.

    They are made from the op's argument spec, and cover its dtypes, ranks and the ends of its intervals first. OP is a
    name (without overload: all of them) or a glob. Prints the file unless --out is given.

    \b
    conform gen aten::add.Tensor --n 3
    conform gen 'aten::*xlogy*' --dtype float16 --out xlogy.yaml
    conform gen aten::atan2 --invalid
    """
    from conform.suites.generated.command import suite_text, write

    text = suite_text(op, count, invalid=invalid, dtype=dtype, seed=seed)
    if path is None:
        click.echo(text, nl=False)
    else:
        write(text, path)
        click.echo(f"written: {path}")


@main.command()
@click.option("--run", "of_record", is_flag=True, help="That of run.json, which `conform check --out` writes.")
def schema(of_record: bool) -> None:
    """Print the JSON Schema of suite files, for editors, or of run records."""
    import json

    if of_record:
        from conform.report.schema import run_schema as made
    else:
        from conform.suites import json_schema as made
    click.echo(json.dumps(made(), indent=2))


main.add_command(sweep)
