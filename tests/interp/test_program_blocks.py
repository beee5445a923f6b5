"""Rules in blocks: each element as it is alone, and no more work space for larger tensors."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from conform.interp.program import blocks
from conform.interp.program.apply import apply
from conform.interp.program.blocks import in_slices
from conform.interp.program.number import Number
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real

DRAWS = np.random.default_rng(3)


def computed(*shape: int) -> Number:
    """Numbers that fill their float64, and errors of float32."""
    hi = DRAWS.standard_normal(shape)
    return Number(FORMATS["float32"], Real(hi, hi * 2.0**-60, np.abs(hi) * 2.0**-110), np.abs(hi) * 2.0**-24)


def weight(*shape: int) -> Number:
    return Number.exact(DRAWS.standard_normal(shape).astype(np.float32))


ROWS, KEYS = computed(3, 40, 24), computed(24, 30)
CALLS: dict[str, tuple[str, list[Any]]] = {
    "add": ("aten::add.Tensor", [ROWS, weight(24)]),
    "add of a column": ("aten::add.Tensor", [ROWS, computed(40, 1)]),
    "gelu": ("aten::gelu", [ROWS]),
    "silu": ("aten::silu", [ROWS]),
    "sum": ("aten::sum.dim_IntList", [ROWS, [1]]),
    "amax": ("aten::amax", [ROWS, [0, 2]]),
    "softmax": ("aten::_softmax", [ROWS, 1, False]),
    "softmax of a scalar": ("aten::_softmax", [computed(), 0, False]),
    "log_softmax": ("aten::_log_softmax", [ROWS, -1, False]),
    "layer_norm": ("aten::layer_norm", [ROWS, [24], weight(24), weight(24)]),
    "layer_norm of all": ("aten::layer_norm", [ROWS, [3, 40, 24]]),
    "rms_norm": ("aten::rms_norm", [ROWS, [24], weight(24)]),
    "linear": ("aten::linear", [ROWS, weight(17, 24), weight(17)]),
    "mm": ("aten::mm", [computed(40, 24), KEYS]),
    "addmm": ("aten::addmm", [computed(40, 1), computed(40, 24), KEYS]),
    "attention": (
        "aten::scaled_dot_product_attention", [computed(2, 3, 9, 4), computed(2, 3, 9, 4), computed(2, 1, 9, 5)],
    ),
    "attention with a mask": (
        "aten::scaled_dot_product_attention",
        [computed(2, 3, 6, 4), computed(2, 3, 9, 4), computed(2, 3, 9, 5), weight(2, 1, 6, 9)],
    ),
    "causal attention": (
        "aten::scaled_dot_product_attention", [*(computed(5, 7, 4) for _ in range(3)), None, 0.0, True],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_block_changes_no_element(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op, args = CALLS[name]
    whole = apply(op, *args)
    monkeypatch.setattr(blocks, "BLOCK", 50)
    monkeypatch.setattr("conform.interp.program.contraction.matrices.BLOCK", 50)
    monkeypatch.setattr("conform.interp.program.contraction.matrices.PANEL", 100)
    monkeypatch.setattr("conform.interp.program.contraction.matrices.WIDTH", 7)
    parts = apply(op, *args)
    assert parts.shape == whole.shape
    off = np.abs((parts.real - whole.real).hi)
    assert (off <= parts.real.radius + whole.real.radius).all()
    assert np.allclose(parts.rad, whole.rad, rtol=1e-12, atol=0)


def test_each_slice_gets_its_own_numbers() -> None:
    seen: list[tuple[int, ...]] = []

    def double(x: Number, y: Number) -> Number:
        seen.append(x.shape)
        return Number(x.format, x.real + y.real, x.rad)

    x = Number.exact(np.arange(3 * 65536, dtype=np.float32).reshape(3, 65536))
    y = Number.exact(np.array([[1.0], [2.0], [3.0]], np.float32))
    found = in_slices(double, [x, y], x.shape, [-2])
    assert seen == [(1, 65536)] * 3
    assert (found.real.hi == x.real.hi + [[1.0], [2.0], [3.0]]).all()


def peak(function: Callable[[], Number]) -> tuple[int, int]:
    """(bytes of the result, of the work space beside it)"""
    tracemalloc.start()
    result = function()
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.rad.size
    return kept, most - kept


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("gelu", lambda rows: partial(apply, "aten::gelu", computed(rows, 256))),
        ("softmax", lambda rows: partial(apply, "aten::_softmax", computed(rows, 256), 1, False)),
        ("layer_norm", lambda rows: partial(apply, "aten::layer_norm", computed(rows, 256), [256])),
        ("linear", lambda rows: partial(apply, "aten::linear", computed(2 * rows, 64), weight(64, 64), weight(64))),
        ("attention", lambda rows: partial(
            apply, "aten::scaled_dot_product_attention", *(computed(rows // 128, 128, 16) for _ in range(3)))),
    ],
)  # fmt: skip
def test_work_space_does_not_grow_with_the_tensor(name: str, call: Callable) -> None:
    small, large = (peak(call(rows))[1] for rows in (1024, 4096))
    assert large < 1.5 * small + (1 << 20)
