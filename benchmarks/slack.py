"""How tight the derived bounds are: bound over observed error of torch's float32 kernels on the CPU.

A slack of 1 is a bound that is reached; below 1 torch is outside it (docs/torch-cpu.md says why). `python
benchmarks/slack.py`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from tabulate import tabulate

from conform.contracts.judge import judge
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate

ROWS = 64
EPS = 1e-5


@dataclass(frozen=True)
class Input:
    """An op on one kind of input; `outputs` names what is measured."""

    op: str
    kind: str
    array: np.ndarray
    outputs: tuple[str, ...]
    args: Callable[[np.ndarray], list]
    kernel: Callable[[torch.Tensor], tuple[torch.Tensor, ...]]


def gelu(approximate: str, kind: str, array: np.ndarray) -> Input:
    name = "gelu" if approximate == "none" else "gelu tanh"
    kernel = torch.ops.aten.gelu
    return Input("aten::gelu", kind, array, (name,), lambda x: [x], lambda x: (kernel(x, approximate=approximate),))


def softmax(kind: str, array: np.ndarray) -> Input:
    arguments = (-1, False)
    kernel = torch.ops.aten._softmax
    return Input(
        "aten::_softmax", kind, array, ("softmax",), lambda x: [x, *arguments], lambda x: (kernel(x, *arguments),)
    )


def layer_norm(kind: str, array: np.ndarray) -> Input:
    arguments = ([array.shape[-1]], None, None, EPS)
    kernel = torch.ops.aten.native_layer_norm
    outputs = ("layer norm", "its mean", "its rstd")
    return Input(
        "aten::native_layer_norm", kind, array, outputs, lambda x: [x, *arguments], lambda x: kernel(x, *arguments)
    )


def inputs() -> list[Input]:
    rng = np.random.default_rng(0)
    normal = rng.normal(0, 1, (ROWS, 64)).astype(np.float32)
    long = rng.normal(0, 1, (ROWS, 1024)).astype(np.float32)
    spread = np.linspace(-6, 6, ROWS * 64, dtype=np.float32).reshape(ROWS, 64)
    return [
        *(gelu(approximate, kind, x) for approximate in ("none", "tanh") for kind, x in
          (("-6 to 6", spread), ("-6 to -2", spread[: ROWS // 3]), ("0 to 6", spread[ROWS // 2 :]))),
        softmax("normal, 64", normal), softmax("normal, 1024", long), softmax("30 * normal, 64", 30 * normal),
        layer_norm("normal, 64", normal), layer_norm("normal, 1024", long),
        layer_norm("normal + 1000, 64", normal + 1000),
    ]  # fmt: skip


def table_rows(case: Input) -> list[list[str]]:
    """A row an output; the slack is that of the elements with an error."""
    keywords = {"approximate": "tanh"} if case.outputs == ("gelu tanh",) else {}
    goldens = evaluate(case.op, case.args(case.array), keywords).goldens
    results = case.kernel(torch.from_numpy(case.array))
    row = contract_table("opencl").row(case.op, "float32")
    rows = []
    for name, golden, actual in zip(case.outputs, goldens, results, strict=True):
        elements = judge(golden, actual.numpy(), row)
        error, bound = elements.error_ulp.reshape(-1), elements.bound_ulp.reshape(-1)
        slack = bound[error > 0] / error[error > 0]
        outside = np.count_nonzero(~elements.ok)
        figures = (np.median(error), np.median(bound), np.median(slack), slack.min())
        rows.append([name, case.kind, str(error.size), str(outside), *(f"{figure:.3g}" for figure in figures)])
    return rows


def main() -> None:
    torch.set_num_threads(1)
    headers = ["output", "input", "elements", "outside", "median error (ulp)", "median bound (ulp)", "median slack",
               "smallest slack"]  # fmt: skip
    rows = [row for case in inputs() for row in table_rows(case)]
    print(f"torch {torch.__version__}, float32, CPU")
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
