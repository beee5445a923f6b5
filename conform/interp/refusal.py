"""Calls that an op refuses: those outside its domain, by the constraint that they break."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conform.domains.engine.membership import first_violation
from conform.domains.specs import spec_of
from conform.errors import InvalidArguments


def refuse_outside_domain(op: str, arguments: Mapping[str, Any]) -> None:
    """InvalidArguments where the spec of the overload says that no implementation may accept the arguments.

    It names the argument, what it was found to be, and the constraint. arguments: by the schema's names, numpy arrays
    for tensors.
    """
    violation = first_violation(spec_of(op), arguments)
    if violation is not None:
        raise InvalidArguments(
            f"{op}: argument {violation.argument}: found {violation.found}, expected {violation.constraint}"
        )
