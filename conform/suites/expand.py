"""From written tests to tests: templates expanded, ids given, operators known."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from pathlib import PurePath
from typing import Any

from conform.call.binding import unknown_name
from conform.call.schemas import overloads, schema
from conform.documents.limits import Limits
from conform.documents.source import Quoted, position_of
from conform.suites import nodes, written
from conform.suites.document import Merged, WrittenTest
from conform.suites.fields import ID_PATTERN, amount, describe
from conform.suites.messages import Path, Problems, SourceFile, suggest
from conform.suites.resolve import argument, class_path, operator, preset, resolve, size_problem
from conform.suites.scope import UNKNOWN, Repeats, Scope, scalar_text
from conform.suites.systems import with_solutions
from conform.suites.test import Domain, ModuleSpec, Pair, Test
from conform.suites.written_nodes import Form

Refusal = Callable[[Test], str | None]

_ID = re.compile(ID_PATTERN)
_ID_TEXT = re.compile(r"[A-Za-z0-9_.+-]{1,40}")


def expand(
    merged: Merged, limits: Limits, problems: Problems, *, builtin: bool, refuse: Refusal = lambda test: None
) -> list[Test]:
    """Every test of the files, in order. Problems are reported; what is returned is meaningful only without any.

    `refuse` says what is wrong with a test's arguments, None if nothing; it is asked of those without other problems.
    """
    expansion = _Expansion(merged, limits, problems, builtin)
    before = len(problems)
    for name, (file, directory, _) in merged.presets.written.items():
        scope = expansion.scope(file, directory)
        preset(scope, name, ("presets", name))
    are_known = merged.is_complete and merged.is_as_written and len(problems) == before
    for entry in merged.tests:
        before = len(problems)
        tests = expansion.add(entry)
        if are_known and entry.is_as_written and len(problems) == before:
            _refuse(tests, refuse, entry, problems)
    return expansion.tests


def _refuse(tests: list[Test], refuse: Refusal, entry: WrittenTest, problems: Problems) -> None:
    for test in tests:
        if message := refuse(test):
            inputs = position_of(entry.file.tree, ("tests", entry.index, "in"))
            problems.add_at(entry.file.name, inputs, message)


class _Expansion:
    """The tests so far, and the ids they have."""

    def __init__(self, merged: Merged, limits: Limits, problems: Problems, builtin: bool) -> None:
        self.merged = merged
        self.limits = limits
        self.problems = problems
        self.builtin = builtin
        self.tests: list[Test] = []
        self.location_of: dict[str, str] = {}
        self.written_ids = {entry.form.id for entry in merged.tests if entry.form.id}
        self.counts: dict[str, int] = {}
        self.repeats = Repeats()

    def scope(self, file: SourceFile, directory: FilePath) -> Scope:
        """What names mean in a file, outside of templates."""
        merged = self.merged
        return Scope(
            file, directory, dims=merged.dims, presets=merged.presets, limits=self.limits, problems=self.problems,
            is_complete=merged.is_complete, repeats=self.repeats,
        )  # fmt: skip

    def add(self, entry: WrittenTest) -> list[Test]:
        """The tests of the entry."""
        first = len(self.tests)
        scope = self.scope(entry.file, entry.directory)
        path: Path = ("tests", entry.index)
        build = _Builder(scope, entry.form, path, self.builtin)
        for test in build.tests(entry.form.id or self._generated_id(entry)):
            if len(self.tests) >= self.limits.max_tests:
                scope.report(path, self.limits.exceeded("max_tests", f"more than {self.limits.max_tests} tests"))
                break
            if test.id in self.location_of:
                other = self.location_of[test.id]
                scope.report((*path, "id"), f"the id {test.id!r} is already that of a test at {other}")
            self.location_of[test.id] = test.location
            self.tests.append(test)
        return self.tests[first:]

    def _generated_id(self, entry: WrittenTest) -> str:
        """FILE.OP.N, N counting the tests of the file without an id that have this operator."""
        op = entry.form.op
        base = f"{PurePath(entry.file.name).stem}.{_short_name(op)}"
        while True:
            self.counts[base] = self.counts.get(base, 0) + 1
            if f"{base}.{self.counts[base]}" not in self.written_ids:
                return f"{base}.{self.counts[base]}"


def _short_name(op: Any) -> str:
    """ "add.Tensor" of an operator, "Linear" of a module, "compare" of a pair."""
    if isinstance(op, str):
        return op.removeprefix("aten::")
    if isinstance(op, written.TemplateOperatorForm):
        return "op"
    path = getattr(op, "path", "compare")
    return re.split(r"[.:]", path)[-1] if isinstance(path, str) else "module"


class _Builder:
    """Builds the tests of one entry."""

    def __init__(self, scope: Scope, form: written.TestForm, path: Path, builtin: bool) -> None:
        self.scope = scope
        self.form = form
        self.path = path
        self.builtin = builtin
        name, tree = scope.file.name, scope.file.tree
        inputs = position_of(tree, (*path, "in"))
        line = position_of(tree, path).line
        self.location = f"{name}:{line}"
        self.recorded_at = f"{scope.file.recorded}:{line}"
        self.arguments_at = f"{name}:{inputs.line}:{inputs.column}"

    def tests(self, base_id: str) -> Iterator[Test]:
        op = self.form.op
        op_path = (*self.path, "op")
        match op:
            case None:  # reported as it was read
                yield self._test(base_id, "", self.scope, self.form.impl)
            case str():
                _check_keywords(self.scope, op, self.form.kwargs, self.path)
                yield self._test(base_id, op, self.scope, self.form.impl)
            case written.ModuleForm():
                yield self._test(base_id, _module(self.scope, op, op_path), self.scope, self.form.impl)
            case written.TemplateModuleForm():
                for scope, test_id in self._assigned(base_id, op, op_path):
                    yield self._test(test_id, _module(scope, op, op_path), scope, self.form.impl)
            case written.TemplateOperatorForm():
                for scope, test_id in self._assigned(base_id, op, op_path):
                    name = operator(scope, op.name, (*op_path, "name"))
                    _check_keywords(scope, name, self.form.kwargs, self.path)
                    yield self._test(test_id, name, scope, self.form.impl)
            case written.TemplateComparePairForm():
                yield from self._pairs(base_id, op, op_path)

    def _assigned(self, base_id: str, op: written.Template, path: Path) -> Iterator[tuple[Scope, str]]:
        """For each assignment, the scope with it, and the id: filled in, or else with the assignment behind it."""
        for scope, suffix in _assignments(self.scope, op, path):
            filled = self._filled(scope, base_id)
            yield scope, f"{filled}{suffix}" if filled == base_id else filled

    def _pairs(self, base_id: str, op: written.TemplateComparePairForm, path: Path) -> Iterator[Test]:
        if self.form.is_written("impl"):
            self.scope.report((*self.path, "impl"), "the sides of a compare pair have their own 'impl'")
        for scope, suffix in _assignments(self.scope, op, path):
            filled = self._filled(scope, base_id)
            for name, side in (("a", op.a), ("b", op.b)):
                module = _side(scope, op.common, side, path, name)
                pair = Pair(f"{filled}{suffix}", name)
                yield self._test(f"{filled}__{name}{suffix}", module, scope, side.impl, pair)

    def _filled(self, scope: Scope, base_id: str) -> str:
        """The id with each `{name}` filled in."""
        path = (*self.path, "id")
        filled = scope.fill_in(base_id, path)
        if filled is UNKNOWN:
            return base_id
        if not _ID.fullmatch(filled):
            scope.report(path, f"expected one line without blanks around it, found {describe(filled)}")
        return filled

    def _test(
        self, test_id: str, op: str | ModuleSpec, scope: Scope, impl: str | None, pair: Pair | None = None
    ) -> Test:
        form, path = self.form, self.path
        inputs = tuple(resolve(scope, node, (*path, "in", at)) for at, node in enumerate(form.inputs))
        kwargs = {str(key): resolve(scope, node, (*path, "kwargs", key)) for key, node in form.kwargs.items()}
        problem = size_problem(scope.limits, nodes.total_size((*inputs, *kwargs.values())))
        if problem:
            scope.report(path, problem)
        if isinstance(op, str) and op:
            _check_names(scope, op, kwargs, path)
        if form.cast_input0_to_complex:
            _check_cast(scope, inputs, path)
        if form.lenience and not isinstance(op, str):
            scope.report((*path, "lenience"), "only an operator's arguments may be outside its domain, not a module's")
        if isinstance(op, str) and op:
            inputs, kwargs = with_solutions(op, inputs, kwargs)
        return Test(
            test_id, op, inputs=inputs, kwargs=kwargs, device=form.device,
            cast_input0_to_complex=form.cast_input0_to_complex, impl=impl, pair=pair, location=self.location,
            arguments_at=self.arguments_at, builtin=self.builtin, recorded_at=self.recorded_at,
            domain=Domain(lenience=form.lenience) if form.lenience else None,
        )  # fmt: skip


def _check_keywords(scope: Scope, op: str, kwargs: Mapping[str, Any], path: Path) -> None:
    """Reports keyword arguments that no overload of the operator has."""
    for key in kwargs if op else ():  # an operator that is unknown is reported as such
        known = _argument_names(op)
        if key not in known:
            hint = suggest(key, known) or f"; its arguments are {', '.join(known)}"
            scope.problems.add(scope.file, (*path, "kwargs", key), f"{op} has no argument {key!r}{hint}", key=True)


def _check_names(scope: Scope, op: str, kwargs: Mapping[str, nodes.Node], path: Path) -> None:
    """Reports the constants that are no name of a dtype, layout, memory format or device where torch wants one."""
    for key, node in kwargs.items():
        if isinstance(node, nodes.Const) and isinstance(node.value, str):
            problem = unknown_name(op, key, node.value)
            if problem:
                scope.report((*path, "kwargs", key, "value"), problem)


@functools.cache
def _argument_names(op: str) -> list[str]:
    candidates = [schema(op)] if "." in op else overloads(op)
    return list(dict.fromkeys(argument.name for one in candidates for argument in one.arguments))


def _check_cast(scope: Scope, inputs: tuple[nodes.Node, ...], path: Path) -> None:
    first = inputs[0] if inputs else None
    if isinstance(first, nodes.Tensor) and first.kind == "complex":
        return
    if not isinstance(first, nodes.Tensor) or first.kind != "float" or first.shape[-1:] != (2,):
        message = "expected a float tensor with a last dimension of 2 (real, imaginary) as the first input"
        scope.report((*path, "cast_input0_to_complex"), message)
    elif first.dtype not in (None, "float32", "float64"):
        message = f"no complex format has parts of {first.dtype}; expected float32 or float64"
        scope.report((*path, "cast_input0_to_complex"), message)


# --- Modules and templates --------------------------------------------------------------------------------------------


def _module(scope: Scope, form: written.ModuleForm | written.TemplateModuleForm, path: Path) -> ModuleSpec:
    args, kwargs = _args(scope, form.args, path), _kwargs(scope, form.kwargs, path)
    return ModuleSpec(class_path(scope, form.path, (*path, "path")), args, kwargs)


def _side(scope: Scope, common: written.Common, side: written.Side, path: Path, name: str) -> ModuleSpec:
    """The module of side `name`: its own `args` replace the common ones, its `kwargs` are merged over them."""
    own, shared = (*path, name), (*path, "common")
    args = _args(scope, side.args, own) if side.is_written("args") else _args(scope, common.args, shared)
    kwargs = _kwargs(scope, common.kwargs, shared) | _kwargs(scope, side.kwargs, own)
    return ModuleSpec(class_path(scope, side.path, (*own, "path")), args, kwargs)


def _args(scope: Scope, args: list[Any], path: Path) -> tuple[nodes.Node, ...]:
    return tuple(argument(scope, arg, (*path, "args", at)) for at, arg in enumerate(args))


def _kwargs(scope: Scope, kwargs: Mapping[str, Any], path: Path) -> dict[str, nodes.Node]:
    return {str(key): argument(scope, value, (*path, "kwargs", key)) for key, value in kwargs.items()}


def _assignments(scope: Scope, template: written.Template, path: Path) -> Iterator[tuple[Scope, str]]:
    """For each assignment of the variables, the scope with them and the id's suffix.

    A case of `cases` fixes the variables that it names; the others range over their values.
    """
    _check_quoted(scope, template.vars, (*path, "vars"))
    numbers = {(name, id(value)): at for name, values in template.vars.items() for at, value in enumerate(values)}
    for at, case in enumerate(template.cases or [{}]):
        place = (*path, "cases", at)
        _check_quoted(scope, case, place)
        for name in case:
            if name not in template.vars:
                hint = suggest(name, template.vars) or f"; declared: {', '.join(template.vars) or 'none'}"
                scope.problems.add(scope.file, (*place, name), f"undeclared template variable {name!r}{hint}", key=True)
        choices = [[case[name]] if name in case else values for name, values in template.vars.items()]
        count = math.prod(map(len, choices))
        if count > scope.limits.max_tests:
            scope.report(path, scope.limits.exceeded("max_tests", f"{amount(count)} tests"))
            continue
        for values in itertools.product(*choices):
            scope.count_repeats(1 + len(template.vars), path)
            variables = dict(zip(template.vars, values, strict=True))
            yield replace(scope, variables=variables), _suffix(numbers, at, variables)


def _check_quoted(scope: Scope, value: Any, path: Path) -> None:
    """Reports the quoted strings in a variable's value that are symbols of dimensions, outside of nodes."""
    if isinstance(value, Quoted) and value in scope.dims:
        scope.report(path, f"{str(value)!r} is quoted; the symbol of a dimension is written bare: {value}")
    elif isinstance(value, list | dict):
        for key, item in enumerate(value) if isinstance(value, list) else value.items():
            _check_quoted(scope, item, (*path, key))


def _suffix(numbers: Mapping[tuple[str, int], int], case: int, variables: Mapping[str, Any]) -> str:
    """ "__out_features=3,bias=true"; a value that is no short word is #K, the K-th of its variable or of the cases.

    `numbers` has the K of every value, by its variable and identity.
    """
    parts = []
    for name, value in variables.items():
        text = scalar_text(value) if not isinstance(value, list | dict | Form) else ""
        if not _ID_TEXT.fullmatch(text):
            text = f"#{numbers.get((name, id(value)), case)}"
        parts.append(f"{name}={text}")
    return f"__{','.join(parts)}" if parts else ""
