"""The kit's files: all that a run needs is read before a backend runs, and a change of them is seen and told."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conform import kit

pytestmark = pytest.mark.one_in(6)

ROOT = Path(__file__).parents[1]
# A backend that writes to the kit which tests it: to a module, and to a table of numbers.
BACKEND = """
import conform
from pathlib import Path
from conform.backends import TorchDevice

class Mine(TorchDevice):
    name = "mine"

    def run(self, op, args, kwargs):
        root = Path(conform.__file__).parent
        (root / "report/terminal.py").write_text("raise SystemExit(0)")
        (root / "report/html/assets/main.js").write_text("alert('conformant')")
        (root / "selftest/figure.json").write_text('{"plants": 7, "caught": 7, "explained": 0}')
        return super().run(op, args, kwargs)
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the kit, to be written to."""
    shutil.copytree(ROOT / "conform", tmp_path / "conform", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_a_backend_that_writes_to_the_kit_gets_no_verdict(installed: Path) -> None:
    (installed / "mine.py").write_text(BACKEND)
    words = ["check", "smoke", "--op", "aten::add", "--backend", "mine.py::Mine", "--out", "out"]
    ended = subprocess.run([sys.executable, "-m", "conform", *words], cwd=installed, capture_output=True, text=True)
    assert ended.returncode == 3, ended.stderr
    assert "no verdict: the kit's files changed during the run" in ended.stdout
    assert " of 7 planted defects" not in ended.stdout  # the table as it was
    assert "alert('conformant')" not in (installed / "out/report.html").read_text()
    record = json.loads((installed / "out/run.json").read_text())
    assert record["kit"]["digest"] != record["kit"]["digest_at_end"]


def test_nothing_of_the_kit_loads_once_a_backend_runs(tmp_path: Path) -> None:
    program = f"""
import sys
from conform.backends import client
from conform.cli import main
from click.testing import CliRunner
loaded = set()
enter = client.BackendProcess.__enter__
client.BackendProcess.__enter__ = lambda process: loaded.update(sys.modules) or enter(process)
words = "check smoke --op aten::exp --backend cpu --out"
result = CliRunner().invoke(main, [*words.split(), {str(tmp_path)!r}])
assert result.exit_code == 0, result.output
print(*sorted(name for name in set(sys.modules) - loaded if name.startswith("conform")))
print(*sorted({{"torch", "flint", "pytest"}} & set(sys.modules)))
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "\n\n"), ended.stderr


def test_the_digest_is_that_of_names_and_contents(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "_ROOT", installed / "conform")
    first = kit.digest()
    (installed / "conform/__pycache__").mkdir()
    for name in ("kit.cpython-311.pyc", "api.cpython-311.pyc.139832421854128"):  # that one is about to be renamed
        (installed / "conform/__pycache__" / name).write_bytes(b"compiled")
    assert kit.digest() == first
    (installed / "conform/errors.py").rename(installed / "conform/error.py")
    renamed = kit.digest()
    (installed / "conform/extra.yaml").write_text("")
    assert len({first, renamed, kit.digest()}) == 3
