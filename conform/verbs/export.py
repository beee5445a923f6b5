"""The verb that writes a case for engines without Python."""

from __future__ import annotations

from pathlib import Path

import click

from conform.options import DEFAULT_SUITE


@click.command()
@click.argument("case_id", metavar="CASE-ID")
@click.option("--to", "form", type=click.Choice(["stablehlo", "onnx"]), required=True, help="What the file is.")
@click.option("--suite", "suites", metavar="SUITE", multiple=True,
              help="Holds the case: a built-in name, a YAML file, or one of StableHLO programs. Default: core. "
              "Repeatable.")  # fmt: skip
@click.option("--contract", metavar="NAME|FILE", default="opencl", show_default=True, help="What may come out.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of the inputs.")
@click.option("--args", "arguments", metavar="FILE.npz", type=click.Path(path_type=Path, dir_okay=False),
              help="What a StableHLO program gets, as of `conform check`.")  # fmt: skip
@click.option("--golden-timeout", "golden_timeout_s", metavar="SECONDS", type=float, default=60.0, show_default=True,
              help="For the kit's own golden.")  # fmt: skip
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Write it there. Default: stdout, of text.")  # fmt: skip
def export(
    case_id: str, form: str, suites: tuple[str, ...], contract: str, seed: int, golden_timeout_s: float,
    out: Path | None, arguments: Path | None,
) -> None:  # fmt: skip
    """Write a case as a file that checks itself, for engines without Python.

    The file holds the inputs, the op, and for every element of its outputs the first and the last number that may come
    out. What it gives is, for each output, how many elements are wrong: 0 is right. It is a StableHLO program, whose
    main takes nothing, or a model in ONNX, whose inputs have defaults. What is right has to be a range of numbers for
    each element by itself; a case of several readings, of indices of equal elements or of complex numbers has no file.

    \b
    conform export exp_wide/float32/typical/contiguous --to stablehlo --out exp.mlir
    conform export mm_long/bfloat16/typical/contiguous --to onnx --out mm.onnx
    conform export model.mlir@main/float32/typical/contiguous --suite model.mlir --to stablehlo

    Exit code: 0; 2 usage, no such case, or an op without a form; 3 not to be judged so.
    """
    from conform.export.command import export as run

    run(case_id, suites or DEFAULT_SUITE, seed, contract, golden_timeout_s, form, out, arguments)
