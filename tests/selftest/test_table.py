"""What `conform selftest` prints, and its exit codes."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from conform.cli import main
from conform.errors import UsageError
from conform.selftest import run, table
from conform.selftest.agreement.agreement import Agreement
from conform.selftest.hunt import Catch
from conform.selftest.plants.catalogue import plant
from conform.selftest.run import SelfTest, matching

CAUGHT = Catch(plant("aten::neg", "Zeros"), "neg_float/float32/typical/contiguous", 0)
EXPLAINED = Catch(plant("aten::sum.dim_IntList", "dim in reverse"), None, 0)
UNEXPLAINED = Catch(plant("aten::neg", "NanEverywhere"), None, 3)
AGREES = Agreement("aten::neg", "float32", witnessed=10_000)


def test_the_table_tells_what_was_caught_by_class_and_why_the_rest_was_not() -> None:
    found = SelfTest(planted=5_000, is_full=False, catches=[CAUGHT, EXPLAINED], agreements=[AGREES])
    assert found.problems == []
    assert table.render(found).splitlines() == [
        "class of bugs                       planted    caught    survived  caught of planted",
        "--------------------------------  ---------  --------  ----------  -------------------",
        "M37 arguments ignored or altered          1         0           1  0.00 %",
        "H1 cheats: zeros, nearly right            1         1           0  100 %",
        "all                                       2         1           1  50.00 %",
        "",
        "survived        of                     because",
        "--------------  ---------------------  ---------------------------------",
        "dim in reverse  aten::sum.dim_IntList  the dims of a reduction are a set",
        "",
        "I8: pairs of op and dtype 1, elements 10,000, disagreeing 0",
        "planted defects: tried 2 of 5,000, caught 1, survived 1",
        "self-test holds",
    ]


def test_what_fails_is_told() -> None:
    disagrees = Agreement("aten::exp", "float32", witnessed=10, disagreements=1, first="in witness call 3: ...")
    found = SelfTest(planted=1, is_full=False, catches=[UNEXPLAINED], agreements=[disagrees])
    assert "FAIL I8 aten::exp float32: 10 elements witnessed, 0 open, 1 disagreements" in table.render(found)
    assert "FAIL survives without a reason: aten::neg: NanEverywhere (H2); 3 cases" in table.render(found)
    assert table.render(found).splitlines()[-3:] == [
        "I8: pairs of op and dtype 1, elements 10, disagreeing 1",
        "planted defects: tried 1 of 1, caught 0, survived 1",
        "self-test fails",
    ]


def test_too_few_witnesses_are_a_failure() -> None:
    assert SelfTest(1, False, catches=[CAUGHT], agreements=[Agreement("aten::neg", "float32", 9_999)]).problems


def test_globs_mean_overloads_and_ops() -> None:
    assert matching(["aten::sum"]) == ["aten::sum", "aten::sum.dim_IntList"]
    assert matching(["aten::sum.dim*", "aten::neg"]) == ["aten::neg", "aten::sum.dim_IntList"]
    with pytest.raises(UsageError, match=r"--op 'aten::summ' matches no op that has planted defects; did you mean"):
        matching(["aten::sum", "aten::summ"])


@pytest.mark.one_in(6)
def test_the_command_runs_one_op(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "FEW_ELEMENTS", 100)
    result = CliRunner().invoke(main, ["selftest", "--op", "aten::neg"])
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "self-test holds"), result.output


def test_an_unknown_op_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["selftest", "--op", "aten::nothing"])
    assert result.exit_code == 2
