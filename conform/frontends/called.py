"""What a case may call besides an operator."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from conform.backends.call import Call
from conform.call.bound import Bound
from conform.interp.program.form import Program
from conform.suites.cases import Draw


class Called(Protocol):
    """A torch module, or a StableHLO program: its name, its meaning, and how it reaches a backend."""

    op: str

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """The call on arrays and Python values."""
        ...

    def program(self, args: Sequence[Any], kwargs: Mapping[str, Any], of_kernels: bool = False) -> Program | None:
        """The operators of torch that it consists of for arrays and Python values, those that have kernels if
        `of_kernels`; None of what has none. NoGolden where there is no program."""
        ...

    def refusal(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        """Why it does not take tensors that lie so in memory, as `view` takes not any; None where it does, or where
        that is not known."""
        ...

    def sent_as_constants(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """The call of what holds the arguments, which a compiler may compute with. NoGolden as of `sent`."""
        ...

    def sent(self, args: list[Any], kwargs: dict[str, Any], requires_grad: Collection[int]) -> Call:
        """The call as a worker gets it. NoGolden where no worker can."""
        ...


def called(draw: Draw) -> Called:
    """What a draw calls that is no operator: what its test was given, or a module constructed from its class.

    NoGolden, with the reason, where the class cannot be found or constructed.
    """
    given = draw.test.op.given
    if given is not None:
        return given
    from conform.frontends.construction import module_of  # with torch, which programs need not

    return module_of(draw)
