"""The verb `golden` of the command line: `write` and `verify`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conform import interrupt
from conform.errors import KitDefect, Unjudged
from conform.foreign import escaped
from conform.options import DEFAULT_SUITE, tell

if TYPE_CHECKING:
    from conform.golden_files.verify import Report
    from conform.golden_files.write import Summary

SHOWN = 50  # findings

_DIRECTORY = click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
_SUITES = click.argument("suites", metavar="[SUITE ...]", nargs=-1)
_FILTERS = (
    click.option("--op", "ops", metavar="GLOB", multiple=True,
                 help="Only ops like this; aten::add is every overload. Repeatable."),
    click.option("--dtype", "dtypes", metavar="NAME", multiple=True, help="Only cases of this dtype. Repeatable."),
    click.option("--id", "ids", metavar="GLOB", multiple=True, help="Only cases whose id is like this. Repeatable."),
    click.option("--exclude", metavar="GLOB", multiple=True, help="No ops and no ids like this. Repeatable."),
)  # fmt: skip
_TOLD = (
    click.option("--quiet", is_flag=True, help="Print the summary line alone."),
    click.option("--no-progress", is_flag=True, help="No progress bar, or without a terminal no lines of progress."),
)


def _with(options: tuple[Callable, ...]) -> Callable[[Callable], Callable]:
    def add(function: Callable) -> Callable:
        for option in reversed(options):
            function = option(function)
        return function

    return add


@click.group()
def golden() -> None:
    """Golden files: inputs, goldens and bounds for programs without Python or torch.

    docs/golden.md is their format: a safetensors file a family of ops, and manifest.json.
    """


@golden.command()
@_DIRECTORY
@_SUITES
@_with(_FILTERS)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of every random draw.")
@click.option("--samples", metavar="N", type=click.IntRange(min=1), default=1, show_default=True,
              help="Draws of each case.")  # fmt: skip
@click.option("--values", type=click.Choice(["typical", "special", "all"]), help="Value classes, as in `check`.")
@click.option("--layouts", type=click.Choice(["as-written", "all"]), help="Memory layouts, as in `check`.")
@_with(_TOLD)
@click.pass_context
def write(
    ctx: click.Context, directory: Path, suites: tuple[str, ...], quiet: bool, no_progress: bool, **selection: Any
) -> None:
    """Write the goldens of SUITEs into DIR, which is new or empty; the default is core.

    \b
    conform golden write goldens smoke
    conform golden write goldens --op aten::exp --dtype float32 --values typical

    The same kit, suites and options write the same bytes. A case that the kit cannot judge stands in the manifest with
    the reason.

    Exit code: 0; 2 usage, bad input or unwritable output; 3 no case has a golden; 70 a defect of the kit in some case;
    130 interrupted, 143 terminated: nothing is left in DIR.
    """
    from conform.golden_files.write import write as write_set
    from conform.report.progress import Progress
    from conform.suites.cases import Selection

    interrupt.raise_instead()
    with Progress(not (quiet or no_progress), sys.stderr.isatty(), failure="with a defect of the kit") as progress:

        def on_case(case_id: str, is_wrong: bool, asked: int) -> None:
            interrupt.check()
            progress.step(case_id, is_wrong, asked)

        summary = write_set(directory, suites or DEFAULT_SUITE, Selection(**selection), on_case, interrupt.hold)
    _show_written(summary, quiet)
    ctx.exit(_exit_code(summary.defects, 0 if summary.statuses["golden"] else Unjudged.exit_code))


def _show_written(summary: Summary, quiet: bool) -> None:
    _tell_defects(summary.defects)
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(summary.statuses.items()))
    click.echo(f"{sum(summary.statuses.values()):,} cases: {counts}")
    if not quiet:
        click.echo(f"written: {' '.join(str(path) for path in summary.files)}")


@golden.command()
@_DIRECTORY
@_SUITES
@_with(_FILTERS)
@_with(_TOLD)
@click.pass_context
def verify(
    ctx: click.Context, directory: Path, suites: tuple[str, ...], quiet: bool, no_progress: bool, **narrowed: Any
) -> None:
    """Make the goldens in DIR again and say what differs.

    Names files that are missing, corrupted or not of the set, and of each case that drifted the output, the element, by
    how many ulp, and which bound changed. SUITEs are those that the set was written of, needed only where these are
    files. Seed and selection stand in the manifest; the filters select among its cases.

    \b
    conform golden verify goldens
    conform golden verify goldens --op aten::exp

    Exit code: 0 the same; 1 something differs; 2 usage, or no golden files; 70 a defect of the kit in some case; 130
    interrupted, 143 terminated.
    """
    from conform.golden_files.verify import Narrowed
    from conform.golden_files.verify import verify as verify_set
    from conform.report.progress import Progress

    interrupt.raise_instead()
    with Progress(not (quiet or no_progress), sys.stderr.isatty(), failure="drifted") as progress:

        def on_case(case_id: str, has_drifted: bool, asked: int) -> None:
            interrupt.check()
            progress.step(case_id, has_drifted, asked)

        report = verify_set(directory, suites, Narrowed(**narrowed), on_case)
    _show_report(report, quiet)
    ctx.exit(_exit_code(report.defects, 0 if report.is_same else 1))


def _show_report(report: Report, quiet: bool) -> None:
    _tell_defects(report.defects)
    if not quiet:
        for note in report.notes:
            click.echo(f"note: {note}")
        for finding in report.findings[:SHOWN]:
            click.echo(escaped(f"{finding.of}: {finding.what}"))
        if len(report.findings) > SHOWN:
            click.echo(f"... {len(report.findings) - SHOWN:,} more")
    word = "same" if report.is_same else "drifted"
    click.echo(f"{word}: {report.drifted:,} of {report.compared:,} cases differ, {len(report.findings):,} findings")


def _tell_defects(defects: dict[str, str]) -> None:
    for case_id, reason in defects.items():
        tell(f"{case_id}: {reason}")


def _exit_code(defects: dict[str, str], otherwise: int) -> int:
    return KitDefect.exit_code if defects else otherwise
