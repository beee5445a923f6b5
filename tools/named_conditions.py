"""Counts for how many planted defects what `conform check` tells names the planted condition; the table of
docs/causes.md.

    python tools/named_conditions.py OP ... [--list]     some ops, as `aten::neg`; minutes an op of many cases
"""

from __future__ import annotations

import argparse
from collections import Counter

from tabulate import tabulate

from conform.selftest.hunt import Hunt
from conform.selftest.named import NAMED, OUTCOMES, Told, told_of
from conform.selftest.plants.catalogue import plants, written
from conform.selftest.trial import Trial
from conform.suites.cases import Selection


def kind_of(told: Told) -> str:
    """Of which kind a defect is, in the words of the table."""
    plant = told.plant
    if plant.defect in written():
        return "written, about " + " or ".join(f"`{one}`" for one in plant.about[:2])
    if plant.bug == "M11":
        return "beyond a size"
    if any(one.startswith("layout") for one in plant.about):
        return "layout of an argument"
    return "an argument altered, ignored or left out" if plant.bug in ("M28", "M37") else "result of no elements"


def table(every: list[Told]) -> str:
    """One row a kind, one column an outcome."""
    counts: dict[str, Counter[str]] = {}
    for told in every:
        counts.setdefault(kind_of(told), Counter())[told.outcome] += 1
    rows = [[kind, *(count[outcome] or "" for outcome in OUTCOMES)] for kind, count in sorted(counts.items())]
    total = [sum(count[outcome] for count in counts.values()) for outcome in OUTCOMES]
    return tabulate([*rows, ["all", *total]], headers=["planted", *OUTCOMES], tablefmt="pipe")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="+", metavar="OP")
    parser.add_argument("--list", action="store_true", help="also each defect whose condition is not named")
    given = parser.parse_args()
    every: list[Told] = []
    with Hunt(Trial(selection=Selection(ops=given.ops))) as hunt:
        for op in given.ops:
            for plant in plants(op).values():
                told = told_of(plant, hunt.verdicts(plant))
                if told.wrong_causes:
                    print(f"wrong cause: {op} {plant.defect}: {told.causes}", flush=True)
                if plant.about and told.failing:
                    every.append(told)
                    if given.list and told.outcome != NAMED:
                        print(f"{op} {plant.defect}: {told.outcome}, {told.failing} of {told.judged} fail", flush=True)
                        print(*(f"    {one.sentence}" for one in told.divisions), sep="\n", flush=True)
            print(f"{op}\n{table(every)}", flush=True)


if __name__ == "__main__":
    main()
