"""A certificate whose making was ended goes on, and is that of one that was not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conform import interrupt
from conform.certify.verify import verify
from tests.certify.conftest import PART
from tests.certify.support import ASKED, BACKENDS, run

pytestmark = pytest.mark.one_in(6)

OPTIONS = ("certify", *PART, "--backend", "cpu", "--nonce", "8f3a27")


@pytest.fixture
def ended_after(monkeypatch: pytest.MonkeyPatch) -> object:
    """Ctrl-C behind so many verdicts, those of both draws counted."""

    def ending(verdicts: int) -> None:
        left, checked = [verdicts], interrupt.check

        def check() -> None:
            checked()
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

        monkeypatch.setattr(interrupt, "check", check)

    return ending


def contents(folder: Path, *names: str) -> list[str]:
    return [(folder / name).read_text() for name in names]


def cases_in(made: Path, draw: str) -> int:
    return json.loads((made / draw / "run.json").read_text())["summary"]["asked"]


@pytest.mark.parametrize("draw", ["public", "nonce"])
def test_it_is_the_one_that_was_not_ended(
    made: tuple[Path, Path, Path], tmp_path: Path, ended_after: object, draw: str
) -> None:
    folder = tmp_path / "it"
    ended_after(20 if draw == "public" else cases_in(made[0], "public") + 20)
    ended = run(*OPTIONS, "--key", made[1], "--out", folder)
    assert (ended.exit_code, (folder / "certificate.json").exists()) == (130, False)
    assert f"to go on: --resume {folder}" in ended.output
    resumed = run(*OPTIONS, "--key", made[1], "--resume", folder)
    assert resumed.exit_code == 0, resumed.output
    whole = sorted(path.relative_to(made[0]) for path in made[0].rglob("*"))
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == whole
    same = ("leaves.txt", "public/outputs.jsonl", "nonce/outputs.jsonl")
    assert contents(folder, *same) == contents(made[0], *same)
    assert verify(folder, ASKED).is_verified


def test_with_a_second_backend(made: tuple[Path, Path, Path], tmp_path: Path, ended_after: object) -> None:
    options = (*OPTIONS, "--backend", f"{BACKENDS}::Right", "--key", made[1])
    ended_after(cases_in(made[0], "public") + 20)  # in the second backend's run
    assert run(*options, "--out", tmp_path / "it").exit_code == 130
    assert run(*options, "--resume", tmp_path / "it").exit_code == 0
    assert verify(tmp_path / "it", ASKED).is_verified


def test_what_is_not_what_was_begun(made: tuple[Path, Path, Path], tmp_path: Path, ended_after: object) -> None:
    folder, begun = tmp_path / "it", tmp_path / "it" / "begun.json"
    assert "expected one of --out DIR" in run(*OPTIONS).output
    assert "there is no Python file" in run(*OPTIONS, "--backend", f"{folder}.py::Right", "--out", folder).output
    assert not folder.exists()  # a mistake in the last name is found before the first run
    assert "there is one where a certificate was begun and not made" in run(*OPTIONS, "--resume", folder).output
    ended_after(20)
    run(*OPTIONS, "--out", folder)
    assert f"or go on with what was begun there: --resume {folder}" in run(*OPTIONS, "--out", folder).output
    other = run("certify", *PART, "--backend", "cpu", "--nonce", "other", "--resume", folder)
    assert (other.exit_code, "was begun with '8f3a27' (given)" in other.output) == (2, True)
    found = run(*OPTIONS, "--determinism", "4", "--resume", folder)
    assert (found.exit_code, "determinism 3, and 4 now; resume it as it was begun" in found.output) == (2, True)
    begun.write_text("{}")
    found = run(*OPTIONS, "--resume", folder)
    assert (found.exit_code, "it is not as conform wrote it" in found.output) == (2, True)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--op", "aten::nothing"), "aten::nothing"),
        (("--waivers", "nowhere.yaml"), "nowhere.yaml"),
        (("--backend", f"{BACKENDS}::Nobody"), "Nobody"),
    ],
)
def test_what_never_began_leaves_the_folder_as_it_was(tmp_path: Path, wrong: tuple[str, ...], message: str) -> None:
    backend = () if "--backend" in wrong else ("--backend", "cpu")
    ended = run("certify", "smoke", *backend, *wrong, "--out", tmp_path)
    assert ended.exit_code == 2
    assert message in ended.output
    assert list(tmp_path.iterdir()) == []
