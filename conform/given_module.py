"""One call of a torch module, or of a function of torch, that was given in Python, as a suite of one test."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conform import from_torch
from conform.backends.leaves import leaves
from conform.errors import UsageError
from conform.frontends.functions import function_call
from conform.frontends.modules import ModuleCall
from conform.operators import check_memory, in_terms_of_the_kit, is_module, memory_of
from conform.suites import ModuleSpec, Suite, Test
from conform.suites.nodes import ClassPath, Given


def suite_of(what: Any, inputs: Any, named: Mapping[str, Any] | None = None) -> Suite:
    """The call of `what`, a module or a function of torch, on `inputs`, a tuple or list of its positional arguments, or
    the one that it has, and on keyword arguments `named`.

    UsageError for tensors without elements, and for arguments that no call carries: what is no tensor, number, string,
    None, or list, tuple or dict of these. Unjudged where the call depends on more of their memory than their elements.
    """
    call, positional, named = _call(what, inputs if isinstance(inputs, tuple | list) else (inputs,), named or {})
    taken = [in_terms_of_the_kit(value, f"inputs[{at}]") for at, value in enumerate(positional)]
    kwargs = {key: in_terms_of_the_kit(value, f"kwargs[{key!r}]") for key, value in named.items()}
    if memory_of([positional, named]):
        call.check_memory(taken, kwargs)
    for leaf in leaves([taken, kwargs]):
        if not isinstance(leaf, np.ndarray | np.generic | bool | int | float | complex | str):
            expected = "tensors, numbers, strings, None, and lists, tuples and dicts of these"
            raise UsageError(f"inputs: found {type(leaf).__name__}, expected {expected}")
    name = call.op.rpartition(".")[2]
    test = Test(
        name, ModuleSpec(ClassPath(call.op), (), {}, given=call), tuple(map(Given, taken)),
        {key: Given(value) for key, value in kwargs.items()}, device=None, cast_input0_to_complex=False, impl=None,
        pair=None, location="", arguments_at="inputs", builtin=False, recorded_at="",
    )  # fmt: skip
    content = b"".join(_content(leaf) for leaf in [*leaves(taken), *sorted(kwargs), *leaves(kwargs)])
    digest = hashlib.sha256(call.pickled + content).hexdigest()
    return Suite([name], [name], (test,), f"sha256:{digest}")


def _call(
    what: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[ModuleCall, Sequence[Any], Mapping[str, Any]]:
    if is_module(what):
        return ModuleCall.of(what), args, kwargs
    from_torch.check_reduction(what, args, kwargs)
    check_memory(from_torch.operator_name(what), [args, kwargs])
    return function_call(what, args, kwargs, travels=True)


def _content(leaf: Any) -> bytes:
    return leaf.dtype.name.encode() + leaf.tobytes() if hasattr(leaf, "tobytes") else repr(leaf).encode()
