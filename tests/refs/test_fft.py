"""Fourier transforms: values by hand, irrational ones by mpmath, then what is open or refused."""

import math

import mpmath
import pytest

from conform.refs import UNSPECIFIED
from tests.refs.helpers import call, rounded_mpf, same, tensor

inf, nan = math.inf, math.nan
ROOT_HALF = 0.7071067811865476  # sqrt(1 / 2) in float64
HALF_ROOT_3 = 0.8660254037844386


def c2c(x: list, dim: list[int], normalization: int = 0, forward: bool = True) -> object:
    return call("_fft_c2c", self=tensor("complex128", x), dim=dim, normalization=normalization, forward=forward)


@pytest.mark.parametrize(
    ("x", "normalization", "forward", "expected"),
    [
        ([1 + 2j], 0, True, [1 + 2j]),
        ([1 + 0j, 2j], 0, True, [1 + 2j, 1 - 2j]),
        ([0j, 1 + 0j, 0j, 0j], 0, True, [1 + 0j, -1j, -1 + 0j, 1j]),
        ([0j, 1 + 0j, 0j, 0j], 0, False, [1 + 0j, 1j, -1 + 0j, -1j]),
        ([0j, 1 + 0j, 0j, 0j], 1, False, [0.5 + 0j, 0.5j, -0.5 + 0j, -0.5j]),
        ([0j, 1 + 0j, 0j, 0j], 2, False, [0.25 + 0j, 0.25j, -0.25 + 0j, -0.25j]),
        ([0j, 1 + 0j], 1, True, [ROOT_HALF + 0j, -ROOT_HALF + 0j]),
        ([0j, 1 + 0j, 0j], 0, True, [1 + 0j, complex(-0.5, -HALF_ROOT_3), complex(-0.5, HALF_ROOT_3)]),
    ],
)
def test_c2c(x: list, normalization: int, forward: bool, expected: list) -> None:
    assert c2c(x, [0], normalization, forward).data == expected


def test_what_is_rational_after_the_normalization() -> None:
    """cos(pi / 4) / sqrt(8) is 1 / 4: no ball would decide whether it is, were it half way between two numbers."""
    assert c2c([0j, 1 + 0j] + [0j] * 6, [0], 1, False).data[1] == 0.25 + 0.25j


def test_several_dims_in_any_order() -> None:
    x = [[1 + 0j, 2 + 0j], [3 + 0j, 5 + 0j]]
    for dims in ([0, 1], [1, 0], [-2, -1]):
        same(c2c(x, dims), "complex128", [[11 + 0j, -3 + 0j], [-5 + 0j, 1 + 0j]])
    same(c2c(x, [1]), "complex128", [[3 + 0j, -1 + 0j], [8 + 0j, -2 + 0j]])
    same(c2c(x, []), "complex128", x)


def test_r2c_keeps_the_first_half_of_the_last_of_the_dims() -> None:
    x = tensor("float32", [[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]])
    full = call("_fft_r2c", self=x, dim=[0], normalization=0, onesided=False)
    same(full, "complex64", [[1 + 0j, 2 + 0j, 4 + 0j]] * 2)
    half = call("_fft_r2c", self=x, dim=[0, 1], normalization=0, onesided=True)
    assert (half.dtype, half.shape, half.data[0]) == ("complex64", (2, 2), 7 + 0j)
    assert half.data[1] == half.data[3] == complex(-2.0, 1.7320507764816284)


def test_c2r_takes_no_imaginary_part_of_what_is_its_own_conjugate() -> None:
    def c2r(x: list, size: int, normalization: int = 0) -> object:
        return call("_fft_c2r", self=tensor("complex128", x), dim=[0], normalization=normalization, last_dim_size=size)

    same(c2r([1 + 9j], 1), "float64", [1.0])
    same(c2r([1 + 9j, 2 + 9j], 2), "float64", [3.0, -1.0])
    same(c2r([6 + 9j, 1j, 2 + 9j], 4, 2), "float64", [2.0, 0.5, 2.0, 1.5])
    same(c2r([1 + 9j, 1j], 3), "float64", [1.0, -0.7320508075688773, 2.732050807568877])


