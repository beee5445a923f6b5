"""From a call to its overload and its arguments by name: resolution and binding, as torch does both.

A tensor is whatever the caller's `is_tensor` says; by default anything with an `ndim` (numpy arrays and scalars, torch
tensors).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conform.call.schemas import Argument, OpSchema, every_overload, outs_of, overloads, schema
from conform.errors import UsageError, did_you_mean

IsTensor = Callable[[Any], bool]
_NUMBER = (int, float, complex)
_SEQUENCE = (list, tuple)

# torch's names, as str(torch.float32) without "torch." (torch/csrc/utils/tensor_dtypes.cpp).
DTYPE_NAMES = frozenset({
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2",
    "uint1", "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "int1", "int2", "int3", "int4", "int5", "int6",
    "int7", "bits1x8", "bits2x4", "bits4x2", "bits8", "bits16", "quint8", "qint8", "qint32", "quint4x2", "quint2x4",
})  # fmt: skip
MEMORY_FORMAT_NAMES = frozenset({"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"})
LAYOUT_NAMES = frozenset({"strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"})
# What a device string starts with (c10/core/Device.cpp); ":N" may follow.
DEVICE_NAMES = frozenset({
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
})  # fmt: skip


def has_ndim(value: Any) -> bool:
    """True for numpy arrays, numpy scalars (0-d tensors) and torch tensors."""
    return hasattr(value, "ndim")


def resolve(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], is_tensor: IsTensor = has_ndim) -> OpSchema:
    """The overload a call means: an exact name is itself; a bare one is the first overload whose parameters fit, with
    tensors for results (`out=`) the first of those that take them.

    Overloads are tried first with tensors for Tensor and Python numbers for Scalar, then also with Python numbers for
    Tensor (torch's wrapped numbers) and 0-d tensors for Scalar. UsageError if none fits.
    """
    if "." in name:
        return schema(name)
    given = [one for one in every_overload(name) if _are_given(outs_of(one), kwargs)] if kwargs else []
    candidates = given or overloads(name)
    if len(candidates) == 1:
        return candidates[0]
    for matches in (_matches_exactly, _matches_with_conversion):
        for candidate in candidates:
            if _accepts(candidate, args, kwargs, is_tensor, matches):
                return candidate
    found = ", ".join([_describe(arg, is_tensor) for arg in args] +
                      [f"{key}={_describe(value, is_tensor)}" for key, value in kwargs.items()])  # fmt: skip
    expected = "\n  ".join(str(candidate) for candidate in candidates)
    raise UsageError(f"{name}: no overload takes ({found}); torch has\n  {expected}")


def bind(
    op: OpSchema, args: Sequence[Any], kwargs: Mapping[str, Any], is_tensor: IsTensor = has_ndim
) -> dict[str, Any]:
    """Every argument of `op` by name, in the schema's order, defaults filled in.

    One number given for a list of n (`int[2]`) becomes n of them, as in torch. UsageError names the operator, the
    argument, what was found and what was expected.
    """
    if len(args) > op.positional_count:
        raise UsageError(f"{op.name} takes at most {op.positional_count} positional arguments, found {len(args)}: {op}")
    bound = {}
    for position, argument in enumerate(op.arguments):
        if position < len(args):
            if argument.name in kwargs:
                raise UsageError(f"{op.name}: argument {argument.name!r} is given by position and by name")
            value = args[position]
        elif argument.name in kwargs:
            value = kwargs[argument.name]
        elif argument.has_default:
            bound[argument.name] = list(argument.default) if isinstance(argument.default, list) else argument.default
            continue
        else:
            raise UsageError(f"{op.name}: argument {argument.name!r} ({argument.type}) is missing: {op}")
        if not _matches_with_conversion(argument.type, value, is_tensor):
            raise UsageError(f"{op.name}: argument {argument.name!r}: found {_describe(value, is_tensor)}, "
                             f"expected {_expectation(argument.type)}")  # fmt: skip
        bound[argument.name] = _broadcast_list(argument.type, value)
    for key in kwargs:
        if key not in bound:
            raise UsageError(f"{op.name} has no argument {key!r}{did_you_mean(key, bound)}: {op}")
    return bound


def _are_given(outs: Sequence[Argument], kwargs: Mapping[str, Any]) -> bool:
    return bool(outs) and all(one.name in kwargs for one in outs)


def _accepts(
    op: OpSchema, args: Sequence[Any], kwargs: Mapping[str, Any], is_tensor: IsTensor, matches: Callable[..., bool]
) -> bool:
    if len(args) > op.positional_count:
        return False
    used = 0
    for position, argument in enumerate(op.arguments):
        if position < len(args):
            value = args[position]
        elif argument.name in kwargs:
            value, used = kwargs[argument.name], used + 1
        elif argument.has_default:
            continue
        else:
            return False
        if not matches(argument.type, value, is_tensor):
            return False
    return used == len(kwargs)


@dataclass(frozen=True, slots=True)
class _Type:
    """A parsed type: `base`, then for a list its `size` (0: any; None: no list), and where None is allowed."""

    base: str
    size: int | None
    element_optional: bool
    optional: bool


@functools.cache
def _type(text: str) -> _Type:
    match = re.fullmatch(r"([^\[\]?]+)(\?)?(?:\[(\d*)\])?(\?)?", text)
    if not match:
        return _Type(text, None, False, False)
    base, element_optional, size, optional = match.groups()
    if size is None:
        return _Type(base, None, False, bool(element_optional or optional))
    return _Type(base, int(size or 0), bool(element_optional), bool(optional))


def _matches_exactly(type_: str, value: Any, is_tensor: IsTensor) -> bool:
    return _matches(_type(type_), value, is_tensor, False)


def _matches_with_conversion(type_: str, value: Any, is_tensor: IsTensor) -> bool:
    return _matches(_type(type_), value, is_tensor, True)


def _matches(type_: _Type, value: Any, is_tensor: IsTensor, convert: bool) -> bool:
    if value is None:
        return type_.optional
    if type_.size is None:
        return _matches_element(type_.base, value, is_tensor, convert)
    if isinstance(value, _SEQUENCE):
        convert = convert and type_.base != "Tensor"  # torch wraps no numbers inside a list of tensors
        return all(
            type_.element_optional if element is None else _matches_element(type_.base, element, is_tensor, convert)
            for element in value
        )
    return type_.size > 0 and type_.base != "Tensor" and _matches_element(type_.base, value, is_tensor, convert)


def _matches_element(base: str, value: Any, is_tensor: IsTensor, convert: bool) -> bool:
    if is_tensor(value):
        return base == "Tensor" or (convert and base == "Scalar" and getattr(value, "ndim", None) == 0)
    if base == "Tensor":
        return convert and isinstance(value, _NUMBER)
    accepted = _PYTHON_TYPES.get(base)
    if accepted is not None:
        return isinstance(value, accepted)
    names = _STRING_NAMES.get(base)
    if names is None or not isinstance(value, str):
        return False
    if base == "Device":
        return re.sub(r":[0-9]+$", "", value) in names
    return value in names


# What torch converts to each type (torch/csrc/jit/python/pybind_utils.cpp, toIValue); a bool is an int to Python.
_PYTHON_TYPES: Mapping[str, Any] = {
    "Scalar": _NUMBER,
    "int": int,
    "SymInt": int,
    "float": (int, float),
    "complex": _NUMBER,
    "bool": int,
    "str": str,
}
_STRING_NAMES: Mapping[str, frozenset[str]] = {
    "ScalarType": DTYPE_NAMES,
    "MemoryFormat": MEMORY_FORMAT_NAMES,
    "Layout": LAYOUT_NAMES,
    "Device": DEVICE_NAMES,
}


def _broadcast_list(type_: str, value: Any) -> Any:
    parsed = _type(type_)
    return [value] * parsed.size if parsed.size and isinstance(value, _NUMBER) else value


def _describe(value: Any, is_tensor: IsTensor) -> str:
    if is_tensor(value):
        shape = getattr(value, "shape", None)
        return "tensor" if shape is None else f"tensor of shape {list(shape)}"
    if isinstance(value, _SEQUENCE):
        return f"[{', '.join(_describe(element, is_tensor) for element in value[:8])}{', ...' if value[8:] else ''}]"
    return repr(value) if value is None or isinstance(value, int | float | complex | str) else type(value).__name__


def unknown_name(op: str, argument: str, value: str) -> str | None:
    """What is wrong with a string for an argument that every overload of `op` types as ScalarType, MemoryFormat, Layout
    or Device; None if nothing is, or if it is no such argument."""
    candidates = [schema(op)] if "." in op else overloads(op)
    types = {found.type for one in candidates for found in one.arguments if found.name == argument}
    if len(types) != 1 or (names := _STRING_NAMES.get(_type(type_ := types.pop()).base)) is None:
        return None
    if _matches_exactly(type_, value, has_ndim):
        return None
    hint = did_you_mean(value.removeprefix("torch.")[:60], names)
    return f"found {value[:60]!r}, expected {_expectation(type_)}{hint}"


def _expectation(type_: str) -> str:
    names = _STRING_NAMES.get(_type(type_).base)
    if names is None:
        return type_
    known = "a dtype name such as 'float32'" if names is DTYPE_NAMES else ", ".join(sorted(names))
    return f"{type_} ({known})"
