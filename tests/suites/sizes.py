"""Which sizes the spec of an op allows its tensors, whatever else a call has."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument
from conform.domains.engine.spaces import INTEGERS


def admits(tensor: Argument, size: int) -> bool:
    """Whether the constraints on every size of the tensor, which depend on nothing, all hold for this one."""
    constant = [one for one in tensor.constraints_on("Size") if one.is_constant and one.suffix not in ("Be", "Gen")]
    return all(size in INTEGERS.narrowed(one.suffix, one.value) for one in constant)
