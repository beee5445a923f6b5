"""Python numbers at the ends of what an op takes end in a golden, a refusal or Unjudged, never in another error."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate

LARGEST = np.finfo(np.float64).max
FILLS = {"ordinary": np.arange(32.0), "largest": np.linspace(-1, 1, 32) * LARGEST}


def image(fill: str, dtype: str) -> np.ndarray:
    limit = np.finfo(dtype).max
    return np.clip(FILLS[fill], -limit, limit).astype(dtype).reshape(1, 2, 4, 4)


def norms(x: np.ndarray, eps: float) -> dict[str, dict[str, Any]]:
    plain = {"weight": None, "bias": None, "eps": eps}
    statistics = {"running_mean": x[0, :, 0, 0], "running_var": np.full(2, 3, x.dtype)}
    return {
        "native_layer_norm": {"input": x, "normalized_shape": [4], **plain},
        "native_group_norm": {"input": x, "N": 1, "C": 2, "HxW": 16, "group": 2, **plain},
        "_native_batch_norm_legit.no_stats": {"input": x, "training": True, "momentum": 0.1, **plain},
        "_native_batch_norm_legit_no_training": {"input": x, **statistics, "momentum": 0.1, **plain},
        "rms_norm": {"input": x, "normalized_shape": [4], "weight": None, "eps": eps},
        "_fused_rms_norm": {"input": x, "normalized_shape": [4], "weight": None, "eps": eps},
    }


@pytest.mark.parametrize("op", norms(image("ordinary", "float32"), 0.0))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize(("eps", "expected"), [(inf, 0.0), (-inf, nan), (nan, nan)])
def test_an_eps_that_is_not_finite_leaves_nothing_of_finite_rows(
    op: str, dtype: str, fill: str, eps: float, expected: float
) -> None:
    """1 / sqrt(var + inf) is 0, however large the variance is."""
    output = evaluate(f"aten::{op}", [], norms(image(fill, dtype), eps)[op]).goldens[0]
    np.testing.assert_array_equal(output.value, np.full(output.value.shape, expected))


@pytest.mark.parametrize(
    ("op", "border", "expected"), [("huber_loss", "delta", [inf, 2.0]), ("smooth_l1_loss", "beta", [0.0, 0.0])]
)
def test_an_infinite_border_of_a_loss_is_above_every_difference(op: str, border: str, expected: list[float]) -> None:
    x, y = np.array([LARGEST, 2.0]), np.array([-LARGEST, 0.0])
    (golden,) = evaluate(f"aten::{op}", [x, y, 0], {border: inf}).goldens
    assert golden.value.tolist() == expected


def test_bools_are_kernel_sizes_of_1() -> None:
    x = image("ordinary", "float32")
    (golden,) = evaluate("aten::avg_pool2d", [x, [True, True]], {}).goldens
    np.testing.assert_array_equal(golden.value, x)


@pytest.mark.parametrize("arguments", [(0, 1e300, 1.0), (0.0, 1.0, 5e-324), (-1e308, 1e308, 1e-308), (0, 2**63, 1)])
def test_aranges_that_no_tensor_holds_are_refused(arguments: tuple[float, float, float]) -> None:
    with pytest.raises(InvalidArguments, match=r"more elements than the 2\^63 - 1 that a tensor may have"):
        evaluate("aten::arange.start_step", list(arguments), {})


@pytest.mark.parametrize("arguments", [(0, 1e300, 1e290), (0, 2**62, 1), (0.0, 3e8, 1.0)])
def test_aranges_that_fill_the_memory_are_not_judged(arguments: tuple[float, float, float]) -> None:
    with pytest.raises(Unjudged, match=r"a golden of \d+ elements; the kit makes aranges of 268435456 at most"):
        evaluate("aten::arange.start_step", list(arguments), {})
