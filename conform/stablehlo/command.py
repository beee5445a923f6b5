"""What `conform interpret` prints, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from tabulate import tabulate

from conform.errors import UsageError
from conform.foreign import escaped
from conform.frontends.stablehlo import load_arrays
from conform.interp.stablehlo.checks import Check
from conform.interp.stablehlo.dense import text
from conform.options import tell
from conform.stablehlo.run import File, run_file, tensors

ORDER = (70, 1, 2, 3)  # the exit code of several files is the first of these that one of them has
VERDICTS = {0: "ok", 1: "FAIL", 2: "invalid", 3: "no meaning", 70: "defect of the kit"}


def interpret(paths: Sequence[Path], function: str | None, arguments: Path | None, out: Path | None) -> int:
    """Run the files, print what came of them, and give the exit code."""
    files = _files(paths)
    as_table = len(files) > 1 or paths[0].is_dir()
    inputs = load_arrays(arguments)
    found = []
    for path in files:
        found.append(run_file(path, function, inputs))
        _show(found[-1], with_results=not as_table)
    if as_table:
        click.echo(_table(found))
    if out is not None and any(file.ran for file in found):
        _write(out, found)
    codes = {one.exit_code for one in found}
    return next((code for code in ORDER if code in codes), 0)


def _files(paths: Sequence[Path]) -> list[Path]:
    files = [file for path in paths for file in (sorted(path.rglob("*.mlir")) if path.is_dir() else [path])]
    if not files:
        raise UsageError(f"{', '.join(map(str, paths))}: there is no .mlir file")
    return files


def _show(file: File, with_results: bool) -> None:
    for error in file.errors():
        tell(error)
    for ran in file.ran:
        if with_results:
            for where, one in ran.told.printed:
                click.echo(f"{escaped(where)}: {text(one)}")
            for probe, kept in ran.told.probed.items():
                for at, one in enumerate(kept):
                    click.echo(f"{escaped(ran.name)}.{escaped(probe)}.{at} = {text(one)}")
            for at, one in enumerate(ran.results):
                click.echo(f"{escaped(ran.name)}.{at} = {text(one)}")
        for check in ran.checks:
            if check.failure is not None:
                click.echo(_failure(check))


def _failure(check: Check) -> str:
    found = check.failure
    ulp = "" if found.error_ulp is None else f"\n  error     {found.error_ulp:.6g} ulp"
    return (
        f"FAIL {escaped(check.location)}: {check.name}\n  index     {list(found.index)}\n  expected  {found.expected}\n"
        f"  actual    {found.actual}{ulp}\n  elements  {found.failed} of {found.elements}"
    )


def _table(files: Sequence[File]) -> str:
    rows = [(escaped(str(file.path)), len(file.ran), *_checks(file), VERDICTS[file.exit_code]) for file in files]
    counts = [f"{sum(row[-1] == name for row in rows)} {name}" for name in VERDICTS.values()]
    told = ", ".join(one for one in counts if not one.startswith("0 "))
    listed = tabulate(rows, ("file", "functions", "checks", "failed", ""), tablefmt="plain", disable_numparse=True)
    return f"{listed}\n\n{len(files)} files: {told}"


def _checks(file: File) -> tuple[int, int]:
    checks = file.checks()
    return len(checks), sum(check.failure is not None for check in checks)


def _write(out: Path, files: Sequence[File]) -> None:
    arrays = tensors(files)  # before what stands in the file is gone
    try:
        with out.open("wb") as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}") from None
    click.echo(f"written: {out}")
