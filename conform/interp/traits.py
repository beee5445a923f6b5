"""What several rooms must know of an op, declared once, at its semantics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from conform.interp.blocks.tiles import Contraction


KNOWN_MEMORY = (
    "which the kit has only of contiguous tensors that are the whole of their storage: "
    "make it one first, by clone(memory_format=torch.contiguous_format)"
)


@dataclass(frozen=True)
class Products:
    """An op that adds up products over shared indices.

    factors: the arguments that are multiplied; addend: the argument that is added to the sums; scale: the number that
    multiplies the sums, or one of the factors before (P35); sums: of the op's arguments by name, the sums tile by tile;
    of_matrices: result[i, j] is made of a row of the first factor and a column of the second; terms: the dim of the
    first factor along which products are added up, of each group and window; None where a sum has one term.
    """

    factors: tuple[str, str]
    addend: str | None
    scale: str | None
    sums: Callable[..., Contraction]
    of_matrices: bool = False
    terms: int | None = -1


class Attends(NamedTuple):
    """The arguments of an op that averages the rows of `value`, weighed by how well rows of `key` fit those of
    `query`."""

    query: str
    key: str
    value: str


class Updates(NamedTuple):
    """The arguments that a call changes where that named `where` is True, though no result shows it, and those `by`
    which they change, on which no result depends."""

    arguments: tuple[str, ...]
    where: str
    by: tuple[str, ...]


class Matrices(NamedTuple):
    """The arguments that are stacks of square matrices, and what kind of these most calls are worth being judged on
    (`inputs/matrices.py`): "dominant", of systems of one triangle; "definite", Hermitian ones; "factor", of these; and
    "invertible"."""

    kind: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Traits:
    """Facts about a meaning, from which inputs, judging and the self-test derive; never a tolerance or a skip.

    pointwise: an element of the result depends on the same element of each (broadcast) tensor alone
    along: the argument that names the dims of the first tensor along which an element of the result reads a whole line
    compares: which elements are larger, or equal, or between which integers or powers they lie, decides the result
    converts: operands are converted to a common dtype one by one, as those of pointwise ops are
    commutes: the first two operands in the other order give the same result
    selects: every element of the result is one of an operand's, so nothing is rounded but what is converted first
    signs: an element of the result is that of the first tensor with another sign, or its own (IEEE 754-2019, 5.5.1)
    moves: the arguments whose elements are those of the results, as they are, or zeros; which one stands where depends
    on no element
    undetermined: no call, or hardly one, determines an element: chance does, or nothing
    memory: what a call depends on besides the elements of its tensors: the "strides" between these, the "offset" of the
        first, and what else the "storage" holds; the meaning is that of tensors that fill a storage in their order
    accumulates: the argument whose elements, or functions of them, are added up
    centred: a mean or a maximum is subtracted from what is accumulated
    exponentials: what is accumulated are exponentials
    products: how the sums of a contraction are made
    attends: which arguments of attention are what
    matrices: which arguments are square matrices, and of what kind
    ignores: the arguments on which the meaning does not depend: they are about a gradient, choose an algorithm, or say
        what other arguments tell
    updates: which arguments hold something else after the call; their goldens stand behind those of the results
    holds_numbers: the budget has room for Python numbers held in the compute type, and no narrower type is right
    may_copy: a result that torch's schema lets share memory with an argument may have memory of its own, as torch says
    elements: of the arguments by name, the most elements that the results have, where that may be more than those of
    the tensors together; of a call that is refused it may be any number
    may_share: a result to which torch's schema promises memory of its own may lie in that of an argument, as torch says
    """

    pointwise: bool = False
    along: str | None = None
    compares: bool = False
    converts: bool = False
    commutes: bool = False
    selects: bool = False
    signs: bool = False
    moves: tuple[str, ...] = ()
    undetermined: bool = False
    memory: tuple[str, ...] = ()
    accumulates: str | None = None
    centred: bool = False
    exponentials: bool = False
    products: Products | None = None
    attends: Attends | None = None
    matrices: Matrices | None = None
    ignores: tuple[str, ...] = ()
    elements: Callable[[Mapping[str, Any]], int] | None = None
    updates: Updates | None = None
    holds_numbers: bool = False
    may_copy: bool = False
    may_share: bool = False