def test_c2r_of_two_dims_is_the_backward_transform_along_the_first_before() -> None:
    x = [[1 + 1j, 2 - 1j], [3 + 2j, 4j]]
    outer = c2c(x, [0], 0, False)
    rows = call("_fft_c2r", self=outer, dim=[1], normalization=0, last_dim_size=3)
    at_once = call("_fft_c2r", self=tensor("complex128", x), dim=[0, 1], normalization=0, last_dim_size=3)
    assert at_once.data == pytest.approx(rows.data, rel=1e-15)


@pytest.mark.parametrize("size", [5, 7, 8, 12])
def test_by_mpmath(size: int) -> None:
    x = [complex(3 * n * n % 7 - 2, 5 * n % 11) for n in range(size)]
    with mpmath.workprec(200):
        for normalization, scale in enumerate((1, 1 / mpmath.sqrt(size), mpmath.mpf(1) / size)):
            out = c2c(x, [0], normalization).data
            for k in range(size):
                z = scale * mpmath.fsum(x[n] * mpmath.expjpi(mpmath.mpf(-2 * n * k) / size) for n in range(size))
                for mine, part in ((out[k].real, z.real), (out[k].imag, z.imag)):
                    assert mine == (0.0 if abs(part) < 1e-40 else rounded_mpf("float64", part))


def test_a_line_with_an_infinity_or_nan_is_open_alone() -> None:
    x = tensor("complex64", [[complex(inf, 0), 1j], [1j, 1j], [complex(0, nan), 0j]])
    out = call("_fft_c2c", self=x, dim=[1], normalization=0, forward=True)
    same(out, "complex64", [[UNSPECIFIED, UNSPECIFIED], [2j, 0j], [UNSPECIFIED, UNSPECIFIED]])


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("_fft_c2c", {"dim": [0, -1]}),
        ("_fft_c2c", {"dim": [1]}),
        ("_fft_c2c", {"normalization": 3}),
        ("_fft_c2c", {"self": tensor("float32", [1.0])}),
        ("_fft_c2c", {"self": tensor("complex64", [])}),
        ("_fft_r2c", {"onesided": True}),
        ("_fft_r2c", {"onesided": True, "self": tensor("float32", [1.0]), "dim": []}),
        ("_fft_c2r", {"last_dim_size": 0}),
        ("_fft_c2r", {"last_dim_size": 1, "self": tensor("float32", [1.0])}),
    ],
)
def test_refused(op: str, arguments: dict) -> None:
    own = {"_fft_c2c": {"forward": True}}.get(op, {})
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **{"self": tensor("complex64", [1j]), "dim": [0], "normalization": 0, **own, **arguments})


def test_transforms_by_name() -> None:
    def named(name: str, x: list, dtype: str = "float64", **options: object) -> list:
        return call(f"fft_{name}", self=tensor(dtype, x), **options).data

    assert named("fft", [1.0, 2.0], n=4) == [3 + 0j, 1 - 2j, -1 + 0j, 1 + 2j]
    assert named("ifft", [8.0, 0.0], norm="ortho", n=1) == [8 + 0j]
    assert named("rfft", [1, 2, 3, 4], "int16") == [10 + 0j, -2 + 2j, -2 + 0j]
    assert named("ihfft", [1.0, 2.0, 3.0, 4.0]) == [2.5 + 0j, -0.5 - 0.5j, -0.5 + 0j]
    assert named("irfft", [10 + 0j, -2 + 2j, -2 + 0j], "complex128") == [1, 2, 3, 4]
    assert named("hfft", [2.5 + 0j, -0.5 - 0.5j, -0.5 + 0j], "complex128") == [1, 2, 3, 4]
    assert named("fftshift", [0, 1, 2], "int8") == [2, 0, 1]
    assert named("ifftshift", [2, 0, 1], "int8") == [0, 1, 2]
