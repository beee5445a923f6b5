"""Functions of numbers that were computed: they err as their operands do, and by their own ulps."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.contracts.judge import judge
from conform.contracts.tables import OF_MODULE
from conform.numerics.formats import FORMATS
from conform.numerics.rounding import round_to
from conform.numerics.ulp import ulp
from tests.interp.stablehlo.on_reals import goldens, judged, unary

F32 = np.float32

FUNCTION = """func.func @main(%x: tensor<SIZExf32>) -> tensor<SIZExf32> {
  %c = stablehlo.constant dense<1.1> : tensor<SIZExf32>
  %0 = stablehlo.multiply %x, %c : tensor<SIZExf32>
  %1 = "OP"(%0) : (tensor<SIZExf32>) -> tensor<SIZExf32>
  return %1 : tensor<SIZExf32>
}
"""
OF_COMPUTED = {
    "stablehlo.cbrt": (np.cbrt, -9, 9), "chlo.atan": (np.arctan, -9, 9), "chlo.asinh": (np.arcsinh, -9, 9),
    "chlo.sinh": (np.sinh, -9, 9), "chlo.cosh": (np.cosh, -9, 9), "chlo.asin": (np.arcsin, -0.9, 0.9),
    "chlo.acos": (np.arccos, -0.9, 0.9), "chlo.acosh": (np.arccosh, 0.92, 9), "chlo.atanh": (np.arctanh, -0.9, 0.9),
}  # fmt: skip


@pytest.mark.parametrize("op", OF_COMPUTED)
@pytest.mark.parametrize("size", [1, 1000])
def test_a_function_errs_as_its_operand_and_by_its_own_ulps(op: str, size: int) -> None:
    """numpy's float32 functions of a rounded product are honest, and of one that was not rounded; a product in
    bfloat16, and the function of the product's square, are not."""
    function, low, high = OF_COMPUTED[op]
    x = np.random.default_rng(7).uniform(low, high, size).astype(F32)
    (golden,) = goldens(FUNCTION.replace("OP", op).replace("SIZE", str(size)), x)
    for product in (x * F32(1.1), x.astype(np.float64) * float(F32(1.1))):
        found = judge(golden, np.asarray(function(product), F32), OF_MODULE)
        assert found.ok.all()
        assert found.compared.all()
    rounded = np.asarray(round_to(FORMATS["bfloat16"], x * 1.1)).astype(F32)
    with np.errstate(invalid="ignore"):
        for wrong in (function(rounded), function(x), function(x * F32(1.1)) * F32(1 + 1e-4)):
            assert not judge(golden, np.asarray(wrong, F32), OF_MODULE).ok.all()


@pytest.mark.parametrize(("op", "operand"), [("chlo.asin", 1.0), ("chlo.acos", -1.0), ("chlo.acosh", 1.0),
                                             ("chlo.atanh", 1.0)])  # fmt: skip
def test_at_the_end_of_its_domain_nothing_is_judged(op: str, operand: float) -> None:
    """The product may be rounded beyond it, where the function is NaN."""
    (golden,) = goldens(FUNCTION.replace("OP", op).replace("SIZE", "1"), np.array([operand / float(F32(1.1))], F32))
    assert np.isinf(golden.budget).all()


def test_the_angle_of_a_point() -> None:
    text = """func.func @main(%y: tensor<7xf32>, %x: tensor<7xf32>) -> tensor<7xf32> {
      %c = stablehlo.constant dense<1.1> : tensor<7xf32>
      %0 = stablehlo.multiply %y, %c : tensor<7xf32>
      %1 = stablehlo.multiply %x, %c : tensor<7xf32>
      %2 = stablehlo.atan2 %0, %1 : tensor<7xf32>
      return %2 : tensor<7xf32>
    }"""
    y, x = np.array([1, -2, 1e-30, 0, 0, -0.0, 5], F32), np.array([1, -3, -1, 2, 0, -3, np.inf], F32)
    (golden,) = goldens(text, y, x)
    assert np.isinf(golden.budget).tolist() == [False, False, False, False, True, True, False]
    angles = np.arctan2(y * F32(1.1), x * F32(1.1))
    assert judge(golden, angles, OF_MODULE).ok.all()
    for at in (0, 1, 2, 3, 6):
        wrong = angles.copy()
        wrong[at] += F32(1e-5)
        assert not judge(golden, wrong, OF_MODULE).ok[at]


