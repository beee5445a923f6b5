"""What a case is given does not depend on the cases before it: of a table of edges once, for 0 and 0.0 were one key."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conform.call.families import FAMILIES

ROOT = Path(__file__).parents[2]


@pytest.mark.one_in(13)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_order_of_cases_changes_none_of_them(family: str) -> None:
    words = [sys.executable, "-m", "tests.suites.digests_of_cases", family]
    started = [subprocess.Popen([*words, *more], stdout=subprocess.PIPE, cwd=ROOT) for more in ([], ["reversed"])]
    forward, backward = (json.loads(each.communicate()[0]) for each in started)
    assert len(forward) > 100
    assert forward == backward
