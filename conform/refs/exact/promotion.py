"""Type promotion and conversion, from torch's page "Tensor Attributes" (torch.dtype, type promotion)."""

from __future__ import annotations

from functools import reduce
from math import isfinite, trunc

from conform.refs.exact.rounding import COMPONENTS, FLOAT_FORMATS, INTEGER_RANGES, round_number, wrap_integer
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, broadcast_shapes, expand

Scalar = bool | int | float | complex
Operand = RefTensor | bool | int | float | complex

BOOL, INTEGER, FLOAT, COMPLEX = range(4)  # categories in the order of promotion
SCALAR_DTYPES = {bool: "bool", int: "int64", float: "float32", complex: "complex64"}  # the default dtypes
INTEGER_SIZES = {"int8": 1, "uint8": 1, "int16": 2, "int32": 4, "int64": 8}
COMPLEX_OF = {"bfloat16": "complex64", "float32": "complex64", "float64": "complex128"}


def category(dtype: str) -> int:
    """BOOL, INTEGER, FLOAT or COMPLEX; ValueError for a dtype that the references do not cover."""
    if dtype == "bool":
        return BOOL
    if dtype in INTEGER_RANGES:
        return INTEGER
    if dtype in FLOAT_FORMATS:
        return FLOAT
    if dtype in COMPONENTS:
        return COMPLEX
    raise ValueError(f"the references do not cover dtype {dtype!r}")


def promote_types(a: str, b: str) -> str:
    """The smallest dtype of the higher category that holds the values of both (torch.promote_types)."""
    if a == b:
        return a
    low, high = sorted((a, b), key=category)
    if category(low) == COMPLEX:
        return "complex128"
    if category(high) == COMPLEX:
        return "complex128" if low == "float64" else high
    if category(low) == FLOAT:
        return "float64" if "float64" in (a, b) else "float32"  # float16 with bfloat16: neither holds the other
    if category(high) == FLOAT or category(low) == BOOL:
        return high
    return _promote_integers(a, b)


def _promote_integers(a: str, b: str) -> str:
    narrow, wide = sorted((a, b), key=INTEGER_SIZES.__getitem__)
    if {narrow, wide} == {"uint8", "int8"}:
        return "int16"
    return wide


def result_type(operands: list[Operand]) -> str:
    """The common dtype: dimensioned tensors decide; 0-d tensors, below them Python scalars, by a higher category."""
    tensors = [operand for operand in operands if isinstance(operand, RefTensor)]
    ranked = [
        [tensor.dtype for tensor in tensors if tensor.shape],
        [tensor.dtype for tensor in tensors if not tensor.shape],
        [SCALAR_DTYPES[type(operand)] for operand in operands if not isinstance(operand, RefTensor)],
    ]
    levels = [reduce(promote_types, dtypes) for dtypes in ranked if dtypes]
    return reduce(_with_higher_rank, reversed(levels))


def _with_higher_rank(lower: str, dtype: str) -> str:
    """`dtype` beside operands of a lower rank: they count only if their category is higher."""
    if category(lower) <= category(dtype):
        return dtype
    if category(dtype) == FLOAT:  # a complex scalar keeps the precision of the float tensor
        if dtype not in COMPLEX_OF:
            raise ValueError(f"{dtype} with a complex scalar gives complex32, which the references do not cover")
        return COMPLEX_OF[dtype]
    return promote_types(dtype, lower)


def convert(value: Scalar, dtype: str) -> Scalar:
    """One element converted to a dtype (policy P10, P13..P16): wrapped, truncated toward zero, or rounded once."""
    kind = category(dtype)
    if kind == BOOL:
        return value != 0  # NaN is not 0
    if kind == COMPLEX:
        component = COMPONENTS[dtype]
        number = value if isinstance(value, complex) else complex(round_number(component, value))
        return complex(round_number(component, number.real), round_number(component, number.imag))
    if isinstance(value, complex):
        value = value.real
    if kind == FLOAT:
        return round_number(dtype, value)
    if isinstance(value, float):
        return _truncate(value, dtype)
    return wrap_integer(dtype, int(value))


def _truncate(value: float, dtype: str) -> int:
    low, high = INTEGER_RANGES[dtype]
    if not isfinite(value) or not low <= trunc(value) <= high:
        return UNSPECIFIED  # P13
    return trunc(value)


def converted(tensor: RefTensor, dtype: str) -> list:
    """The elements of a tensor in another dtype."""
    if tensor.dtype == dtype:
        return tensor.data
    return [convert(value, dtype) for value in tensor.data]


def common_operands(*operands: Operand, floating: bool = False) -> tuple[str, Shape, list[list]]:
    """Common dtype, broadcast shape, and the elements of each operand, read in the dtype and expanded to the shape.

    With `floating`, integers and bools compute in float32, the default dtype. In a float or complex op a Python scalar
    is read as the double, and a 0-d float of more bits than the dtype has its own value (P30): neither is rounded. A
    change of category (an int64 in a float op) is a conversion and rounds, as does one between float16 and bfloat16.
    In an integer op a Python integer wraps (P19).
    """
    dtype = result_type(list(operands))
    if floating and category(dtype) < FLOAT:
        dtype = "float32"
    shapes = [operand.shape if isinstance(operand, RefTensor) else () for operand in operands]
    shape = broadcast_shapes(*shapes)
    data = [_read(operand, dtype) for operand in operands]
    return dtype, shape, [expand(values, own, shape) for values, own in zip(data, shapes, strict=True)]


def _read(operand: Operand, dtype: str) -> list:
    """Elements of an operand in the common dtype."""
    kind = category(dtype)
    if not isinstance(operand, RefTensor):
        if kind == FLOAT:
            return [float(operand)]
        return [complex(operand) if kind == COMPLEX else convert(operand, dtype)]
    if not operand.shape and _has_more_bits(operand.dtype, dtype):
        return [complex(value) for value in operand.data] if kind == COMPLEX else operand.data
    return converted(operand, dtype)


def _has_more_bits(dtype: str, common: str) -> bool:
    """Whether a float or complex dtype has more bits, in each part, than the common dtype."""
    if min(category(dtype), category(common)) < FLOAT:
        return False
    own, other = (FLOAT_FORMATS[COMPONENTS.get(name, name)] for name in (dtype, common))
    return own.bits > other.bits


def read_factor(name: str, factor: Scalar, dtype: str) -> Scalar:
    """alpha or beta as an op of the dtype reads it: in floats the double, an integer as it is.

    ValueError for a number of a higher category, or beyond an integer dtype (P19); uint8 takes -255..-1 too: they
    wrap.
    """
    kind = category(dtype)
    if category(SCALAR_DTYPES[type(factor)]) > max(kind, INTEGER):
        raise ValueError(f"{name} {factor!r} does not go with {dtype} operands")
    if kind == INTEGER:
        low, high = INTEGER_RANGES[dtype]
        if not min(low, -high) <= factor <= high:
            raise ValueError(f"{name} {factor} is outside the range of {dtype}, {low} to {high}")
    return float(factor) if kind == FLOAT else complex(factor) if kind == COMPLEX else factor
