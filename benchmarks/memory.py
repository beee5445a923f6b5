"""What golden and judge need beyond inputs and outputs: the peak of what numpy allocates, for two sizes of tensor.

Outputs are the golden's arrays: the rounded value, its real number (three float64), the bound's parts. What must not
grow is the work space of a row or an element. `python benchmarks/memory.py`
"""

from __future__ import annotations

import tracemalloc

import numpy as np
from tabulate import tabulate

from conform.contracts.judge import judge
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate

SIZES = (1 << 18, 1 << 20)  # elements of the input
MEGABYTE = 1e6
PLAIN_STEPS = ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)  # from stride to groups


def calls(size: int) -> dict[str, list[object]]:
    """Arguments by operator, of inputs of `size` float32 elements in rows of 256."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    rows, side = size // 256, int((size // 16) ** 0.5)
    x = normal(rows, 256)
    heads = [normal(rows // 64, 64, 256 // 4) for _ in range(3)]
    return {
        "aten::exp": [normal(size)],
        "aten::add.Tensor": [normal(size), normal(size)],
        "aten::gelu": [normal(size)],
        "aten::sum.dim_IntList": [x, [1]],
        "aten::cumsum": [x, 1],
        "aten::var.correction": [x, [1]],
        "aten::linalg_vector_norm": [x, 2, [1]],
        "aten::logsumexp": [x, [1]],
        "aten::_softmax": [x, 1, False],
        "aten::native_layer_norm": [x, [256], normal(256), normal(256), 1e-5],
        "aten::mm": [x, normal(256, 64)],
        "aten::convolution": [normal(1, 16, side, side), normal(16, 16, 3, 3), None, *PLAIN_STEPS],
        "aten::scaled_dot_product_attention": heads,
    }


def megabytes(operands: list[object]) -> float:
    return sum(operand.nbytes for operand in operands if isinstance(operand, np.ndarray)) / MEGABYTE


def row(op: str, arguments: list[object]) -> list[object]:
    tracemalloc.start()
    golden = evaluate(op, arguments, {}).goldens[0]
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    judge(golden, golden.value, contract_table("opencl").row(op, "float32"))
    judged = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    ratio = (peak / MEGABYTE + megabytes(arguments)) / (kept / MEGABYTE + megabytes(arguments))
    return [op, megabytes(arguments), kept / MEGABYTE, (peak - kept) / MEGABYTE, (judged - kept) / MEGABYTE, ratio]


def main() -> None:
    contract_table("opencl")
    evaluate("aten::exp", [np.zeros(1, np.float32)], {})  # imports are not what is measured
    headers = ["op", "inputs (MB)", "golden (MB)", "work space (MB)", "judge (MB)", "peak / (inputs and golden)"]
    table = [row(op, arguments) for size in SIZES for op, arguments in calls(size).items()]
    print(tabulate(table, headers=headers, tablefmt="github", floatfmt=".3g"))


if __name__ == "__main__":
    main()
