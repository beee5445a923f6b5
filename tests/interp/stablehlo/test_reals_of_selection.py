"""select_and_scatter of computed numbers: what is surely the largest of its window is judged, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import Unjudged
from tests.interp.stablehlo.test_reals import goldens, judged

F32 = np.float32
POOL = """func.func @main(%x: tensor<8xf32>, %g: tensor<SOURCExf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<INIT> : tensor<f32>
  %third = stablehlo.constant dense<0.333333343> : tensor<8xf32>
  %y = stablehlo.multiply %x, %third : tensor<8xf32>
  %0 = "stablehlo.select_and_scatter"(%y, %g, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare DIRECTION, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.JOIN %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) {window_dimensions = array<i64: 3>, window_strides = array<i64: STRIDE>, padding = dense<[[PADDING]]> : tensor<1x2xi64>} : (tensor<8xf32>, tensor<SOURCExf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""  # noqa: E501


def pool(source: int, direction: str = "GE", join: str = "add", stride: int = 1, padding: str = "0, 0",
         init: float = 0.0) -> str:  # fmt: skip
    text = POOL.replace("SOURCE", str(source)).replace("DIRECTION", direction).replace("JOIN", join)
    return text.replace("STRIDE", str(stride)).replace("PADDING", padding).replace("INIT", str(init))


X = np.array([1, 5, 2, 4, 3, 9, 8, 7], F32)
G = np.array([1, 2, 4, 8, 16, 32], F32)


@pytest.mark.parametrize(("direction", "expected"), [
    ("GE", [0, 3, 0, 4, 0, 56, 0, 0]), ("GT", [0, 3, 0, 4, 0, 56, 0, 0]), ("LE", [1, 0, 6, 0, 24, 0, 0, 32]),
])  # fmt: skip
def test_sums_at_the_largest_or_smallest(direction: str, expected: list[float]) -> None:
    """Windows 1 5 2, 5 2 4, 2 4 3, 4 3 9, 3 9 8, 9 8 7."""
    (golden,) = goldens(pool(6, direction), X, G)
    assert golden.value.tolist() == expected
    (found,) = judged(pool(6, direction), [np.array(expected, F32)], X, G)
    assert found.ok.all()
    (wrong,) = judged(pool(6, direction), [np.roll(np.array(expected, F32), 1)], X, G)
    assert not wrong.ok.all()


def test_padding_and_strides_and_an_initial_value() -> None:
    """Windows - 1 5, 2 4 3, 9 8 7, each from the initial value on."""
    (golden,) = goldens(pool(3, stride=3, padding="1, 0", init=0.5), X, G[:3])
    assert golden.value.tolist() == [0.5, 1.5, 0.5, 2.5, 0.5, 4.5, 0.5, 0.5]


def test_of_two_that_may_be_the_largest_nothing_is_known() -> None:
    """Products by a third of numbers that lie beside each other may be equal, or the other way round."""
    x = X.copy()
    x[2] = np.nextafter(F32(5), F32(4))
    (golden,) = goldens(pool(6), x, G)
    assert np.isinf(golden.budget).tolist() == [False, True, True, False, False, False, False, False]
    known = pool(6).replace("stablehlo.multiply %x, %third", "stablehlo.maximum %x, %x")
    (golden,) = goldens(known, x, G)
    assert golden.value.tolist() == [0, 3, 4, 0, 0, 56, 0, 0]
    assert np.isfinite(golden.budget).all()


def test_a_nan_makes_the_choice_hang_on_which_elements_are_compared_first() -> None:
    """1 >= NaN is false, so of (1, NaN, 2) the last is chosen, by (1 >= NaN) >= 2 as by 1 >= (NaN >= 2); but of
    (5, NaN, 2) 2 or 5. Of two elements there is one comparison."""
    x = np.array([5, np.nan, 2, 1, 4, 3, 9, 8], F32)
    text = pool(3, stride=3, padding="1, 0").replace("stablehlo.multiply %x, %third", "stablehlo.maximum %x, %x")
    (golden,) = goldens(text, x, G[:3])
    assert golden.value.tolist() == [0, 1, 0, 0, 2, 0, 4, 0]
    assert not np.isinf(golden.budget).any()
    text = text.replace("dense<[[1, 0]]>", "dense<[[0, 1]]>")
    (golden,) = goldens(text, x, G[:3])
    assert np.isinf(golden.budget).tolist() == [True] * 3 + [False] * 5


def of_integers(direction: str, join: str) -> str:
    return pool(6, direction, join, init=0).replace("f32", "i32").replace(
        "dense<0.333333343>", "dense<1>")  # fmt: skip


def test_integers_are_chosen_and_joined_in_any_order() -> None:
    x, g = X.astype(np.int32), G.astype(np.int32)
    (golden,) = goldens(of_integers("GE", "add"), x, g)
    assert (golden.value.tolist(), golden.open) == ([0, 3, 0, 4, 0, 56, 0, 0], None)
    for direction, join in (("NE", "add"), ("GE", "subtract")):
        with pytest.raises(Unjudged, match="its regions may hang on the order of elements, which is free"):
            goldens(of_integers(direction, join), x, g)


def test_other_regions_have_no_rule() -> None:
    with pytest.raises(Unjudged, match=r"stablehlo.select_and_scatter: no rule tells .* in its regions"):
        goldens(pool(6, join="subtract"), X, G)
    with pytest.raises(Unjudged, match="in its regions"):
        goldens(pool(6, direction="EQ"), X, G)
