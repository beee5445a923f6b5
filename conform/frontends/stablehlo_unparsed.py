"""What ends the parser's process, refused before it is parsed: convolutions of dimension numbers in their raw spelling,
which may name a dimension twice or one that is not there (MLIR prints such wrongly, or ends), and reductions without an
initial value.
"""

from __future__ import annotations

import re

from conform.errors import UsageError
from conform.frontends.stablehlo_text import is_hidden

_RAW = re.compile(r"#stablehlo\.conv<\s*raw\b([^>]*)>")
_OP = re.compile(r"\bstablehlo\.(convolution|dynamic_conv)\b")
_NUMBER = r"\b{}_dimension\s*=\s*(-?\d+)"
_SPATIAL = r"\b{}_spatial_dimensions\s*=\s*\[([-\d\s,]*)\]"
# Of input, kernel and output the two dimensions that are not spatial, and the constraint of all.
_PARTS = {
    "input": ("input_batch", "input_feature", "C13"),
    "kernel": ("kernel_input_feature", "kernel_output_feature", "C18"),
    "output": ("output_batch", "output_feature", "C20"),
}  # fmt: skip


_REDUCE = re.compile(r'"stablehlo\.(reduce)"\s*\(\s*(%[\w$.#-]+)?\s*\)')


def refuse_unparsed(text: str, file: str) -> None:
    """UsageError, with the place and the constraint of the specification. What is spelled otherwise is the parser's to
    refuse."""
    _refuse_dimensions(text, file)
    for match in _REDUCE.finditer(text):
        if not is_hidden(text, match.start()):
            raise UsageError(f"{_place(text, file, match.start())}: stablehlo.reduce: {int(match[2] is not None)} "
                             "operands, against constraint (C3) of its specification")  # fmt: skip


def _place(text: str, file: str, at: int) -> str:
    return f"{file}:{text.count(chr(10), 0, at) + 1}"


def _refuse_dimensions(text: str, file: str) -> None:
    """Of numbers that are not unique, or beyond the rank that they tell."""
    for match in _RAW.finditer(text):
        if is_hidden(text, match.start()):
            continue
        for part, (one, other, constraint) in _PARTS.items():
            given = [re.search(_NUMBER.format(name), match[1]) for name in (one, other)]
            spatial = re.search(_SPATIAL.format(part), match[1])
            if spatial is None or None in given:
                continue
            dims = [*(int(found[1]) for found in given), *map(int, re.findall(r"-?\d+", spatial[1]))]
            if sorted(dims) != list(range(len(dims))):
                *_, op = ["convolution", *_OP.findall(text, 0, match.start())]
                where = f"{_place(text, file, match.start())}: stablehlo.{op}"
                raise UsageError(f"{where}: {part} dimensions {dims}, expected each of 0 to {len(dims) - 1} once, "
                                 f"against constraint ({constraint}) of its specification")  # fmt: skip
