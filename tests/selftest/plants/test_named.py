"""What is told of a planted backend's failures names what was planted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conform.backends.launcher import Template
from conform.findings.findings import findings_of
from conform.selftest.hunt import Hunt
from conform.selftest.named import FEW, NAMED, NOTHING, Told, told_of
from conform.selftest.plants.catalogue import plant, plants, torch_ops
from conform.selftest.trial import Trial
from conform.suites.cases import Selection

NEG = "aten::neg"
# The plant, and how the sentence about it begins.
TOLD = [
    ("strides of self ignored", "fails only where `self` is permuted, or with gaps"),
    ("offset of self dropped", "fails only where `self` is at an offset in its storage"),
    ("expansion of self ignored", "fails only where `self` is expanded"),
    ("result wrong beyond 2048 elements", "fails only where the number of elements of the result is more than 1,"),
    ("SkipsTail", "fails only where the number of elements of the result is not a multiple of 32 ("),
    ("DropsSignOfZero", "is wrong only where the expected result is -0 ("),
    ("FiniteMathOnly", "is wrong only where `self` is NaN or infinite ("),
]


@pytest.fixture(scope="module")
def of_neg(template: Template) -> Iterator[Hunt]:
    with Hunt(Trial(selection=Selection(ops=[NEG])), template) as one:
        yield one


@pytest.mark.parametrize(("defect", "beginning"), TOLD)
def test_the_planted_condition_is_told(defect: str, beginning: str, of_neg: Hunt) -> None:
    planted = plant(NEG, defect)
    verdicts = of_neg.verdicts(planted)
    assert findings_of(verdicts)[0].text.startswith(beginning)
    assert told_of(planted, verdicts).outcome == NAMED


def test_an_ignored_keyword_is_told(template: Template) -> None:
    with Hunt(Trial(selection=Selection(ops=["aten::add.Tensor"], ids=["*/typical/*"])), template) as hunt:
        (found,) = findings_of(hunt.verdicts(plant("aten::add.Tensor", "alpha ignored")))
        assert found.text.startswith("fails only where `alpha` is not 1 (")


def test_nothing_is_told_of_a_backend_that_is_right(of_neg: Hunt) -> None:
    honest = of_neg.verdicts(plant(NEG, "a byte behind self written"))
    right = [one for one in honest if one.status == "pass"]
    assert findings_of(right) == []


def test_a_sentence_about_something_else_is_not_taken_for_the_planted_one(of_neg: Hunt) -> None:
    verdicts = of_neg.verdicts(plant(NEG, "offset of self dropped"))
    assert told_of(plant(NEG, "SkipsTail"), verdicts).outcome != NAMED
    assert Told(plant(NEG, "SkipsTail"), 1, 80, [], {}).outcome == FEW
    assert Told(plant(NEG, "SkipsTail"), 5, 80, [], {}).outcome == NOTHING


@pytest.mark.long
@pytest.mark.parametrize("op", torch_ops())
def test_no_plant_is_taken_for_a_cause_that_it_does_not_have(op: str, template: Template) -> None:
    with Hunt(Trial(selection=Selection(ops=[op])), template) as hunt:
        every = [told_of(one, hunt.verdicts(one)) for one in plants(op).values()]
    assert {one.plant.defect: one.wrong_causes for one in every if one.wrong_causes} == {}
