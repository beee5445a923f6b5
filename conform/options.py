"""What several verbs of the command line share."""

from __future__ import annotations

import click

from conform.foreign import escaped


def tell(message: object) -> None:
    """A message on stderr; whatever names it holds, each of its lines is printable."""
    click.echo("\n".join(map(escaped, f"conform: {message}".split("\n"))), err=True)


def one_backend(ctx: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> str:
    """Exactly one name: taking the last of several would drop the others without a word."""
    if len(names) != 1:
        raise click.BadParameter(f"{len(names)} names given; one backend a run", ctx=ctx, param=parameter)
    return names[0]
