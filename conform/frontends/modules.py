"""A torch module as what is called: by a name, with a meaning, and in a form that reaches the backend's worker."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch._dynamo import OptimizedModule
from torch.utils import _pytree as pytree

from conform.backends.call import Call
from conform.backends.given import dumps
from conform.backends.holding import Holding
from conform.backends.interpreter import to_numpy, to_torch
from conform.call.bound import Bound
from conform.call.schemas import Argument, OpSchema
from conform.errors import NoGolden
from conform.foreign import line
from conform.frontends.shapes import refusal_of
from conform.frontends.torch_export import arrays_of, program_of, shows_memory
from conform.interp.golden import Golden, Outcome
from conform.interp.program.aten import aten
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.program.goldens import goldens_of
from conform.interp.program.number import Number
from conform.interp.traits import KNOWN_MEMORY
from conform.numerics.formats import format_of
from conform.suites.nodes import Construct


@dataclass(frozen=True, eq=False)
class ModuleCall:
    """A torch module by its class, `op` ("torch.nn.Linear"); `pickled` is what a worker loads it from, None of one that
    stays here and cannot be pickled. Of what torch.compile gives, `module` is what was compiled."""

    op: str
    module: torch.nn.Module
    pickled: bytes | None

    @staticmethod
    def of(
        module: torch.nn.Module, op: str | None = None, travels: bool = True, defined_in: Collection[str] = ()
    ) -> ModuleCall:
        """NoGolden for a module that `travels` to a worker and cannot be pickled. defined_in: Python modules beside
        those of its parts that a worker may not find."""
        meant = module._orig_mod if isinstance(module, OptimizedModule) else module
        name = op or f"{type(meant).__module__}.{type(meant).__qualname__}"
        classes = {type(part) for part in module.modules()}
        try:
            pickled = dumps(module, [*defined_in, *(one.__module__ for one in classes)])
        except Exception as error:  # whatever an object's own pickling raises
            if travels:
                reason = f"{type(error).__name__}: {line(str(error), 300)}"
                raise NoGolden(f"module {name} cannot be pickled, to be sent to a worker: {reason}; "
                               "conform.assert_close judges what it returned") from None  # fmt: skip
            pickled = None
        return ModuleCall(name, meant, pickled)

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """The call of the module on arrays or tensors and Python values, in lists, tuples and dicts: its arguments are
        what these hold, `options['shift']`."""
        args, kwargs = pytree.tree_map(_as_array, _without_objects((list(args), dict(kwargs))))
        leaves, nest = pytree.tree_flatten((args, kwargs))
        named = dict(zip(_names(self.module, args, kwargs), leaves, strict=True))
        arguments = tuple(Argument(name, "Tensor", None, False, False, False) for name in named)
        schema = OpSchema(self.op, arguments, ("Tensor",), len(arguments), (True,))

        def meaning(**arguments: Any) -> Outcome:
            return self.meaning(*pytree.tree_unflatten(list(arguments.values()), nest))

        return Bound(schema, named, meaning)

    @cached_property
    def buffers(self) -> tuple[str, ...]:
        """The names of the buffers that a call may change: those of its parts that are in training mode."""
        held = {id(one) for part in self.module.modules() if part.training for one in part.buffers(recurse=False)}
        return tuple(name for name, one in self.module.named_buffers() if id(one) in held)

    def program(self, args: Sequence[Any], kwargs: Mapping[str, Any], of_kernels: bool = False) -> Program:
        """The module's operators for arguments of these dtypes and shapes; of_kernels: as torch's dispatcher hands them
        to kernels. NoGolden for one that is not exported."""
        return program_of(self.module, self.pickled, args, kwargs, of_kernels)

    def refusal(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        """Why the module does not take tensors of these strides, as `view` takes not any; None where it does, or where
        numbers decide."""
        return refusal_of(self.module, *_without_objects((list(args), dict(kwargs))))

    def sent(self, args: list[Any], kwargs: dict[str, Any], requires_grad: Collection[int] = ()) -> Call:
        """The call as a worker gets it."""
        args, kwargs = _without_objects((args, kwargs))
        return Call(self.op, args, kwargs, frozenset(requires_grad), self.pickled, buffers=self.buffers)

    def sent_as_constants(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """The call of a module that holds the arguments: with them its code may be compiled."""
        args, kwargs = pytree.tree_map(_as_tensor, _without_objects((list(args), dict(kwargs))))
        holding = ModuleCall.of(Holding(self.module, args, kwargs), self.op)
        return replace(holding.sent([], {}), buffers=tuple(f"module.{name}" for name in self.buffers))

    def meaning(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Outcome:
        """The goldens of the module's tensors, in the order of `backends.leaves`, and of its `buffers` after the call;
        NoGolden with what stands in the way.
        """
        program = program_of(self.module, self.pickled, args, kwargs, may_update=self.buffers)
        inputs = [Number.exact(array) for array in arrays_of(args, kwargs)]
        goldens = goldens_of(lambda: evaluate(program, aten, inputs), self.op)
        found = Outcome(goldens, updated=program.updates)
        as_it_is = zip(self.buffers, self.held(), strict=True)
        left = (found.left.get(name) or Golden(format_of(array), array) for name, array in as_it_is)
        return Outcome((*found.results, *left), updated=self.buffers)

    def check_memory(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """NoGolden for a module whose results show memory beside the elements of tensors, which these arrays lack."""
        try:
            program = program_of(self.module, self.pickled, args, kwargs, may_update=self.buffers)
        except NoGolden:  # which the call tells, where it is evaluated
            return
        for op in program.function.ops:
            if shows_memory(op.name):
                raise NoGolden(f"module {self.op}: {op.name} depends on its tensor's memory, {KNOWN_MEMORY}")

    def held(self) -> list[np.ndarray]:
        """What its `buffers` hold before the call."""
        return [to_numpy(self.module.get_buffer(name).detach().cpu().contiguous()) for name in self.buffers]


def _without_objects(given: Any) -> Any:
    """With None for an object to be constructed: the module has it."""
    return pytree.tree_map(lambda leaf: None if isinstance(leaf, Construct) else leaf, given)


def _as_tensor(leaf: Any) -> Any:
    return to_torch(np.asarray(leaf)) if isinstance(leaf, np.ndarray | np.generic) else leaf


def _as_array(leaf: Any) -> Any:
    return to_numpy(leaf) if isinstance(leaf, torch.Tensor) else leaf


def _names(module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """A name for each leaf: of forward's parameter, or the number of an argument behind `*`, and where it is in it."""
    signature = inspect.signature(module.forward).parameters
    parameters = [name for name, one in signature.items() if one.kind != one.VAR_POSITIONAL]
    positional = [name if name not in kwargs else "" for name in parameters[: len(args)]]
    tops = [positional[at] if at < len(positional) and positional[at] else f"input_{at}" for at in range(len(args))]
    nests = [*zip(tops, args, strict=True), *kwargs.items()]
    return [f"{top}{pytree.keystr(path)}" for top, one in nests for path, _ in pytree.tree_flatten_with_path(one)[0]]
