"""Calls outside the domain of their op: by the constraint that they break they are refused, or not judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conform.domains.engine.membership import accepted_breach, first_violation
from conform.domains.specs import spec_of
from conform.errors import InvalidArguments, Unjudged


def is_in_domain(op: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the op gives a result of the arguments, and the kit judges it. A user's own op has no spec: its reference
    decides."""
    spec = spec_of(op)
    return spec is None or first_violation(spec, arguments) is None


def lenience_of(op: str, arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """(the constraint, why an implementation may accept the call) of a call outside the op's domain that need not be
    refused; None of one that must be, or is in the domain."""
    spec = spec_of(op)
    breach = None if spec is None else accepted_breach(spec, arguments)
    return None if breach is None or breach.lenience is None else (str(breach), breach.lenience)


def refuse_outside_domain(op: str, arguments: Mapping[str, Any]) -> None:
    """InvalidArguments where the spec of the overload says that no implementation may accept the arguments, Unjudged
    where some may, and the kit has no semantics for them.

    Both name the argument, what it was found to be, and the constraint. arguments: by the schema's names, numpy arrays
    for tensors. An op without a spec takes what its meaning takes.
    """
    spec = spec_of(op)
    violation = None if spec is None else first_violation(spec, arguments)
    if violation is None:
        return
    what = f"{op}: argument {violation.argument}: found {violation.found}, expected {violation.constraint}"
    if violation.lenience is None:
        raise InvalidArguments(what)
    raise Unjudged(f"no semantics for {what} ({violation.lenience})")
