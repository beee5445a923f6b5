"""Where I8 fails, every other test fails with its message: in one process, in several, and after a crash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROTATING, shares

pytestmark = pytest.mark.one_in(6)

CONFTEST = ("conftest.py", "shared_template.py", "browser.py")  # and what it imports
OTHERS = "import pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_other(n): pass\n"
PASSES = "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_i8(n): pass\n"
FAILS = PASSES.replace("pass", "assert n != 2, 'exp of 1.5 disagrees'")
TWO = ("-p", "xdist", "-n", "2")
CRASHES = "import os\n" + PASSES.replace("pass", "n == 2 and os._exit(9)")


def outcome(project: Path, i8: str, *options: str) -> tuple[str, str]:
    """The summary line and the whole output of pytest over an I8 test and another one, whose name sorts before it."""
    (project / "tests" / "i8").mkdir(parents=True)
    for name in CONFTEST:
        shutil.copy(Path(__file__).with_name(name), project / "tests" / name)
    (project / "tests" / "a_test.py").write_text(OTHERS, encoding="utf-8")
    (project / "tests" / "i8" / "test_i8.py").write_text(i8, encoding="utf-8")
    (project / "pytest.ini").write_text("[pytest]\npython_files = *test*.py\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--import-mode=importlib", "-q", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # but for those named, which saves seconds
    result = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=120)
    return result.stdout.strip().splitlines()[-1], result.stdout


@pytest.mark.parametrize("processes", [(), TWO], ids=["one process", "two"])
def test_an_i8_failure_fails_every_other_test_with_its_message(tmp_path: Path, processes: tuple[str, ...]) -> None:
    summary, output = outcome(tmp_path, FAILS, *processes)
    assert summary.startswith("1 failed, 3 passed, 6 errors")
    assert output.count("I8 failed, so no other test counts: tests/i8/test_i8.py::test_i8[2]") >= 6
    assert "exp of 1.5 disagrees" in output


def test_a_crash_in_i8_fails_every_other_test(tmp_path: Path) -> None:
    summary, _ = outcome(tmp_path, CRASHES, *TWO)
    assert summary.startswith("1 failed, 3 passed, 6 errors")


@pytest.mark.parametrize("processes", [(), TWO], ids=["one process", "two"])
def test_where_i8_holds_all_tests_run(tmp_path: Path, processes: tuple[str, ...]) -> None:
    assert outcome(tmp_path, PASSES, *processes)[0].startswith("10 passed")


ROTATES = "import pytest\n@pytest.mark.rotating\n@pytest.mark.parametrize('n', range(2048))\ndef test_i8(n): pass\n"


def test_a_seed_selects_a_share_of_the_rotating_tests(tmp_path: Path) -> None:
    def selected(seed: int) -> set[str]:
        options = ("-m", "i8 and not long", "--collect-only", "--seed", str(seed))
        output = outcome(tmp_path / str(seed), ROTATES, *options)[1]
        return {line for line in output.splitlines() if "test_i8.py::" in line}

    share = selected(3)
    assert 0 < len(share) < 64
    assert share == selected(3 + shares(ROTATING))
    assert share.isdisjoint(selected(4))


ONE_IN = """import pytest
pytestmark = pytest.mark.one_in(4{more})
@pytest.mark.parametrize('n', range(64))
def test_i8(n): pass
"""


@pytest.mark.parametrize(("more", "empty_shares"), [("", 0), (", together=True", 3)])
def test_of_n_seeds_each_has_its_tests_or_its_modules(tmp_path: Path, more: str, empty_shares: int) -> None:
    def selected(seed: int) -> list[str]:
        options = ("-m", "i8 and not long", "--collect-only", "--seed", str(seed))
        output = outcome(tmp_path / str(seed), ONE_IN.format(more=more), *options)[1]
        return [line for line in output.splitlines() if "test_i8.py::" in line]

    shares = [selected(seed) for seed in range(4)]
    assert len({one for share in shares for one in share}) == sum(map(len, shares)) == 64
    assert shares.count([]) == empty_shares


def test_without_i8_nothing_waits(tmp_path: Path) -> None:
    assert outcome(tmp_path, FAILS, "-m", "not i8")[0].startswith("6 passed, 4 deselected")
