"""The policy page can be read by the kit, and each op finds the rules it is under."""

from __future__ import annotations

import re
from pathlib import Path

from conform.explain.policy import PAGE, rules, rules_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "policy.md"


def test_every_row_of_the_page_is_a_rule() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text  # the package carries the page of the documentation
    assert list(rules()) == re.findall(r"^\| (P\d+) ", text, flags=re.MULTILINE)
    assert all(rule.question and rule.default and rule.source for rule in rules().values())


def helper() -> None:
    """P33: a rule that a helper names."""


def definition() -> None:
    """A definition that calls a helper."""
    helper()


def plain() -> None:
    """A definition that names no rule."""


def test_names_that_are_words_of_prose_are_found_in_subjects_and_lists_alone() -> None:
    """`equal` is an op, and what elements are; P84 lists sum and mean behind its colon, P25 speaks of an index."""
    assert [rule.number for rule in rules_of("aten::equal", plain)] == []
    assert "P84" in [rule.number for rule in rules_of("aten::sum", plain)]
    assert "P71" in [rule.number for rule in rules_of("aten::asinh", plain)]
    assert "P25" not in [rule.number for rule in rules_of("aten::index.Tensor", plain)]


def test_rules_of_an_op_are_those_that_name_it_and_those_it_names() -> None:
    assert [rule.number for rule in rules_of("aten::amax", plain)] == ["P4", "P5"]
    assert [rule.number for rule in rules_of("aten::no_such_op", plain)] == []
    assert [rule.number for rule in rules_of("aten::no_such_op", definition)] == ["P33"]
