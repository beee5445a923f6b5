"""What several verbs of the command line share."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conform.foreign import escaped

if TYPE_CHECKING:
    from conform.report.record import Run

DEFAULT_SUITE = ("core",)


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
