"""Slow, obvious references: what each op means, by scalars and loops over exact reals.

They are the second opinion on the interpreter and share no code with it: written from the documentation of the ops and
docs/policy.md. `lookup("aten::add.Tensor")(self=..., other=..., alpha=1)` takes the schema's argument names and returns
a `RefTensor` or a tuple of them; ValueError for arguments that torch rejects, NotImplementedError for what torch takes
and the references do not cover. UNSPECIFIED marks an element that the policy leaves open.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable

from conform.refs.registry import REFERENCES
from conform.refs.tensor import UNSPECIFIED, RefTensor

__all__ = ["UNSPECIFIED", "RefTensor", "lookup", "names"]

FAMILIES = (
    "elementwise",
    "functions",
    "shape",
    "indexing",
    "reduction",
    "moments",
    "norms",
    "contraction",
    "windows",
    "normalization",
    "channels",
    "loss",
    "classes",
    "attention",
    "sorting",
    "creation",
)


def _load_families() -> None:
    for family in FAMILIES:
        importlib.import_module(f"conform.refs.{family}")


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
