"""What several verbs of the command line share."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conform.foreign import escaped

if TYPE_CHECKING:
    from conform.report.record import Run

DEFAULT_SUITE = ("core",)
SHARDS = "shards"  # what has ended of a run on a cluster, until it has ended
THREADS = click.option("--threads", metavar="N", type=click.IntRange(min=1), default=1, show_default=True,
                       help="Intra-op threads of torch in each process of the backend.")  # fmt: skip


def truth_and_claims(command: click.decorators.FC) -> click.decorators.FC:
    """What the backend of `conform check` claims, and whose truth it is held to."""
    command = click.option("--oracle", type=click.Choice(["interp", "refs"]), default="interp", show_default=True,
                           help="Whose results are the truth; refs: the slow references, of small calls "
                           "(docs/oracle.md).")(command)  # fmt: skip
    return click.option("--manifest", metavar="FILE",
                        help="What the backend claims to do: it is held to that, and not asked for the rest "
                        "(docs/manifest.md).")(command)  # fmt: skip


def tell(message: object) -> None:
    """A message on stderr; whatever names it holds, each of its lines is printable."""
    click.echo("\n".join(map(escaped, f"conform: {message}".split("\n"))), err=True)


def one_backend(ctx: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> str:
    """Exactly one name: taking the last of several would drop the others without a word."""
    if len(names) != 1:
        raise click.BadParameter(f"{len(names)} names given; one backend a run", ctx=ctx, param=parameter)
    return names[0]


def several_backends(ctx: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names, each of them once."""
    if again := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise click.BadParameter(f"{again[0]} is named twice", ctx=ctx, param=parameter)
    return names


def show(run: Run, written: Sequence[Path], quiet: bool) -> None:
    """What a person reads of a run, and where it was written; if `quiet` the summary line alone."""
    from conform.report import terminal

    if quiet:
        click.echo(terminal.quiet_line(run.record))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    report = next((str(path) for path in written if path.suffix == ".md"), None)
    click.echo(terminal.render(run.record, width, report))
    if written:
        click.echo(f"written: {' '.join(str(path) for path in written)}")


# --- On a cluster -----------------------------------------------------------------------------------------------------

_REFUSED = ("shard", "resume", "known", "workers")
_OF_THE_DRIVER = ("ray_address", "out", "quiet", "no_progress")


def on_ray(command: click.decorators.FC) -> click.decorators.FC:
    """Where the shards of a command run."""
    told = "Run the shards on a Ray cluster: auto, or ray://HOST:PORT (docs/ci.md)."
    return click.option("--ray", "ray_address", metavar="ADDRESS", help=told)(command)


def words_on_ray(ctx: click.Context, also_refused: Collection[str] = ()) -> list[str]:
    """The words of the command line again, but for those that its driver alone needs. click.UsageError for what each
    shard would be told otherwise."""
    if given := [one for one in _given(ctx) if one.name in (*_REFUSED, *also_refused)]:
        raise click.UsageError(f"{given[0].opts[0]} says how one machine goes about it: leave it out with --ray")
    return [word for one in _given(ctx) if one.name not in _OF_THE_DRIVER for word in _words(one, ctx.params[one.name])]


def _given(ctx: click.Context) -> list[click.Parameter]:
    by_hand = click.core.ParameterSource.COMMANDLINE
    return [one for one in ctx.command.params if ctx.get_parameter_source(one.name) is by_hand]


def _words(one: click.Parameter, value: object) -> list[str]:
    several = list(map(str, value)) if isinstance(value, (tuple, list)) else [str(value)]
    if isinstance(one, click.Argument):
        return several
    return [one.opts[0]] if one.is_flag else [word for each in several for word in (one.opts[0], each)]


def told_of_shards(is_quiet: bool) -> Callable[[int, int, str], None]:
    """What tells of a shard that has ended: how many have, of how many, and what it said."""

    def told(done: int, count: int, said: str) -> None:
        if said:
            tell(said.removeprefix("conform: "))
        if not is_quiet:
            tell(f"{done} of {count} shards have ended")

    return told
