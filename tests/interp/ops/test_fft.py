"""Fourier transforms: literal results, exact numbers among irrational ones, and what is open."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from conform.errors import Unjudged
from conform.interp.evaluate import evaluate
from conform.interp.formulas.fourier import Exactly
from conform.interp.golden import Golden


def c2c(numbers: list, normalization: int = 0, forward: bool = True, dtype: str = "complex128") -> Golden:
    operand = np.array(numbers, dtype)
    return evaluate("aten::_fft_c2c", (operand, list(range(operand.ndim)), normalization, forward), {}).goldens[0]


def test_transforms_of_small_lengths() -> None:
    assert c2c([1, 2, 3, 4]).value.tolist() == [10, -2 + 2j, -2, -2 - 2j]
    assert c2c([1, 2, 3, 4], forward=False).value.tolist() == [10, -2 - 2j, -2, -2 + 2j]
    assert c2c([1, 2, 3, 4], normalization=1).value.tolist() == [5, -1 + 1j, -1, -1 - 1j]
    assert c2c([1, 2, 3, 4], normalization=2).value.tolist() == [2.5, -0.5 + 0.5j, -0.5, -0.5 - 0.5j]
    assert c2c([[1, 2], [3, 5]]).value.tolist() == [[11, -3], [-5, 1]]


def test_rational_results_among_irrational_roots_are_exact() -> None:
    """Over the root of 3, the imaginary parts of a transform of three are (x2 - x1) / 2: the roots cancel."""
    golden = c2c([0.0, 0.1, 0.4], normalization=1)
    assert golden.value.imag.tolist() == [0, (0.4 - 0.1) / 2, -(0.4 - 0.1) / 2]
    impulse = c2c([0.1, 0, 0, 0, 0, 0, 0])
    assert impulse.value.tolist() == [0.1] * 7
    assert (impulse.real.hi[:, 1] == 0).all()
    legendre = c2c([0, 1, -1, -1, 1], normalization=1)  # Gauss's sum is the root of 5
    assert legendre.value.tolist() == [0, 1, -1, -1, 1]


def test_what_lies_far_below_the_largest_number_decides_a_tie() -> None:
    """1 + 2^-53 + 2^-800, beside an imaginary part of 2^800, with which the row is scaled."""
    golden = c2c([complex(1, 2.0**800), 2.0**-53, 2.0**-800, 0])
    assert golden.value[0] == complex(1 + 2.0**-52, 2.0**800)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7, 8, 12, 30, 97, 128])
def test_the_backward_transform_gives_the_numbers_back(length: int) -> None:
    numbers = np.random.default_rng(length).integers(-9, 9, (2, length)) * (1 + 2j)
    there = c2c(numbers)
    back = c2c(there.value, normalization=2, forward=False)
    assert np.abs(back.value - numbers).max() < 1e-13


def test_real_numbers_there_and_back() -> None:
    one_sided = evaluate("aten::_fft_r2c", (np.array([1.0, 2, 4], np.float32), [0], 0, True), {}).goldens[0]
    both_sides = evaluate("aten::_fft_r2c", (np.array([1.0, 2, 4], np.float32), [0], 0, False), {}).goldens[0]
    assert one_sided.format.name == "complex64"
    assert one_sided.value.tolist() == both_sides.value[:2].tolist()
    assert both_sides.value[2] == np.conj(both_sides.value[1])
    assert one_sided.value[1] == np.complex64(-2 + 3**0.5 * 1j)
    half = np.array([6 + 5j, 2 - 1j, 1 + 7j])  # 5 and 7 cannot show in real numbers (P131)
    even = evaluate("aten::_fft_c2r", (half, [0], 0, 4), {}).goldens[0]
    assert even.value.tolist() == [11, 7, 3, 3]
    assert even.value.dtype == np.float64


def test_beside_an_infinity_a_whole_transform_is_open() -> None:
    golden = c2c([[1, np.inf], [2, 3]])
    assert golden.open.all()
    assert golden.open_rule == "P130"
    assert c2c([3e38, 3e38, 0, 0], dtype="complex64").open_rule == "P35"


def test_a_long_sum_is_bounded_by_the_norm() -> None:
    golden = c2c(np.ones(1024), dtype="complex64")
    bound = np.hypot(*np.moveaxis(golden.budget, -1, 0))
    u = 2.0**-24
    assert (bound > 10 * 6.6 * u * 1024).all()  # t eta sqrt(n) |x|
    assert (bound < 10 * 7.1 * u * 1024).all()


def test_a_transform_of_too_many_numbers_is_refused_before_it_takes_memory() -> None:
    many = np.broadcast_to(np.complex64(1), (2, 2**21 + 2))
    for op, rest in (("_fft_c2c", ([0, 1], 0, True)), ("_fft_c2r", ([1], 0, 2**22 + 2))):
        with pytest.raises(Unjudged, match="at once: the kit judges those of up to 4,194,304"):
            evaluate(f"aten::{op}", (many, *rest), {})


@pytest.mark.parametrize("number", [2.0**-1022, 0.1, 1e300])
def test_transforms_of_equal_numbers_are_0_but_for_their_sum(number: float) -> None:
    """Over the root of 630 = 2 9 5 7 the first is number sqrt(630)."""
    golden = c2c(np.full((6, 7, 15), number + 2j * number), normalization=1)
    others = golden.value.ravel()[1:]
    assert others.tolist() == [0] * 629
    assert not golden.real.radius.reshape(-1, 2)[1:].any()
    with mpmath.workprec(200):
        first = [float(mpmath.sqrt(630) * number * factor) for factor in (1, 2)]
    assert [golden.value.flat[0].real, golden.value.flat[0].imag] == first


@pytest.mark.parametrize("length", [8, 9, 12, 15, 16, 20, 21])
@pytest.mark.parametrize("normalization", [0, 1, 2])
def test_exact_elements_are_those_of_the_sums(length: int, normalization: int) -> None:
    """Of numbers whose integers have many digits: each element as fractions and roots of unity of 700 bits give it."""
    draws = np.random.default_rng(length)
    row = np.ldexp(draws.standard_normal(length), draws.integers(-300, 300, length)) * (1 + 0j)
    row.imag = draws.integers(-3, 4, length) * row.real[0]
    square = {0: 1, 1: length, 2: length**2}[normalization]
    exactly = Exactly(row[None], (length,), -1, square)
    with mpmath.workprec(700):
        for place in range(length):
            turns = [mpmath.expjpi(mpmath.mpf(-2 * j * place) / length) for j in range(length)]
            whole = mpmath.fsum(mpmath.mpc(x) * turn for x, turn in zip(row.tolist(), turns, strict=True))
            for part, expected in enumerate((whole.real, whole.imag)):
                found = exactly.at((0, place), part)
                error = abs(mpmath.mpf(found.numerator) / found.denominator - expected / mpmath.sqrt(square))
                assert error <= abs(expected) * mpmath.mpf(2) ** -500 + mpmath.mpf(2) ** -380


def test_lines_that_do_not_change_have_one_frequency() -> None:
    """Beside a dim that changes, in a row with infinities that is open, and where half of a dim stands for all."""
    image = np.outer([1.0, 0.1, 0.3], np.ones(5))
    golden = c2c(image)
    assert (golden.value[:, 1:] == 0).all()
    assert not golden.real.radius[:, 1:].any()
    with mpmath.workprec(200):
        expected = mpmath.mpf(1) - (mpmath.mpf(0.1) + mpmath.mpf(0.3)) / 2
    assert golden.value[1, 0].real == float(5 * expected)
    half = np.ones(3, np.complex128)  # of 4 frequencies 1, 1, 1, 1: an impulse
    (whole,) = evaluate("aten::_fft_c2r", (half, [0], 0, 4), {}).goldens
    assert whole.value.tolist() == [4, 0, 0, 0]
    (odd,) = evaluate("aten::_fft_c2r", (half[:2], [0], 0, 2), {}).goldens
    assert odd.value.tolist() == [2, 0]


def test_what_is_left_when_far_larger_numbers_cancel() -> None:
    """cos(2 pi 30 / 14) = -cos(2 pi 33 / 14), with 2^668 between what they multiply and what is left."""
    half = np.zeros(15)
    half[4:6], half[10:12] = 2.0**240, 2.0**908
    golden = evaluate("aten::_fft_c2r", (half.astype(np.complex128), [0], 0, 28), {}).goldens[0]
    assert golden.value[6] == 2.0**241 * 1.5244586697611526  # cos(2 pi 24 / 28) + cos(2 pi 30 / 28)


def named(name: str, numbers: list, dtype: str = "float64", **options: object) -> np.ndarray:
    return evaluate(f"aten::fft_{name}", (np.array(numbers, dtype),), options).goldens[0].value


def test_transforms_by_name() -> None:
    assert named("fft", [1, 2, 3, 4]).tolist() == [10, -2 + 2j, -2, -2 - 2j]
    assert named("fft", [1, 2, 3, 4], n=2).tolist() == [3, -1]
    assert named("fft", [1, 2], n=4).tolist() == [3, 1 - 2j, -1, 1 + 2j]
    assert named("fft", [[1, 2], [3, 5]], dim=0).tolist() == [[4, 7], [-2, -3]]
    assert named("ifft", [1, 2, 3, 4]).tolist() == [2.5, -0.5 - 0.5j, -0.5, -0.5 + 0.5j]
    assert named("rfft", [1, 2, 3, 4]).tolist() == [10, -2 + 2j, -2]
    assert named("ihfft", [1, 2, 3, 4]).tolist() == [2.5, -0.5 - 0.5j, -0.5]
    assert named("irfft", [10, -2 + 2j, -2], "complex128").tolist() == [1, 2, 3, 4]
    assert named("hfft", [2.5, -0.5 - 0.5j, -0.5], "complex128").tolist() == [1, 2, 3, 4]
    assert named("irfft", [4, 0, 7], "complex128", n=3, norm="forward").tolist() == [4, 4, 4]
    assert named("hfft", [4, 8]).tolist() == [12, -4]
    assert named("fft", [1, 2], "int64").dtype == np.complex64


@pytest.mark.parametrize(
    ("name", "divisors"),
    [("fft", (1, 2, 4)), ("rfft", (1, 2, 4)), ("hfft", (1, 2, 4)),
     ("ifft", (4, 2, 1)), ("irfft", (4, 2, 1)), ("ihfft", (4, 2, 1))],
)  # fmt: skip
def test_normalizations_by_name(name: str, divisors: tuple[int, ...]) -> None:
    for norm, divisor in zip(("backward", "ortho", "forward"), divisors, strict=True):
        assert named(name, [8, 0, 0, 0], n=4, norm=norm)[0] == 8 / divisor


def test_the_frequency_0_in_the_middle_and_back() -> None:
    assert named("fftshift", [0, 1, 2, -2, -1]).tolist() == [-2, -1, 0, 1, 2]
    assert named("ifftshift", [-2, -1, 0, 1, 2]).tolist() == [0, 1, 2, -2, -1]
    assert named("fftshift", [[0, 1, 2], [3, 4, 5]], dim=[1]).tolist() == [[2, 0, 1], [5, 3, 4]]
    assert named("fftshift", [[0, 1, 2], [3, 4, 5]]).tolist() == [[5, 3, 4], [2, 0, 1]]
