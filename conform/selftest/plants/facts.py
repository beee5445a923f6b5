"""What is known of an op before it is called: which of its arguments are what, and what its results can be.

From its schema, its argument spec and its semantics; what the spec says by functions is asked of valid calls drawn from
it. Which defects an op can have follows from this.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from conform.domains.engine.arguments import Argument
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.meta_tuple import results, valid_tuples
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import spec_of, specs
from conform.interp.semantics import traits_of
from conform.interp.traits import Traits
from conform.numerics.formats import format_named

DRAWN = 64  # valid calls: enough for every keyword's values and every dtype


@dataclass(frozen=True)
class Call:
    """A valid call without the elements of its tensors: its arguments by name, and its results."""

    arguments: Mapping[str, MetaArgument]
    results: tuple[MetaArgument, ...]

    @property
    def has_empty_operand(self) -> bool:
        """Whether one of its tensors has no elements."""
        return any(0 in each.shape for one in self.arguments.values() for each in tensors_of(one))


def tensors_of(argument: MetaArgument) -> list[MetaArgument]:
    """The tensors that an argument holds: itself, or those of its list that are not None."""
    if argument.type.is_tensor_list:
        return [one for one in argument.structure if not one.optional]
    return [argument] if argument.type.is_tensor and not argument.optional else []


class Op:
    """One overload, `aten::name.overload`."""

    def __init__(self, spec: OpSpec) -> None:
        self.spec = spec
        self.name = spec.name
        self.packet = spec.name.partition(".")[0]

    @functools.cached_property
    def calls(self) -> tuple[Call, ...]:
        """Valid calls, the same every time."""
        drawn = itertools.islice(valid_tuples(self.spec, 0), DRAWN)
        return tuple(Call(one.arguments, tuple(results(self.spec, one.arguments))) for one in drawn)

    @property
    def traits(self) -> Traits:
        """What its semantics declare."""
        return traits_of(self.name)

    @property
    def tensors(self) -> tuple[Argument, ...]:
        """The arguments that hold tensors: data, indices and masks."""
        return tuple(one for one in self.spec.arguments if one.type.is_tensor or one.type.is_tensor_list)

    @property
    def data(self) -> tuple[Argument, ...]:
        """The arguments whose elements are computed with."""
        return tuple(one for one in self.tensors if not one.type.is_index)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the arguments that are Python numbers of any kind."""
        return tuple(one.name for one in self.spec.arguments if one.type.is_number)

    @functools.cached_property
    def takes(self) -> frozenset[str]:
        """The dtypes that its data can have."""
        held = (each for call in self.calls for one in self.data for each in tensors_of(call.arguments[one.name]))
        return frozenset(each.dtype for each in held)

    @functools.cached_property
    def gives(self) -> frozenset[str]:
        """The dtypes that its results can have."""
        return frozenset(one.dtype for call in self.calls for one in call.results)

    @functools.cached_property
    def result_ranks(self) -> frozenset[int]:
        """The numbers of dims that its results can have, of those with elements."""
        return frozenset(one.rank for call in self.calls for one in call.results if one.numel)

    def takes_some(self, kind: str) -> bool:
        """Whether its data can be of a kind: bool, int, uint, float, complex."""
        return any(format_named(dtype).kind == kind for dtype in self.takes)

    def gives_some(self, kind: str) -> bool:
        """Whether its results can be of a kind."""
        return any(format_named(dtype).kind == kind for dtype in self.gives)

    def ranks(self, argument: str) -> frozenset[int]:
        """The numbers of dims that the tensors of an argument can have."""
        return frozenset(each.rank for call in self.calls for each in tensors_of(call.arguments[argument]))


@functools.cache
def op_of(name: str) -> Op:
    """The op of this name, which has a spec."""
    spec = spec_of(name)
    assert spec is not None, f"{name} has no spec"
    return Op(spec)


def ops() -> list[Op]:
    """Every overload with a spec, sorted by name."""
    return [op_of(name) for name in sorted(one.name for one in specs())]
