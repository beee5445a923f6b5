"""Out arguments: from the spec of an overload that of its variant which writes into tensors of the caller."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from conform.call import schemas
from conform.domains.engine.arguments import Argument, out
from conform.domains.engine.constraints import Constraint
from conform.domains.engine.dtypes import category
from conform.domains.engine.op_spec import OpSpec

CONVERTED = "torch converts to a dtype of the same or a higher category"
RESIZED = "torch resizes, and says that it will not do so for ever"


def with_out_arguments(spec: OpSpec) -> OpSpec | None:
    """The spec of the out variant: the same arguments, and for each result one of its dtype and shape. None if torch
    has no variant of just these arguments, the spec does not tell all results, or one may be None."""
    variant = schemas.out_variant(spec.name)
    if variant is None or any(one.may_be_none for one in spec.results):
        return None
    written = [one.name for one in variant.arguments if one.is_written]
    if len(written) != len(spec.results):  # nothing is documented of the others
        return None
    outs = [_out(name, result) for name, result in zip(written, spec.results, strict=True)]
    return OpSpec(variant.name, [*spec.arguments, *outs], spec.results)


def _out(name: str, result: Argument) -> Argument:
    return out(name, [_stated(name, each) for each in result.constraints])


def _stated(name: str, constraint: Constraint) -> Constraint:
    if constraint.attribute == "Dtype":
        return constraint.lenient(CONVERTED, _is_converted(name, constraint))
    return constraint.lenient(RESIZED)


def _is_converted(name: str, constraint: Constraint) -> Callable[..., bool]:
    """Whether the out argument `name` can hold a result of the dtype stated: no float is written as an integer."""
    names = constraint.parameters or ()

    def where(given: Any, *operands: Any) -> bool:
        dtype = constraint.value if constraint.is_constant else constraint.value(*operands)
        return category(given.dtype) >= category(dtype)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    where.__signature__ = inspect.Signature([inspect.Parameter(each, kind) for each in (name, *names)])
    return where
