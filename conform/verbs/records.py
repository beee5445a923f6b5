"""The verbs about what `conform check --out` wrote: put together, set beside another, repeated."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conform.options import show


@click.command()
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
    show(run, write.write(run, write.prepare(out)), quiet)
    ctx.exit(run.exit_code)


@click.command()
@click.argument("before", metavar="RUN_A", type=click.Path(path_type=Path, file_okay=False))
@click.argument("after", metavar="RUN_B", type=click.Path(path_type=Path, file_okay=False))
@click.pass_context
def compare(ctx: click.Context, before: Path, after: Path) -> None:
    """Say what changed from one run to another.

    RUN_A and RUN_B are what `conform check --out DIR` wrote. Told are cases that passed and do not now, or the other
    way round; that fail otherwise; that are in one of the runs alone; and of those that pass in both, by op and dtype,
    the largest errors that grew or shrank by more than a tenth.

    \b
    conform check --backend cuda --out before
    conform check --backend cuda --out after
    conform compare before after

    Exit code: 0; 1 some case passed and does not any more, without being waived; 2 usage, or no run.
    """
    from conform.report.compare import compared, render
    from conform.report.schema import read

    records = [read(directory) for directory in (before, after)]
    found = compared(*records)
    click.echo(render(found, [record.summary for record in records]))
    ctx.exit(1 if found.regressions else 0)


@click.command()
@click.argument("directories", metavar="DIR ...", nargs=-1, required=True,
                type=click.Path(path_type=Path, file_okay=False))  # fmt: skip
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path, file_okay=False), required=True,
              help="Where the pages go; those of an earlier report get a ~.")  # fmt: skip
@click.option("--site", is_flag=True, help="A folder of pages: index.html with a table of the runs, and one of each.")
def report(directories: tuple[Path, ...], out: Path, site: bool) -> None:
    """Make a page to read of runs, or a folder of pages.

    Each DIR is what `conform check --out DIR` wrote. Of one run report.html is the page that `check` made; of several
    it has them side by side. The pages need no network and nothing beside them (docs/report.md).

    \b
    conform report results --out page
    conform report before after --out both
    conform report --site cpu cuda mine --out site

    Exit code: 0; 2 usage, or no run.
    """
    from conform.report import write
    from conform.report.html import page
    from conform.report.html import site as folder
    from conform.report.html.records import read

    records = [read(directory) for directory in directories]
    texts = folder.render(records) if site else {write.PAGE: page.render(records)}
    write.prepare(out, names=texts)
    written = [write.put(out / name, text) for name, text in texts.items()]
    click.echo(f"written: {' '.join(map(str, written))}")


@click.command()
@click.argument("case_id", metavar="CASE-ID")
@click.option("--run", "directory", metavar="DIR", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="What `conform check --out DIR` wrote.")  # fmt: skip
@click.option("--backend", metavar="NAME", help="What runs the calls. Default: the run's, unless it is in a file.")
@click.option("--import", "imports", metavar="MODULE", multiple=True, help="As of `conform check`. Repeatable.")
@click.option("--golden-timeout", "golden_timeout_s", metavar="SECONDS", type=float, default=60.0, show_default=True,
              help="For the kit's own golden or judgement of one call.")  # fmt: skip
@click.option("--yaml", "as_yaml", is_flag=True, help="Print a suite file with the call as its test, not a script.")
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Write it there, and what is too large for a script beside it.")  # fmt: skip
def repro(
    case_id: str, directory: Path, backend: str | None, imports: tuple[str, ...], golden_timeout_s: float,
    as_yaml: bool, out: Path | None,
) -> None:  # fmt: skip
    """Print a failing case of a run as a short script, or as a suite file.

    The call is made smaller as long as it fails in the same way: fewer elements and dimensions, plain values, default
    arguments, a contiguous layout. The script needs torch alone, shows expected against actual as hex, and ends with 1
    while the backend is wrong. Of a module it constructs it, with its parameters as data, and has inputs as small as it
    fails on; many parameters stand in a file beside --out. Of a StableHLO program it is the op that fails by itself, as
    a program that checks itself. A backend in a file is run only if --backend names it: anybody can write a run.json.

    \b
    conform check --backend cpu --out results
    conform repro cast_float_to_float16/float64/special/contiguous --run results > repro.py
    python repro.py

    Exit code: 0; 2 usage, or the case does not fail any more; 3 the kit cannot judge it (in time).
    """
    from tqdm import tqdm

    from conform.repro.command import repro as reduced

    with tqdm(desc="smaller calls tried", unit="", file=sys.stderr, disable=not sys.stderr.isatty()) as bar:
        written = reduced(
            case_id, directory, backend, on_try=lambda: bar.update(), imports=imports,
            golden_timeout_s=golden_timeout_s, as_yaml=as_yaml, out=out,
        )  # fmt: skip
    if out is None:
        click.echo(written.text, nl=False)
    else:
        click.echo(f"written: {' '.join(map(str, written.write(out)))}")


@click.command()
@click.option("--run", "directory", metavar="DIR", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="What `conform check --out DIR` wrote.")  # fmt: skip
def manifest(directory: Path) -> None:
    """Print a first manifest of a backend: a claim of every op and dtype of which each valid call passed in a run.

    Comments say what is not claimed, and why. Shapes and layouts are yours to add (docs/manifest.md).

    \b
    conform check --backend kernels.py::Kernels --out results
    conform manifest --run results > kernels.yaml
    conform check --backend kernels.py::Kernels --manifest kernels.yaml

    Exit code: 0; 2 usage, no run, or nothing to claim.
    """
    from conform.manifest.draft import draft

    click.echo(draft(directory), nl=False)
