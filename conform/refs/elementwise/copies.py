"""Copies of elements: converted, filled, or a part of each."""

from __future__ import annotations

from math import isfinite, isnan, ldexp

from conform.refs.exact.mapped import refuse, unary
from conform.refs.exact.promotion import (
    BOOL,
    COMPLEX,
    FLOAT,
    INTEGER,
    Operand,
    Scalar,
    category,
    convert,
    converted,
)
from conform.refs.exact.rounding import (
    COMPONENTS,
    FLOAT_FORMATS,
    INTEGER_RANGES,
    round_number,
)
from conform.refs.exact.small_floats import SATURATING, SMALL_FLOATS, round_small
from conform.refs.exact.tensor import RefTensor, broadcast_shapes, expand
from conform.refs.references import reference

COMPLEX_DTYPES = {part: whole for whole, part in COMPONENTS.items() if part in ("float32", "float64")}


@reference("aten::_to_copy")
def to_copy(
    self: RefTensor,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    non_blocking: bool = False,
    memory_format: object = None,
) -> RefTensor:
    """self in another dtype; where and how the copy is stored does not change its elements."""
    target = dtype or self.dtype
    if target in SMALL_FLOATS and target != self.dtype:
        reals = [value.real for value in self.data]  # P16
        return RefTensor(target, self.shape, [round_small(target, x, target in SATURATING) for x in reals])
    return RefTensor(target, self.shape, converted(self, target))


@reference("aten::clone")
def clone(self: RefTensor, memory_format: object = None) -> RefTensor:
    """self; how the copy is stored does not change its elements."""
    return self


@reference(
    "aten::alias", "aten::detach", "aten::lift_fresh", "aten::alias_copy", "aten::detach_copy", "aten::lift_fresh_copy"
)
def alias(self: RefTensor) -> RefTensor:
    """self."""
    return self


@reference("aten::copy")
def copy(self: RefTensor, src: RefTensor, non_blocking: bool = False) -> RefTensor:
    """src expanded to the shape of self and converted to its dtype."""
    return RefTensor(self.dtype, self.shape, expand(converted(src, self.dtype), src.shape, self.shape))


def read_value(op: str, value: Scalar, dtype: str) -> Scalar:
    """A Python number as an element of the dtype; ValueError for a complex number beside real ones, or a number beyond
    an integer dtype, which is told before a fraction is cut off."""
    if isinstance(value, complex) and category(dtype) != COMPLEX:
        raise ValueError(f"{op}: the complex value {value} does not go with {dtype}")
    if category(dtype) == INTEGER and isinstance(value, (int, float)):
        low, high = INTEGER_RANGES[dtype]
        least = min(low, -high) if isinstance(value, int) else low
        if not least <= value <= high:  # P93
            raise ValueError(f"{op}: {value} is outside the range of {dtype}, {low} to {high}")
    return convert(value, dtype)


def _single(op: str, value: RefTensor) -> None:
    if value.shape:
        raise ValueError(f"{op} needs a 0-d value, found shape {value.shape}")


@reference("aten::fill.Scalar")
def fill_scalar(self: RefTensor, value: Scalar) -> RefTensor:
    """Every element is the value."""
    return RefTensor(self.dtype, self.shape, [read_value("fill", value, self.dtype)] * len(self.data))


@reference("aten::fill.Tensor")
def fill_tensor(self: RefTensor, value: RefTensor) -> RefTensor:
    """Every element is the 0-d value, converted."""
    _single("fill", value)
    return RefTensor(self.dtype, self.shape, converted(value, self.dtype) * len(self.data))


