"""Whether torch's schemas let an operator take a test's arguments, as far as the file alone tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conform.call.binding import bind, resolve
from conform.errors import UsageError
from conform.suites import nodes
from conform.suites.fields import describe
from conform.suites.nodes import Node
from conform.suites.test import Test

_NUMBERS: dict[str, Any] = {"float": 0.5, "int": 0, "bool": False, "complex": 0.5j}


@dataclass(frozen=True, slots=True)
class _TensorStandIn:
    """What the schemas look at of a tensor."""

    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)


class _Undetermined(Exception):
    """Only a draw tells what the argument is, or only its constructor."""


def misfit(test: Test) -> str | None:
    """What is wrong with the arguments, whatever is drawn; None if they fit, or if that is known at the draw only."""
    if not isinstance(test.op, str):
        return None
    try:
        args = [_stand_in(node) for node in test.inputs]
        kwargs = {key: _stand_in(node) for key, node in test.kwargs.items()}
        bind(resolve(test.op, args, kwargs), args, kwargs)
        _refuse_huge([*args, *kwargs.values()])
    except _Undetermined:
        return None
    except UsageError as error:
        return f"test {test.id!r}: {error}"
    return None


def _refuse_huge(value: Any) -> None:
    """UsageError for an integer that torch's Scalar (int64 or uint64) does not hold."""
    if isinstance(value, list | tuple):
        for item in value:
            _refuse_huge(item)
    elif isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise UsageError(f"{describe(value)} does not fit int64, torch's type of Python integers")


def _stand_in(node: Node) -> Any:
    """A value of the node's type."""
    match node:
        case nodes.Tensor():
            return _TensorStandIn(node.shape)
        case nodes.Scalar():
            return _NUMBERS[node.kind] if node.draw else node.value
        case nodes.Repeated():
            return [_stand_in(node.element)] * min(node.length, 1)
        case nodes.Sequence():
            return [_stand_in(part) for part in node.parts]
        case nodes.Mapping():
            return {key: _stand_in(entry) for key, entry in node.entries.items()}
        case nodes.Optional() if node.p_none == 0:
            return _stand_in(node.element)
        case nodes.Const():
            return node.value
        case _:
            raise _Undetermined
