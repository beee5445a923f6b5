"""Loading: names and paths in, tests out; and the functions behind `conform validate`, `list` and `schema`."""

from __future__ import annotations

import hashlib
import os.path
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conform.collector import paused
from conform.documents.limits import Limits
from conform.errors import UsageError
from conform.suites import builtin, nodes
from conform.suites.document import read_document
from conform.suites.expand import Refusal, expand
from conform.suites.fields import describe
from conform.suites.filters import may_match_id, may_match_op
from conform.suites.fit import misfit
from conform.suites.messages import Problems, TooManyProblems, suggest
from conform.suites.test import IN_USUAL_DTYPES, Suite, Test
from conform.suites.written import Document


@paused()
def load(
    names_or_paths: Sequence[str | Path],
    limits: Limits | None = None,
    *,
    seed: int = 0,
    ops: Sequence[str] = (),
    ids: Sequence[str] = (),
    processes: int = 1,
) -> Suite:
    """The tests of YAML files (by path) and of built-in suites (by name), in the order given, then those that are made
    from argument specs, those of `core` among them. Imports nothing that files name.

    Tests from specs depend on `seed`, and only those are made of which a case may match the globs `ops` and `ids`;
    files are read whole. So many `processes` make them. Raises UsageError with every error of a file at once, for an
    unknown name, and for an id that two files give.
    """
    limits = limits or Limits.from_environment()
    names = [str(name) for name in names_or_paths]
    tests: list[Test] = []
    digest = hashlib.sha256()
    files, recorded = _files(names), _recorded(names)
    for path, shown, is_builtin in files:
        file_tests, file_digest = _load_file(path, shown, recorded.get(shown, shown), is_builtin, limits)
        tests += _beside_derived(file_tests) if is_builtin and path.parent.name in builtin.DERIVED else file_tests
        digest.update(file_digest)
    is_told = not _all_may_match(tests, ops, ids)
    for name in _from_specs(names):
        had = {test.id for test in tests if test.builtin}  # the core suite has some of what `scale` has
        made = _tests_from_specs(name, seed, ops, ids, processes, is_told)
        tests += [test for test in made if test.id not in had]
        digest.update(_digest_of_specs(name))
    _refuse_duplicates(tests)
    return Suite(names, [recorded[name] for name in names], tuple(tests), f"sha256:{digest.hexdigest()}")


@paused()
def validate(names_or_paths: Sequence[str | Path]) -> list[str]:
    """A line for each file that is valid ("FILE: 12 tests"). Raises UsageError with the errors of every other file.

    Beyond what `load` refuses, arguments that no overload of the test's operator takes are errors.
    """
    found = list(each_validated(names_or_paths))
    if errors := [str(one) for one in found if isinstance(one, UsageError)]:
        raise UsageError("\n".join(errors))
    return found


def each_validated(names_or_paths: Sequence[str | Path]) -> Iterator[str | UsageError]:
    """As `validate`: of each file its line, or what is wrong with it; at last whether ids come twice, if none is."""
    limits = Limits.from_environment()
    tests: list[Test] | None = []
    for shown, read in _readers([str(name) for name in names_or_paths], limits):
        try:
            found = read()
        except UsageError as error:
            tests = None
            yield error
        else:
            tests = None if tests is None else tests + found
            yield f"{shown}: {len(found)} test{'' if len(found) == 1 else 's'}"
    try:
        _refuse_duplicates(tests or [])
    except UsageError as error:
        yield error


def _readers(names: list[str], limits: Limits) -> Iterator[tuple[str, Callable[[], list[Test]]]]:
    """The name in messages of each file, and of each suite from specs, and what gives its tests."""
    for path, shown, is_builtin in _files(names):
        yield shown, lambda: _load_file(path, shown, shown, is_builtin, limits, misfit)[0]  # noqa: B023
    for name in _from_specs(names):
        yield name, lambda: _tests_from_specs(name)  # noqa: B023


def list_ids(names_or_paths: Sequence[str | Path], processes: int = 1) -> list[str]:
    """The id of each test, after expansion, in order; so many `processes` make those from specs."""
    return [test.id for test in load(names_or_paths, processes=processes).tests]


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a test file, for editors that complete and check."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Document.model_json_schema(by_alias=True)}


