"""The verbs about suites: what is in them, and calls to fill them with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from conform.errors import ConformError
from conform.options import DEFAULT_SUITE, tell


@click.command()
@click.argument("suites", metavar="SUITE ...", nargs=-1, required=True)
@click.pass_context
def validate(ctx: click.Context, suites: tuple[str, ...]) -> None:
    """Say whether suites are well-formed.

    Prints `ok` and the number of tests of every file, or every error.

    \b
    conform validate mine.yaml core
    """
    failed = False
    for one in _each_validated(suites):
        if isinstance(one, ConformError):
            failed = True
            tell(one)
        else:
            click.echo(f"ok {one}")
    ctx.exit(2 if failed else 0)


def _each_validated(names: Sequence[str]) -> Iterator[str | ConformError]:
    """A line for each file, or what is wrong with it; files of StableHLO programs behind those of suites, which are
    loaded together."""
    from conform.suites import each_validated
    from conform.suites.builtin import is_of_programs

    programs = [name for name in names if is_of_programs(name)]
    if suites := [name for name in names if name not in programs]:
        yield from each_validated(suites)
    for name in programs:
        try:
            yield _of_programs(name)
        except ConformError as error:
            yield error


def _of_programs(name: str) -> str:
    from conform.frontends.stablehlo_suite import suite_of

    count = len(suite_of([name]).tests)
    return f"{name}: {count} test{'' if count == 1 else 's'}"


@click.command("list")
@click.argument("suites", metavar="[SUITE ...]", nargs=-1)
def list_tests(suites: tuple[str, ...]) -> None:
    """Print the id of every test, one a line.

    The cases of a test (its dtypes, value classes, layouts and samples) have the ids TEST/DTYPE/VALUES/LAYOUT.
    """
    from conform.running.pool import cores
    from conform.suites import list_ids
    from conform.suites.builtin import is_of_programs

    if suites and all(map(is_of_programs, suites)):
        from conform.frontends.stablehlo_suite import suite_of

        ids = [test.id for test in suite_of(suites).tests]
    else:
        ids = list_ids(suites or DEFAULT_SUITE, processes=cores())
    for test in ids:
        click.echo(test)


@click.command()
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


@click.command()
@click.option("--run", "of_record", is_flag=True, help="That of run.json, which `conform check --out` writes.")
@click.option("--manifest", "of_manifest", is_flag=True, help="That of manifests, which `conform check` reads.")
def schema(of_record: bool, of_manifest: bool) -> None:
    """Print the JSON Schema of suite files, for editors, or of run records or manifests."""
    import json

    if of_record and of_manifest:
        raise click.UsageError("--run and --manifest are two schemas: name one of them")
    if of_manifest:
        from conform.manifest.language import json_schema as made
    elif of_record:
        from conform.report.schema import run_schema as made
    else:
        from conform.suites import json_schema as made
    click.echo(json.dumps(made(), indent=2))
