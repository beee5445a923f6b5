"""Slow, obvious references: what each op means, by scalars and loops over exact reals.

They are the second opinion on the interpreter and share no code with it: written from the documentation of the ops and
docs/policy.md. `lookup("aten::add.Tensor")(self=..., other=..., alpha=1)` takes the schema's argument names and returns
a `RefTensor` or a tuple of them; ValueError for arguments that torch rejects, NotImplementedError for what torch takes
and the references do not cover. UNSPECIFIED marks an element that the policy leaves open; in the place of a tensor it
is an output of which nothing is documented.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
from collections.abc import Callable

from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import REFERENCES

__all__ = ["UNSPECIFIED", "RefTensor", "lookup", "names"]

_SHARED = "exact"  # what the families are written in; the other modules and packages of this one are families


@functools.cache
def _load_families() -> None:
    for found in pkgutil.walk_packages(__path__, f"{__name__}."):
        if found.name.split(".")[2] != _SHARED:
            importlib.import_module(found.name)


def lookup(op_name: str) -> Callable[..., RefTensor | tuple[RefTensor, ...]]:
    """The reference of an overload such as "aten::mm"; LookupError if there is none."""
    _load_families()
    if op_name not in REFERENCES:
        close = difflib.get_close_matches(op_name, REFERENCES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise LookupError(f"no reference for {op_name!r}{hint}")
    return REFERENCES[op_name]


def names() -> tuple[str, ...]:
    """The overloads that have a reference, sorted."""
    _load_families()
    return tuple(sorted(REFERENCES))
