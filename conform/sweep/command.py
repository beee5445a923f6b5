"""The verb `sweep` of the command line."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conform import interrupt
from conform.errors import ConformError
from conform.options import on_ray, one_backend, tell, told_of_shards, words_on_ray

if TYPE_CHECKING:
    from conform.sweep.run import Sweep
    from conform.sweep.space import Codes


def _codes(written: str | None) -> Codes | None:
    if written is None:
        return None
    found = re.fullmatch(r"(0x[0-9a-f]+|\d+):(0x[0-9a-f]+|\d+)", written, re.IGNORECASE)
    if found is None:
        raise click.BadParameter(f"{written!r}; expected two codes, as in 0x3f800000:0x3fffffff", param_hint="--range")
    from conform.sweep.space import Codes

    return Codes(*(int(code, 0) for code in found.groups()))


@click.command()
@click.argument("op", metavar="OP")
@click.option("--backend", metavar="NAME", multiple=True, required=True, callback=one_backend,
              help="What is tested: see `conform backends`.")  # fmt: skip
@click.option("--dtype", metavar="NAME", help="Of the operands. Default: float32; of an op of two, float16.")
@click.option("--arg", "arguments", metavar="NAME=VALUE", multiple=True,
              help="Another argument of the op, the same for all inputs. Repeatable.")  # fmt: skip
@click.option("--contract", metavar="NAME|FILE", default="opencl", show_default=True,
              help="The table that decides; all shipped ones are asked.")  # fmt: skip
@click.option("--range", "codes", metavar="FIRST:LAST",
              help="Only these codes, as in 0x3f800000:0x3fffffff; of pairs, 0xLHS0000:0xLHSffff.")  # fmt: skip
@click.option("--shard", metavar="I/N", help="Only every Nth block of 2^22 inputs, from the Ith on.")
@click.option("--workers", metavar="N", type=click.IntRange(min=1), help="Processes. Default: one a core.")
@click.option("--timeout", "timeout_s", metavar="SECONDS", type=float, default=30.0, show_default=True,
              help="For one call of the backend, of 2^18 inputs.")  # fmt: skip
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="Write blocks.jsonl, as it goes, and sweep.json there; earlier ones get a ~.")  # fmt: skip
@on_ray
@click.option("--resume", metavar="DIR", multiple=True, type=click.Path(path_type=Path, file_okay=False),
              help="Take what blocks.jsonl there has. Repeatable, with --out: shards are merged.")  # fmt: skip
@click.option("--known", metavar="DIR", multiple=True, type=click.Path(path_type=Path, file_okay=False),
              help="Do not judge blocks answered byte for byte as in the sweep there. Repeatable.")  # fmt: skip
@click.option("--quiet", is_flag=True, help="Print the summary line alone.")
@click.option("--no-progress", is_flag=True, help="No progress bar (there is none without a terminal anyway).")
@click.pass_context
def sweep(
    ctx: click.Context, op: str, backend: str, arguments: tuple[str, ...], codes: str | None,
    quiet: bool, no_progress: bool, ray_address: str | None, **options: Any,
) -> None:
    """Judge an op on every input of a format.

    The op works element by element: on one float operand, all 2^16 or 2^32 inputs, or on two 16-bit operands, all 2^32
    pairs. Tells the largest error and where it is, how errors are spread, and what every contract table says.

    \b
    conform sweep aten::exp --backend cpu --out exp
    conform sweep aten::exp --backend cpu --resume exp          goes on after an interruption
    conform sweep gelu --backend cuda --dtype bfloat16 --arg approximate=tanh
    conform sweep pow --backend cpu --dtype float16 --shard 1/8 --out shard1
    conform sweep pow --backend cpu --dtype float16 --resume shard1 --resume shard2 ... --out all
    conform sweep exp --backend mine.py::Mine --known exp       asks for all, judges what is not the same as cpu's
    conform sweep aten::exp --backend cpu --ray auto --out exp

    Exit code: 0 every input within the contract; 1 not, or not all judged; 2 usage; 3 nothing compared; 70 a defect of
    the kit; 130 interrupted, 143 terminated: the blocks that were done are kept.
    """
    from conform.sweep import record, terminal
    from conform.sweep.subject import keyword

    interrupt.raise_instead()
    asked = {"op": op, "backend": backend, "keywords": dict(map(keyword, arguments)), "codes": _codes(codes), **options}
    is_silent = quiet or no_progress
    result = _swept(asked, is_silent) if ray_address is None else _swept_on_ray(ctx, ray_address, asked, is_silent)
    if result.reason is not None:
        tell(f"{result.record['stopped']}; this is what was swept")
    click.echo(terminal.summary_line(result.record) if quiet else terminal.render(result.record))
    ended = result.reason
    if isinstance(ended, KeyboardInterrupt):
        ctx.exit(interrupt.exit_code(ended))
    ctx.exit(ended.exit_code if isinstance(ended, ConformError) else record.exit_code(result.record))


def _swept(asked: Mapping[str, Any], is_silent: bool) -> Sweep:
    """On this machine, with its progress."""
    from tqdm import tqdm

    from conform.sweep.run import sweep as run_sweep

    hidden = is_silent or not sys.stderr.isatty()
    with tqdm(desc=asked["op"], unit="input", unit_scale=True, leave=False, dynamic_ncols=True, disable=hidden) as bar:

        def on_block(done: int, found: int, all_inputs: int) -> None:
            interrupt.check()
            bar.total, bar.initial = all_inputs, found
            bar.update(done - max(bar.n, found))

        return run_sweep(**asked, on_block=on_block, on_end=interrupt.hold)


def _swept_on_ray(ctx: click.Context, address: str, asked: Mapping[str, Any], is_silent: bool) -> Sweep:
    """On a cluster, in shards."""
    from conform.sweep.on_ray import swept_on

    words, local = words_on_ray(ctx), ("out", "resume", "known", "shard", "workers")
    given = {name: value for name, value in asked.items() if name not in local}
    return swept_on(address, words, asked["out"], told_of_shards(is_silent), **given)
