"""The kit's last full figure: how many planted defects the core suite catches. It ships with the kit, `figure.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conform.selftest.hunt import Catch

FILE = Path(__file__).with_name("figure.json")


@cache
def shipped() -> dict:
    """{"plants", "caught", "explained", "classes": the same by class of bugs}."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def total(figure: Mapping) -> dict[str, int]:
    """The three numbers, without the classes."""
    return {name: figure[name] for name in ("plants", "caught", "explained")}


def figure_of(catches: Sequence[Catch]) -> dict:
    """The figure of these catches; those that survived count as explained, as in a self-test that holds they are."""
    classes = {bug: _counts([one for one in catches if one.plant.bug == bug]) for bug in _bugs(catches)}
    return {**_counts(catches), "classes": classes}


def _bugs(catches: Sequence[Catch]) -> list[str]:
    return sorted({one.plant.bug for one in catches}, key=lambda bug: (bug[0] != "M", bug))


def _counts(catches: Sequence[Catch]) -> dict[str, int]:
    caught = sum(one.case_id is not None for one in catches)
    return {"plants": len(catches), "caught": caught, "explained": len(catches) - caught}


def text(figure: Mapping) -> str:
    """The content of `figure.json`: a line a class."""
    classes = ",\n".join(f'  "{bug}": {json.dumps(counts)}' for bug, counts in figure["classes"].items())
    return json.dumps(total(figure))[:-1] + f',\n "classes": {{\n{classes}\n }}}}\n'
