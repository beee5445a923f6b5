"""Arguments that results are written into: from the spec of an overload those of its variants that write.

The sources are torch's notes: of tensors that are given for results https://docs.pytorch.org/docs/stable/notes/out.html,
of one that is changed in place https://docs.pytorch.org/docs/stable/notes/broadcasting.html (in-place semantics) and
https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from conform.call.variants import in_place_variant, out_variant, variant_of
from conform.domains.engine.arguments import Argument, out, outs
from conform.domains.engine.constraints import Constraint
from conform.domains.engine.dtypes import category
from conform.domains.engine.op_spec import OpSpec

CONVERTED = "torch converts to a dtype of the same or a higher category"
NAMED = "torch takes the dtype of what is written into for one that is not named"
RESIZED = "torch resizes, and says that it will not do so for ever"


def with_out_arguments(spec: OpSpec) -> OpSpec | None:
    """The spec of the out variant: the same arguments, and for each result one of its dtype and shape. None if torch
    has no variant of just these arguments, the spec does not tell all results, or one may be None."""
    variant = out_variant(spec.name)
    if variant is None or any(one.may_be_none or one.type.is_list for one in spec.results):
        return None
    written = variant_of(variant.name).into
    if len(written) != len(spec.results):  # nothing is documented of the others
        return None
    outs = [out(name, _out(spec, name, result)) for name, result in zip(written, spec.results, strict=True)]
    return OpSpec(variant.name, [*spec.arguments, *outs], spec.results)


def with_result_in_place(spec: OpSpec) -> OpSpec | None:
    """The spec of the variant in place: the same arguments, the first of which must hold the result as well; where
    there are several results, the arguments that hold them have all that they have. None if torch has no such variant,
    or the spec does not tell all results."""
    variant = in_place_variant(spec.name)
    if variant is None or any(one.may_be_none for one in spec.results):
        return None
    written = variant_of(variant.name).into
    if len(written) != len(spec.results):
        return None
    if len(written) > 1:
        held = [_held(spec, name, result) for name, result in zip(written, spec.results, strict=True)]
        return None if any(held) else OpSpec(variant.name, spec.arguments, spec.results)
    (name,) = written
    is_list = spec.results[0].type.is_tensor_list
    holder = (outs if is_list else out)(name, _held(spec, name, spec.results[0]))
    return OpSpec(variant.name, spec.arguments, spec.results, holder)


def _out(spec: OpSpec, name: str, result: Argument) -> list[Constraint]:
    held = _held(spec, name, result)
    return [each if each.attribute == "Dtype" else each.unjudged(RESIZED) for each in held]


def _held(spec: OpSpec, name: str, result: Argument) -> list[Constraint]:
    """The constraints on a result, as those on the argument that is to hold it, but for what it has by itself: another
    dtype may be one that results can be converted to, or, of an op to which a dtype can be named, that."""
    takes_dtype = any(one.type.name == "ScalarType" for one in spec.arguments)

    def held(constraint: Constraint) -> Constraint:
        if constraint.attribute != "Dtype" or constraint.lenience is not None:
            return constraint
        if takes_dtype:
            return constraint.unjudged(NAMED)
        return constraint.unjudged(CONVERTED, _is_converted(name, constraint))

    return [held(one) for one in result.constraints if one.same_as != name]


def _is_converted(name: str, constraint: Constraint) -> Callable[..., bool]:
    """Whether the argument `name`, of a list each of its tensors, can hold a result of the dtype stated: no float is
    written as an integer."""
    parameters = constraint.parameters or ()
    names = tuple(dict.fromkeys((name, *(each for each in parameters if each != "i"))))

    def holds(holder: Any, views: dict[str, Any]) -> bool:
        stated = constraint.value if constraint.is_constant else constraint.value(*[views[each] for each in parameters])
        return category(holder.dtype) >= category(stated)

    def where(*given: Any) -> bool:
        views = dict(zip(names, given, strict=True))
        if not isinstance(views[name], tuple):
            return holds(views[name], views)
        return all(holds(one, {**views, "i": number}) for number, one in enumerate(views[name]))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    where.__signature__ = inspect.Signature([inspect.Parameter(each, kind) for each in names])
    return where