def _files(names: list[str]) -> list[tuple[Path, str, bool]]:
    """For each file: its path, its name in messages, whether it is built in. Each file once."""
    found: dict[Path, tuple[Path, str, bool]] = {}
    for name in names:
        if name in builtin.NAMES:
            for path in builtin.files(name):  # none of a suite that is made from specs alone
                found.setdefault(path, (path, builtin.shown(path), True))
        elif os.path.isfile(name) and not builtin.is_of_programs(name):
            found.setdefault(Path(name).resolve(), (Path(name), name, False))
        elif builtin.is_of_programs(name):
            raise UsageError(f"{name}: a file of StableHLO programs is no suite file: conform check runs it, alone or "
                             "with others of its kind")  # fmt: skip
        else:
            hint = f"{suggest(name, builtin.NAMES)}; expected {', '.join(builtin.NAMES)} or the path of a YAML file"
            raise UsageError(f"no suite {describe(name)}{hint}")
    return list(found.values())


def _from_specs(names: list[str]) -> list[str]:
    """The suites that are made from specs, each once."""
    return list(dict.fromkeys(name for name in names if name in builtin.FROM_SPECS))


def _all_may_match(tests: Sequence[Test], ops: Sequence[str], ids: Sequence[str]) -> bool:
    """Whether each glob may match one of the tests, so that nobody has to be told of others."""
    of_ops = all(any(may_match_op(test.op_name, [glob]) for test in tests) for glob in ops)
    return of_ops and all(any(may_match_id(f"{test.id}/", [glob]) for test in tests) for glob in ids)


def _tests_from_specs(
    name: str,
    seed: int = 0,
    ops: Sequence[str] = (),
    ids: Sequence[str] = (),
    processes: int = 1,
    is_told: bool = True,
) -> list[Test]:
    from conform.suites.derived.tests import derived_tests  # the specs load for these suites alone
    from conform.suites.generated.tests import suite_tests

    if name in builtin.DERIVED:
        return list(derived_tests(seed, ops, ids, suite=name, processes=processes, is_told=is_told))
    return list(suite_tests(name, seed, ops, ids, is_told=is_told))


def _digest_of_specs(name: str) -> bytes:
    from conform.suites.generated.tests import digest

    return name.encode() + digest()


def _recorded(names: list[str]) -> dict[str, str]:
    """What a run record calls each name: of a file its base name, `a.yaml#2` for the second file called `a.yaml`."""
    found: dict[Path, str] = {}
    for name in names:
        if name not in builtin.NAMES:
            base, path = Path(name).name, Path(name).resolve()
            others = sum(Path(other).name == base for other in found)
            found.setdefault(path, f"{base}#{others + 1}" if others else base)
    return {name: name if name in builtin.NAMES else found[Path(name).resolve()] for name in names}


def _load_file(
    path: Path, shown: str, recorded: str, is_builtin: bool, limits: Limits, refuse: Refusal = lambda test: None
) -> tuple[list[Test], bytes]:
    problems = Problems(limits)
    tests: list[Test] = []
    try:
        merged = read_document(path, shown, recorded, limits, problems)
        tests = expand(merged, limits, problems, builtin=is_builtin, refuse=refuse)
    except TooManyProblems:
        pass  # enough to report
    problems.raise_if_any()
    return tests, merged.digest.digest()


def _beside_derived(tests: list[Test]) -> list[Test]:
    """The written tests of a suite whose derived ones run each op in every layout in many dtypes."""
    return [_of_lists(test) if _has_several_lists(test) else replace(test, layouts=IN_USUAL_DTYPES) for test in tests]


def _of_lists(test: Test) -> Test:
    """Of several lists of tensors the plain call alone, a derived test, is run tensor by tensor on the axes."""
    return replace(test, values="typical", layouts="as-written")


def _has_several_lists(test: Test) -> bool:
    arguments = (*test.inputs, *test.kwargs.values())
    lists = [node for node in arguments if isinstance(node, nodes.Sequence | nodes.Repeated)]
    return not test.is_module and sum(any(nodes.tensors(one)) for one in lists) > 1


def _refuse_duplicates(tests: list[Test]) -> None:
    first: dict[str, Test] = {}
    for test in tests:
        other = first.setdefault(test.id, test)
        if other is not test:
            raise UsageError(f"{test.location}: the id {test.id!r} is already that of the test at {other.location}")
