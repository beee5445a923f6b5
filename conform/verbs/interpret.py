"""The verbs about StableHLO programs: run by their specification, and folded by it."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("paths", metavar="FILE.mlir|DIR ...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--function", "function", metavar="NAME",
              help="What to run. Default: main, or else every function without arguments.")  # fmt: skip
@click.option("--args", "arguments", metavar="FILE.npz", type=click.Path(path_type=Path, dir_okay=False),
              help="The arguments of the function, in the order of the file.")  # fmt: skip
@click.option("--out", metavar="FILE.npz", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the results there, as FUNCTION.0, FUNCTION.1, ...")  # fmt: skip
@click.pass_context
def interpret(
    ctx: click.Context, paths: tuple[Path, ...], function: str | None, arguments: Path | None, out: Path | None
) -> None:
    """Run StableHLO programs op by op, as the specification says, and print their results.

    Each op's result is rounded once to its element type. Checks of the check dialect are made: one that fails is told
    with its place, the first wrong element, and how far off that is. A folder, or several files, give a table. A file
    holds several programs if `// -----` stands between them. It needs the extra `conform[stablehlo]`.

    \b
    conform interpret add.mlir
    conform interpret model.mlir --function main --args inputs.npz --out results.npz
    conform interpret tests/

    Exit code: 0; 1 a check failed; 2 usage, or a file that is no valid program; 3 the kit has no meaning for an op or
    a type, and no check failed.
    """
    from conform.stablehlo.command import interpret as run

    ctx.exit(run(paths, function, arguments, out))


@click.command()
@click.argument("path", metavar="FILE.mlir", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the programs there, not to stdout.")  # fmt: skip
@click.option("--most-elements", metavar="N", type=click.IntRange(min=0), default=65536, show_default=True,
              help="Results of more elements are left as they are computed.")  # fmt: skip
def fold(path: Path, out: Path | None, most_elements: int) -> None:
    """Print StableHLO programs with their constants folded.

    An op whose operands are all constants becomes the constant that `conform interpret` gives for it, in functions and
    in regions. Left alone are ops with an effect, loops, large results, and what has no meaning here; large results and
    what has no meaning are told on stderr, with their places.

    \b
    conform fold model.mlir > folded.mlir
    conform fold model.mlir --out folded.mlir && conform interpret folded.mlir

    Exit code: 0; 2 usage, or a file that is no valid program; 3 a type without a meaning.
    """
    from conform.stablehlo.fold import folded

    folded(path, out, most_elements)
