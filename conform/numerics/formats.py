"""Number formats as data. A row says how a format is encoded; every other property is derived from the row.

A float code is [sign | exponent field e | mantissa field m] and stands for
    (-1)^sign * 2^(e - bias) * (1 + m / 2^mantissa_bits)        e > 0, or a format without subnormals
    (-1)^sign * 2^(1 - bias) * (m / 2^mantissa_bits)            e = 0: zero and the subnormals
less the codes taken for infinity and NaN. Three families differ in what they take: IEEE formats the whole top exponent;
`fn` formats ("finite") only the top code of each sign, or nothing; `fnuz` formats ("unsigned zero") the code of -0.
Sources of the rows: IEEE 754-2019 table 3.5 (binary16, 32, 64); the OCP 8-bit Floating Point (e4m3fn, e5m2) and
Microscaling (e8m0fnu, float6, float4) specifications 1.0; ml_dtypes' and LLVM APFloat's documentation for the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import ml_dtypes
import numpy as np

from conform.errors import UsageError, did_you_mean

STABLEHLO_INTEGER = {"int": "si", "uint": "ui"}


@dataclass(frozen=True)
class Format:
    """One element type. `bits` counts the encoding, not the storage (int4 is stored in a byte); the fields of a float
    are zero or False for the other kinds, and a complex format is described by its `component`."""

    name: str
    kind: str  # "bool" | "int" | "uint" | "float" | "complex"
    bits: int
    exponent_bits: int = 0
    mantissa_bits: int = 0
    bias: int = 0
    has_inf: bool = False
    has_nan: bool = False
    has_negative_zero: bool = False
    has_subnormals: bool = False

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def is_complex(self) -> bool:
        return self.kind == "complex"

    @cached_property
    def storage(self) -> np.dtype:
        """The numpy dtype that holds one element: numpy's own, or that of ml_dtypes."""
        return np.dtype(self.name if hasattr(np, self.name) else getattr(ml_dtypes, self.name))

    @cached_property
    def code_storage(self) -> np.dtype:
        """The unsigned integer dtype of the storage's size: `array.view(fmt.code_storage)` shows the codes."""
        return np.dtype(f"uint{8 * self.storage.itemsize}")

    @cached_property
    def component(self) -> Format:
        """The format of the real and imaginary parts of a complex format."""
        return FORMATS[f"float{self.bits // 2}"]

    @cached_property
    def is_signed(self) -> bool:
        """Whether a code has a sign bit."""
        return self.kind == "int" or (self.is_float and self.bits == 1 + self.exponent_bits + self.mantissa_bits)

    @cached_property
    def has_zero(self) -> bool:
        """A float format without subnormals spends exponent field 0 on normal numbers and has no zero."""
        return not self.is_float or self.has_subnormals

    @cached_property
    def precision(self) -> int:
        """Bits of the significand of a normal number, the leading one included."""
        return self.mantissa_bits + 1

    @cached_property
    def emin(self) -> int:
        """Exponent of the smallest normal number."""
        return 1 - self.bias if self.has_subnormals else -self.bias

    @cached_property
    def max_code(self) -> int:
        """The code of `max_finite`."""
        codes = 1 << (self.exponent_bits + self.mantissa_bits)
        if self.has_inf:
            return codes - (1 << self.mantissa_bits) - 1  # the top exponent holds infinity and NaN
        nan_on_top = self.has_nan and (self.has_negative_zero or not self.is_signed)
        return codes - 2 if nan_on_top else codes - 1

    @cached_property
    def emax(self) -> int:
        """Exponent of the largest finite number."""
        return (self.max_code >> self.mantissa_bits) - self.bias

    @cached_property
    def max_finite(self) -> float:
        fraction = (self.max_code & ((1 << self.mantissa_bits) - 1)) * 2.0**-self.mantissa_bits
        return 2.0**self.emax * (1.0 + fraction)

    @cached_property
    def min_normal(self) -> float:
        return 2.0**self.emin

    @cached_property
    def min_subnormal(self) -> float:
        """The smallest positive number: a normal one where there are no subnormals."""
        return 2.0 ** (self.emin - self.mantissa_bits) if self.has_subnormals else self.min_normal

    @cached_property
    def unit_roundoff(self) -> float:
        """The largest relative error of rounding to nearest: 2^-precision."""
        return 2.0**-self.precision

    @cached_property
    def min_value(self) -> int:
        """The smallest value of an integer format."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @cached_property
    def max_value(self) -> int:
        """The largest value of an integer format."""
        return (1 << (self.bits - 1)) - 1 if self.kind == "int" else (1 << self.bits) - 1

    @cached_property
    def stablehlo_name(self) -> str:
        """The name in StableHLO's specification, chapter Types: i1, si8, ui4, f32, bf16, f8E4M3FN, complex<f32>."""
        if self.kind == "bool":
            return "i1"
        if self.is_complex:
            return f"complex<{self.component.stablehlo_name}>"
        if self.is_integer:
            return f"{STABLEHLO_INTEGER[self.kind]}{self.bits}"
        layout = self.name.partition("_")[2].upper()  # float8_e4m3fn -> E4M3FN
        return "bf16" if self.name == "bfloat16" else f"f{self.bits}{layout}"


