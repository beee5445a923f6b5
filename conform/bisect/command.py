"""The verb `bisect` of the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conform import interrupt

DEFAULT_SUITE = ("modules",)


@click.command()
@click.argument("name", metavar="CASE-ID|MODEL")
@click.option("--backend", metavar="NAME", required=True, help="What is tested: see `conform backends`.")
@click.option("--backend-option", "options", metavar="KEY=VALUE", multiple=True,
              help="An argument for the backend's class. Repeatable.")  # fmt: skip
@click.option("--import", "imports", metavar="MODULE", multiple=True, help="As of `conform check`. Repeatable.")
@click.option("--suite", "suites", metavar="SUITE", multiple=True,
              help="Holds the test of CASE-ID; default modules. Repeatable.")  # fmt: skip
@click.option("--dtype", metavar="NAME", help="A float dtype to which MODEL and its inputs are cast.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of every random draw.")
@click.option("--contract", metavar="NAME|FILE", default="opencl", show_default=True, help="The table of bounds.")
@click.option("--timeout", "timeout_s", metavar="SECONDS", type=float, default=30.0, show_default=True,
              help="For one call of the backend.")  # fmt: skip
@click.option("--golden-timeout", "golden_timeout_s", metavar="SECONDS", type=float, default=60.0, show_default=True,
              help="For the kit's own golden or judgement of one op.")  # fmt: skip
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="Write the first op that leaves its contract there, as the suite file repro.yaml.")  # fmt: skip
@click.pass_context
def bisect(
    ctx: click.Context, name: str, backend: str, options: tuple[str, ...], imports: tuple[str, ...],
    suites: tuple[str, ...], dtype: str | None, seed: int, contract: str, timeout_s: float, golden_timeout_s: float,
    out: Path | None,
) -> None:  # fmt: skip
    """Find the op of a module that is wrong on a backend.

    CASE-ID is a module's case in a suite; MODEL is FILE.py::FUNCTION, which returns a module and a tuple of its inputs.
    Every op of the module is run twice, on the golden's operands and on those that the backend itself came to, and
    judged by itself. Named are the first that leaves its contract, and the one where most of the error of the results
    arises. With --out the first becomes a test of its own, as small as it still fails (docs/bisect.md).

    \b
    conform bisect nn_Linear_true/float32/typical/contiguous --backend inductor
    conform bisect examples/models/llama.py::build --backend kernels.py::Mine --dtype bfloat16
    conform bisect mlp/float32/typical/contiguous --suite mine.yaml --backend cuda --out found
    conform check found/repro.yaml --backend cuda

    Exit code: 0 no op leaves its contract; 1 one does; 2 usage; 3 no op could be judged; 70 a defect of the kit.
    """
    from tqdm import tqdm

    from conform.backends.spelling import with_options
    from conform.bisect.terminal import render
    from conform.bisect.whole import Asked, bisect_on

    interrupt.raise_instead()
    asked = Asked(
        name, with_options(backend, options), imports, suites or DEFAULT_SUITE, dtype, seed, contract, timeout_s,
        golden_timeout_s, out,
    )  # fmt: skip
    with tqdm(desc="ops", unit="", file=sys.stderr, leave=False, disable=not sys.stderr.isatty()) as bar:
        found, written = bisect_on(asked, lambda: bar.update())
    click.echo(render(found, asked.backend))
    if written is not None:
        click.echo(f"written: {written}")
    ctx.exit(found.exit_code)
