"""What a certificate says of waivers: over all draws, counted from the cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from conform.certify.evidence import Evidence
from conform.running.waivers import Waiver, Waivers

DAY = date(2026, 11, 25)
NUMERICS = {"instructions": "AVX2"}


def evidence(*entries: dict[str, Any]) -> Evidence:
    listed = [Waiver(**one, reason="known", line=number) for number, one in enumerate(entries, 2)]
    return Evidence(None, Waivers(source="w.yaml", digest="sha256:0", entries=listed), DAY)


def case(status: str, reason: str | None = None, rule: str | None = None, dtype: str = "float32") -> dict[str, Any]:
    return {"id": f"exp/{dtype}/typical/contiguous", "op": "aten::exp", "dtype": dtype, "status": status,
            "reason": reason, "rule": rule, "max_error_ulp": 3.0}  # fmt: skip


WAIVED = case("waived", "fail: error above the bound", "waiver at w.yaml:2")


@pytest.mark.parametrize(
    ("entry", "cases", "is_whole", "expected"),
    [
        ({"op": "aten::exp"}, [WAIVED, case("pass")], True, ("used", 1)),  # in one draw, and not in the other
        ({"op": "aten::exp"}, [WAIVED, WAIVED], True, ("used", 2)),
        ({"op": "aten::exp"}, [case("pass"), case("pass")], True, ("passing", 0)),
        ({"op": "aten::exp"}, [case("pass"), case("pass")], False, ("not asked", 0)),
        ({"op": "aten::exp", "failure": "NaN*"}, [WAIVED], True, ("passing", 0)),
        ({"op": "aten::exp", "status": "crash"}, [WAIVED], True, ("passing", 0)),
        ({"op": "aten::exp", "until": "2026-11-25"}, [WAIVED], True, ("used", 1)),
        ({"op": "aten::exp", "until": "2026-11-24"}, [WAIVED], True, ("expired", 0)),
        ({"op": "aten::exp", "numerics": {"instructions": "AVX512"}}, [WAIVED], True, ("elsewhere", 0)),
    ],
)
def test_an_entry_over_all_draws(entry: dict, cases: list, is_whole: bool, expected: tuple[str, int]) -> None:
    (told,) = evidence(entry).standing(cases, NUMERICS, {"is_whole": is_whole, "suites": ["core"]})["entries"]
    assert (told["state"], told["cases"]) == expected


def test_entries_for_suites_that_the_list_does_not_have_are_not_asked() -> None:
    given = evidence({"op": "aten::exp"})
    of_writes = replace(given, waivers=given.waivers.model_copy(update={"suites": ["writes"]}))
    (told,) = of_writes.standing([case("pass")], NUMERICS, {"is_whole": True, "suites": ["core"]})["entries"]
    assert told["state"] == "not asked"


@pytest.mark.parametrize(
    ("entries", "told", "is_right"),
    [
        ([{"op": "aten::exp"}], WAIVED, True),
        ([{"op": "aten::sin"}], WAIVED, False),
        ([{"op": "aten::exp", "until": "2026-11-24"}], WAIVED, False),
        ([{"op": "aten::exp", "failure": "NaN*"}], WAIVED, False),
        ([{"op": "aten::sin"}, {"op": "aten::exp"}], WAIVED, False),  # of another line
        ([{"op": "aten::exp"}], WAIVED | {"rule": "waiver at v.yaml:2"}, False),
        ([{"op": "aten::exp", "max_error_ulp": 2}], WAIVED, False),
        ([{"op": "aten::sin"}], case("fail", "error above the bound"), True),  # nobody says that it is waived
    ],
)
def test_whatever_is_waived_is_what_an_entry_expects(entries: list, told: dict, is_right: bool) -> None:
    assert list(evidence(*entries).unwaived([told], NUMERICS)) == ([] if is_right else [told["id"]])


def test_nothing_is_waived_without_a_file() -> None:
    assert list(Evidence(None, None, DAY).unwaived([WAIVED], NUMERICS)) == [WAIVED["id"]]
