"""The command line: one small function a verb, which imports what it needs itself, so that help answers at once."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from conform import interrupt
from conform.bisect.command import bisect
from conform.certify.command import certify, sign, verify
from conform.errors import ConformError, KitDefect, Scarcity, UsageError
from conform.golden_files.command import golden
from conform.options import DEFAULT_SUITE, THREADS, on_ray, several_backends, tell, truth_and_claims
from conform.streams import require_files
from conform.sweep.command import sweep
from conform.verbs.export import export
from conform.verbs.interpret import fold, interpret
from conform.verbs.of_kit import backends, explain, ops, selftest
from conform.verbs.records import compare, manifest, merge, report, repro
from conform.verbs.suites import gen, list_tests, schema, validate

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of a device or a disk that takes no more
BROKEN_PIPE = 141  # 128 + SIGPIPE
INTERNAL_ERROR = KitDefect.exit_code  # Python's own 1 would read as a verdict


def _silence_stdout() -> None:
    """Python flushes what it holds once more at its end, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Verbs(click.Group):
    """The verbs in the order of definition; a user's mistake ends in a message and its exit code, not a traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        if sys.flags.optimize > 1:
            tell("Python runs with -OO or PYTHONOPTIMIZE=2, without docstrings, which the kit reads: leave it out")
            sys.exit(UsageError.exit_code)
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
@click.option("--backend", "backends", metavar="NAME", multiple=True, required=True, callback=several_backends,
              help="What is tested: see `conform backends`. Several are compared, too.")  # fmt: skip
@click.option("--backend-option", "options", metavar="KEY=VALUE", multiple=True,
              help="An argument for the backend's class. Repeatable.")  # fmt: skip
@click.option("--import", "imports", metavar="MODULE", multiple=True,
              help="Imported before the backend is: what makes a vendor's device known to torch. Repeatable.")
@click.option("--op", "ops", metavar="GLOB", multiple=True,
              help="Only ops like this; aten::add is every overload. Repeatable.")  # fmt: skip
@click.option("--dtype", "dtypes", metavar="NAME", multiple=True, help="Only cases of this dtype. Repeatable.")
@click.option("--id", "ids", metavar="GLOB", multiple=True, help="Only cases whose id is like this. Repeatable.")
@click.option("--exclude", metavar="GLOB", multiple=True, help="No ops and no ids like this. Repeatable.")
@click.option("--checks", metavar="NAME,...", multiple=True, callback=_joined,
              help="What counts: accuracy, special, layout, result, refusal, mutation, aliasing, determinism, "
              "equivalence. Default: all; of kernels no refusal.")  # fmt: skip
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of every random draw.")
@click.option("--samples", metavar="N", type=click.IntRange(min=1), default=1, show_default=True,
              help="Draws of each case.")  # fmt: skip
@click.option("--values", type=click.Choice(["typical", "special", "all"]),
              help="Value classes. Default: all in built-in suites, typical in a YAML file.")  # fmt: skip
@click.option("--layouts", type=click.Choice(["as-written", "all"]),
              help="Memory layouts. Default: all in built-in suites, as-written in a YAML file.")  # fmt: skip
@click.option("--args", "arguments", metavar="FILE.npz", type=click.Path(path_type=Path, dir_okay=False),
              help="What the function of a StableHLO program gets. Default: drawn by its types.")  # fmt: skip
@click.option("--contract", metavar="NAME|FILE", default="opencl", show_default=True,
              help="The table of bounds: cr, cuda, opencl, tosa, torch, stablehlo, or a YAML file; of StableHLO "
              "programs also checks, their own.")  # fmt: skip
@truth_and_claims
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
              help="Write run.json, junit.xml, report.md, report.html; those of an earlier run get a ~.")  # fmt: skip
@click.option("--huge", is_flag=True, help="Also calls of more than 2^31 elements, which take about 16 GB of memory.")
@click.option("--workers", metavar="N", type=click.IntRange(min=1), show_default="cores",
              help="Processes of the kit, each with a backend of its own.")  # fmt: skip
@THREADS
@click.option("--shard", metavar="I/N", help="Only part I of N of the cases; see `conform merge`.")
@on_ray
@click.option("--resume", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="In the place of --out, with equal options: go on with a run that ended early.")  # fmt: skip
@click.option("--known", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="Judgements that are kept: an answer that is byte for byte one of them is not judged again, and new "
                   "ones are added (docs/run.md).")  # fmt: skip
@click.option("--budget", "budget_s", metavar="SECONDS", type=float,
              help="End after that time; the cases that show the most come first.")  # fmt: skip
@click.option("--determinism", metavar="N", type=click.IntRange(min=1), default=3, show_default=True,
              help="Equal calls of a few cases of every op, whose answers are compared; 1: none.")  # fmt: skip
@click.option("--gradients", is_flag=True, help="Ask for the gradients of plain calls, too (docs/gradients.md).")
@click.option("--fail-fast", is_flag=True, help="Stop at the first case that counts and does not pass.")
@click.option("--quiet", is_flag=True, help="Print the summary line alone.")
@click.option("--no-progress", is_flag=True, help="No progress bar, or without a terminal no lines of progress.")
@click.option("--full-record", is_flag=True,
              help="All that is known of every case in run.json, not only of those that did not pass.")  # fmt: skip
@click.pass_context
def check(
    ctx: click.Context, suites: tuple[str, ...], backends: tuple[str, ...], options: tuple[str, ...], huge: bool,
    out: Path | None, resume: Path | None, quiet: bool, no_progress: bool, full_record: bool, ray_address: str | None,
    **selection: object,
) -> None:
    """Run SUITEs on a backend and judge every result.

    SUITE is a built-in name, a YAML file or a file of StableHLO programs (FILE.mlir, for backends xla and iree); the
    default is core. Built in are smoke and core, part of which is derived from the argument specs, scale (sizes of
    models, and around those of blocks), writes (results written in place or into out=), modules (those of torch.nn),
    and, made from the specs at random, generated (valid calls) and negative (invalid ones, which a backend must
    refuse).

    \b
    conform check --backend cpu
    conform check smoke --backend cuda --dtype float16 --dtype bfloat16 --out results
    conform check mine.yaml --backend path/to/kernels.py::Kernels --values all
    conform check generated negative --backend cpu --op aten::add
    conform check scale --backend cuda --huge --timeout 300 --golden-timeout 600
    conform check --backend folder:kernels --backend-option device=cuda
    conform check --backend mps --budget 600 --out results
    conform check --backend mine.py::Mine --known judged
    conform check --backend cuda --shard 2/4 --out results-2
    conform check --backend cuda --ray ray://head:10001 --out results
    conform check --backend cpu --backend cuda --out both
    conform check model.mlir --backend xla --args inputs.npz

    The coverage that --min-coverage asks for is counted over all cases asked; of kernels in a file, over those of the
    ops of which any was judged. A refusal counts only beside a valid call of its op and dtype that passed.

    Exit code: 0 conformant; 1 some judged case did not pass, or partial; 2 usage, bad input or unwritable output; 3
    nothing could be judged or was compared; 70 a defect of the kit; 130 interrupted, 143 terminated: what ran is kept.
    """
    from conform.backends.spelling import with_options
    from conform.verbs.checking import Shown, checked, checked_on_ray, checked_together

    interrupt.raise_instead()
    if out and resume:
        raise click.UsageError("--out begins a run, --resume goes on with one: name one of them")
    shown = Shown(out, resume, quiet, no_progress, full_record)
    named = (*(suites or DEFAULT_SUITE), *(["huge"] if huge else []))
    if ray_address is not None:
        ctx.exit(checked_on_ray(ctx, ray_address, shown))
    if len(backends) == 1:
        ctx.exit(checked(named, with_options(backends[0], options), shown, **selection)[1])
    for option, given in {"--resume": resume, "--manifest": selection["manifest"], "--backend-option": options}.items():
        if given:
            raise click.UsageError(f"{option} is about one backend; {len(backends)} are named (docs/equivalence.md)")
    ctx.exit(checked_together(named, backends, shown, **selection))


for verb in (
    validate, list_tests, ops, backends, selftest, explain, merge, compare, report, repro, bisect, manifest, gen,
    schema, sweep, golden, interpret, fold, export, certify, sign, verify,
):  # fmt: skip
    main.add_command(verb)
