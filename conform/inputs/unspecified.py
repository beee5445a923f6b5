"""Calls without a spec of which one thing is known: that any float may be given to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conform.call.arguments import Arguments, tensors
from conform.numerics.formats import format_of


@dataclass(frozen=True)
class AnyFloats:
    """In the place of an OpSpec, for values: no argument is barred from anything, and nothing is an edge."""

    name: str
    arguments: tuple[()] = ()
    index_arguments: tuple[()] = ()
    nonzero_integers: tuple[()] = ()


def floats_alone(arguments: Arguments) -> Arguments:
    """The arguments, in which only tensors of floats and complex numbers may take other values: integers may be places,
    or say how often something is done."""
    formats = [format_of(one) for one in tensors(arguments)]
    others = frozenset(at for at, fmt in enumerate(formats) if not (fmt.is_float or fmt.is_complex))
    return replace(arguments, literal=arguments.literal | others)
