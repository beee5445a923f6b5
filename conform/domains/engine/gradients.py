"""What gradients of elementwise ops take: tensors that are alike, and Python numbers on which others depend."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, boolean, result, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Value
from conform.domains.engine.dtypes import FLOATS
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dtype_of, shape_of

LIKE = "a gradient has the dtype and shape of what it is the gradient of; of others torch documents nothing"
FLOAT = Dtype.In(FLOATS).unjudged("torch documents derivatives of floats")


def incoming(name: str = "grad_output") -> Argument:
    """The incoming gradient, which all other tensors are like."""
    return tensor(name, FLOAT)


def alike(name: str, *constraints: Constraint, of: str = "grad_output") -> Argument:
    """A tensor of the dtype and shape of the gradient."""
    return tensor(name, [one.unjudged(LIKE) for one in (dtype_of(of), *shape_of(of))], *constraints)


def outgoing(of: str = "grad_output") -> Argument:
    return result(dtype_of(of), shape_of(of))


def if_not_negative(name: str, number: str, but: Constraint | None = None) -> Argument:
    """A flag that may be set where the number is not negative."""

    def allowed(own: MetaArgument) -> tuple[bool, ...]:
        return (False, True) if own.dtype in ("int", "float", "bool") and own.value >= 0 else (False,)

    constraint = Value.In(allowed, (number,), f"{{False}} where {number} is negative")
    return boolean(name, constraint, *([but] if but else []))