# --- Functions that OpenCL does not have ------------------------------------------------------------------------------

SPECIAL = {"lgamma": "loggamma", "digamma": "digamma", "erf_inv": "erfinv"}
OF_A_THIRD = """func.func @main(%x: tensor<NxTYPE>, %third: tensor<NxTYPE>) -> tensor<NxTYPE> {
  %0 = stablehlo.multiply %x, %third : tensor<NxTYPE>
  %1 = chlo.OP %0 : tensor<NxTYPE> -> tensor<NxTYPE>
  return %1 : tensor<NxTYPE>
}
"""


@pytest.mark.parametrize("type_", ["f32", "f64", "bf16"])
@pytest.mark.parametrize("op", SPECIAL)
def test_special_functions_of_computed_numbers(op: str, type_: str) -> None:
    """A product may be off by half an ulp either way; what the function makes of that is right, and no more."""
    fmt = FORMATS[{"f32": "float32", "f64": "float64", "bf16": "bfloat16"}[type_]]
    points = np.linspace(0.15, 2.9, 40) if op == "erf_inv" else np.geomspace(0.1, 90, 40)
    x, third = (np.asarray(round_to(fmt, one)) for one in (points, np.full(40, 1 / 3)))
    text = OF_A_THIRD.replace("TYPE", type_).replace("N", "40").replace("OP", op)
    function = getattr(mpmath, SPECIAL[op])
    units = ulp(fmt, x.astype(np.float64) * third.astype(np.float64))

    def answer(ulps: float) -> np.ndarray:
        exact = [mpmath.mpf(float(a)) * mpmath.mpf(float(b)) for a, b in zip(x, third, strict=True)]
        products = [one + ulps * float(unit) for one, unit in zip(exact, units, strict=True)]
        return np.asarray(round_to(fmt, np.array([float(mpmath.re(function(one))) for one in products])))

    for ulps in (0.0, 0.5, -0.5):
        (found,) = judged(text, [answer(ulps)], x, third)
        assert found.ok.all()
        assert found.compared.mean() > 0.8
    (wrong,) = judged(text, [answer(-100.0)], x, third)
    assert (~wrong.ok).sum() > 15


@pytest.mark.parametrize("op", ["lgamma", "digamma"])
def test_beside_a_pole_nothing_is_known(op: str) -> None:
    text = OF_A_THIRD.replace("TYPE", "f32").replace("N", "3").replace("OP", op)
    (golden,) = goldens(text, np.array([1e-3, -1e-3, -4.5], F32), np.full(3, 1 / 3, F32))
    assert np.isinf(golden.budget).tolist() == [False, True, True]
    known = text.replace("stablehlo.multiply %x, %third", "stablehlo.maximum %x, %x")
    (golden,) = goldens(known, np.array([1e-3, -1e-3, -4.5], F32), np.full(3, 1 / 3, F32))
    assert np.isfinite(golden.budget).all()


def test_digamma_of_zeros_and_of_what_may_be_flushed_to_zero_is_free() -> None:
    """An infinity by the limit, NaN by the lowering of chlo."""
    text = unary("digamma", "tensor<4xf32>").replace("stablehlo", "chlo")
    (golden,) = goldens(text, np.array([0.0, -0.0, 1e-39, 0.25], np.float32))
    assert np.isfinite(golden.budget).tolist() == [False, False, False, True]


def test_any_power_of_positive_computed_numbers() -> None:
    text = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      %1 = stablehlo.power %0, %y : tensor<4xf32>
      return %1 : tensor<4xf32>
    }"""
    x, y = np.array([0.7, 1.3, 2.9, -1], F32), np.array([0.3, -1.7, 2.2, 2], F32)
    answer = np.power((x + x).astype(np.float64), y.astype(np.float64)).astype(F32)
    (found,) = judged(text, [answer], x, y)
    assert (found.ok.tolist(), found.compared.tolist()) == ([True] * 4, [True, True, True, False])
    (wrong,) = judged(text, [answer * F32(1 + 1e-5)], x, y)
    assert wrong.ok.tolist() == [False, False, False, True]
