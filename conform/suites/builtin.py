"""The suites that come with the kit: a name stands for the YAML files of its directory, for tests from specs, or, of
`core`, for both."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).parent
OF_FILES = ("smoke", "core", "modules")
DERIVED = ("core", "scale", "huge")
FROM_SPECS = (*DERIVED, "generated", "negative")
NAMES = tuple(dict.fromkeys((*OF_FILES, *FROM_SPECS)))


def files(name: str) -> list[Path]:
    """The files of a built-in suite, in order."""
    return sorted((_ROOT / name).glob("*.yaml"))


def shown(path: Path) -> str:
    """How messages and locations call a built-in file: "core/elementwise.yaml"."""
    return path.relative_to(_ROOT).as_posix()
