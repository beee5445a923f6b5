"""Calls of a torch module, or of a function of torch, that were given in Python, as a suite of a test each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from conform import from_torch
from conform.backends.leaves import leaves
from conform.errors import UsageError
from conform.frontends.functions import function_call
from conform.frontends.modules import ModuleCall
from conform.operators import check_memory, in_terms_of_the_kit, is_module, memory_of
from conform.suites import ModuleSpec, Suite, Test
from conform.suites.cases import Selection
from conform.suites.nodes import ClassPath, Given

ONE_CALL = Selection()


def suite_of(
    what: Any, inputs: Any, named: Mapping[str, Any] | None = None, selection: Selection = ONE_CALL
) -> Suite:
    """The call of `what`, a module or a function of torch, on `inputs`, a tuple or list of its positional arguments, or
    the one that it has, and on keyword arguments `named`. Where `inputs` is a function that returns these, as many
    calls as the selection has samples, each a test: what the function draws from torch's generator hangs on seed and
    sample alone.

    UsageError for what the selection asks of inputs and they cannot be, for tensors without elements, and for arguments
    that no call carries: what is no tensor, number, string, None, or list, tuple or dict of these. Unjudged where the
    call depends on more of their memory than their elements.
    """
    if selection.values is not None:
        raise UsageError(f"values={selection.values!r}: the numbers are those of the inputs that are given")
    drawn = _draws(inputs, selection) if _is_drawn(inputs) else [inputs]
    if len(drawn) < selection.samples:
        raise UsageError(f"samples={selection.samples}: the inputs are given, and the same in each; "
                         "for other ones give a function that returns them")  # fmt: skip
    of_module = ModuleCall.of(what) if is_module(what) else None
    made = [_test(of_module or what, each, named or {}, number) for number, each in enumerate(drawn)]
    tests, content = zip(*made, strict=True)
    digest = hashlib.sha256(b"".join(content)).hexdigest()
    return Suite([tests[0].id], [tests[0].id], tests, f"sha256:{digest}")


def _is_drawn(inputs: Any) -> bool:
    """Whether these are no inputs, but a function that returns them."""
    return callable(inputs) and not is_module(inputs)


def _draws(inputs: Callable[[], Any], selection: Selection) -> list[Any]:
    with torch.random.fork_rng(devices=[]):
        return [_drawn(inputs, selection.seed + number) for number in range(selection.samples)]


def _drawn(inputs: Callable[[], Any], seed: int) -> Any:
    torch.manual_seed(seed)
    return inputs()


def _test(what: Any, inputs: Any, named: Mapping[str, Any], number: int) -> tuple[Test, bytes]:
    """The test of one call, and what its digest is made of."""
    call, positional, named = _call(what, inputs if isinstance(inputs, tuple | list) else (inputs,), named)
    taken = [in_terms_of_the_kit(value, f"inputs[{at}]") for at, value in enumerate(positional)]
    kwargs = {key: in_terms_of_the_kit(value, f"kwargs[{key!r}]") for key, value in named.items()}
    if memory_of([positional, named]):
        call.check_memory(taken, kwargs)
    for leaf in leaves([taken, kwargs]):
        if not isinstance(leaf, np.ndarray | np.generic | bool | int | float | complex | str):
            expected = "tensors, numbers, strings, None, and lists, tuples and dicts of these"
            raise UsageError(f"inputs: found {type(leaf).__name__}, expected {expected}")
    name = call.op.rpartition(".")[2] + (f".{number}" if number else "")
    test = Test(
        name, ModuleSpec(ClassPath(call.op), (), {}, given=call), tuple(map(Given, taken)),
        {key: Given(value) for key, value in kwargs.items()}, device=None, cast_input0_to_complex=False, impl=None,
        pair=None, location="", arguments_at="inputs", builtin=False, recorded_at="",
    )  # fmt: skip
    content = b"".join(_content(leaf) for leaf in [*leaves(taken), *sorted(kwargs), *leaves(kwargs)])
    return test, call.pickled + content


def _call(
    what: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[ModuleCall, Sequence[Any], Mapping[str, Any]]:
    if isinstance(what, ModuleCall):
        return what, args, kwargs
    from_torch.check_reduction(what, args, kwargs)
    check_memory(from_torch.operator_name(what), [args, kwargs])
    return function_call(what, args, kwargs, travels=True)


def _content(leaf: Any) -> bytes:
    return leaf.dtype.name.encode() + leaf.tobytes() if hasattr(leaf, "tobytes") else repr(leaf).encode()
