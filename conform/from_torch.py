"""What a user of torch hands in, in the kit's own terms: tensors as arrays, constants and operators by name.

Imports torch, so it is imported only where something of torch's was handed in.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch.nn._reduction import get_enum  # of losses: mean is 1, sum is 2

from conform.backends.interpreter import to_numpy
from conform.backends.protocol import DTYPES
from conform.call.binding import DEVICE_NAMES, bind
from conform.call.bound import Bound, bound_call
from conform.call.schemas import OpSchema, operator_names, overloads
from conform.errors import UsageError
from conform.foreign import line
from conform.interp import semantics

_CONSTANTS = (torch.dtype, torch.device, torch.layout, torch.memory_format)
_BUILTIN = (BuiltinFunctionType, MethodDescriptorType)
_PLAIN_DISPATCH = torch.Tensor.__torch_dispatch__
_BATCHMEAN = "batchmean"  # of kl_div alone, which computes it of the operator's sum
# Functions that call another operator than that of their name, which means something else, or takes less.
_CALLS = {functional.nll_loss: "aten::nll_loss_nd", functional.unfold: "aten::im2col"}
# Functions that refuse operands which their operators broadcast.
_OF_ONE_SHAPE = (functional.binary_cross_entropy, functional.binary_cross_entropy_with_logits)


def is_of_torch(value: object) -> bool:
    """Whether `value` is a tensor, or a constant that an operator's schema names."""
    return isinstance(value, (torch.Tensor, *_CONSTANTS))


def in_terms_of_the_kit(value: Any, place: str) -> Any:
    """A tensor as an array of its shape and dtype, a constant as its name.

    UsageError, which names `place`, for a tensor whose elements no array holds.
    """
    if isinstance(value, torch.device) and value.type not in DEVICE_NAMES:
        return "privateuseone"  # a name that a vendor gave it (torch.utils.rename_privateuse1_backend)
    return array_of(value, place) if isinstance(value, torch.Tensor) else to_numpy(value)


def array_of(tensor: torch.Tensor, place: str) -> np.ndarray:
    """The elements of a tensor of any device and strides, without its gradient."""
    if (trouble := _without_elements(tensor)) is not None:
        raise UsageError(f"{place}: found {trouble}; expected a dense tensor with elements")
    plain = tensor.detach().as_subclass(torch.Tensor)
    try:
        return to_numpy(plain.cpu().resolve_conj().resolve_neg())
    except (RuntimeError, MemoryError) as error:  # an expanded tensor may have more elements than there is memory
        what = f"a tensor of shape {list(tensor.shape)} that cannot be read: {line(error)}"
        raise UsageError(f"{place}: found {what}") from None


def memory_of(tensor: torch.Tensor) -> list[str]:
    """What of its memory the array of its elements does not have, in the terms of `Traits.memory`."""
    if _without_elements(tensor) is not None:
        return []
    differs = {
        "strides": not tensor.is_contiguous(),
        "offset": tensor.storage_offset() != 0,
        "storage": tensor.untyped_storage().nbytes() != tensor.nbytes,
    }
    return [what for what, is_so in differs.items() if is_so]


def _without_elements(tensor: torch.Tensor) -> str | None:
    """Why no array holds the elements of a tensor; None if one does."""
    if type(tensor).__torch_dispatch__ is not _PLAIN_DISPATCH:
        return f"a {type(tensor).__name__}, which wraps another tensor or none: give that one"
    if tensor.is_nested or tensor.is_quantized or tensor.layout != torch.strided:
        kind = "nested" if tensor.is_nested else "quantized" if tensor.is_quantized else str(tensor.layout)
        return f"a {kind} tensor"
    if tensor.is_meta:
        return f"a tensor of shape {list(tensor.shape)} on the meta device, which holds no numbers"
    if str(tensor.dtype).removeprefix("torch.") not in DTYPES:
        return f"a tensor of {tensor.dtype}, of which the kit has no numbers"
    return None


# --- Operators --------------------------------------------------------------------------------------------------------


def called(
    function: object, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, Sequence[Any], dict[str, Any]]:
    """(the operator's name, its arguments) of a call of torch's `function`.

    The arguments of a Python function of torch are given to the operator of its name by name, defaults too: its
    parameters may stand in another order. UsageError if that leads to no call.
    """
    name = operator_name(function)
    if not isinstance(function, (*_BUILTIN, FunctionType)):
        return name, args, dict(kwargs)
    known = {argument.name for one in overloads(name) for argument in one.arguments}
    if isinstance(function, MethodDescriptorType):
        args, kwargs = _with_self_in_place(name, args, kwargs)
    if not isinstance(function, FunctionType):
        kwargs = _renamed(kwargs, known)
        return _overload(name, args, kwargs), args, kwargs
    if (packed := _with_tensors_in_a_list(function, name, args)) is not None:
        return name, packed, dict(kwargs)
    return name, (), _by_name(function, name, known, args, kwargs)


def is_function(value: object) -> bool:
    """Whether `value` is a function of torch by which torch's users call it, built in or written in Python."""
    return isinstance(value, (*_BUILTIN, FunctionType)) and _home(value).partition(".")[0] == "torch"


