"""Runs I8 on the ops of which `conform/selftest/i8.json` does not know that it holds, and writes them there, op by op:
`python tools/i8_figure.py [--op GLOB]... [--workers N]`. All of them take an hour on two cores.

Exits with 1 where a pair disagrees or witnesses too little, of which nothing is written, or where the files change
meanwhile. What was written stays, and the next run goes on from there.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1]))

from conform import kit
from conform.selftest import green
from conform.selftest.agreement.agreement import Agreement, agree, modules_of, ops_and_dtypes


def held(pairs: list[tuple[str, str]], workers: int | None, failed: list[Agreement]) -> Iterator[list[Agreement]]:
    """Op by op, when all its dtypes have been compared and all of them held; `failed` gets the others."""
    missing = defaultdict(set)
    for op, dtype in pairs:
        missing[op].add(dtype)
    found = defaultdict(list)
    pool = ProcessPoolExecutor(workers)
    try:
        waiting = [pool.submit(agree, *pair) for pair in pairs]
        for done in tqdm(as_completed(waiting), total=len(pairs), unit="pair"):
            one = done.result()
            (found[one.op] if one.holds else failed).append(one)
            if {each.dtype for each in found[one.op]} == missing[one.op]:
                yield found.pop(one.op)
    finally:
        pool.shutdown(cancel_futures=True)  # where the files changed, nothing of what is left would count


def entry(op: str, agreements: Iterable[Agreement]) -> dict[str, Any]:
    """What the ledger says of an op of which I8 holds."""
    modules = modules_of(op)
    return {
        "on": datetime.now(timezone.utc).date().isoformat(),
        "digest": green.digest_of(op, modules),
        "modules": modules,
        "elements": {one.dtype: one.compared for one in sorted(agreements, key=lambda one: one.dtype)},
    }


def write(ledger: green.Ledger) -> None:
    """One op a line: a change of one is a change of one line."""
    lines = (f"{json.dumps(op)}: {json.dumps(ledger[op])}" for op in sorted(ledger))
    beside = green.FILE.with_suffix(".new")
    beside.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    beside.replace(green.FILE)


@click.command()
@click.option("--op", "globs", multiple=True, default=["*"], help="only ops of this name; repeatable")
@click.option("--workers", type=int, help="processes (default: one a core)")
def main(globs: tuple[str, ...], workers: int | None) -> None:
    """Runs I8 on what has changed since it last held, and writes down of which ops it holds."""
    ledger = dict(green.known(green.shipped()))
    wanted = {op for op, _ in ops_and_dtypes() if any(fnmatchcase(op, glob) for glob in globs)} - ledger.keys()
    pairs = [(op, dtype) for op, dtype in ops_and_dtypes() if op in wanted]
    digest, failed = kit.truth_digest(), []
    for agreements in held(pairs, workers, failed):
        if kit.truth_digest() != digest:
            raise click.ClickException("the interpreter or the references changed meanwhile")
        ledger[agreements[0].op] = entry(agreements[0].op, agreements)
        write(ledger)
    if failed:
        raise click.ClickException("\n".join(map(str, failed)))


if __name__ == "__main__":
    main()
