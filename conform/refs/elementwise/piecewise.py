"""Activations made of straight and curved pieces: rational functions of an element and of Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import copysign, inf, isfinite, isinf, isnan, nan, prod, trunc

from flint import arb

from conform.refs.exact.mapped import refuse, unary
from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, INTEGER, Scalar, category, convert
from conform.refs.exact.reals import exact, multiply_exact, round_exact, round_real
from conform.refs.exact.rounding import INTEGER_RANGES, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, lines, wrap_dim
from conform.refs.references import reference


@reference("aten::relu")
def relu(self: RefTensor) -> RefTensor:
    """max(0, self): NaN of NaN."""
    refuse("relu", self.dtype, BOOL, COMPLEX)
    return unary(self, lambda x: convert(0, self.dtype) if x <= 0 else x)


@reference("aten::relu6")
def relu6(self: RefTensor) -> RefTensor:
    """min(max(0, self), 6)."""
    return hardtanh(self, 0, 6)


@reference("aten::hardtanh")
def hardtanh(self: RefTensor, min_val: Scalar = -1, max_val: Scalar = 1) -> RefTensor:
    """min_val below it, max_val above it, else self; open where min_val is beyond max_val. Limits of integers are
    truncated, and unsigned ones have none below zero."""
    refuse("hardtanh", self.dtype, BOOL, COMPLEX)
    low, high = (_limit("hardtanh", value, self.dtype) for value in (min_val, max_val))
    if low > high:
        return unary(self, lambda x: UNSPECIFIED)
    return unary(self, lambda x: convert(low if x < low else high if x > high else x, self.dtype))


def _limit(op: str, value: Scalar, dtype: str) -> Scalar:
    """A real Python number that an op compares with elements; beside integers truncated, and one of the dtype."""
    if isinstance(value, complex):
        raise ValueError(f"{op} needs real limits, found {value}")
    if category(dtype) == FLOAT:
        return float(value)
    if not isfinite(value) or not INTEGER_RANGES[dtype][0] <= trunc(value) <= INTEGER_RANGES[dtype][1]:
        raise ValueError(f"{op}: {value} is outside the range of {dtype}")
    return trunc(value)


@reference("aten::threshold")
def threshold_(self: RefTensor, threshold: Scalar, value: Scalar) -> RefTensor:
    """self where it is above the threshold, else the value; NaN of NaN, as of composite ops."""
    refuse("threshold", self.dtype, BOOL, COMPLEX)
    limit, other = (_limit("threshold", number, self.dtype) for number in (threshold, value))
    return unary(self, lambda x: x if x != x or x > limit else convert(other, self.dtype))


def _activation(op: str, self: RefTensor, *numbers: Scalar) -> list[float]:
    """The Python numbers as floats; ValueError for a complex one, and for a self that is no float."""
    refuse(op, self.dtype, BOOL, INTEGER, COMPLEX)
    if any(isinstance(number, complex) for number in numbers):
        raise ValueError(f"{op} needs real numbers, found {numbers}")
    return [float(number) for number in numbers]


@reference("aten::leaky_relu")
def leaky_relu(self: RefTensor, negative_slope: Scalar = 0.01) -> RefTensor:
    """self from zero on, below it negative_slope * self; open at zero for a slope that is infinite or NaN."""
    (slope,) = _activation("leaky_relu", self, negative_slope)
    return unary(self, lambda x: _leaky(self.dtype, x, slope))


def _leaky(dtype: str, x: float, slope: float) -> float | Unspecified:
    if x == 0 and not isfinite(slope):
        return UNSPECIFIED
    return x if x >= 0 else _product(dtype, x, slope)


def _product(dtype: str, x: float, y: float) -> float:
    """x * y, rounded once; the sign of a zero is that of the factors."""
    product = round_exact(dtype, multiply_exact(exact(x), exact(y)))
    return product if isnan(product) else copysign(product, copysign(1.0, x) * copysign(1.0, y))


@reference("aten::prelu")
def prelu(self: RefTensor, weight: RefTensor) -> RefTensor:
    """self from zero on, below it weight * self: one weight, or one for each index of dim 1."""
    _activation("prelu", self)
    if weight.dtype != self.dtype or len(weight.shape) > 1:
        raise ValueError(f"prelu needs a 0-d or 1-d weight of {self.dtype}, found {weight.dtype} {weight.shape}")
    channels = self.shape[1] if len(self.shape) > 1 else 1
    if len(weight.data) not in (1, channels) or (not self.shape and len(weight.data) != 1):
        raise ValueError(f"prelu needs 1 or {channels} weights, found {len(weight.data)}")
    inner = 1
    for size in self.shape[2:]:
        inner *= size
    of_channel = weight.data if len(weight.data) == channels else weight.data * channels
    data = [_leaky(self.dtype, x, of_channel[place // inner % channels]) for place, x in enumerate(self.data)]
    return RefTensor(self.dtype, self.shape, data)


@reference("aten::hardswish")
def hardswish(self: RefTensor) -> RefTensor:
    """0 up to -3, self from 3 on, self * (self + 3) / 6 between; open at -inf (as P49)."""
    return _piecewise("hardswish", self, lambda x: x * (x + 3) / 6, above=lambda x: x, below_of_infinity=UNSPECIFIED)


@reference("aten::hardsigmoid")
def hardsigmoid(self: RefTensor) -> RefTensor:
    """0 up to -3, 1 from 3 on, self / 6 + 1 / 2 between."""
    return _piecewise("hardsigmoid", self, lambda x: x / 6 + Fraction(1, 2), above=lambda x: 1.0, below_of_infinity=0.0)


def _piecewise(
    op: str,
    self: RefTensor,
    between: Callable[[Fraction], Fraction],
    above: Callable[[float], float],
    below_of_infinity: float | Unspecified,
) -> RefTensor:
    """0 up to -3, `above` from 3 on, `between` there."""
    _activation(op, self)

    def element(x: float) -> float | Unspecified:
        if isnan(x):
            return nan
        if x == -inf:
            return below_of_infinity
        if abs(x) >= 3:
            return above(x) if x > 0 else 0.0
        if x == 0 and between(Fraction(0)) == 0:
            return x
        number = between(Fraction(x))
        return round_ratio(self.dtype, number.numerator, number.denominator)

    return unary(self, element)


@reference("aten::softshrink")
def softshrink(self: RefTensor, lambd: Scalar = 0.5) -> RefTensor:
    """self - lambd above lambd, self + lambd below -lambd, else 0; NaN of NaN; a lambd below 0 is refused."""
    (width,) = _activation("softshrink", self, lambd)
    if not width >= 0:
        raise ValueError(f"softshrink needs lambd >= 0, found {width}")
    return unary(self, lambda x: _softshrunk(self.dtype, x, width))


def _softshrunk(dtype: str, x: float, width: float) -> float:
    if isnan(x) or abs(x) <= width:
        return nan if isnan(x) else 0.0
    if not isfinite(x):
        return x
    number = Fraction(x) - Fraction(width) if x > 0 else Fraction(x) + Fraction(width)
    return round_ratio(dtype, number.numerator, number.denominator)


@reference("aten::hardshrink")
def hardshrink(self: RefTensor, lambd: Scalar = 0.5) -> RefTensor:
    """self above lambd or below -lambd, else 0; NaN of NaN, and open for a lambd that is NaN."""
    (width,) = _activation("hardshrink", self, lambd)
    if isnan(width):
        return unary(self, lambda x: UNSPECIFIED)
    return unary(self, lambda x: x if isnan(x) or x > width or x < -width else 0.0)


@reference("aten::glu")
def glu(self: RefTensor, dim: int = -1) -> RefTensor:
    """a / (1 + e^-b) of the numbers a of the first half along dim and b of the second."""
    refuse("glu", self.dtype, BOOL, INTEGER, COMPLEX)
    dim = wrap_dim(dim, len(self.shape))
    if not self.shape or self.shape[dim] % 2:
        raise ValueError(f"glu halves dim {dim} of {self.shape}")
    half = self.shape[dim] // 2
    shape = tuple(half if d == dim else size for d, size in enumerate(self.shape))
    data = [None] * prod(shape)
    for own, line in zip(lines(shape, dim), lines(self.shape, dim), strict=True):
        for i in range(half):
            data[own[i]] = _gated(self.dtype, self.data[line[i]], self.data[line[half + i]])
    return RefTensor(self.dtype, shape, data)


def _gated(dtype: str, a: float, b: float) -> float:
    if isnan(a) or isnan(b):
        return nan
    if b == inf or a == 0 or (b == -inf and not isinf(a)):
        return a if b == inf else 0.0
    if isinf(a):
        return nan if b == -inf else a
    if b == 0:
        half = Fraction(a) / 2
        return round_ratio(dtype, half.numerator, half.denominator)
    if b < -4000:  # e^-4000 < 2^-5000: below every format's range, whatever it is multiplied with
        return 0.0
    if b > 4000:
        return round_real(dtype, lambda: arb(a) * (1 - (-arb(4000)).exp()))
    return round_real(dtype, lambda: arb(a) / (1 + (-arb(b)).exp()))
