"""Complex numbers and transforms on real numbers: honest engines lie within the bounds, nearly right ones do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.contracts.judge import judge
from conform.contracts.tables import OF_MODULE
from tests.interp.stablehlo.test_reals import goldens, stepwise

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


@pytest.mark.parametrize("kind", ["FFT", "IFFT"])
def test_a_transform_of_computed_numbers_in_float64(kind: str) -> None:
    """The kit has it to double precision alone, which is less than engines may lose."""
    text = FFT.format(n=8, kind=kind).replace("f32", "f64")
    text = text.replace("  %0 = stablehlo.fft %x", "  %a = stablehlo.multiply %x, %x : tensor<2x8xcomplex<f64>>\n"
                        "  %0 = stablehlo.fft %a")  # fmt: skip
    x = drawn(1, 2, 8).astype(np.complex128) / 3
    answer = (np.fft.fft if kind == "FFT" else np.fft.ifft)(product(x, x))
    assert is_right(text, answer, x)
    assert not is_right(text, answer * (1 + 1e-12), x)


# --- Functions --------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exponential": np.exp, "exponential_minus_one": np.expm1, "log": np.log, "log_plus_one": np.log1p,
    "sqrt": np.sqrt, "rsqrt": lambda z: 1 / np.sqrt(z), "sine": np.sin, "cosine": np.cos, "tan": np.tan,
    "tanh": np.tanh, "logistic": lambda z: 1 / (1 + np.exp(-z)), "cbrt": lambda z: np.power(z, 1 / 3),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions_of_computed_numbers(op: str, dtype: type) -> None:
    """Of a product by any engine: both its sums may be off by two roundings, whichever way."""
    element = np.dtype(dtype).type(0).real.dtype
    text = BINARY.replace("OP %0, %y", f"{op} %0").replace("f32", f"f{8 * element.itemsize}")
    x, y = drawn(1, 50).astype(dtype), drawn(2, 50).astype(dtype)
    exact, unit = product(x.astype(complex), y.astype(complex)), np.finfo(element).eps / 2
    lost = unit * (
        np.abs(x.real * y.real) + np.abs(x.imag * y.imag) + 1j * (np.abs(x.real * y.imag) + np.abs(x.imag * y.real))
    )
    for turn in (0, 1, -1, 1j, -1j):
        moved = exact + lost.real * np.real(turn) + 1j * lost.imag * np.imag(turn)
        assert is_right(text, FUNCTIONS[op](moved).astype(dtype), x, y)
    right = FUNCTIONS[op](exact)
    for wrong in (
        right * (1 + 256 * unit),
        right.conj(),
        FUNCTIONS[op](exact.conj()),
        FUNCTIONS[op](exact * (1 + 1e3 * unit)),
    ):
        assert not is_right(text, wrong.astype(dtype), x, y)


@pytest.mark.parametrize("op", ["abs", "sign"])
def test_a_size_of_known_numbers_is_rounded_too(op: str) -> None:
    """By squares, each step in float32, which half an ulp does not hold; and not of a number 1e-6 off."""
    z = drawn(5, 64)
    part, size = "f32" if op == "abs" else "complex<f32>", np.sqrt(z.real * z.real + z.imag * z.imag)
    text = f"""func.func @main(%x: tensor<64xcomplex<f32>>) -> tensor<64x{part}> {{
      %0 = stablehlo.{op} %x : (tensor<64xcomplex<f32>>) -> tensor<64x{part}>
      return %0 : tensor<64x{part}>
    }}"""
    text = text if op == "abs" else text.replace("%x : (tensor<64xcomplex<f32>>) -> ", "%x : ")
    answer = size if op == "abs" else (z.real / size + 1j * (z.imag / size)).astype(C64)
    assert (answer != stepwise(text, z)[0]).any()
    assert is_right(text, answer, z)
    assert not is_right(text, answer * F32(1 + 1e-6), z)


SPECIAL = {
    "multiply": ([complex(np.inf, 1), 3e38, complex(3e38, 3e38), 2], [1, 3e38, 2 + 1j, 3]),
    "divide": ([complex(1, np.nan), 1, 3, 2], [1, 0, complex(np.inf, 1), 3]),
}


@pytest.mark.parametrize("op", SPECIAL)
def test_which_parts_are_nan_is_free_where_one_is_not_finite(op: str) -> None:
    """C99's Annex G and the schoolbook's products differ there (P8, P70); of the last numbers nothing is free."""
    x, y = (np.array(one, C64) for one in SPECIAL[op])
    type_ = "tensor<4xcomplex<f32>>"
    (golden,) = goldens(f"""func.func @main(%x: {type_}, %y: {type_}) -> {type_} {{
      %0 = stablehlo.{op} %x, %y : {type_}
      return %0 : {type_}
    }}""", x, y)  # fmt: skip
    assert np.isfinite(golden.budget).all(-1).tolist() == [False, False, False, True]
    assert not np.isfinite(golden.budget[:3]).any()


def test_a_product_of_matrices_beside_what_is_not_finite() -> None:
    lhs, rhs = np.array([[1, complex(1, np.inf)], [3e38, 1], [2, 1]], C64), np.array([[2, 3j], [1, 1]], C64)
    (golden,) = goldens(
        """func.func @main(%x: tensor<3x2xcomplex<f32>>, %y: tensor<2x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>> {
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
      return %0 : tensor<3x2xcomplex<f32>>
    }""",  # noqa: E501
        lhs, rhs,
    )  # fmt: skip
    assert np.isfinite(golden.budget).all(-1).tolist() == [[False, False], [False, False], [True, True]]
    assert not np.isfinite(golden.budget[:2]).any()


def test_signs_of_computed_numbers() -> None:
    text = BINARY.replace("OP %0, %y", "sign %0")
    x, y = drawn(1, 50), drawn(2, 50)
    x[0] = 0
    number = product(x, y)
    right = number / np.where(number == 0, 1, np.abs(number))
    assert is_right(text, right.astype(C64), x, y)
    for wrong in (right.conj(), right * C64(1 + 1e-5), number, np.sign(number.real) + 1j * np.sign(number.imag)):
        assert not is_right(text, wrong.astype(C64), x, y)


def angle(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    y, x = y.astype(complex), x.astype(complex)
    return -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y))


def test_angles_of_computed_numbers() -> None:
    text = BINARY.replace("OP %0, %y", "atan2 %0, %y")
    x, y = drawn(1, 50), drawn(2, 50)
    right = angle(product(x, y), y)
    assert is_right(text, right.astype(C64), x, y)
    for wrong in (right.conj(), right * C64(1 + 1e-4), angle(y, product(x, y)), right + np.pi):
        assert not is_right(text, wrong.astype(C64), x, y)


def test_a_power_of_computed_numbers() -> None:
    text = BINARY.replace("OP %0, %y", "power %0, %y")
    x, y = drawn(1, 50), drawn(2, 50)
    assert is_right(text, (product(x, y).astype(C64) ** y).astype(C64), x, y)
    for wrong in (product(x, y).conj() ** y, product(x, y) ** x):
        assert not is_right(text, wrong.astype(C64), x, y)


@pytest.mark.parametrize(("op", "cut"), [("log", 0.0), ("sqrt", 0.0), ("rsqrt", 0.0), ("log_plus_one", -1.0)])
def test_nothing_is_known_where_an_engine_may_be_beyond_a_cut(op: str, cut: float) -> None:
    text = BINARY.replace("50x", "4x").replace("OP %0, %y", f"{op} %0").replace("multiply", "add")
    x = np.array([cut - 3, cut + 3, cut - 3 + 1j, cut - 3 + 1e-30j], C64)
    (golden,) = goldens(text, x, np.zeros(4, C64))
    assert np.isinf(golden.budget).any(-1).tolist() == [True, False, False, False]  # sums with 0 are exact
    text = BINARY.replace("50x", "4x").replace("OP %0, %y", f"{op} %0")
    factor = np.array([1 + 1j, 1 + 1j, 1, 1j], C64) / np.sqrt(F32(2))
    (golden,) = goldens(text, ((cut - 3) / factor).astype(C64), factor)
    assert np.isinf(golden.budget).any(-1).tolist() == [True, True, True, True]


# --- Sums and products ------------------------------------------------------------------------------------------------

MATRICES = """func.func @main(%x: tensor<6x7xcomplex<f32>>, %y: tensor<7x5xcomplex<f32>>) -> tensor<6x5xcomplex<f32>> {
  %0 = stablehlo.STEP %x, %x : tensor<6x7xcomplex<f32>>
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (tensor<6x7xcomplex<f32>>, tensor<7x5xcomplex<f32>>) -> tensor<6x5xcomplex<f32>>
  return %1 : tensor<6x5xcomplex<f32>>
}
"""  # noqa: E501


@pytest.mark.parametrize(("step", "join"), [("multiply", product), ("add", np.add)])
def test_products_of_matrices(step: str, join: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    x, y, text = drawn(1, 6, 7), drawn(2, 7, 5), MATRICES.replace("STEP", step)
    left = join(x, x).astype(C64)
    apart = (left.real @ y.real - left.imag @ y.imag) + 1j * (left.real @ y.imag + left.imag @ y.real)
    assert is_right(text, apart.astype(C64), x, y)
    assert is_right(text, (left[:, :, None] * y[None]).sum(1, dtype=C64), x, y)
    for wrong in (left @ y.conj(), (left @ y) * (1 + 1e-4)):
        assert not is_right(text, wrong.astype(C64), x, y)


def test_a_convolution_is_the_product_of_its_windows() -> None:
    text = """func.func @main(%x: tensor<1x4x1xcomplex<f32>>, %k: tensor<2x1x1xcomplex<f32>>) -> tensor<1x5x1xcomplex<f32>> {
      %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xcomplex<f32>>, tensor<2x1x1xcomplex<f32>>) -> tensor<1x5x1xcomplex<f32>>
      return %0 : tensor<1x5x1xcomplex<f32>>
    }"""  # noqa: E501
    x, k = np.array([1, 2j, 3, 1 + 1j], C64).reshape(1, 4, 1), np.array([1j, 2], C64).reshape(2, 1, 1)
    (golden,) = goldens(text, x, k)
    assert golden.value.ravel().tolist() == [2, 5j, 4, 2 + 5j, -1 + 1j]  # the kernel is not turned: 1j x[t-1] + 2 x[t]


REDUCED = """func.func @main(%x: tensor<6x7xcomplex<f32>>) -> tensor<6xcomplex<f32>> {
  %one = stablehlo.constant dense<(INIT, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.multiply %x, %x : tensor<6x7xcomplex<f32>>
  %1 = stablehlo.reduce(%0 init: %one) applies stablehlo.OP across dimensions = [1] : (tensor<6x7xcomplex<f32>>, tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
  return %1 : tensor<6xcomplex<f32>>
}
"""  # noqa: E501


def in_turn(join: Callable[[np.ndarray, np.ndarray], np.ndarray], columns: np.ndarray) -> np.ndarray:
    found = columns[:, 0]
    for at in range(1, columns.shape[1]):
        found = join(found, columns[:, at]).astype(C64)
    return found


@pytest.mark.parametrize(("op", "init", "join"), [("add", "0.0", np.add), ("multiply", "1.0", product)])
def test_reductions(op: str, init: str, join: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    x, text = drawn(1, 6, 7), REDUCED.replace("INIT", init).replace("OP", op)
    squares = product(x, x).astype(C64)
    for order in (squares, squares[:, ::-1], squares[:, [3, 0, 6, 2, 5, 1, 4]]):
        answer = in_turn(join, order)
        assert is_right(text, answer, x)
    for wrong in (answer * C64(1 + 1e-4), answer.conj(), in_turn(join, squares[:, 1:])):
        assert not is_right(text, wrong.astype(C64), x)


def test_of_a_product_that_leaves_the_range_nothing_is_said() -> None:
    x, text = np.ones((6, 7), C64), REDUCED.replace("INIT", "1.0").replace("OP", "multiply")
    x[0, :4], x[1, :2], x[2, 0] = (1e18, 1e18, 1e-18, 1e-18), (1e-9, 1e9), 0
    (golden,) = goldens(text, x)
    assert np.isinf(golden.budget).any(-1).tolist() == [True, False, True, False, False, False]
