"""How large results are, known beforehand: never less than they turn out to be."""

from __future__ import annotations

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.domains.engine.meta_tuple import invalid_tuples
from conform.domains.specs import spec_of
from conform.errors import ConformError
from conform.interp import semantics
from conform.interp.evaluate import evaluate_call
from conform.interp.size import result_elements
from conform.suites import load
from conform.suites.cases import Selection, most_elements
from conform.suites.select import select

F = np.broadcast_to(np.float32(1), (1 << 20, 1))  # takes no memory
ONE = np.float32([[[1]]])
ROW = np.broadcast_to(np.float32(1), (1, 1 << 20))


@pytest.mark.parametrize(
    ("op", "args", "elements"),
    [
        ("aten::add", [F, ROW[0]], 2**40),
        ("aten::mul", [F, 2.0], 2**20),
        ("aten::exp", [np.float32(1)], 1),
        ("aten::mm", [F, ROW], 2**40),
        ("aten::addmm", [np.float32([1]), F, ROW], 2**40),
        ("aten::mse_loss", [F, ROW[0]], 2**40),
        ("aten::arange", [2e9], 2_000_000_001),
        ("aten::arange", [0, 10, 3], 4),
        ("aten::arange", [10, 0, -3], 4),
        ("aten::arange", [2**62], 2**62 + 1),
        ("aten::arange", [0, float("inf"), 1], 1),  # refused
        ("aten::arange", [0, 1, 0], 1),  # refused
        ("aten::convolution", [ONE, ONE, None, [1], [2**30], [1], False, [0], 1], 2**31 + 1),
        ("aten::convolution", [ONE, ONE, None, [1], [0], [1], True, [2**30], 1], 2**30 + 1),
        ("aten::sum.dim_IntList", [np.zeros((0, 2**30), np.float32), [0]], 2**30),
        ("aten::add", [np.zeros((0, 2**30), np.float32), F[:1]], 1),
        ("aten::scaled_dot_product_attention", [F, F, np.broadcast_to(np.float32(1), (1 << 20, 1 << 10))], 2**30),
        ("aten::sort", [F], 2**21),
        ("aten::inner", [F, F], 2**40),
        ("aten::inner", [F, np.float32(1)], 2**20),
        ("aten::adaptive_max_pool2d", [ONE, [2**20, 2**20]], 2**41),
        ("aten::max_pool2d_with_indices", [ONE, [1, 1], [1, 1], [0, 0], [1, 1]], 8),
        ("aten::grid_sampler_2d", [ROW[:, :, None, None], np.zeros((1, 2**20, 1, 2), np.float32), 0, 0, True], 2**40),
        ("aten::col2im", [F, [1, 2**20], [1, 2**20], [1, 1], [0, 0], [1, 1]], 2**20),
        ("aten::_fft_c2r", [np.complex64([[1], [1]]), [1], 0, 2**30], 2**31),
    ],
)
def test_results_are_known_to_be_large(op: str, args: list, elements: int) -> None:
    call = bound_call(op, args, {})
    assert result_elements(call) == elements


OTHERS = [name for name in semantics.names() if not semantics.traits_of(name).pointwise]


@pytest.mark.rotating(24)
@pytest.mark.parametrize("op", OTHERS)
@pytest.mark.parametrize("suite", ["generated", "negative"])
def test_no_result_is_larger_than_what_is_known_of_it(suite: str, op: str) -> None:
    """Of every op but the pointwise ones, whatever its spec allows; and what is refused is no obstacle."""
    selection = Selection(ops=[op], values="typical", layouts="as-written")
    compared, loaded = False, load([suite], ops=[op])
    if suite == "negative" and not loaded.tests:
        assert next(invalid_tuples(spec_of(op), 0), None) is None  # no call of it is invalid
        return
    for group in select(loaded, selection):
        arguments = group[0].draw.arguments()
        call = bound_call(group[0].op, arguments.args, arguments.kwargs)
        most = most_elements(call)
        try:
            goldens = evaluate_call(call).goldens
        except ConformError:
            continue
        assert sum(golden.value.size for golden in goldens) <= most, (group[0].id, arguments)
        compared |= call.op == op
    assert suite == "negative" or compared
