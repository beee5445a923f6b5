"""The spec of one overload: its arguments with their constraints, and its results."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cached_property

from conform.call import schemas
from conform.domains.engine.arguments import Argument
from conform.domains.engine.attribute import Draft
from conform.domains.engine.constraints import Constraint, Dtype, Value
from conform.domains.engine.coverage import Coverage
from conform.domains.engine.meta_argument import MetaArgument, MetaArgumentEngine
from conform.domains.engine.spaces import Intervals
from conform.domains.engine.variables import WHOLE, Contradiction
from conform.numerics.draws import Stream

# Arguments that say where or how a result is stored, not what it is: specs may leave them out, at their defaults.
WITHOUT_MEANING = frozenset({"device", "layout", "pin_memory", "non_blocking", "memory_format", "sparse_grad",
                             "implicit", "generator"})  # fmt: skip
_PAIRED_OF_KEYWORDS = ("Optional", "Dtype", "Length", "Rank", "Value")
_TUPLES_FOR_KEYWORDS = 6
_TUPLES_FOR_HOLDERS = 48  # most of which have shapes or dtypes that do not fit
_PYTHON_DTYPES = {"bool": "bool", "int": "int64", "float": "float32", "complex": "complex64"}


class OpSpec:
    """The domain of one overload, `aten::name.overload`.

    arguments: in the schema's order; results: what the outputs are, in their order; holder: what the argument of its
    name must be besides, to hold the result. ValueError, naming the place, where a constraint depends on something
    unknown or on itself, or the schema has other arguments.
    """

    def __init__(
        self, name: str, arguments: Sequence[Argument], results: Sequence[Argument] = (), holder: Argument | None = None
    ) -> None:
        self.name = name
        self.arguments = tuple(arguments)
        self.results = tuple(results)
        self.holder = holder
        self.schema = schemas.schema(name)
        try:
            _check_schema(self.schema, self.arguments)
            self.order = _in_order_of_dependencies(self.arguments)
            self.engines = {one.name: self._engine(one) for one in self.arguments}
            names = tuple(self.engines)
            _check_leniences(self.constraints, names)
            self.result_engines = tuple(MetaArgumentEngine(one, names) for one in self.results)
            self.checks = [(one, self.engines[one.name]) for one in self.order]
            self.checks += [(holder, MetaArgumentEngine(holder, names))] if holder else []
        except ValueError as error:
            raise ValueError(f"spec of {name}: {error}") from None

    def _engine(self, one: Argument) -> MetaArgumentEngine:
        declared = {argument.name: argument for argument in self.schema.arguments}[one.name]
        default = (declared.default,) if declared.has_default else ()
        is_keyword = declared.kwarg_only or declared.has_default
        paired = _PAIRED_OF_KEYWORDS if is_keyword else ("Optional", "Dtype") if one is self.data else ("Optional",)
        return MetaArgumentEngine(one, [other.name for other in self.arguments], paired, default)

    @cached_property
    def data(self) -> Argument | None:
        """The argument whose dtype is the case's: the first data tensor, else the dtype argument, else a tensor of
        indices."""
        data = [one for one in self.arguments if _is_data(one)]
        named = [one for one in self.arguments if one.type.name == "ScalarType"]
        indices = [one for one in self.arguments if one.type.is_tensor]
        return next(iter([*data, *named, *indices]), None)

    @cached_property
    def first_tensor(self) -> Argument | None:
        """The tensor that is made first, whose shape the others follow."""
        return next((one for one in self.order if one.type.is_tensor or one.type.is_tensor_list), None)

    @cached_property
    def first_list(self) -> Argument | None:
        """The first list of tensors."""
        return next((one for one in self.arguments if one.type.is_tensor_list), None)

    @cached_property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes that all data tensors can have together, whatever the keywords; without data tensors, those of the
        dtype argument, or those that the Python numbers stand for."""
        if self.data is None:
            return self._dtypes_of_numbers()
        return tuple(dtype for dtype in WHOLE[self.data.type.dtypes].members if self._is_possible(dtype))

    @cached_property
    def index_arguments(self) -> tuple[str, ...]:
        """Names of indices and masks, which never take special values."""
        return tuple(one.name for one in self.arguments if one.type.is_index)

    @cached_property
    def nonzero_integers(self) -> tuple[str, ...]:
        """Names of integer divisors: 0, and the smallest integer over -1, are kept out of their special values."""
        return tuple(one.name for one in self.arguments if any(each.is_divisor for each in one.constraints))

    @cached_property
    def typical_values(self) -> dict[str, Intervals | tuple[int, ...]]:
        """By tensor, where its elements preferably lie, or the few that they preferably are: others are taken as well,
        but give results that are all alike."""
        return {
            one.name: each.value
            for one in self.arguments if one.type.is_tensor or one.type.is_tensor_list
            for each in one.constraints if (each.attribute, each.suffix) == ("Value", "Be")
        }  # fmt: skip

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Every constraint on the arguments, in order."""
        held = self.holder.constraints if self.holder else ()
        return (*(each for one in self.arguments for each in one.constraints), *held)

    def pins(self, dtype: str, every: bool = False) -> dict[str, Constraint]:
        """What restricts the data argument, or `every` data tensor that may have it, to a dtype."""
        alike = [one for one in self.arguments if _is_data(one) and dtype in WHOLE[one.type.dtypes]]
        wanted = [one for one in self.arguments if one is self.data or every and one in alike]
        return {one.name: _pin(one, dtype) for one in wanted}

    def generate(self, draft: Draft) -> dict[str, MetaArgument]:
        """A meta argument for each argument, in the schema's order."""
        scope, metas = draft.scope, {}
        draft.coverage.begin()
        for one in self.order:
            meta = self.engines[one.name].generate(draft)
            metas[one.name] = meta
            scope[one.name] = meta.view
        if self.holder is not None:
            self._hold(metas[self.holder.name], draft)
        return {one.name: metas[one.name] for one in self.arguments}

    def _hold(self, meta: MetaArgument, draft: Draft) -> None:
        """Contradiction where the argument cannot hold the result of the draft, unless that is what it is to break."""
        _, engine = self.checks[-1]
        broken = engine.violations(meta, draft.scope)
        if any(one is draft.to_break for one in broken):
            draft.to_break = None
            broken = broken[1:]
        if broken:
            raise Contradiction(f"the result does not fit: {broken[0]}")

    def _is_possible(self, dtype: str) -> bool:
        """Whether a few tuples, enough to have every keyword's values, can have all data in the dtype; where one
        holds the result, whether any of some more can."""
        coverage, pins = Coverage(), self.pins(dtype, every=True)
        if self.holder is not None:
            return any(self._can_be(pins, number, coverage) for number in range(_TUPLES_FOR_HOLDERS))
        return all(self._can_be(pins, number, coverage) for number in range(_TUPLES_FOR_KEYWORDS))

    def _can_be(self, pins: dict[str, Constraint], number: int, coverage: Coverage) -> bool:
        draft = Draft(coverage, lambda label: Stream(0, self.name, number, label))
        draft.pins = pins
        try:
            self.generate(draft)
        except Contradiction:
            return False
        return True

    def _dtypes_of_numbers(self) -> tuple[str, ...]:
        kinds = [kind for one in self.arguments if one.type.is_number for kind in self.engines[one.name].constant_kinds]
        return tuple(dict.fromkeys(_PYTHON_DTYPES[kind] for kind in kinds))


