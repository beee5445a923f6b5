"""What golden and judge need beyond inputs and outputs: the peak of what numpy allocates, for two sizes of tensor.

Outputs are the golden's arrays (the rounded value, its real number in three float64, the bound's parts) and the judge's
(error and bound in ulps, masks). What must not grow is the work space beyond them. `python benchmarks/memory.py`
"""

from __future__ import annotations

import tracemalloc

import numpy as np
from tabulate import tabulate

from conform.contracts.judge import judge
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate

SIZES = (1 << 20, 1 << 22)  # elements of the input
MEGABYTE = 1e6
PLAIN_STEPS = ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)  # from stride to groups


def calls(size: int) -> dict[str, tuple[str, list[object]]]:
    """Op and arguments by name, of inputs of `size` float32 elements: rows of 256, or one row of all of them."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    side = int((size // 16) ** 0.5)
    x, row = normal(size // 256, 256), normal(size)
    heads = [normal(size // (64 * 256), 64, 64) for _ in range(3)]
    return {
        "exp": ("aten::exp", [row]),
        "add": ("aten::add.Tensor", [row, normal(size)]),
        "gelu": ("aten::gelu", [row]),
        "sum of rows": ("aten::sum.dim_IntList", [x, [1]]),
        "sum": ("aten::sum", [row]),
        "cumsum": ("aten::cumsum", [row, 0]),
        "var of rows": ("aten::var.dim", [x, [1]]),
        "var": ("aten::var", [row]),
        "norm": ("aten::linalg_vector_norm", [row]),
        "logsumexp": ("aten::logsumexp", [row, [0]]),
        "softmax of rows": ("aten::_softmax", [x, 1, False]),
        "softmax": ("aten::_softmax", [row, 0, False]),
        "layer norm": ("aten::native_layer_norm", [row, [size], normal(size), normal(size), 0.5]),
        "mse loss": ("aten::mse_loss", [row, normal(size)]),
        "cross entropy": ("aten::cross_entropy_loss", [x, np.arange(size // 256) % 256]),
        "mm": ("aten::mm", [x, normal(256, 64)]),
        "mm of long rows": ("aten::mm", [row.reshape(4, -1), normal(size // 4, 4)]),
        "convolution": ("aten::convolution", [normal(1, 16, side, side), normal(16, 16, 3, 3), None, *PLAIN_STEPS]),
        "attention": ("aten::scaled_dot_product_attention", heads),
        "average pooling": ("aten::avg_pool2d", [row.reshape(1, 16, -1, 256), [2, 2]]),
        "sort of rows": ("aten::sort", [x]),
        "sort": ("aten::sort", [row]),
        "index_put at a mask": ("aten::index_put", [x, [x > 0], normal(1)]),
    }


def megabytes(operands: list[object]) -> float:
    return sum(operand.nbytes for operand in operands if isinstance(operand, np.ndarray)) / MEGABYTE


def work_space(op: str, arguments: list[object]) -> tuple[float, float, float, float]:
    """Megabytes: (the goldens of all outputs, their work space, their judgements, the work space of those)."""
    tracemalloc.start()
    goldens = evaluate(op, arguments, {}).goldens
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    table = contract_table("opencl")
    judgements = [judge(golden, golden.value, table.row(op, golden.format.name)) for golden in goldens]
    judged, judged_peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(elements.ok.all() for elements in judgements)
    return tuple(number / MEGABYTE for number in (kept, peak - kept, judged - kept, judged_peak - judged))


def rows() -> list[list[object]]:
    small, large = (calls(size) for size in SIZES)
    table = []
    for name, (op, arguments) in large.items():
        before, after = work_space(*small[name]), work_space(op, arguments)
        table.append([name, megabytes(arguments), after[0], before[1], after[1], after[2], before[3], after[3]])
    return table


def main() -> None:
    contract_table("opencl")
    evaluate("aten::exp", [np.zeros(1, np.float32)], {})  # imports are not what is measured
    sizes = [f"2^{size.bit_length() - 1}" for size in SIZES]
    headers = ["op", "inputs (MB)", "golden (MB)", *(f"its work space at {size} (MB)" for size in sizes)]
    headers += ["judgement (MB)", *(f"its work space at {size} (MB)" for size in sizes)]
    print(tabulate(rows(), headers=headers, tablefmt="github", floatfmt=".3g"))


if __name__ == "__main__":
    main()