@reference("aten::masked_fill.Scalar", "aten::masked_fill.Tensor")
def masked_fill(self: RefTensor, mask: RefTensor, value: Operand) -> RefTensor:
    """The value where the mask, which broadcasts with self, is True; else self."""
    if mask.dtype != "bool":
        raise ValueError(f"masked_fill needs a mask of bool, found {mask.dtype}")
    if isinstance(value, RefTensor):
        _single("masked_fill", value)
        (value,) = value.data
    filling = read_value("masked_fill", value, self.dtype)
    shape = broadcast_shapes(self.shape, mask.shape)
    pairs = zip(expand(mask.data, mask.shape, shape), expand(self.data, self.shape, shape), strict=True)
    return RefTensor(self.dtype, shape, [filling if masked else x for masked, x in pairs])


@reference("aten::nan_to_num")
def nan_to_num(
    self: RefTensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> RefTensor:
    """NaN and infinities replaced: by 0, the greatest and the least finite number of the dtype, or by what is given."""
    if category(self.dtype) < FLOAT:
        return self
    component = COMPONENTS.get(self.dtype, self.dtype)
    fmt = FLOAT_FORMATS[component]
    greatest = ldexp(2.0 - 2.0 ** (1 - fmt.precision), fmt.emax)
    stand_ins = [
        round_number(component, float(default if given is None else given))
        for given, default in ((nan, 0.0), (posinf, greatest), (neginf, -greatest))
    ]

    def replaced(x: float) -> float:
        if isnan(x):
            return stand_ins[0]
        return x if isfinite(x) else stand_ins[1 if x > 0 else 2]

    if component == self.dtype:
        return unary(self, replaced)
    return unary(self, lambda z: complex(replaced(z.real), replaced(z.imag)))


@reference("aten::conj_physical", "aten::conj")
def conj_physical(self: RefTensor) -> RefTensor:
    """The complex conjugate; real numbers stay."""
    if category(self.dtype) < COMPLEX:
        return self
    return unary(self, lambda z: complex(z.real, -z.imag))


@reference("aten::real")
def real(self: RefTensor) -> RefTensor:
    """The real part; real numbers stay."""
    if category(self.dtype) < COMPLEX:
        return self
    return unary(self, lambda z: z.real, COMPONENTS[self.dtype])


@reference("aten::view_as_real", "aten::view_as_real_copy")
def view_as_real(self: RefTensor) -> RefTensor:
    """Both parts of each element, side by side in a new last dim."""
    refuse("view_as_real", self.dtype, BOOL, INTEGER, FLOAT)
    parts = [part for z in self.data for part in (z.real, z.imag)]
    return RefTensor(COMPONENTS[self.dtype], (*self.shape, 2), parts)


@reference("aten::view_as_complex", "aten::view_as_complex_copy")
def view_as_complex(self: RefTensor) -> RefTensor:
    """A complex number of each two numbers side by side in the last dim, which is of two and falls away."""
    if self.dtype not in COMPLEX_DTYPES or self.shape[-1:] != (2,):
        raise ValueError(f"view_as_complex takes pairs of float32 or float64, found {self.dtype} of {self.shape}")
    pairs = [complex(*self.data[at : at + 2]) for at in range(0, len(self.data), 2)]
    return RefTensor(COMPLEX_DTYPES[self.dtype], self.shape[:-1], pairs)


@reference("aten::complex")
def complex_of_parts(real: RefTensor, imag: RefTensor) -> RefTensor:
    """A complex number of each two elements, which broadcast."""
    if real.dtype not in COMPLEX_DTYPES or imag.dtype != real.dtype:
        raise ValueError(f"complex takes parts of float32 or float64, both the same: {real.dtype} and {imag.dtype}")
    shape = broadcast_shapes(real.shape, imag.shape)
    pairs = zip(expand(real.data, real.shape, shape), expand(imag.data, imag.shape, shape), strict=True)
    return RefTensor(COMPLEX_DTYPES[real.dtype], shape, [complex(x, y) for x, y in pairs])


@reference("aten::imag")
def imag(self: RefTensor) -> RefTensor:
    """The imaginary part of complex numbers; real ones are refused."""
    refuse("imag", self.dtype, BOOL, INTEGER, FLOAT)
    return unary(self, lambda z: z.imag, COMPONENTS[self.dtype])
