"""How tight the derived bounds are: bound over observed error of torch's float32 kernels on the CPU.

A slack of 1 is a bound that is reached; below 1 torch is outside it (docs/torch-cpu.md says why). `python
benchmarks/slack.py`; with `--write` the figures replace those of conform/contracts/slack.csv.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from tabulate import tabulate

from conform.contracts.judge import judge
from conform.contracts.slack import NEEDS_A_REASON, Slack, shown, write
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate
from conform.numerics.rounding_errors import root_sum_of_squares

ROWS = 64
EPS = 1e-5

# Why the median slack of an output exceeds NEEDS_A_REASON: keys of conform.contracts.slack.REASONS.
UPDATES = ("var", "std", "var_mean", "std_mean", "layer norm", "its rstd", "native_group_norm", "batch norm")
REASONS_OF = {
    **dict.fromkeys(UPDATES, ("order", "updates")),
    "linalg_vector_norm of order 3": ("order", "powers"), "attention": ("order", "scores"),
    "gelu": ("erf",), "special_ndtr": ("erfc",),
    **dict.fromkeys(("igammac", "special_gammaincc"), ("exponent",)),
    **dict.fromkeys(("special_zeta", "polygamma", "special_polygamma"), ("powers",)),
    **{f"special_{name}": ("recurrence",) for name in ("laguerre_polynomial_l", "legendre_polynomial_p")},
}  # fmt: skip
ORDER = ("order",)  # of every other output: sums of n terms


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


def elementwise(kind: str, x: np.ndarray) -> list[Input]:
    """The functions of one or two operands that are formulas of several steps."""
    other = np.random.default_rng(2).normal(0, 3, x.shape).astype(np.float32)
    names = ("sigmoid", "silu", "mish", "softplus", "sinc", "special_sinc", "special_ndtr", "digamma",
             "special_digamma", "celu", "elu", "selu", "hardsigmoid", "hardswish", "log_sigmoid", "deg2rad", "rad2deg")
    return [
        *(plain(name, kind, x) for name in names),
        plain("logaddexp", kind, x, other), plain("xlogy.Tensor", kind, x, np.abs(other)),
        plain("special_xlogy", kind, x, np.abs(other)), plain("lerp.Scalar", kind, x, other, 0.3),
        plain("addcmul", kind, x, other, x), plain("addcdiv", kind, x, other, x),
        *special(kind, x, other),
        Input("aten::arange.start_step", "1000 steps of 0.1", x, ("arange",), lambda x: [-10.0, 90.0, 0.1],
              lambda x: (torch.arange(-10.0, 90.0, 0.1),)),
    ]  # fmt: skip


def special(kind: str, x: np.ndarray, other: np.ndarray) -> list[Input]:
    """Special functions, and the logarithms beside them."""
    names = ("log_sigmoid_forward", "special_i0e", "special_i1e", "special_log_ndtr", "special_bessel_j0",
             "special_bessel_j1", "special_spherical_bessel_j0")  # fmt: skip
    of_positive = ("special_entr", *(f"special_{scaled}modified_bessel_k{order}" for scaled in ("", "scaled_")
                                     for order in (0, 1)))  # fmt: skip
    size = np.abs(x)
    return [
        *(plain(name, kind, x) for name in names), *(plain(name, "0 to 6", size) for name in of_positive),
        plain("logaddexp2", kind, x, other), plain("special_xlog1py", kind, x, np.abs(other)),
        plain("logit", "0 to 1", size / 6),
    ]  # fmt: skip


def gammas(kind: str, x: np.ndarray, other: np.ndarray) -> list[Input]:
    """Gamma functions of two numbers, what derives from them, and Bessel functions of the second kind."""
    size, shape = np.abs(x), np.abs(other)
    incomplete = ("igamma", "igammac", "special_gammainc", "special_gammaincc")
    return [
        *(plain(name, "0 to 6", shape, size) for name in incomplete), plain("special_zeta", "1 to 7", 1 + size, shape),
        *(Input(f"aten::{name}", kind, x, (name,), lambda x: [1, x], lambda x: (torch.polygamma(1, x),))
          for name in ("polygamma", "special_polygamma")),
        *(plain(name, "2 to 8", 2 + size, 3) for name in ("mvlgamma", "special_multigammaln")),
        *(plain(f"special_bessel_y{order}", "0 to 6", size) for order in (0, 1)),
    ]  # fmt: skip


def polynomials(x: np.ndarray) -> list[Input]:
    """The orthogonal polynomials of degree 5."""
    names = (
        *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
        "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
    )  # fmt: skip
    return [plain(f"special_{name}", "-2 to 2, degree 5", x / 3, np.full_like(x, 5)) for name in names]


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
            ("nll_loss_forward", classes, (None,)), ("nll_loss", classes, (None,)),
            ("cross_entropy_loss", classes, (None,)),
        )
        for reduction, said in ((0, "elements"), (1, "mean"))
        if not (op.startswith("nll_loss") and reduction == 0)  # which only changes signs
    ]  # fmt: skip
    losses = [_with_ignore_index(one) if one.op == "aten::nll_loss_forward" else one for one in losses]
    return [
        plain("_log_softmax", kind, x, -1, False), plain("logsumexp", kind, x, [1]), plain("mean.dim", kind, x, [1]),
        plain("var.dim", kind, x, [1]), plain("std.dim", kind, x, [1]),
        plain("var_mean.correction", kind, x, [1]), plain("std_mean.correction", kind, x, [1]),
        plain("linalg_vector_norm", kind, x, 2, [1]),
        plain("linalg_vector_norm", kind, x, 3, [1], name="linalg_vector_norm of order 3"),
        plain("norm.ScalarOpt_dim", kind, x, 2, [1]),
        plain("prod.dim_int", kind, x, 1),
        plain("native_group_norm", kind, images, None, None, rows // 8, 8, columns, 4, EPS),
        plain("_native_batch_norm_legit.no_stats", kind, images, None, None, True, 0.1, EPS, name="batch norm"),
        plain("_native_batch_norm_legit_no_training", kind, images, None, None, *statistics, 0.1, EPS,
              name="batch norm, running"),
        plain("rms_norm", kind, x, [columns], None, EPS),
        plain("_fused_rms_norm", kind, x, [columns], None, EPS),
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
        *elementwise("-6 to 6", spread), *gammas("-6 to 6", spread, normal), *polynomials(spread),
        *composites("normal, 64", normal), *composites("normal, 1024", long),
    ]  # fmt: skip


def measured(case: Input) -> list[Slack]:
    """A figure an output; the slack is that of the elements with an error."""
    keywords = {"approximate": "tanh"} if case.outputs == ("gelu tanh",) else {}
    arguments = case.args(case.array)
    goldens = evaluate(case.op, arguments, keywords).goldens
    with root_sum_of_squares():
        statistical = evaluate(case.op, arguments, keywords).goldens
    results = case.kernel(torch.from_numpy(case.array))
    row = contract_table("opencl").row(case.op, "float32")
    found = []
    # of some ops only the first output
    for name, golden, root_sum, actual in zip(case.outputs, goldens, statistical, results, strict=False):
        elements = judge(golden, actual.numpy(), row)
        with root_sum_of_squares():
            expected = judge(root_sum, actual.numpy(), row)
        used = elements.compared & np.isfinite(elements.bound_ulp)
        error, bound = elements.error_ulp[used], elements.bound_ulp[used]
        if not error.size:  # unspecified (a product that underflows on the way), or without a bound
            continue
        slack = bound[error > 0] / error[error > 0] if (error > 0).any() else np.array([np.nan])
        op, median = case.op.partition(".")[0], float(np.median(slack))
        found.append(
            Slack(op, name, case.kind, error.size, int(np.count_nonzero(~elements.ok)), float(np.median(error)),
                  float(np.median(bound)), float(np.median(expected.bound_ulp[used])), median, float(slack.min()),
                  REASONS_OF.get(name, ORDER) if median > NEEDS_A_REASON else ())
        )  # fmt: skip
    return found


def as_row(one: Slack) -> list[str]:
    figures = (one.error_ulp, one.bound_ulp, one.root_sum_of_squares_ulp, one.median, one.smallest)
    counts = (one.elements, one.outside)
    return [one.output, one.input, *map(str, counts), *map(shown, figures), " ".join(one.reasons)]


def main() -> None:
    torch.set_num_threads(1)
    figures = [one for case in inputs() for one in measured(case)]
    if "--write" in sys.argv[1:]:
        write(figures)
    headers = ["output", "input", "elements", "outside", "median error (ulp)", "median bound (ulp)",
               "median root sum of squares (ulp)", "median slack", "smallest slack", "why above 50"]  # fmt: skip
    print(f"torch {torch.__version__}, float32, CPU")
    print(tabulate([as_row(one) for one in figures], headers, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
