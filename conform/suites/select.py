"""Selecting: the cases of a suite that pass the filters, and what to say where one matches nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from conform.call.schemas import operator_names
from conform.errors import UsageError, did_you_mean
from conform.interp.semantics import find, related
from conform.suites import Suite, Test
from conform.suites.cases import Case, Selection, cases_of, draws
from conform.suites.dtypes import in_order
from conform.suites.filters import matches_id, matches_op, may_match_id, may_match_op
from conform.suites.gradients import with_gradients
from conform.suites.repeats import with_repeats


def select(suite: Suite, selection: Selection) -> list[list[Case]]:
    """The cases that pass every filter, less those excluded, grouped by draw. UsageError for a filter that matches
    nothing, a pattern that excludes nothing of what is left, and where all is excluded.

    Tests of which no case can pass are not looked at, unless a filter is at fault.
    """
    filters = _filters(selection)
    tests = [test for test in suite.tests if _may_pass(test, selection)]
    groups = _groups(tests, selection)
    wanted = [[case for case in group if all(one.passes(case) for one in filters)] for group in groups]
    selected = [group for group in wanted if group]
    cases = [case for group in groups for case in group]
    if not selected or any(one.without_a_case(cases) is not None for one in filters):
        _refuse_what_selects_nothing(suite, selection, bool(selected))
    return _without(selected, selection.exclude)


def _without(groups: list[list[Case]], globs: Sequence[str]) -> list[list[Case]]:
    """The groups without the cases whose op or id a glob matches."""
    cases = [case for group in groups for case in group]
    for glob in globs:
        if not any(_has_op(case, glob) or _has_id(case, glob) for case in cases):
            known = sorted({name for case in cases for name in (*_op_names(case), case.id)})
            raise UsageError(f"--exclude {glob!r} matches no case that is selected{did_you_mean(glob, known)}")
    left = [[one for one in group if not any(_has_op(one, g) or _has_id(one, g) for g in globs)] for group in groups]
    if not any(left):
        raise UsageError(f"{shlex.join(word for glob in globs for word in ('--exclude', glob))}: no case is left")
    return [group for group in left if group]


def _may_pass(test: Test, selection: Selection) -> bool:
    return may_match_id(f"{test.id}/", selection.ids) and may_match_op(test.op_name, selection.ops)


def _refuse_what_selects_nothing(suite: Suite, selection: Selection, is_something_selected: bool) -> None:
    """UsageError with what is at fault; nothing is where each filter matches a case, though not one that all match."""
    if not suite.tests:
        raise UsageError(f"{' '.join(suite.names)}: no test, so no case to check")
    filters, everything = _filters(selection), [case for group in _groups(suite.tests, selection) for case in group]
    for one in filters:
        if (lost := one.without_a_case(everything)) is not None:
            raise UsageError(_why_nothing(suite, selection, one, lost))
    if not everything:
        raise UsageError(f"{' '.join(suite.names)}: no test has {selection.values} values")
    if not is_something_selected:
        raise UsageError(f"{_written(filters)} together select no case; each alone matches some")


@dataclass(frozen=True)
class _Filter:
    """The patterns of one option; a case passes if one of them matches it, or if there is none."""

    option: str
    patterns: tuple[str, ...]
    matches: Callable[[Case, str], bool]
    names: Callable[[Case], tuple[str, ...]]  # of a case, what a pattern may have meant

    def passes(self, case: Case) -> bool:
        return not self.patterns or any(self.matches(case, pattern) for pattern in self.patterns)

    def without_a_case(self, cases: Sequence[Case]) -> str | None:
        """The first pattern that matches none of the cases."""
        found = (one for one in self.patterns if not any(self.matches(case, one) for case in cases))
        return next(found, None)


def _filters(selection: Selection) -> list[_Filter]:
    return [
        _Filter("--op", selection.ops, _has_op, _op_names),
        _Filter("--dtype", selection.dtypes, lambda case, name: case.dtype == name, lambda case: (case.dtype,)),
        _Filter("--id", selection.ids, _has_id, lambda case: (case.id,)),
    ]


def _op_names(case: Case) -> tuple[str, ...]:
    return case.op, case.op.partition(".")[0]


def _has_op(case: Case, glob: str) -> bool:
    return matches_op(case.op, glob)


def _has_id(case: Case, glob: str) -> bool:
    return matches_id(case.id, glob)


def _written(filters: Sequence[_Filter]) -> str:
    return " ".join(f"{one.option} {shlex.quote(pattern)}" for one in filters for pattern in one.patterns)


def _why_nothing(suite: Suite, selection: Selection, one: _Filter, pattern: str) -> str:
    """Which option, or which combination with `--dtype`, is at fault: that one chooses the cases that there are."""
    others = [case for group in _groups(suite.tests, replace(selection, dtypes=())) for case in group]
    matching = [case for case in others if one.matches(case, pattern)]
    if matching and one.option != "--dtype":
        both = _written([replace(one, patterns=(pattern,)), _filters(selection)[1]])
        return f"{both} together select no case; {pattern} has {', '.join(in_order({c.dtype for c in matching}))}"
    if one.option == "--op" and (named := _without_semantics(pattern)):
        return f"--op {pattern!r}: the kit has no semantics for {named}{related(named)}"
    known = sorted({name for case in others for name in one.names(case)})
    return f"{one.option} {pattern!r} matches no case of the suite{did_you_mean(pattern, known)}"


def _without_semantics(glob: str) -> str | None:
    """An operator of torch that the glob names, if the kit has semantics of none that it names."""
    named = sorted(op for op in operator_names() if matches_op(op, glob))
    return named[0] if named and not any(map(find, named)) else None


def _groups(tests: Sequence[Test], selection: Selection) -> list[list[Case]]:
    """Every case, grouped by draw. UsageError with every test whose arguments do not fit its op."""
    groups, errors = [], []
    for test in tests:
        try:
            groups += [cases_of(draw, selection) for draw in draws(test, selection)]
        except UsageError as error:
            errors.append(str(error))
    if errors:
        raise UsageError("\n".join(errors))
    repeated = _with_sides_together(with_repeats(groups, selection.determinism))
    return with_gradients(repeated) if selection.gradients else repeated


def _with_sides_together(groups: list[list[Case]]) -> list[list[Case]]:
    """The groups, those of the two sides of a pair as one: their answers to the same draw are compared."""
    found: dict[object, list[Case]] = {}
    for number, group in enumerate(groups):
        draw = group[0].draw if group else None
        pair = draw and draw.test.pair
        key = (pair.group, *sorted(draw.variant.items()), draw.sample) if pair else number
        found.setdefault(key, []).extend(group)
    return list(found.values())
