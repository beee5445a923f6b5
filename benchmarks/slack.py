"""How tight the derived bounds are: bound over observed error of torch's float32 kernels on the CPU.

A slack of 1 is a bound that is reached; below 1 torch is outside it (docs/torch-cpu.md says why). `python
benchmarks/slack.py`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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


def plain(op: str, kind: str, array: np.ndarray, *arguments: object, name: str | None = None) -> Input:
    """The first output of an op on one array and other arguments, which are numbers, lists, None or arrays."""
    packet, _, overload = op.partition(".")
    kernel = getattr(getattr(torch.ops.aten, packet), overload or "default")
    others = [torch.from_numpy(one) if isinstance(one, np.ndarray) else one for one in arguments]

    def call(x: torch.Tensor) -> tuple[torch.Tensor]:
        result = kernel(x, *others)
        return (result[0] if isinstance(result, tuple) else result,)

    return Input(f"aten::{op}", kind, array, (name or packet.strip("_"),), lambda x: [x, *arguments], call)


def composites(kind: str, x: np.ndarray) -> list[Input]:
    """Every other composite op on rows of numbers."""
    rng = np.random.default_rng(1)
    rows, columns = x.shape
    other, share = rng.normal(0, 1, x.shape).astype(np.float32), rng.uniform(0, 1, x.shape).astype(np.float32)
    classes = rng.integers(0, columns, rows)
    images = x.reshape(rows // 8, 8, columns)
    statistics = (np.zeros(8, np.float32), np.ones(8, np.float32))
    query, key = (one.reshape(4, rows // 4, columns) for one in (x, other))
    losses = [
        plain(op, kind, x, target, *middle, reduction, name=f"{op}, {said}")
        for op, target, middle in (
            ("mse_loss", other, ()), ("l1_loss", other, ()), ("smooth_l1_loss", other, ()), ("huber_loss", other, ()),
            ("binary_cross_entropy_with_logits", share, (None, None)), ("kl_div", share, ()),
            ("nll_loss_forward", classes, (None,)), ("cross_entropy_loss", classes, (None,)),
        )
        for reduction, said in ((0, "elements"), (1, "mean"))
        if (op, reduction) != ("nll_loss_forward", 0)  # which only changes signs
    ]  # fmt: skip
    losses = [_with_ignore_index(one) if one.op == "aten::nll_loss_forward" else one for one in losses]
    return [
        plain("_log_softmax", kind, x, -1, False), plain("logsumexp", kind, x, [1]), plain("mean.dim", kind, x, [1]),
        plain("var.dim", kind, x, [1]), plain("std.dim", kind, x, [1]),
        plain("linalg_vector_norm", kind, x, 2, [1]),
        plain("linalg_vector_norm", kind, x, 3, [1], name="norm of order 3"),
        plain("prod.dim_int", kind, x, 1),
        plain("native_group_norm", kind, images, None, None, rows // 8, 8, columns, 4, EPS),
        plain("_native_batch_norm_legit.no_stats", kind, images, None, None, True, 0.1, EPS, name="batch norm"),
        plain("_native_batch_norm_legit_no_training", kind, images, None, None, *statistics, 0.1, EPS,
              name="batch norm, running"),
        plain("rms_norm", kind, x, [columns], None, EPS),
        plain("binary_cross_entropy", kind, share, share[::-1].copy(), None, 0),
        *losses,
        plain("scaled_dot_product_attention", kind, query, key, key, name="attention"),
    ]  # fmt: skip


def _with_ignore_index(case: Input) -> Input:
    kernel = torch.ops.aten.nll_loss_forward
    target = torch.from_numpy(case.args(case.array)[1])
    return replace(
        case,
        args=lambda x: [*case.args(x), -100],
        kernel=lambda x: (kernel(x, target, None, 1, -100)[0],),
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
        *composites("normal, 64", normal), *composites("normal, 1024", long),
    ]  # fmt: skip


def table_rows(case: Input) -> list[list[str]]:
    """A row an output; the slack is that of the elements with an error."""
    keywords = {"approximate": "tanh"} if case.outputs == ("gelu tanh",) else {}
    goldens = evaluate(case.op, case.args(case.array), keywords).goldens
    results = case.kernel(torch.from_numpy(case.array))
    row = contract_table("opencl").row(case.op, "float32")
    rows = []
    for name, golden, actual in zip(case.outputs, goldens, results, strict=False):  # of some ops only the first output
        elements = judge(golden, actual.numpy(), row)
        error, bound = elements.error_ulp[elements.compared], elements.bound_ulp[elements.compared]
        if not error.size:  # unspecified (a product that underflows on the way), or without a bound
            continue
        slack = bound[error > 0] / error[error > 0] if (error > 0).any() else np.array([np.nan])
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
