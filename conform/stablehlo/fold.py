"""`conform fold` and `conform.fold`: StableHLO programs with their constants folded by the interpreter."""

from __future__ import annotations

from pathlib import Path

import click

from conform.foreign import escaped
from conform.frontends import stablehlo_fold
from conform.frontends.stablehlo_fold import MOST_ELEMENTS
from conform.report import write


def fold(program: str | Path, most_elements: int = MOST_ELEMENTS) -> str:
    """The text of a StableHLO program in which every op of constant operands is the constant that the interpreter gives
    for it (docs/stablehlo.md). program: the text itself, or the path of a file.

    Results of more than `most_elements` elements are left. Raises UsageError for what cannot be read or parsed, and
    without jaxlib; Unjudged for types without a meaning.
    """
    if isinstance(program, Path):
        return stablehlo_fold.fold(program, most_elements).text
    return stablehlo_fold.fold_text(program, most_elements=most_elements).text


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