def _ieee(name: str, exponent_bits: int, mantissa_bits: int) -> Format:
    """An interchange format in the manner of IEEE 754: infinities, NaNs, both zeros, bias 2^(exponent_bits - 1) - 1."""
    bias = 2 ** (exponent_bits - 1) - 1
    bits = 1 + exponent_bits + mantissa_bits
    return Format(name, "float", bits, exponent_bits, mantissa_bits, bias, True, True, True, True)


#                                           bits  exp  man  bias  inf    nan    -0     subnormals
_ROWS = (
    Format("bool", "bool", 8),
    *(Format(f"int{bits}", "int", bits) for bits in (2, 4, 8, 16, 32, 64)),
    *(Format(f"uint{bits}", "uint", bits) for bits in (2, 4, 8, 16, 32, 64)),
    _ieee("float16", 5, 10),
    _ieee("bfloat16", 8, 7),
    _ieee("float32", 8, 23),
    _ieee("float64", 11, 52),
    Format("complex64", "complex", 64),
    Format("complex128", "complex", 128),
    _ieee("float8_e3m4", 3, 4),
    _ieee("float8_e4m3", 4, 3),
    _ieee("float8_e5m2", 5, 2),
    Format("float8_e4m3fn", "float", 8, 4, 3, 7, False, True, True, True),
    Format("float8_e4m3fnuz", "float", 8, 4, 3, 8, False, True, False, True),
    Format("float8_e4m3b11fnuz", "float", 8, 4, 3, 11, False, True, False, True),
    Format("float8_e5m2fnuz", "float", 8, 5, 2, 16, False, True, False, True),
    Format("float8_e8m0fnu", "float", 8, 8, 0, 127, False, True, False, False),
    Format("float6_e2m3fn", "float", 6, 2, 3, 1, False, False, True, True),
    Format("float6_e3m2fn", "float", 6, 3, 2, 3, False, False, True, True),
    Format("float4_e2m1fn", "float", 4, 2, 1, 1, False, False, True, True),
)

FORMATS: Mapping[str, Format] = MappingProxyType({fmt.name: fmt for fmt in _ROWS})
_BY_STORAGE = {fmt.storage: fmt for fmt in _ROWS}


def format_named(name: str) -> Format:
    """The format of torch's (or, where torch has none, ml_dtypes') name. Raises UsageError for an unknown name."""
    try:
        return FORMATS[name]
    except KeyError:
        known = ", ".join(FORMATS)
        raise UsageError(f"no dtype {name!r}{did_you_mean(name, FORMATS)}; known: {known}") from None


def format_of(array: np.ndarray | np.generic | np.dtype | type) -> Format:
    """The format whose storage this array, numpy scalar or numpy dtype has. Raises UsageError if there is none."""
    dtype = np.dtype(getattr(array, "dtype", array))
    try:
        return _BY_STORAGE[dtype]
    except KeyError:
        known = ", ".join(FORMATS)
        raise UsageError(f"numpy dtype {dtype} is not the storage of a format; known: {known}") from None


def compute_format(fmt: Format) -> Format:
    """What an honest implementation computes in: float32 for floats narrower than it, else the format itself."""
    return FORMATS["float32"] if fmt.is_float and fmt.bits < 32 else fmt
