"""Targets on tensors: every dtype, ranks, sizes, shapes without elements, broadcasting, type promotion.

A target is a wish and what must come of it. One that the spec of an op cannot meet is none of the op's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.domains.engine.arguments import Argument
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.meta_tuple import MetaTuple, results, wished_tuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.variables import Contradiction
from conform.suites.derived.plain import Plain, is_pointwise, of_last_sizes, shape_of

USUAL = ("float32", "complex64", "int64", "bool")  # of these an op's first: special values beside typical ones as well
IN_EVERY_LAYOUT = ("bool", "int64", "float16", "bfloat16", "float32", "float64", "complex64")
MANY_ROWS = (2, 3, 37, 5)  # short ones: special values meet in all ways, and spoil one row each
RANKS = (0, 1, 3, 4, 5)
RANKS_OF_OTHERS = (0, 1, 2, 3, 4)
RANKS_IN_EVERY_LAYOUT = (0, 4)  # beside the plain rank, 2: one element in a longer storage, images
SIZES = (0, 1, 31, 32, 33, 129, 1031)  # at which kernels change: none, one, around a vector, odd tails, several blocks
SPECIAL_SIZE = 129  # special values beside many others in a line
SIZES_OF_OTHERS = (0, 1, 33, 1031)  # of the dims that other tensors have for themselves
SQUARE = 4  # all sizes alike: an operand that is transposed or exchanged fits, and the values show it
WITHOUT_ELEMENTS = ((0, 7), (5, 0))
# Where all sizes are alike, an operand aligned from the wrong side fits, and the values show it; else the shape does.
BROADCAST_OF = ((4, 4), (4, 4, 3))
BOTH_BROADCAST = (((5, 1), (1, 7)), ((5, 1), (7,)), ((4, 1, 3), (4, 1)), ((4, 1, 3), (5, 1)))
PROMOTIONS = (
    ("bool", "float32"), ("uint8", "int8"), ("int32", "float32"), ("int64", "float16"), ("float16", "bfloat16"),
    ("float32", "float64"), ("float32", "complex64"), ("complex64", "int32"),
)  # fmt: skip
OF_NUMBERS = (("bool", "int"), ("uint8", "float"), ("int64", "float"))  # a tensor beside a Python number
ZERO_DIM = (("float32", "float64"), ("int32", "float32"))  # of which the second is that of a 0-d operand

Shape = tuple[int, ...]
Metas = Mapping[str, MetaArgument]


@dataclass(frozen=True)
class Derived:
    """A call that meets a target. values, layouts: the axes on which it is run, as `Test` names them."""

    name: str
    tuple_: MetaTuple
    values: str = "typical"
    layouts: str = "as-written"


def of_tensors(spec: OpSpec) -> Iterator[Derived]:
    """The targets on tensors that the op meets."""
    first = spec.first_tensor
    if first is not None:
        yield from ranks(spec, first)
        yield from ranks_of_others(spec, first)
        yield from sizes(spec, first)
    yield from dtypes(spec)
    yield from given_tensors(spec)
    yield from broadcasts(spec)
    yield from promotions(spec)
    yield from promotions_of_numbers(spec)


def met(spec: OpSpec, name: str, wish: Plain, holds: Callable[[Metas], bool], **axes: str) -> Iterator[Derived]:
    """The call that the wish gives, if it is what was wished for."""
    try:
        found = wished_tuple(spec, name, wish)
    except Contradiction:
        return
    if holds(found.arguments):
        yield Derived(name, found, **axes)


# --- dtypes, ranks and sizes ------------------------------------------------------------------------------------------


def dtypes(spec: OpSpec) -> Iterator[Derived]:
    """The plain call in each dtype of the spec, with every class of values, in several in every layout."""
    usual = usual_dtype(spec)
    others = "both" if is_pointwise(spec) else "all"
    for dtype in spec.dtypes:
        given, name = {}, spec.data.name if spec.data else ""
        if spec.data and spec.data.type.name == "ScalarType":
            given = {(name, "Optional"): (False,), (name, "Value"): (dtype,)}
        wish = Plain(spec, dtype, sizes=MANY_ROWS, given=given)
        layouts = "all" if dtype in IN_EVERY_LAYOUT else "as-written"
        yield from met(spec, f"dtype_{dtype}", wish, lambda metas: True,
                       values="all" if dtype == usual else others, layouts=layouts)  # fmt: skip


def usual_dtype(spec: OpSpec) -> str | None:
    return next((dtype for dtype in USUAL if dtype in spec.dtypes), None)


def given_tensors(spec: OpSpec) -> Iterator[Derived]:
    """Each tensor that the plain call leaves out, given."""
    for one in spec.arguments:
        wish = Plain(spec, given={(one.name, "Optional"): (False,)})
        if one.type.is_tensor and one.may_be_none and Plain(spec).is_none(one):
            yield from met(spec, f"given_{one.name}", wish, lambda metas: True, values="all", layouts="all")


def ranks(spec: OpSpec, first: Argument) -> Iterator[Derived]:
    for rank in RANKS:

        def holds(metas: Metas, rank: int = rank) -> bool:
            return len(shape_of(metas[first.name])) == rank

        layouts = "all" if rank in RANKS_IN_EVERY_LAYOUT else "as-written"
        yield from met(spec, f"rank_{rank}", Plain(spec, rank=rank, sizes=(2, 2, 3, 5, 7)), holds, layouts=layouts)


def ranks_of_others(spec: OpSpec, first: Argument) -> Iterator[Derived]:
    """Other ranks of a tensor beside the first in its plain shape, where `broadcasts` has none."""
    for other in _operands(spec) if _has_places(spec) else ():
        plain = _plain_shapes(spec, other)
        if other.type.name == "IndexTensor" or other is first or not {first.name, other.name} <= plain.keys():
            continue
        for rank in RANKS_OF_OTHERS:

            def holds(metas: Metas, name: str = other.name, plain: dict = plain, rank: int = rank) -> bool:
                shape = shape_of(metas[name])
                return shape is not None and len(shape) == rank != len(plain[name])

            given = shaped(first.name, plain[first.name]) | {(other.name, "Rank"): (rank,)}
            yield from met(spec, f"{other.name}_rank_{rank}", Plain(spec, given=given), holds)


def sizes(spec: OpSpec, first: Argument) -> Iterator[Derived]:
    """Sizes of the last dim of the first tensor, in one row or, where rows have results of their own, in three; of the
    last dims of other tensors that are free beside it."""
    for size in SIZES:
        plain = (Plain(spec, rank=rank, sizes=(2, 2, 3, size), integers=integers)
                 for rank in (1 if is_pointwise(spec) else 2, 3) for integers in ((2, 1, 0, 3), (1, 0)))  # fmt: skip
        wishes = itertools.chain(plain, of_last_sizes(spec, size))
        values = "all" if size == SPECIAL_SIZE and not is_pointwise(spec) else "typical"
        found = (met(spec, f"size_{size}", wish, lambda metas, size=size: shape_of(metas[first.name])[-1:] == (size,),
                     values=values) for wish in wishes)  # fmt: skip
        yield from itertools.islice(itertools.chain.from_iterable(found), 1)
    square = Plain(spec, sizes=(SQUARE,) * 4, free_size=SQUARE)
    yield from met(spec, "square", square, lambda metas: set(shape_of(metas[first.name])) == {SQUARE})
    for shape in WITHOUT_ELEMENTS:
        wish = Plain(spec, sizes=shape)
        yield from met(spec, f"shape_{text_of(shape)}", wish, lambda metas, s=shape: shape_of(metas[first.name]) == s)
    for other in _operands(spec):
        plain = _plain_shapes(spec, other)
        if other is not first and plain.get(other.name):
            yield from _sizes_of_another(spec, first.name, other.name, plain)


def _sizes_of_another(spec: OpSpec, first: str, other: str, plain: dict[str, Shape]) -> Iterator[Derived]:
    for size in SIZES_OF_OTHERS:
        shape = (*plain[other][:-1], size)
        given = shaped(other, shape) | shaped(first, plain[first])
        yield from met(spec, f"{other}_size_{size}", Plain(spec, given=given),
                       lambda metas, shape=shape: shape_of(metas[other]) == shape != plain[other])  # fmt: skip


def shaped(name: str, shape: Shape) -> dict[tuple[str, str], Any]:
    return {(name, "Optional"): (False,), (name, "Rank"): (len(shape),), (name, "Size"): shape}


def _operands(spec: OpSpec) -> list[Argument]:
    return [one for one in spec.arguments if one.type.is_tensor]


def _has_places(spec: OpSpec) -> bool:
    return any(one.type.name == "IndexTensor" for one in _operands(spec))


def _plain_shapes(spec: OpSpec, present: Argument, rank: int = 2, sizes: Shape = (2, 2, 5, 7)) -> dict[str, Shape]:
    """The shapes of the tensors of a plain call in which `present` is not None; {} where there is none."""
    wish = Plain(spec, rank=rank, sizes=sizes, given={(present.name, "Optional"): (False,)})
    try:
        plain = wished_tuple(spec, "plain", wish)
    except Contradiction:
        return {}
    shapes = {name: shape_of(meta) for name, meta in plain.arguments.items() if meta.type.is_tensor}
    return {name: shape for name, shape in shapes.items() if shape is not None}


def text_of(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "0d"


# --- Broadcasting -----------------------------------------------------------------------------------------------------


def broadcasts(spec: OpSpec) -> Iterator[Derived]:
    """Each operand in turn with each of its dims 1 or absent, and the first two with different dims of 1.

    An operand broadcasts where the result keeps its shape, whatever dims the operand gives up.
    """
    operands = _operands(spec)
    if len(operands) < 2 or _has_places(spec):
        return
    named: set[str] = set()
    for full, operand in itertools.product(BROADCAST_OF, operands):
        plain = _plain_shapes(spec, operand, len(full), (2, *full))
        if len(plain) < 2 or operand.name not in plain:
            continue
        result = _result_of(spec, plain)
        for shape in _reduced(plain[operand.name]):
            name = f"broadcast_{operand.name}_{text_of(shape)}_to_{text_of(plain[operand.name])}"
            name += f"_in_{text_of(result)}" if name in named else ""  # an operand may have fewer dims than the result
            named.add(name)
            yield from _broadcast(spec, name, plain | {operand.name: shape}, result)
    tensors = [one.name for one in operands if not one.may_be_none]
    for pair in BOTH_BROADCAST:
        for shapes in (pair, pair[::-1]) if len(tensors) > 1 else ():
            result = np.broadcast_shapes(*shapes)
            name = f"broadcast_{'_'.join(map(text_of, shapes))}"
            yield from _broadcast(spec, name, dict(zip(tensors, shapes, strict=False)), result)


def _reduced(shape: Shape) -> list[Shape]:
    """The shape with dims of 1 and without its first dims; not as it is."""
    found = [
        pick for start in range(len(shape) + 1) for pick in itertools.product(*[(size, 1) for size in shape[start:]])
    ]
    return [one for one in dict.fromkeys(found) if one != shape]


def _broadcast(spec: OpSpec, name: str, shapes: dict[str, Shape], result: Shape) -> Iterator[Derived]:
    """The call on operands of these shapes, if there is one and its result is of the shape."""
    given = {key: value for each, shape in shapes.items() for key, value in shaped(each, shape).items()}
    layouts = "all" if () in shapes.values() else "as-written"  # one element in a longer storage
    for one in met(spec, name, Plain(spec, rank=len(result), sizes=(1, *result), given=given),
                   lambda metas: all(shape_of(metas[each]) == shape for each, shape in shapes.items()),
                   layouts=layouts):  # fmt: skip
        if results(spec, one.tuple_.arguments)[0].shape in (result, ()):
            yield one


def _result_of(spec: OpSpec, shapes: dict[str, Shape]) -> Shape:
    """The shape of the result of operands that do not broadcast."""
    given = {key: value for each, shape in shapes.items() for key, value in shaped(each, shape).items()}
    found = wished_tuple(spec, "full", Plain(spec, given=given))
    return results(spec, found.arguments)[0].shape


# --- Type promotion ---------------------------------------------------------------------------------------------------


def promotions(spec: OpSpec) -> Iterator[Derived]:
    """Pairs of dtypes of the first two data tensors, either way round; a 0-d operand of a wider dtype, each in turn."""
    data = [one.name for one in _operands(spec) if not one.type.is_index and not one.may_be_none][:2]
    if len(data) < 2:
        return
    for pair in dict.fromkeys(each for one in PROMOTIONS for each in (one, one[::-1])):
        yield from _promotion(spec, f"promotes_{'_'.join(pair)}", dict(zip(data, pair, strict=True)), {})
    for (one, other), (dtype, wider) in itertools.product((data, data[::-1]), ZERO_DIM):
        shapes = shaped(one, (5, 7)) | shaped(other, ())
        yield from _promotion(spec, f"promotes_{dtype}_{other}_{wider}_0d", {one: dtype, other: wider}, shapes)


def promotions_of_numbers(spec: OpSpec) -> Iterator[Derived]:
    """A tensor beside a number of a higher category."""
    if spec.data is None or not spec.data.type.is_tensor:
        return
    defaults = {one.name for one in spec.schema.arguments if one.has_default}
    numbers = [one.name for one in spec.arguments if one.type.is_number and one.name not in defaults]
    for number, (dtype, kind) in itertools.product(numbers, OF_NUMBERS):
        yield from _promotion(spec, f"promotes_{dtype}_{number}_{kind}", {spec.data.name: dtype, number: kind}, {})


def _promotion(
    spec: OpSpec, name: str, dtypes: dict[str, str], shapes: dict[tuple[str, str], Any]
) -> Iterator[Derived]:
    """The call with these dtypes, by argument."""
    given = {(each, "Dtype"): (dtype,) for each, dtype in dtypes.items()} | shapes
    wanted = {each: shape for (each, attribute), shape in shapes.items() if attribute == "Size"}
    for one in met(spec, name, Plain(spec, next(iter(dtypes.values())), given=given), lambda metas: True, values="all"):
        metas = one.tuple_.arguments
        has_shapes = all(metas[each].shape == shape for each, shape in wanted.items())
        if has_shapes and {each: metas[each].dtype for each in dtypes} == dtypes:
            yield one
