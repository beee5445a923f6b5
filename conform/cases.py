"""From tests to cases: the axes dtype, value class, layout and sample, and the filters over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

from conform import schema
from conform.errors import ConformError, UsageError, did_you_mean
from conform.inputs import layouts as layout_axis
from conform.inputs import values as value_axis
from conform.inputs.arguments import Arguments, is_tensor, tensors
from conform.inputs.draws import Stream
from conform.inputs.specs.registry import spec_of
from conform.interp.evaluate import evaluate
from conform.interp.numerics.formats import format_of
from conform.suites import Suite, Test, dtype_segment, kinds, sample, variants
from conform.suites.dtypes import DEFAULT_DTYPES


@dataclass(frozen=True)
class Selection:
    """What of a suite is run. None for `values` and `layouts`: everything in built-in suites, as written in a user's
    file."""

    ops: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    ids: Sequence[str] = ()
    seed: int = 0
    samples: int = 1
    values: str | None = None
    layouts: str | None = None


@dataclass(frozen=True)
class Draw:
    """One draw of a test's inputs: a dtype for each open kind, and a sample number."""

    test: Test
    variant: dict[str, str]
    sample: int
    seed: int

    def stream(self, label: str) -> Stream:
        """The random stream of one place in the test, independent of everything else that is selected."""
        return Stream(self.seed, self.test.draw_id, self.sample, label)

    def arguments(self) -> Arguments:
        """The typical inputs, contiguous."""
        drawn = sample(self.test, self.variant, partial(Stream, self.seed), self.sample)
        return Arguments(drawn.args, drawn.kwargs, drawn.literal, drawn.requires_grad)


@dataclass(frozen=True)
class Case:
    """One call of the backend, and everything its id says."""

    id: str
    draw: Draw
    op: str
    dtype: str
    values: str
    layout: str

    def arguments(self, typical: Arguments) -> Arguments:
        """The inputs of this case, from the typical ones of its draw."""
        stream = self.draw.stream(f"values.{self.values}")
        valued = value_axis.with_values(typical, self.values, stream, spec_of(self.op))
        return layout_axis.with_layout(valued, self.layout)


def draws(test: Test, selection: Selection) -> Iterator[Draw]:
    """Every draw of a test."""
    for variant in variants(test, _allowed_dtypes(test), selection.dtypes):
        for number in range(selection.samples):
            yield Draw(test, variant, number, selection.seed)


def _allowed_dtypes(test: Test) -> Collection[str] | None:
    """The dtypes that the spec of the test's overload allows; the arguments' kinds select it, whatever their dtypes."""
    if not isinstance(test.op, str) or not kinds(test):
        return None
    common = {kind: DEFAULT_DTYPES[kind] for kind in kinds(test)}
    spec = spec_of(resolved_op(test, Draw(test, common, 0, 0).arguments()))
    return spec.dtypes if spec else None


def cases_of(draw: Draw, selection: Selection) -> list[Case]:
    """The cases of one draw, before filters."""
    arguments = draw.arguments()
    op = resolved_op(draw.test, arguments)
    dtype = _dtype(draw, op, arguments)
    segment = dtype_segment(draw.test, draw.variant)
    segment = dtype if segment == "none" else segment
    suffix = f"/{draw.sample}" if draw.sample else ""
    return [
        Case(f"{draw.test.id}/{segment}/{values}/{layout}{suffix}", draw, op, dtype, values, layout)
        for values, layout in _axes(draw.test, op, arguments, selection)
    ]


def beyond_the_kit(test: Test) -> str | None:
    """Why the kit has no truth for any case of the test, whatever its op; None where it may have one."""
    if not isinstance(test.op, str):
        return "the kit does not run modules yet"
    if test.takes_objects:
        return "an argument is an object to be constructed; the kit has semantics for tensors and literals only"
    return None


