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
from conform.domains.engine.vocabulary import NOT_LONG, NOT_MANY, number_for, shape_of, shaped
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
for _name in ("aten::ones_like", "aten::zeros_like"):
    spec(_name, tensor("self"), DTYPE, result(LIKE, shape_of("self")))
for _name in ("aten::ones", "aten::zeros"):
    spec(_name, SIZE, DTYPE, result(DTYPE_OR_FLOAT, OF_SIZE))

# What nobody wrote may be no bool: a byte that is neither 0 nor 1.
UNSET = dtype_argument(Value.In(ALL), Value.Ne("bool").unjudged("the elements may be bytes that are no bools"))
spec("aten::empty.memory_format", SIZE, UNSET, result(DTYPE_OR_FLOAT, OF_SIZE))

spec(
    "aten::empty_strided",
    SIZE,
    integers(
        "stride",
        Length.Eq(lambda size: len(size), text="length(size)"),
        Value.Ge(0).unjudged("where nothing is to be stored, torch takes any stride", lambda size: 0 in size),
        Value.Le(64).lenient(NOT_MANY),
    ),
    UNSET,
    result(DTYPE_OR_FLOAT, OF_SIZE),
)

SIDE = (Value.Ge(0), Value.Le(64).lenient(NOT_MANY))
spec("aten::eye", length("n", *SIDE), DTYPE, result(DTYPE_OR_FLOAT, shaped(lambda n: (n, n))))
spec("aten::eye.m", length("n", *SIDE), length("m", *SIDE), DTYPE, result(DTYPE_OR_FLOAT, shaped(lambda n, m: (n, m))))

spec(
    "aten::_local_scalar_dense",
    tensor("self", Size.Eq(1).unjudged("torch reads the first element of several")),
    result(Dtype.Eq(lambda self: _python_dtype(self.dtype), text="what the Python number is"), shaped(lambda self: ())),
)


def _python_dtype(name: str) -> str:
    if name == "bool":
        return name
    return "complex128" if name.startswith("complex") else "float64" if "float" in name else "int64"
