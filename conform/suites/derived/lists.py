"""Ops of several lists of tensors, such as the parameters of an optimizer and the state of each.

Of so many tensors one call has each in every layout and with special values of its own; the other calls have what all
of them take together.
"""

from __future__ import annotations

from dataclasses import replace

from conform.domains.engine.op_spec import OpSpec
from conform.suites.derived.targets import Derived, usual_dtype

_TOGETHER = {"all": "both", "in turn": "typical"}


def list_count(spec: OpSpec) -> int:
    """How many arguments are lists of tensors."""
    return sum(one.type.is_tensor_list for one in spec.arguments)


def on_fewer_axes(spec: OpSpec, one: Derived) -> Derived:
    """A call of an op of several lists: contiguous, and without special values one tensor after the other, but for the
    plain one in the usual dtype."""
    if one.name == f"dtype_{usual_dtype(spec)}":
        return one
    return replace(one, values=_TOGETHER.get(one.values, one.values), layouts="as-written")
