"""Complex numbers and transforms on real numbers: honest engines lie within the bounds, nearly right ones do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.contracts.judge import judge
from conform.contracts.tables import OF_MODULE
from conform.errors import Unjudged
from tests.interp.stablehlo.test_reals import goldens

F32, C64 = np.float32, np.complex64


def drawn(seed: int, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(C64)


def is_right(text: str, answer: np.ndarray, *arrays: np.ndarray) -> bool:
    (golden,) = goldens(text, *arrays)
    found = judge(golden, answer, OF_MODULE)
    assert found.compared.all()
    return bool(found.ok.all())


# --- Arithmetic -------------------------------------------------------------------------------------------------------

BINARY = """func.func @main(%x: tensor<50xcomplex<f32>>, %y: tensor<50xcomplex<f32>>) -> tensor<50xcomplex<f32>> {
  %0 = stablehlo.multiply %x, %y : tensor<50xcomplex<f32>>
  %1 = stablehlo.OP %0, %y : tensor<50xcomplex<f32>>
  return %1 : tensor<50xcomplex<f32>>
}
"""


def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x.real * y.real - x.imag * y.imag) + 1j * (x.real * y.imag + x.imag * y.real)


def by_conjugate(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (product(x, y.conj()) / (y.real * y.real + y.imag * y.imag)).astype(C64)


def by_smith(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Algorithm 116 of the CACM: the smaller part of the divisor over the larger one first."""
    turned = np.abs(y.real) < np.abs(y.imag)
    c, d = np.where(turned, y.imag, y.real), np.where(turned, y.real, y.imag)
    a, b = np.where(turned, x.imag, x.real), np.where(turned, x.real, x.imag)
    ratio = d / c
    below = c + d * ratio
    real, imag = (a + b * ratio) / below, (b - a * ratio) / below
    return (real + 1j * np.where(turned, -imag, imag)).astype(C64)


