"""What a person reads after `conform selftest`: what was caught, by class, and why the rest was not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabulate import tabulate

from conform.report.numbers import percent
from conform.selftest.bugs import BUGS
from conform.selftest.figure import figure_of, total
from conform.selftest.hunt import Catch
from conform.selftest.run import SelfTest
from conform.selftest.survivors import explanation_of

SHOWN_OPS = 3


def render(found: SelfTest) -> str:
    """The whole text."""
    parts = [by_class(found.catches), survivors(found.catches), *_problems(found), summary(found)]
    return "\n\n".join(part for part in parts if part)


def told(found: SelfTest) -> dict[str, Any]:
    """The summary for a program: how many defects there are, were tried, caught and explained; of I8 pairs of op and
    dtype, elements, and how many pairs disagree; the problems, a line each."""
    figure = total(figure_of(found.catches))
    return {
        "planted": found.planted, "tried": figure["plants"], "caught": figure["caught"],
        "explained": figure["explained"], "pairs": len(found.agreements),
        "elements": sum(one.witnessed for one in found.agreements),
        "disagreeing": sum(one.disagreements > 0 for one in found.agreements), "problems": found.problems,
    }  # fmt: skip


def by_class(catches: Sequence[Catch]) -> str:
    """A line a class of bugs."""
    figure = figure_of(catches)
    rows = [
        [f"{bug} {BUGS[bug]}", one["plants"], one["caught"], one["explained"], percent(one["caught"], one["plants"])]
        for bug, one in figure["classes"].items()
    ]
    every = [*total(figure).values()]
    rows.append(["all", *every, percent(every[1], every[0])])
    return tabulate(rows, headers=["class of bugs", "planted", "caught", "survived", "caught of planted"])


def survivors(catches: Sequence[Catch]) -> str:
    """The defects that survived with a reason, those of one reason in one line."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in catches:
        if one.case_id is None and (explanation := explanation_of(one.plant)) is not None:
            found.setdefault((one.plant.defect, explanation.reason), []).append(one.plant.op)
    rows = [[defect, _some(ops), reason] for (defect, reason), ops in found.items()]
    return tabulate(rows, headers=["survived", "of", "because"]) if rows else ""


def _some(ops: Sequence[str]) -> str:
    more = f" and {len(ops) - SHOWN_OPS} more" if len(ops) > SHOWN_OPS else ""
    return ", ".join(ops[:SHOWN_OPS]) + more


def _problems(found: SelfTest) -> list[str]:
    return ["\n".join(f"FAIL {one}" for one in found.problems)] if found.problems else []


def summary(found: SelfTest) -> str:
    """The three numbers, those of I8, and whether the self-test holds."""
    one = told(found)
    tried = f"{one['tried']:,} of {one['planted']:,}"
    return "\n".join([
        f"I8: pairs of op and dtype {one['pairs']:,}, elements {one['elements']:,}, disagreeing {one['disagreeing']}",
        f"planted defects: tried {tried}, caught {one['caught']:,}, survived {one['explained']:,}",
        f"self-test {'fails' if found.problems else 'holds'}",
    ])  # fmt: skip
