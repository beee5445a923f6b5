"""A function of a StableHLO program as what is called: by a name, with a meaning, as the text that an engine compiles.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conform.backends.call import Call
from conform.backends.protocol import DTYPES
from conform.call.bound import Bound
from conform.call.schemas import Argument, OpSchema
from conform.errors import NoGolden
from conform.frontends.stablehlo_checks import CHECKS, Limit
from conform.frontends.stablehlo_engine import with_constants
from conform.interp.golden import Golden
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Function, Program, Value
from conform.interp.program.goldens import goldens_of
from conform.interp.program.number import Number
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.reals.op_set import Reals
from conform.interp.stablehlo.values import Tensor
from conform.numerics.real import Real

# Contracts that are about the results of the reference interpreter, which rounds each op to its element type.
OF_THE_INTERPRETER = ("stablehlo", CHECKS)


@dataclass(frozen=True, eq=False)
class ProgramCall:
    """`op`: "twice.mlir@main". `text`: a program of this function, called main, and of those that it calls. With
    `is_stepwise` each op's results are rounded to their element type, as the specification's interpreter does it, and
    are judged as these numbers; else they are real numbers, which honest engines round where they store them.
    `limit`: of one value that a program checks, what the check demands of it."""

    op: str
    text: str
    function: Function
    is_stepwise: bool
    limit: Limit | None = None

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Bound:
        """The call on arrays, one an argument; InvalidArguments, from its meaning, for others than the program states.
        """
        named = {f"arg{at}": np.asarray(array) for at, array in enumerate(args)}
        arguments = tuple(Argument(name, "Tensor", None, False, False, False) for name in named)
        schema = OpSchema(self.op, arguments, ("Tensor",), len(arguments), (True,))
        return Bound(schema, named, lambda **given: self.meaning(tuple(given.values())))

    def meaning(self, arrays: Sequence[np.ndarray]) -> tuple[Golden, ...]:
        """The goldens of the results. NoGolden, with op and place, for what cannot be judged."""
        program = Program(self.function)
        if self.is_stepwise:
            results = evaluate(program, StableHLO(), [Tensor(one) for one in arrays])
            return tuple(map(_stepwise, results))
        inputs = [Number.exact(one) for one in arrays]
        return goldens_of(lambda: evaluate(program, Reals(), inputs), self.op, nearest=True)

    def program(self, args: Sequence[Any], kwargs: Mapping[str, Any], of_kernels: bool = False) -> None:
        """It has no operators of torch."""

    def refusal(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Its tensors have no memory."""

    def sent(self, args: list[Any], kwargs: dict[str, Any], requires_grad: Collection[int] = ()) -> Call:
        """NoGolden where a tensor goes in or comes out of a dtype that torch has not, in which they travel."""
        for at, value in enumerate(self.function.arguments):
            _travels(f"argument {at} of {self.op}", value.dtype)
        for at, value in enumerate(self._results()):
            _travels(f"result {at} of {self.op}", value.dtype)
        return Call(self.op, args, kwargs, program=self.text)

    def sent_as_constants(self, args: Sequence[np.ndarray], kwargs: Mapping[str, Any]) -> Call:
        """The call of a program in which the arguments are constants; it has none by name. NoGolden as of `sent`."""
        return replace(self.sent([], {}), program=with_constants(self.text, self.op, args))

    def _results(self) -> list[Value]:
        made = [one for op in self.function.ops for one in op.results if one is not None]
        known = {one.name: one for one in (*self.function.arguments, *made)}
        return [known[name] for name in self.function.results]


def _stepwise(result: Tensor) -> Golden:
    """What the specification's interpreter gives, which a contract may allow a distance from."""
    is_float = isinstance(result, Tensor) and result.format.is_float
    real = Real.exact(result.array.astype(np.float64)) if is_float else None
    return Golden(result.format, result.array, real)


def _travels(what: str, dtype: str) -> None:
    if dtype not in DTYPES:
        raise NoGolden(f"{what} is {dtype}: to and from backends go tensors of the dtypes that torch has")
