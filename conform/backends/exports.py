"""The arguments of export-type backends, which take tensors alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conform.call.arguments import Arguments, tensors
from conform.numerics.formats import format_named


def exported(arguments: Arguments) -> Arguments:
    """The arguments as an export-type backend gets them: the values of scalar nodes as tensors of shape (1,).

    Source: "Export note" of the YAML specification. Tensors are numbered anew, the ones that require gradients too.
    """

    def sent(value: Any, place: tuple[str | int, ...]) -> Any:
        if place in arguments.scalars and value is not None:
            return np.array([value]).astype(format_named(arguments.scalars[place]).storage)
        if isinstance(value, list | tuple):
            return type(value)([sent(item, (*place, at)) for at, item in enumerate(value)])
        return value

    args = [sent(value, ("in", at)) for at, value in enumerate(arguments.args)]
    kwargs = {name: sent(value, ("kwargs", name)) for name, value in arguments.kwargs.items()}
    tracked = {id(tensor) for k, tensor in enumerate(tensors(arguments)) if k in arguments.requires_grad}
    new = replace(arguments, args=args, kwargs=kwargs)
    return replace(new, requires_grad=frozenset(k for k, tensor in enumerate(tensors(new)) if id(tensor) in tracked))
