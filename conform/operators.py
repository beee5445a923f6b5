"""Operators as a Python user names them: by text, or by a function of torch, which is imported only if one is given."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conform.backends.leaves import leaves
from conform.call import names
from conform.call.bound import Bound
from conform.call.schemas import every_overload
from conform.errors import Unjudged, UsageError
from conform.interp.semantics import traits_of
from conform.interp.traits import KNOWN_MEMORY
from conform.numerics.formats import format_of

if TYPE_CHECKING:  # torch is imported only for what is torch's
    from conform.frontends.modules import ModuleCall


def called(op: object, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, list[Any], dict[str, Any]]:
    """(the operator's name, args, kwargs) of a call in the kit's own terms: arrays for tensors, names for constants.

    The arrays are copies: a golden stays what it is when the op under test, or its user, writes to the tensors.
    UsageError for what names no operator, and for tensors without elements.
    """
    if isinstance(op, str):
        name = names.operator_name(op)
    else:
        _check_is_of_torch(op)
        from conform import from_torch

        name, args, kwargs = from_torch.called(op, args, kwargs)
    check_memory(name, [args, kwargs])
    taken = [_taken(value, f"{name}: argument {place}") for place, value in enumerate(args)]
    return name, taken, {key: _taken(value, f"{name}: argument {key!r}") for key, value in kwargs.items()}


def check_memory(op: str, given: Any) -> None:
    """Unjudged where a call of `op` depends on what the kit does not have of the memory of the tensors `given`."""
    if not (lacking := memory_of(given)):
        return
    overloads = every_overload(op.partition(".")[0])
    depends = {what for one in overloads for what in traits_of(one.name).memory}
    if found := [what for what in lacking if what in depends]:
        raise Unjudged(f"{op}: it depends on the {' and '.join(found)} of its tensor's memory, {KNOWN_MEMORY}")


def memory_of(given: Any) -> list[str]:
    """What of the memory of tensors or arrays, in lists, tuples and dicts, their elements do not tell: `Traits.memory`.
    """
    lacking: dict[str, None] = {}
    for leaf in leaves(given):
        if isinstance(leaf, np.ndarray):
            lacking |= {} if leaf.flags.c_contiguous else {"strides": None}
        elif "torch" in sys.modules and isinstance(leaf, sys.modules["torch"].Tensor):
            from conform import from_torch

            lacking |= dict.fromkeys(from_torch.memory_of(leaf))
    return list(lacking)


def is_module(value: object) -> bool:
    """Whether `value` is a torch module; torch is not imported to tell."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def is_called_alone(value: object) -> bool:
    """Whether `value` is what one call can be of: a torch module, or a function of torch."""
    if "torch" not in sys.modules or isinstance(value, str):
        return False
    from conform import from_torch

    return is_module(value) or from_torch.is_function(value)


def check_is_no_class(op: object) -> None:
    """UsageError for a class of torch modules."""
    if isinstance(op, type) and (torch := sys.modules.get("torch")) and issubclass(op, torch.nn.Module):
        raise UsageError(f"found the class {op.__qualname__}; expected an instance of it: {op.__qualname__}(...)")


def program_call(op: object, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound | None:
    """The call of a torch module, or of a function of torch that no operator with semantics stands for, in the kit's
    own terms; what `called` says of tensors holds here. None for all else."""
    if isinstance(op, str) or "torch" not in sys.modules:
        return None
    if is_module(op):
        from conform.frontends.modules import ModuleCall

        return _in_own_terms(ModuleCall.of(op, travels=False), args, kwargs)
    from conform import from_torch

    if not from_torch.is_function(op):
        return None
    from_torch.check_reduction(op, args, kwargs)
    if from_torch.is_operator(op, args, kwargs):
        return None
    from conform.frontends.functions import function_call

    return _in_own_terms(*function_call(op, args, kwargs))


def _in_own_terms(call: ModuleCall, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
    taken = [_taken(value, f"{call.op}: argument {place}") for place, value in enumerate(args)]
    named = {key: _taken(value, f"{call.op}: argument {key!r}") for key, value in kwargs.items()}
    if memory_of([args, kwargs]):
        call.check_memory(taken, named)
    return call.bound(taken, named)


def _taken(value: Any, place: str) -> Any:
    return _copied(in_terms_of_the_kit(value, place))


def _copied(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_copied, value))
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _check_is_of_torch(op: object) -> None:
    check_is_no_class(op)
    if not callable(op) or "torch" not in sys.modules:
        expected = "an operator's name such as 'aten::exp', or a function of torch"
        raise UsageError(f"op: found {op!r:.200}, expected {expected}")


def in_terms_of_the_kit(value: Any, place: str) -> Any:
    """`value` with arrays for torch's tensors and names for its constants, in lists and tuples too.

    UsageError, which names `place`, for a tensor that no array holds.
    """
    if isinstance(value, list | tuple):  # torch's named tuples too
        items = [in_terms_of_the_kit(item, f"{place}[{at}]") for at, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: in_terms_of_the_kit(item, f"{place}[{key!r}]") for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _checked(value, place)
    if "torch" not in sys.modules:  # then nothing is of torch
        return value
    from conform import from_torch

    return from_torch.in_terms_of_the_kit(value, place) if from_torch.is_of_torch(value) else value


def _checked(array: np.ndarray | np.generic, place: str) -> np.ndarray | np.generic:
    """The array, with numpy's own operators where it is of a subclass; UsageError where it is of no format."""
    if isinstance(array, np.ma.MaskedArray):
        raise UsageError(f"{place}: found a masked array; expected one whose elements are all numbers")
    try:
        format_of(array)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
    return array if isinstance(array, np.generic) else np.asarray(array)


def op_globs(ops: str | Callable | Sequence[str | Callable]) -> Any:
    """Globs for `Selection.ops`: functions and names of operators as `aten::` names; all else (a glob, the path of a
    module) as it is."""
    if isinstance(ops, str) or callable(ops):
        return (_glob(ops),)
    return tuple(map(_glob, ops)) if isinstance(ops, Sequence) else ops


def _glob(op: object) -> object:
    if callable(op):
        _check_is_of_torch(op)
        from conform import from_torch

        return from_torch.operator_name(op)
    try:
        return names.operator_name(op) if isinstance(op, str) else op
    except UsageError:
        return op
