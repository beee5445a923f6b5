"""Calls of ops of lists that mean another op of each tensor: what lists add to that op, which has tests of its own.

How many tensors there are, of which sizes, ranks and dtypes beside each other, and what stands in the same place of
other lists; each dtype, kind of number and value of a keyword once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from conform.domains.engine.arguments import Argument
from conform.domains.engine.attribute import Draft
from conform.domains.engine.coverage import Place
from conform.domains.engine.generator import ANY_COUNT, Limits
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.meta_tuple import wished_tuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import Discrete, Space
from conform.domains.engine.variables import Contradiction
from conform.suites.derived.keywords import NUMBERS
from conform.suites.derived.plain import Plain, argument_of
from conform.suites.derived.refusals import of_refusals
from conform.suites.derived.targets import BOTH_BROADCAST, PROMOTIONS, Derived, Metas, Shape, usual_dtype

MEMBERS: tuple[Shape, ...] = ((2, 3, 37), (5, 7), (33,))
MATRICES: tuple[Shape, ...] = ((3, 37), (5, 7), (33, 1))  # where all ranks are 2
SHAPES: Mapping[str, tuple[Shape, ...]] = {
    "tensors_1": ((5, 7),),
    "tensors_40": tuple((2 + number % 4, 1 + number % 3) for number in range(40)),  # more than one launch takes
    "one_without_elements": ((5, 7), (0, 3), (4, 2)),
    "none_with_elements": ((0,), (3, 0)),
    "long_among_short": ((3, 1), (1, 4099), (2, 2)),
    "ranks": ((), (3,), (2, 1), (2, 1, 3), (2, 2, 1, 3), (1, 2, 1, 2, 3)),
}
LARGE: Mapping[str, tuple[Shape, ...]] = {
    "tensors_400": tuple((2 + number % 4, 1 + number % 3) for number in range(400)),
    "long_among_short_100003": ((3, 1), (1, 100_003), (2, 2)),
    "chunks": ((1, 65_537), (2, 2), (1, 131_072), (1, 65_535)),  # around what a block of a kernel takes
}
IN_EVERY_LAYOUT = "ranks"  # a 0-d tensor may be one element of a longer storage
KINDS = ("int", "float", "complex")
DRAWS = 24  # of a number that a spec gives itself, one of a dozen


@dataclass(frozen=True)
class Lists:
    """The wish for lists of tensors of these shapes, place by place, by argument where one has others; dtypes: by
    argument, in turn; kinds: of numbers; given: as of `Plain`."""

    spec: OpSpec
    shapes: Sequence[Shape]
    dtype: str = "float32"
    others: Mapping[str, Sequence[Shape]] = field(default_factory=dict)
    dtypes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    given: Mapping[tuple[str, str], Sequence[Any]] = field(default_factory=dict)

    def __call__(self, place: Place, space: Space | None, preferred: Sequence[Any], draft: Draft) -> Sequence[Any]:
        plain = Plain(self.spec, self.dtype, given=self.given)
        one = argument_of(self.spec, place)
        if place.attribute == "Length":
            return (len(self.shapes),)
        if place.attribute == "Dtype" and (one.type.is_number or one.type.is_number_list) and self.kinds:
            return self.kinds
        if not one.type.is_tensor_list:
            return plain(place, space, preferred, draft)
        return self._of_tensor(one, place.attribute, space, draft) or plain(place, space, preferred, draft)

    def _of_tensor(self, one: Argument, attribute: str, space: Space | None, draft: Draft) -> Sequence[Any]:
        shape = self.others.get(one.name, self.shapes)[draft.scope["#i"]]
        if attribute == "Dtype" and one.name in self.dtypes:
            dtypes = self.dtypes[one.name]
            return (dtypes[draft.scope["#i"] % len(dtypes)],)
        if attribute == "Rank":
            return (len(shape),)
        return shape[draft.scope["#d"] :][:1] if attribute == "Size" and _is_free(space, shape, draft) else ()


def _is_free(space: Space | None, shape: Shape, draft: Draft) -> bool:
    """Whether the size may be the shape's; one that another tensor determines may not."""
    d = draft.scope["#d"]
    return d < len(shape) and (not isinstance(space, Discrete) or shape[d] in space.members)