def _is_data(one: Argument) -> bool:
    return (one.type.is_tensor or one.type.is_tensor_list) and not one.type.is_index


def _pin(one: Argument, dtype: str) -> Constraint:
    attribute = Value if one.type.name == "ScalarType" else Dtype
    return attribute.Eq(dtype, text=f"{one.name} is to be {dtype}")


def _check_schema(declared: schemas.OpSchema, arguments: Sequence[Argument]) -> None:
    """ValueError unless the arguments are those of the schema, in its order, but for those without meaning."""
    given = {one.name for one in arguments}
    expected = [one for one in declared.arguments if one.name in given or one.name not in WITHOUT_MEANING]
    names, wanted = [one.name for one in arguments], [one.name for one in expected]
    if names != wanted:
        raise ValueError(f"found the arguments {', '.join(names)}, expected {', '.join(wanted)}: {declared}")
    for mine, its in zip(arguments, expected, strict=True):
        mine.check_against(its)


def _check_leniences(constraints: Sequence[Constraint], names: Sequence[str]) -> None:
    """ValueError where a constraint is lenient on a condition of what is no argument."""
    for constraint in constraints:
        where = constraint.lenient_where
        unknown = [name for name in inspect.signature(where).parameters if name not in names] if where else []
        if unknown:
            raise ValueError(f"{constraint}: lenient where {unknown[0]!r}, expected one of {', '.join(names)}")


def _in_order_of_dependencies(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """The arguments, each after those that it depends on. ValueError for a cycle, with the names around it."""
    by_name = {one.name: one for one in arguments}
    ordered: list[Argument] = []

    def visit(one: Argument, path: tuple[str, ...]) -> None:
        if one.name in path:
            cycle = [*path[path.index(one.name) :], one.name]
            raise ValueError(f"arguments depend on each other in a cycle: {' -> '.join(cycle)}")
        if one in ordered:
            return
        for name in dict.fromkeys(name for each in one.constraints for name in _others(one, each)):
            if name in by_name:
                visit(by_name[name], (*path, one.name))
        ordered.append(one)

    for one in arguments:
        visit(one, ())
    return tuple(ordered)


def _others(one: Argument, constraint: Constraint) -> list[str]:
    own = one.type.own_structure(constraint.attribute)
    return [name for name in constraint.dependencies if name not in (*own, "", one.name)]
