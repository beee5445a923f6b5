"""What a report says of compare pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conform.foreign import escaped
from conform.report.layout import hanging
from conform.report.numbers import ulps

SHOWN = 10
SAME = 1.0  # ulps between the roundings of one number, where it lies in the middle and is not told exactly


def lines(cases: Sequence[Mapping], width: int | None = None) -> str:
    """How far the sides of each pair are apart, and which is further from the truth, the furthest apart first; empty if
    there is none."""
    rows = [case for case in cases if (case.get("pair") or {}).get("elements") is not None]
    rows.sort(key=lambda case: -float(case["pair"]["apart_ulp"] or 0.0))
    told = [line for case in rows[:SHOWN] for line in hanging("  ", escaped(_told(case)), width)]
    told += [f"  and {len(rows) - SHOWN} more"] if len(rows) > SHOWN else []
    return "\n".join(["pairs, the sides beside each other and beside the truth:", *told]) if told else ""


def _told(case: Mapping) -> str:
    """`pair__m=3/float32/typical/contiguous: a torch 0.5 ulp, b own 1.5 ulp from the truth, 1 ulp apart; b is further`.
    """
    pair = case["pair"]
    sides = zip("ab", (pair["other_impl"], pair["impl"]), pair["errors_ulp"], strict=True)
    errors = ", ".join(f"{side} {name} {ulps(error)} ulp" for side, name, error in sides)
    apart = "equal" if pair["equal"] == pair["elements"] else f"{ulps(pair['apart_ulp'])} ulp apart"
    further = f"; {pair['further']} is further" if pair["further"] else ""
    if float(pair["truths_apart_ulp"] or 0.0) > SAME:
        further += f"; what they mean is {ulps(pair['truths_apart_ulp'])} ulp apart"
    place = case["id"].removeprefix(f"{case['test']}/")
    return f"{pair['group']}/{place}: {errors} from the truth, {apart}{further}"
