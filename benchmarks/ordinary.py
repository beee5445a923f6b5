"""What the golden of an element costs for ordinary numbers, of every elementwise op and dtype: CPU time of a call of
2^14 elements, the better of two, of which the slowest are told: `python benchmarks/ordinary.py ['aten::exp*']`.

Floats are normally distributed with a spread of 2, of ops that refuse those uniform between 0 and 1; integers are 1 to
8, or 0 and 1. Python floats are 0.7, integers that stand for elements 3.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

import click
import numpy as np
from tabulate import tabulate

from conform.call.schemas import schema
from conform.errors import ConformError
from conform.interp.evaluate import evaluate
from conform.interp.semantics import traits_of
from conform.numerics.formats import format_of
from conform.selftest.agreement.agreement import ops_and_dtypes
from conform.selftest.agreement.calls import Call, derived

ELEMENTS = 1 << 14
REPEATS = 2
ROUNDS = 4  # of drawn calls, until one goes through
GOAL_US = 1.0


def ordinary(like: np.ndarray, random: np.random.Generator, unit: bool) -> np.ndarray:
    """ELEMENTS numbers of the dtype."""
    fmt = format_of(like)
    if fmt.is_integer or fmt.kind == "bool":
        return random.integers(*((0, 2) if unit or fmt.kind == "bool" else (1, 9)), ELEMENTS).astype(like.dtype)
    if fmt.is_complex:
        return (2 * (random.standard_normal((2, ELEMENTS)).T @ [1, 1j])).astype(like.dtype)
    numbers = random.uniform(size=ELEMENTS) if unit else 2 * random.standard_normal(ELEMENTS)
    return numbers.astype(like.dtype)


def calls(op: str, dtype: str) -> Iterator[Call]:
    """Those of I8 that are valid, their tensors replaced."""
    random = np.random.default_rng(0)
    for number in range(ROUNDS):
        for witness in derived(op, dtype, 1 + number):
            for unit in (False, True):
                if witness.is_valid:
                    yield {name: _replaced(op, name, value, random, unit) for name, value in witness.call.items()}


def _replaced(op: str, name: str, value: Any, random: np.random.Generator, unit: bool) -> Any:
    if isinstance(value, np.ndarray):
        return ordinary(value, random, unit)
    types = {argument.name: argument.type for argument in schema(op).arguments}
    if isinstance(value, float):
        return 0.7
    return 3 if types[name] == "Scalar" and type(value) is int else value


def microseconds(op: str, dtype: str) -> float | None:
    """An element's golden of the first call that has one; None if none has."""
    for call in calls(op, dtype):
        times = []
        try:
            for _ in range(REPEATS):
                started = time.process_time()
                evaluate(op, [], call)
                times.append(time.process_time() - started)
        except ConformError:
            continue
        return 1e6 * min(times) / ELEMENTS
    return None


@click.command()
@click.argument("ops", nargs=-1)
@click.option("--dtype", "dtypes", multiple=True, help="Of these dtypes alone.")
@click.option("--most", default=20, show_default=True, help="Rows of the table.")
def main(ops: tuple[str, ...], dtypes: tuple[str, ...], most: int) -> None:
    """The slowest of the elementwise ops (globs; all by default)."""
    pairs = [
        (op, dtype) for op, dtype in ops_and_dtypes()
        if traits_of(op).pointwise and any(fnmatch(op, glob) for glob in ops or ("*",))
        and dtype in (dtypes or (dtype,))
    ]  # fmt: skip
    found = {pair: microseconds(*pair) for pair in pairs}
    timed = sorted(((us, *pair) for pair, us in found.items() if us is not None), reverse=True)
    rows = [(op, dtype, us) for us, op, dtype in timed[:most]]
    print(tabulate(rows, headers=["op", "dtype", "us an element"], tablefmt="github", floatfmt=".2f"))
    above = sum(us > GOAL_US for us, *_ in timed)
    lacking = sorted({op for (op, _), us in found.items() if us is None})
    print(f"{len(timed)} ops and dtypes, {above} above {GOAL_US} us; no such call: {', '.join(lacking) or 'none'}")


if __name__ == "__main__":
    main()
