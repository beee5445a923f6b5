"""`conform fold`: StableHLO programs with their constants folded by the interpreter."""

from __future__ import annotations

from pathlib import Path

import click

from conform.foreign import escaped
from conform.frontends import stablehlo_fold
from conform.report import write


def folded(path: Path, out: Path | None, most_elements: int) -> None:
    """Prints the folded programs of a file, or writes them, and tells on stderr how many ops became constants, and
    which were left."""
    found = stablehlo_fold.fold(path, most_elements)
    if out is None:
        click.echo(found.text, nl=False)
    else:
        write.put(out, found.text)
    for one in found.left:
        click.echo(escaped(one), err=True)
    where = "" if out is None else f"; written: {escaped(str(out))}"
    click.echo(f"{found.folded} ops folded, {len(found.left)} left{where}", err=True)
