"""What bounds hide and probes show: wrong implementations at lengths from 33 to 65,537, in each dtype.

`python benchmarks/kills.py` prints the table of docs/contracts.md, of results of three rows, judged by `opencl`:
`bound` where the bound of an element shows the defect on numbers drawn from the normal distribution, else the first of
the value classes that do (`likely`: such numbers, by the limit for independent roundings), else `-`. `--write` puts it
there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tabulate import tabulate

from conform.backends.torch_device import TorchDevice
from conform.call.arguments import Arguments
from conform.call.bound import bound_call
from conform.contracts.comparison import Comparison
from conform.contracts.tables import contract_table
from conform.domains.specs import spec_of
from conform.inputs import probes
from conform.inputs.values import value_classes, with_values
from conform.interp.evaluate import evaluate_call
from conform.judging.judgement import Judgement, Result
from conform.judging.likely import likely_errors
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS
from conform.selftest.plants import lengths
from conform.selftest.plants.catalogue import written

SIZES = (33, 257, 1031, 4096, 65537)
DTYPES = ("float32", "float16", "bfloat16", "float64")
INDEPENDENT = ("typical", "shifted")
ROWS, HEAD = 3, 8
PAGE = Path(__file__).parent.parent / "docs" / "contracts.md"
BEGIN, END = "<!-- kills -->\n", "<!-- end of kills -->\n"


@dataclass(frozen=True)
class Wrong:
    """A wrong implementation: words, the op, its planted class, the dtypes in which it is wrong."""

    words: str
    op: str
    plant: str
    dtypes: tuple[str, ...] = DTYPES


WRONG = (
    Wrong("last term dropped", "aten::sum.dim_IntList", "DropsLastTerm"),
    Wrong("last term dropped", "aten::mean.dim", "DropsLastTerm"),
    Wrong("last term dropped", "aten::mm", "DropsLastTerm"),
    Wrong("last term dropped", "aten::rms_norm", "DropsLastTerm"),
    Wrong("last term twice", "aten::mm", "DoublesLastTerm"),
    Wrong("factors cut to TF32", "aten::mm", "Tf32LongProducts", ("float32",)),
    Wrong("added up in the half type", "aten::mm", "HalfAccumulator", ("float16", "bfloat16")),
    Wrong("n - 1 for n", "aten::mean.dim", "CountsOneLess"),
    Wrong("n - 1 for n", "aten::var.correction", "CountsOneLess"),
    Wrong("correction 0 for 1", "aten::var.correction", "IgnoresOneDegreeOfFreedom"),
    Wrong("single pass", "aten::var.correction", "NaiveSpread"),
    Wrong("single pass", "aten::native_layer_norm", "NaiveVariance"),
    Wrong("without eps", "aten::native_layer_norm", "LongNormWithoutEps"),
    Wrong("unbiased for biased", "aten::native_layer_norm", "LongUnbiasedNorm"),
    Wrong("weights in bfloat16", "aten::scaled_dot_product_attention", "WeightsInBfloat16", ("float32",)),
)


def call_of(op: str, dtype: str, size: int) -> list[Any]:
    """The arguments of a call of ROWS results of `size` terms, drawn from the normal distribution."""

    def normal(number: int, *shape: int) -> np.ndarray:
        return Stream(0, op, number, f"{dtype}.{size}").normal(shape).astype(FORMATS[dtype].storage)

    rows = normal(0, ROWS, size)
    return {
        "aten::mm": lambda: [rows, normal(1, size, ROWS)],
        "aten::native_layer_norm": lambda: [rows, [size], None, None, 1e-5],
        "aten::rms_norm": lambda: [rows, [size]],
        "aten::scaled_dot_product_attention": lambda: [
            normal(0, ROWS, HEAD), *(normal(number, size, HEAD) for number in (1, 2)),
        ],
    }.get(op, lambda: [rows, [1]])()


def shown_by(wrong: Wrong, dtype: str, size: int) -> str:
    """What shows the defect: "bound", "likely", a value class, or "-"."""
    typical = Arguments(call_of(wrong.op, dtype, size), {})
    plant, spec = written()[wrong.plant](), spec_of(wrong.op)
    for values in ["typical", *_probes(typical, spec)]:
        arguments = with_values(typical, values, Stream(0, wrong.op, 0, f"values.{values}"), spec)
        found = judgements(wrong.op, arguments.args, plant, values in INDEPENDENT)
        honest = judgements(wrong.op, arguments.args, TorchDevice("cpu"), values in INDEPENDENT)
        if any(one.failed or one.violation for one in honest):
            continue  # it shows no defect that torch does not have
        if any(one.failed for one in found):
            return "bound" if values == "typical" else values
        if any(one.violation for one in found):
            return "likely" if values == "typical" else values
    return "-"


def _probes(arguments: Arguments, spec: Any) -> list[str]:
    classes = value_classes(arguments, spec)
    return [name for name in (*probes.KINDS, "conditioned") if name in classes]


def judgements(op: str, args: list[Any], backend: TorchDevice, independent: bool) -> list[Judgement]:
    """What `opencl` says of the outputs of a backend."""
    call = bound_call(op, args, {})
    outcome = evaluate_call(call)
    returned = backend.run(call.op, [_to_torch(one) for one in args], {})
    outputs = returned if isinstance(returned, tuple) else (returned,)
    likely = likely_errors(call, outcome) if independent else (None,) * len(outputs)
    results = []
    for number, (golden, output) in enumerate(zip(outcome.goldens, outputs, strict=True)):
        fitting, *others = (one for one in (golden, *golden.alternatives) if one.format.name == str(output.dtype)[6:])
        fitting = fitting if fitting is golden else fitting.or_else(*others)
        comparison = Comparison(fitting, _to_numpy(output, fitting.format.name), call.arguments)
        row = contract_table("opencl").row(call.op, fitting.format.name)
        results.append(Result(number, call.op, comparison, row, independent, likely[number]))
    return [one.judgement for one in results]


def _to_torch(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == FORMATS["bfloat16"].storage:
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(value)


def _to_numpy(tensor: torch.Tensor, name: str) -> np.ndarray:
    bits = tensor.contiguous().view(torch.int16).numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()
    return bits.view(FORMATS[name].storage)


def table(sizes: tuple[int, ...] = SIZES) -> str:
    """The table in Markdown."""
    lengths.LONG = min(sizes)
    rows = [
        [wrong.words, f"`{wrong.op.partition('::')[2]}`", dtype, *(shown_by(wrong, dtype, size) for size in sizes)]
        for wrong in WRONG
        for dtype in wrong.dtypes
    ]
    return tabulate(rows, ["wrong", "op", "dtype", *(f"{size:,}" for size in sizes)], "github") + "\n"


def main() -> None:
    found = table()
    print(found)
    if "--write" in sys.argv:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(before + BEGIN + found + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