def is_operator(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether this call of a function of torch is that of an operator: of one that has semantics, or, of a built-in
    function, of one that torch itself does not take apart."""
    try:
        found = bound_call(*called(function, _with_names(args), _with_names(kwargs))).op
    except UsageError:
        return isinstance(function, _BUILTIN) and operator_name(function) in operator_names()
    return semantics.find(found) is not None or not _is_composite(found)


def _with_names(given: Any) -> Any:
    """What is given, with names for constants."""
    if isinstance(given, list | tuple):
        return [_with_names(item) for item in given]
    if isinstance(given, dict):
        return {key: _with_names(item) for key, item in given.items()}
    return in_terms_of_the_kit(given, "") if isinstance(given, _CONSTANTS) else given


def _overload(operator: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The overload of a built-in function's call where it is not the first that takes the arguments: a number is no
    bool there, as it is in torch.ops, so the 1 in torch.std(x, 1) is a dim."""
    given = _with_names(args), _with_names(dict(kwargs))
    taking = [call for one in overloads(operator) if (call := _taken_by(one, *given)) is not None]
    if not taking or not _has_number_for_bool(taking[0]):
        return operator
    return next((call.op for call in taking if not _has_number_for_bool(call)), operator)


def _taken_by(overload: OpSchema, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound | None:
    try:
        return Bound(overload, bind(overload, args, kwargs))
    except UsageError:
        return None


def _has_number_for_bool(call: Bound) -> bool:
    types = ((one.type, call.arguments[one.name]) for one in call.schema.arguments)
    return any(type_ == "bool" and isinstance(value, int) and not isinstance(value, bool) for type_, value in types)


def _is_composite(op: str) -> bool:
    """Whether torch itself takes the operator apart."""
    is_known = torch._C._dispatch_has_kernel(op)  # all but what TorchScript alone has, as aten::size
    return is_known and torch._C._dispatch_has_kernel_for_dispatch_key(op, "CompositeImplicitAutograd")


def operator_name(function: object) -> str:
    """`aten::exp` of torch.exp, torch.Tensor.exp and torch.ops.aten.exp; `aten::exp.default` of that overload.

    UsageError for what is no function of torch.
    """
    if isinstance(function, torch._ops.OpOverload):
        return f"{function._schema.name}.{function._overloadname}"
    if isinstance(function, torch._ops.OpOverloadPacket):
        return function._qualified_op_name
    if is_function(function):
        return _CALLS.get(function) or f"aten::{function.__name__}"
    raise UsageError(f"expected an operator's name or a function of torch, got {function!r}")


def _home(function: Any) -> str:
    owner = getattr(function, "__objclass__", function)
    return owner.__module__ or ""


def _renamed(kwargs: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """torch's Python functions call `input` what most schemas call `self`."""
    renames = "input" not in known and "self" in known
    return {"self" if renames and name == "input" else name: value for name, value in kwargs.items()}


def _with_self_in_place(
    operator: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments of a method, which has its tensor first, where its operator has it behind others:
    condition.where(x, y) is no x.where(condition, y)."""
    names = [[argument.name for argument in one.arguments] for one in overloads(operator)]
    at = next((each.index("self") for each in names if "self" in each), 0)
    if at == 0 or not args:
        return args, kwargs
    itself, *others = args
    if len(others) < at:  # which are given by name
        return others, {"self": itself, **kwargs}
    return [*others[:at], itself, *others[at:]], kwargs


def _with_tensors_in_a_list(function: FunctionType, operator: str, args: Sequence[Any]) -> list[Any] | None:
    """The arguments of a function as torch.einsum, `*args` of which the last are tensors that its operator takes as a
    list; None of other functions."""
    if not any(one.kind is one.VAR_POSITIONAL for one in _signature(function).parameters.values()):
        return None
    for schema in overloads(operator):
        positional = [one.type for one in schema.arguments if not one.kwarg_only]
        if positional[-1:] == ["Tensor[]"]:
            before, tensors = list(args[: len(positional) - 1]), list(args[len(positional) - 1 :])
            is_listed = len(tensors) == 1 and isinstance(tensors[0], list | tuple)
            return [*before, list(tensors[0]) if is_listed else tensors]
    return None


def _signature(function: FunctionType) -> inspect.Signature:
    """UsageError of one that wraps a built-in function, which tells no names."""
    try:
        return inspect.signature(function)
    except ValueError as error:
        raise UsageError(f"{_home(function)}.{function.__name__}: {error}") from None


def _by_name(
    function: FunctionType, operator: str, known: Collection[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments by the operator's names, `known`; what is none of these must be at its default."""
    name = f"{_home(function)}.{function.__name__}"
    if function is torch.Tensor.unique_consecutive:
        raise UsageError(f"{name} returns less than {operator}: name the operator")
    signature = _signature(function)
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in signature.parameters.values()):
        raise UsageError(f"{name} chooses an operator by itself: name the operator")
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(f"{name}: {error}") from None
    bound.apply_defaults()
    if function in _OF_ONE_SHAPE and np.shape(bound.arguments["input"]) != np.shape(bound.arguments["target"]):
        raise UsageError(f"{name}: expected input and target of one shape: name the operator")
    given = _renamed(bound.arguments, known)
    for key in given.keys() - known:
        if given[key] is not signature.parameters[key].default:
            raise UsageError(f"{name}: {operator} has no argument {key!r}: name the operator")
    if isinstance(given.get("reduction"), str):
        given["reduction"] = _reduction(name, given["reduction"])
    return {key: value for key, value in given.items() if key in known}


def check_reduction(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """UsageError for a reduction that a loss written in Python does not have."""
    if not isinstance(function, FunctionType):
        return
    try:
        reduction = _signature(function).bind(*args, **kwargs).arguments.get("reduction")
    except (TypeError, UsageError):  # which whatever calls it tells
        return
    if isinstance(reduction, str) and not (function is functional.kl_div and reduction == _BATCHMEAN):
        _reduction(f"{_home(function)}.{function.__name__}", reduction)


def _reduction(name: str, reduction: str) -> int:
    try:
        return get_enum(reduction)
    except ValueError:
        known = "'none', 'mean' or 'sum'" + f" (of kl_div {_BATCHMEAN!r} too)" * name.endswith("kl_div")
        raise UsageError(f"{name}: argument 'reduction': found {reduction!r}, expected {known}") from None
