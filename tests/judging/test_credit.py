"""What a refusal is worth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conform.judging.credit import NOT_CREDITED, credited
from conform.judging.verdict import Verdict
from tests.report.verdicts import PASSED

REFUSED = Verdict(
    id="negative/aten::exp/0000/float32/typical/contiguous", test="negative/aten::exp/0000", op="aten::exp",
    dtype="float32", values="typical", layout="contiguous", status="pass", checks=1, check="refusal",
    tables={"cr": "pass"}, tightest="cr",
)  # fmt: skip
EMPTY = replace(PASSED, compared=0)
FAILED = replace(PASSED, status="fail", reason="wrong")
UNSUPPORTED = replace(PASSED, status="unsupported", reason="no", compared=0, checks=0)
OTHER_DTYPE, OTHER_OP = replace(PASSED, dtype="float64"), replace(PASSED, op="aten::sin")


@pytest.mark.parametrize(
    ("beside", "is_credited"),
    [
        ([PASSED], True),
        ([PASSED, FAILED], True),
        ([], False),
        ([FAILED], False),
        ([UNSUPPORTED], False),
        ([EMPTY], False),  # nothing was compared
        ([EMPTY, OTHER_DTYPE], True),
        ([EMPTY, UNSUPPORTED, OTHER_DTYPE], False),
        ([OTHER_OP], False),
        ([OTHER_DTYPE], True),  # float32 itself may be what is to be refused
        ([OTHER_DTYPE, UNSUPPORTED], False),  # it is not: there are valid calls
        ([REFUSED], False),
    ],
)
def test_a_refusal_counts_beside_a_valid_call_that_passed(beside: list[Verdict], is_credited: bool) -> None:
    *others, refused = credited([*beside, REFUSED])
    if is_credited:
        assert refused == REFUSED
    else:
        assert (refused.status, refused.rule, refused.tables, refused.tightest) == ("unjudged", NOT_CREDITED, {}, None)
    assert [one for one in others if one.id == PASSED.id] == [one for one in beside if one is not REFUSED]


def test_what_is_no_pass_stays() -> None:
    accepted = replace(REFUSED, status="fail", reason="the backend accepted invalid arguments", checks=1)
    assert credited([accepted]) == [accepted]
