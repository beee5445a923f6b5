"""Tensors of one number, or of none: the domains of the arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import (
    Argument,
    dtype,
    integers,
    length,
    optional,
    result,
    scalar,
    shape,
    tensor,
)
from conform.domains.engine.constraints import Constraint, Dtype, Length, Size, Value
from conform.domains.engine.dtypes import ALL, DEFAULT_FLOAT
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import NOT_LONG, NOT_MANY, dtype_of, number_for, shape_of, shaped
from conform.domains.specs import spec

SIZE = shape("size", NOT_LONG, Value.Ge(0), Value.Le(16).lenient(NOT_MANY))
OF_SIZE = shaped(lambda size: size)
PYTHON = {"bool": "bool", "int": "int64", "float": "float32", "complex": "complex64"}


def dtype_argument(*constraints: Constraint) -> Argument:
    """A dtype, or None."""
    return optional(dtype("dtype", *constraints))


def dtype_or(default: str) -> Constraint:
    """The dtype given, or the default."""
    return Dtype.Eq(lambda dtype: dtype or default, text=f"dtype, or {default}")


DTYPE = dtype_argument(Value.In(ALL))
DTYPE_OR_FLOAT = dtype_or(DEFAULT_FLOAT)


def _dtype_of_full(fill_value: MetaArgument, dtype: str | None) -> str:
    """dtype, or that of the number"""
    return dtype or PYTHON[fill_value.dtype]


spec(
    "aten::full",
    SIZE,
    scalar(
        "fill_value",
        number_for(lambda dtype: dtype, "dtype", text="dtype, or that of the number", otherwise=PYTHON),
    ),
    DTYPE,
    result(Dtype.Eq(_dtype_of_full), OF_SIZE),
)
spec(
    "aten::scalar_tensor",
    scalar("s", number_for(lambda dtype: dtype or DEFAULT_FLOAT, "dtype", text=f"dtype, or {DEFAULT_FLOAT}")),
    DTYPE,
    result(DTYPE_OR_FLOAT, shaped(lambda s: ())),
)

LIKE = Dtype.Eq(lambda self, dtype: dtype or self.dtype, text="dtype, or dtype(self)")
spec(
    "aten::full_like",
    tensor("self"),
    scalar(
        "fill_value", number_for(lambda self, dtype: dtype or self.dtype, "self", "dtype", text="dtype, or dtype(self)")
    ),
    DTYPE,
    result(LIKE, shape_of("self")),
)
spec(
    "aten::new_full",
    tensor("self"),
    SIZE,
    scalar(
        "fill_value", number_for(lambda self, dtype: dtype or self.dtype, "self", "dtype", text="dtype, or dtype(self)")
    ),
    DTYPE,
    result(LIKE, OF_SIZE),
)
for _name in ("aten::new_ones", "aten::new_zeros"):
    spec(_name, tensor("self"), SIZE, DTYPE, result(LIKE, OF_SIZE))
spec("aten::zero", tensor("self"), result(dtype_of("self"), shape_of("self")))
for _name in ("aten::ones_like", "aten::zeros_like"):
    spec(_name, tensor("self"), DTYPE, result(LIKE, shape_of("self")))
for _name in ("aten::ones", "aten::zeros"):
    spec(_name, SIZE, DTYPE, result(DTYPE_OR_FLOAT, OF_SIZE))

# What nobody wrote may be no bool: a byte that is neither 0 nor 1.
UNSET = dtype_argument(Value.In(ALL), Value.Ne("bool").unjudged("the elements may be bytes that are no bools"))
spec("aten::empty.memory_format", SIZE, UNSET, result(DTYPE_OR_FLOAT, OF_SIZE))

STRIDE = integers(
    "stride",
    Length.Eq(lambda size: len(size), text="length(size)"),
    Value.Ge(0).unjudged("where a stride leads nowhere, torch takes any", lambda size: not {0, 1}.isdisjoint(size)),
    Value.Le(64).lenient(NOT_MANY),
)
NO_BOOL = tensor("self", Dtype.Ne("bool").unjudged("the elements may be bytes that are no bools"))
spec("aten::empty_strided", SIZE, STRIDE, UNSET, result(DTYPE_OR_FLOAT, OF_SIZE))
spec("aten::empty_like", NO_BOOL, UNSET, result(LIKE, shape_of("self")))
spec("aten::new_empty", NO_BOOL, SIZE, UNSET, result(LIKE, OF_SIZE))
spec("aten::new_empty_strided", NO_BOOL, SIZE, STRIDE, UNSET, result(LIKE, OF_SIZE))
spec(
    "aten::empty_permuted",
    SIZE,
    integers(
        "physical_layout",
        Length.Eq(lambda size: len(size), text="length(size)"),
        Value.Ge(0),
        Value.Lt(lambda size: len(size), text="length(size)"),
        Value.NotIn(lambda previous: previous, text="the dims before it"),
    ),
    UNSET,
    result(DTYPE_OR_FLOAT, OF_SIZE),
)

SIDE = (Value.Ge(0), Value.Le(64).lenient(NOT_MANY))
spec("aten::eye", length("n", *SIDE), DTYPE, result(DTYPE_OR_FLOAT, shaped(lambda n: (n, n))))
spec("aten::eye.m", length("n", *SIDE), length("m", *SIDE), DTYPE, result(DTYPE_OR_FLOAT, shaped(lambda n, m: (n, m))))

INDICES = dtype_argument(
    Value.In(("int64", "int32")).unjudged("torch documents none but the default, and its CPU has kernels of these two")
)


def _in_lower(row: int, col: int, offset: int) -> int:
    """How many elements of a matrix lie on and below a diagonal."""
    return sum(min(max(i + offset + 1, 0), col) for i in range(row))


def _in_upper(row: int, col: int, offset: int) -> int:
    """How many elements of a matrix lie on and above a diagonal."""
    return row * col - _in_lower(row, col, offset - 1)


MATRIX_AND_DIAGONAL = (length("row", *SIDE), length("col", *SIDE), length("offset"), INDICES)
spec(
    "aten::tril_indices",
    *MATRIX_AND_DIAGONAL,
    result(dtype_or("int64"), shaped(lambda row, col, offset: (2, _in_lower(row, col, offset)))),
)
spec(
    "aten::triu_indices",
    *MATRIX_AND_DIAGONAL,
    result(dtype_or("int64"), shaped(lambda row, col, offset: (2, _in_upper(row, col, offset)))),
)

spec(
    "aten::_local_scalar_dense",
    tensor("self", Size.Eq(1).unjudged("torch reads the first element of several")),
    result(Dtype.Eq(lambda self: _python_dtype(self.dtype), text="what the Python number is"), shaped(lambda self: ())),
)


def _python_dtype(name: str) -> str:
    if name == "bool":
        return name
    return "complex128" if name.startswith("complex") else "float64" if "float" in name else "int64"
