"""What the core suite, written and derived, shows of every overload, read off its tests without running one.

What an overload can have is no list here: it is what valid tuples of its spec have, drawn at random. Another name of an
op has its dtypes alone: what the kit knows of it is what it knows of the op.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from conform.call import binding, schemas
from conform.call.arguments import Arguments, is_tensor, tensors
from conform.domains.engine.meta_tuple import InvalidTuples, MetaTuple, invalid_tuples, results, valid_tuples
from conform.domains.specs import OpSpec, spec_of, specs
from conform.interp import semantics
from conform.numerics.formats import format_of
from conform.suites import load
from conform.suites.cases import Draw, Selection, draws, resolved_op
from conform.suites.derived.cost import MOST_ROWS
from conform.suites.derived.targets import RANKS, SIZES
from conform.suites.filters import may_match_op
from tests.every_spec import every_spec, every_spec_of_no_alias
from tests.suites.sizes import admits

pytestmark = pytest.mark.one_in(4)

TUPLES = 64  # of each spec, of which one at least has what is possible
Shapes = dict[str, tuple[int, ...]]


def test_every_overload_with_a_meaning_has_a_spec_from_which_tests_are_derived() -> None:
    assert {one.name for one in specs()} == set(semantics.names())


# --- What the tests show ----------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What the valid calls of one overload show.

    dtypes: of its data; shapes: of tensors by argument, call by call; values: of other arguments, by name; broken: the
    constraints that calls which must be refused break.
    """

    dtypes: set[str] = field(default_factory=set)
    shapes: list[Shapes] = field(default_factory=list)
    values: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    broken: set[str] = field(default_factory=set)


@functools.cache
def seen(op: str) -> Seen:
    """What the tests of the core suite show of an overload."""
    found = Seen()
    for test in load(["core"], ops=[op]).tests:
        if test.domain and test.domain.broken:
            found.broken |= {test.domain.broken} if test.op_name == op else set()
        elif may_match_op(test.op_name, [op]):
            for draw in draws(test, Selection()):
                _see(draw, op, found)
    return found


def _see(draw: Draw, op: str, found: Seen) -> None:
    arguments = draw.outline()
    if resolved_op(draw.test, arguments) != op:
        return
    bound = binding.bind(schemas.schema(op), arguments.args, arguments.kwargs, is_tensor)
    data = spec_of(op).data
    if data:
        given = tensors(Arguments([bound[data.name]]))
        found.dtypes.add(format_of(given[0]).name if given else str(bound[data.name]))
    of_tensors = {name: tensors(Arguments([value])) for name, value in bound.items()}
    found.shapes.append({name: several[0].shape for name, several in of_tensors.items() if several})
    for name, value in bound.items():
        found.values[name].add("tensor" if of_tensors[name] else repr(value))


@functools.cache
def possible(spec: OpSpec) -> list[MetaTuple]:
    return list(itertools.islice(valid_tuples(spec, 0), TUPLES))


def shapes_of(one: MetaTuple) -> Shapes:
    """By tensor; of a list, that of the first."""
    lists = {name: meta.structure[:1] for name, meta in one.arguments.items() if meta.type.is_tensor_list}
    single = {name: (meta,) for name, meta in one.arguments.items() if meta.type.is_tensor}
    return {name: each.shape for name, metas in (single | lists).items() for each in metas if not each.is_none}


def lacking(wanted: set[Any], found: set[Any]) -> set[Any]:
    return wanted - found


# --- dtypes, ranks, sizes ---------------------------------------------------------------------------------------------


@every_spec
def test_every_dtype_of_the_spec(spec: OpSpec) -> None:
    assert spec.data is None or lacking(set(spec.dtypes), seen(spec.name).dtypes) == set()


@every_spec_of_no_alias
def test_every_rank_that_is_possible(spec: OpSpec) -> None:
    ranks = of_first(spec, len)
    assert lacking(ranks, {len(shape) for shape in shown(spec)}) == set()


@every_spec_of_no_alias
def test_every_size_at_which_kernels_change(spec: OpSpec) -> None:
    """Of the last dim of the first tensor, where that is free, as far as the spec allows that dim by itself, and a
    system of so many rows is solved exactly in a moment."""
    last = of_first(spec, lambda shape: shape[-1] if shape else None) - {None}
    free = set(SIZES) - {0, 1} if len(last - {0, 1}) > 2 else set()
    ranks = of_first(spec, len) - {0} if free else set()
    if semantics.traits_of(spec.name).matrices:
        free = {size for size in free if size <= MOST_ROWS}
    wanted = ({0, 1} & last) | {size for size in free if admits(spec.first_tensor, size, ranks)}
    assert lacking(wanted, {shape[-1] for shape in shown(spec) if shape}) == set()


