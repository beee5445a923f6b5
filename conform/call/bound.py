"""A call bound once and passed on: what the interpreter evaluates, and what judging tells the operands from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conform.call.binding import IsTensor, bind, has_ndim, resolve
from conform.call.schemas import OpSchema
from conform.call.variants import Variant, variant_of


@dataclass(frozen=True)
class Bound:
    """One call: the schema of its overload, and every argument by its name there, in that order, defaults filled in.

    `meaning` is that of a call of no registered operator, of a module: what it is of the arguments by name.
    """

    schema: OpSchema
    arguments: Mapping[str, Any]
    meaning: Callable[..., Any] | None = None

    @property
    def op(self) -> str:
        """The overload, `aten::add.Tensor`."""
        return self.schema.name

    @property
    def variant(self) -> Variant | None:
        """How the call writes its results into arguments, if it does."""
        return variant_of(self.op) if any(one.is_written for one in self.schema.arguments) else None

    @property
    def returning(self) -> Bound:
        """The call that returns what this one writes; itself where it writes nothing."""
        if (variant := self.variant) is None:
            return self
        names = [one.name for one in variant.plain.arguments]
        return Bound(variant.plain, {name: self.arguments[name] for name in names})

    def tensors(self) -> Iterator[Any]:
        """Every tensor, in the order of the arguments; those in lists too."""
        for value in self.arguments.values():
            yield from filter(has_ndim, value if isinstance(value, list | tuple) else [value])

    def with_tensors(self, change: Callable[[Any], Any]) -> Bound:
        """This call with every tensor changed, those in lists too."""
        return self.mapped(lambda value: change(value) if has_ndim(value) else value)

    def mapped(self, change: Callable[[Any], Any]) -> Bound:
        """This call with every argument changed, those in lists one by one."""
        return replace(self, arguments={name: _mapped(change, value) for name, value in self.arguments.items()})


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_mapped(change, item) for item in value)
    return change(value)


def bound_call(
    op: str, args: Sequence[Any], kwargs: Mapping[str, Any], is_tensor: IsTensor = has_ndim
) -> Bound:
    """The overload that the arguments select, with them by name.

    UsageError for an op that is unknown, and for arguments that no overload takes.
    """
    found = resolve(op, args, kwargs, is_tensor)
    return Bound(found, bind(found, args, kwargs, is_tensor))
