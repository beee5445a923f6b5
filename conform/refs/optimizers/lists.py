"""What `_foreach_NAME` gives of lists of tensors: NAME of what stands in each place, one after the other.

The table says of every overload which op of one tensor that is, and by which names that takes what the lists hold, and
what is no list and goes to each.
"""

from __future__ import annotations

import inspect
from typing import Any

from conform.refs.contraction import matrices
from conform.refs.creation import constants
from conform.refs.elementwise import arithmetic, combinations, comparison, copies, functions, rounding
from conform.refs.exact.tensor import RefTensor
from conform.refs.functions import real
from conform.refs.reduction import extremes, norms
from conform.refs.references import REFERENCES, reference

# Where the ops of one tensor have their references, which are found by their names.
OF_ONE = (
    arithmetic, combinations, comparison, constants, copies, extremes, functions, matrices, norms, real, rounding,
)  # fmt: skip

_UNARY = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma",
    "log", "log10", "log1p", "log2", "max", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh",
    "sqrt", "tan", "tanh", "trunc", "zero",
)  # fmt: skip
# Overload: (the op, its names of the arguments by those of the overload).
_TABLE: dict[str, tuple[str, dict[str, str]]] = {name: (name, {"self": "self"}) for name in _UNARY}


def _means(overload: str, op: str, *same: str, **renamed: str) -> None:
    _TABLE[overload] = (op, {**{name: name for name in same}, **renamed})


_means("mm", "mm", "self", "mat2")
_means("clone", "clone", "self", "memory_format")
_means("copy", "copy", "self", "src", "non_blocking")
_means("norm.Scalar", "linalg_vector_norm", "self", "ord", "dtype")
_means("pow.List", "pow.Tensor_Tensor", "self", "exponent")
_means("pow.Scalar", "pow.Tensor_Scalar", "self", "exponent")
_means("pow.ScalarList", "pow.Tensor_Scalar", "self", "exponent")
_means("pow.ScalarAndTensor", "pow.Scalar", "self", "exponent")
_means("lerp.List", "lerp.Tensor", "self", tensors1="end", weights="weight")
_means("lerp.Scalar", "lerp.Scalar", "self", "weight", tensors1="end")
_means("lerp.ScalarList", "lerp.Scalar", "self", "weight", tensors1="end")
for _op in ("add", "sub"):
    _means(f"{_op}.List", f"{_op}.Tensor", "self", "other", "alpha")
for _op in ("mul", "div"):
    _means(f"{_op}.List", f"{_op}.Tensor", "self", "other")
    _means(f"{_op}.Tensor", f"{_op}.Tensor", "self", "other")
_means("add.Tensor", "add.Tensor", "self", "other", "alpha")
for _op in ("add", "sub", "mul", "div"):
    _means(f"{_op}.Scalar", f"{_op}.Scalar", "self", scalar="other")
    _means(f"{_op}.ScalarList", f"{_op}.Scalar", "self", scalars="other")
for _op, _bound in (("clamp_min", "min"), ("clamp_max", "max")):
    _means(f"{_op}.List", f"{_op}.Tensor", "self", other=_bound)
    _means(f"{_op}.Scalar", _op, "self", scalar=_bound)
    _means(f"{_op}.ScalarList", _op, "self", scalars=_bound)
for _op in ("maximum", "minimum"):
    _means(f"{_op}.List", _op, "self", "other")
    _means(f"{_op}.Scalar", _op, "self", scalar="other")
    _means(f"{_op}.ScalarList", _op, "self", scalars="other")
for _op in ("addcmul", "addcdiv"):
    _means(f"{_op}.Scalar", _op, "self", "tensor1", "tensor2", "value")
    _means(f"{_op}.ScalarList", _op, "self", "tensor1", "tensor2", scalars="value")
    _means(f"{_op}.Tensor", _op, "self", "tensor1", "tensor2", scalars="value")
_OF_ONE_NUMBER_TENSOR = ("add.Tensor", "mul.Tensor", "div.Tensor")


def _of_each(op: str, names: dict[str, str], given: dict[str, Any]) -> tuple[RefTensor, ...]:
    """The op of the first of every list, of the second, ..."""
    listed = {name: _items(value) for name, value in given.items() if isinstance(value, list) or name == "scalars"}
    counts = {len(items) for items in listed.values()}
    if counts == {0} or len(counts) != 1:
        raise ValueError(f"expected lists of one length, which is not 0; found {sorted(counts)}")
    results = []
    for place in range(counts.pop()):
        own = {name: listed[name][place] if name in listed else value for name, value in given.items()}
        results.append(REFERENCES[f"aten::{op}"](**{names[name]: value for name, value in own.items()}))
    return tuple(results)


def _items(value: Any) -> list:
    """What a list holds; a tensor with a number for each place has one dim."""
    if not isinstance(value, RefTensor):
        return value
    if len(value.shape) != 1:
        raise ValueError(f"scalars: expected a tensor of one dim, found {value.shape}")
    return value.data


def _register(overload: str, op: str, names: dict[str, str]) -> None:
    def of_each(**given: Any) -> tuple[RefTensor, ...]:
        if overload in _OF_ONE_NUMBER_TENSOR and given["other"].shape:
            raise ValueError(f"other: expected a tensor of no dims, found {given['other'].shape}")
        return _of_each(op, names, given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    of_each.__signature__ = inspect.Signature([inspect.Parameter(name, keyword) for name in names])
    of_each.__doc__ = f"aten::{op} of what stands in each place."
    reference(f"aten::_foreach_{overload}")(of_each)


for _overload, (_op, _names) in _TABLE.items():
    _register(_overload, _op, _names)
