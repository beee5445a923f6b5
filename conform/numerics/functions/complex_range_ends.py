"""Parts of complex functions at the ends of float64's range, with the exponent held apart: see range_ends.py."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from conform.numerics.eft import two_prod
from conform.numerics.functions import complex_inverse_ends, dd, far_powers, range_ends
from conform.numerics.functions import complex_kernels as kernels
from conform.numerics.functions.complex_inverse_ends import nearly, sum_with_half_square
from conform.numerics.functions.dd import Array
from conform.numerics.functions.exponential import exp_scaled
from conform.numerics.functions.range_ends import FAR, Kernel, either, odd
from conform.numerics.scaled import FAINT, FARTHEST, Scaled

TINY = 2.0**-300  # what follows the leading term of a smaller operand is below 2^-400 of it
POWER_ERROR = 2.0**-80  # of powers that are not better known far_powers.py is asked


def _of(kernel: kernels.Kernel) -> Kernel:
    """What a double-double kernel knows."""

    def known(*operands: Array) -> Scaled:
        value, error = kernel(*map(dd.of, operands))
        return Scaled.of(*value, error).known_where(np.abs(value[0]) > dd.SAFE_MIN)

    return known


def product(first: Kernel, second: Kernel) -> Kernel:
    """first(x) * second(y)"""

    def kernel(x: Array, y: Array) -> Scaled:
        one, other = first(x), second(y)
        return one.times(other).times_power_of_two(other.exponent)

    return kernel


def _minus(kernel: Kernel) -> Kernel:
    return lambda *operands: -kernel(*operands)


def quotient_real(a: Array, b: Array, c: Array, d: Array) -> Scaled:
    """(ac + bd) / (c^2 + d^2); without error a / c of a real divisor and b / d of an imaginary one that are doubles."""
    numerator, above = _sum_of_products(a, c, b, d)
    denominator, below = _sum_of_products(c, c, d, d)
    (hi, lo), exponent = dd.div(numerator, denominator), above - below
    of_part, its_exponent = np.frexp(np.where(d == 0, a, b))
    divisor, own_exponent = np.frexp(np.where(d == 0, c, d))
    quotient = of_part / divisor
    product, rest = two_prod(quotient, divisor)
    is_double = ((c == 0) | (d == 0)) & (product == of_part) & (rest == 0)
    hi, lo = np.where(is_double, quotient, hi), np.where(is_double, 0.0, lo)
    exponent = np.where(is_double, its_exponent - own_exponent, exponent)
    return Scaled.of(hi, lo, np.where(is_double, 0.0, kernels.RATIONAL_ERROR + 2.0**-290), exponent)


def _sum_of_products(a: Array, b: Array, c: Array, d: Array) -> tuple[dd.DD, Array]:
    """(s, k): ab + cd = s 2^k. A product more than FAINT binades below the other is taken to be that far below it."""
    (a, b, c, d), exponents = zip(*map(np.frexp, (a, b, c, d)), strict=True)
    products = two_prod(a, b), two_prod(c, d)
    sums = exponents[0] + exponents[1], exponents[2] + exponents[3]
    own = [np.where(each[0] == 0, -FARTHEST, k) for each, k in zip(products, sums, strict=True)]
    top = np.maximum(*own)
    terms = [dd.scale(each, np.ldexp(1.0, np.maximum(k - top, -FAINT))) for each, k in zip(products, own, strict=True)]
    return dd.add(*terms), top


def quotient_imag(a: Array, b: Array, c: Array, d: Array) -> Scaled:
    """(bc - ad) / (c^2 + d^2)"""
    return quotient_real(b, -a, c, d)


def _unit_part(x: Array, y: Array) -> Scaled:
    """x / |z| of scaled operands; of a small part nearly the quotient by the other, of that a little less than 1."""
    larger, exponent = np.frexp(np.maximum(x, y))
    smaller = np.ldexp(np.minimum(x, y), -exponent)
    size = dd.sqrt(dd.add(two_prod(larger, larger), two_prod(smaller, smaller)))
    significand, own = np.frexp(x)
    ordinary = Scaled.of(*dd.div(dd.of(significand), size), kernels.ROOT_ERROR, own - exponent)
    less = np.full_like(x, -1.0)
    small = range_ends.quotient(x, y, less).known_where((smaller < TINY) & (x < y) & (x != 0))
    nearly_1 = range_ends.leading(np.ones_like(x), 1.0, less).known_where((smaller < TINY) & (y < x) & (y != 0))
    return ordinary.known_where(smaller >= TINY).or_else(small).or_else(nearly_1)


def _reciprocal(part: Kernel) -> Kernel:
    return lambda x, y: part(np.ones_like(x), np.zeros_like(x), x, y)


def _power(function: kernels.Kernel) -> Kernel:
    """A part of (x + iy)^(c + id)."""

    def kernel(*operands: Array) -> Scaled:
        exponent, angle, spent = kernels.log_of_power(*map(dd.of, operands))
        turned, error = function(angle)
        value, n = exp_scaled(exponent)
        total = kernels.power_error(turned, error, spent)
        return Scaled.of(*dd.mul(value, turned), total, n).known_where(total < POWER_ERROR)

    return kernel


def _power_of_two(part: Kernel) -> Kernel:
    return lambda x, y: part(np.full_like(x, 2.0), np.zeros_like(x), x, y)


def _roots(x: Array, y: Array) -> tuple[Scaled, Scaled, dd.DD, Array]:
    """p = sqrt((|z| + |x|) / 2) and y / 2p, the parts of sqrt z in the right half of the plane; |z| / 4^k, and k."""
    k = (np.frexp(np.maximum(np.abs(x), y))[1] + 1) // 2
    near = [dd.of(np.ldexp(part, -2 * k)) for part in (x, y)]
    size = dd.sqrt(kernels.square_sum(*near))
    p = dd.sqrt(dd.scale(dd.add(size, dd.absolute(near[0])), 0.5))
    significand, exponent = np.frexp(y)
    q = dd.div(dd.of(significand), dd.scale(p, 2.0))
    return Scaled.of(*p, kernels.ROOT_ERROR, k), Scaled.of(*q, kernels.ROOT_ERROR, exponent - k), size, k


def _root_part(index: int) -> Kernel:
    def part(x: Array, y: Array) -> Scaled:
        roots = _roots(x, y)
        return roots[index].known_where(x >= 0).or_else(roots[1 - index].known_where(x < 0))

    return part


def _inverse_root_part(index: int) -> Kernel:
    """The part of sqrt z over |z|."""

    def part(x: Array, y: Array) -> Scaled:
        root, (*_, size, k) = _root_part(index)(x, y), _roots(x, y)
        quotient = Scaled.of(*dd.div((root.hi, root.lo), size), 2 * kernels.ROOT_ERROR, root.exponent - 2 * k)
        return quotient.known_where(np.isfinite(root.radius))

    return part


def _tanh_real(x: Array, y: Array) -> Scaled:
    """x / cos(y)^2 of a tiny x: the cosine of no double is below 2^-62."""
    (cosine, error), (significand, exponent) = kernels.cos(dd.of(y)), np.frexp(x)
    slope = dd.div(dd.of(significand), dd.square(cosine))
    return Scaled.of(*slope, 2.5 * error + 2.0**-101, exponent).known_where((x < TINY) & (x != 0))


def _over_cosh_squared(y: Array, x: Array, exponent: int) -> Scaled:
    """2^exponent y / cosh(x)^2 of a tiny y"""
    (cosh, error), (significand, its_exponent) = kernels.cosh(dd.of(x)), np.frexp(y)
    quotient = dd.div(dd.of(significand), dd.square(cosh))
    numbers = Scaled.of(*quotient, 2.5 * error + 2.0**-101, its_exponent + exponent)
    return numbers.known_where((y < TINY) & (y != 0))


def _tanh_imag(x: Array, y: Array) -> Scaled:
    """y / cosh(x)^2 of a tiny y; 4 e^-2x sin y cos y of a far x."""
    near = _over_cosh_squared(y, np.minimum(x, FAR), 0).known_where(x <= FAR)
    far = range_ends.exp(-2 * x).product(_SIN(y), _COS(y)).times_power_of_two(np.full(x.shape, 2))
    return near.or_else(nearly(far, x > FAR))


def _sigmoid_real(x: Array, y: Array) -> Scaled:
    """e^x cos y of a far negative x, and 1 of a far positive one."""
    one = Scaled.exact(np.ones_like(x))
    return nearly(product(range_ends.exp, _COS)(x, y), x < -FAR).or_else(nearly(one, x > FAR))


def _sigmoid_imag(x: Array, y: Array) -> Scaled:
    """y / (4 cosh(x/2)^2) of a tiny y, of tiny x and y y / 4 (1 + y^2 / 12 - x^2 / 4); e^-|x| sin y of a far x."""
    significand, exponent = np.frexp(y)
    size, root = np.abs(x), np.sqrt(3.0) * np.abs(x)
    tie = Scaled.beside(significand, np.zeros_like(y), np.sign(y - root), exponent - 2)
    tie = tie.known_where((np.maximum(size, y) < range_ends.TINY) & (np.abs(y - root) > 2.0**-40 * y))
    far = nearly(product(range_ends.exp, _SIN)(-size, y), size > FAR)
    near = _over_cosh_squared(y, np.minimum(size, FAR) / 2, -2).known_where(size <= FAR)
    return tie.or_else(near).or_else(far)


def _sinh_sin(x: Array, y: Array) -> Scaled:
    """sinh x sin y = x y (1 + (x^2 - y^2) / 6 - ...) of small x and y; of equal ones it is less than x y."""
    (a, a_exponent), (b, b_exponent) = np.frexp(x), np.frexp(y)
    numbers = Scaled.beside(*two_prod(a, b), np.where(x > y, 1.0, -1.0), a_exponent + b_exponent)
    return numbers.known_where((np.maximum(x, y) < range_ends.TINY) & (x > 0) & (y > 0))


_SIN, _COS = either(odd(1.0, -1.0), _of(kernels.sin)), _of(kernels.cos)
_SINH = either(either(odd(1.0, 1.0), range_ends.half_exp_odd), _of(kernels.sinh))
_COSH = either(range_ends.half_exp, _of(kernels.cosh))
_EXP2_COS, _EXP2_SIN = (_of(kernels.exp2_angle(kernel)) for kernel in (kernels.cos, kernels.sin))

PARTS = MappingProxyType(
    {
        "div.real": quotient_real,
        "div.imag": quotient_imag,
        "reciprocal.real": _reciprocal(quotient_real),
        "reciprocal.imag": _reciprocal(quotient_imag),
        "sgn.real": _unit_part,
        "sgn.imag": lambda x, y: _unit_part(y, x),
        "exp.real": product(range_ends.exp, _COS),
        "exp.imag": product(range_ends.exp, _SIN),
        "exp2.real": either(product(range_ends.exp2, _EXP2_COS), _power_of_two(far_powers.real)),
        "exp2.imag": either(product(range_ends.exp2, _EXP2_SIN), _power_of_two(far_powers.imag)),
        "expm1.real": lambda x, y: sum_with_half_square(x, y, -1.0),
        "expm1.imag": product(range_ends.exp, _SIN),
        "sinh.real": product(_SINH, _COS),
        "sinh.imag": product(_COSH, _SIN),
        "cosh.real": product(_COSH, _COS),
        "cosh.imag": either(_sinh_sin, product(_SINH, _SIN)),
        "sin.real": product(_SIN, _COSH),
        "sin.imag": product(_COS, _SINH),
        "cos.real": product(_COS, _COSH),
        "cos.imag": _minus(either(lambda x, y: _sinh_sin(y, x), product(_SIN, _SINH))),
        "tanh.real": _tanh_real,
        "tanh.imag": _tanh_imag,
        "tan.real": lambda x, y: _tanh_imag(y, x),
        "tan.imag": lambda x, y: _tanh_real(y, x),
        "sigmoid.real": _sigmoid_real,
        "sigmoid.imag": _sigmoid_imag,
        "sqrt.real": _root_part(0),
        "sqrt.imag": _root_part(1),
        "rsqrt.real": _inverse_root_part(0),
        "rsqrt.imag": _minus(_inverse_root_part(1)),
        **complex_inverse_ends.PARTS,
        "pow.real": either(_power(kernels.cos), far_powers.real),
        "pow.imag": either(_power(kernels.sin), far_powers.imag),
    }
)