def resolved_op(test: Test, arguments: Arguments) -> str:
    """The overload that the arguments select, as written if they hold objects; for a module its import path.

    UsageError with the test's place if no overload takes the arguments.
    """
    if beyond_the_kit(test):
        return test.op_name
    try:
        found = schema.resolve(test.op_name, arguments.args, arguments.kwargs, is_tensor)
        schema.bind(found, arguments.args, arguments.kwargs, is_tensor)
    except UsageError as error:
        raise UsageError(f"{test.arguments_at}: test {test.id!r}: {error}") from None
    return found.name


def _axes(test: Test, op: str, arguments: Arguments, selection: Selection) -> list[tuple[str, str]]:
    """Pairs of value class and layout: every class contiguous, every other layout with the first class."""
    wanted = selection.values or ("all" if test.builtin else "typical")
    classes = value_axis.value_classes(arguments, spec_of(op) if isinstance(test.op, str) else None)
    chosen = [c for c in classes if wanted == "all" or (c == "typical") == (wanted == "typical")]
    places = ["contiguous"]
    if (selection.layouts or ("all" if test.builtin else "as-written")) == "all":
        places = layout_axis.layouts_of(arguments)
    return [(c, "contiguous") for c in chosen] + [(chosen[0], p) for p in places if chosen and p != "contiguous"]


def _dtype(draw: Draw, op: str, arguments: Arguments) -> str:
    """The first tensor argument's dtype, else the dtype argument's, else the output's."""
    found = tensors(arguments)
    if found:
        return format_of(found[0]).name
    if beyond_the_kit(draw.test):
        return "none"
    bound = schema.bind(schema.schema(op), arguments.args, arguments.kwargs, is_tensor)
    return bound.get("dtype") or _output_dtype(op, arguments)


def _output_dtype(op: str, arguments: Arguments) -> str:
    try:
        return evaluate(op, arguments.args, arguments.kwargs).goldens[0].format.name
    except ConformError:
        return "none"


def select(suite: Suite, selection: Selection) -> list[list[Case]]:
    """The cases that pass every filter, grouped by draw; a filter that matches nothing is a UsageError."""
    groups = _groups(suite, selection)
    everything = [case for group in groups for case in group]
    ops = sorted({name for case in everything for name in (case.op, case.op.partition(".")[0])})
    tests = {
        "--op": (selection.ops, _matches_op, ops),
        "--dtype": (
            selection.dtypes,
            lambda case, name: case.dtype == name,
            sorted({case.dtype for case in everything}),
        ),
        "--id": (
            selection.ids,
            lambda case, glob: case.id == glob or fnmatchcase(case.id, glob),
            [case.id for case in everything],
        ),
    }
    for option, (patterns, matches, known) in tests.items():
        _check_patterns(option, patterns, matches, known, everything)
    wanted = [
        [case for case in group if all(_passes(case, patterns, matches) for patterns, matches, _ in tests.values())]
        for group in groups
    ]
    selected = [group for group in wanted if group]
    if not selected:
        raise UsageError("the filters together select no case; each alone matches some" if everything else
                         f"{' '.join(suite.names)}: no test, so no case to check")  # fmt: skip
    return selected


def _groups(suite: Suite, selection: Selection) -> list[list[Case]]:
    """Every case, grouped by draw. UsageError with every test whose arguments do not fit its op."""
    groups, errors = [], []
    for test in suite.tests:
        try:
            groups += [cases_of(draw, selection) for draw in draws(test, selection)]
        except UsageError as error:
            errors.append(str(error))
    if errors:
        raise UsageError("\n".join(errors))
    return groups


def _passes(case: Case, patterns: Sequence[str], matches: Callable[[Case, str], bool]) -> bool:
    return not patterns or any(matches(case, pattern) for pattern in patterns)


def _check_patterns(
    option: str, patterns: Sequence[str], matches: Callable[[Case, str], bool], known: list[str], cases: list[Case]
) -> None:
    for pattern in patterns:
        if not any(matches(case, pattern) for case in cases):
            raise UsageError(f"{option} {pattern!r} matches no case of the suite{did_you_mean(pattern, known)}")


def _matches_op(case: Case, glob: str) -> bool:
    return fnmatchcase(case.op, glob) or fnmatchcase(case.op.partition(".")[0], glob)
