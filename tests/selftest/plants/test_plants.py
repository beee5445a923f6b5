"""Every planted wrong backend is caught on every op it touches, by a case that the unplanted one passes."""

from __future__ import annotations

import pytest
import yaml
from tests.planted.catalogue import FOLDER, backend_name, planted
from tests.planted.trial import Trial

from conform.backends.client import BackendProcess
from conform.backends.launcher import Template
from conform.suites.cases import Case

CATCHES: dict[str, dict[str, str]] = yaml.safe_load((FOLDER / "catches.yaml").read_text())

# The classes of real bugs that the suite's ops can have. Missing: huge tensors (M08); NaN payloads and integer division
# by zero, which the policy leaves open (M19, M23); resizing (M40); run-to-run differences (M42); chains of
# ops (M36, M44); what no result shows: reading the harness's memory, fallbacks, known seeds, empty suites (H3, H5, H7,
# H8).
# fmt: off
BUGS = {
    "M01", "M02", "M03", "M04", "M05", "M06", "M07", "M09", "M10", "M11", "M12", "M13", "M14", "M15", "M16", "M17",
    "M18", "M20", "M21", "M22", "M24", "M25", "M26", "M27", "M28", "M29", "M30", "M31", "M32", "M33", "M34", "M35",
    "M37", "M38", "M39", "M41", "M43", "M45", "H1", "H2", "H4", "H6",
}
# fmt: on


def test_the_plants_cover_the_classes_of_real_bugs() -> None:
    assert {planted_class.bug for planted_class in planted().values()} == BUGS


@pytest.mark.parametrize("name", planted())
def test_a_plant_is_caught_on_every_op_it_touches(name: str, trial: Trial, template: Template) -> None:
    touched = {op for op in trial.ops() if planted()[name].touches(op)}
    assert CATCHES[name].keys() == touched, f"run tests/planted/find_catches.py {name}: a case is missing or has no use"
    cases = [trial.cases[case_id] for case_id in CATCHES[name].values()]
    statuses = statuses_after_others if planted()[name].remembers else statuses_alone
    assert statuses(name, cases, trial, template) == {case.id: "fail" for case in cases}


@pytest.mark.parametrize("backend", ["cpu", "self"])
def test_the_unplanted_backends_pass_the_same_cases(backend: str, trial: Trial, template: Template) -> None:
    named = dict.fromkeys(case_id for ids in CATCHES.values() for case_id in ids.values())
    with BackendProcess(backend, template=template) as process:
        verdicts = list(trial.verdicts(process, [trial.cases[case_id] for case_id in named]))
    assert [(verdict.id, verdict.reason) for verdict in verdicts if verdict.status != "pass"] == []


@pytest.mark.parametrize("name", ["Zeros", "NanEverywhere", "ReturnsInput"])
def test_the_null_models_are_caught_on_every_op(name: str, trial: Trial) -> None:
    ops = {op for op in trial.ops() if name != "ReturnsInput" or not op.startswith("aten::arange")}  # it has no input
    assert CATCHES[name].keys() == ops


def statuses_alone(name: str, cases: list[Case], trial: Trial, template: Template) -> dict[str, str]:
    """The verdict's status for each case under a plant."""
    with BackendProcess(backend_name(name), template=template) as process:
        return {verdict.id: verdict.status for verdict in trial.verdicts(process, cases)}


def statuses_after_others(name: str, cases: list[Case], trial: Trial, template: Template) -> dict[str, str]:
    """The same for a plant that remembers: it sees the cases before each one first."""
    with BackendProcess(backend_name(name), template=template) as process:
        return {case.id: trial.verdict_after_others(process, case).status for case in cases}
