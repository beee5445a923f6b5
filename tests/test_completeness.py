"""Every op is whole: semantics, reference, spec, suite and contract; and no file stands outside its list."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import conform
from conform import refs
from conform.call import schemas
from conform.call.families import FAMILIES, family_in
from conform.cli import main
from conform.domains import specs
from conform.explain.inventory import Entry, inventory, packet, render, result_dtypes
from conform.inputs.edges.rows import edged_ops
from conform.interp import semantics
from conform.interp.evaluate import WITHOUT_MEANING
from conform.selftest.agreement.agreement import ops_and_dtypes
from tests.conftest import ops_of_share

PACKAGE = Path(conform.__file__).parent


def assert_whole(entries: list[Entry]) -> None:
    """But for those that have a reference alone, and wait for the rest."""
    judged = [entry for entry in entries if set(entry.overloads) - set(entry.without_semantics)]
    assert not [hole for entry in judged for hole in entry.holes], render(judged)
    assert all(entry.dtypes and entry.contracts for entry in judged), render(judged)
    waiting = [entry for entry in entries if entry not in judged]
    assert all(not entry.without_reference and not entry.has_spec for entry in waiting), render(waiting)


def test_no_op_of_the_share_has_a_hole(pytestconfig: pytest.Config) -> None:
    """To make the tests of all takes a minute."""
    share = ops_of_share(pytestconfig)
    entries = inventory(ops=[*share])
    assert {entry.op for entry in entries} == share
    assert_whole(entries)


@pytest.mark.long
def test_no_op_has_a_hole() -> None:
    assert_whole(inventory())


def test_no_op_is_lost_from_every_room_at_once() -> None:
    """A hole shows where one room lacks an op; a number, which only grows, where all of them do."""
    names = {*semantics.names(), *refs.names(), *(spec.name for spec in specs.specs())}
    assert (len(semantics.names()), len({packet(name) for name in names})) == (962, 759)


def test_the_table_of_the_ops_that_are_named() -> None:
    found = CliRunner().invoke(main, ["ops", "exp", "aten::trac*"])
    assert found.exit_code == 0
    assert re.findall(r"^aten::\S+", found.output, re.MULTILINE) == ["aten::exp", "aten::trace"]
    assert found.output.endswith("no holes: every op has semantics, reference, spec, tests and bound\n")
    assert CliRunner().invoke(main, ["ops", "nosuch"]).exit_code == 2


def test_a_hole_is_named_and_marked() -> None:
    add = Entry(
        op="aten::add", overloads=("aten::add.Scalar", "aten::add.Tensor"), dtypes=("float16", "float32"),
        without_semantics=(), without_reference=(), has_spec=True, tests=3, contracts=("ulp",),
    )  # fmt: skip
    assert add.holes == []
    torn = replace(
        add, without_semantics=add.overloads, without_reference=add.overloads[:1], has_spec=False, tests=0,
        without_bound=("float32",),
    )  # fmt: skip
    lines = render([torn]).splitlines()
    cells = "aten::add .Scalar .Tensor no 1 of 2 no no ulp float16 float32"
    assert " ".join(lines[2].split()) == cells
    assert lines[-6:] == [
        "aten::add: no semantics of aten::add.Scalar",
        "aten::add: no semantics of aten::add.Tensor",
        "aten::add: no reference of aten::add.Scalar",
        "aten::add: no input spec",
        "aten::add: no tests in the suite",
        "aten::add: no bound of float32 in the contract",
    ]


def test_the_dtypes_of_results_are_those_of_operands_or_of_keywords_or_what_integers_become() -> None:
    assert result_dtypes("aten::lgamma") == ("float16", "bfloat16", "float32", "float64")
    assert result_dtypes("aten::eq.Tensor") == ("bool",)
    assert result_dtypes("aten::argmax") == ("int64",)
    assert result_dtypes("aten::div.Tensor_mode")[:3] == ("uint8", "int8", "int16")
    assert result_dtypes("aten::arange")[-4:] == ("float16", "bfloat16", "float32", "float64")


def test_every_overload_with_semantics_has_a_spec_from_which_witnesses_are_drawn() -> None:
    assert {spec.name for spec in specs.specs()} == set(semantics.names()) == {op for op, _ in ops_and_dtypes()}


def test_every_argument_is_taken_by_the_semantics_or_has_no_meaning() -> None:
    for name in semantics.names():
        definition, arguments = semantics.find(name), {argument.name for argument in schemas.schema(name).arguments}
        assert definition is not None
        parameters = set(definition.parameters)
        assert parameters <= arguments, f"of {schemas.schema(name)} {sorted(parameters - arguments)} are no arguments"
        unread = arguments - parameters - WITHOUT_MEANING - set(definition.traits.ignores)
        assert not unread, f"{sorted(unread)} of {name} are read by nothing"


def test_every_argument_is_taken_by_the_reference() -> None:
    for name in refs.names():
        arguments = {argument.name for argument in schemas.schema(name).arguments}
        taken = {one.removesuffix("_") for one in inspect.signature(refs.lookup(name)).parameters}  # from_ is from
        assert arguments <= taken, name


@pytest.mark.parametrize("folder", ["interp/ops", "refs", "domains", "inputs/edges"])
def test_every_file_of_a_family_is_reached(folder: str) -> None:
    """A file outside the families is never imported: its ops have no meaning, and nothing says so."""
    semantics.names(), refs.names(), specs.specs(), edged_ops()
    paths = [path.relative_to(PACKAGE.parent).with_suffix("") for path in (PACKAGE / folder).rglob("*.py")]
    modules = {".".join(path.parts).removesuffix(".__init__") for path in paths if set(path.parts) & set(FAMILIES)}
    assert modules <= set(sys.modules)


def test_an_op_has_the_same_family_in_every_room() -> None:
    families = {name: semantics.find(name).family for name in semantics.names()}
    assert families == {name: family_in("conform.refs", refs.lookup(name).__module__) for name in semantics.names()}


def test_every_suite_of_the_core_is_named_after_a_family() -> None:
    assert {path.stem for path in (PACKAGE / "suites/core").glob("*.yaml")} == set(FAMILIES)