def of_first(spec: OpSpec, property_: Callable[[tuple[int, ...]], Any]) -> set[Any]:
    """A property of the first tensor's shape in all tuples."""
    first = spec.first_tensor
    shapes = [shapes_of(one) for one in possible(spec)] if first else []
    return {property_(those[first.name]) for those in shapes if first.name in those}  # a list may have no tensor


def shown(spec: OpSpec) -> list[tuple[int, ...]]:
    first = spec.first_tensor
    return [shapes[first.name] for shapes in seen(spec.name).shapes if first and first.name in shapes]


# --- Broadcasting -----------------------------------------------------------------------------------------------------


@every_spec_of_no_alias
def test_each_operand_that_broadcasts_has_each_dim_once_as_1_and_once_absent(spec: OpSpec) -> None:
    """Beside a full operand or result of rank 2, and of rank 3 where the op takes one."""
    for name in broadcasting(spec):
        patterns = {pattern(shapes, name) for shapes in seen(spec.name).shapes if name in shapes}
        ranks = [rank for rank in (2, 3) if rank in {len(full(shapes_of(one))) for one in possible(spec)}]
        for rank in ranks:
            one_dim = {tuple("1" if d == k else "n" for d in range(rank)) for k in range(rank)}
            wanted = one_dim | {("1",) * rank} | {("n",) * k for k in range(rank + 1)}
            assert lacking({(rank, each) for each in wanted}, patterns) == set(), name


def broadcasting(spec: OpSpec) -> set[str]:
    """The operands of pointwise overloads that have other shapes than the result in some tuple, but those that are
    numbers in every tuple: these have no dims of which one could be 1."""
    meaning = semantics.find(spec.name)
    if not meaning.traits.pointwise or len([one for one in spec.arguments if one.type.is_tensor]) < 2:
        return set()
    found, with_dims = set(), set()
    for one in possible(spec):
        result = results(spec, one.arguments)[0].shape
        found |= {name for name, shape in shapes_of(one).items() if shape != result}
        with_dims |= {name for name, shape in shapes_of(one).items() if shape}
    return found & with_dims


def full(shapes: Shapes) -> tuple[int, ...]:
    """The shape to which they broadcast, nearly: the largest."""
    return max(shapes.values(), key=lambda shape: (len(shape), shape), default=())


def pattern(shapes: Shapes, name: str) -> tuple[int, tuple[str, ...]]:
    """The rank of the full shape, and of the operand each dim: "1", or "n" where it is longer."""
    return len(full(shapes)), tuple("1" if size == 1 else "n" for size in shapes[name])


# --- Keywords and refusals --------------------------------------------------------------------------------------------


@every_spec_of_no_alias
def test_every_member_of_a_discrete_keyword(spec: OpSpec) -> None:
    """None and not None, False and True, every string and dtype that tuples have."""
    for one in spec.arguments:
        metas = [each.arguments[one.name] for each in possible(spec)]
        wanted = {repr(None) for meta in metas if meta.optional and not one.type.is_list}
        if one.type.name in ("Bool", "String", "ScalarType"):
            wanted |= {repr(meta.structure) for meta in metas if not meta.optional}
        elif one.type.is_tensor and not all(meta.optional for meta in metas):
            wanted |= {"tensor"}
        assert lacking(wanted, seen(spec.name).values[one.name]) == set(), one.name


@every_spec_of_no_alias
def test_every_constraint_whose_violation_must_be_refused(spec: OpSpec) -> None:
    """But for those that no tuple breaks, or that are broken where a backend may accept it."""
    broken = invalid_tuples(spec, 0)
    strict = {str(one.broken) for one in rounds(broken, len(spec.constraints)) if one.lenience is None}
    assert lacking(strict, seen(spec.name).broken) == set()


def rounds(tuples: InvalidTuples, count: int) -> list[MetaTuple]:
    return list(itertools.islice(tuples, 2 * count))


def test_the_ranks_and_sizes_are_those_that_the_documentation_names() -> None:
    assert (RANKS, SIZES) == ((0, 1, 3, 4, 5), (0, 1, 31, 32, 33, 129, 1031))
