"""What `conform export` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from conform.errors import UsageError
from conform.export.case import exported

FORMS = ("stablehlo", "onnx")


def export(
    case_id: str, suites: Sequence[str], seed: int, contract: str, golden_timeout_s: float, form: str, out: Path | None,
    arguments: Path | None = None,
) -> None:  # fmt: skip
    """Write the case in this form to `out`, or where it is text to stdout. UsageError for what cannot be written."""
    if form == "onnx" and out is None:
        raise UsageError("--to onnx writes no text: name a file with --out")
    found = exported(case_id, suites, seed, contract, golden_timeout_s, arguments)
    if form == "onnx":
        from conform.export.onnx import model

        content = model(found)
    else:
        from conform.export.stablehlo import text

        content = text(found).encode()
    if out is None:
        click.echo(content.decode(), nl=False)
        return
    try:
        out.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}") from None
    click.echo(f"written: {out}")