def of_members(spec: OpSpec) -> Iterator[Derived]:
    """The calls of the op in the core suite."""
    usual = usual_dtype(spec)
    for dtype in spec.dtypes:
        layouts = "all" if dtype == usual else "as-written"
        wish = Lists(spec, _shapes(spec, MEMBERS), dtype)
        yield from _met(spec, f"dtype_{dtype}", wish, values="both", layouts=layouts)
    yield from _of_shapes(spec, SHAPES)
    yield from _beside_each_other(spec)
    yield from _of_dtypes(spec)
    yield from _of_numbers(spec)
    yield from of_refusals(spec, spec.arguments)


def _met(
    spec: OpSpec, name: str, wish: Lists, holds: Callable[[Metas], bool] = lambda _: True, **axes: str
) -> Iterator[Derived]:
    """The call that the wish gives, however long, if it is what was wished for."""
    try:
        found = wished_tuple(spec, name, wish, Limits(largest=ANY_COUNT))
    except Contradiction:
        return
    if holds(found.arguments):
        yield Derived(name, found, **axes)


def of_large_lists(spec: OpSpec) -> Iterator[Derived]:
    """Those of the suite `scale`: more tensors, and larger ones."""
    yield from _of_shapes(spec, SHAPES | LARGE)


def _of_shapes(spec: OpSpec, named: Mapping[str, Sequence[Shape]]) -> Iterator[Derived]:
    for name, shapes in named.items():
        wish = Lists(spec, _shapes(spec, shapes), usual_dtype(spec))
        layouts = "all" if name == IN_EVERY_LAYOUT else "as-written"
        holds = partial(_are, name=spec.first_list.name, shapes=wish.shapes)
        yield from _met(spec, name, wish, holds, layouts=layouts)


def _shapes(spec: OpSpec, shapes: Sequence[Shape]) -> Sequence[Shape]:
    """The shapes, where the op takes tensors of any rank, else of matrices."""
    first = spec.first_list
    is_of_matrices = any(one.suffix == "Eq" and one.value == 2 for one in first.constraints_on("Rank"))
    if not is_of_matrices:
        return shapes
    return MATRICES if shapes is MEMBERS else [shape for shape in shapes if len(shape) == 2]


def _lists(spec: OpSpec) -> list[str]:
    return [one.name for one in spec.arguments if one.type.is_tensor_list]


def _beside_each_other(spec: OpSpec) -> Iterator[Derived]:
    """Tensors that broadcast with those in their places, either way round, and where one alone does."""
    for other in _lists(spec)[1:2]:
        for name, pairs in (("broadcast", BOTH_BROADCAST), ("broadcast_back", [pair[::-1] for pair in BOTH_BROADCAST])):
            mine, its = zip(*pairs, strict=True)
            wish = Lists(spec, mine, usual_dtype(spec), others={other: its})
            yield from _met(spec, name, wish, lambda metas, its=its, other=other: _are(metas, other, its))
        wish = Lists(spec, [(4, 3)] * 3, usual_dtype(spec), others={other: [(4, 3), (3,), ()]})
        yield from _met(spec, "broadcast_one", wish, lambda metas, other=other: _are(metas, other, [(4, 3), (3,), ()]))


def _are(metas: Metas, name: str, shapes: Sequence[Shape]) -> bool:
    return [one.shape for one in metas[name].structure] == list(shapes)


def _of_dtypes(spec: OpSpec) -> Iterator[Derived]:
    """Every dtype in one list; in two, those that are promoted to a common one, either way round."""
    lists = _lists(spec)
    every = list(spec.dtypes)
    alike = dict.fromkeys(lists, every)
    yield from _met(spec, "every_dtype", Lists(spec, _many(spec, len(every)), dtypes=alike))
    pairs = [pair for pair in PROMOTIONS if set(pair) <= set(every)]
    for name, (mine, its) in {"promotes": (0, 1), "promotes_back": (1, 0)}.items() if len(lists) > 1 and pairs else ():
        dtypes = {one: [pair[its if number else mine] for pair in pairs] for number, one in enumerate(lists)}
        wish = Lists(spec, _many(spec, len(pairs)), dtypes=dtypes)
        yield from _met(spec, name, wish, lambda metas, dtypes=dtypes: _have(metas, dtypes))


