"""The verbs about the kit itself: what it knows, and how it proves itself."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from conform import interrupt
from conform.errors import UsageError
from conform.foreign import escaped
from conform.options import DEFAULT_SUITE

if TYPE_CHECKING:
    from tqdm import tqdm


@click.command()
@click.argument("globs", metavar="[OP ...]", nargs=-1)
def ops(globs: tuple[str, ...]) -> None:
    """List the ops and what the kit has of each; of all, or of those like the globs OP.

    semantics: it can be judged; reference: an independent second definition; spec: what is valid input; suite: tests in
    the core suite; contract: a row in the default table (else the bound is derived from the documented formula).

    \b
    conform ops
    conform ops exp 'aten::fft*'
    """
    from conform.explain.inventory import inventory, render
    from conform.operators import op_globs
    from conform.running.pool import cores

    entries = inventory(ops=op_globs(globs), processes=cores())
    if not entries:
        raise UsageError(f"no op is like {' or '.join(map(repr, globs))}; conform ops lists them all")
    click.echo(render(entries))


@click.command()
def backends() -> None:
    """List the backends, and why some are not available."""
    from tabulate import tabulate

    from conform.backends.names import backends as known

    rows = [[escaped(name), "yes" if available else "no", escaped(detail)] for name, available, detail in known()]
    click.echo(tabulate(rows, headers=["backend", "available", "version or reason"], disable_numparse=True))
    click.echo("\nalso any torch device string, path/to/file.py::ClassName, entry points of the group conform.backends")


@click.command()
@click.option("--op", "ops", metavar="GLOB", multiple=True,
              help="Only ops like this; aten::add is every overload. Repeatable.")  # fmt: skip
@click.option("--full", is_flag=True, help="Every op, dtype and defect: minutes. Default: a share, the same each time.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Chooses the share.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures for a program.")
@click.option("--no-progress", is_flag=True, help="No progress bar (there is none without a terminal anyway).")
@click.pass_context
def selftest(
    ctx: click.Context, ops: tuple[str, ...], full: bool, seed: int, as_json: bool, no_progress: bool
) -> None:  # fmt: skip
    """Let the kit prove itself: its truth against references, its judge against planted defects.

    Runs I8, the agreement of the interpreter with independent references bit for bit, and backends that are torch with
    one defect each, which the core suite must catch. Prints what was caught, by class of real bugs, and why the rest
    cannot be. On x86-64 torch is held to its AVX2 kernels, so that every processor tells the same.

    \b
    conform selftest
    conform selftest --op aten::_softmax --op 'aten::*norm*'
    conform selftest --full

    Exit code: 0 I8 holds and every defect is caught or explained; 1 not; 2 usage, a glob that matches no op.
    """
    from conform.selftest.instruction_sets import hold

    hold()
    from tqdm import tqdm

    from conform.selftest.run import self_test
    from conform.selftest.table import render, told

    interrupt.raise_instead()
    shows = sys.stderr.isatty() and not no_progress
    with tqdm(desc="self-test", unit="step", file=sys.stderr, leave=False, disable=not shows) as bar:
        found = self_test(ops, full, seed, partial(_show_progress, bar))
    click.echo(json.dumps(told(found)) if as_json else render(found))
    ctx.exit(1 if found.problems else 0)


def _show_progress(bar: tqdm, done: int, of: int) -> None:
    bar.total = of
    bar.update(done - bar.n)


@click.command()
@click.argument("name", metavar="OP|CASE-ID")
@click.option("--suite", "suites", metavar="SUITE", multiple=True, help="Holds the tests; default core. Repeatable.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of the inputs of a case.")
@click.option("--golden-timeout", "golden_timeout_s", metavar="SECONDS", type=float, default=60.0, show_default=True,
              help="For the golden values of a case and their bounds.")  # fmt: skip
def explain(name: str, suites: tuple[str, ...], seed: int, golden_timeout_s: float) -> None:
    """Say what an op, or one case of it, should give.

    For an op: its schema, meaning, dtypes, bounds with their sources, policy rules and tests. For a case: its inputs,
    golden values and contract.

    \b
    conform explain aten::gelu
    conform explain exp_wide/float32/special/contiguous

    Exit code: 0; 2 usage; 3 the golden values took longer than --golden-timeout.
    """
    from conform.explain.case import explain_case
    from conform.explain.op import explain_op

    chosen = suites or DEFAULT_SUITE
    if name.startswith("aten::"):
        click.echo(explain_op(name, chosen))
    else:
        click.echo(explain_case(name, chosen, seed, golden_timeout_s=golden_timeout_s))
