"""The suites that come with the kit: a name stands for the YAML files of its directory, for tests from specs, or, of
`core`, for both."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from conform.documents.limits import Limits

_ROOT = Path(__file__).parent
OF_FILES = ("smoke", "core", "modules")
DERIVED = ("core", "scale", "huge", "writes")
FROM_SPECS = (*DERIVED, "generated", "negative")
NAMES = tuple(dict.fromkeys((*OF_FILES, *FROM_SPECS)))
_HUGE_ELEMENTS = 2**32
PROGRAMS = ".mlir"  # the end of the name of a file of StableHLO programs, which is no suite file


def files(name: str) -> list[Path]:
    """The files of a built-in suite, in order."""
    return sorted((_ROOT / name).glob("*.yaml"))


def shown(path: Path) -> str:
    """How messages and locations call a built-in file: "core/elementwise.yaml"."""
    return path.relative_to(_ROOT).as_posix()


def is_of_programs(name: str) -> bool:
    """Whether what is named is a file of StableHLO programs, in the place of a suite."""
    return name.endswith(PROGRAMS)


def limits_of(names: Collection[str]) -> Limits:
    """The environment's, for a run of these suites; who asks for huge calls is held to none of results."""
    limits = Limits.from_environment()
    return replace(limits, max_result_elements=_HUGE_ELEMENTS) if "huge" in names else limits
