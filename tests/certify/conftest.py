"""A certificate of torch on a part of smoke, copies of it, and keys."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.certify.support import keys, run

PART = ("smoke", "--op", "aten::add", "--op", "aten::sort", "--op", "aten::exp", "--determinism", "3", "--workers", "1",
        "--no-progress", "--quiet")  # fmt: skip


@pytest.fixture(scope="package")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A certificate of torch on a part of smoke; the private and the public key."""
    folder = tmp_path_factory.mktemp("certified")
    private, public = keys(folder)
    result = run("certify", *PART, "--backend", "cpu", "--nonce", "8f3a27", "--key", private, "--out", folder / "it")
    assert result.exit_code == 0, result.output
    assert "PASSED (of a part of the must-pass list); levels held: none" in result.output
    return folder / "it", private, public


@pytest.fixture
def copy(made: tuple[Path, Path, Path], tmp_path: Path) -> Path:
    return shutil.copytree(made[0], tmp_path / "copy")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return keys(tmp_path)[0]
