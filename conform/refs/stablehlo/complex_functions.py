"""cbrt and atan2 of complex numbers, of which the specification gives the names alone: both parts rounded once, by
balls at rising precision. What sign a part that is zero has is no part of their meaning."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from conform.refs.exact.complex_parts import ComplexElement, Parts, is_finite, map_complex, round_parts
from conform.refs.exact.reals import fraction_ball, log_ball, round_real
from conform.refs.exact.rounding import COMPONENTS
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.functions.complex_logarithms import angle_ball
from conform.refs.functions.elementary import round_cube_root


def cbrt(operand: RefTensor) -> RefTensor:
    """The principal cube root of each number; open where a part is not finite."""
    return map_complex(operand, complex_cbrt)


def atan2(lhs: RefTensor, rhs: RefTensor) -> RefTensor:
    """The angle of each point (rhs, lhs); open where a part is not finite, and at the poles."""
    component = COMPONENTS[lhs.dtype]
    pairs = zip(lhs.data, rhs.data, strict=True)
    return RefTensor(lhs.dtype, lhs.shape, [complex_atan2(component, y, x) for y, x in pairs])


# ---- cbrt --------------------------------------------------------------------------------------------------------


def complex_cbrt(component: str, z: complex) -> ComplexElement:
    """e^(log(z) / 3), on the negative real axis with the sign of the zero y (C99 G.6.3.2).

    Let w = a + ib be the root: x = a (a^2 - 3 b^2), y = b (3 a^2 - b^2), and b^2 <= 3 a^2 by its angle. So a is 0 for
    z = 0 alone, and b on the positive axis alone. Otherwise no part is halfway between two values, so a ball decides:

    * If a is rational, so is b^2, and b = y / (3 a^2 - b^2), but where b^2 = 3 a^2: then y = 0 and x = -8 a^3.
    * If b is rational, so is a^2, and a = x / (a^2 - 3 b^2), but where a^2 = 3 b^2: then x = 0 and y = 8 b^3.
    * If both are, they are dyadic, as x and y are: Z[1/2, i] has unique factorisation, so it holds the roots of its
      elements that are in Q(i).

    The odd factor of a dyadic a divides that of x, of a dyadic b that of y: it has no more bits than the format. With
    2^m the lowest bit of what is dyadic, that of z is one of 2^(3m) to 2^(3m + 3), so no dyadic part is subnormal: each
    is a value of the format.
    """
    if z.imag == 0 and z.real >= 0:
        return complex(round_cube_root(component, abs(z.real)))
    return round_parts(component, lambda: _cube_root_parts(z))


def _cube_root_parts(z: complex) -> Parts:
    size = (arb(z.real) ** 2 + arb(z.imag) ** 2).root(6)
    angle = angle_ball(Fraction(z.real), z.imag) / 3
    return size * angle.cos(), size * angle.sin()


# ---- atan2 -------------------------------------------------------------------------------------------------------

Gaussian = tuple[Fraction, Fraction]  # a number with rational parts


def complex_atan2(component: str, y: complex, x: complex) -> ComplexElement:
    """-i log((x + iy) / sqrt(x^2 + y^2)); open at the poles, where x^2 + y^2 = 0.

    Root and logarithm are principal; their cut is the negative real axis, on which the exact x^2 + y^2 and the exact
    quotient have the angle pi. With u = x + iy and v = x - iy, x^2 + y^2 is uv, and the quotient a root of u / v. So
    the imaginary part is log(|v| / |u|) / 2, the logarithm of an algebraic number, and i times the real one the
    logarithm of the quotient by its size, which is algebraic, too: each is 0 or transcendental (Lindemann).
    """
    if not is_finite(y, x):
        return UNSPECIFIED
    (a, b), (c, d) = map(_exact, (x, y))
    u, v = (a - d, b + c), (a + d, b - c)
    if u == (0, 0) or v == (0, 0):
        return UNSPECIFIED
    ratio = _square_of_size(v) / _square_of_size(u)
    imag = 0.0 if ratio == 1 else round_real(component, lambda: log_ball(ratio) / 4)
    return complex(_round_angle(component, u, v), imag)


def _round_angle(component: str, u: Gaussian, v: Gaussian) -> float:
    """The angle of u / sqrt(uv): of u / v, or u conj(v), which is its square but for the size, half the angle; or where
    the quotient is the other root of the square, half a turn away from that."""
    square = _times(u, (v[0], -v[1]))
    half_turns = (_angle(u) - _angle(_times(u, v)) / 2 - _angle(square) / 2) / arb.pi()  # an integer
    is_on_positive_axis = square[1] == 0 and square[0] > 0
    if round(float(half_turns.mid())) % 2 == 0:
        return 0.0 if is_on_positive_axis else round_real(component, lambda: _angle(square) / 2)
    side = -1 if square[1] < 0 or is_on_positive_axis else 1
    return round_real(component, lambda: _angle(square) / 2 - side * arb.pi())


def _angle(z: Gaussian) -> arb:
    """In (-pi, pi]."""
    real, imag = z
    if imag == 0:
        return arb.pi() if real < 0 else arb(0)
    return arb.atan2(fraction_ball(imag), fraction_ball(real))


def _exact(z: complex) -> Gaussian:
    return Fraction(z.real), Fraction(z.imag)


def _times(z: Gaussian, w: Gaussian) -> Gaussian:
    return z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0]


def _square_of_size(z: Gaussian) -> Fraction:
    return z[0] ** 2 + z[1] ** 2