def _many(spec: OpSpec, count: int) -> Sequence[Shape]:
    return _shapes(spec, [(2 + number % 3, 3) for number in range(count)])


def _have(metas: Metas, dtypes: Mapping[str, Sequence[str]]) -> bool:
    return all([one.dtype for one in metas[name].structure] == list(wanted) for name, wanted in dtypes.items())


def _of_numbers(spec: OpSpec) -> Iterator[Derived]:
    """Numbers of every kind beside every dtype that takes them; each interesting value of a number that all have; a
    0-d tensor of each dtype; each dtype that is named."""
    for one in spec.arguments:
        if one.type.is_number or one.type.is_number_list:
            for kind in KINDS:
                yield from _of_kind(spec, one, kind)
        if one.type.is_number:
            yield from (_of_given_values if spec.engines[one.name].values.is_given else _of_values)(spec, one)
        if one.type.is_tensor or one.type.name == "ScalarType":
            yield from _of_one_dtype(spec, one)


def _of_kind(spec: OpSpec, one: Argument, kind: str) -> Iterator[Derived]:
    """Of the dtypes that a number of the kind may stand beside, all; else the usual one."""
    every = {name: list(spec.dtypes) for name in _lists(spec)}
    for dtypes in (every, {}):
        count = len(spec.dtypes) if dtypes else 3
        wish = Lists(spec, _many(spec, count), usual_dtype(spec), dtypes=dtypes, kinds=(kind,))
        found = list(_met(spec, f"{one.name}_{kind}", wish, lambda metas: _kinds(metas[one.name]) == {kind}))
        if found:
            yield from found
            return


def _kinds(meta: MetaArgument) -> set[str]:
    return {each.dtype for each in (meta.structure if meta.type.is_number_list else [meta])}


def _of_values(spec: OpSpec, one: Argument) -> Iterator[Derived]:
    for kind in (int, float):
        for value in NUMBERS[kind]:
            given = {(one.name, "Dtype"): (kind.__name__,), (one.name, "Value"): (value,)}
            wish = Lists(spec, _many(spec, 3), usual_dtype(spec), given=given)
            yield from _met(spec, f"{one.name}={value}", wish, partial(_is, one.name, kind.__name__, value))


def _of_given_values(spec: OpSpec, one: Argument) -> Iterator[Derived]:
    """The numbers that the spec gives in a few draws, each once."""
    seen = set()
    for number in range(DRAWS):
        wish = Lists(spec, _many(spec, 3), usual_dtype(spec), kinds=KINDS[number % 2 :])
        for found in _met(spec, f"{one.name}.{number}", wish):
            value = found.tuple_.arguments[one.name].value
            if str(value) not in seen:
                seen.add(str(value))
                yield replace(found, name=f"{one.name}={value}")


def _is(name: str, kind: str, value: float, metas: Metas) -> bool:
    return (metas[name].dtype, metas[name].value) == (kind, value)


def _of_one_dtype(spec: OpSpec, one: Argument) -> Iterator[Derived]:
    attribute = "Value" if one.type.name == "ScalarType" else "Dtype"
    for dtype in spec.dtypes:
        given = {(one.name, attribute): (dtype,), (one.name, "Optional"): (False,)}
        wish = Lists(spec, _many(spec, 3), usual_dtype(spec), given=given)
        yield from _met(spec, f"{one.name}={dtype}", wish, partial(_is_of, one.name, dtype))


def _is_of(name: str, dtype: str, metas: Metas) -> bool:
    meta = metas[name]
    return (meta.dtype if meta.type.is_tensor else meta.structure) == dtype