@pytest.mark.parametrize(("op", "function"), [
    ("add", np.add), ("subtract", np.subtract), ("multiply", product), ("divide", by_conjugate), ("divide", by_smith),
    ("divide", np.divide),
])  # fmt: skip
def test_two_steps(op: str, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    x, y = drawn(1, 50), drawn(2, 50)
    text, first = BINARY.replace("OP", op), product(x, y).astype(C64)
    answer = function(first, y).astype(C64)
    assert is_right(text, answer, x, y)
    for wrong in (function(product(x, y.conj()).astype(C64), y), answer * C64(1 + 1e-4), answer.conj(), 1j * answer):
        assert not is_right(text, wrong.astype(C64), x, y)


def test_parts_are_joined_moved_and_taken_apart() -> None:
    text = """func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<6xf32>) {
      %0 = stablehlo.add %a, %b : tensor<2x3xf32>
      %1 = stablehlo.complex %0, %b : tensor<2x3xcomplex<f32>>
      %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x3xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
      %3 = stablehlo.negate %2 : tensor<3x2xcomplex<f32>>
      %4 = stablehlo.real %3 : (tensor<3x2xcomplex<f32>>) -> tensor<3x2xf32>
      %5 = stablehlo.imag %3 : (tensor<3x2xcomplex<f32>>) -> tensor<3x2xf32>
      %6 = stablehlo.reshape %1 : (tensor<2x3xcomplex<f32>>) -> tensor<6xcomplex<f32>>
      %7 = stablehlo.abs %6 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
      return %4, %5, %7 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<6xf32>
    }"""  # noqa: E501
    a, b = np.arange(6, dtype=F32).reshape(2, 3), np.array([[3, 4, 5], [0, 12, 1]], F32)
    real, imag, size = goldens(text, a, b)
    assert real.value.tolist() == (-(a + b).T).tolist()
    assert imag.value.tolist() == (-b.T).tolist()
    assert size.value.tolist() == np.hypot((a + b).astype(float), b).astype(F32).ravel().tolist()


# --- Transforms -------------------------------------------------------------------------------------------------------

FFT = """func.func @main(%x: tensor<2x{n}xcomplex<f32>>) -> tensor<2x{n}xcomplex<f32>> {{
  %0 = stablehlo.fft %x, type = {kind}, length = [{n}] : (tensor<2x{n}xcomplex<f32>>) -> tensor<2x{n}xcomplex<f32>>
  return %0 : tensor<2x{n}xcomplex<f32>>
}}
"""
FILTER = """func.func @main(%x: tensor<3x{n}xf32>, %k: tensor<3x{n}xf32>) -> tensor<3x{n}xf32> {{
  %0 = stablehlo.fft %x, type = RFFT, length = [{n}] : (tensor<3x{n}xf32>) -> tensor<3x{half}xcomplex<f32>>
  %1 = stablehlo.fft %k, type = RFFT, length = [{n}] : (tensor<3x{n}xf32>) -> tensor<3x{half}xcomplex<f32>>
  %2 = stablehlo.multiply %0, %1 : tensor<3x{half}xcomplex<f32>>
  %3 = stablehlo.fft %2, type = IRFFT, length = [{n}] : (tensor<3x{half}xcomplex<f32>>) -> tensor<3x{n}xf32>
  return %3 : tensor<3x{n}xf32>
}}
"""


def by_definition(x: np.ndarray, sign: int) -> np.ndarray:
    """Sums in float32, of products with roots that are rounded to it."""
    n = x.shape[-1]
    roots = np.exp(sign * 2j * np.pi * (np.outer(np.arange(n), np.arange(n)) % n) / n).astype(C64)
    return (x[:, None, :] * roots).sum(-1, dtype=C64)


def by_halves(x: np.ndarray, sign: int) -> np.ndarray:
    """Cooley and Tukey's, in float32; lengths that are odd by definition."""
    n = x.shape[-1]
    if n % 2:
        return by_definition(x, sign)
    even, odd = by_halves(x[:, ::2], sign), by_halves(x[:, 1::2], sign)
    turned = np.exp(sign * 2j * np.pi * np.arange(n // 2) / n).astype(C64) * odd
    return np.concatenate([even + turned, even - turned], -1)


@pytest.mark.parametrize("n", [1, 2, 8, 12, 15, 64])
@pytest.mark.parametrize(("kind", "sign"), [("FFT", -1), ("IFFT", 1)])
def test_transforms(n: int, kind: str, sign: int) -> None:
    x, text = drawn(n, 2, n), FFT.format(n=n, kind=kind)
    scale = F32(1) if kind == "FFT" else F32(n)
    for transform in (by_definition, by_halves):
        assert is_right(text, (transform(x, sign) / scale).astype(C64), x)
    right = by_halves(x, sign) / scale
    for wrong in (right * C64(1 + 1e-3), right / F32(1.001)):
        assert not is_right(text, wrong.astype(C64), x)
    if n > 2:
        for wrong in (by_halves(x, -sign) / scale, np.roll(right, 1, -1), right.conj()):
            assert not is_right(text, wrong.astype(C64), x)


@pytest.mark.parametrize("n", [4, 9, 32])
def test_a_filter_of_three_transforms(n: int) -> None:
    x, k = np.random.default_rng(n).standard_normal((2, 3, n)).astype(F32)
    text = FILTER.format(n=n, half=n // 2 + 1)
    spectrum = product(by_halves(x.astype(C64), -1), by_halves(k.astype(C64), -1))
    answer = (by_halves(spectrum, 1).real / F32(n)).astype(F32)
    assert is_right(text, answer, x, k)
    whole = np.stack([np.convolve(a, np.concatenate([b, b]))[n : 2 * n] for a, b in zip(x, k, strict=True)])
    assert is_right(text, whole.astype(F32), x, k)
    for wrong in (answer * F32(1 + 1e-2), np.roll(answer, 1, -1), answer + F32(1e-2)):
        assert not is_right(text, wrong, x, k)


@pytest.mark.parametrize("op", ["tanh", "exponential", "sqrt"])
def test_functions_of_complex_numbers_are_not_known(op: str) -> None:
    text = BINARY.replace("OP %0, %y", f"{op} %0")
    with pytest.raises(Unjudged, match=rf"stablehlo.{op}: no rule tells what becomes of the errors of complex numbers"):
        goldens(text, drawn(1, 50), drawn(2, 50))
