"""Every planted defect is caught by a case that torch passes, or there is a reason why none can: that is the self-test.

In the short run a share of those planted in the ops of the share, with the null models; everything in the long run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

import pytest

from conform.backends.launcher import Template
from conform.selftest import figure
from conform.selftest.bugs import BUGS
from conform.selftest.hunt import Catch, Hunt
from conform.selftest.plants.catalogue import plant, plants, torch_ops
from conform.selftest.plants.enumerated import Plant
from conform.selftest.run import catches_of, problems_of, share
from conform.selftest.survivors import explanation_of, explanations
from conform.selftest.trial import Trial
from conform.suites.cases import Selection
from tests.conftest import ops_of_share

RENEW = "run tools/selftest_figure.py"
SHARE = 100
HOLE = "a hole"  # how the reason begins of what could be caught, and is not yet
NULL_MODELS = ("Zeros", "NanEverywhere", "ReturnsInput")


def planted_in(ops: Iterable[str]) -> list[Plant]:
    return [one for op in ops for one in plants(op).values()]


@pytest.mark.one_in(4)
def test_the_shipped_figure_counts_the_plants_of_every_class_and_every_reason_speaks_of_one() -> None:
    """Recounted in full by the long run; here by what there is to be caught. One test, for what is planted takes long
    to be found."""
    shipped, everything = figure.shipped(), planted_in(torch_ops())
    found = Counter(one.bug for one in everything)
    assert set(found) == set(BUGS)
    assert {bug: counts["plants"] for bug, counts in shipped["classes"].items()} == found, RENEW
    used = Counter(explanation_of(one) for one in everything)
    assert shipped["explained"] == len(everything) - used[None], RENEW
    assert shipped["plants"] == shipped["caught"] + shipped["explained"] == len(everything)
    assert [(one.defect, one.ops) for one in explanations() if one not in used] == []


def test_most_of_what_is_planted_is_caught() -> None:
    """So that no list of survivors grows unseen: 2,975 were caught when all were written by hand."""
    shipped = figure.shipped()
    assert shipped["caught"] > 5_000
    assert shipped["caught"] > 0.9 * shipped["plants"]


@pytest.mark.whole_suite
def test_a_share_of_the_plants_and_the_null_models_are_caught(pytestconfig: pytest.Config) -> None:
    ops = [op for op in torch_ops() if op.partition(".")[0] in ops_of_share(pytestconfig)]
    planted = planted_in(ops)
    seed = pytestconfig.getoption("--seed")
    chosen = {id(one) for one in share(planted, SHARE, seed, lambda one: f"{one.op} {one.defect}")}
    tried = [one for one in planted if id(one) in chosen or one.defect in NULL_MODELS]
    catches = list(catches_of(tried))
    assert problems_of(catches, is_full=False) == []
    assert_null_models_caught(catches, ops)


def assert_null_models_caught(catches: list[Catch], ops: Collection[str]) -> None:
    """No hole excuses them: they survive where they are what the op means."""
    caught = {(one.plant.op, one.plant.defect) for one in catches if one.case_id}
    reasons = {one.plant: explanation_of(one.plant) for one in catches}
    meant = {(one.op, one.defect) for one, why in reasons.items() if why and HOLE not in why.reason}
    for name in NULL_MODELS:
        expected = {op for op in ops if name != "ReturnsInput" or not op.startswith("aten::arange")}
        assert {op for op, defect in caught | meant if defect == name and op in ops} == expected


@pytest.mark.long
def test_the_shipped_figure_is_true() -> None:
    catches = list(catches_of(planted_in(torch_ops())))
    assert problems_of(catches, is_full=True) == []
    assert_null_models_caught(catches, torch_ops())
    assert figure.text(figure.figure_of(catches)) == figure.FILE.read_text(encoding="utf-8"), RENEW


# --- The hunt itself --------------------------------------------------------------------------------------------------


def test_a_defect_that_is_none_survives(hunt: Hunt) -> None:
    """The dims of a sum are a set: whoever reads them in reverse is right."""
    found = hunt.catch(plant("aten::sum.dim_IntList", "dim in reverse"))
    assert (found.case_id, found.shown) == (None, 0)


def test_the_plainest_case_catches(hunt: Hunt) -> None:
    found = hunt.catch(plant("aten::neg", "Zeros"))
    assert found.case_id.endswith("/typical/contiguous")
    assert ".0" in hunt.catch(plant("aten::neg", "strides of self ignored")).case_id.rpartition("/")[2]


def test_a_case_that_torch_fails_catches_nothing(hunt: Hunt, monkeypatch: pytest.MonkeyPatch) -> None:
    real = hunt._of_torch
    monkeypatch.setattr(hunt, "_of_torch", lambda prepared: replace(real(prepared), status="fail", reason="wrong"))
    assert hunt.catch(plant("aten::neg", "Zeros")).case_id is None


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("op", "defect", "caught"),
    [
        ("aten::meshgrid", "Zeros", True),  # torch's own result shares memory with its operands
        ("aten::meshgrid", "result one element short", True),
        ("aten::empty_strided", "size too small by one", True),  # all elements are open
        ("aten::empty.memory_format", "Zeros", False),
        ("aten::_local_scalar_dense", "Zeros", True),  # a number is altered as the 0-d tensor of it
    ],
)
def test_what_is_right_in_a_case_that_torch_does_not_pass_still_catches(
    op: str, defect: str, caught: bool, template: Template
) -> None:
    with Hunt(Trial(selection=Selection(ops=[op])), template) as one:
        assert (one.catch(plant(op, defect)).case_id is not None) == caught


def test_moves_of_one_tensor_have_no_wrong_uint8() -> None:
    assert "Uint8AsInt8" not in plants("aten::flip")
    assert {"Uint8AsInt8"} <= set(plants("aten::cat")) & set(plants("aten::sum"))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("defect", "values", "layouts"),
    [
        ("FiniteMathOnly", "typical", "all"),
        ("DropsSignOfZero", "typical", "all"),
        ("strides of self ignored", "all", "as-written"),
        ("offset of self dropped", "all", "as-written"),
    ],
)
def test_a_suite_that_lost_its_values_or_layouts_is_found_out(
    defect: str, values: str, layouts: str, hunt: Hunt, template: Template
) -> None:
    poor = Trial(selection=Selection(ops=["aten::neg"], values=values, layouts=layouts))
    with Hunt(poor, template) as one:
        assert problems_of([one.catch(plant("aten::neg", defect))], is_full=False)
    assert problems_of([hunt.catch(plant("aten::neg", defect))], is_full=False) == []


def test_a_judge_that_lets_everything_pass_is_found_out(hunt: Hunt, monkeypatch: pytest.MonkeyPatch) -> None:
    real = hunt.trial.verdict
    monkeypatch.setattr(hunt.trial, "verdict", lambda *asked: replace(real(*asked), status="pass", failed=0))
    assert problems_of([hunt.catch(plant("aten::neg", "Zeros"))], is_full=False)


def test_a_survivor_needs_a_reason_and_a_reason_a_survivor() -> None:
    sum_reversed, zeros = plant("aten::sum.dim_IntList", "dim in reverse"), plant("aten::neg", "Zeros")
    assert problems_of([Catch(sum_reversed, None, 0), Catch(zeros, "neg/typical", 0)], is_full=False) == []
    (survives,) = problems_of([Catch(zeros, None, 0)], is_full=False)
    assert survives == "survives without a reason: aten::neg: Zeros (H1); no case answered otherwise"
    (caught,) = problems_of([Catch(sum_reversed, "sum/typical", 0)], is_full=False)
    assert caught == "caught by sum/typical, though it is said to survive: aten::sum.dim_IntList: dim in reverse (M37)"
    assert len(problems_of([], is_full=True)) == len(explanations())


def test_a_reason_may_hold_on_some_machines_only() -> None:
    depends = plant("aten::_int_mm", "expansion of self ignored")
    assert problems_of([Catch(depends, None, 1), Catch(depends, "int_mm_products", 0)], is_full=False) == []


def test_an_op_glob_of_a_reason_means_an_overload_unless_it_ends_in_a_star() -> None:
    reason = replace(explanations()[0], defect="Zeros", ops=("aten::sum",))
    assert reason.covers(plant("aten::sum", "Zeros"))
    assert not reason.covers(plant("aten::sum.dim_IntList", "Zeros"))
    assert replace(reason, ops=("aten::sum.*",)).covers(plant("aten::sum", "Zeros"))
    assert replace(reason, ops=("aten::sum.*",)).covers(plant("aten::sum.dim_IntList", "Zeros"))
    assert not replace(reason, ops=("aten::su.*",)).covers(plant("aten::sum", "Zeros"))


def test_a_share_is_the_same_every_time_and_in_order() -> None:
    names = [f"plant {n}" for n in range(100)]
    chosen = share(names, 10, 0, str)
    assert chosen == share(names, 10, 0, str)
    assert chosen == sorted(chosen, key=names.index)
    assert len(chosen) == 10
    assert chosen != share(names, 10, 1, str)
    assert share(names, 1000, 0, str) == names
