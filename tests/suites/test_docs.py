"""docs/yaml.md says what the code does: its examples load, its limits are those of the code."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from conform.documents.limits import Limits, variable
from conform.suites import list_ids

TEXT = (Path(__file__).parents[2] / "docs" / "yaml.md").read_text(encoding="utf-8")


def test_the_examples_load(tmp_path: Path) -> None:
    (tmp_path / "common.yaml").write_text("tests: []")
    first, template = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    presets = "dims: {N: 4}\npresets: {small: {type: const, value: 1}, large: {ref: small}}\n"
    (tmp_path / "first.yaml").write_text(first)
    (tmp_path / "template.yaml").write_text(presets + template)
    assert list_ids([tmp_path / "first.yaml"]) == ["add_broadcast"]
    assert list_ids([tmp_path / "template.yaml"]) == [
        "linear__in_features=N,out_features=3,x=small",
        "linear__in_features=N,out_features=5,x=small",
        "linear__in_features=N,out_features=5,x=large",
    ]


def test_the_limits_are_listed_with_their_defaults() -> None:
    listed = dict(re.findall(r"\| `(CONFORM_MAX_\w+)` \| (\d+) \|", TEXT))
    assert listed == {variable(field.name): str(field.default) for field in dataclasses.fields(Limits)}
