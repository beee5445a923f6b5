"""The meta-tuple engine: sequences of valid tuples, and of tuples that break exactly one constraint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conform.domains.engine.arguments import Argument
from conform.domains.engine.attribute import Draft, Wish, no_wish
from conform.domains.engine.constraints import Constraint
from conform.domains.engine.coverage import Coverage, Place
from conform.domains.engine.generator import ANY_COUNT, Limits, Target
from conform.domains.engine.meta_argument import MetaArgument, tensor_metas
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.variables import Contradiction
from conform.numerics.draws import Stream

OCCASIONS = 240  # tuples in which a constraint is tried to be broken before it counts as unreachable
STEERED = 24  # of them; the others choose evenly, so that what is rare comes
LIMITS = Limits()


class MetaTuple:
    """The meta arguments of one call, by name in the schema's order.

    number: which of its sequence; omitted: arguments that are left to the schema's default; broken: the constraint that
    the tuple breaks, None if it is valid.
    """

    __slots__ = ("arguments", "broken", "number", "omitted", "op")

    def __init__(
        self,
        op: str,
        number: int,
        arguments: Mapping[str, MetaArgument],
        omitted: frozenset[str] = frozenset(),
        broken: Constraint | None = None,
    ) -> None:
        self.op, self.number, self.arguments, self.omitted, self.broken = op, number, arguments, omitted, broken

    @property
    def lenience(self) -> str | None:
        """Why an implementation may accept the call, though it breaks a constraint; None where it must refuse it."""
        views = {name: meta.view for name, meta in self.arguments.items()}
        return self.broken.lenience if self.broken and self.broken.is_lenient_for(views) else None

    def __str__(self) -> str:
        parts = [f"{name}={meta}" for name, meta in self.arguments.items() if name not in self.omitted]
        broken = f"    breaks {self.broken}" if self.broken else ""
        return f"{self.op}({', '.join(parts)}){broken}"

    __repr__ = __str__


def valid_tuples(
    spec: OpSpec,
    seed: int,
    *,
    dtype: str | None = None,
    every: bool = False,
    coverage: Coverage | None = None,
    limits: Limits = LIMITS,
) -> Iterator[MetaTuple]:
    """Endless valid tuples of the op; with `dtype`, those whose first data tensor (or dtype argument) has it, or
    whose `every` data tensor has.

    `coverage` is what steers them: a new one, or one that the caller watches; `limits` says how large they are.
    Contradiction where the spec's constraints cannot all hold, or not in that dtype.
    """
    coverage, number, missed = coverage or Coverage(), 0, 0
    while True:
        draft = _draft(spec, seed, number=number, coverage=coverage, sequence="valid", dtype=dtype, every=every)
        draft.limits = limits
        try:
            metas = spec.generate(draft)
        except Contradiction:
            missed += 1
            if spec.holder is None or missed == OCCASIONS:
                raise
        else:
            missed = 0
            yield MetaTuple(spec.name, number, metas, _omitted(spec, metas, draft))
        number += 1


class InvalidTuples(Iterator[MetaTuple]):
    """Tuples that break exactly one constraint each, going round through the constraints.

    unreachable: constraints that no tuple of `OCCASIONS` broke, with the reason, as far as the sequence has come. The
    sequence ends if there is no other.
    """

    def __init__(self, spec: OpSpec, seed: int, *, dtype: str | None = None) -> None:
        self.unreachable: list[tuple[Constraint, str]] = []
        self._spec, self._seed, self._dtype = spec, seed, dtype
        self._coverage = Coverage()
        self._waiting = [one for one in spec.constraints if one.suffix not in ("Be", "Gen")]
        self._repeated = [each for one in spec.arguments for each in one.constraints if _is_repeated(one, each)]
        self._number = self._tried = 0

    def __next__(self) -> MetaTuple:
        while self._waiting:
            constraint = self._waiting.pop(0)
            found = self._breaking(constraint)
            if found is not None:
                self._waiting.append(constraint)
                return found
        raise StopIteration

    def _breaking(self, constraint: Constraint) -> MetaTuple | None:
        """A tuple that breaks the constraint; None, and a line in `unreachable`, if there is none."""
        reason = "there was no occasion to break it"
        is_repeated = constraint in self._repeated
        for occasion in range(OCCASIONS):
            coverage = self._coverage if occasion < STEERED else Coverage()
            draft = _draft(
                self._spec, self._seed, number=self._tried, coverage=coverage, sequence="invalid", dtype=self._dtype
            )
            draft.to_break, draft.spared = constraint, draft.dice.below(3) if is_repeated and occasion % 2 == 0 else 0
            self._tried += 1
            found = _breaking(self._spec, draft, constraint, self._number)
            if isinstance(found, MetaTuple):
                self._number += 1
                return found
            reason = found or reason
        self.unreachable.append((constraint, reason))
        return None


def _breaking(spec: OpSpec, draft: Draft, constraint: Constraint, number: int) -> MetaTuple | str:
    """The draft as a tuple, which shall break the constraint; else why it cannot, "" where there was no occasion."""
    try:
        metas = spec.generate(draft)
    except Contradiction as error:
        return str(error)
    except (LookupError, ArithmeticError, TypeError, ValueError) as error:
        if draft.to_break is constraint:
            raise  # nothing is broken yet: the spec is wrong
        return f"the constraints that depend on it have no meaning then: {error}"
    if draft.to_break is not None:
        return ""
    return MetaTuple(spec.name, number, metas, _omitted(spec, metas, draft), constraint)


def _is_repeated(one: Argument, constraint: Constraint) -> bool:
    """Whether a constraint is one on each size, or on each element of a list."""
    return constraint.attribute == "Size" or one.type.is_list and constraint.attribute != "Length"


def invalid_tuples(spec: OpSpec, seed: int, *, dtype: str | None = None) -> InvalidTuples:
    """Tuples that break exactly one constraint each, which they carry as `broken`."""
    return InvalidTuples(spec, seed, dtype=dtype)


def wished_tuple(spec: OpSpec, label: str, wish: Wish, limits: Limits = LIMITS) -> MetaTuple:
    """The valid tuple that comes of wishes, and where they leave something open of `label`: the same whatever other
    tuples there are. Contradiction where what was wished for one argument leaves nothing for another."""
    draft = _wishing(spec, 0, label, wish, Coverage())
    draft.limits = limits
    metas = spec.generate(draft)
    return MetaTuple(spec.name, 0, metas, _omitted(spec, metas, draft))


def wished_breaches(spec: OpSpec, constraint: Constraint, label: str, wish: Wish) -> Iterator[MetaTuple]:
    """Tuples that break this constraint and no other and are else as wished, as far as `OCCASIONS` tries have any."""
    repeated = any(_is_repeated(one, each) for one in spec.arguments for each in one.constraints if each is constraint)
    coverage = Coverage()
    for occasion in range(OCCASIONS):
        # Behind the wishes every other try is steered to what is new, and the others choose evenly.
        steering = coverage if occasion % 2 else Coverage()
        draft = _wishing(spec, occasion, label, wish if occasion < STEERED else no_wish, steering)
        draft.to_break, draft.spared = constraint, occasion % 3 if repeated else 0
        found = _breaking(spec, draft, constraint, occasion)
        if isinstance(found, MetaTuple):
            yield found


def _wishing(spec: OpSpec, number: int, label: str, wish: Wish, coverage: Coverage) -> Draft:
    draft = Draft(coverage, lambda part: Stream(0, spec.name, number, f"{label}.{part}"))
    draft.wish = wish
    return draft


def violations(spec: OpSpec, arguments: Mapping[str, MetaArgument]) -> list[Constraint]:
    """The constraints that meta arguments break, whatever made them: none of a valid tuple."""
    scope = {name: meta.view for name, meta in arguments.items()}
    return [broken for one, engine in spec.checks for broken in engine.violations(arguments[one.name], scope)]


_OF_RESULTS = Limits(largest=ANY_COUNT)  # a result is as large as it is


def results(spec: OpSpec, arguments: Mapping[str, MetaArgument]) -> list[MetaArgument]:
    """The dtype and shape of each output of a valid tuple."""
    draft = Draft(Coverage(), lambda label: Stream(0, spec.name, 0, label))
    draft.scope.update({name: meta.view for name, meta in arguments.items()})
    draft.limits = _OF_RESULTS
    return [one for engine in spec.result_engines for one in tensor_metas(engine.generate(draft))]


def _draft(
    spec: OpSpec, seed: int, number: int, coverage: Coverage, sequence: str, dtype: str | None, every: bool = False
) -> Draft:
    draft = Draft(coverage, lambda label: Stream(seed, spec.name, number, f"{sequence}.{label}"))
    if dtype is not None:
        draft.pins = spec.pins(dtype, every)
    return draft


_LEAVE_OUT = (Target(True, 1, True), Target(False, 1, False))


def _omitted(spec: OpSpec, metas: Mapping[str, MetaArgument], draft: Draft) -> frozenset[str]:
    """Arguments equal to their defaults that the call leaves out: keywords, and positional ones from the end on."""
    omitted: list[str] = []
    is_last = True
    for declared in reversed(spec.schema.arguments):
        meta = metas.get(declared.name)
        if meta is None or not (declared.kwarg_only or is_last):
            continue
        can_go = declared.has_default and _is_default(meta, declared.default)
        if can_go and draft.coverage.choose(Place(declared.name, "omitted", False), _LEAVE_OUT, draft.dice).value:
            omitted.append(declared.name)
        else:
            is_last = is_last and declared.kwarg_only
    return frozenset(omitted)


def _is_default(meta: MetaArgument, default: object) -> bool:
    if meta.optional or default is None:
        return meta.optional and default is None
    if meta.is_number:
        return meta.dtype == type(default).__name__ and meta.value == default
    if isinstance(default, list):
        return meta.structure == tuple(default)
    return type(meta.structure) is type(default) and meta.structure == default
